import pytest

from crosscut_relational.database.database import Database
from crosscut_relational.estimators import RelationalTreeClassifier, RelationalTreeRegressor
from crosscut_relational.language.bias import Bias
from crosscut_relational.language.prolog import PrologError
from crosscut_relational.queries.resolve import resolve
from crosscut_relational.rules.estimator import RelationalRuleClassifier

FILES = {
    "app.b": """
        :- modeh(1, active(+mol)).
        :- modeb(*, atm(+mol,-id,#element,-charge)).
        :- modeb(1, lteq(+charge,#charge)).
        :- determination(active/1, atm/4).
        :- set(noise, 5).
        atm(d1,a1,c,0.5). atm(d2,a1,n,-0.5).
        lteq(X,Y) :- X =< Y.
    """,
    "app.f": "active(d1).",
    "app.n": "active(d2). active(d3).",
}


@pytest.fixture
def write(tmp_path):
    def write(**changes):
        for name, text in (FILES | {key.replace("_", "."): text for key, text in changes.items()}).items():
            (tmp_path / name).write_text(text)
        return tmp_path / "app"

    return write


def test_examples_and_modes(write):
    database, bias = Database.from_aleph(write()), Bias.from_aleph(write())
    assert database.examples == ["d1", "d2", "d3"]
    assert database.classes == ("pos", "neg")
    assert database.target.tolist() == [0, 1, 1]
    assert database.key_types == ("mol",)
    assert database.relations["atm", 4].keyed
    assert [str(mode) for mode in resolve(bias, database).modes] == [
        "atm(+V1,+-V2,c,+-V4)",
        "atm(+V1,+-V2,n,+-V4)",
        "lteq(+V1,0.5)",
        "lteq(+V1,-0.5)",
    ]


def test_an_example_of_another_predicate_is_named(write):
    with pytest.raises(
        PrologError, match=r"app\.n, line 1: 'mutagenic\(d2\)\.' is not an example of active/1"
    ):
        Database.from_aleph(write(app_n="mutagenic(d2)."))


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no file app\.b"):
        Database.from_aleph(tmp_path / "app")


TRAINS = """
    :- modeh(1, east(+train)). :- modeb(*, has(+train,-car)). :- modeb(1, short(+car)).
    :- modeb(1, load(+car,#shape,#int)). :- determination(east/1, has/2). :- set(i, 2).
"""
FACTS = "has(t1,c1). has(t2,c2). has(t3,c3). short(c1). short(c3). load(c1,disc,1). load(c2,box,2). "
BEASTS = """
    :- modeh(1, class(+beast,#class)). :- modeb(1, milk(+beast)). :- modeb(1, legs(+beast,#nat)).
    :- modeb(1, not(milk(+beast))). milk(dog). milk(bat). legs(dog,4). legs(bat,2). legs(eel,0). legs(owl,2).
"""
KINDS = "class(dog,mammal). class(bat,mammal). class(eel,fish). class(owl,bird)."
LIMITS = ":- modeh(1, p(+num)). :- modeb(*, gteq(+num,#num)). num(1). num(5). num(9). "
SIDES = {"f": "east(t1). east(t3).", "n": "east(t2)."}
HOOKS = """
    aleph_portray(east(A)) :- write('train '), write(A), nl.
    refine(false, east(_)). refine(east(X), (east(X) :- has(X,_))).
    cost(_, [P,N,_], C) :- C is N - P. prune((_ :- Body)) :- violates(Body), !.
"""
ONE_FILE = """
    :- use_module(library(aleph)). :- if(current_predicate(use_rendering/1)). :- use_rendering(prolog).
    :- endif. :- aleph. {directives} :- begin_bg. {facts} :- end_bg.
    :- begin_in_pos. {f} :- end_in_pos. :- begin_in_neg. {n} :- end_in_neg.
"""
MEMBER = ":- mode(*, mem(+any,+list)). :- mode(1, ((+list) = ([-any|-list]))). :- set(i,3). "
YEARS = ":- mode(*, normal(+year)). :- mode(*, div4(+year)). :- determination(normal/1, div4/1). div4(8)."
TREE = """
    :- set(tree_type,classification). :- set(classes,[fish,bird,mammal]). :- set(minpos,1).
    :- set(dependent,2). :- set(evalfn,gini). :- set(lookahead,2).
"""
CURVE = """
    :- modeh(1, f(+x,-y)). :- modeb(1, lteq(+x,#x)). :- set(tree_type,regression). :- set(dependent,2).
    lteq(X,Y) :- X =< Y. x(1). x(2).
"""
FAMILY = """
    :- modeh(*, parent(+p,-p)). :- modeh(*, grand(+p,-p)). :- modeb(*, father(+p,-p)). :- abducible(parent/2).
    person(bob). person(jo). father(dad(X),X) :- person(X).
"""
GUESS = """
    gteq(X,V) :- number(X), number(V), !, X >= V. gteq(X,Y) :- number(X), var(Y), !, g(X,Y).
    g(X,Y) :- Y is X. g(X,Y) :- Y is 2*X.
"""
GUARDED = "gteq(X,Y) :- not(var(X)), not(var(Y)), !, X >= Y. gteq(X,X) :- not(var(X))."
LISTS = ":- modeh(1, ok(+l)). :- modeb(1, first(+l,#e)). first([X|_],X). l([a,b]). l([c]). e(a). e(c)."
SHOWN = "show :- feature(_,(E :- B)), (B -> write(1) ; write(0)), fail."
FALSE = ":- modeh(1,false). :- modeb(*,human(-p)). :- modeb(1,not(male(+p))). human(f). male(f)."
IN_ONE = {"facts": "", "f": KINDS, "n": ""}
# likenesses of the kinds of programs that come with Aleph: what each file holds, examples and classes
PROGRAMS = {
    "trains": ({"b": TRAINS + FACTS, **SIDES}, 3, 2),
    "one file": ({"pl": ONE_FILE.format(directives=TRAINS, facts=FACTS, **SIDES)}, 3, 2),
    "hooks": ({"b": TRAINS + FACTS + HOOKS, **SIDES}, 3, 2),
    "hooks in one file": ({"pl": ONE_FILE.format(directives=TRAINS, facts=FACTS + HOOKS, **SIDES)}, 3, 2),
    "no modes": ({"b": ":- determination(east/1, has/2). " + FACTS + HOOKS, **SIDES}, 3, 2),
    "mode": ({"b": YEARS, "f": "normal(7).", "n": "normal(8)."}, 2, 2),
    "positive only": ({"b": ":- set(evalfn,posonly). " + BEASTS, "f": KINDS}, 4, 3),
    "positive only in one file": ({"pl": ONE_FILE.format(directives=BEASTS, **IN_ONE)}, 4, 3),
    "tree": ({"b": TREE + BEASTS, "f": KINDS}, 4, 3),
    "regression tree": ({"b": CURVE, "f": "f(1,2.5). f(2,3.5). f(3,9.5)."}, 3, 0),
    "negatives with an output": ({"b": BEASTS, "f": KINDS, "n": "class(dog,fish)."}, 5, 2),
    "several heads": ({"b": FAMILY, "f": "grand(dad(dad(bob)),bob).", "n": "grand(bob,jo)."}, 2, 2),
    "lazy evaluation": ({"b": LIMITS + GUESS, "f": "p(5). p(9).", "n": "p(1)."}, 3, 2),
    "a comparison with guards": ({"b": LIMITS + GUARDED, "f": "p(5). p(9).", "n": "p(1)."}, 3, 2),
    "recursion": ({"b": MEMBER, "f": "mem(0,[0]). mem(1,[0,1]).", "n": "mem(2,[0,1])."}, 3, 2),
    "lists": ({"b": LISTS, "f": "ok([a,b]).", "n": "ok([c])."}, 2, 2),
    "features": ({"b": TRAINS + FACTS + SHOWN, **SIDES}, 3, 2),
    "incremental, without examples": ({"b": MEMBER + "list([0])."}, 0, 0),
    "constraints": ({"b": FALSE}, 0, 0),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", PROGRAMS)
def test_programs_of_the_kinds_that_come_with_aleph_load(kind, tmp_path):
    files, n_examples, n_classes = PROGRAMS[kind]
    for ending, text in files.items():
        (tmp_path / f"app.{ending}").write_text(text)
    database, bias = Database.from_aleph(tmp_path / "app"), Bias.from_aleph(tmp_path / "app")
    assert (database.n_examples, len(database.classes)) == (n_examples, n_classes)
    if n_examples:
        maker = RelationalTreeClassifier if n_classes else RelationalTreeRegressor
        maker(bias, cv=None).fit(database)


def test_parameters_of_trees_are_honoured(tmp_path):
    for ending, text in PROGRAMS["tree"][0].items():
        (tmp_path / f"app.{ending}").write_text(text)
    settings = Bias.from_aleph(tmp_path / "app").settings
    assert settings.classes == ("fish", "bird", "mammal")
    assert (settings.heuristic, settings.minimal_cases, settings.exhaustive_lookahead) == ("gini", 1, 1)
    assert settings.pruning == "none"


def test_all_faults_of_an_application_are_named(write):
    with pytest.raises(PrologError) as caught:
        Database.from_aleph(write(app_f="active(d1). active(X). inactive(d2).", app_n="active(d2)) ."))
    assert str(caught.value).count("app.f, line 1") == 2
    assert "app.n, line 1" in str(caught.value)


def test_a_mode_that_cannot_be_followed_is_left_out_with_a_warning(write):
    bad = FILES["app.b"] + ":- modeb(1, p(f(+mol))). "
    with pytest.warns(UserWarning, match="app: a mode is left out: argument f.* has marks inside"):
        assert len(Bias.from_aleph(write(app_b=bad)).modes) == 2


def test_an_output_may_be_a_variable_of_the_clause_and_leads_to_a_literal_about_it(tmp_path):
    """Trains go east if a car is short and closed. Every train has cars, short cars and closed cars."""
    background = """
        :- modeh(1, east(+train)). :- modeb(*, has(+train,-car)). :- modeb(1, short(+car)).
        :- modeb(1, closed(+car)). :- modeb(*, closed_car(+train,-car)).
    """
    for i in range(20):
        background += f"has(t{i},a{i}). has(t{i},b{i}). short(a{i}). closed({'ab'[i % 2]}{i}). "
        background += f"closed_car(t{i},{'ab'[i % 2]}{i}). "
    (tmp_path / "app.b").write_text(background)
    (tmp_path / "app.f").write_text("".join(f"east(t{i}). " for i in range(0, 20, 2)))
    (tmp_path / "app.n").write_text("".join(f"east(t{i}). " for i in range(1, 20, 2)))
    database, bias = Database.from_aleph(tmp_path / "app"), Bias.from_aleph(tmp_path / "app")
    model = RelationalTreeClassifier(bias, cv=None).fit(database)
    assert model.score(database) == 1.0
    assert model.tree_.to_tilde().splitlines()[1] == "closed_car(A,-C),short(C) ? "


# cars of each train: short, closed, shape, load, number of loads
EAST = ["0 0 r rectangle 3, 1 1 r triangle 1, 0 0 r hexagon 1", "1 0 u triangle 1, 1 1 r circle 2"]
EAST += ["1 0 r circle 1, 1 1 h triangle 1, 0 1 r triangle 1", "1 0 u triangle 1, 1 1 e rectangle 1"]
EAST += ["1 0 r triangle 1, 0 1 r rectangle 1, 1 1 r circle 1"]
WEST = ["0 1 r circle 3, 1 0 r triangle 1", "1 0 r circle 1, 1 0 u triangle 1, 0 1 r nil 0"]
WEST += ["0 1 r circle 1, 1 0 u circle 1", "1 0 u circle 1, 0 1 r rectangle 1, 1 0 r circle 1"]
WEST += ["1 0 u rectangle 1, 0 0 r rectangle 2"]


# of the programs that learn from these trains, in the folders trains, good, portray, refine and features
SETTINGS = [
    "set(i,2)",
    "set(i,2), set(good,true)",
    "set(i,2), set(clauselength,4)",
    "set(i,2), set(refine,user)",
]
SETTINGS += ["set(i,2), set(clauselength,10), set(minacc,0.6), set(noise,3), set(minscore,3), set(minpos,3)"]


@pytest.mark.parametrize("settings", SETTINGS)
def test_trains_give_the_rule_of_aleph(settings, tmp_path):
    """A train goes east if it has a short closed car: two tests of the object that a literal introduces."""
    text = "".join(f":- {each}. " for each in settings.split(", "))
    text += """
        :- modeh(1, eastbound(+train)). :- modeb(*, has_car(+train,-car)). :- modeb(1, short(+car)).
        :- modeb(1, closed(+car)). :- modeb(1, long(+car)). :- modeb(1, open_car(+car)).
        :- modeb(1, shape(+car,#shape)). :- modeb(1, load(+car,#shape,#int)).
    """
    for train, cars in enumerate(EAST + WEST):
        for number, car in enumerate(cars.split(", ")):
            short, closed, shape, load, loads = car.split()
            name = f"c{train}_{number}"
            text += f"has_car(t{train},{name}). {'short' if short == '1' else 'long'}({name}). "
            text += f"{'closed' if closed == '1' else 'open_car'}({name}). "
            text += f"shape({name},{shape}). load({name},{load},{loads}). "
    (tmp_path / "t.b").write_text(text)
    (tmp_path / "t.f").write_text("".join(f"eastbound(t{i}). " for i in range(5)))
    (tmp_path / "t.n").write_text("".join(f"eastbound(t{i}). " for i in range(5, 10)))
    database, bias = Database.from_aleph(tmp_path / "t"), Bias.from_aleph(tmp_path / "t")
    tree = RelationalTreeClassifier(bias, cv=None).fit(database)
    assert tree.tree_.to_tilde().splitlines()[1] == "has_car(A,-C),short(C),closed(C) ? "
    assert tree.score(database) == 1
    rules = RelationalRuleClassifier(bias, cv=None).fit(database)
    assert str(rules).splitlines()[0].startswith("if has_car(A,B), short(B), closed(B) then pos")
