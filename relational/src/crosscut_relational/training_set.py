"""Training examples of a database, with the language of tests and the tasks of a cross-validation."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from crosscut.data.target import Target
from crosscut.engines.progress import part_of, watcher
from crosscut.tasks import Tasks
from crosscut.training.fit import Fit
from crosscut_relational.language.bias import Bias
from crosscut_relational.queries.growth import Grower, RelationalForest, signature_of
from crosscut_relational.queries.prediction import leaf_numbers
from crosscut_relational.queries.queries import Facts
from crosscut_relational.queries.resolve import cuts_of_tasks, resolve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from crosscut.forest.pruning_table import PruningTable
    from crosscut.statistics.validation import Validation
    from crosscut_relational.database.database import Database
    from crosscut_relational.language.modes import Language, Mode
    from crosscut_relational.queries.growth import Sharing
    from crosscut_relational.queries.tree import Signature


class StepLimitWarning(RuntimeWarning):
    """A query took more steps on some example than allowed and counts as false there."""


@dataclass(frozen=True, eq=False)
class RelationalSet:
    """Examples to learn from: the indexed database, the language of tests, and the tasks.

    ``folds`` is the fold of each example, -1 for those that train every model. It is None if some training
    set is not simply all examples except a fold, for example with folds in time order. ``weights`` is how
    often each example counts. ``used`` (tasks, modes) says which modes a task may use, because their
    thresholds come from its training examples; None for all.
    """

    facts: Facts
    language: Language
    tasks: Tasks
    folds: NDArray[np.int32] | None
    weights: NDArray[np.int64] | None = None
    used: NDArray[np.bool_] | None = None

    @classmethod
    def read(
        cls,
        database: Database,
        bias: Bias | None,
        cv: Any,
        *,
        regression: bool = False,
        cuts: bool = False,
        groups: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        random_state: int | None = None,
        **settings: Any,
    ) -> Self:
        """Check the database, fit the bias to it, and make the tasks of ``cv``.

        With `cuts`, tests compare numeric attributes with thresholds; see `cuts_of_tasks`. ``settings`` that
        are not None replace those of the bias.
        """
        if database.target is None or database.n_examples == 0:
            raise ValueError("the database has no examples with a target, so nothing can be learnt")
        if regression == bool(database.classes):
            kind, other = ("classes", "Classifier") if regression else ("numbers", "Regressor")
            raise ValueError(f"the target has {kind}; use RelationalTree{other}")
        bias = Bias.from_schema(database) if bias is None else bias
        changes = {name: value for name, value in settings.items() if value is not None}
        if changes or bias.settings.regression != regression:
            bias = bias.with_settings(regression=regression, **changes)
        tasks = tasks_of(cv, database, groups, random_state)
        if tasks.n_tasks == 1 and bias.settings.chooses:
            if settings.get("pruning") is not None:
                raise ValueError(
                    f"prune={bias.settings.pruning!r} chooses by cross-validation; set cv, for example cv=10"
                )
            bias = bias.with_settings(pruning="none" if regression else "c45")
        modes: list[Mode] = []
        used = None
        if cuts:
            trains = [tasks.trains(task) for task in range(tasks.n_tasks)]
            modes, used = cuts_of_tasks(bias, database, trains)
        language = resolve(bias, database, modes)
        weights = None if sample_weight is None else _repetitions(sample_weight, database.n_examples)
        return cls(Facts.of(database, language), language, tasks, folds_of(tasks), weights, used)

    def grow(
        self, sharing: Sharing, step_limit: int, n_jobs: int | None
    ) -> tuple[RelationalForest, NDArray[np.int32]]:
        """Grow the trees of all tasks, and return the leaf that each held-out example reaches.

        A leaf is given by its node's number in preorder. The trees of folds are grown in one run. If some
        training set is not all examples except a fold, each tree is grown on its own. An example of weight 2
        counts as two examples.
        """
        copies = (
            np.arange(len(self.y))
            if self.weights is None
            else np.repeat(np.arange(len(self.y)), self.weights)
        )
        if self.folds is not None:
            facts = self.facts if self.weights is None else Facts.of(self.database[copies], self.language)
            grower = Grower(facts, self.language, self.folds[copies], step_limit=step_limit)
            grown = grower.grow(sharing, n_jobs=n_jobs)
            first = np.searchsorted(copies, np.arange(len(self.y)))
            return grown, grown.held_out_leaves[first][self.tasks.tests]
        alone = []
        for task in range(self.tasks.n_tasks):
            part = self.database[copies[self.tasks.trains(task)[copies]]]
            nobody = np.full(part.n_examples, -1, np.int32)
            grower = Grower(Facts.of(part, self.language), self.language, nobody, step_limit=step_limit)
            progress = part_of(watcher(), task, self.tasks.n_tasks)
            alone.append(grower.grow(sharing, n_jobs=n_jobs, progress=progress))
        grown = RelationalForest.joined(alone)
        leaves = []
        for task, tree in enumerate(grown.pruned):
            tests = self.tasks.tests[self.tasks.first_test[task] : self.tasks.first_test[task + 1]]
            numbers = np.array(
                [number for number, node in enumerate(tree.root.walk()) if node.is_leaf], np.int32
            )
            leaves.append(numbers[leaf_numbers(tree, self.database[tests], step_limit=step_limit)])
        return grown, np.concatenate(leaves)

    @property
    def database(self) -> Database:
        """The database of the examples."""
        return self.facts.database

    @cached_property
    def signature(self) -> Signature:
        """The meaning of the numbers in tests."""
        return signature_of(self.facts, self.language)

    @property
    def y(self) -> NDArray[Any]:
        """Class code, or number, of every example."""
        return np.asarray(self.database.target)

    @property
    def classes(self) -> NDArray[Any] | None:
        """The classes; None for regression."""
        return np.array(self.database.classes, dtype=object) if self.database.classes else None

    def fit(
        self,
        model: Any,
        forest: Any,
        grown: Any,
        validation: Validation | None,
        chosen_by: PruningTable | None = None,
    ) -> Fit:
        """Return the result of training."""
        return Fit(
            learner=type(model).__name__,
            settings=model.get_params(deep=False)
            | ({"prune": self.language.settings.pruning} if chosen_by is not None else {}),
            schema=self.signature,
            classes=self.classes,
            target=self.signature.predicted,
            forest=forest,
            grown=grown,
            validation=validation,
            chosen_by=chosen_by,
        )

    def warn_of_limit(self, hits: Sequence[tuple[str, int]], step_limit: int) -> None:
        """Warn about queries that exceeded the step limit, with the first one and its example."""
        if hits:
            query, example = hits[0]
            warnings.warn(
                f"{len(hits)} (query, example) pairs took more than step_limit={step_limit} steps and count "
                f"as false; the first is {query} on {self.database.example_text(example)}. Raise "
                "step_limit, or restrict the bias",
                StepLimitWarning,
                stacklevel=3,
            )


def tasks_of(
    cv: Any, database: Database, groups: ArrayLike | None = None, random_state: int | None = None
) -> Tasks:
    """Return the tasks of ``cv``, as for tables; "marks" are the fold marks of the database."""
    if isinstance(cv, str):
        if cv != "marks":
            raise ValueError(
                f"cv is {cv!r}; the only string allowed is 'marks' (the fold marks of the database)"
            )
        if database.folds is None:
            raise ValueError("cv is 'marks', but the database has no fold marks; see Database.with_folds")
        cv = database.folds
    elif hasattr(cv, "__array__") or (isinstance(cv, (list, tuple)) and {*map(type, cv)} == {int}):
        cv = np.asarray(cv)
    assert database.target is not None
    classes = np.array(database.classes, dtype=object) if database.classes else None
    target = Target(database.target, len(database.classes), None)
    tasks = Tasks.of_target(cv, target, classes, groups=groups, random_state=random_state)
    if len(np.unique(tasks.tests)) < len(tasks.tests):
        raise ValueError(
            "cv holds out some examples more than once; use a splitter whose test sets do not overlap"
        )
    return tasks


def folds_of(tasks: Tasks) -> NDArray[np.int32] | None:
    """Return the fold of each example, from 0; -1 for examples in no fold.

    None if some training set is not all examples except a fold.
    """
    folds = np.full(tasks.n_rows, -1, np.int32)
    for task in range(1, tasks.n_tasks):
        held_out = tasks.test_rows(task)
        if len(tasks.train_rows(task)) + len(held_out) < tasks.n_rows:
            return None
        folds[held_out] = task - 1
    return folds


def _repetitions(sample_weight: ArrayLike, n: int) -> NDArray[np.int64]:
    weights = np.asarray(sample_weight)
    if weights.dtype.kind not in "iuf" or weights.shape != (n,):
        raise ValueError(
            f"sample_weight has shape {weights.shape} and type {weights.dtype}; it needs a positive whole "
            f"number for each of {n} examples"
        )
    wrong = weights[~((weights >= 1) & (weights == np.floor(weights)))]
    if len(wrong):
        raise ValueError(
            f"sample_weight contains {wrong[0]}; trees need positive whole numbers (how often each example "
            "counts), rules accept any weights"
        )
    return weights.astype(np.int64)
