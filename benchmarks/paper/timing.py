"""A row of the paper's Table 1: the cost of a cross-validation."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Timing:
    """Seconds for the final tree alone, for all trees one by one, and for all trees together.

    Examples
    --------
    >>> simple_bongard = Timing(2.6, 31, 3.4)
    >>> round(simple_bongard.S, 1), round(simple_bongard.O_s), round(simple_bongard.O_p, 2)
    (9.1, 11, 0.31)
    """

    T_a: float
    T_s: float
    T_p: float

    @property
    def S(self) -> float:
        """Speed-up T_s / T_p."""
        return self.T_s / self.T_p

    @property
    def O_s(self) -> float:
        """Overhead of the serial procedure, T_s / T_a - 1."""
        return self.T_s / self.T_a - 1

    @property
    def O_p(self) -> float:
        """Overhead of the parallel procedure, T_p / T_a - 1."""
        return self.T_p / self.T_a - 1

    def as_dict(self) -> dict[str, float]:
        """Return all six figures, for JSON."""
        return {name: getattr(self, name) for name in ("T_a", "T_s", "T_p", "S", "O_s", "O_p")}


# H. Blockeel and J. Struyf, "Efficient algorithms for decision tree cross-validation" (ICML 2001), Table 1,
# ten folds. S, O_s and O_p are those printed, which were computed before T_a, T_s and T_p were rounded.
PAPER: dict[str, dict[str, float]] = {
    "SB": {"T_a": 2.6, "T_s": 31, "T_p": 3.4, "S": 9.2, "O_s": 11.0, "O_p": 0.27},
    "CB": {"T_a": 4.0, "T_s": 44, "T_p": 7.4, "S": 6.0, "O_s": 10.0, "O_p": 0.81},
    "Mach": {"T_a": 0.028, "T_s": 0.30, "T_p": 0.10, "S": 3.0, "O_s": 9.9, "O_p": 2.6},
    "ASM": {"T_a": 720, "T_s": 7100, "T_p": 3700, "S": 1.9, "O_s": 9.0, "O_p": 4.2},
    "Muta": {"T_a": 1300, "T_s": 6700, "T_p": 6200, "S": 1.1, "O_s": 4.2, "O_p": 3.9},
}
