import math

import pytest
from forests import classification

from crosscut import TreeClassifier
from crosscut.forest.pruning_table import additional_errors, pessimistic


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


DEVIATION = {0.05: 1.65, 0.25: 0.6925, 0.30: 0.545, 0.95: 0.25 - 0.25 * 0.55 / 0.6}


def plain(n, errors, confidence):
    """C4.5's formula, with weights that need not be whole."""
    if errors < 0.9999:
        none = n * (1 - confidence ** (1 / n))
        return none if errors < 1e-6 else none + errors * (plain(n, 1, confidence) - none)
    if errors + 0.5 >= n:
        return 0.67 * (n - errors)
    z, e = DEVIATION[confidence] ** 2, errors + 0.5
    return n * (e + z / 2 + math.sqrt(z * (e * (1 - e / n) + z / 4))) / (n + z) - errors


@pytest.mark.parametrize("confidence", DEVIATION)
@pytest.mark.parametrize(("n", "errors"), [(6, 0), (1, 0), (1, 1), (10, 1), (10, 9), (100, 5), (3, 2)])
def test_additional_errors_interpolate_the_table(n, errors, confidence):
    assert additional_errors(n, errors, confidence) == pytest.approx(plain(n, errors, confidence), rel=1e-12)


def test_additional_errors_are_those_of_quinlans_example():
    # C4.5: Programs for Machine Learning, section 4.2: 6 x 0.206 + 9 x 0.143 + 1 x 0.750 = 3.273
    estimates = additional_errors([6, 9, 1], 0)
    assert estimates / [6, 9, 1] == pytest.approx([0.206, 0.143, 0.750], abs=1e-3)
    assert estimates.sum() == pytest.approx(3.273, abs=1e-2)


@pytest.mark.parametrize(
    ("n", "errors", "confidence"), [(0, 0, 0.25), (3, 4, 0.25), (3, -1, 0.25), (3, 1, 0.0), (3, 1, 1.5)]
)
def test_additional_errors_refuse_what_makes_no_sense(n, errors, confidence):
    with pytest.raises(ValueError, match=r"n must be positive|confidence must be above 0"):
        additional_errors(n, errors, confidence)


@pytest.mark.parametrize("confidence", [0.25, 0.05])
@pytest.mark.parametrize("seed", range(2))
def test_pessimistic_pruning_by_its_definition(seed, confidence):
    _, _, _, (forest, _, _) = classification(seed, leaf=2)
    small = pessimistic(forest, confidence)
    for t, tree in enumerate(forest):
        wrong = tree.weight - tree.value.max(axis=1)
        error = [e + plain(n, e, confidence) for n, e in zip(tree.weight, wrong, strict=True)]
        assert closed(tree, slow_prune(tree, error)) == kept(forest, small, t)
        assert small[t].n_leaves < tree.n_leaves


def test_lower_confidence_means_smaller_trees():
    _, _, _, (forest, _, _) = classification(0, leaf=1)
    sizes = [pessimistic(forest, confidence)[0].n_leaves for confidence in (0.5, 0.25, 0.05, 0.001)]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > sizes[-1]
    with pytest.raises(ValueError, match="confidence"):
        pessimistic(forest, 1.5)


def test_the_estimator_prunes_every_tree_by_itself():
    X, y, _, _ = classification(1)
    model = TreeClassifier(prune="pessimistic", cv=4).fit(X, y)
    whole = TreeClassifier(cv=4).fit(X, y)
    for small, tree in zip(model.forest_, whole.forest_, strict=True):
        assert small.equals(pessimistic(type(whole.forest_)([tree]))[0])
