"""Every picture is drawn for every kind of model, in both formats, and shows what it should."""

import re
from itertools import pairwise

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris

from crosscut import TreeClassifier, TreeRegressor, datasets, plot
from crosscut.data.files import split_target


@pytest.fixture(scope="module")
def churn():
    return TreeClassifier(random_state=0).fit(*split_target(datasets.churn(), "churned"))


@pytest.fixture(scope="module")
def iris():
    return TreeClassifier(max_depth=4, prune="1se").fit(*load_iris(return_X_y=True, as_frame=True))


@pytest.fixture(scope="module")
def diabetes():
    return TreeRegressor(cv=5, max_depth=4).fit(*load_diabetes(return_X_y=True, as_frame=True))


def words(ax):
    return [text.get_text() for text in ax.texts]


PICTURES = [("churn", name, "svg") for name in plot.__all__]
PICTURES += [("diabetes", name, "png") for name in plot.__all__]


@pytest.mark.parametrize(("model", "name", "ending"), PICTURES)
def test_every_picture_can_be_written(request, tmp_path, model, name, ending):
    path = tmp_path / f"picture.{ending}"
    getattr(plot, name)(request.getfixturevalue(model)).figure.savefig(path, dpi=40)
    assert path.stat().st_size > 1000


def test_the_tree_has_a_box_per_node_and_names_its_columns(iris):
    ax = iris.plot()
    boxes = [said for said in words(ax) if "rows" in said]
    assert len(boxes) == len(iris.tree_)
    assert any("petal length (cm)\n150 rows" in said for said in boxes)


def test_deep_trees_are_drawn_in_part_with_a_note(churn):
    ax = churn.plot()
    hidden = [int(text.split("… ")[1].split(" ")[0]) for text in words(ax) if "…" in text]
    shown = [text for text in words(ax) if re.search(r"\d rows?\b", text)]
    assert len(shown) <= 150
    assert len(shown) + sum(hidden) == len(churn.tree_)


def test_forks_name_the_folds_of_each_branch(churn):
    ax = churn.plot_forest()
    said = words(ax)
    root = churn.forest_.sharing.root
    assert root.is_fork
    assert "final tree, folds 1, 2, 4, 5, 7-9" in said
    assert "folds 3, 6, 10" in said


def test_shared_subtrees_are_collapsed():
    X = np.repeat(np.arange(16.0), 20).reshape(-1, 1)
    model = TreeClassifier(cv=4, random_state=0).fit(X, X[:, 0].astype(int))
    assert words(model.plot_forest()) == ["all agree:\n31 nodes"]
    assert len(words(model.plot_forest(collapse=False))) > 31


@pytest.mark.parametrize("centred", [True, False])
def test_boxes_of_one_level_do_not_overlap(centred):
    from crosscut.forest.export.layout import Box, arrange

    random = np.random.default_rng(0)
    root = Box(size=2.0)
    boxes = [root]
    for _ in range(200):
        box = Box(size=float(random.uniform(0.3, 3)))
        boxes[random.integers(len(boxes))].children.append(box)
        boxes.append(box)
    extent, n_levels = arrange(root, 0.25, centred=centred)
    for level in range(n_levels):
        row = sorted((box for box in boxes if box.level == level), key=lambda box: box.middle)
        for first, second in pairwise(row):
            assert first.middle + first.size / 2 <= second.middle - second.size / 2 + 1e-9
        assert row[0].middle - row[0].size / 2 >= -1e-9
        assert row[-1].middle + row[-1].size / 2 <= extent + 1e-9


def test_plots_are_drawn_on_given_axes(iris):
    from matplotlib.figure import Figure

    ax = Figure().subplots()
    assert plot.plot_pruning(iris, ax=ax) is ax
    assert iris.plot(ax=ax) is ax


def test_a_forest_needs_folds():
    with pytest.raises(AttributeError, match="cv=None"):
        TreeClassifier(cv=None).fit([[0.0], [1.0]], [0, 1]).plot_forest()


def test_numbers_of_a_forest_have_no_exponents():
    X, y = load_diabetes(return_X_y=True)
    ax = TreeRegressor(max_depth=2, cv=5).fit(X, 100.0 * y).plot_forest()
    texts = [text.get_text() for text in ax.texts]
    assert any("\nto 1" in text for text in texts)
    assert not any("e+" in text for text in texts)


def test_a_large_tree_is_drawn_to_the_depth_that_can_be_read():
    X, y = load_diabetes(return_X_y=True)
    ax = TreeRegressor(cv=None).fit(X, y).plot()
    assert ax.figure.get_size_inches()[0] < 36
    assert any("nodes" in text.get_text() for text in ax.texts)
