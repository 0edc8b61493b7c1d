import numpy as np

from crosscut import TreeClassifier
from crosscut.report.stability import aligned, stability


def test_all_folds_agree_on_a_certain_concept():
    X = np.repeat(np.arange(4.0), 25).reshape(-1, 1)
    told = stability(TreeClassifier(cv=5).fit(X, X[:, 0] > 1.5).fit_)
    assert told["agreed_levels"] == told["levels"] == 1
    assert told["words"] == [
        "All 5 fold trees split on the same column as the final tree, at similar values."
    ]


def test_sentences_count_the_folds_with_the_same_columns():
    random = np.random.default_rng(3)
    X = random.normal(size=(200, 4))
    y = (X[:, 0] > 0) ^ (random.random(200) < 0.2)
    model = TreeClassifier(cv=5, max_depth=4).fit(X, y)
    told = stability(model.fit_)
    assert 0 <= told["agreed_levels"] < 4
    assert told["f"][-1] > 1
    asked = [int(tree.feature[0]) for tree in model.cv_trees_]
    assert told["questions"][0]["folds"] == asked.count(int(model.tree_.feature[0]))
    assert told["words"][0].startswith("All 5 fold trees split on x0 first")
    assert f"Of the {len(told['questions'])} splits" in told["words"][1]


def test_nodes_are_in_the_same_place_if_the_columns_above_are_the_same():
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 3))
    model = TreeClassifier(cv=4, max_depth=4).fit(X, X[:, 0] + X[:, 1] > 0)
    trees = model.forest_.trees

    def places(tree):
        found = {0: ()}
        for node in np.flatnonzero(tree.feature >= 0).tolist():
            for branch, child in enumerate(
                tree.children[tree.first_child[node] : tree.first_child[node + 1]].tolist()
            ):
                found[child] = (*found[node], (int(tree.feature[node]), branch))
        return found

    by_place = [{place: node for node, place in places(tree).items()} for tree in trees]
    for node, others in enumerate(aligned(trees)):
        place = places(trees[0])[node]
        assert others == {t: by_place[t][place] for t in range(1, 5) if place in by_place[t]}


def test_trees_without_splits():
    told = stability(TreeClassifier(cv=2, min_samples_leaf=9).fit([[0.0], [1.0]] * 4, [0, 1] * 4).fit_)
    assert told["levels"] == 0
    assert "No tree has a split" in told["words"][0]
