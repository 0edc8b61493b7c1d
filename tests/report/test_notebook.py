import polars as pl

from crosscut import TreeClassifier


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
