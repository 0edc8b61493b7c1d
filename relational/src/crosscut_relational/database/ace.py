"""Read ACE applications (keys and models format) and Prolog programs into a database."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut.engines.progress import watching_part
from crosscut_relational.database.database import Database
from crosscut_relational.database.dependencies import calls
from crosscut_relational.database.program import Program
from crosscut_relational.database.relation import Relation
from crosscut_relational.database.target import TargetError, check_all_or_none, check_one_target, class_codes
from crosscut_relational.language.ace_settings import read_settings
from crosscut_relational.language.bias import Bias
from crosscut_relational.language.modes import Literal, Var
from crosscut_relational.language.notation import predict_from_term, types_from_term
from crosscut_relational.language.prolog import PrologError, read_term
from crosscut_relational.language.terms import term_text

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from crosscut_relational.database.materialize import Facts
    from crosscut_relational.language.settings import Settings
    from crosscut_relational.language.terms import Constant

FOLD_MARKS = ("testid", "testnr")


def read_ace(prefix: str | os.PathLike[str], *, folds: str | os.PathLike[str] | None = None) -> Database:
    """Read an ACE application; see `Database.from_ace`."""
    place = Path(prefix)
    if place.suffix in {".kb", ".s", ".bg"}:
        place = place.with_suffix("")
    facts, settings, background = (place.with_name(place.name + ending) for ending in (".kb", ".s", ".bg"))
    for file in (facts, settings):
        if not file.is_file():
            raise FileNotFoundError(
                f"prefix is {str(prefix)!r}, but there is no file {file.name} in {file.parent}"
            )
    program = Program()
    with watching_part(0.0, 0.5):
        program.read_files([facts, background] if background.is_file() else [facts])
    with watching_part(0.5, 1.0):
        database = build(program, read_settings(settings, program.problems), as_seen=True)
    return database if folds is None else database.with_folds(read_folds(folds, database))


def read_facts(
    facts: Mapping[str, Iterable[tuple[Constant, ...]]],
    text: str,
    predict: str,
    types: Sequence[str],
    *,
    settings: Settings,
    examples: Sequence[Any] | None,
) -> Database:
    """Take facts as tuples and clauses as text; see `Database.from_facts`."""
    program = Program()
    for name, rows in facts.items():
        program.add(name, rows)
    program.read(text)
    target, target_types = predict_from_term(read_term(predict))
    declared = dict(types_from_term(read_term(each)) for each in types)
    declared.setdefault(target.predicate, target_types)
    return build(program, Bias(types=declared, predict=target, settings=settings), examples)


def build(
    program: Program,
    bias: Bias,
    examples: Sequence[Any] | None = None,
    *,
    as_seen: bool = False,
    only_reached: bool = False,
) -> Database:
    """Return a program's database. The bias names target and types; `examples` are examples to predict.

    Classes without a declared order are in order of appearance if `as_seen`, otherwise sorted. Clauses that
    neither the modes nor the target need are left out if there are modes or if `only_reached`.
    """
    models = bool(program.models)
    named = _named(bias)
    derivation = program.derive(named, named if bias.modes or only_reached else None)
    facts = derivation.facts
    database = Database(constants=program.constants, rules=derivation.rules, implicit_key=models)
    if models and bias.predict is None:
        _take_model_classes(database, facts, list(program.models), bias)
    elif bias.predict is None:
        raise PrologError("the settings have no predict(target(+key,-class)), so there is nothing to learn")
    else:
        _take_target(database, facts, bias, program, examples, as_seen=as_seen)
    database.folds = _take_folds(database, facts)
    _add_relations(database, facts, bias, models=models)
    return database


def _named(bias: Bias) -> set[tuple[str, int]]:
    """Return the predicates named in the settings; learning needs them, even without facts."""
    used = [literal for mode in bias.modes for literal in mode.literals] + list(bias.root)
    used += [literal for each in bias.lookahead for literal in (each.first, *each.then)]
    used += [each.literal for each in bias.discretizations]
    used += [] if bias.predict is None else [bias.predict]
    marks = {(name, n) for name in FOLD_MARKS for n in range(1, 5)}
    marks |= {(str(name), 0) for name in bias.settings.classes or ()}  # a fact of each model states its class
    generated = [calls(mode.generator.goal) for mode in bias.modes if mode.generator is not None]
    return {*bias.types, *(literal.predicate for literal in used), *marks}.union(*generated)


def _take_model_classes(database: Database, facts: Facts, models: list[int], bias: Bias) -> None:
    """Set the class of each model: the fact without arguments in it that is one of `classes`."""
    classes = bias.settings.classes
    if classes is None:
        raise TargetError("models have no target: name the classes in the settings, classes([pos,neg])")
    keys = np.array(models, np.int32)
    codes = np.full(len(keys), -1, np.int32)
    for code, name in enumerate(classes):
        stated = facts.pop((str(name), 1), np.empty((1, 0), np.int32))[0]
        members = np.isin(keys, stated)
        both = np.flatnonzero(members & (codes >= 0))
        if len(both):
            first = int(both[0])
            raise TargetError(
                f"model {database.constants.text(int(keys[first]))} states two classes, "
                f"{term_text(classes[codes[first]])} and {term_text(name)}"
            )
        codes[members] = code
    database.keys, database.key_types, database.classes = keys[None, :], ("$example",), classes
    check_all_or_none(database, codes)


def _take_target(
    database: Database,
    facts: Facts,
    bias: Bias,
    program: Program,
    examples: Sequence[Any] | None,
    *,
    as_seen: bool,
) -> None:
    assert bias.predict is not None
    predict = bias.predict
    types = bias.types.get(predict.predicate, ())
    if program.models:
        predict = Literal(predict.name, (Var("+", "key"), *predict.args))
        types = bias.types.get(predict.predicate) or types
    predicate = predict.predicate
    rows = facts.pop(predicate, None)
    marks = [argument.mark if isinstance(argument, Var) else "" for argument in predict.args]
    key_columns = [column for column, mark in enumerate(marks) if mark == "+"]
    names = [types[column] if column < len(types) else None for column in key_columns]
    database.target_name = predict.name
    database.key_types = tuple(name if isinstance(name, str) else None for name in names)
    if program.models:
        database.key_types = ("$example",)
    if examples is not None:
        listed = [each if isinstance(each, tuple) else (each,) for each in examples]
        if any(len(each) != len(key_columns) for each in listed):
            raise TargetError(f"each example must have {len(key_columns)} keys, as {predict} says")
        columns = zip(*listed, strict=True) if listed else ((),) * len(key_columns)
        database.keys = np.stack([database.constants.intern_all(column) for column in columns])
        return
    if rows is None or rows.shape[1] == 0:
        raise TargetError(
            f"there are no examples: no fact or clause gives {predict.name}/{predict.arity}, "
            "which predict names; list their keys as examples to predict them"
        )
    value = marks.index("-")
    if predicate not in program.facts:
        rows = rows[:, _example_order(rows[key_columns], facts)]
    database.keys = np.ascontiguousarray(rows[key_columns])
    check_one_target(database, rows[value])
    if bias.settings.regression:
        numbers = database.constants.numbers[rows[value]]
        wrong = np.flatnonzero(np.isnan(numbers))
        if len(wrong):
            raise TargetError(
                f"regression needs numbers, but example {database.example_text(int(wrong[0]))} has "
                f"{database.constants.text(int(rows[value][wrong[0]]))}"
            )
        database.target = numbers
        return
    database.classes, database.target = class_codes(
        database, rows[value], bias.settings.classes, as_seen=as_seen
    )


def _example_order(keys: NDArray[np.int32], facts: Facts) -> NDArray[np.int64]:
    """Examples in the order of the files.

    A derived target is in the order of its clauses. The first relation whose first column contains all keys
    gives the order of the examples in the files.
    """
    file_order = np.arange(keys.shape[1])
    if len(keys) != 1:
        return file_order
    for columns in facts.values():
        if len(columns) and columns.shape[1] >= keys.shape[1] and np.isin(keys[0], columns[0]).all():
            values, first = np.unique(columns[0], return_index=True)
            return np.argsort(first[np.searchsorted(values, keys[0])], kind="stable")
    return file_order


def _take_folds(database: Database, facts: Facts) -> NDArray[np.int32] | None:
    """Fold marks stated as ``testid(Key, Fold)`` or ``testnr(Key, Fold)``."""
    tables = [facts.pop((name, len(database.keys) + 1), None) for name in FOLD_MARKS]
    stated = next((table for table in tables if table is not None), None)
    if stated is None:
        return None
    marks = np.full(database.n_examples, -1, np.int32)
    numbers = database.constants.numbers[stated[-1]]
    known = ~np.isnan(numbers)
    for fold in numbers[known]:
        if fold != fold // 1 or abs(fold) >= 2**31:
            raise ValueError(
                f"{FOLD_MARKS[0]} and {FOLD_MARKS[1]} name folds by whole numbers, not by {fold:g}"
            )
    fold_of = dict(zip(map(tuple, stated[:-1, known].T.tolist()), numbers[known].astype(int), strict=True))
    for example, key in enumerate(map(tuple, database.keys.T.tolist())):
        marks[example] = fold_of.get(key, -1)
    return marks


def _add_relations(database: Database, facts: Facts, bias: Bias, *, models: bool) -> None:
    for (name, arity), columns in facts.items():
        types = bias.types.get((name, arity), (None,) * arity)
        keyed = False
        if arity and len(database.keys) == 1:
            if types[0] is not None and database.key_types[0] is not None and not models:
                keyed = types[0] == database.key_types[0]
            else:
                keyed = bool(np.isin(columns[0], database.keys[0]).all())
        if models:
            written = bias.types.get((name, arity - 1))
            if keyed and written is not None:
                types = ("$example", *written)
        database.relations[name, arity] = Relation(name, columns, types, keyed)


def read_folds(folder: str | os.PathLike[str], database: Database) -> NDArray[np.int32]:
    """Return the fold of each example, from files that list the examples of a fold, one per line.

    Files are taken in the order of the numbers in their names; a line starts with the example's key
    (``d92: +``, ``17,anna,bob: -``) or states it as a fact (``active(d18).``, ``:- active(d38).``).
    """
    files = sorted(
        (file for file in Path(folder).iterdir() if re.search(r"\d", file.name)),
        key=lambda file: int(re.findall(r"\d+", file.name)[-1]),
    )
    if not files:
        raise FileNotFoundError(f"folds is {str(folder)!r}, a folder without numbered files")
    texts = [term if isinstance(term, str) else term_text(term) for term in database.constants.terms]
    keys = database.keys.T.tolist()
    place = {tuple(texts[each] for each in key): example for example, key in enumerate(keys)}
    marks = np.full(database.n_examples, -1, np.int32)
    for fold, file in enumerate(files):
        for line in file.read_text(encoding="utf-8").splitlines():
            match = re.match(r"\s*(?:(?::-\s*)?\w+\(([^)]*)\)\.|([^:]+):.*)\s*$", line)
            if match is None:
                continue
            listed = (match.group(1) or match.group(2)).split(",")
            example = place.get(tuple(part.strip() for part in listed[: len(database.keys)]))
            if example is None:
                raise ValueError(
                    f"{file.name} lists {line.strip()!r}, which is not an example of the database"
                )
            marks[example] = fold
    return marks
