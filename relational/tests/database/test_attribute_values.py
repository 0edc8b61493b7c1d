import datetime as dt

import numpy as np
import pytest

from crosscut_relational.database.attribute_values import AttributeValues
from crosscut_relational.database.database import Database
from crosscut_relational.estimators import RelationalTreeClassifier
from crosscut_relational.language.attributes import attribute_text
from crosscut_relational.language.bias import Bias, BiasError


def day(number):
    return dt.date(2024, 1, 1) + dt.timedelta(number)


DATABASE = Database.from_tables(
    {
        "shop": {"id": [1, 2, 3], "opened": [day(100), day(50), day(0)], "y": ["a", "b", "a"]},
        "sale": {
            "id": list(range(6)),
            "shop_id": [1, 1, 1, 2, 2, None],
            "amount": [5.0, None, 2.0, 7.0, 7.0, 99.0],
            "kind": ["x", "x", "z", None, "z", "x"],
            "on": [day(0), day(80), day(120), day(49), day(49), None],
        },
        "item": {"id": [0, 1, 2], "sale_id": [0, 0, 4], "weight": [1, 2, 3]},
    },
    target="shop.y",
    links={"sale.shop_id": "shop.id", "item.sale_id": "sale.id"},
)
NAN = np.nan


def values(**options):
    bias = Bias.from_schema(DATABASE, max_aggregates=1000, **options)
    of = AttributeValues(DATABASE)
    return {attribute_text(each, DATABASE.columns): of.numbers(each).tolist() for each in bias.attributes}


@pytest.mark.parametrize(
    ("attribute", "expected"),
    [
        ("number of sales", [3, 2, 0]),
        ("sum of amount of sales", [7, 14, 0]),
        ("mean amount of sales", [3.5, 7, NAN]),
        ("least amount of sales", [2, 7, NAN]),
        ("greatest amount of sales", [5, 7, NAN]),
        ("latest amount of sales", [2, 7, NAN]),
        ("number of sales with kind = x", [2, 0, 0]),
        ("share of sales with kind = x", [2 / 3, 0, NAN]),
        ("number of different kind of sales", [2, 1, 0]),
        ("number of items of sales", [2, 1, 0]),
        ("sum of weight of items of sales", [3, 3, 0]),
    ],
)
def test_values_by_hand(attribute, expected):
    assert values()[attribute] == pytest.approx(expected, nan_ok=True)


def test_only_what_was_before():
    found = values(as_of="opened", windows=[30])
    assert "opened" not in found
    assert found["number of sales before opened"] == [2, 2, 0]
    assert found["number of sales in the 30 days before opened"] == [1, 2, 0]
    assert found["sum of amount of sales in the 30 days before opened"] == [0, 14, 0]
    assert found["latest amount of sales before opened"] == pytest.approx([5, 7, NAN], nan_ok=True)
    assert not any("items" in name for name in found)  # when they were sold is not known where they are
    modes = Bias.from_schema(DATABASE, as_of="opened").modes
    assert not any(literal.name == "sale" for mode in modes for literal in mode.literals)


def test_as_of_is_a_date_of_the_examples():
    with pytest.raises(
        BiasError, match="as_of is 'y'; it must be a date of the table shop, which has opened"
    ):
        Bias.from_schema(DATABASE, as_of="y")


def test_a_number_of_linked_rows_takes_one_test():
    rng = np.random.default_rng(0)
    count = rng.poisson(5, 300)
    database = Database.from_tables(
        {
            "customer": {"customer_id": range(300), "many": np.where(count > 5, "yes", "no").tolist()},
            "purchase": {"customer_id": np.repeat(np.arange(300), count).tolist()},
        },
        target="customer.many",
    )
    model = RelationalTreeClassifier().fit(database)
    assert model.cv_score_ == 1.0
    assert str(model).splitlines()[1] == "at most 5 purchases?"
    assert model.tree_.n_leaves == 2
