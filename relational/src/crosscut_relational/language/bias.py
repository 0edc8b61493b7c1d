"""The language bias: the literals that tests may use, and their possible arguments."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

from crosscut_relational.language import notation
from crosscut_relational.language.modes import AutoLookahead, Discretization, Literal, Lookahead, Mode
from crosscut_relational.language.prolog import read_term
from crosscut_relational.language.settings import Settings
from crosscut_relational.language.terms import variables

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping, Sequence

    import pandas as pd

    from crosscut_relational.language.attributes import Attribute
    from crosscut_relational.language.modes import TypeNames


class BiasError(ValueError):
    """The bias is inconsistent or does not match the database."""


@dataclass(frozen=True)
class Reach:
    """Limits of the modes made from a schema; see `Bias.from_schema`."""

    max_constants: int
    max_thresholds: int
    max_fanout: float
    depth_of_links: int = 2
    max_aggregates: int = 100
    as_of: str | None = None
    windows: tuple[int, ...] = (30, 90, 365)


class Linked(Protocol):
    """A database with known links between its tables."""

    def schema_bias(self, reach: Reach, settings: dict[str, Any]) -> Bias:
        """Return a bias whose modes follow the links."""

    def frame_of(self, attributes: Sequence[Attribute]) -> pd.DataFrame:
        """Return attributes of the examples as a frame."""


@dataclass(frozen=True)
class Bias:
    """Language bias and settings of a relational tree.

    Modes, types and lookahead may be given as text in ACE's notation (`Bias.of`).

    Attributes
    ----------
    modes : tuple of Mode
        The modes, in the order in which tests are generated.
    types : dict of (name, arity) to tuple
        Type of every argument: a name, a `TypeVariable`, or None for any type.
    typed : bool
        Whether arguments must have a declared type (``typed_language(yes)``); otherwise any variable may be
        used for any argument.
    predict : Literal or None
        The target; its keys are marked with ``+`` and the class with ``-``.
    root : tuple of Literal
        Literals that every query contains; all tests can use their variables.
    lookahead, auto_lookahead, discretizations : tuples
        Templates of lookahead and of thresholds.
    implicit_key : bool
        Whether literals are written without the example's key (ACE's models format).
    attributes : tuple of Attribute
        Values of every example. Modes refer to them by number, after the keys. Numeric attributes are
        tested against every threshold between the values of a node's examples.
    max_thresholds : int
        Number of thresholds per attribute for rules, whose thresholds are chosen in advance.
    settings : Settings
        How trees are grown and pruned.

    Examples
    --------
    >>> bias = Bias.of(
    ...     modes=["atom(+M, -A, #[c,n], -Charge)", "bond(+M, +A, +-B, #)", "+Charge < #[0.0, 0.1]"],
    ...     types=["atom(mol, id, element, charge)", "bond(mol, id, id, order)"],
    ...     lookahead=[("bond(M, A, B, T)", "atom(M, B, #, _)")],
    ...     heuristic="gain",
    ... )
    >>> print(bias)
    atom(+M,-A,#[c,n],-Charge)
    bond(+M,+A,+-B,#)
    +Charge < #[0.0,0.1]
    >>> bias.modes[0].literals[0].args[2]
    Choice(values=('c', 'n'))
    >>> bias.settings.heuristic, bias.settings.minimal_cases
    ('gain', 2)
    """

    modes: tuple[Mode, ...] = ()
    types: Mapping[tuple[str, int], TypeNames] = field(default_factory=dict)
    typed: bool = False
    predict: Literal | None = None
    root: tuple[Literal, ...] = ()
    lookahead: tuple[Lookahead, ...] = ()
    auto_lookahead: tuple[AutoLookahead, ...] = ()
    discretizations: tuple[Discretization, ...] = ()
    implicit_key: bool = False
    attributes: tuple[Attribute, ...] = ()
    max_thresholds: int = 8
    settings: Settings = field(default_factory=Settings)

    @classmethod
    def of(
        cls,
        modes: Iterable[Mode | str],
        *,
        types: Sequence[str] = (),
        lookahead: Sequence[tuple[str, str]] = (),
        auto_lookahead: Sequence[tuple[str, Sequence[str]]] = (),
        thresholds: Sequence[tuple[str, str, int]] = (),
        root: str | None = None,
        implicit_key: bool = False,
        **settings: Any,
    ) -> Bias:
        r"""Build a bias from text in ACE's notation.

        Parameters
        ----------
        modes : iterable of str or Mode
            For example ``"atom(+M,-A,#[c,n],-C)"``, a conjunction ``"(atom(+M,-A), bond(+M,A,-B))"``, with a
            number of uses ``"2: worn(+M,-P)"``, negated ``"\\\\+ worn(+M,gear)"``, or with generated
            constants.
        types : sequence of str
            For example ``"atom(mol,id,element,charge)"``. If any is given, all predicates of modes need one.
        lookahead : sequence of (str, str)
            A template and the literals that may follow it.
        auto_lookahead : sequence of (str, list of str)
            A template and the names of the variables that may be followed.
        thresholds : sequence of (str, str, int)
            A literal, one of its variables and the number of thresholds, for modes such as
            ``"#(C: threshold(atom(_,_,_,Y),[Y],C), +X < C)"``.
        root : str, optional
            Literals that every query starts with, such as ``"pair(K,A,B)"``; the key is the first argument.
        implicit_key : bool
            Whether literals are written without the example's key.
        **settings
            Fields of `Settings`.
        """
        root_literals: tuple[Literal, ...] = ()
        if root is not None:
            term = read_term(root)
            key = next(variables(term), None)
            root_literals = notation.root_from_term(term, None, [] if key is None else [key.name])
        return cls(
            modes=tuple(mode if isinstance(mode, Mode) else notation.read_mode(mode) for mode in modes),
            types=dict(notation.types_from_term(read_term(text)) for text in types),
            typed=bool(types),
            root=root_literals,
            lookahead=tuple(notation.lookahead_from_terms(*map(read_term, pair)) for pair in lookahead),
            auto_lookahead=tuple(
                AutoLookahead(notation.read_literal(text), tuple(names)) for text, names in auto_lookahead
            ),
            discretizations=tuple(
                Discretization(notation.read_literal(text), number, (name,))
                for text, name, number in thresholds
            ),
            implicit_key=implicit_key,
            settings=Settings(**settings),
        )

    @classmethod
    def from_ace(cls, path: str | os.PathLike[str]) -> Bias:
        """Read an ACE settings file (``app.s``).

        Settings of ACE's implementation are ignored. Unknown settings give a warning.
        """
        from crosscut_relational.language.ace_settings import read_settings

        return read_settings(path)

    @classmethod
    def from_aleph(cls, prefix: str | os.PathLike[str]) -> Bias:
        """Read the modes of an Aleph application (``prefix.b`` or ``prefix.pl``).

        A ``modeb`` becomes a mode with the same types. Its recall number limits solutions, not uses, and is
        ignored.
        """
        from crosscut_relational.language.aleph_modes import AlephProgram

        return AlephProgram.read(prefix).bias()

    @classmethod
    def from_schema(
        cls,
        database: Linked,
        *,
        max_constants: int = 20,
        max_thresholds: int = 8,
        max_fanout: float = 30.0,
        depth_of_links: int = 2,
        max_aggregates: int = 100,
        as_of: str | None = None,
        windows: Sequence[int] = (30, 90, 365),
        **settings: Any,
    ) -> Bias:
        """Make modes from the keys of tables, so that no logic has to be written for linked tables.

        Values of rows that an example refers to become attributes of the example. Rows that refer to the
        example are summarised (count, count of a kind, sum, mean, minimum, maximum, fraction, number of
        distinct values, latest value). Tests can also require some linked row of a kind, and continue from
        that row. Nominal columns are tested against their constants. Attributes are tested against all
        thresholds, other numeric columns against a few.

        Parameters
        ----------
        database : Database
            A database made from tables, or from facts with declared types.
        max_constants : int
            Maximum number of constants to test a nominal column against; the most frequent are used. A
            column with more constants, most of which occur once, is treated as a name and not tested.
        max_thresholds : int
            Number of thresholds of a numeric column. They depend on its values only, never on the target.
        max_fanout : float
            Follow a link backwards, from a row to the rows that refer to it, only if there are at most this
            many on average. (A loan's account leads to its district, but not to all its inhabitants.)
        depth_of_links : int
            Number of links to a single row that attributes may follow. With 2, the values of the district of
            a loan's account are attributes of the loan. 0 turns this off.
        max_aggregates : int
            Maximum number of summaries of linked rows; 0 turns this off. If there are more, a warning says
            so, and every path of links keeps about as many, the simplest first.
        as_of : str, optional
            A date column of the target's table. Linked tables with dates are then used in summaries only,
            restricted to rows dated before it, so that no test uses the future. Views without dates and views
            that combine rows are left out with a warning, because they may count later rows.
        windows : sequence of int
            With `as_of`, also count and sum the rows of the last 30, 90 and 365 days (or as given) before it.
        **settings
            Fields of `Settings`. By default, ``heuristic`` is "gain" for classes and ``pruning`` is "best".
            ``minimal_cases`` is 5 for 100 examples or more, because small branches are mostly chance when
            there are many candidate tests.

        Examples
        --------
        >>> from crosscut_relational.database.database import Database
        >>> db = Database.from_tables(
        ...     {
        ...         "machine": {"machine_id": [1, 2, 3], "state": ["fix", "ok", "fix"]},
        ...         "part": {
        ...             "part_id": [10, 11, 12],
        ...             "machine_id": [1, 1, 3],
        ...             "kind": ["gear", "chain", "gear"],
        ...         },
        ...     },
        ...     target="machine.state",
        ... )
        >>> bias = Bias.from_schema(db)
        >>> print(bias)
        part(+Machine,-Part,_Kind)
        part(+Machine,-Part,#[gear,chain])
        part(Key,+Part,#[gear,chain])
        >>> len(bias.attributes)
        6
        """
        reach = Reach(
            max_constants, max_thresholds, max_fanout, depth_of_links, max_aggregates, as_of, tuple(windows)
        )
        return database.schema_bias(reach, settings)

    def with_settings(self, **changes: Any) -> Bias:
        """Return the same language with other settings.

        Examples
        --------
        >>> Bias().with_settings(minimal_cases=5).settings.minimal_cases
        5
        """
        return replace(self, settings=replace(self.settings, **changes))

    def to_frame(self, database: Linked) -> pd.DataFrame:
        """Return the values and summaries of linked rows as a pandas frame with a row per example.

        Any learner can use it. Numbers and dates (days since 1970-01-01) are NaN where they are missing, and
        text is categorical. With `as_of`, summaries count earlier rows only.

        Examples
        --------
        >>> from crosscut_relational.database.database import Database
        >>> db = Database.from_tables(
        ...     {"shop": {"id": [1, 2], "big": ["n", "y"]}, "sale": {"shop_id": [1, 1], "amount": [2.0, 6]}},
        ...     target="shop.big",
        ... )
        >>> Bias.from_schema(db, max_aggregates=3).to_frame(db)
           number of sales  sum of amount of sales  mean amount of sales
        1              2.0                     8.0                   4.0
        2              0.0                     0.0                   NaN
        """
        return database.frame_of(self.attributes)

    def __str__(self) -> str:
        return "\n".join(map(str, self.modes))

    def __repr__(self) -> str:
        return f"<Bias: {len(self.modes)} modes, {len(self.attributes)} attributes>"
