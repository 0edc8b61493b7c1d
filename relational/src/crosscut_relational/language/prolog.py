"""A reader for Prolog programs: facts, clauses and directives, with ACE's extra notation.

ACE settings add prefix operators (``+X``, ``-X``, ``+-X``, ``#``, ``#[a,b]``) and ``5: literal``. Most
clauses are flat facts, which one regular expression matches. An operator-precedence parser reads the rest.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from crosscut.engines.progress import watcher
from crosscut_relational.language.terms import INFIX, PREFIX, Compound, Term, Variable, depth, term_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MAX_DEPTH = 200  # maximum nesting of terms
MOST_PROBLEMS = 100  # reading stops after this many errors

_QUOTED = r"'(?:[^'\\\n]++|\\.|'')*+'"  # possessive: a quote that is never closed takes no memory
_NUMBER = r"0x[0-9a-fA-F]+|\d+(?:\.\d+(?:[eE][+-]?\d+)?|[eE][+-]?\d+)?"
_ARGUMENT = rf"(?:[a-z]\w*|-?(?:{_NUMBER})|'[^'\\\n]*')"
_FACT = re.compile(
    rf"\s*([a-z]\w*)(?:\(\s*({_ARGUMENT}(?:\s*,\s*{_ARGUMENT})*)\s*\))?\s*\.(?=\s|%|/\*|\Z)", re.ASCII
)
_ARGUMENTS = re.compile(_ARGUMENT, re.ASCII)
_LAYOUT = re.compile(r"(?:\s++|%[^\n]*+|/\*.*?\*/)*+", re.DOTALL)
_TOKEN = re.compile(
    rf"""
    (?P<variable>[A-Z_]\w*)
  | (?P<name>[^\W\d_A-Z]\w*)
  | (?P<code>0'(?:\\.|''|.))
  | (?P<number>{_NUMBER})
  | (?P<quoted>{_QUOTED})
  | (?P<string>"(?:[^"\\]++|\\.|"")*+")
  | (?P<end>\.(?=\s|%|/\*|\Z))
  | (?P<symbol>[+\-*/\\^<>=~:.?@\#&$]+)
  | (?P<solo>[!,;|()\[\]{{}}])
    """,
    re.DOTALL | re.VERBOSE,
)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "0": "\0", "\n": ""}
_SYMBOLS = sorted((name for name in {*INFIX, *PREFIX} if not name[0].isalpha()), key=len, reverse=True)


class PrologError(ValueError):
    """The text is not a Prolog program, or uses a construct that is not supported; `problems` if several."""

    problems: Sequence[str] = ()

    @classmethod
    def of(cls, problems: Sequence[str], where: str = "the program") -> PrologError:
        """Return one error for all problems."""
        if len(problems) == 1:
            return cls(problems[0])
        error = cls(f"{where} has {len(problems)} problems:\n  " + "\n  ".join(problems))
        error.problems = tuple(problems)
        return error


@dataclass(frozen=True, slots=True)
class Clause:
    """``head :- body.``; a fact has no body, a directive ``:- body.`` no head."""

    head: Compound | str | None
    body: Term | None
    line: int
    source: str = ""

    @property
    def place(self) -> str:
        """Position of the clause: its line, and its file if it has one."""
        return f"{self.source}, line {self.line}" if self.source else f"line {self.line}"

    def __str__(self) -> str:
        head = "" if self.head is None else repr(self.head) if isinstance(self.head, Compound) else self.head
        return head + ("" if self.body is None else f" :- {term_text(self.body)}") + "."


def read_program(text: str, source: str = "<text>", problems: list[str] | None = None) -> Iterator[Clause]:
    """Yield the clauses of a Prolog program in order.

    The errors of faulty clauses, which are skipped, go to `problems`; without it, one error at the end names
    all of them.

    Examples
    --------
    >>> for clause in read_program("worn(3,gear). old(X) :- age(X,A), A > 10."):
    ...     print(clause)
    worn(3,gear).
    old(X) :- age(X,A),A>10.
    """
    known: dict[str, Term] = {}
    messages: list[str] = [] if problems is None else problems
    position, line, counted, reported = 0, 1, 0, 0
    length = len(text)
    report = watcher()
    while True:
        if report is not None and position > reported + (1 << 20):
            reported = position
            report(position / length)
        layout = _LAYOUT.match(text, position)
        assert layout is not None
        position = layout.end()
        if position >= length:
            break
        line += text.count("\n", counted, position)
        counted = position
        if text.startswith("/*", position):
            messages.append(f"{source}, line {line}: the comment that begins here is not closed")
            break
        fact = _FACT.match(text, position)
        if fact is not None:
            position = fact.end()
            name, arguments = fact.groups()
            if arguments is None:
                yield Clause(name, None, line)
                continue
            args = []
            for item in _ARGUMENTS.findall(arguments):
                value = known.get(item)
                if value is None:
                    value = known[item] = _constant(item)
                args.append(value)
            yield Clause(Compound(name, tuple(args)), None, line)
            continue
        try:
            reader = _Reader(text, position, source, line)
            term = reader.read()
            position = reader.position
            yield _clause(term, line, source)
        except PrologError as error:
            messages.append(str(error))
            if len(messages) == MOST_PROBLEMS:
                break
            position = _after_full_stop(text, position)
    if messages and problems is None:
        raise PrologError.of(messages)


def _after_full_stop(text: str, position: int) -> int:
    """Return the position after the full stop that ends a faulty clause."""
    while position < len(text):
        layout = _LAYOUT.match(text, position)
        assert layout is not None
        token = _TOKEN.match(text, layout.end())
        position = layout.end() + 1 if token is None else token.end()
        if token is not None and token.lastgroup == "end":
            break
    return position


def read_term(text: str) -> Term:
    """Parse one term; the full stop is optional."""
    reader = _Reader(text.rstrip().removesuffix(".") + " .", 0, "<text>", 1)
    return reader.read()


def _constant(text: str) -> Term:
    if text[0] == "'":
        return text[1:-1]
    if text[0] == "-":
        value = _number(text[1:])
        return -value
    return _number(text) if text[0].isdigit() else text


def _number(text: str) -> int | float:
    if text.startswith("0x"):
        return int(text, 16)
    return int(text) if text.isdigit() else float(text)


def _clause(term: Term, line: int, source: str) -> Clause:
    head: Term | None = term
    body: Term | None = None
    if isinstance(term, Compound) and term.name in {":-", "?-"}:
        head, body = (None, term.args[0]) if len(term.args) == 1 else term.args
    if isinstance(term, Compound) and term.name == "-->":
        raise PrologError(f"{source}, line {line}: a grammar rule (-->) is not supported")
    if head is not None and not isinstance(head, (Compound, str)):
        raise PrologError(f"{source}, line {line}: the head of a clause must be an atom or a compound term")
    return Clause(head, None if body == "true" else body, line)


class _Reader:
    """Operator-precedence parser for one clause that starts at ``position``."""

    def __init__(self, text: str, position: int, source: str, line: int) -> None:
        self.text = text
        self.position = position
        self.source = source
        self.first = (position, line)
        self.names: dict[str, Variable] = {}
        self.kind = self.value = ""
        self.after_layout = False
        self.advance()

    def advance(self) -> None:
        start = self.position
        layout = _LAYOUT.match(self.text, start)
        assert layout is not None
        self.after_layout = layout.end() > start
        if layout.end() == len(self.text):
            raise self.error("the text ends within a clause; a full stop is missing")
        token = _TOKEN.match(self.text, layout.end())
        if token is None:
            self.position = layout.end()
            raise self.error(f"unexpected character {self.text[layout.end()]!r}")
        assert token.lastgroup is not None
        self.kind, self.value, self.position = token.lastgroup, token.group(), token.end()
        if self.kind == "symbol" and self.value not in INFIX and self.value not in PREFIX:
            # split adjacent symbols into operators, as in `X=-1` and `5:+X`
            for symbol in _SYMBOLS:
                if self.value.startswith(symbol):
                    self.value = symbol
                    self.position = token.start() + len(symbol)
                    break

    def error(self, message: str) -> PrologError:
        position, line = self.first
        line += self.text.count("\n", position, self.position)
        near = self.text[position : position + 60].split("\n")[0]
        return PrologError(f"{self.source}, line {line}: {message} (in the clause that starts with {near!r})")

    def read(self) -> Term:
        try:
            term = self.parse(1200)
            too_deep = depth(term) > MAX_DEPTH
        except RecursionError:
            too_deep = True
        if too_deep:
            raise self.error(f"terms are nested more than {MAX_DEPTH} deep")
        if self.kind != "end":
            raise self.error(f"expected an operator or a full stop, found {self.value!r}")
        return term

    def parse(self, limit: int) -> Term:
        left, priority = self.primary(limit)
        while True:
            operator = self.value if self.kind in {"symbol", "name", "solo"} else ""
            if operator not in INFIX:
                return left
            precedence, left_limit, right_limit = INFIX[operator]
            if precedence > limit or priority > left_limit:
                return left
            self.advance()
            right = self.parse(right_limit)
            left, priority = Compound(";" if operator == "|" else operator, (left, right)), precedence

    def primary(self, limit: int) -> tuple[Term, int]:
        kind, value = self.kind, self.value
        if kind == "end":
            raise self.error("a term is missing before the full stop")
        self.advance()
        match kind:
            case "variable":
                return self.variable(value), 0
            case "number":
                return _number(value), 0
            case "code":
                return ord(_ESCAPE.sub(_unescape, value[2:].replace("''", "'"))), 0
            case "string":
                return _ESCAPE.sub(_unescape, value[1:-1].replace('""', '"')), 0
            case "quoted":
                return self.application(_ESCAPE.sub(_unescape, value[1:-1].replace("''", "'"))), 0
            case "solo" if value == "(":
                return self.bracketed(), 0
            case "solo" if value == "[":
                return self.items(), 0
            case "solo" if value != "!":
                raise self.error(f"unexpected {value!r}")
        if self.kind == "solo" and self.value == "(" and not self.after_layout:
            return self.application(value), 0
        if value == "-" and self.kind == "number" and not self.after_layout:
            number = _number(self.value)
            self.advance()
            return -number, 0
        if value in PREFIX and not self.ends_operand():
            precedence, right_limit = PREFIX[value]
            if precedence > limit:
                precedence, right_limit = 999, 999
            return Compound(value, (self.parse(right_limit),)), precedence
        return value, 0

    def ends_operand(self) -> bool:
        """Whether the next token shows that a prefix operator is used as an atom."""
        if self.kind == "solo":
            return self.value in {",", ")", "]", "|", "}", ";"}
        return self.kind == "end" or (
            self.kind == "symbol" and self.value in INFIX and self.value not in PREFIX
        )

    def application(self, name: str) -> Term:
        if not (self.kind == "solo" and self.value == "(" and not self.after_layout):
            return name
        self.advance()
        args = [self.parse(999)]
        while self.kind == "solo" and self.value == ",":
            self.advance()
            args.append(self.parse(999))
        self.expect(")")
        return Compound(name, tuple(args))

    def bracketed(self) -> Term:
        term = self.parse(1200)
        self.expect(")")
        return term

    def items(self) -> Term:
        if self.kind == "solo" and self.value == "]":
            self.advance()
            return ()
        items = [self.parse(999)]
        while self.kind == "solo" and self.value == ",":
            self.advance()
            items.append(self.parse(999))
        tail: Term = ()
        if self.kind == "solo" and self.value == "|":
            self.advance()
            tail = self.parse(999)
        self.expect("]")
        if isinstance(tail, tuple):
            return (*items, *tail)
        for item in reversed(items):
            tail = Compound("[|]", (item, tail))
        return tail

    def expect(self, value: str) -> None:
        if self.kind != "solo" or self.value != value:
            raise self.error(f"expected {value!r}, found {self.value!r}")
        self.advance()

    def variable(self, name: str) -> Variable:
        if name == "_":
            return Variable("_")
        return self.names.setdefault(name, Variable(name))


def _unescape(match: re.Match[str]) -> str:
    return _ESCAPES.get(match.group(1), match.group(1))
