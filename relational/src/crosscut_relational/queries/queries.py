"""The facts of a database in the core, and cached truth values of queries on its examples.

A query is a conjunction of goals. Sets of examples are bit sets in words of 64 bits.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, cast

import numpy as np

from crosscut.data.memory import available, check_memory
from crosscut_relational import _core
from crosscut_relational.database.attribute_values import AttributeValues
from crosscut_relational.database.database import MISSING
from crosscut_relational.language.modes import Const, Key, TypeVariable, Var
from crosscut_relational.language.rule import COMPARISONS, Goal
from crosscut_relational.language.terms import Compound

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Sequence

    from numpy.typing import NDArray

    from crosscut_relational.database.database import Database
    from crosscut_relational.language.attributes import Attribute
    from crosscut_relational.language.modes import Argument, Language, Literal

# a term of the core: the kind in the low two bits, the number in the other bits
CONSTANT, FIXED, VARIABLE = 0, 1, 2
ANY_TYPE = -1
FIRST_TYPE_VARIABLE = -3  # this number and below: types bound by their first use on a path
UNUSED = "$unused"  # the type of variables that cannot be inputs
FIXED_ARGUMENT = 0
MARKS = {"+": 1, "-": 2, "_": 2, "+-": 3, "": 4}  # the core's codes for marks of variables
STEP_LIMIT = 1_000_000
MEMORY = (
    1 << 29
)  # maximum bytes of cached truth values while trees grow; beyond that, queries are searched again
# Bundles of at most this many examples are grown with their subtrees by one thread; the limit is up to eight
# times higher for large databases.
SINGLE_THREAD = 1 << 10

CoreLiteral = tuple[int, bool, list[int]]
CorePattern = tuple[int, bool, list[tuple[int, int, int, int]]]
CoreLanguage = tuple[
    list[int],
    list[int],
    list[tuple[list[CorePattern], int]],
    list[tuple[CorePattern, list[CorePattern]]],
    list[tuple[CorePattern, list[int]]],
    int,
    int,
]


def term(kind: int, number: int) -> int:
    """Return the core's integer for a term."""
    return number << 2 | kind


def bits(members: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Pack one flag per example into words of 64 bits."""
    packed = np.packbits(members, bitorder="little")
    return np.pad(packed, (0, -len(packed) % 8)).view(np.uint64)


def members(words: NDArray[np.uint64], n: int) -> NDArray[np.bool_]:
    """Unpack words of 64 bits into one flag per example."""
    return np.unpackbits(words.view(np.uint8), count=n, bitorder="little").astype(bool)


class Facts:
    """A database's facts in the core, with the root of every query.

    ``fixed`` (examples, variables) has one value per example: keys, attributes, then variables of root goals
    with exactly one solution for every example. Tests that share only fixed variables are independent.
    ``root`` are the other root goals; their variables are part of the query.
    """

    def __init__(
        self,
        database: Database,
        root: Sequence[Goal] = (),
        attributes: Sequence[Attribute] = (),
        used: Container[int] | None = None,
    ) -> None:
        self.database = database
        sizes = [(len(each.columns), each.columns.shape[1]) for each in database.relations.values()]
        needed = sum((4 * arity + 20) * n for arity, n in sizes)  # a copy and at least one index
        facts = f"{sum(n for _, n in sizes):,} facts"
        check_memory(needed, facts, "leave out relations that no test uses, or some examples")
        columns, numbers = _attribute_columns(database, attributes, used)
        self.fixed, self.root, self.renumbered = _fixed_variables(database, root, columns)
        self.attributes = tuple(attributes)
        self.n_terms = len(database.constants)
        self.store = _core.FactStore(np.ascontiguousarray(self.fixed), numbers)
        self._numbers: dict[tuple[str, int], int] = {(name, 2): i for i, name in enumerate(COMPARISONS)}
        self.predicates: list[tuple[str, int]] = list(self._numbers)

    @classmethod
    def of(cls, database: Database, language: Language) -> Facts:
        """Return the facts with the keys and roots of a language."""
        return cls(database, language.root, language.attributes)

    @property
    def n_fixed(self) -> int:
        """Number of fixed variables."""
        return int(self.fixed.shape[1])

    def predicate(self, name: str, arity: int) -> int:
        """Return the core's number of a predicate."""
        known = self._numbers.get((name, arity))
        if known is not None:
            return known
        rule = self.database.rules.get((name, arity))
        if rule is None or not rule.bodies:  # rules that cannot be inlined are stored
            number = self.store.add_relation(
                self.database.relation(name, arity).columns, *self._missing_links(name, arity)
            )
        else:
            number = self.store.add_rule(
                arity, [[self.literal(goal, 0) for goal in body] for body in rule.bodies]
            )
        self._numbers[name, arity] = number
        self.predicates.append((name, arity))
        return number

    def _missing_links(self, name: str, arity: int) -> tuple[list[int], int]:
        """Return the columns of each fact that hold missing links, one bit each, and the bit of the key."""
        described = self.database.columns.get((name, arity), ())
        columns = self.database.relation(name, arity).columns
        bits = np.zeros(columns.shape[1], np.uint64)
        for place, column in enumerate(described):
            if column.kind == "link":
                bits |= self._is_missing[columns[place]].astype(np.uint64) << np.uint64(place)
        key = sum(1 << place for place, column in enumerate(described) if column.kind == "key")
        return (bits.tolist() if bits.any() else []), key

    @cached_property
    def _is_missing(self) -> NDArray[np.bool_]:
        """Whether each constant is a missing link."""
        terms = self.database.constants.terms
        return np.array([isinstance(each, Compound) and each.name == MISSING for each in terms], bool)

    def literal(self, goal: Goal, n_fixed: int) -> CoreLiteral:
        """Encode a goal for the core; its first `n_fixed` variables are fixed."""
        args = [
            term(CONSTANT, ~a) if a < 0 else term(FIXED, a) if a < n_fixed else term(VARIABLE, a - n_fixed)
            for a in goal.args
        ]
        return self.predicate(goal.name, len(goal.args)), goal.negated, args

    def goals(
        self, literals: Iterable[CoreLiteral], numbers: Sequence[int] | None = None
    ) -> tuple[Goal, ...]:
        """Return literals of the core as goals; ``numbers`` renames the variables that are not fixed."""

        def argument(code: int) -> int:
            kind, number = code & 3, code >> 2
            if kind == CONSTANT:  # constants unknown to the database are thresholds
                if number >= self.n_terms:
                    number = self.database.constants.intern(self.store.number(number))
                return ~number
            if kind == FIXED:
                return number
            return self.n_fixed + (number if numbers is None else numbers[number])

        return tuple(
            Goal(self.predicates[predicate][0], tuple(map(argument, args)), negated)
            for predicate, negated, args in literals
        )


def _attribute_columns(
    database: Database, attributes: Sequence[Attribute], used: Container[int] | None
) -> tuple[list[NDArray[np.int32]], NDArray[np.float64]]:
    """Return the constants of the attributes, and the numbers of all constants.

    Computed numbers become constants that only the core knows. Only attributes whose variables are in
    `used` are computed.
    """
    values = AttributeValues(database)
    columns = []
    computed = [database.constants.numbers]
    n = len(database.constants)
    for number, each in enumerate(attributes, len(database.keys)):
        if used is not None and number not in used:
            columns.append(database.keys[0])
        elif each.function in {"value", "latest"}:
            columns.append(values.constants(each))
        else:
            distinct, codes = np.unique(values.numbers(each), return_inverse=True)
            columns.append((n + codes).astype(np.int32))
            computed.append(distinct)
            n += len(distinct)
    return columns, np.concatenate(computed)


def _fixed_variables(
    database: Database, root: Sequence[Goal], attributes: list[NDArray[np.int32]]
) -> tuple[NDArray[np.int32], tuple[Goal, ...], dict[int, int]]:
    """Return the fixed variables, the goals that bind none, and the new number of each root variable."""
    fixed: list[NDArray[np.int32]] = [*database.keys, *attributes]
    numbers = {i: i for i in range(len(database.keys))}
    rest = []
    for goal in root:
        solutions = (
            None if goal.negated or goal.is_comparison else _functional(database, goal, fixed, numbers)
        )
        if solutions is None:
            rest.append(goal)
        else:
            for variable, values in solutions.items():
                numbers[variable] = len(fixed)
                fixed.append(values)
    open_variables = sorted({a for goal in rest for a in goal.args if a >= 0 and a not in numbers})
    numbers |= {variable: len(fixed) + i for i, variable in enumerate(open_variables)}
    renamed = tuple(goal.renamed(lambda a: numbers.get(a, a)) for goal in rest)
    return np.stack(fixed, axis=1).astype(np.int32), renamed, numbers


def _functional(
    database: Database, goal: Goal, fixed: list[NDArray[np.int32]], numbers: dict[int, int]
) -> dict[int, NDArray[np.int32]] | None:
    """Return the values of the goal's new variables, if every example has exactly one solution."""
    relation = database.relations.get((goal.name, len(goal.args)))
    known = [i for i, a in enumerate(goal.args) if a in numbers]
    fresh = [a for a in goal.args if a >= 0 and a not in numbers]
    if relation is None or len(known) != 1 or any(a < 0 for a in goal.args) or len(set(fresh)) != len(fresh):
        return None
    keys = relation.columns[known[0]]
    wanted = fixed[numbers[goal.args[known[0]]]]
    order = np.argsort(keys, kind="stable")
    first = np.searchsorted(keys, wanted, "left", sorter=order)
    last = np.searchsorted(keys, wanted, "right", sorter=order)
    if not np.array_equal(last - first, np.ones_like(first)):
        return None
    rows = order[first]
    return {a: relation.columns[i][rows] for i, a in enumerate(goal.args) if a in fresh}


class Queries:
    """Truth of queries on a database's examples, and the candidate tests of a language.

    The truth of each (component of a query, example) pair is computed when it is first needed and kept. A
    query that takes more than `step_limit` steps (facts examined) on an example counts as false there and is
    listed in `limit_hits`. Bit ``i`` of a set of examples is example ``order[i]`` of the database.
    """

    def __init__(
        self,
        facts: Facts,
        language: Language | None = None,
        *,
        step_limit: int = STEP_LIMIT,
        order: NDArray[np.int64] | None = None,
    ) -> None:
        self.facts = facts
        self.types: dict[str, int] = {}
        self._type_variables: dict[tuple[str, int, str], int] = {}
        self.language = language
        self.step_limit = step_limit
        self.order = np.arange(facts.database.n_examples) if order is None else order
        self._encoded = None if language is None else self._encode(language)
        self.all_examples = bits(np.ones(facts.database.n_examples, bool))
        self.start()

    def start(self) -> None:
        """Start with an empty cache."""
        self.store = _core.QueryStore(self.facts.store, self.step_limit, self.order)
        self.store.memory = min(MEMORY, available() // 4)
        self.store.alone = max(SINGLE_THREAD, min(self.facts.database.n_examples // 16, 8 * SINGLE_THREAD))
        if self._encoded is not None:
            self.store.set_language(*self._encoded)
            first = len(self.facts.database.keys)
            numeric = [i for i, each in enumerate(self.facts.attributes, first) if each.is_number]
            self.store.set_attributes(numeric)

    @property
    def limit_hits(self) -> list[tuple[int, int]]:
        """(component, example) pairs for which the search exceeded the step limit."""
        return self.store.limit_hits

    def goals(self, component: int) -> tuple[Goal, ...]:
        """Return the literals of a component; its local variables are numbered after the fixed ones."""
        return self.facts.goals(self.store.literals(component))

    def truth(self, query: int, mask: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Return the examples of `mask` for which a query holds."""
        (row,) = self.store.truth(np.array([query], np.int32), mask)
        return cast("NDArray[np.uint64]", row)

    def conjunction(self, goals: Iterable[Goal]) -> int:
        """Return the query number of a conjunction; variables below ``facts.n_fixed`` are fixed."""
        n_fixed = self.facts.n_fixed
        literals = [self.facts.literal(goal, n_fixed) for goal in goals]
        n = 1 + max((t >> 2 for _, _, args in literals for t in args if t & 3 == VARIABLE), default=-1)
        return self.store.extend([], literals, [ANY_TYPE] * n)[0]

    def _encode(self, language: Language) -> CoreLanguage:
        """Encode the language for the core."""
        types = [self._type(name, language) for name in language.root_types]
        fixed_types = [ANY_TYPE] * self.facts.n_fixed
        for number, each in enumerate(self.facts.attributes, len(self.facts.database.keys)):
            fixed_types[number] = self._type(self._attribute_type(each), language)
        for variable, number in self.facts.renumbered.items():
            if number < self.facts.n_fixed:
                fixed_types[number] = types[variable]
        modes = [(self._patterns(mode.literals, language, {}), mode.source) for mode in language.modes]
        lookaheads = []
        for rule in language.lookahead:
            slots: dict[str, int] = {}
            (first,) = self._patterns((rule.first,), language, slots)
            lookaheads.append((first, self._patterns(rule.then, language, slots)))
        autos = []
        for template in language.auto_lookahead:
            slots = {}
            (first,) = self._patterns((template.first,), language, slots)
            autos.append((first, [slots[name] for name in template.variables if name in slots]))
        settings = language.settings
        return (
            fixed_types,
            self.root_types(),
            modes,
            lookaheads,
            autos,
            settings.max_lookahead,
            settings.exhaustive_lookahead,
        )

    def _attribute_type(self, attribute: Attribute) -> object:
        """Return the type of an attribute that is a row's key; other attributes cannot be inputs."""
        relation = self.facts.database.relations.get(attribute.steps[-1].predicate)
        is_link = attribute.kind == "link" and relation is not None and attribute.column is not None
        return relation.types[attribute.column] if is_link else UNUSED  # type: ignore[union-attr,index]

    def root_types(self) -> list[int]:
        """Return the types of the variables of `facts.root`, in order."""
        if self.language is None:
            return []
        back = {number: variable for variable, number in self.facts.renumbered.items()}
        numbers = sorted(number for number in back if number >= self.facts.n_fixed)
        return [self._type(self.language.root_types[back[number]], self.language) for number in numbers]

    def _type(self, name: object, language: Language, predicate: tuple[str, int] = ("", 0)) -> int:
        if not language.typed:
            return ANY_TYPE
        if isinstance(name, TypeVariable):
            variable = (*predicate, name.name)
            return FIRST_TYPE_VARIABLE - self._type_variables.setdefault(variable, len(self._type_variables))
        return self.types.setdefault(name, len(self.types)) if isinstance(name, str) else ANY_TYPE

    def _patterns(
        self, literals: Iterable[Literal], language: Language, slots: dict[str, int]
    ) -> list[CorePattern]:
        result = []
        for literal in literals:
            types = language.types_of(literal.name, literal.arity)
            args = [
                self._argument(
                    argument,
                    self._type(
                        UNUSED if isinstance(argument, Var) and argument.mark == "_" else name,
                        language,
                        (literal.name, literal.arity),
                    ),
                    slots,
                )
                for argument, name in zip(literal.args, types, strict=True)
            ]
            result.append((self.facts.predicate(literal.name, literal.arity), literal.negated, args))
        return result

    @staticmethod
    def _argument(argument: Argument, type_number: int, slots: dict[str, int]) -> tuple[int, int, int, int]:
        match argument:
            case Key(index):
                return FIXED_ARGUMENT, -1, type_number, term(FIXED, index)
            case Const(_, number):
                return FIXED_ARGUMENT, -1, type_number, term(CONSTANT, number)
            case Var(mark, name):
                return MARKS[mark], slots.setdefault(name, len(slots)), type_number, 0
            case _:
                raise TypeError(f"{argument} is not resolved; use `resolve` first")
