"""Write a tree or rules over tables as one SQL query: ``CASE`` with ``EXISTS`` and subqueries.

Common table expressions join the examples with the rows of each path of links, once, and add the summaries
that the tests use to the rows of the examples. Databases join by hashing, so that no index is needed. In
DuckDB, summaries are subqueries, which it turns into joins.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from crosscut.data.columns import moment_of
from crosscut.data.databases import quoted
from crosscut_relational.database.database import MISSING, ROW_NUMBER
from crosscut_relational.language.attributes import KEY_OF_SEVERAL, key_position

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crosscut_relational.language.attributes import Attribute, Column, Step
    from crosscut_relational.language.rule import Goal
    from crosscut_relational.language.terms import Constant
    from crosscut_relational.queries.tree import Node, RelationalTree, Signature

Dialect: TypeAlias = Literal["duckdb", "sqlite", "postgresql"]
DIALECTS = ("duckdb", "sqlite", "postgresql")
_SIGNS = {"=": "=", "\\=": "<>", "<": "<", "=<": "<=", ">": ">", ">=": ">="}


def tree_query(tree: RelationalTree, dialect: Dialect) -> str:
    """Return the query; see `RelationalTree.to_sql`."""
    writer = _Writer(tree.signature, dialect)

    leaves = {id(node): 1 for node in tree.root.leaves()}
    for node in reversed(list(tree.root.walk())):
        if node.branches:
            leaves[id(node)] = sum(leaves[id(each)] for each in node.branches)

    def case(node: Node, path: tuple[Goal, ...], indent: str) -> str:
        """Write the subtree; larger branches follow as further cases, since databases limit nesting."""
        lines, inner = [], indent + "  "
        while node.branches:
            longer = (*path, *node.test)
            (yes, no), test = node.branches, writer.holds(node.test, longer)
            if leaves[id(yes)] > leaves[id(no)]:
                lines.append(f"WHEN COALESCE(NOT ({test}), TRUE)\n{inner}THEN {case(no, path, inner)}")
                node, path = yes, longer
            else:
                lines.append(f"WHEN {test}\n{inner}THEN {case(yes, longer, inner)}")
                node = no
        value: Constant = node.prediction if not tree.classes else tree.classes[int(node.prediction)]
        if not lines:
            return writer.constant(value)
        return "CASE " + f"\n{indent}".join(lines) + f"\n{inner}ELSE {writer.constant(value)} END"

    return writer.query(case(tree.root, (), "  "))


def rules_query(
    rules: Iterable[tuple[Sequence[tuple[Goal, ...]], Constant]],
    default: Constant,
    signature: Signature,
    dialect: Dialect,
) -> str:
    """Return the query of a decision list: the conditions and class of each rule, and the default class."""
    writer = _Writer(signature, dialect)
    cases = []
    for conditions, value in rules:
        path: tuple[Goal, ...] = ()
        for test in conditions:
            path += test
        tests = dict.fromkeys(writer.holds(test, path) for test in conditions)
        cases.append(f"WHEN {' AND '.join(tests)}\n    THEN {writer.constant(value)}")
    if not cases:
        return writer.query(writer.constant(default))
    lines = "\n    ".join(cases)
    return writer.query(f"CASE {lines}\n    ELSE {writer.constant(default)} END")


def _key(columns: tuple[Column, ...]) -> Column:
    return columns[key_position(columns)]


def _unused(name: str, taken: set[str]) -> str:
    while name in {each.lower() for each in taken}:
        name += "_"
    return name


def _select(expression: str, tables: str, conditions: list[str]) -> str:
    return " ".join(["SELECT", expression, "FROM", tables, "WHERE", " AND ".join(conditions) or "1 = 1"])


class _Writer:
    def __init__(self, signature: Signature, dialect: Dialect) -> None:
        if dialect not in DIALECTS:
            raise ValueError(f"dialect is {dialect!r}; it must be one of {', '.join(DIALECTS)}")
        target = next((each for each in signature.columns if each[0] == signature.target_name), None)
        if target is None:
            raise ValueError("the model does not use tables, so it has no SQL form; use to_prolog")
        if _key(signature.columns[target]).name == ROW_NUMBER:
            raise ValueError(
                f"the table {target[0]} has no key, so a query cannot identify its rows; build the database "
                f"with keys={{{target[0]!r}: ...}}"
            )
        self.signature, self.dialect, self.target = signature, dialect, target
        self.summaries: dict[Attribute, str] = {}  # names of columns
        names = {name for name, _ in signature.columns}
        self.extended = _unused("extended", names)  # the rows of the examples with their summaries
        stems = {name.rstrip("0123456789").removesuffix("_") for name in names}
        self.linked = _unused("linked", stems)  # joined rows have this name and a number

    def query(self, prediction: str) -> str:
        """Return the query for the key and the prediction of every example."""
        key = self.column("t", _key(self.signature.columns[self.target]))
        table, lines = self.target[0], []
        if self.summaries:
            lines = self.with_summaries(key)
            table = self.extended
        lines += [
            f"SELECT {key} AS key,",
            f"  {prediction} AS {quoted(self.signature.target_column or 'prediction')}",
            f"FROM {quoted(table)} AS t",
        ]
        return "\n".join(lines) + "\n"

    def with_summaries(self, key: str) -> list[str]:
        """Return the expressions that add the summaries to the rows of the examples."""
        paths: dict[str, list[str]] = {}  # columns by the joined rows that they are computed from
        columns = []
        for attribute, name in self.summaries.items():
            expression, rows, is_joined = self.summary(attribute)
            if is_joined:
                paths.setdefault(rows, []).append(f"{expression} AS {name}")
                value = f"{self.linked}_{[*paths].index(rows) + 1}.{name}"
            else:
                value = f"(SELECT {expression} {rows})"
            is_zero = attribute.function in {"count", "sum", "distinct"}  # without rows
            columns.append(f"{f'COALESCE({value}, 0)' if is_zero else value} AS {name}")
        lines, joins = [], ""
        for number, (rows, own) in enumerate(paths.items(), 1):
            path = f"{self.linked}_{number}"
            lines += [f"{path} AS MATERIALIZED (", f"  SELECT {key} AS key,", "  " + ",\n  ".join(own)]
            lines += [f"  {rows}),"]
            joins += f"\n  LEFT JOIN {path} ON {path}.key = {key}"
        lines += [f"{self.extended} AS MATERIALIZED (", "  SELECT " + ",\n  ".join(["t.*", *columns])]
        lines += [f"  FROM {quoted(self.target[0])} AS t{joins})"]
        return ["WITH " + lines[0], *lines[1:]]

    def constant(self, value: Constant) -> str:
        if isinstance(value, int | float):
            text = repr(value)
            return text if isinstance(value, int) or "e" in text else f"{text}e0"  # a double, not a decimal
        return "'" + str(value).replace("'", "''") + "'"

    def column(self, alias: str, column: Column) -> str:
        """Return a column; a composite key is built from its columns."""
        parts = column.parts
        if len(parts) == 1:
            return f"{alias}.{quoted(parts[0])}"
        texts = (f"CAST({alias}.{quoted(each)} AS VARCHAR)" for each in parts)
        return "(" + f" || '{KEY_OF_SEVERAL}' || ".join(texts) + ")"

    def moment(self, expression: str) -> str:
        """Convert a date to a comparable value: a number of days for SQLite, otherwise a timestamp."""
        return f"julianday({expression})" if self.dialect == "sqlite" else f"CAST({expression} AS TIMESTAMP)"

    def compare(self, expression: str, sign: str, value: Constant, kind: str) -> str:
        if kind == "date" and value != MISSING:
            moment = f"'{moment_of(float(value)).isoformat(' ')}'"  # type: ignore[arg-type]
            return f"{self.moment(expression)} {_SIGNS[sign]} {self.moment(moment)}"
        if sign != "=":
            return f"{expression} {_SIGNS[sign]} {self.constant(value)}"
        if value == MISSING:
            return f"({expression} IS NULL OR CAST({expression} AS VARCHAR) = '{MISSING}')"
        if value in ("true", "false"):
            return f"lower(CAST({expression} AS VARCHAR)) IN ('{value}', '{int(value == 'true')}')"
        if isinstance(value, str) and value[:1] in "+-.0123456789":  # possibly a number in a text column
            expression = f"CAST({expression} AS VARCHAR)"
        return f"{expression} = {self.constant(value)}"

    def holds(self, test: tuple[Goal, ...], path: tuple[Goal, ...]) -> str:
        """Return the condition of a test: the part of the path's query that is connected to it."""
        first, last = self.signature.n_keys, self.signature.n_keys + len(self.signature.attributes)
        if len(test) == 1 and test[0].is_comparison and first <= test[0].args[0] < last:
            attribute = self.signature.attributes[test[0].args[0] - first]
            value = self.signature.constants.terms[~test[0].args[1]]
            return self.compare(self.attribute(attribute), test[0].name, value, attribute.kind)
        return self.exists(self.connected(test, path))

    def connected(self, test: tuple[Goal, ...], path: tuple[Goal, ...]) -> list[Goal]:
        """Return the goals of a path that share variables with a test, directly or through others."""
        fixed = self.signature.n_fixed
        reached = {a for goal in test for a in goal.args if a >= fixed}
        chosen = set(test)
        for _ in path:
            for goal in path:
                objects = {a for a in goal.args if a >= fixed}
                if objects & reached:
                    chosen.add(goal)
                    reached |= objects
        return [goal for goal in dict.fromkeys(path) if goal in chosen]

    def exists(self, goals: list[Goal]) -> str:
        """Return an EXISTS condition for all goals; each row, identified by table and key, has one alias."""
        aliases: dict[tuple[str, int, int], str] = {}
        places: dict[int, list[tuple[str, Column]]] = {}
        conditions: list[str] = []
        for goal in goals:
            if goal.is_comparison or goal.negated:
                continue
            columns = [column for _, column in self.arguments(goal)]
            key = goal.args[key_position(columns)]
            alias = aliases.setdefault((goal.name, len(goal.args), key), f"r{len(aliases) + 1}")
            conditions += self.constants_of(goal, alias)
            for argument, column in self.arguments(goal):
                if argument >= 0 and (alias, column) not in places.setdefault(argument, []):
                    places[argument].append((alias, column))
        for goal in goals:
            if goal.is_comparison:
                value = self.signature.constants.terms[~goal.args[1]]
                (alias, column), *_ = places[goal.args[0]]
                conditions.append(self.compare(self.column(alias, column), goal.name, value, column.kind))
        for argument, uses in places.items():
            first, *others = uses
            conditions += self.same_as_fixed(argument, *first)
            conditions += [self.equal(first, other) for other in others]
        for number, goal in enumerate(goal for goal in goals if goal.negated):
            inside = self.constants_of(goal, f"n{number}")
            for argument, column in self.arguments(goal):
                inside += self.same_as_fixed(argument, f"n{number}", column)
                inside += [self.equal(use, (f"n{number}", column)) for use in places.get(argument, [])[:1]]
            conditions.append(f"NOT EXISTS ({_select('1', f'{quoted(goal.name)} AS n{number}', inside)})")
        if not aliases:
            return " AND ".join(conditions)
        tables = ", ".join(f"{quoted(name)} AS {alias}" for (name, _, _), alias in aliases.items())
        return f"EXISTS ({_select('1', tables, list(dict.fromkeys(conditions)))})"

    def arguments(self, goal: Goal) -> list[tuple[int, Column]]:
        columns = self.signature.columns.get((goal.name, len(goal.args)))
        if columns is None:
            raise ValueError(f"{goal.name}/{len(goal.args)} is not a table, so it has no SQL form")
        return list(zip(goal.args, columns, strict=True))

    def constants_of(self, goal: Goal, alias: str) -> list[str]:
        terms = self.signature.constants.terms
        return [
            self.compare(self.column(alias, column), "=", terms[~argument], column.kind)
            for argument, column in self.arguments(goal)
            if argument < 0
        ]

    def same_as_fixed(self, argument: int, alias: str, column: Column) -> list[str]:
        """Return the conditions that a column refers to the example or to a row that it refers to."""
        if 0 <= argument < self.signature.n_keys:
            return [self.equal(("t", _key(self.signature.columns[self.target])), (alias, column))]
        if not self.signature.n_keys <= argument < self.signature.n_fixed:
            return []
        attribute = self.signature.attributes[argument - self.signature.n_keys]
        link = self.signature.columns[attribute.steps[-1].predicate][attribute.column or 0]
        expression = self.attribute(attribute)
        if column.is_key_of(link):
            column = link.referred
        elif (column.refers_to, column.table) != (link.refers_to, link.table):
            expression = self.key_of(expression, link)
            return [f"{self.key_of(self.column(alias, column), column)} = {expression}"]
        return [f"{self.column(alias, column)} = {expression}"]

    def equal(self, one: tuple[str, Column], other: tuple[str, Column]) -> str:
        """Return a condition that two columns refer to the same row; links need not use the key."""
        (alias, left), (also, right) = one, other
        if right.is_key_of(left):
            right = left.referred
        elif left.is_key_of(right):
            left = right.referred
        elif (left.refers_to, left.table) != (right.refers_to, right.table):
            ends = (self.key_of(self.column(*end), end[1]) for end in (one, other))
            return " = ".join(ends)
        return f"{self.column(alias, left)} = {self.column(also, right)}"

    def key_of(self, expression: str, link: Column) -> str:
        """Return the key of the row that a link refers to."""
        if not link.refers_to:
            return expression
        columns = next(
            (each for (name, _), each in self.signature.columns.items() if name == link.table), None
        )
        if columns is None or link.table is None:
            raise ValueError(
                f"{link.name} refers to {link.refers_to}, but the model file is from an earlier version and "
                "does not name the table; train the model again"
            )
        key, named = self.column("k", _key(columns)), self.column("k", link.referred)
        return f"({_select(key, f'{quoted(link.table)} AS k', [f'{named} = {expression}'])})"

    def attribute(self, attribute: Attribute) -> str:
        """Return the column of the row t that has an attribute, adding a summary if it is new."""
        if len(attribute.steps) == 1:
            return self.column("t", self.signature.columns[self.target][attribute.column or 0])
        if attribute not in self.summaries:
            taken = {part for column in self.signature.columns[self.target] for part in column.parts}
            taken.add(self.signature.target_column or "")
            self.summaries[attribute] = _unused(f"summary_{len(self.summaries) + 1}", taken)
        return f"t.{self.summaries[attribute]}"

    def summary(self, attribute: Attribute) -> tuple[str, str, bool]:
        """Return an attribute as an expression of other rows, these rows, and whether they are joined with t.

        The latest value is a query of a row t. So is everything in DuckDB: it joins queries by hashing by
        itself, and DuckDB 2.0 mixes up the rows of joins that begin alike.
        """
        steps = attribute.steps
        columns = self.signature.columns[steps[-1].predicate]
        last = f"s{len(steps) - 1}"
        value = "" if attribute.column is None else self.column(last, columns[attribute.column])
        conditions = [self.joined(steps, number) for number in range(1, len(steps))]
        tables = [f"{quoted(step.table)} AS s{number}" for number, step in enumerate(steps) if number]
        date = "" if attribute.date is None else self.column(last, columns[attribute.date])
        if attribute.as_of is not None:
            now = self.moment(self.column("t", self.signature.columns[self.target][attribute.as_of]))
            conditions.append(f"{self.moment(date)} < {now}")
            if attribute.days is not None:
                days = attribute.days
                span = str(days) if self.dialect == "sqlite" else f"INTERVAL '{days} days'"
                conditions.append(f"{self.moment(date)} >= {now} - {span}")
        chosen = ""
        if attribute.condition is not None:
            column, constant = attribute.condition
            chosen = self.compare(self.column(last, columns[column]), "=", constant, columns[column].kind)
        expression = {
            "value": value,
            "latest": value,
            "count": f"COUNT(CASE WHEN {chosen} THEN 1 END)" if chosen else "COUNT(*)",
            "sum": f"SUM({value})",
            "mean": f"AVG({value})",
            "min": f"MIN({value})",
            "max": f"MAX({value})",
            "distinct": f"COUNT(DISTINCT {value})",
            "share": f"AVG(CASE WHEN {chosen} THEN 1e0 ELSE 0e0 END)",
        }[attribute.function]
        after = ""
        is_joined = self.dialect != "duckdb" and attribute.function != "latest"
        if attribute.function == "latest":
            conditions += [f"{date} IS NOT NULL", f"{value} IS NOT NULL"]
            after = f" ORDER BY {date} DESC, {value} DESC LIMIT 1"
        elif is_joined:
            tables.insert(0, f"{quoted(self.target[0])} AS t")
            if attribute.function != "value":
                after = f" GROUP BY {self.column('t', _key(self.signature.columns[self.target]))}"
        return expression, f"FROM {', '.join(tables)} WHERE {' AND '.join(conditions)}{after}", is_joined

    def joined(self, steps: tuple[Step, ...], number: int) -> str:
        before, step = steps[number - 1], steps[number]
        left = self.signature.columns[before.predicate][step.leave]
        right = self.signature.columns[step.predicate][step.enter]
        return self.equal(("t" if number == 1 else f"s{number - 1}", left), (f"s{number}", right))
