"""What tests are made of once a bias has been resolved against a database."""

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
    """What refinement works with; made by `resolve`.

    Every literal's arguments are `Key`, `Var` or `Const` with its id: choices among constants have been
    expanded, one mode each, and generated constants and thresholds computed. In the models format the key has
    been added in front of literals on keyed relations. A literal's predicate is a comparison (`COMPARISONS`,
    aliases such as ``==`` replaced), a relation of the database, or one of its rules, to be looked up in this
    order; a rule has exactly one body and can be written in place of a call.

    Attributes
    ----------
    modes : tuple of Mode
        In order of generation: modes as in the bias, within one the constants in their order (the last
        argument's change fastest). ``mode.source`` is the number of the bias' mode.
    lookahead : tuple of Lookahead
        Expanded in the same way.
    auto_lookahead : tuple of AutoLookahead
        Templates as in the bias.
    root : tuple of Goal
        Goals every query starts with. Variables ``0 .. n_keys-1`` are the example's keys, the next ones are
        new.
    root_types : tuple
        Types of the variables bound by key and root, by variable number; a `TypeVariable` for a key of none.
    types : dict of (name, arity) to tuple
        Argument types with the key's included; use `types_of`.
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
