"""The rule sets of all tasks, learnt together or, for comparison, one task after the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from crosscut.rules.cn2 import Measure, Quality, ordered, unordered
from crosscut.rules.ripper import Ripper, grow_part
from crosscut.rules.rule_set import RuleSet, decision_list, voting_rules
from crosscut.rules.search import Kind, Request, Searcher, Settings, learn_together
from crosscut.training.parameters import is_integer

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

Strategy = Literal["cn2", "ripper"]
KINDS: dict[Measure, Kind] = {
    "laplace": "ratio",
    "m_estimate": "ratio",
    "wracc": "linear",
    "entropy": "entropy",
}
LAPLACE = Quality("laplace")


def check_parameters(model: Any) -> None:
    """Check the parameters of a rule estimator."""
    for name, allowed in (("strategy", ("cn2", "ripper")), ("measure", tuple(KINDS))):
        if getattr(model, name) not in allowed:
            raise ValueError(f"{name} must be one of {allowed}, but {getattr(model, name)!r} was given")
    if model.measure == "entropy" and not model.ordered and model.strategy == "cn2":
        raise ValueError(
            "measure='entropy' does not say which class a rule is for, so ordered must be True; "
            "use 'laplace', 'm_estimate' or 'wracc' for unordered rules"
        )
    for name, minimum in (("beam_width", 1), ("optimization_passes", 0), ("max_length", 1)):
        value = getattr(model, name)
        if not is_integer(value, minimum) and not (name == "max_length" and value is None):
            raise ValueError(f"{name} must be an integer from {minimum}, but {value!r} was given")
    for name in ("m", "min_coverage"):
        value = getattr(model, name)
        if not isinstance(value, (int, float, np.number)) or not value > 0:
            raise ValueError(f"{name} must be a positive number, but {value!r} was given")
    if model.significance is not None and not 0 < model.significance < 1:
        raise ValueError(
            f"significance must be a level between 0 and 1, or None, but {model.significance!r} was given"
        )


@dataclass(frozen=True)
class Learning:
    """How rule sets are learnt; the same for every task.

    Attributes
    ----------
    strategy : {"cn2", "ripper"}
        Covering with beam search, or growing and pruning by description length.
    ordered : bool
        CN2: make a decision list; otherwise, rules for each class that vote.
    quality : Quality
        CN2: the quality of a rule.
    width : int
        CN2: rules kept at each length.
    max_length : int or None
        Maximum number of conditions per rule.
    min_weight : float
        Minimum weight of the rows a rule covers.
    significance : float
        CN2: minimum likelihood ratio statistic of a rule.
    passes : int
        RIPPER: passes of optimisation.
    seed : int
        RIPPER: chooses the rows for pruning.
    """

    strategy: Strategy = "cn2"
    ordered: bool = True
    quality: Quality = LAPLACE
    width: int = 5
    max_length: int | None = None
    min_weight: float = 1.0
    significance: float = 0.0
    passes: int = 2
    seed: int = 0

    @classmethod
    def of(cls, model: Any, n_classes: int, *, seed: int) -> Self:
        """Return the settings from the parameters of a rule estimator; see `check_parameters`."""
        statistic = 0.0
        if model.significance is not None:
            from scipy.stats import chi2

            statistic = float(chi2.isf(model.significance, max(1, n_classes - 1) if model.ordered else 1))
        return cls(
            model.strategy,
            bool(model.ordered),
            Quality(model.measure, float(model.m)),
            int(model.beam_width),
            None if model.max_length is None else int(model.max_length),
            float(model.min_coverage),
            statistic,
            int(model.optimization_passes),
            seed,
        )

    @property
    def settings(self) -> Settings:
        """How to search for a single rule."""
        if self.strategy == "ripper":
            return Settings("foil", True, 1, self.max_length, self.min_weight)
        kind = KINDS[self.quality.measure]
        return Settings(kind, False, self.width, self.max_length, self.min_weight, self.significance, True)

    def rule_sets(
        self, examples: Searcher, tasks: Sequence[int], n_rows: int, *, serial: bool = False
    ) -> tuple[RuleSet, ...]:
        """Learn the rule set of each task, a set of training rows.

        Parameters
        ----------
        examples : Searcher
            The rows.
        tasks : sequence of int
            Training rows of each task, as bit sets.
        n_rows : int
            Number of rows.
        serial : bool
            Learn one task after the other: the same rules, at full cost.
        """
        lists = [[task] for task in tasks] if serial else [list(tasks)]
        return tuple(rules for some in lists for rules in self._learn(examples, some, n_rows))

    def _learn(self, examples: Searcher, tasks: list[int], n_rows: int) -> list[RuleSet]:
        if self.strategy == "cn2" and not self.ordered:
            return self._learn_unordered(examples, tasks)
        learners: list[Generator[Request, tuple[Any, ...], list[tuple[Any, ...]]]]
        if self.strategy == "cn2":
            learners = [ordered(examples, task, self.quality) for task in tasks]
        else:
            parts = tuple(grow_part(n_rows, self.seed, turn) for turn in range(self.passes + 1))
            learners = [Ripper(examples, task, parts, self.min_weight).learn() for task in tasks]
        found = learn_together(learners, examples, self.settings)
        return [decision_list(examples, task, rules) for task, rules in zip(tasks, found, strict=True)]

    def _learn_unordered(self, examples: Searcher, tasks: list[int]) -> list[RuleSet]:
        """Learn the rules of all tasks and classes together; they are independent of each other."""
        pairs = [(task, code) for task in tasks for code in range(examples.n_classes)]
        learners = [unordered(examples, task, self.quality, code) for task, code in pairs]
        found = learn_together(learners, examples, self.settings)
        k = examples.n_classes
        return [
            voting_rules(examples, task, [rule for rules in found[t * k : t * k + k] for rule in rules])
            for t, task in enumerate(tasks)
        ]
