import csv
from pathlib import Path

from crosscut_relational.datasets import shop

EXAMPLES = Path(__file__).parents[2] / "examples" / "shop"


def test_customers_follow_the_rule_but_for_one_in_twenty():
    tables = shop(2000, seed=1)
    purchases = tables["purchase"].to_pylist()
    sent_back = {row["customer_id"] for row in purchases if row["returned"] == "yes" and row["amount"] > 80}
    groceries = {row["customer_id"] for row in purchases if row["category"] == "grocery"}
    wrong = sum(
        (row["churned"] == "yes")
        != (
            row["customer_id"] in sent_back or (row["member"] == "no" and row["customer_id"] not in groceries)
        )
        for row in tables["customer"].to_pylist()
    )
    assert 0.03 < wrong / 2000 < 0.07


def test_example_files_are_what_the_script_writes():
    for name, table in shop().items():
        with (EXAMPLES / f"{name}.csv").open(encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        assert rows == [{key: str(value) for key, value in row.items()} for row in table.to_pylist()]
