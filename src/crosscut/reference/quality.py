"""compute_quality of section 2.1: the quality Q of tests, from their statistics alone.

The functions of ``compute_quality`` take ``S[..., j, c]``, the sums of branch j and class c as doubles, and
evaluate all tests of the leading axes at once. Operations and their order are fixed, so the same sums give
the same quality, bit for bit. If statistics are not counts, Gini and variance are fractions instead.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


def gini(S: Floats, _: Floats | None = None) -> Floats:
    """Return the sum of squared class weights over branch weight: higher means lower Gini impurity."""
    Q = np.zeros(S.shape[:-2])
    for j in range(S.shape[-2]):
        squares, L = np.zeros_like(Q), np.zeros_like(Q)
        for c in range(S.shape[-1]):
            squares = squares + S[..., j, c] * S[..., j, c]
            L = L + S[..., j, c]
        Q = Q + quotient(squares, L)
    return Q


def entropy(S: Floats, _: Floats | None = None) -> Floats:
    """Return the negative entropy of the classes times the weight."""
    Q = np.zeros(S.shape[:-2])
    for j in range(S.shape[-2]):
        information = np.zeros_like(Q)
        for c in range(S.shape[-1]):
            information = information + x(S[..., j, c])
        Q = Q + (information - x(total(S[..., j, :])))
    return Q


def gain_ratio(S: Floats, node: Floats | None = None) -> Floats:
    """Return information gain over split information (Quinlan 1993); -inf if there is almost no gain.

    ``node`` are the sums of the node as one branch, which can differ from the total of S by rounding.
    """
    node = S.sum(axis=-2, keepdims=True) if node is None else node
    L, N = total(S), total(node[..., 0, :])
    gain = entropy(S) - entropy(node)
    split = x(N)
    for j in range(S.shape[-2]):
        split = split - x(L[..., j])
    allowed = (gain > 1e-9 * N) & (split > 0)
    return np.where(allowed, quotient(gain, np.where(allowed, split, 0)), -np.inf)


def exact_gini(S: NDArray[Any], units: tuple[int, int]) -> Fraction:
    """Return Gini of one test from integers ``S[j, c]`` in units of 2**unit."""
    parts = [Fraction(int(sum(c * c for c in branch)), int(sum(branch))) for branch in S]
    return sum(parts, Fraction(0)) * Fraction(2) ** units[0]


def exact_variance(S: NDArray[Any], units: tuple[int, int]) -> Fraction:
    """Return squared sum over weight: higher means lower variance in the branches."""
    parts = [Fraction(int(product * product), int(weight)) for weight, product in S]
    return sum(parts, Fraction(0)) * Fraction(2) ** (units[0] + 2 * units[1])


def rounded(S: NDArray[Any], unit: int) -> Floats:
    """Return integers in units of 2**unit as doubles, each rounded once."""
    doubles = [float(Fraction(int(v)) * Fraction(2) ** unit) for v in S.ravel().tolist()]
    return np.array(doubles).reshape(S.shape)


def total(S: Floats) -> Floats:
    """Return the sum over the classes in their order."""
    L = np.zeros(S.shape[:-1])
    for c in range(S.shape[-1]):
        L = L + S[..., c]
    return L


def x(v: Floats) -> Floats:
    """Return ``v log2(v)`` by the C library's logarithm; NumPy's can differ in the last bit."""
    return np.array([u * math.log2(u) if u else 0.0 for u in v.ravel().tolist()]).reshape(v.shape)


def quotient(a: Floats, b: Floats) -> Floats:
    """Return a / b, with 0 where b is 0."""
    return np.divide(a, b, out=np.zeros_like(a), where=b != 0)


compute_quality: dict[str, Callable[..., Floats]] = {
    "gini": gini,
    "entropy": entropy,
    "gain_ratio": gain_ratio,
}
exact_quality: dict[str, Callable[[NDArray[Any], tuple[int, int]], Fraction]] = {
    "gini": exact_gini,
    "variance": exact_variance,
}
