"""The arguments of a drop-in, checked in scikit-learn's order and made ready to grow."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from sklearn.base import is_classifier
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils import indexable
from sklearn.utils._param_validation import validate_params

from crosscut.model_selection.delegation import NotShared, refuse_callbacks
from crosscut.model_selection.evaluation import Grown
from crosscut.model_selection.examples import Examples, Splits
from crosscut.model_selection.routing import route
from crosscut.model_selection.settings import read_candidates
from crosscut.tasks.masks import BLOCK

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from crosscut.model_selection.settings import Cut, Lane

# training rows of the splits of one growth: leave-one-out on 20,000 rows is grown 1,000 trees at a time
ROWS_AT_ONCE = 20_000_000

F = TypeVar("F", bound="Callable[..., Any]")


def checked_like(function: Any) -> Callable[[F], F]:
    """Check a drop-in's arguments as scikit-learn checks those of its own ``function``."""
    decorate: Callable[[F], F] = validate_params(
        function._skl_parameter_constraints,
        prefer_skip_nested_validation=False,  # the estimator is not checked yet
    )
    return decorate


@dataclass(frozen=True, eq=False)
class Call:
    """What a drop-in was asked: rows, splitter, scorer, and which extra arguments go where."""

    estimator: Any
    X: Any
    y: Any
    cv: Any  # a splitter
    scorer: Any
    routed: Any
    examples: Examples

    @classmethod
    def of(
        cls,
        owner: str,
        estimator: Any,
        X: Any,
        y: Any,
        groups: Any,
        cv: Any,
        params: Mapping[str, Any] | None,
        scoring: Any = None,
        *,
        raise_exc: bool = True,
        scored: bool = True,
        n_jobs: int | None = None,
    ) -> Call:
        """Check the arguments; raises :class:`NotShared` if the trees cannot be grown together."""
        refuse_callbacks(estimator)
        X, y = indexable(X, y)
        listed = (
            cv if hasattr(cv, "split") or not hasattr(cv, "__iter__") or isinstance(cv, str) else list(cv)
        )
        try:
            splitter = check_cv(listed, y, classifier=is_classifier(estimator))
            scorer = check_scoring(estimator, scoring=scoring, raise_exc=raise_exc) if scored else None
            routed = route(owner, params, groups, splitter=splitter, estimator=estimator, scorer=scorer)
            examples = Examples.of(estimator, X, y, routed.estimator.fit, n_jobs)
        except NotShared as reason:
            if listed is not cv:
                reason.splits = listed
            raise
        return cls(estimator, X, y, splitter, scorer, routed, examples)

    def grow(self, candidates: Sequence[Mapping[str, Any]], *, final: bool = False) -> Grown:
        """Grow the trees of all candidates on all splits, and with ``final`` on all rows."""
        # before the splitter is asked: what forbids sharing is then known without having used its random
        # numbers
        settings = read_candidates(self.estimator, candidates, self.examples.n_features)
        given = list(self.cv.split(self.X, self.y, **self.routed.splitter.split))
        try:
            return self._grow(candidates, settings, given, final=final)
        except NotShared as reason:
            reason.splits = given
            raise

    def grow_parts(self) -> Iterator[Grown]:
        """Grow the estimator's trees on all splits, so many splits at a time as fit in memory."""
        settings = read_candidates(self.estimator, [{}], self.examples.n_features)
        pairs = self.cv.split(self.X, self.y, **self.routed.splitter.split)
        size = max(BLOCK, ROWS_AT_ONCE // self.examples.n_rows)
        first = True
        while given := list(islice(pairs, size)):
            try:
                grown = self._grow([{}], settings, given)
            except NotShared as reason:
                reason.splits = [*given, *pairs] if first else self.cv
                raise
            first = False
            yield grown

    def _grow(
        self,
        candidates: Sequence[Mapping[str, Any]],
        settings: list[tuple[Lane, Cut]],
        given: list[tuple[Any, Any]],
        *,
        final: bool = False,
    ) -> Grown:
        splits = Splits.of(given, self.examples.n_rows)
        fit_params = self.routed.estimator.fit
        return Grown.of(self.estimator, candidates, settings, self.examples, splits, fit_params, final=final)
