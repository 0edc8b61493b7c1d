"""compute_quality of section 2.1: the quality Q of tests, from their statistics alone.

Every function takes ``S[..., j, c]``, the integer statistics of branch j (class c; or weight and product of
a regression), and rates all tests of the leading axes at once. Operations and their order are fixed: the
same integers give the same quality, bit for bit, however they were added up.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


def gini(S: Floats) -> Floats:
    """Return the sum of squared class weights over branch weight; higher means lower Gini impurity."""
    Q = np.zeros(S.shape[:-2])
    for j in range(S.shape[-2]):
        squares, L = np.zeros_like(Q), np.zeros_like(Q)
        for c in range(S.shape[-1]):
            squares = squares + S[..., j, c] * S[..., j, c]
            L = L + S[..., j, c]
        Q = Q + share(squares, L)
    return Q


def entropy(S: Floats) -> Floats:
    """Return the information: minus the entropy of the classes, times the weight."""
    Q = np.zeros(S.shape[:-2])
    for j in range(S.shape[-2]):
        information = np.zeros_like(Q)
        for c in range(S.shape[-1]):
            information = information + x(S[..., j, c])
        Q = Q + (information - x(S[..., j, :].sum(axis=-1)))
    return Q


def gain_ratio(S: Floats) -> Floats:
    """Return information gain over split information (Quinlan 1993); -inf where there is almost no gain."""
    L = S.sum(axis=-1)
    N = L.sum(axis=-1)
    gain = entropy(S) - entropy(S.sum(axis=-2, keepdims=True))
    split = x(N)
    for j in range(S.shape[-2]):
        split = split - x(L[..., j])
    allowed = (gain > 1e-9 * N) & (split > 0)
    return np.where(allowed, share(gain, np.where(allowed, split, 0)), -np.inf)


def variance(S: Floats) -> Floats:
    """Return squared product over weight; higher means less variance within the branches."""
    Q = np.zeros(S.shape[:-2])
    for j in range(S.shape[-2]):
        Q = Q + share(S[..., j, 1] * S[..., j, 1], S[..., j, 0])
    return Q


def x(v: Floats) -> Floats:
    """``v log2(v)``, with the C library's logarithm: NumPy's own may differ in the last bit."""
    return np.array([u * math.log2(u) if u else 0.0 for u in v.ravel().tolist()]).reshape(v.shape)


def share(a: Floats, b: Floats) -> Floats:
    """Divide, with 0 where b is 0."""
    return np.divide(a, b, out=np.zeros_like(a), where=b != 0)


compute_quality: dict[str, Callable[[Floats], Floats]] = {
    "gini": gini,
    "entropy": entropy,
    "gain_ratio": gain_ratio,
    "variance": variance,
}
