import numpy as np
import pytest
from forests import classification, regression
from scipy.stats import binom

from crosscut import TreeClassifier
from crosscut.forest.error_pruning import pessimistic, reduced_error
from crosscut.forest.predict import apply


def leaves_below(tree, node):
    children = tree.children[tree.first_child[node] : tree.first_child[node + 1]]
    return [node] if not len(children) else [leaf for child in children for leaf in leaves_below(tree, child)]


def slow_prune(tree, error):
    """Which nodes stay inner, by the definition: deepest first, a subtree stays if its leaves do better."""
    inner = {i for i in range(len(tree)) if tree.feature[i] >= 0}

    def best(node):
        children = tree.children[tree.first_child[node] : tree.first_child[node + 1]]
        if not len(children):
            return error[node]
        below = sum(best(child) for child in children)
        if error[node] <= below:
            inner.discard(node)
            return error[node]
        return below

    best(0)
    return inner


def kept(forest, small, t):
    """Inner nodes of the small tree as numbers of the large one: both are numbered in preorder."""
    names = []
    todo = [(0, 0)]
    while todo:
        large, little = todo.pop()
        if small[t].feature[little] >= 0:
            names.append(large)
            todo += zip(
                forest[t].children[forest[t].first_child[large] : forest[t].first_child[large + 1]],
                small[t].children[small[t].first_child[little] : small[t].first_child[little + 1]],
                strict=True,
            )
    return set(names)


def closed(tree, inner):
    """Inner nodes whose ancestors are all inner too."""
    found, todo = set(), [0]
    while todo:
        node = todo.pop()
        if node in inner:
            found.add(node)
            todo += tree.children[tree.first_child[node] : tree.first_child[node + 1]].tolist()
    return found


@pytest.mark.parametrize("seed", range(2))
def test_pessimistic_pruning_by_its_definition(seed):
    _, _, _, (forest, _, _) = classification(seed, leaf=2)
    small = pessimistic(forest)
    for t, tree in enumerate(forest):
        wrong = tree.weight - tree.value.max(axis=1)
        limit = []
        for n, e in zip(tree.weight, wrong, strict=True):
            p = np.linspace(
                0, 1, 4001
            )  # the largest error rate at which e or fewer errors are not yet unlikely
            from scipy.special import betainc

            tail = 1 - betainc(e + 1, max(n - e, 1e-300), p)
            limit.append(p[tail >= 0.25][-1])
        error = tree.weight * np.array(limit)
        difference = closed(tree, slow_prune(tree, error)) ^ kept(forest, small, t)
        assert len(difference) <= 1  # the grid of 4,001 rates may decide a near tie otherwise
        assert small[t].n_leaves < tree.n_leaves


def test_the_limit_is_c45s():
    """For whole rows: N errors' upper limit U solves P(at most E errors | U) = 0.25."""
    from scipy.stats import beta

    for n, e in [(6, 0), (9, 0), (16, 1), (168, 2)]:
        upper = beta.ppf(0.75, e + 1, n - e)
        assert binom.cdf(e, n, upper) == pytest.approx(0.25)
    assert beta.ppf(0.75, 1, 6) == pytest.approx(0.206, abs=1e-3)  # Quinlan's example: U25%(0, 6) = 0.206


def test_lower_confidence_means_smaller_trees():
    _, _, _, (forest, _, _) = classification(0, leaf=1)
    sizes = [pessimistic(forest, confidence)[0].n_leaves for confidence in (0.5, 0.25, 0.05, 0.001)]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > sizes[-1]
    with pytest.raises(ValueError, match="confidence"):
        pessimistic(forest, 1.5)


@pytest.mark.parametrize("seed", range(3))
def test_reduced_error_pruning_by_its_definition(seed):
    _, _, (forest, _, _) = regression(seed, leaf=1)
    rng = np.random.default_rng(seed)
    new = rng.normal(size=(60, 3)).astype(np.float32)
    target = np.sin(new[:, 0]) + new[:, 1] * (new[:, 2] > 0)
    small = reduced_error(forest, new, target, n_classes=0)
    for t, tree in enumerate(forest):
        leaf = apply(tree, new)
        error = np.zeros(len(tree))
        for node in range(len(tree)):
            inside = np.isin(leaf, leaves_below(tree, node))
            error[node] = ((target[inside] - tree.value[node, 0]) ** 2).sum()
        assert closed(tree, slow_prune(tree, error)) == kept(forest, small, t)


def test_the_estimator_prunes_every_tree_by_itself():
    X, y, _, _ = classification(1)
    model = TreeClassifier(prune="pessimistic", cv=4).fit(X, y)
    whole = TreeClassifier(cv=4).fit(X, y)
    for small, tree in zip(model.forest_, whole.forest_, strict=True):
        assert small.equals(pessimistic(type(whole.forest_)([tree]))[0])
