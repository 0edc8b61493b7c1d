"""Settings of growing and pruning relational trees: the subset of TILDE's settings that applies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from crosscut.forest.shrinkage import Shrinkage
    from crosscut_relational.language.terms import Constant

Heuristic = Literal["gain", "gainratio", "gini", "variance"]
HEURISTICS = ("gain", "gainratio", "gini", "variance")
Pruning = Literal["best", "1se", "c45", "safe", "none"]
PRUNINGS = ("best", "1se", "c45", "safe", "none")
DISCRETIZATIONS = ("equal_freq", "entropy")


@dataclass(frozen=True)
class Settings:
    """Settings of growth and pruning; the defaults are TILDE's.

    Attributes
    ----------
    regression : bool
        Whether the target is a number (``tilde_mode(regression)``).
    heuristic : "gain", "gainratio", "gini" or "variance"
        Split criterion. TILDE's ``eucl`` is "variance".
    minimal_cases : int
        Minimum number of examples per branch.
    accuracy : float
        A node becomes a leaf if its majority class has at least this fraction.
    ftest : float
        Significance level that a regression split must reach.
    pruning : "best", "1se", "c45", "safe" or "none"
        "best" and "1se" choose the size of the tree by the held-out examples, as in
        :class:`crosscut.TreeClassifier`; without folds, they are "c45" for classes and "none" for numbers.
        Classes: "safe" only merges sibling leaves of one class; "c45" then prunes by C4.5's pessimistic
        error.
        Numbers: the F-test stops growth, as in TILDE.
    shrinkage : "auto", float or None
        With "best" and "1se", how strongly predictions move towards those of the nodes above; "auto" chooses
        it together with the size of the tree.
    confidence_level : float
        C4.5's confidence factor.
    m_estimate : float or None
        Weight of the prior in the class probabilities of a leaf.
    max_depth : int or None
        Maximum depth of a tree, in tests.
    max_lookahead : int
        Maximum number of literals that lookahead may add to a test.
    exhaustive_lookahead : int
        Maximum number of literals of any mode that may follow in the same test.
    discretize : "equal_freq" or "entropy"
        How to choose the thresholds of a ``to_be_discretized`` argument.
    classes : tuple of constants or None
        The classes in order. None: all classes that occur, in order of appearance for ACE's files, otherwise
        sorted.
    ties : "first" or "last"
        Which of the classes that tie in a leaf is predicted: the first, or as in ACE the last one.
    n_folds : int or None
        From ``execute(nfold(tilde, n))``.
    """

    regression: bool = False
    heuristic: Heuristic = "gainratio"
    minimal_cases: int = 2
    accuracy: float = 1.0
    ftest: float = 0.05
    pruning: Pruning = "c45"
    shrinkage: Shrinkage = "auto"
    confidence_level: float = 0.25
    m_estimate: float | None = None
    max_depth: int | None = None
    max_lookahead: int = 1
    exhaustive_lookahead: int = 0
    discretize: Literal["equal_freq", "entropy"] = "entropy"
    classes: tuple[Constant, ...] | None = None
    ties: Literal["first", "last"] = "first"
    n_folds: int | None = None

    @property
    def chooses(self) -> bool:
        """Whether the folds choose the size of the tree."""
        return self.pruning in {"best", "1se"}

    def __post_init__(self) -> None:
        for name, value, known in (
            ("heuristic", self.heuristic, HEURISTICS),
            ("pruning", self.pruning, PRUNINGS),
            ("discretize", self.discretize, DISCRETIZATIONS),
            ("ties", self.ties, ("first", "last")),
        ):
            if value not in known:
                raise ValueError(f"{name} is {value!r}; it must be one of {', '.join(known)}")
        for name, fraction in (
            ("accuracy", self.accuracy),
            ("ftest", self.ftest),
            ("confidence_level", self.confidence_level),
        ):
            if not 0 <= fraction <= 1:
                raise ValueError(f"{name} is {fraction!r}; it must be between 0 and 1")
        strength = self.shrinkage
        if strength not in {None, "auto"} and (isinstance(strength, str) or not strength >= 0):
            raise ValueError(f"shrinkage is {strength!r}; it must be 'auto', None or a number >= 0")
        for name, number, least in (
            ("minimal_cases", self.minimal_cases, 1),
            ("max_lookahead", self.max_lookahead, 0),
            ("exhaustive_lookahead", self.exhaustive_lookahead, 0),
            ("m_estimate", self.m_estimate, 0),
            ("max_depth", self.max_depth, 0),
        ):
            if number is not None and number < least:
                raise ValueError(f"{name} is {number}; it must be at least {least}")
