import re

import numpy as np
import pyarrow as pa

from crosscut import TreeClassifier
from crosscut.forest.export.layout import TreeBoxes
from crosscut.report.drawing import MAX_LEAVES, class_colours, opened_nodes, shortened, svg_of


def drawn(model):
    fit, tree = model.fit_, model.tree_
    colours = class_colours(np.asarray(tree.value[0]))
    inner = tree.feature >= 0
    root = TreeBoxes(tree, fit.schema, fit.classes, colours).root(opened_nodes(tree, inner), inner)
    return root, svg_of(root, "a tree")


def test_conditions_shorten_long_names_first():
    names = [f"the {k}th measurement of a sensor with a very long name" for k in range(2)]
    random = np.random.default_rng(0)
    x = random.normal(size=(200, 2))
    X = pa.table(dict(zip(names, x.T, strict=True)))
    model = TreeClassifier(cv=None, max_depth=3).fit(X, x[:, 0] + x[:, 1] > 0)
    _, svg = drawn(model)
    shown = re.findall(r'class="condition"[^>]*>([^<]*)<', svg)
    assert len(shown) == len(model.tree_) - 1
    assert all(re.search(r"name (≤|&gt;|>) -?[\d.]+$", text) for text in shown)
    assert all("…" in text for text in shown)
    assert svg.count(names[0]) > 1  # in full where it is pointed at


def test_every_node_of_a_small_tree_is_drawn_once():
    random = np.random.default_rng(1)
    X = random.normal(size=(300, 3))
    model = TreeClassifier(cv=None, max_depth=4).fit(X, X[:, 0] > X[:, 1])
    root, svg = drawn(model)
    assert sorted(box.node for box in root.walk()) == list(range(len(model.tree_)))
    assert svg.count('class="node leaf"') == model.get_n_leaves()
    places = [(box.level, box.middle) for box in root.walk()]
    assert len(set(places)) == len(places)


def test_of_a_large_tree_the_nodes_with_most_rows_are_drawn():
    random = np.random.default_rng(2)
    model = TreeClassifier(cv=None).fit(random.normal(size=(2000, 3)), random.integers(0, 2, 2000))
    root, svg = drawn(model)
    ends = [box for box in root.walk() if not box.children]
    assert model.get_n_leaves() > 200
    assert len(ends) <= MAX_LEAVES
    assert 'class="node more"' in svg
    opened = [model.tree_.n_rows[box.node] for box in root.walk() if box.children]
    left = [model.tree_.n_rows[box.node] for box in ends if box.kind == "more"]
    assert min(opened) >= max(left)


def test_the_most_frequent_classes_have_their_own_colours():
    assert class_colours(np.array([1, 5, 3])) == [2, 0, 1]
    assert class_colours(np.arange(20)).count(6) == 14


def test_a_text_keeps_both_ends():
    assert shortened("abcdefghij", 10) == "abcdefghij"
    assert shortened("abcdefghij", 7) == "abcd…ij"
