"""Write churn.csv beside this script: `python examples/make_churn.py [FILE]`."""

import csv
import sys
from pathlib import Path

from crosscut.datasets import churn


def cell(value: object) -> object:
    return str(value).lower() if isinstance(value, bool) else value


if __name__ == "__main__":
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("churn.csv")
    table = churn()
    with path.open("w", newline="", encoding="utf-8") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(table.column_names)
        lines.writerows([cell(value) for value in row.values()] for row in table.to_pylist())
    print(f"wrote {path}")
