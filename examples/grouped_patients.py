"""Visits of patients: folds must keep each patient whole. `python examples/grouped_patients.py [FOLDER]`."""

import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
from sklearn.metrics import RocCurveDisplay
from sklearn.model_selection import GroupKFold, KFold

from crosscut import TreeClassifier

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path()

# 150 patients, eight visits each. Only the pressure depends on the illness. The other values differ
# between patients but are nearly the same at every visit, so they identify the patient.
rng = np.random.default_rng(2001)
patient = np.repeat(np.arange(150), 8)
ill = rng.random(150) < 0.4
typical = rng.normal(size=(150, 5))
visits = typical[patient] + 0.05 * rng.normal(size=(1200, 5))
pressure = 120 + 12 * ill[patient] + rng.normal(0, 12, 1200)
names = ["height", "weight", "cholesterol", "glucose", "iron"]
X = pa.table({"pressure": pressure} | {name: visits[:, i] for i, name in enumerate(names)})
y = np.where(ill, "ill", "well")[patient]

tree = TreeClassifier(min_samples_leaf=5, scoring="roc_auc")
mixed = TreeClassifier(**tree.get_params() | {"cv": KFold(10, shuffle=True, random_state=0)}).fit(X, y)
grouped = TreeClassifier(**tree.get_params() | {"cv": GroupKFold(10)}).fit(X, y, groups=patient)
print(f"visits in any fold: area under the curve {mixed.cv_score_:.3f}  (the trees know the patients)")
print(f"patients together:  area under the curve {grouped.cv_score_:.3f} ± {grouped.cv_standard_error_:.3f}")

curve = RocCurveDisplay.from_predictions(y, grouped.cv_probabilities_[:, 1], pos_label="well")
curve.figure_.savefig(folder / "grouped-patients.svg", metadata={"Date": None})
