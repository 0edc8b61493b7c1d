"""Parameters that rule estimators have in common, as scikit-learn finds them in ``__init__``."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(kw_only=True, eq=False, repr=False)
class RuleParameters:
    """How rules are learnt; ``RuleClassifier`` says what each means."""

    strategy: str = "cn2"
    ordered: bool = True
    measure: str = "laplace"
    m: float = 2.0
    beam_width: int = 5
    max_length: int | None = None
    min_coverage: float = 2
    significance: float | None = None
    optimization_passes: int = 2
