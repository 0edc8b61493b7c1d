"""Names and categories with control characters and markup, where people read them."""

import numpy as np
import pyarrow as pa

from crosscut import RuleClassifier, TreeClassifier

X = pa.table({"\x1b[31mred": ["$a_{", "b\\frac{"] * 20, "$x$": np.arange(40.0) % 7})
Y = ["y\x1b[0m", "n$^"] * 20


def test_text_has_no_control_characters():
    tree = TreeClassifier(cv=2).fit(X, Y)
    rules = RuleClassifier(cv=2).fit(X, Y)
    for text in (tree.to_text(), str(tree.to_rules()), rules.to_text()):
        assert "\\x1b[31mred" in text
        assert "\x1b" not in text


def test_pictures_do_not_read_names_as_mathematics():
    tree = TreeClassifier(cv=2).fit(X, Y)
    tree.plot().figure.canvas.draw()
    tree.plot_forest().figure.canvas.draw()
