"""Tables with one example per row, from concepts that a small tree can express to weak signals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Classes = NDArray[np.int64]


def tree_like(
    n_rows: int, n_features: int = 20, *, noise: float = 0.05, seed: int = 0
) -> tuple[Floats, Classes]:
    """Make two classes separated by three pairs of thresholds; a fraction ``noise`` of the labels is flipped.

    Examples
    --------
    >>> X, y = tree_like(1000)
    >>> X.shape, X.dtype, y[:5]
    ((1000, 20), dtype('float32'), array([0, 0, 1, 0, 1]))
    """
    _at_least(n_features, 6)
    draw = np.random.default_rng(seed)
    X = draw.normal(size=(n_rows, n_features)).astype(np.float32)
    first = (X[:, 0] > 0.3) & (X[:, 1] < 0.5)
    second = (X[:, 2] > 1) & (X[:, 3] > -0.2)
    third = (X[:, 4] < -1.2) & (X[:, 5] > 0)
    flipped = draw.random(n_rows) < noise
    return X, ((first | second | third) ^ flipped).astype(np.int64)


def weak(n_rows: int, n_features: int = 20, *, seed: int = 0) -> tuple[Floats, Classes]:
    """Make two classes along a noisy linear combination of all features, which no small tree captures.

    Examples
    --------
    >>> X, y = weak(1000)
    >>> len(y), round(float(y.mean()), 1)
    (1000, 0.5)
    """
    draw = np.random.default_rng(seed)
    X = draw.normal(size=(n_rows, n_features)).astype(np.float32)
    signal = X @ draw.normal(size=n_features) * 0.3
    return X, (signal + draw.normal(size=n_rows) > 0).astype(np.int64)


def many_classes(
    n_rows: int, n_features: int = 20, n_classes: int = 10, *, noise: float = 0.1, seed: int = 0
) -> tuple[Floats, Classes]:
    """Make classes that are the cells of a grid over four features, numbered at random.

    Examples
    --------
    >>> X, y = many_classes(500, n_classes=7)
    >>> len(set(y.tolist()))
    7
    """
    _at_least(n_features, 4)
    draw = np.random.default_rng(seed)
    X = draw.normal(size=(n_rows, n_features)).astype(np.float32)
    cell = np.zeros(n_rows, np.int64)
    for f in range(4):
        cell = cell * 3 + np.digitize(X[:, f], [-0.5, 0.6])
    of_cell = draw.permutation(np.arange(81) % n_classes)
    y = of_cell[cell]
    return X, np.where(draw.random(n_rows) < noise, draw.integers(0, n_classes, n_rows), y)


def regression(
    n_rows: int, n_features: int = 20, *, noise: float = 0.5, seed: int = 0
) -> tuple[Floats, NDArray[np.float64]]:
    """Make a target with steps, a slope and an interaction, plus normal noise.

    Examples
    --------
    >>> X, y = regression(1000)
    >>> y.shape, y.dtype
    ((1000,), dtype('float64'))
    """
    _at_least(n_features, 5)
    draw = np.random.default_rng(seed)
    X = draw.normal(size=(n_rows, n_features)).astype(np.float32)
    steps = 3.0 * (X[:, 0] > 0.4) - 2.0 * (X[:, 1] < -0.3)
    smooth = X[:, 2].astype(np.float64) + np.where(X[:, 3] > 0, X[:, 4], 0.0)
    return X, steps + smooth + noise * draw.normal(size=n_rows)


def nominal(
    n_rows: int,
    n_features: int = 8,
    n_categories: int = 6,
    *,
    n_classes: int = 2,
    noise: float = 0.1,
    seed: int = 0,
) -> tuple[pa.Table, Classes]:
    """Make text columns ``c0``, ``c1``, ... and classes that depend on groups of categories of three of them.

    Examples
    --------
    >>> X, y = nominal(200)
    >>> X.column_names[:3], sorted(set(X["c0"].to_pylist()))[:2]
    (['c0', 'c1', 'c2'], ['a', 'b'])
    """
    _at_least(n_features, 3)
    draw = np.random.default_rng(seed)
    codes = draw.integers(0, n_categories, (n_rows, n_features))
    group = draw.integers(0, 2, (3, n_categories))  # which of two groups a category is in
    cell = sum(2**f * group[f][codes[:, f]] for f in range(3))
    y = draw.permutation(np.arange(8) % n_classes)[cell]
    y = np.where(draw.random(n_rows) < noise, draw.integers(0, n_classes, n_rows), y)
    names = np.array([_letters(c) for c in range(n_categories)])
    return pa.table({f"c{f}": names[codes[:, f]] for f in range(n_features)}), y


def decision_list(
    n_rows: int, n_features: int = 15, *, depth: int = 5, noise: float = 0.0, seed: int = 0
) -> tuple[pa.Table, Classes]:
    """Make text columns ``c0``, ``c1``, ... of 5 to 20 categories, of which the first ``depth`` matter.

    Half of a column's categories decide the class, and the others leave it to the next column; the last
    column always decides. A tree with one branch per category finds this concept in every fold.

    Examples
    --------
    >>> X, y = decision_list(300)
    >>> X.num_columns, 5 <= len(set(X["c0"].to_pylist())) <= 20
    (15, True)
    """
    _at_least(n_features, depth)
    draw = np.random.default_rng(seed)
    sizes = draw.integers(5, 21, n_features)
    codes = draw.integers(0, sizes, (n_rows, n_features))
    y = np.full(n_rows, -1)
    for f in range(depth):
        label = draw.integers(0, 2, sizes[f])
        if f < depth - 1:
            label[draw.permutation(sizes[f])[: sizes[f] // 2]] = -1
        y = np.where(y < 0, label[codes[:, f]], y)
    y = np.where(draw.random(n_rows) < noise, draw.integers(0, 2, n_rows), y)
    names = np.array([_letters(c) for c in range(20)])
    return pa.table({f"c{f}": names[codes[:, f]] for f in range(n_features)}), y


def census_like(n_rows: int, *, noise: float = 0.1, seed: int = 0) -> tuple[Floats, Classes]:
    """Make 14 columns of whole numbers, like a coded questionnaire, and two classes (24% and 76%).

    Half of the columns are codes with 2 to 40 values, unevenly spread; the others are amounts with about 20
    to 20,000 distinct values.

    Examples
    --------
    >>> X, y = census_like(1000)
    >>> X.shape, round(float(y.mean()), 2)
    ((1000, 14), 0.24)
    """
    draw = np.random.default_rng(seed)
    X = np.empty((n_rows, 14), np.float32)
    score = np.zeros(n_rows)
    for f, size in enumerate((2, 5, 6, 7, 9, 15, 40)):
        probability = draw.dirichlet(np.full(size, 0.8))
        codes = draw.choice(size, n_rows, p=probability)
        X[:, f] = codes
        score += draw.normal(0.0, 0.5, size)[codes]
    for f, size in enumerate((20, 70, 90, 120, 1_000, 5_000, 20_000), 7):
        amounts = np.minimum(draw.gamma(2.0, size / 8, n_rows), size - 1).astype(np.int64)
        X[:, f] = amounts
        score += 0.5 * np.log1p(amounts / size) * draw.normal()
    score += 2.0 * noise * draw.logistic(size=n_rows)
    return X, (score > np.quantile(score, 0.76)).astype(np.int64)


def imbalanced(
    n_rows: int, n_features: int = 10, *, share: float = 0.03, seed: int = 0
) -> tuple[Floats, Classes]:
    """Make two classes. The rarer one has a fraction ``share`` of the rows, in one corner of two features.

    Examples
    --------
    >>> X, y = imbalanced(2000)
    >>> int(y.sum())
    60
    """
    _at_least(n_features, 2)
    draw = np.random.default_rng(seed)
    X = draw.normal(size=(n_rows, n_features)).astype(np.float32)
    score = np.minimum(X[:, 0], X[:, 1]) + 0.3 * draw.normal(size=n_rows)
    return X, (score > np.quantile(score, 1 - share)).astype(np.int64)


def higgs_like(n_rows: int, *, seed: int = 0) -> tuple[Floats, Classes]:
    """Make 28 columns like data of particle physics, and two classes that overlap.

    There are 21 measured columns and 7 derived from them.
    Momenta are skewed, angles uniform, tags take three values, masses are functions of several of these.

    Examples
    --------
    >>> X, y = higgs_like(1000)
    >>> X.shape, len(set(X[:, 8].tolist()))
    ((1000, 28), 3)
    """
    draw = np.random.default_rng(seed)
    y = (draw.random(n_rows) < 0.53).astype(np.int64)
    X = np.empty((n_rows, 28), np.float32)
    # lepton and missing energy, then four jets of (momentum, direction, angle, tag)
    X[:, 0] = draw.lognormal(-0.1, 0.5, n_rows)
    X[:, 1] = draw.normal(size=n_rows)
    X[:, 2] = draw.uniform(-1.75, 1.75, n_rows)
    X[:, 3] = draw.lognormal(-0.15 - 0.08 * y, 0.55, n_rows)
    X[:, 4] = draw.uniform(-1.75, 1.75, n_rows)
    for jet in range(4):
        at = 5 + 4 * jet
        X[:, at] = draw.lognormal(-0.1 + 0.06 * y - 0.02 * jet, 0.45, n_rows)
        X[:, at + 1] = draw.normal(size=n_rows)
        X[:, at + 2] = draw.uniform(-1.75, 1.75, n_rows)
        tagged = draw.random(n_rows) < 0.4 + 0.12 * y
        X[:, at + 3] = np.where(tagged, 1.0 + 1.2 * (draw.random(n_rows) < 0.5), 0.0)
    pairs = [(5, 9), (5, 13), (0, 3), (9, 13), (13, 17), (5, 17), (0, 5)]
    for f, (a, b) in enumerate(pairs, 21):
        background = 1 - y  # its masses are higher and vary more
        X[:, f] = np.sqrt(X[:, a] * X[:, b]) * draw.lognormal(0.15 * background, 0.25 + 0.15 * background)
    return X, y


def _at_least(n_features: int, needed: int) -> None:
    if n_features < needed:
        raise ValueError(f"n_features must be at least {needed}, but {n_features} was given")


def _letters(number: int) -> str:
    """Return a, b, ..., z, ba, bb, ..."""
    digits = chr(ord("a") + number % 26)
    while number := number // 26:
        digits = chr(ord("a") + number % 26) + digits
    return digits
