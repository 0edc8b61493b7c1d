"""Learn the rule sets of all tasks together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Self

import numpy as np

from crosscut.rules.cn2 import Covering, Measure, Quality
from crosscut.rules.ripper import Ripper
from crosscut.rules.rule_set import RuleSet, decision_list, voting_rules
from crosscut.rules.search import Kind, Settings, learn_together
from crosscut.training.parameters import is_integer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sklearn.base import BaseEstimator

    from crosscut.rules.examples import Rows

Strategy = Literal["cn2", "ripper"]
KINDS: dict[Measure, Kind] = {
    "laplace": "ratio",
    "m_estimate": "ratio",
    "wracc": "linear",
    "entropy": "entropy",
}
LAPLACE = Quality("laplace")


def check_parameters(model: BaseEstimator) -> None:
    """Check the parameters of a rule estimator."""
    for name, allowed in (("strategy", ("cn2", "ripper")), ("measure", tuple(KINDS))):
        if getattr(model, name) not in allowed:
            raise ValueError(f"{name} must be one of {allowed}, but {getattr(model, name)!r} was given")
    if model.measure == "entropy" and not model.ordered and model.strategy == "cn2":
        raise ValueError(
            "measure='entropy' does not determine the class of a rule, so ordered must be True; "
            "use 'laplace', 'm_estimate' or 'wracc' for unordered rules"
        )
    for name, minimum in (("beam_width", 1), ("optimization_passes", 0), ("max_length", 1)):
        value = getattr(model, name)
        if not is_integer(value, minimum) and not (name == "max_length" and value is None):
            raise ValueError(f"{name} must be an integer >= {minimum}, but {value!r} was given")
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
    """Settings of rule learning, which are the same for every task; see `RuleClassifier`."""

    strategy: Strategy = "cn2"
    ordered: bool = True
    quality: Quality = LAPLACE
    width: int = 5  # of the beam
    max_length: int | None = None
    min_rows: float = 1.0  # that a rule covers, in units of weight
    level: float | None = None  # of significance
    passes: int = 2  # of optimisation
    seed: int = 0  # chooses the rows for pruning

    @classmethod
    def of(cls, model: BaseEstimator, *, seed: int) -> Self:
        """Return the settings from the parameters of a rule estimator; see `check_parameters`."""
        return cls(
            model.strategy,
            bool(model.ordered),
            Quality(model.measure, float(model.m)),
            int(model.beam_width),
            None if model.max_length is None else int(model.max_length),
            float(model.min_coverage),
            None if model.significance is None else float(model.significance),
            int(model.optimization_passes),
            seed,
        )

    @property
    def settings(self) -> Settings:
        """Settings of the search for a single rule."""
        if self.strategy == "ripper":
            return Settings("foil", True, 1, self.max_length)
        kind = KINDS[self.quality.measure]
        return Settings(kind, False, self.width, self.max_length, True)

    def rule_sets(self, examples: Rows, tasks: Sequence[int]) -> tuple[RuleSet, ...]:
        """Learn the rule set of each task, whose training rows are a bit set."""
        if self.strategy == "cn2" and not self.ordered:
            return self._learn_unordered(examples, tasks)
        if self.strategy == "cn2":
            learners = [self._covering(examples, task).ordered() for task in tasks]
        else:
            parts = examples.grow_parts(tasks, self.seed, self.passes + 1)
            learners = [
                Ripper(examples, task, part, self.min_rows).learn()
                for task, part in zip(tasks, parts, strict=True)
            ]
        learnt = learn_together(learners, examples, self.settings)
        return tuple(decision_list(examples, task, rules) for task, rules in zip(tasks, learnt, strict=True))

    def _covering(self, examples: Rows, task: int) -> Covering:
        return Covering(examples, task, self.quality, self.min_rows, self.level)

    def _learn_unordered(self, examples: Rows, tasks: Sequence[int]) -> tuple[RuleSet, ...]:
        """Learn the rules of all tasks and classes together, because they are independent."""
        coverings = [self._covering(examples, task) for task in tasks]
        learners = [covering.unordered(k) for covering in coverings for k in range(examples.n_classes)]
        learnt = learn_together(learners, examples, self.settings)
        k = examples.n_classes
        return tuple(
            voting_rules(examples, task, [rule for rules in learnt[t * k : t * k + k] for rule in rules])
            for t, task in enumerate(tasks)
        )
