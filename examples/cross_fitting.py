"""Cross-fitting: DoubleML's nuisance predictions from one fit each: `python examples/cross_fitting.py`."""

import warnings

import numpy as np
from doubleml import DoubleMLData, DoubleMLPLR
from sklearn.model_selection import KFold
from sklearn.tree import DecisionTreeRegressor

from crosscut import TreeRegressor

warnings.filterwarnings("ignore", category=FutureWarning)

# a treatment d whose effect on y is 0.5, and columns X that affect both
rng = np.random.default_rng(0)
X = rng.normal(size=(2000, 5)).astype(np.float32)
d = np.sin(X[:, 0]) + 0.5 * (X[:, 1] > 0) + rng.normal(size=2000)
y = 0.5 * d + X[:, 0] ** 2 + X[:, 1] + rng.normal(size=2000)
data = DoubleMLData.from_arrays(X.astype(float), y, d)
folds = list(KFold(5, shuffle=True, random_state=0).split(X))


def estimate(**fit: object) -> tuple[float, float]:
    """Return the effect and its standard error."""
    tree = DecisionTreeRegressor(min_samples_leaf=20, random_state=0)
    model = DoubleMLPLR(data, ml_l=tree, ml_m=tree, n_folds=5, draw_sample_splitting=False)
    model.set_sample_splitting([folds]).fit(**fit)
    return model.coef[0], model.se[0]


# DoubleML alone fits a tree for every fold, for y and for d
separate = estimate()

# crosscut needs one fit for y and one for d: each row is predicted by the tree trained without it
predictions = {
    name: TreeRegressor(min_samples_leaf=20, cv=folds).fit(X, target).cv_predictions_[:, None]
    for name, target in (("ml_l", y), ("ml_m", d))
}
together = estimate(external_predictions={"d": predictions})

print(f"5 fits each:  {separate[0]:.6f} ± {separate[1]:.6f}")
print(f"one fit each: {together[0]:.6f} ± {together[1]:.6f}")
assert np.allclose(separate, together, rtol=1e-12)
