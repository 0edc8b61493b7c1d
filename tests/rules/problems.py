"""Random tables, targets and task lists for comparisons."""

import numpy as np
from hypothesis import strategies as st

from crosscut.data.table import Table
from crosscut.data.target import Target
from crosscut.rules.examples import TableRows, bits_of


@st.composite
def problems(draw, max_rows=60):
    """TableRows and the training rows of several tasks."""
    seed = draw(st.integers(0, 2**32 - 1))
    random = np.random.default_rng(seed)
    n = draw(st.integers(4, max_rows))
    n_classes = draw(st.integers(2, 4))
    columns = []
    for _ in range(draw(st.integers(1, 4))):
        kind = draw(st.sampled_from(["smooth", "coarse", "nominal", "missing"]))
        if kind == "nominal":
            column = random.choice(np.array(["a", "b", "c", None], object), n)
        else:
            column = random.normal(size=n) if kind == "smooth" else random.integers(0, 5, n).astype(float)
            if kind == "missing":
                column[random.random(n) < 0.3] = np.nan
            column = column.astype(object)
        columns.append(column)
    X = np.array(columns, object).T
    codes = random.integers(0, n_classes, n).astype(np.int32)
    weights = {
        "none": None,
        "integers": random.integers(0, 4, n).astype(float),
        "real": random.random(n) * random.integers(0, 2, n),
    }[draw(st.sampled_from(["none", "none", "integers", "real"]))]
    if weights is not None and not weights.any():
        weights = None
    examples = TableRows(Table.from_data(X), Target(codes, n_classes, weights))
    folds = random.integers(0, draw(st.integers(2, 20)), n)
    tasks = [examples.weighted] + [bits_of(folds != fold) & examples.weighted for fold in np.unique(folds)]
    return examples, [task for task in tasks if task]
