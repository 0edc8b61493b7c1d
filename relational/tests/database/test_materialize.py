import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crosscut_relational.database.database import Database
from crosscut_relational.database.program import Program
from crosscut_relational.language.prolog import PrologError
from crosscut_relational.language.terms import Compound

MOLECULES = """
    mol(1,pos). mol(2,neg). mol(3,pos).
    atom(1,x,5). atom(1,y,7). atom(2,x,1). atom(3,z,9).
    edge(1,2). edge(2,3). edge(3,4).
"""


def derived(text, name, arity):
    """Facts of one predicate as sets of tuples."""
    program = Program()
    program.read(text)
    derivation = program.derive()
    columns = derivation.facts.get((name, arity))
    if columns is None:
        return None
    return {tuple(program.constants.terms[each] for each in row) for row in columns.T.tolist()}


@pytest.mark.parametrize(
    ("clauses", "name", "expected"),
    [
        ("p(M,X) :- atom(M,X,V), V > 4.", "p/2", {(1, "x"), (1, "y"), (3, "z")}),
        ("p(M) :- atom(M,_,V), V > 4, V < 8.", "p/1", {(1,)}),
        ("p(M) :- mol(M,_), \\+ atom(M,x,_).", "p/1", {(3,)}),
        ("p(M) :- mol(M,_), \\+ (atom(M,X,V), V > 4, X = y).", "p/1", {(2,), (3,)}),
        ("p(X,Y) :- edge(X,Y) ; edge(Y,X).", "p/2", {(1, 2), (2, 1), (2, 3), (3, 2), (3, 4), (4, 3)}),
        ("p(M,R) :- mol(M,C), (C == pos -> R = yes ; R = no).", "p/2", {(1, "yes"), (2, "no"), (3, "yes")}),
        ("p(M) :- mol(M,_), forall(atom(M,_,V), V > 4).", "p/1", {(1,), (3,)}),
        ("p(X) :- member(X,[q,r]).", "p/1", {("q",), ("r",)}),
        ("p(X,Y) :- edge(X,Y), member(Y,[X,3]).", "p/2", {(2, 3)}),
        ("p(X,W) :- atom(_,X,V), W is V*2+1.", "p/2", {("x", 11), ("y", 15), ("x", 3), ("z", 19)}),
        ("p(X) :- atom(_,X,V), 10 is V+1.", "p/1", {("z",)}),
        ("p(X) :- atom(_,X,V), X > 1.", "p/1", set()),
        ("p(X) :- atom(_,X,_), X \\= y, X \\== z.", "p/1", {("x",)}),
        ("p(X) :- undefined(X).", "p/1", set()),
        ("p(a). p(X) :- atom(_,X,9).", "p/1", {("a",), ("z",)}),
        ("p(X,X) :- edge(X,_).", "p/2", {(1, 1), (2, 2), (3, 3)}),
        ("p(X,k) :- X = 5.", "p/2", {(5, "k")}),
        ("p :- edge(1,2). q :- edge(9,9).", "p/0", {()}),
        ("p :- edge(1,2). q :- edge(9,9).", "q/0", set()),
        ("lteq(X,Y) :- X =< Y. p(M) :- atom(M,_,V), lteq(V,5).", "p/1", {(1,), (2,)}),
        ("lteq(X,Y) :- X =< Y. p(M) :- atom(M,_,V), \\+ lteq(V,5).", "p/1", {(1,), (3,)}),
        ("p(X) :- fail, edge(X,_).", "p/1", None),
        ("p(f(X)) :- edge(X,4).", "p/1", {(Compound("f", (3,)),)}),
        ("q(f(g(1),2)). q(f(3,4)). p(X,Y) :- q(f(g(X),Y)).", "p/2", {(1, 2)}),
        ("q([1,2]). q([3]). q([]). p(X,T) :- q([X|T]).", "p/2", {(1, (2,)), (3, ())}),
        ("q([1,2]). p(L) :- q([X,Y]), L = [Y,X|[]].", "p/1", {((2, 1),)}),
        ("s(V) :- var(V), !. s(V) :- \\+ var(V), !, V > 5. s(_). p(X) :- atom(X,_,V), s(V).",
         "p/1", {(1,), (3,)}),
        ("path(X,Y) :- edge(X,Y). path(X,Y) :- edge(X,Z), path(Z,Y).", "path/2",
         {(1, 2), (2, 3), (3, 4), (1, 3), (2, 4), (1, 4)}),
        ("even(X) :- edge(X,Y), odd(Y). odd(X) :- edge(X,Y), even(Y). even(4).", "even/1", {(4,), (2,)}),
        ("r(X) :- edge(1,X). r(Y) :- r(X), edge(X,Y). p(X) :- mol(X,_), \\+ r(X).", "p/1", {(1,)}),
    ],
)  # fmt: skip
def test_what_clauses_derive(clauses, name, expected):
    predicate, arity = name.split("/")
    assert derived(MOLECULES + clauses, predicate, int(arity)) == expected


@pytest.mark.parametrize(
    ("clauses", "message"),
    [
        ("p(X) :- mol(X,_), !.", "the cut"),
        ("p(X) :- mol(X,_), !.", "write the opposite of the tests before it into the clauses that follow"),
        ("p(N) :- foldl(plus, [1,2], 0, N).", "foldl/4 is not supported; write forall(member(X,List), goal)"),
        (
            "p(X) :- mol(X,_), write(X).",
            "write/1 is not supported; leave it out: clauses are evaluated",
        ),
        ("p(L) :- findall(X, mol(X,_), L).", "findall/3 is not supported; state counts, sums and lists"),
        ("p(L) :- mol(L,_), aggregate_all(count, edge(_,L), 1).", "aggregate_all/3 is not supported; state"),
        ("p(X) :- atom(X,_,V), \\+ reverse(V,[1]).", "reverse/2 is not supported; use member/2, append/3"),
        ("p(X) :- edge(X,Y), succ(X,Y).", "succ/2 is not supported; use is, as in 'Y is X+1'"),
        ("p(X) :- edge(X,Y), call(edge,X,Y).", "call/3 is not supported; write the goal itself"),
        ("p(X) :- mol(X,C), (C == pos ; maplist(edge,[X],[X])).", "maplist/3 is not supported"),
        ("p(X,Y) :- mol(X,_), atom(X,Y,_), !, edge(X,_).", "the cut"),
        ("p(s(X)) :- p(X). p(0).", "a term with variables in a recursive predicate may create new constants"),
        ("p(X) :- mol(X,_), \\+ p(X).", "cannot be stratified"),
        ("p(X) :- mol(X,_), \\+ q(X). q(X) :- mol(X,_), \\+ p(X).", "cannot be stratified"),
        ("p(X) :- mol(X,_), \\+ (q(X), mol(X,pos)). q(X) :- p(X).", "cannot be stratified"),
        ("p(X,X). p(X,Y) :- edge(X,Z), p(Z,Y).", "recursive and leaves X unbound"),
        ("n(0). n(Y) :- n(X), Y is X+1.", "may create new numbers without end"),
        ("p(X) :- Y > 3, mol(X,_).", "the variable Y is never bound"),
        ("p(X) :- mol(X,C), C.", "a variable (C) cannot be called"),
        ("p(X) :- mol(X,_), Y is foo(X), Y > 1.", "'foo(X)' is not a supported arithmetic expression"),
        ("p(X) :- mol(X,_), (edge(X,Y) -> Y = 2 ; true).", "only its first solution would count"),
        ("p(X) :- mol(X,_), (atom(X,_,V) ; 3).", "3 is not a goal"),
        ("p(1). p(X) :- X > 3.", "p/1 also has facts"),
    ],
)
def test_a_clause_outside_the_language_is_named_with_the_construct(clauses, message):
    with pytest.raises(PrologError, match=re.escape(message)) as caught:
        derived(MOLECULES + clauses, "p", 1)
    assert "background clause '" in str(caught.value)


def test_a_join_that_is_too_large_names_its_clause(monkeypatch):
    monkeypatch.setattr("crosscut_relational.database.bindings.MAX_BINDINGS", 10)
    with pytest.raises(PrologError, match=r"'p\(X,Y\) :- .*more than 10"):
        derived(MOLECULES + "p(X,Y) :- atom(_,X,_), atom(_,Y,_), X \\= Y.", "p", 2)


@given(
    edges=st.sets(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=8),
    labels=st.dictionaries(st.integers(0, 4), st.integers(0, 3)),
)
def test_derivation_equals_evaluation_by_enumeration(edges, labels):
    text = "".join(f"e({a},{b}). " for a, b in edges) + "".join(f"l({a},{b}). " for a, b in labels.items())
    text += """
        t(X,Y) :- e(X,Y).
        t(X,Z) :- t(X,Y), t(Y,Z).
        two(X,Z) :- e(X,Y), e(Y,Z), X \\= Z.
        up(X,Y) :- e(X,Y), l(X,A), l(Y,B), A < B.
        lonely(X) :- l(X,_), \\+ t(X,_).
        s(X,S) :- l(X,A), e(X,Y), l(Y,B), S is A + B.
    """
    closure = set(edges)
    while True:
        more = {(a, d) for a, b in closure for c, d in closure if b == c} - closure
        if not more:
            break
        closure |= more
    two = {(a, d) for a, b in edges for c, d in edges if b == c and a != d}
    up = {(a, b) for a, b in edges if a in labels and b in labels and labels[a] < labels[b]}
    lonely = {(a,) for a in labels if not any(first == a for first, _ in closure)}
    sums = {(a, labels[a] + labels[b]) for a, b in edges if a in labels and b in labels}
    program = Program()
    program.read(text)
    facts = program.derive().facts
    for name, arity, expected in [
        ("t", 2, closure),
        ("two", 2, two),
        ("up", 2, up),
        ("lonely", 1, lonely),
        ("s", 2, sums),
    ]:
        rows = [tuple(program.constants.terms[each] for each in row) for row in facts[name, arity].T.tolist()]
        assert set(rows) == expected
        assert len(rows) == len(set(rows))


def test_predicates_that_need_bound_arguments_are_kept_as_rules():
    database = Database.from_prolog(
        MOLECULES
        + """
        equals(X,X).
        lteq(X,Y) :- X =< Y.
        light(M,T) :- atom(M,_,V), V < T.
        near(X,Y) :- X < Y + 3, X > Y - 3.
        """,
        predict="mol(+mol,-class)",
    )
    rules = database.rules
    assert rules["lteq", 2].inputs == {0, 1}
    assert rules["light", 2].inputs == {1}
    assert [goal.name for goal in rules["light", 2].bodies[0]] == ["atom", "<"]
    assert rules["near", 2].bodies == ()
    assert not rules.keys() & database.relations.keys()


LISTS = MOLECULES + "l(1,[3,1,2,1]). l(2,[]). l(3,[b,a]). "


@pytest.mark.parametrize(
    ("clauses", "expected"),
    [
        ("p(X) :- memberchk(X,[q,r]).", {("q",), ("r",)}),
        ("p(X) :- between(2,4,X).", {(2,), (3,), (4,)}),
        ("p(M) :- atom(M,_,V), between(6,inf,V).", {(1,), (3,)}),
        ("p(X) :- edge(X,_), X @< 2.", {(1,)}),
        ("p(X) :- edge(X,Y), dif(Y,3).", {(1,), (3,)}),
        ("p(X) :- l(X,L), length(L,4).", {(1,)}),
        ("p(X) :- l(1,L), sort(L,[X,_,_]).", {(1,)}),
        ("p(X) :- l(3,L), append(A,_,L), length(A,X).", {(0,), (1,), (2,)}),
        ("p(X) :- l(X,L), \\+ length(L,0).", {(1,), (3,)}),
        ("p(X) :- l(_,L), member(X,L), number(X), \\+ X = 1.", {(3,), (2,)}),
        # a program's own definition takes the place of a built-in one, unless it goes through a list
        ("last(X,Y) :- edge(X,Y). p(X) :- last(1,X).", {(2,)}),
        ("length([],0). length([_|T],N) :- length(T,M), N is M+1. p(X) :- l(X,L), length(L,2).", {(3,)}),
    ],
)  # fmt: skip
def test_built_in_predicates(clauses, expected):
    assert derived(LISTS + clauses, "p", 1) == expected


def test_terms_with_many_arguments():
    terms = "".join(f"p(f({','.join([str(i)] * 20)})). " for i in range(3))
    assert derived(terms + f"q(X) :- p(f({','.join('X' * 20)})), X > 0.", "q", 1) == {(1.0,), (2.0,)}


def test_arithmetic_without_a_value_is_false_with_a_warning():
    with pytest.warns(UserWarning, match=r"\(line 5\): some arithmetic has no value"):
        assert derived(MOLECULES + "p(X) :- atom(_,X,V), V / 0 > 1.", "p", 1) == set()
    with pytest.warns(UserWarning, match="some arithmetic has no value"):
        assert derived(MOLECULES + "p(X) :- atom(_,X,V), log(V - V) < 1.", "p", 1) == set()


@pytest.mark.parametrize(
    ("clause", "message"),
    [
        ("p(M) :- atm(M,_,_).", "atm/3 has no facts and no clauses; did you mean atom?"),
        ("p(M) :- atom(M,_).", "atom/2 has no facts and no clauses; there is atom/3."),
        ("p(M) :- mol(M,_), \\+ (zzz(M), mol(M,pos)).", "zzz/1 has no facts and no clauses; no other name"),
        ("p(M) :- mol(M,_), lenght(M,2).", "did you mean length?"),
        ("l([1]). l(C) :- l(A), append(A,A,C).", "'append' in a recursive predicate may create new"),
    ],
)
def test_what_a_body_calls_must_be_known(clause, message):
    with pytest.raises(PrologError, match=re.escape(message)):
        Database.from_prolog(MOLECULES + clause, predict="mol(+k,-c)")


def test_a_predicate_that_may_be_empty_is_declared():
    program = ":- dynamic rare/1, odd/2. p(M) :- mol(M,_), \\+ rare(M), \\+ odd(M,M)."
    database = Database.from_prolog(MOLECULES + program, predict="mol(+k,-c)")
    assert database.relations["p", 1].n_facts == 3
    typed = Database.from_prolog(
        MOLECULES + "p(M) :- mol(M,_), \\+ rare(M).", predict="mol(+k,-c)", types=["rare(k)"]
    )
    assert typed.relations["p", 1].n_facts == 3


FAULTS = """a(X) :- mol(X,_), !.
b(X) :- mol(X,_), assert(seen(X)).
c(X) :- foldl(plus, [1,2], 0, X).
d(X) :- mol(X,_), \\+ d(X).
e(X,X). e(X,Y) :- edge(X,Z), e(Z,Y).
f(X) :- Y > 3, mol(X,_).
g(X) :- mol(X,C), C.
h(X) :- mol(X,_), Y is foo(X), Y > 1.
i(X) :- atm(X,_,_).
j(X) :- mol(X,_), (edge(X,Y) -> Y = 2 ; true).
k(X) :- a(X).
"""


def test_all_faults_of_a_program_are_named(tmp_path):
    (tmp_path / "app.kb").write_text(MOLECULES)
    (tmp_path / "app.bg").write_text(FAULTS)
    modes = "".join(f"rmode({name}(+X)). " for name in "abcdfghijk") + "rmode(e(+X,+Y))."
    (tmp_path / "app.s").write_text(f"predict(mol(+k,-c)). {modes}")
    with pytest.raises(PrologError) as caught:
        Database.from_ace(tmp_path / "app")
    first, *lines = str(caught.value).splitlines()
    assert first == "the background has 10 problems:"
    places = sorted(int(re.search(r"\(app.bg, line (\d+)\)", line).group(1)) for line in lines)
    assert places == list(range(1, 11))


def test_faults_of_all_files_are_named_together(tmp_path):
    (tmp_path / "app.kb").write_text(MOLECULES + "mol(4,pos)) .\nmol(5,.\nok(1).\n")
    (tmp_path / "app.bg").write_text(
        "a(X) :- mol(X,_) mol(X).\nb(X) :- moll(X,_).\nc(" + "s(" * 900 + "0).\n"
    )
    settings = "predict(mol(+k,-c)).\nrmode(b(+X)).\nheuristic(magic).\nload(tables).\nrmode(p(#x)).\n"
    (tmp_path / "app.s").write_text(settings + "confidence_level(7).\nexecute(bagging(10)).\nleave_out(3).\n")
    with pytest.raises(PrologError) as caught:
        Database.from_ace(tmp_path / "app")
    places = re.findall(r"app\.(?:kb|bg|s), line \d+", str(caught.value))
    assert places == [
        *("app.kb, line 5", "app.kb, line 6", "app.bg, line 1", "app.bg, line 3"),
        *(f"app.s, line {line}" for line in range(3, 9)),
        "app.bg, line 2",
    ]


def test_clauses_that_no_mode_reaches_need_not_work(tmp_path):
    (tmp_path / "app.kb").write_text(MOLECULES)
    (tmp_path / "app.bg").write_text(FAULTS + "good(X) :- edge(X,_). better(X) :- good(X).")
    (tmp_path / "app.s").write_text("predict(mol(+k,-c)). rmode(better(+X)).")
    with pytest.warns(UserWarning, match=r"no mode and no target needs .*\n.*line 1\)") as said:
        database = Database.from_ace(tmp_path / "app")
    assert str(said[0].message).count("background clause") == 7  # what only evaluation tells is not known
    assert database.relations["better", 1].n_facts == 3


def test_what_no_mode_reaches_is_not_evaluated(tmp_path):
    (tmp_path / "app.kb").write_text("c(1,a). c(2,b). p(1). p(2).")
    (tmp_path / "app.bg").write_text(
        "big(X) :- p(X), X > 1.\nhuge(X,Y) :- p(X), p(Y).\nvast(X) :- huge(X,_).\n"
    )
    (tmp_path / "app.s").write_text("predict(c(+k,-v)).\nrmode(big(+K)).\n")
    found = Database.from_ace(tmp_path / "app")
    assert {name for name, _ in found.relations} == {"p", "big"}
    (tmp_path / "app.s").write_text("predict(c(+k,-v)).\nrmode(vast(+K)).\n")
    found = Database.from_ace(tmp_path / "app")
    assert {name for name, _ in found.relations} == {"p", "huge", "vast"}


def test_a_selective_literal_is_joined_first_wherever_it_is_written():
    facts = "".join(f"a({i},{i % 3}). b({i % 3},{i}). " for i in range(1500)) + "s(5). c(1,x). c(2,y). "
    clauses = "r(X,Z) :- a(X,Y), b(Y,Z), s(X). q(X,Z) :- s(X), a(X,Y), b(Y,Z)."
    made = Database.from_prolog(facts + clauses, predict="c(+k,-v)")
    assert sorted(made.relations["r", 2].columns.T.tolist()) == sorted(
        made.relations["q", 2].columns.T.tolist()
    )
    assert made.relations["r", 2].n_facts == 500


def test_recursion_with_one_call_and_with_two():
    chain = "".join(f"e({i},{i + 1}). " for i in range(30)) + "c(1,x). c(2,y). "
    one = "p(X,Y) :- e(X,Y). p(X,Y) :- e(X,Z), p(Z,Y). "
    two = "q(X,Y) :- e(X,Y). q(X,Y) :- q(X,Z), q(Z,Y)."
    made = Database.from_prolog(chain + one + two, predict="c(+k,-v)")
    both = [sorted(made.relations[name, 2].columns.T.tolist()) for name in "pq"]
    assert both[0] == both[1]
    assert len(both[0]) == 30 * 31 // 2


@pytest.mark.parametrize("rules", ["h(M) :- p(M,W){}.", "t(W) :- W > 3. t(W) :- W < 0. h(M) :- p(M,W){}."])
def test_alternatives_that_multiply_are_refused(rules):
    goals = (", t(W)" if rules.startswith("t") else ", (W > 3 ; W < 0)") * 14
    with pytest.raises(PrologError, match="its alternatives combine to more than 1,000 conjunctions"):
        Database.from_prolog("c(1,a). c(2,b). p(1,1). " + rules.format(goals), predict="c(+k,-c)")


@pytest.mark.parametrize("goal", ["open(f,read,X)", "consult(f)", "shell(ls)", "halt", "see(f)", "assert(a)"])
def test_no_predicate_reaches_files_or_the_system(goal):
    with pytest.raises(PrologError, match=goal.partition("(")[0]):
        Database.from_prolog(MOLECULES + f"p(X) :- edge(X,_), {goal}.", predict="mol(+mol,-class)")
