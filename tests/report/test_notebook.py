import sys
from types import ModuleType
from unittest.mock import MagicMock

import polars as pl
from sklearn.datasets import load_iris

from crosscut import RuleClassifier, TreeClassifier, compare


def test_a_fitted_model_shows_its_tree_and_its_error():
    X = pl.DataFrame({"<b>": [0.0, 1.0] * 10})
    model = TreeClassifier(cv=2).fit(X, [0, 1] * 10)
    shown = model._repr_html_()
    assert "2 leaves" in shown
    assert "error rate 0 ± 0 (2 folds)" in shown
    assert "&lt;b&gt; &lt;= 0.50" in shown
    assert "<b> <=" not in shown
    assert model._repr_mimebundle_()["text/html"].endswith("</div>")
    assert "best" in model.pruning_table_._repr_html_()
    assert "f(i)" in model.forest_._repr_html_()


def test_before_fitting_only_parameters_are_shown():
    assert "leaves" not in TreeClassifier(max_depth=3)._repr_html_()


def fitted(**parameters):
    return TreeClassifier(**parameters).fit(*load_iris(return_X_y=True))


def test_the_tree_is_in_a_fixed_font_above_the_pruning_chart():
    shown = fitted(prune="best")._repr_html_()
    assert 'font-family:ui-monospace,monospace;line-height:1.3">|--- x' in shown
    assert '<svg viewBox="0 0' in shown
    assert "Error by size of the tree" in shown


def test_rules_are_shown():
    model = RuleClassifier().fit(*load_iris(return_X_y=True))
    shown = model._repr_html_()
    assert "if x3 &lt;= " in shown
    assert "error rate 0.0" in shown
    assert "if x3 &lt;= " in model._repr_mimebundle_()["text/html"]


def test_a_comparison_is_a_table():
    shown = compare(fitted(max_depth=1), fitted())._repr_html_()
    assert shown.count("90% interval (") == 3
    assert "<td>first</td><td>0.3333</td>" in shown
    assert "so the second is better." in shown


def test_results_are_short_texts_without_arrays():
    model = fitted(cv=5)
    assert repr(model.tree_) == "Tree(9 leaves, depth 5, 150 rows)"
    assert repr(model.fit_) == "Fit(TreeClassifier, classification of 'target', 5 folds)"
    for result in (compare(model, model), model.pruning_table_, model.to_rules(), model.explain_cost()):
        assert "array(" not in repr(result)
        assert repr(result) == str(result)


def test_plots_are_pyplots_in_a_notebook(monkeypatch):
    """In a kernel of IPython, figures of pyplot are shown at the end of a cell, other figures are not."""
    monkeypatch.delitem(sys.modules, "matplotlib.pyplot", raising=False)
    monkeypatch.setenv("MPLBACKEND", "agg")
    model = fitted(prune="best")
    assert not hasattr(model.plot().figure, "number")
    kernel = ModuleType("IPython")
    kernel.get_ipython, kernel.version_info = MagicMock(), (9, 0)
    monkeypatch.setitem(sys.modules, "IPython", kernel)
    figure = model.plot_forest().figure
    from matplotlib import pyplot as plt

    assert figure.number in plt.get_fignums()
    plt.close("all")
