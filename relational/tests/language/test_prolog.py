import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crosscut_relational.language import prolog
from crosscut_relational.language.prolog import PrologError, read_program, read_term
from crosscut_relational.language.terms import Compound, term_text

NEVER = re.compile(r"(?!)")


def clauses(text):
    return [str(clause) for clause in read_program(text)]


def test_facts_rules_directives_and_comments():
    text = """
    % a comment with worn(1,x).
    worn(1, gear). /* several
    lines */ ok.
    sbond(M,X,Y,Z) :- bond(M,X,Y,Z) ; bond(M,Y,X,Z).
    :- dynamic foo/2.
    """
    assert clauses(text) == [
        "worn(1,gear).",
        "ok.",
        "sbond(M,X,Y,Z) :- bond(M,X,Y,Z);bond(M,Y,X,Z).",
        " :- dynamic foo/2.",
    ]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("-3", -3),
        ("- 3", Compound("-", (3,))),
        ("2.50", 2.5),
        ("1e-3", 0.001),
        ("1.5E+2", 150.0),
        ("0x1F", 31),
        ("0'a", 97),
        ("0''' ", 39),
        ("0'\\n", 10),
        ("'it''s'", "it's"),
        ("'a\\nb'", "a\nb"),
        ('"text"', "text"),
        ("[]", ()),
        ("[a,b|[c]]", ("a", "b", "c")),
        ("a:b:c", Compound(":", ("a", Compound(":", ("b", "c"))))),
        ("1-2-3", Compound("-", (Compound("-", (1, 2)), 3))),
        ("- (1)", Compound("-", (1,))),
        ("f(-)", Compound("f", ("-",))),
        ("\\+a", Compound("\\+", ("a",))),
        ("X_1=-1", None),
    ],
)
def test_terms(text, value):
    term = read_term(text)
    if value is not None:
        assert term == value
        assert type(term) is type(value)


@pytest.mark.parametrize(
    "text",
    [
        "rmode(5:in(+P,+S1,+-S2))",
        "rmode(config(+S,#[up,down]))",
        "rmode(#(C:member(C,[1,2]),(h(+S,+-X,-H),H<C)))",
        "rmode(#(2*5*C:gen(C,_),+X=C))",
        "type(number<number)",
        "p(#,-,+,+-)",
        "rmode(\\+p(+X))",
        "rmode((a(+X,-Y),b(Y)))",
    ],
)
def test_notation_of_ace_is_read_and_written_back(text):
    assert term_text(read_term(text)) == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("p(a", "text ends within a clause"),
        ("p(a) q(b).", "expected an operator or a full stop"),
        ("p(a,).", "unexpected '\\)'"),
        ("p :- .", "a term is missing"),
        ("a --> b.", "grammar rule"),
        ("3 :- b.", "head of a clause"),
        ("ok.\nok.\np(`a).", "line 3: unexpected character '`'"),
    ],
)
def test_errors_name_the_line_and_what_is_wrong(text, message):
    with pytest.raises(PrologError, match=message):
        list(read_program(text, "app.kb"))


FACTS = st.lists(
    st.tuples(
        st.from_regex(r"[a-z]\w{0,3}", fullmatch=True),
        st.lists(
            st.one_of(
                st.from_regex(r"[a-z]\w{0,3}", fullmatch=True),
                st.integers(-99, 99).map(str),
                st.floats(-99, 99).map(repr),
                st.from_regex(r"'[ -&(-\[\]-~]{0,5}'", fullmatch=True),
            ),
            max_size=4,
        ),
        st.sampled_from(["", " ", "\n", " % note\n", "/* note */"]),
    ),
    max_size=6,
)


@given(FACTS)
def test_fast_reading_of_facts_equals_the_parser(facts):
    text = "".join(
        f"{name}({', '.join(args)}).{end}\n" if args else f"{name}. {end}\n" for name, args, end in facts
    )
    fast = list(read_program(text))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(prolog, "_FACT", NEVER)
        slow = list(read_program(text))
    assert fast == slow
    assert len(fast) == len(facts)


def test_line_numbers_count_from_the_start_of_the_file():
    found = list(read_program("a.\n\nb(1).\n/* x\n y */ c :- d.\n"))
    assert [clause.line for clause in found] == [1, 3, 5]


@pytest.mark.parametrize("begin", ["/* ", "p('", 'p("', "p(", "p :- - "])
def test_megabytes_that_are_never_closed_are_refused_soon(begin):
    text = "q(1). " + begin + ("x y . " if begin != "p(" else begin) * 500_000
    problems = []
    assert len(list(read_program(text, problems=problems))) == 1
    assert 1 <= len(problems) <= 100


def test_an_open_comment_is_named():
    with pytest.raises(PrologError, match="line 2: the comment that begins here is not closed"):
        list(read_program("q(1).\n/* x. y."))
