"""A relational database with examples: facts as integer columns, rules, and a target."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut_relational.database.constants import Constants
from crosscut_relational.database.relation import Relation
from crosscut_relational.language.attributes import key_position
from crosscut_relational.language.settings import Settings
from crosscut_relational.language.terms import Constant, term_text

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping, Sequence

    import pandas as pd
    from numpy.typing import ArrayLike, NDArray

    from crosscut_relational.language.attributes import Attribute, Column
    from crosscut_relational.language.bias import Bias, Reach
    from crosscut_relational.language.rule import Rule

ROW_NUMBER = "row number"  # the key of a table without a key
MISSING = "missing"  # the constant for a missing value; missing links get distinct constants


@dataclass(eq=False)
class Database:
    """Facts, rules and examples to learn relational trees from.

    Attributes
    ----------
    constants : Constants
        The symbol table; ``constants.numbers[id]`` is a constant's value, NaN if it is not a number.
    relations : dict of (name, arity) to Relation
        Stated and derived facts. Background clauses have been evaluated, and their results are included.
    rules : dict of (name, arity) to Rule
        Predicates that are only defined for bound arguments (``lteq(X,Y) :- X =< Y``).
    keys : int32 array of shape (n_keys, n_examples)
        Key constants of each example, one row per key argument of the target (most targets have one).
    key_types : tuple of (str or None)
        Type of each key argument.
    target : array of shape (n_examples,) or None
        Class code (int32, an index into `classes`) or value (float64, regression); None without a target.
    classes : tuple of constants
        Class names in the order of the codes; empty for regression.
    target_name : str
        Name of the target predicate, for printing.
    target_column : str or None
        The column to predict, if the database comes from tables; `target_name` is its table.
    folds : int32 array of shape (n_examples,) or None
        Fold mark of each example, or -1.
    implicit_key : bool
        Whether the facts were written without the key, as in ACE's models format: ``worn(gear)`` for
        ``worn(7,gear)``. The first column of a keyed relation is still the key.
    columns : dict of (name, arity) to tuple of Column
        Columns of relations that come from tables.
    views : dict of str to str
        The SQL text of the tables that are views of a database.
    """

    constants: Constants = field(default_factory=Constants)
    relations: dict[tuple[str, int], Relation] = field(default_factory=dict)
    rules: dict[tuple[str, int], Rule] = field(default_factory=dict)
    keys: NDArray[np.int32] = field(default_factory=lambda: np.empty((1, 0), np.int32))
    key_types: tuple[str | None, ...] = (None,)
    target: NDArray[np.int32] | NDArray[np.float64] | None = None
    classes: tuple[Constant, ...] = ()
    target_name: str = "class"
    target_column: str | None = None
    folds: NDArray[np.int32] | None = None
    implicit_key: bool = False
    columns: dict[tuple[str, int], tuple[Column, ...]] = field(default_factory=dict)
    views: dict[str, str] = field(default_factory=dict)

    @property
    def n_examples(self) -> int:
        """Number of examples."""
        return int(self.keys.shape[1])

    @property
    def examples(self) -> list[Any]:
        """Key of every example: a constant, or a tuple of them if the target has several keys."""
        terms = self.constants.terms
        if len(self.keys) == 1:
            return [terms[key] for key in self.keys[0]]
        return [tuple(terms[key] for key in row) for row in self.keys.T]

    @property
    def labels(self) -> NDArray[Any]:
        """Class, or number, of every example."""
        if self.target is None:
            raise ValueError("the database has no target")
        return np.array(self.classes, dtype=object)[self.target] if self.classes else self.target

    def __repr__(self) -> str:
        facts = sum(relation.n_facts for relation in self.relations.values())
        kind = (
            f"{len(self.classes)} classes"
            if self.classes
            else "no target"
            if self.target is None
            else "regression"
        )
        return (
            f"<Database: {self.n_examples} examples, {kind}, {len(self.relations)} relations, {facts} facts>"
        )

    def relation(self, name: str, arity: int) -> Relation:
        """Return a relation; an unknown name and arity gives an empty one.

        A predicate that is not defined is false, as in TILDE.
        """
        known = self.relations.get((name, arity))
        return known if known is not None else Relation(name, np.empty((arity, 0), np.int32), (None,) * arity)

    @property
    def links(self) -> list[str]:
        """The links between tables, as ``table.column=table.column``."""
        keys = {name: each[key_position(each)].name for (name, _), each in self.columns.items()}
        return [
            f"{name}.{column.name}={column.table if column.refers_to else other}."
            f"{column.refers_to or keys[str(other)]}"
            for (name, arity), columns in self.columns.items()
            for column, other in zip(columns, self.relations[name, arity].types, strict=True)
            if column.kind == "link" or (column.kind == "key" and other != name)
        ]

    def arities(self, name: str) -> list[int]:
        """Arities of the predicates with this name."""
        return sorted({arity for known, arity in [*self.relations, *self.rules] if known == name})

    @property
    def shape(self) -> tuple[int]:
        """Number of examples, as scikit-learn expects it."""
        return (self.n_examples,)

    def __len__(self) -> int:
        return self.n_examples

    def __getitem__(self, rows: Any) -> Database:
        """Return the same facts with a selection of examples: row numbers, which may repeat, or a mask.

        Examples
        --------
        >>> db = Database.from_prolog("c(1,a). c(2,b). c(3,a).", predict="c(+k,-v)")
        >>> db[[2, 0]].examples
        [3, 1]
        """
        index = rows[0] if isinstance(rows, tuple) else rows  # scikit-learn writes database[rows, ...]
        chosen = np.atleast_1d(np.arange(self.n_examples)[index])
        return replace(
            self,
            keys=np.ascontiguousarray(self.keys[:, chosen]),
            target=None if self.target is None else self.target[chosen],
            folds=None if self.folds is None else self.folds[chosen],
        )

    def with_folds(self, folds: ArrayLike) -> Database:
        """Return the same database with other fold marks: a number for each example, -1 for no fold."""
        marks = np.asarray(folds, np.int32)
        if marks.shape != (self.n_examples,):
            raise ValueError(
                f"folds has shape {marks.shape}; it must have one mark for each of {self.n_examples} examples"
            )
        return replace(self, folds=marks)

    def schema_bias(self, reach: Reach, settings: dict[str, Any]) -> Bias:
        """Return modes that follow the links between tables; see `Bias.from_schema`."""
        from crosscut_relational.database.schema_bias import bias_from_schema

        return bias_from_schema(self, reach, settings)

    def frame_of(self, attributes: Sequence[Attribute]) -> pd.DataFrame:
        """Return attributes of the examples as a pandas frame; see `Bias.to_frame`."""
        from crosscut_relational.database.attribute_values import AttributeValues

        return AttributeValues(self).frame(attributes)

    def example_text(self, example: int) -> str:
        """Return the example's key in Prolog syntax."""
        return ",".join(term_text(self.constants.terms[key]) for key in self.keys[:, example])

    @classmethod
    def from_ace(
        cls, prefix: str | os.PathLike[str], *, folds: str | os.PathLike[str] | None = None
    ) -> Database:
        """Read an ACE application: ``prefix.kb``, ``prefix.s`` and ``prefix.bg`` if it exists.

        Parameters
        ----------
        prefix : path
            Path without an ending, or the path of one of the files.
        folds : path, optional
            A folder whose files ``test0.txt``, ``test1.txt``, ... each list the examples of one fold, one per
            line. By default, fold marks come from ``testid`` and ``testnr`` facts.
        """
        from crosscut_relational.database.ace import read_ace

        return read_ace(prefix, folds=folds)

    @classmethod
    def from_aleph(cls, prefix: str | os.PathLike[str]) -> Database:
        """Read an Aleph application: ``prefix.b``, ``.f`` and ``.n``, or ``prefix.pl`` with sections.

        Every argument of an example is a key, and the classes are ``pos`` and ``neg``. Without negative
        examples, the argument that ``modeh`` marks with ``#`` or ``-`` is predicted.
        """
        from crosscut_relational.database.aleph import read_aleph

        return read_aleph(prefix)

    @classmethod
    def from_prolog(cls, text: str, *, predict: str, **options: Any) -> Database:
        r"""Read facts and background clauses from Prolog text.

        Parameters
        ----------
        text : str
            The program. Examples are the facts of the predicate named by `predict`.
        predict : str
            The target, with ``+`` for its keys and ``-`` for the argument to predict.
        **options
            `types`, `classes`, `regression` and `examples`, as in `from_facts`.

        Examples
        --------
        >>> db = Database.from_prolog('''
        ...     machine(1, sendback). worn(1, gear). worn(1, engine).
        ...     machine(2, ok).
        ...     machine(3, fix). worn(3, gear).
        ...     replaceable(gear).
        ...     lost(M) :- worn(M, P), \\+ replaceable(P).
        ... ''', predict="machine(+machine,-action)")
        >>> db
        <Database: 3 examples, 3 classes, 3 relations, 5 facts>
        >>> db.relations["worn", 2]
        <Relation worn/2: 3 facts, keyed>
        >>> [db.classes[code] for code in db.target]
        ['sendback', 'ok', 'fix']
        """
        return cls.from_facts({}, predict=predict, background=text, **options)

    @classmethod
    def from_facts(
        cls,
        facts: Mapping[str, Iterable[tuple[Constant, ...]]],
        *,
        predict: str,
        types: Sequence[str] = (),
        classes: Sequence[Constant] | None = None,
        regression: bool = False,
        examples: Sequence[Any] | None = None,
        background: str = "",
    ) -> Database:
        """Take facts as tuples, by the name of their predicate.

        Parameters
        ----------
        facts : mapping of str to iterable of tuples
            The facts, including those of the target.
        predict : str
            The target, with ``+`` for its keys and ``-`` for the argument to predict.
        types : sequence of str
            Type declarations such as ``"worn(machine,part)"``.
        classes : sequence, optional
            The classes in order; sorted by default.
        regression : bool
            Whether the target is a number.
        examples : sequence, optional
            Keys of examples to predict; facts about their target are ignored.
        background : str
            Further facts and clauses as Prolog text.

        Examples
        --------
        >>> facts = {"machine": [(1, "fix"), (2, "ok")], "worn": [(1, "gear")]}
        >>> Database.from_facts(facts, predict="machine(+machine,-action)")
        <Database: 2 examples, 2 classes, 1 relations, 1 facts>
        """
        from crosscut_relational.database.ace import read_facts

        settings = Settings(regression=regression, classes=None if classes is None else tuple(classes))
        return read_facts(facts, background, predict, types, settings=settings, examples=examples)

    @classmethod
    def from_tables(
        cls,
        tables: Mapping[str, Any],
        *,
        target: str,
        keys: Mapping[str, str] | None = None,
        links: Mapping[str, str] | None = None,
        classes: Sequence[Constant] | None = None,
        regression: bool | None = None,
        drop_missing_target: bool = False,
    ) -> Database:
        """Take linked tables, one fact per row.

        Parameters
        ----------
        tables : mapping of str to frame
            pandas, polars or Arrow frames, or mappings of column names to sequences.
        target : str
            ``"table.column"``: the column to predict. The rows of that table are the examples; the column
            is not among the facts.
        keys : mapping of str to str, optional
            Primary keys: ``{"account": "account_id"}``. The default for a table ``account`` is a column named
            ``id``, ``account_id`` or ``accountid`` with distinct values (also for a table ``accounts``), or a
            column such as ``playerID`` whose values other tables repeat. Other tables get row numbers.
        links : mapping of str to str, optional
            Foreign keys: ``{"loan.account_id": "account.account_id"}``; added to the links found by name
            (a column named like another table's key, or like that table, or its singular, followed by
            ``_id``). Tables without a link give a warning.
        classes : sequence, optional
            The classes in their order; sorted by default.
        regression : bool, optional
            Whether to predict a number. By default, integers with at most 10 different values are
            classes, and other numbers are predicted.
        drop_missing_target : bool
            Leave out examples without a target. Their rows are kept, because other rows may refer to them.

        Notes
        -----
        A missing link refers to no row. Any other missing value is the constant ``missing``, which is not a
        number: a threshold test on it fails. Dates become days since 1970-01-01. A table that links to the
        target's table has that column first, then its key.

        Examples
        --------
        >>> db = Database.from_tables(
        ...     {
        ...         "machine": {"machine_id": [1, 2, 3], "state": ["fix", "ok", "fix"]},
        ...         "part": {"part_id": [10, 11, 12], "machine_id": [1, 1, 3], "wear": [0.9, 0.1, 0.7]},
        ...     },
        ...     target="machine.state",
        ... )
        >>> db
        <Database: 3 examples, 2 classes, 2 relations, 6 facts>
        >>> db.relations["part", 3].types
        ('machine', 'part', 'part.wear')
        """
        from crosscut_relational.database.tables import build

        return build(
            tables,
            target,
            keys or {},
            links or {},
            classes=classes,
            regression=regression,
            drop_missing_target=drop_missing_target,
        )

    @classmethod
    def from_folder(cls, path: str | os.PathLike[str], *, target: str, **options: Any) -> Database:
        """Read the files of a folder, such as CSV and Parquet, as tables named after them."""
        from crosscut_relational.database.table_files import read_folder

        return read_folder(path).database(target, **options)

    @classmethod
    def from_duckdb(cls, path: str | os.PathLike[str], *, target: str, **options: Any) -> Database:
        """Read the tables and views of a DuckDB file, linked by the keys it declares.

        A view that may show the target is left out with a warning. For the options see `from_tables`.
        """
        from crosscut_relational.database.table_files import read_duckdb

        return read_duckdb(path).database(target, **options)

    @classmethod
    def from_sqlite(cls, path: str | os.PathLike[str], *, target: str, **options: Any) -> Database:
        """Read the tables and views of an SQLite file like `from_duckdb`."""
        from crosscut_relational.database.table_files import read_sqlite

        return read_sqlite(path).database(target, **options)

    @classmethod
    def from_postgresql(cls, uri: str, *, target: str, schema: str = "public", **options: Any) -> Database:
        """Read the tables and views of a schema of a PostgreSQL server like `from_duckdb`.

        The address is such as ``"postgresql://user@host/database"``. Requires the package
        ``adbc-driver-postgresql`` (``pip install crosscut-relational[postgresql]``).
        """
        from crosscut_relational.database.table_files import read_postgresql

        return read_postgresql(uri, schema).database(target, **options)
