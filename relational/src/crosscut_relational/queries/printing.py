"""Print trees in TILDE's formats: the compact notation and a Prolog decision list."""

from __future__ import annotations

from collections import Counter
from itertools import count
from string import ascii_uppercase
from typing import TYPE_CHECKING, TypeVar

from crosscut_relational.language.attributes import attribute_text
from crosscut_relational.language.terms import INFIX, atom_text, term_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from crosscut_relational.language.rule import Goal
    from crosscut_relational.language.terms import Constant
    from crosscut_relational.queries.tree import Node, RelationalTree, Signature


Scope = TypeVar("Scope")


def letters() -> Iterator[str]:
    """Yield names for variables: ``A, …, Z, A1, B1, …``."""
    for round_ in count():
        for letter in ascii_uppercase:
            yield f"{letter}{round_}" if round_ else letter


class _Names:
    """Names of the variables in scope; a new variable gets the next unused letter of the tree."""

    def __init__(self, free: Iterator[str], *, mark_new: bool) -> None:
        self.free = free
        self.mark_new = mark_new
        self.known: dict[int, str] = {}

    def below(self) -> _Names:
        """Return the scope of a *yes* branch, which continues the letters."""
        scope = _Names(self.free, mark_new=self.mark_new)
        scope.known = dict(self.known)
        return scope

    def name(self, variable: int) -> str:
        if variable in self.known:
            return self.known[variable]
        self.known[variable] = next(self.free)
        return f"-{self.known[variable]}" if self.mark_new else self.known[variable]


def _goal_text(goal: Goal, signature: Signature, names: _Names) -> str:
    args = goal.args
    if args and args[0] == 0 and (goal.name, len(args)) in signature.hidden_key:
        args = args[1:]
    texts = [signature.constants.text(~a) if a < 0 else names.name(a) for a in args]
    if len(texts) == 2 and goal.name in INFIX:
        gap = " " if texts[1][0] == "-" else ""  # `=<-` would parse as one operator
        text = f"{texts[0]}{goal.name}{gap}{texts[1]}"
    else:
        text = atom_text(goal.name) + (f"({','.join(texts)})" if texts else "")
    return f"\\+{text}" if goal.negated else text


def _conjunction(goals: Iterable[Goal], signature: Signature, names: _Names) -> str:
    """Write goals. The first use of an attribute follows a goal that names it; numbers are checked."""
    first, last = signature.n_keys, signature.n_keys + len(signature.attributes)
    texts = []
    for goal in goals:
        for a in goal.args:
            if first <= a < last and a not in names.known:
                value = names.name(a).removeprefix("-")
                attribute = attribute_text(signature.attributes[a - first], signature.columns)
                texts.append(f"{atom_text(attribute)}({names.known[0]},{value})")
        if signature.columns and goal.name in {"<", "=<", ">", ">="} and goal.args[0] >= 0:
            texts.append(f"number({names.name(goal.args[0])})")
        texts.append(_goal_text(goal, signature, names))
    return ",".join(texts)


def query_text(goals: Iterable[Goal], signature: Signature) -> str:
    """Write a conjunction in Prolog syntax."""
    return _conjunction(goals, signature, _clause_names(signature))


def _leaf_text(node: Node, tree: RelationalTree) -> str:
    if not tree.classes:
        n, mean, _ = node.statistics
        return f"[{mean!r}] {n}"
    n = sum(node.statistics)
    counts = ",".join(
        f"{term_text(name)}:{count}" for name, count in zip(tree.classes, node.statistics, strict=True)
    )
    return f"[{term_text(tree.classes[int(node.prediction)])}] {n} [[{counts}]]"


def drawn(
    root: Node, scope: Scope, test: Callable[[Node, Scope], tuple[str, Scope]], leaf: Callable[[Node], str]
) -> str:
    """Draw a tree, one line per test and leaf; a test gives its text and the scope of its *yes* branch."""
    lines: list[str] = []

    def write(node: Node, scope: Scope, first: str, rest: str) -> None:
        if not node.branches:
            lines.append(first + leaf(node))
            return
        text, inner = test(node, scope)
        lines.append(first + text)
        yes, no = node.branches
        write(yes, inner, f"{rest}+--yes: ", f"{rest}|       ")
        write(no, scope, f"{rest}+--no:  ", f"{rest}        ")

    write(root, scope, "", "")
    return "\n".join(lines)


def compact(tree: RelationalTree) -> str:
    """Write TILDE's compact notation: letters in preorder, ``-`` before a new variable."""
    signature = tree.signature
    names = _Names(letters(), mark_new=True)
    head = ""
    if signature.implicit_key:
        names.known[0] = ""
    else:
        keys = [names.name(key) for key in range(signature.n_keys)]
        head = f"{atom_text(signature.target_name)}({','.join([*keys, '-' + next(names.free)])})"
        head = ", ".join([head, *(_goal_text(goal, signature, names) for goal in signature.root)]) + "\n"

    def test(node: Node, scope: _Names) -> tuple[str, _Names]:
        inner = scope.below()
        return f"{_conjunction(node.test, signature, inner)} ? ", inner

    return head + drawn(tree.root, names, test, lambda leaf: _leaf_text(leaf, tree))


def program(tree: RelationalTree) -> str:
    """Write the tree as Prolog clauses with cuts; the first clause whose body holds gives the class."""
    check_prolog(tree.signature)
    lines: list[str] = []

    def write(node: Node, path: tuple[Goal, ...]) -> None:
        if node.branches:
            yes, no = node.branches
            write(yes, path + node.test)
            write(no, path)
            return
        lines.append(clause(path, node, tree.signature, tree.classes))

    write(tree.root, ())
    return "\n".join(lines) + "\n"


def check_prolog(signature: Signature) -> None:
    """Raise an error for models about values and summaries of tables, which have no Prolog form."""
    if signature.attributes:
        raise ValueError(
            "to_prolog cannot write values and summaries of linked tables; use to_sql, or give a bias whose "
            "modes are literals only"
        )


def clause(
    path: tuple[Goal, ...],
    leaf: Node,
    signature: Signature,
    classes: tuple[Constant, ...],
    *,
    cut: bool = True,
) -> str:
    """Write the path to a leaf as a Prolog clause, with the number of covered examples on a second line."""
    if classes:
        value = f"[{term_text(classes[int(leaf.prediction)])}]"
        correct, n = leaf.statistics[int(leaf.prediction)], sum(leaf.statistics)
        comment = f"% {correct}/{n}={correct / n if n else 0.0}"
    else:
        value = repr(leaf.prediction)
        comment = f"% {leaf.statistics[0]}"
    names = _clause_names(signature)
    keys = [] if signature.implicit_key else [names.known[key] for key in range(signature.n_keys)]
    # the table's facts may have the same name and arity as the head
    name = (
        f"{signature.target_name}_{signature.target_column}"
        if signature.target_column
        else signature.target_name
    )
    name = "class" if signature.implicit_key else atom_text(name)
    body = _conjunction((*signature.root, *path), signature, names)
    condition = f" :- {body}{', !' if cut else ''}" if path else ""
    return f"{name}({','.join([*keys, value])}){condition}.\n{comment}"


def body_text(goals: tuple[Goal, ...], signature: Signature) -> str:
    """Write a conjunction for readers, with ``_`` for variables that occur only once."""
    names = _clause_names(signature)
    uses = Counter(a for goal in (*signature.root, *goals) for a in goal.args if a >= signature.n_keys)
    names.known |= {a: "_" for a, n in uses.items() if n == 1 and a not in names.known}
    return ", ".join(_goal_text(goal, signature, names) for goal in (*signature.root, *goals))


def _clause_names(signature: Signature) -> _Names:
    names = _Names(letters(), mark_new=False)
    if signature.implicit_key:
        names.known[0] = ""
    for key in range(signature.n_keys):
        names.name(key)
    return names
