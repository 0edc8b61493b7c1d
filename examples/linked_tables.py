"""Customers and their purchases, without joining anything: `python examples/linked_tables.py [FOLDER]`."""

import sys
from pathlib import Path

from crosscut_relational import Database, RelationalTreeClassifier

here = Path(__file__).resolve().parent
folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path()

database = Database.from_folder(here / "shop", target="customer.churned")
model = RelationalTreeClassifier().fit(database)
print(database)
print(model)
print(f"accuracy on unseen customers {model.cv_score_:.3f} ± {model.cv_standard_error_:.3f}")
model.report(folder / "shop.html")
