"""The arguments of a drop-in function, checked in scikit-learn's order and prepared for growing."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import wraps
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
from joblib.logger import short_format_time
from sklearn import get_config
from sklearn.base import is_classifier
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils import Bunch, indexable
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing

from crosscut.data.frames import check_arrow
from crosscut.model_selection.callbacks import refuse_callbacks
from crosscut.model_selection.candidates import NotShared, check_estimator, warn_delegated
from crosscut.model_selection.evaluation import CandidateTrees
from crosscut.model_selection.pipelines import read_estimator
from crosscut.model_selection.rows import TrainingRows
from crosscut.model_selection.splits import Splits
from crosscut.sklearn_private import _safe_indexing, validate_params
from crosscut.tasks.masks import BLOCK

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray
    from sklearn.base import BaseEstimator

    from crosscut.model_selection.candidates import Candidate
    from crosscut.typing import ColumnLike, CrossValidation, Scorer, Scoring, TableLike

# training rows of all splits grown together: leave-one-out on 20,000 rows grows 1,000 trees at a time
ROWS_AT_ONCE = 20_000_000

F = TypeVar("F", bound="Callable[..., Any]")


def drop_in(function: Any) -> Callable[[F], F]:
    """Decorate a function that grows trees together; if it cannot, call scikit-learn's ``function`` and warn.

    Both functions take the same arguments, which are checked as scikit-learn checks them.
    """

    def decorate(shared: F) -> F:
        signature = inspect.signature(shared)

        @wraps(shared)
        def called(*arguments: Any, **options: Any) -> Any:
            bound = signature.bind(*arguments, **options).arguments
            bound["cv"] = as_list(bound.get("cv"))
            rows = {name: bound.get(name) for name in ("X", "y", "groups")}
            check_arrow(**rows)
            check_arrow(**(bound.get("params") or {}))
            try:
                return shared(**bound)
            except NotShared as error:
                reason = error
            # outside of the handler, so that tracebacks of the user's errors do not mention NotShared
            warn_delegated(shared.__name__, reason)
            if reason.splits is not None:
                bound["cv"] = reason.splits
            return function(**bound)

        constraints = getattr(function, "_skl_parameter_constraints", None)
        if constraints is None:
            return cast("F", called)
        # the estimator is not checked yet, so nested validation is not skipped
        checked = validate_params(constraints, prefer_skip_nested_validation=False)
        return cast("F", checked(called))

    return decorate


def as_list(cv: CrossValidation) -> CrossValidation:
    """Return ``cv``; an iterator becomes a list, because it may be needed twice."""
    return list(cv) if isinstance(cv, Iterator) and not hasattr(cv, "split") else cv


@dataclass(frozen=True, eq=False)
class Call:
    """The checked arguments of a drop-in: rows, splitter, scorer, and routed metadata."""

    estimator: BaseEstimator
    X: TableLike
    y: ColumnLike
    cv: CrossValidation  # a splitter
    scorer: Scorer
    routed: Any
    examples: TrainingRows

    @classmethod
    def of(
        cls,
        owner: str,
        estimator: BaseEstimator,
        X: TableLike,
        y: ColumnLike,
        groups: ColumnLike,
        cv: CrossValidation,
        params: Mapping[str, Any] | None,
        scoring: Scoring = None,
        *,
        raise_exc: bool = True,
        scored: bool = True,
        n_jobs: int | None = None,
    ) -> Call:
        """Check the arguments; raises :class:`NotShared` if the trees cannot be grown together."""
        check_estimator(estimator)
        refuse_callbacks(estimator)
        X, y = indexable(X, y)
        splitter = check_cv(cv, y, classifier=is_classifier(estimator))
        scorer = check_scoring(estimator, scoring=scoring, raise_exc=raise_exc) if scored else None
        routed = route(owner, params, groups, splitter=splitter, estimator=estimator, scorer=scorer)
        examples = TrainingRows.of(estimator, X, y, routed.estimator.fit, n_jobs)
        return cls(estimator, X, y, splitter, scorer, routed, examples)

    def grow(
        self,
        candidates: Sequence[Mapping[str, Any]],
        read_splits: Callable[[list[tuple[Any, Any]], int], Splits] = Splits.of,
        read: tuple[list[Candidate], list[Any]] | None = None,
    ) -> CandidateTrees:
        """Grow the trees of all candidates on the splits of the splitter.

        ``read_splits(pairs, n_rows)`` makes them of the splitter's pairs. ``read`` is the result of
        `read_estimator` for the same candidates, if it was called already.
        """
        # Before splitting: if the trees cannot be shared, the splitter must not have drawn random numbers.
        if read is None:
            read = read_estimator(self.estimator, candidates, self.examples)
        pairs = list(self._pairs())
        try:
            return CandidateTrees.of(self, candidates, *read, read_splits(pairs, self.examples.n_rows))
        except NotShared as reason:
            reason.splits = pairs
            raise

    def grow_parts(self) -> Iterator[CandidateTrees]:
        """Grow the estimator's trees on all splits, in parts of at most ``ROWS_AT_ONCE`` training rows."""
        read = read_estimator(self.estimator, [{}], self.examples)
        pairs = self._pairs()
        size = max(BLOCK, ROWS_AT_ONCE // self.examples.n_rows)
        first = True
        while part := list(islice(pairs, size)):
            try:
                trees = CandidateTrees.of(self, [{}], *read, Splits.of(part, self.examples.n_rows))
            except NotShared as reason:
                reason.splits = [*part, *pairs] if first else self.cv
                raise
            first = False
            yield trees

    def with_rows_of_y(self, order: NDArray[np.int64]) -> Call:
        """Return the same call with the target in another order."""
        y = _safe_indexing(self.y, order)
        return replace(self, y=y, examples=self.examples.with_target(y, order))

    def _pairs(self) -> Iterator[tuple[Any, Any]]:
        return iter(self.cv.split(self.X, self.y, **self.routed.splitter.split))


def route(
    owner: str,
    params: Mapping[str, Any] | None,
    groups: ColumnLike,
    *,
    splitter: CrossValidation,
    estimator: BaseEstimator,
    scorer: Scorer = None,
) -> Any:
    """Return ``.estimator.fit``, ``.scorer.score`` and ``.splitter.split`` as scikit-learn routes them."""
    params = {} if params is None else params
    if not get_config()["enable_metadata_routing"]:
        return Bunch(
            splitter=Bunch(split={"groups": groups}), estimator=Bunch(fit=params), scorer=Bunch(score={})
        )
    if groups is not None:
        raise ValueError(
            "`groups` can only be passed if metadata routing is not enabled via"
            " `sklearn.set_config(enable_metadata_routing=True)`. When routing is"
            " enabled, pass `groups` alongside other metadata via the `params` argument"
            " instead."
        )
    router = (
        MetadataRouter(owner=owner)
        .add(splitter=splitter, method_mapping=MethodMapping().add(caller="fit", callee="split"))
        .add(estimator=estimator, method_mapping=MethodMapping().add(caller="fit", callee="fit"))
    )
    if scorer is not None:
        router.add(scorer=scorer, method_mapping=MethodMapping().add(caller="fit", callee="score"))
    try:
        return process_routing(router, "fit", **params)
    except UnsetMetadataPassedError as error:
        # the message names the function that the user called
        raise UnsetMetadataPassedError(
            message=str(error).replace(f"{owner}.fit", owner),
            unrequested_params=error.unrequested_params,
            routed_params=error.routed_params,
        ) from None


def by_name(results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the results of all splits by name: numbers as arrays, other values as lists."""
    return {
        name: [result[name] for result in results]
        if isinstance(first, dict) or not np.isscalar(first)
        else np.array([result[name] for result in results])
        for name, first in results[0].items()
    }


def print_fits(
    verbose: int,
    results: Sequence[Mapping[str, Any]],
    candidates: Sequence[Mapping[str, Any] | None],
    n_splits: int,
    *,
    numbered: bool = False,
) -> None:
    """Print one line per candidate and split if ``verbose`` is above 1, with the scores if above 2."""
    if verbose <= 1:
        return
    for k, result in enumerate(results):
        candidate, s = candidates[k // n_splits], k % n_splits
        progress = f" {s + 1}/{n_splits}" if numbered and verbose > 2 else ""
        if numbered and verbose > 9:
            progress += f"; {k // n_splits + 1}/{len(candidates)}"
        text = ", ".join(f"{name}={value}" for name, value in sorted((candidate or {}).items()))
        text += ";" if text else ""
        if verbose > 2:
            text += _scores(result)
        text += f" total time={short_format_time(result['fit_time'] + result['score_time'])}"
        start = f"[CV{progress}] END "
        print(f"{start}{'.' * (80 - len(start) - len(text))}{text}")  # noqa: T201 - verbose output


def _scores(result: Mapping[str, Any]) -> str:
    test, train = result["test_scores"], result.get("train_scores")
    if isinstance(test, dict):
        return "".join(
            f" {name}: ({'' if train is None else f'train={train[name]:.3f}, '}test={test[name]:.3f})"
            for name in sorted(test)
        )
    return f", score={test:.3f}" if train is None else f", score=(train={train:.3f}, test={test:.3f})"
