import pickle

import numpy as np
from forests import classification

from crosscut.forest.forest import Forest, Packed


def test_packing_keeps_every_tree():
    _, _, _, (forest, _, _) = classification(0)
    packed = Packed.of(forest.trees)
    assert packed.n_trees == len(forest) == len(Forest(packed))
    for t, tree in enumerate(forest):
        assert packed.tree(t).equals(tree)
        assert Forest(packed)[t].equals(tree)
    assert Forest(packed)[-1].equals(forest[len(forest) - 1])
    assert packed.select([2, 0]).tree(1).equals(forest[0])


def test_parents_lead_back_to_the_root():
    _, _, _, (forest, _, _) = classification(1)
    packed = forest.packed
    for t, tree in enumerate(forest):
        parent = packed.parent[packed.node_start[t] : packed.node_start[t + 1]]
        assert parent[0] == -1
        assert np.all(tree.depth[parent[1:]] + 1 == tree.depth[1:])


def test_cutting_nothing_changes_nothing():
    _, _, _, (forest, _, _) = classification(2)
    same, number = forest.packed.cut(np.ones(len(forest.packed.feature), bool))
    assert all(same.tree(t).equals(tree) for t, tree in enumerate(forest))
    np.testing.assert_array_equal(number, np.concatenate([np.arange(len(tree)) for tree in forest]))


def test_a_forest_survives_pickling():
    _, _, _, (forest, _, _) = classification(3)
    again = pickle.loads(pickle.dumps(forest))
    assert all(a.equals(b) for a, b in zip(again, forest, strict=True))
