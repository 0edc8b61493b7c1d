"""Programs that come with Aleph give the theories that Aleph found, with default settings.

Facts, modes and theories are those of Aleph 5 by A. Srinivasan: the folders `posonly`, `tree`, `gcws` and
`abduce` of its examples, and the transcripts in them. Two theories are written differently there: exceptions
to normal years are predicates, and `parent`, which Aleph abduces, is father or mother. The trains are in
test_aleph.py.
"""

import warnings

import pytest

from crosscut_relational import Bias, Database, RelationalTreeClassifier

# covering, legs, class, habitats, then m: milk, h: homeothermic, e: eggs, g: gills
ANIMALS = {
    "dog": "hair 4 mammal land mh",
    "dolphin": "none 0 mammal water mh",
    "platypus": "hair 2 mammal water mhe",
    "bat": "hair 2 mammal air,caves mh",
    "trout": "scales 0 fish water eg",
    "herring": "scales 0 fish water eg",
    "shark": "none 0 fish water eg",
    "eel": "none 0 fish water eg",
    "lizard": "scales 4 reptile land e",
    "crocodile": "scales 4 reptile water,land e",
    "t_rex": "scales 4 reptile land e",
    "snake": "scales 0 reptile land e",
    "turtle": "scales 4 reptile water e",
    "eagle": "feathers 2 bird air,land he",
    "ostrich": "feathers 2 bird land he",
    "penguin": "feathers 2 bird water he",
}
EXAMPLES = ["eagle", "bat", "dog", "ostrich", "shark", "crocodile", "penguin", "snake", "platypus", "t_rex"]
FLAGS = {"m": "has_milk", "h": "homeothermic", "e": "has_eggs", "g": "has_gills"}
MODES = """
    :- modeb(1,has_gills(+animal)). :- modeb(1,has_covering(+animal,#covering)).
    :- modeb(1,has_legs(+animal,#nat)). :- modeb(1,homeothermic(+animal)).
    :- modeb(1,has_eggs(+animal)). :- modeb(1,not(has_gills(+animal))).
    :- modeb(1,nhas_gills(+animal)). :- modeb(*,habitat(+animal,#habitat)). :- modeb(1,has_milk(+animal)).
    nhas_gills(X) :- animal(X), not(has_gills(X)).
"""
TREE = """
    :- set(tree_type,classification). :- set(minpos,2). :- set(prune_tree,true). :- set(confidence,0.25).
    :- set(evalfn,entropy). :- set(dependent,2).
"""


def animals():
    """Return the facts of the animals."""
    facts = []
    for name, text in ANIMALS.items():
        covering, legs, _, habitats, flags = text.split()
        facts += [f"animal({name})", f"has_covering({name},{covering})", f"has_legs({name},{legs})"]
        facts += [f"habitat({name},{habitat})" for habitat in habitats.split(",")]
        facts += [f"{FLAGS[flag]}({name})" for flag in flags]
    return facts


def classes(of):
    return [f"class({name},{of(ANIMALS[name].split()[2])})" for name in EXAMPLES]


WEATHER = """
    sunny 75 70 true play, sunny 80 90 true dont_play, sunny 85 85 false dont_play,
    sunny 72 95 false dont_play, sunny 69 70 false play, overcast 72 90 true play, overcast 83 86 false play,
    overcast 64 65 true play,
    overcast 81 75 false play, rain 71 80 true dont_play, rain 65 70 true dont_play, rain 75 80 false play,
    rain 68 80 false play, rain 70 96 false play
"""
DAYS = [day.split() for day in WEATHER.split(",")]
WEATHER_MODES = """
    :- modeh(1,class(+day,-class)). :- modeb(1,outlook(+day,#outlook)). :- modeb(1,temp(+day,-temp)).
    :- modeb(1,humidity(+day,-humidity)). :- modeb(1,windy(+day,#windy)). :- modeb(*,lteq(+temp,#temp)).
    :- modeb(*,lteq(+humidity,#humidity)).
    :- set(tree_type,class_probability). :- set(classes,[play,dont_play]). :- set(minpos,2).
    :- set(clauselength,5). :- set(lookahead,2). :- set(prune_tree,true).
    :- set(confidence,0.25). :- set(evalfn,entropy). :- set(dependent,2).
    lteq(X,Y) :- var(Y), !, X = Y.
    lteq(X,Y) :- number(X), number(Y), X =< Y.
    outlook(D,O) :- table(D,O,_,_,_). temp(D,T) :- table(D,_,T,_,_). humidity(D,H) :- table(D,_,_,H,_).
    windy(D,W) :- table(D,_,_,_,W).
"""
LEAP = """
    :- mode(*,normal(+year)). :- mode(*,div4(+year)). :- mode(*,div100(+year)). :- mode(*,div400(+year)).
    :- determination(normal/1,div4/1). :- determination(normal/1,div100/1).
    :- determination(normal/1,div400/1).
"""
FAMILY = """
    :- modeh(*,grandparent(+person,-person)). :- modeb(*,mother(+person,-person)).
    :- modeb(*,father(+person,-person)).
    father(dad(X),X) :- person(X). mother(mum(X),X) :- person(X).
"""
PEOPLE = ["bob", "jo", "peter", "jane"]
PARENTS = [f"{parent}({person})" for person in PEOPLE for parent in ("dad", "mum")]
GRANDPARENTS = [(f"{parent}({child})", child[4:-1]) for child in PARENTS for parent in ("dad", "mum")]
EVERYBODY = [*PEOPLE, *PARENTS, *(name for name, _ in GRANDPARENTS)]


def is_normal(year):
    return year % 4 > 0 or (year % 100 == 0 and year % 400 > 0)


YEARS = range(1, 1601)
PROGRAMS = {
    "animals, positive examples only": (
        MODES + ":- modeh(1,class(+animal,#class)). :- set(evalfn,posonly). :- set(clauselength,2).",
        animals(),
        classes(str),
        [],
        ["has_gills(A) ? fish", "has_covering(A,hair) ? mammal", "has_covering(A,scales) ? reptile", "bird"],
    ),
    "tree of animals": (
        MODES + TREE + ":- modeh(1,class(+animal,-class)). :- set(classes,[mammal,nmammal]).",
        animals(),
        classes(lambda name: "mammal" if name == "mammal" else "nmammal"),
        [],
        ["has_covering(A,hair) ? mammal", "nmammal"],
    ),
    "tree of the weather": (
        WEATHER_MODES,
        [f"table(d{i},{','.join(day[:4])})" for i, day in enumerate(DAYS)],
        [f"class(d{i},{day[4]})" for i, day in enumerate(DAYS)],
        [],
        [
            "outlook(A,rain),windy(A,true) ? dont_play",
            "outlook(A,sunny) ? humidity(A,-C),lteq(C,70) ? play",
            "dont_play",
            "play",
        ],
    ),
    "leap years": (
        LEAP,
        [f"div{n}({year})" for n in (4, 100, 400) for year in YEARS if year % n == 0],
        [f"normal({year})" for year in YEARS if is_normal(year)],
        [f"normal({year})" for year in YEARS if not is_normal(year)],
        ["div4(A) ? div100(A) ? div400(A) ? neg", "pos", "neg", "pos"],
    ),
    "grandparents": (
        FAMILY,
        [f"person({name})" for name in EVERYBODY],
        [f"grandparent({old},{young})" for old, young in GRANDPARENTS],
        [
            f"grandparent({old},{young})"
            for old in EVERYBODY
            for young in EVERYBODY
            if (old, young) not in GRANDPARENTS
        ],
        [
            "mother(A,-D),mother(D,B) ? pos",
            "mother(A,-E),father(E,B) ? pos",
            "father(A,-F),mother(F,B) ? pos",
            "father(A,-G),father(G,B) ? pos",
            "neg",
        ],
    ),
}


def written(lines):
    """Return a tree in TILDE's notation as tests followed by their yes branch, then the no branches."""
    tests = [line.split("--")[-1].strip() for line in lines[1:]]
    parts = [test.partition(":")[2].strip() if test[:3] in {"yes", "no:"} else test for test in tests]
    return " ".join(each.removeprefix("[").partition("]")[0] for each in parts)


@pytest.mark.parametrize("name", PROGRAMS)
def test_theories_of_aleph(name, tmp_path):
    background, facts, positive, negative, theory = PROGRAMS[name]
    files = {"b": [*facts], "f": positive, "n": negative}
    for ending, clauses in files.items():
        text = background if ending == "b" else ""
        (tmp_path / f"app.{ending}").write_text(text + "\n" + "".join(f"{clause}.\n" for clause in clauses))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        database, bias = Database.from_aleph(tmp_path / "app"), Bias.from_aleph(tmp_path / "app")
    model = RelationalTreeClassifier(bias, cv=None).fit(database)
    assert model.score(database) == 1
    assert written(model.tree_.to_tilde().splitlines()) == " ".join(theory)
