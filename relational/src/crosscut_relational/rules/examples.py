"""Examples of a database as bit sets, with the query cache of relational trees."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut.rules.examples import Rows, bits_of
from crosscut_relational.queries.refinement import Path

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from crosscut.rules.search import Request, Settings
    from crosscut_relational.language.rule import Goal
    from crosscut_relational.queries.queries import Queries

    Conditions = tuple[tuple[Goal, ...], ...]


@dataclass(frozen=True, slots=True)
class _State:
    """A partial rule of one request."""

    request: int
    path: Path
    conditions: Conditions  # added so far
    rows: int


@dataclass(frozen=True, slots=True)
class _Refinements:
    """The candidates of a path, in the order of generation."""

    candidates: Any
    numbers: NDArray[np.int64]  # of the candidates
    queries: NDArray[np.int32]
    sources: NDArray[np.int64]  # numbers of the modes


class RelationalExamples(Rows):
    """Examples of a database; a condition is a test of the bias, a tuple of goals."""

    def __init__(
        self, queries: Queries, weights: NDArray[np.float64] | None = None, exponent: int | None = None
    ) -> None:
        database = queries.facts.database
        super().__init__(np.asarray(database.target, np.int32), len(database.classes), weights, exponent)
        self.queries = queries
        self._planes = self._binary_digits()
        self._root = Path.root(self.queries)
        self._paths: dict[Conditions, Path] = {(): self._root}
        self._truth: dict[Conditions, int] = {(): (1 << self.n_rows) - 1}
        self._refinements: dict[Conditions, _Refinements] = {}
        # modes that a task may use, by its training rows; all of them if it is not listed
        self.used: dict[int, NDArray[np.bool_]] = {}

    def _binary_digits(self) -> list[tuple[float, NDArray[np.uint64] | None]]:
        """Return powers of two and the examples whose weight has that binary digit; None for all examples."""
        if self.weights is None:
            return [(1.0, None)]
        whole = self.weights.astype(np.int64)
        digits = ((digit, bits_of((whole >> digit & 1).astype(bool))) for digit in range(53))
        return [(float(1 << digit), self.words([rows])[0]) for digit, rows in digits if rows]

    def truth(self, conditions: Sequence[Any]) -> int:
        """Return the examples for which all conditions hold, with the variables they share."""
        key = tuple(conditions)
        if key not in self._truth:
            goals = [*self.queries.facts.root, *(goal for test in key for goal in test)]
            row = self.queries.truth(self.queries.conjunction(goals), self.queries.all_examples)
            self._truth[key] = int.from_bytes(row.tobytes(), "little")
        return self._truth[key]

    @cached_property
    def keys(self) -> NDArray[np.uint64]:
        """A number for each example that depends only on its key."""
        names = [self.queries.facts.database.example_text(example) for example in range(self.n_rows)]
        return np.array([zlib.crc32(name.encode()) for name in names], np.uint64)

    def n_conditions(self, rows: int) -> int:
        """Return the number of tests that can start a rule of the task that trains on these rows."""
        sources = self._refined((), self._root).sources
        used = self.used.get(rows)
        return len(sources) if used is None else int(used[sources].sum())

    def _refined(self, conditions: Conditions, path: Path) -> _Refinements:
        if conditions not in self._refinements:
            candidates = path.candidates(self.queries)
            numbers = np.array(self.queries.store.order(candidates, path.ages), np.int64)
            sources = np.array(self.queries.store.sources(candidates), np.int64)[numbers]
            queries = candidates.queries[numbers]
            self._refinements[conditions] = _Refinements(candidates, numbers, queries, sources)
        return self._refinements[conditions]

    def search(self, requests: Sequence[Request], settings: Settings) -> list[Conditions]:
        """Search all requested rules; the truth of a test is computed once for all requests."""
        states = [
            _State(number, self._paths[request.start], (), request.rows)
            for number, request in enumerate(requests)
        ]
        best: list[tuple[float, float, Conditions]] = []
        for state in states:
            value, n = self._evaluate(requests[state.request], settings, self.class_totals(state.rows))
            best.append((0.0 if settings.greedy else value, n, ()))
        length = 0
        while states and (settings.max_length is None or length < settings.max_length):
            length += 1
            open_states = [
                state
                for state in states
                if self._is_open(requests[state.request], settings, state.rows, best[state.request][0])
            ]
            states = self._next(requests, settings, open_states, best)
        return [conditions for _, _, conditions in best]

    def _is_open(self, request: Request, settings: Settings, rows: int, best: float) -> bool:
        """Whether a refinement of a rule might be better than the best rule so far."""
        codes = range(self.n_classes) if request.target < 0 else [request.target]
        covered = [self.total(rows & self.of_class[code]) for code in codes]
        n = self.total(rows)
        if not any(covered) or n in covered:
            return False
        if settings.greedy or settings.kind == "entropy":
            return True
        possible = np.zeros(
            (len(covered), self.n_classes)
        )  # best case: cover one class only, and others up to `least`
        possible[range(len(covered)), list(codes)] = covered
        least = np.maximum(covered, request.least)
        return float(_quality(request, settings, possible, least, tuple(covered)).max()) >= best

    @staticmethod
    def _evaluate(request: Request, settings: Settings, totals: tuple[float, ...]) -> tuple[float, float]:
        counts = np.array([totals], np.float64)
        n = float(counts.sum())
        return float(_quality(request, settings, counts, n, totals)[0]) if n else -np.inf, n

    def _next(
        self,
        requests: Sequence[Request],
        settings: Settings,
        states: list[_State],
        best: list[tuple[float, float, Conditions]],
    ) -> list[_State]:
        """Refine states, grouped by path, and keep the best of each request."""
        together: dict[Conditions, list[_State]] = {}
        for state in states:
            together.setdefault(requests[state.request].start + state.conditions, []).append(state)
        best_offers: dict[int, list[tuple[float, float, int, int, _State, NDArray[np.uint64]]]] = {}
        position = {id(state): i for i, state in enumerate(states)}
        for path, sharing in together.items():
            refined = self._refined(path, sharing[0].path)
            if not len(refined.queries):
                continue
            union = 0
            for state in sharing:
                union |= state.rows
            truth = self.queries.store.truth(refined.queries, self.words([union])[0])
            for state in sharing:
                used = self.used.get(requests[state.request].train)
                usable = None if used is None else used[refined.sources]
                state_offers = self._offers(requests[state.request], settings, state, truth, usable)
                best_offers.setdefault(state.request, []).extend(
                    (*offer[:2], position[id(state)], offer[2], state, truth[offer[2]])
                    for offer in state_offers
                )
        result = []
        for number, offers in best_offers.items():
            offers.sort(key=lambda offer: offer[:4])
            kept: dict[int, None] = {}
            for worst, few, _, candidate, state, row in offers:
                rows = int.from_bytes(row.tobytes(), "little") & state.rows
                if len(kept) == settings.width:
                    break
                if rows in kept:
                    continue
                kept[rows] = None
                longer = self._extended(requests[number], state, candidate, rows)
                result.append(longer)
                quality, n = -worst, -few
                preferred = quality > best[number][0] or (
                    quality == best[number][0] and n > best[number][1] and best[number][2] != ()
                )
                if settings.greedy or (preferred and self._is_significant(requests[number], rows)):
                    best[number] = (quality, n, longer.conditions)
        return result

    def _offers(
        self,
        request: Request,
        settings: Settings,
        state: _State,
        truth: NDArray[np.uint64],
        of_task: NDArray[np.bool_] | None,
    ) -> list[tuple[float, float, int]]:
        """Return the best candidates of a state as (-quality, -coverage, number)."""
        class_words = self.words([state.rows & of_class for of_class in self.of_class])
        counts = np.zeros((len(truth), self.n_classes))
        for code, line in enumerate(class_words):
            for weight, plane in self._planes:
                held = truth & (line if plane is None else line & plane)
                counts[:, code] += weight * np.bitwise_count(held).sum(axis=1, dtype=np.int64)
        n = counts.sum(axis=1)
        whole = self.total(state.rows)
        usable = (n > 0) & (n < whole) & (n >= request.least)
        if of_task is not None:
            usable &= of_task
        if request.target >= 0:
            usable &= counts[:, request.target] > 0
        chosen = np.flatnonzero(usable)
        if not len(chosen):
            return []
        quality = _quality(request, settings, counts[chosen], n[chosen], self.class_totals(state.rows))
        if settings.greedy:
            chosen, quality = chosen[quality > 0], quality[quality > 0]
        order = np.lexsort((chosen, -n[chosen], -quality))[: settings.width]
        return [(-float(quality[i]), -float(n[chosen[i]]), int(chosen[i])) for i in order]

    def _extended(self, request: Request, state: _State, candidate: int, rows: int) -> _State:
        before = request.start + state.conditions
        refined = self._refined(before, state.path)
        test = state.path.extend(self.queries, refined.candidates, int(refined.numbers[candidate]))
        self._paths[(*before, test.goals)] = test.path
        return _State(state.request, test.path, (*state.conditions, test.goals), rows)

    def _is_significant(self, request: Request, rows: int) -> bool:
        if request.significance <= 0:
            return True
        covered, before = (np.array(self.class_totals(each)) for each in (rows, request.rows))
        if request.target >= 0:
            covered, before = (
                np.array([each[request.target], each.sum() - each[request.target]])
                for each in (covered, before)
            )
        seen = covered > 0
        expected = before[seen] * covered.sum() / before.sum()
        return bool(2 * np.sum(covered[seen] * np.log(covered[seen] / expected)) >= request.significance)


def _quality(
    request: Request,
    settings: Settings,
    counts: NDArray[np.float64],
    n: NDArray[np.float64] | float,
    before: tuple[float, ...],
) -> NDArray[np.float64]:
    """Return the quality of rules from their class counts (rules, classes); see `Settings`."""
    if settings.kind == "entropy":
        logs = counts * np.log2(np.maximum(counts, 1.0))
        return np.asarray((logs.sum(axis=1) - n * np.log2(n)) / n)
    target = request.target
    if settings.kind == "foil":
        p = counts[:, target]
        base = np.log2(max(before[target], 1.0) / sum(before))
        return np.asarray(p * (np.log2(np.maximum(p, 1.0) / n) - base))
    columns = list(range(counts.shape[1])) if target < 0 else [target]
    p, a = counts[:, columns], np.array(request.a)[columns]
    if settings.kind == "ratio":
        return np.asarray(((p + a) / (np.reshape(n, (-1, 1)) + request.b)).max(axis=1))
    return np.asarray((p - np.reshape(n, (-1, 1)) * a).max(axis=1))
