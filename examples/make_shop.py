"""Write the tables of a shop, shop/*.csv, beside this script: `python examples/make_shop.py [FOLDER]`."""

import csv
import sys
from pathlib import Path

from crosscut_relational.datasets import shop

if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("shop")
    folder.mkdir(exist_ok=True)
    for name, table in shop().items():
        with (folder / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
            lines = csv.writer(file, lineterminator="\n")
            lines.writerow(table.column_names)
            lines.writerows(row.values() for row in table.to_pylist())
    print(f"wrote {folder}")
