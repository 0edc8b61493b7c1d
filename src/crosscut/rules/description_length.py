"""The description length of rules and their exceptions, in bits (Quinlan 1995; Cohen 1995)."""

from __future__ import annotations

from functools import lru_cache
from math import log2

REDUNDANCY = 0.5  # conditions of a rule set are not independent: half of their bits are counted


def subset_bits(n: float, k: float, share: float) -> float:
    """Return the bits needed to say which ``k`` of ``n`` things are meant, given an expected share.

    Examples
    --------
    >>> subset_bits(8, 4, 0.5)
    8.0
    """
    bits = -k * log2(share) if k > 0 and share > 0 else 0.0
    if n > k and share < 1:
        bits -= (n - k) * log2(1 - share)
    return bits


@lru_cache(maxsize=2**16)
def rule_bits(n_conditions: int, n_possible: int) -> float:
    """Return the bits of a rule: the number of its conditions, and which of the possible ones they are."""
    if n_conditions == 0 or n_possible == 0:
        return 0.0
    length = log2(n_conditions)
    bits = length + (2 * log2(length) if length > 1 else 0.0)
    share = min(1.0, n_conditions / n_possible)
    return REDUNDANCY * (bits + subset_bits(n_possible, n_conditions, share))


def exception_bits(
    covered: float, uncovered: float, false_positives: float, false_negatives: float, share: float
) -> float:
    """Return the bits of the exceptions: which covered rows are wrong, and which uncovered ones.

    ``share`` is the expected share of false positives among the errors.
    """
    errors = false_positives + false_negatives
    bits = log2(covered + uncovered + 1)
    if covered > uncovered:
        bits += subset_bits(covered, false_positives, min(1.0, share * errors / covered))
        return bits + (
            subset_bits(uncovered, false_negatives, false_negatives / uncovered) if uncovered else 0.0
        )
    if covered:
        bits += subset_bits(covered, false_positives, false_positives / covered)
    if uncovered:
        bits += subset_bits(uncovered, false_negatives, min(1.0, (1 - share) * errors / uncovered))
    return bits
