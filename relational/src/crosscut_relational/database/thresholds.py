"""Constants computed from the data: solutions of a generator's goal, thresholds of numeric arguments."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from crosscut.engines.progress import watching
from crosscut_relational.database.materialize import Derivation
from crosscut_relational.database.program import EXAMPLE, with_key
from crosscut_relational.language.bias import BiasError
from crosscut_relational.language.modes import Var
from crosscut_relational.language.prolog import Clause
from crosscut_relational.language.terms import (
    Compound,
    Variable,
    conjunction,
    conjuncts,
    term_text,
    variables,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosscut_relational.database.database import Database
    from crosscut_relational.language.bias import Bias
    from crosscut_relational.language.modes import Generator
    from crosscut_relational.language.terms import Constant


def generated(generator: Generator, bias: Bias, database: Database) -> list[tuple[Constant, ...]]:
    """Return the values of a generator's variables, in the order of the database."""
    goals = [
        _threshold_member(goal, bias, database)
        if isinstance(goal, Compound) and goal.name == "threshold"
        else goal
        for goal in conjuncts(generator.goal)
    ]
    names = {variable.name: variable for variable in variables(generator.goal)}
    missing = [name for name in generator.variables if name not in names]
    if missing:
        raise BiasError(
            f"#({missing[0]}: {term_text(generator.goal)}, ...): the goal does not mention {missing[0]}"
        )
    head = Compound("$generated", tuple(names[name] for name in generator.variables))
    derivation = Derivation.of(database)
    clause = Clause(head, conjunction(goals), 0)
    if bias.implicit_key:
        keyed = {(name, arity - 1) for (name, arity), each in database.relations.items() if each.keyed}
        clause = with_key(clause, {*keyed, ("$generated", len(head.args))})
        derivation.facts[EXAMPLE, 1] = database.keys
    with watching(None):  # too small to report progress
        derivation.derive([clause])
    arity = len(head.args) + int(bias.implicit_key)
    if ("$generated", arity) not in derivation.facts:
        raise BiasError(
            f"the goal {term_text(generator.goal)} does not bind {', '.join(generator.variables)}"
        )
    rows = derivation.facts["$generated", arity][arity - len(head.args) :]
    rows_of_values = list(dict.fromkeys(map(tuple, rows.T.tolist())))
    if generator.max_values is not None and len(rows_of_values) > generator.max_values:
        keep = np.linspace(0, len(rows_of_values) - 1, generator.max_values).round().astype(int)
        rows_of_values = [rows_of_values[position] for position in keep]
    return [tuple(database.constants.terms[each] for each in row) for row in rows_of_values]


def _threshold_member(goal: Compound, bias: Bias, database: Database) -> Compound:
    """``member(C, [thresholds])`` for ``threshold(literal, [Y], C)``."""
    match goal.args:
        case (Compound() as literal, (Variable() as value,), constant):
            column = next((number for number, argument in enumerate(literal.args) if argument is value), None)
        case _:
            column = None
    if column is None:
        raise BiasError(f"{term_text(goal)}: thresholds are written threshold(literal, [Variable], Constant)")
    for each in bias.discretizations:
        argument = each.literal.args[column] if column < each.literal.arity else None
        same = (each.literal.name, each.literal.arity) == (literal.name, len(literal.args))
        if same and isinstance(argument, Var) and argument.name in each.variables:
            hidden = int(bias.implicit_key and (literal.name, each.literal.arity + 1) in database.relations)
            cuts = column_thresholds(
                database,
                (literal.name, each.literal.arity + hidden),
                column + hidden,
                each.n,
                bias.settings.discretize,
            )
            return Compound("member", (constant, tuple(cuts)))
    raise BiasError(
        f"{term_text(goal)}: to_be_discretized({term_text(literal)}, n, [{value.name}]) is missing, "
        "which gives the number of thresholds"
    )


def column_thresholds(
    database: Database, predicate: tuple[str, int], column: int, n: int, method: str = "equal_freq"
) -> list[float]:
    """Return at most `n` ascending thresholds between the numbers of one argument of a relation.

    "equal_freq" has equal numbers of facts between thresholds, whatever the target. "entropy" splits
    best-first to reduce the entropy of the examples' classes (the variance of numeric targets) and uses the
    targets of all examples, including held-out ones. Facts without a key have no class, so they use
    "equal_freq".
    """
    relation = database.relation(*predicate)
    values = database.constants.numbers[relation.columns[column]]
    known = ~np.isnan(values)
    values, owners = values[known], relation.columns[0][known] if relation.keyed else None
    distinct = np.unique(values)
    if len(distinct) < 2 or n < 1:
        return []
    if method == "equal_freq" or owners is None or database.target is None:
        return equal_frequency(values, n)
    order = np.argsort(database.keys[0], kind="stable")
    place = np.searchsorted(database.keys[0], owners, sorter=order).clip(max=database.n_examples - 1)
    belongs = database.keys[0][order[place]] == owners
    targets = database.target[order[place]][belongs]
    criterion = "entropy" if database.classes else "squared_error"
    return _best_first(values[belongs], targets, n, criterion)


def equal_frequency(values: NDArray[np.float64], n: int) -> list[float]:
    """Return at most `n` ascending thresholds with about equal numbers of values between them."""
    distinct, ordered = np.unique(values), np.sort(values)
    if len(distinct) < 2 or n < 1:
        return []
    wanted = ordered[np.floor(len(ordered) * np.arange(1, n + 1) / (n + 1)).astype(int)]
    cuts = np.clip(np.searchsorted(distinct, wanted, "left"), 1, len(distinct) - 1)
    return sorted({_between(distinct, int(cut)) for cut in cuts})


def _between(distinct: NDArray[np.float64], cut: int) -> float:
    """Return a number with few digits between two neighbouring values."""
    cut = min(max(cut, 1), len(distinct) - 1)
    low, high = float(distinct[cut - 1]), float(distinct[cut])
    middle = low + (high - low) / 2
    for digits in range(1, 16):
        short = float(f"{middle:.{digits}g}")
        if low < short < high and abs(short - middle) <= (high - low) / 8:
            return short
    return middle


def _best_first(
    values: NDArray[np.float64], targets: NDArray[np.generic], n: int, criterion: str
) -> list[float]:
    """Split repeatedly where the impurity decreases most, until there are `n` thresholds."""
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    maker = DecisionTreeClassifier if criterion == "entropy" else DecisionTreeRegressor
    distinct, place = np.unique(values, return_inverse=True)
    if len(distinct) < 2:
        return []
    grower = maker(criterion=criterion, max_leaf_nodes=n + 1, min_impurity_decrease=1e-9, random_state=0)
    tree = grower.fit(place.reshape(-1, 1), targets).tree_
    return [_between(distinct, math.ceil(cut)) for cut in np.sort(tree.threshold[tree.feature == 0])]
