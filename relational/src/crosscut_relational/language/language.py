"""The resolved language: a bias after `resolve` has matched it with a database."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crosscut_relational.language.attributes import Attribute
    from crosscut_relational.language.modes import AutoLookahead, Lookahead, Mode, TypeNames
    from crosscut_relational.language.rule import Goal
    from crosscut_relational.language.settings import Settings


@dataclass(frozen=True)
class Language:
    """Input of refinement, made by `resolve`.

    Every argument of a literal is a `Key`, a `Var` or a `Const` with its id. Constant choices have been
    expanded into one mode each; generated constants and thresholds have been computed. In the models format,
    the key has been added in front of literals on keyed relations. A literal's predicate is looked up as a
    comparison (`COMPARISONS`, with aliases such as ``==`` replaced), then as a relation of the database, then
    as one of its rules. A rule has exactly one body, which can replace a call.

    Attributes
    ----------
    modes : tuple of Mode
        In order of generation: the modes of the bias, each with its constants in order (those of the last
        argument change fastest). ``mode.source`` is the number of the bias's mode.
    lookahead : tuple of Lookahead
        Expanded in the same way.
    auto_lookahead : tuple of AutoLookahead
        Templates as in the bias.
    root : tuple of Goal
        Goals that every query starts with. Variables ``0 .. n_keys-1`` are the example's keys; others
        are new variables.
    root_types : tuple
        Types of the variables bound by keys and root, in order; a `TypeVariable` for an untyped key.
    types : dict of (name, arity) to tuple
        Argument types, including the key's; use `types_of`.
    typed : bool
        Whether types restrict which variable an input can be.
    implicit_key : bool
        Whether to leave out the key when a keyed relation's literal is printed.
    attributes : tuple of Attribute
        Values that every example has.
    settings : Settings
        How trees are grown and pruned.
    """

    modes: tuple[Mode, ...]
    lookahead: tuple[Lookahead, ...]
    auto_lookahead: tuple[AutoLookahead, ...]
    root: tuple[Goal, ...]
    root_types: TypeNames
    types: Mapping[tuple[str, int], TypeNames]
    typed: bool
    implicit_key: bool
    settings: Settings
    attributes: tuple[Attribute, ...] = ()

    def types_of(self, name: str, arity: int) -> TypeNames:
        """Type of each argument: a name, a `TypeVariable`, or None where any type fits."""
        return self.types.get((name, arity), (None,) * arity)
