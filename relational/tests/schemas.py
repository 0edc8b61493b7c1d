"""Twelve databases of different shapes, in SQL that three systems read, with generated rows."""

import datetime as dt
from dataclasses import dataclass, field

import numpy as np

START = dt.datetime.fromisoformat("2024-05-01")


@dataclass
class Schema:
    """Tables, their rows, views, and what is predicted."""

    tables: str
    rows: dict
    target: str
    views: str = ""
    options: dict = field(default_factory=dict)


def _holes(rng, values, share=0.15):
    return [None if rng.random() < share else value for value in values]


def _rows(*columns):
    return list(zip(*columns, strict=True))


def _noisy(rng, signal, names=("no", "yes")):
    flipped = rng.random(len(signal)) < 0.08
    return [names[int(bool(each) != flip)] for each, flip in zip(signal, flipped, strict=True)]


def _pick(rng, names, n):
    return rng.choice(names, n).tolist()


def _ints(rng, limit, n):
    return rng.integers(0, limit, n).tolist()


def _numbers(rng, n):
    return rng.gamma(2, 20, n).round(2).tolist()


def _days(rng, n, span=300):
    return [dt.date(2024, 1, 1) + dt.timedelta(int(each)) for each in rng.integers(0, span, n)]


def school(rng):
    """Students take courses: m:n through a table whose key are its two links."""
    pairs = sorted(set(_rows(_ints(rng, 80, 300), _ints(rng, 9, 300))))
    takes = [(student, course, int(rng.integers(0, 20))) for student, course in pairs]
    passed = {student for student, course, points in takes if course % 3 == 0 and points > 9}
    return Schema(
        """
        CREATE TABLE course(course_id INT PRIMARY KEY, field TEXT);
        CREATE TABLE student(student_id INT PRIMARY KEY, year INT, graduates TEXT);
        CREATE TABLE takes(student_id INT REFERENCES student(student_id),
            course_id INT REFERENCES course(course_id), points INT, PRIMARY KEY (student_id, course_id));
        """,
        {
            "course": _rows(range(9), ["law", "art", "music"] * 3),
            "student": _rows(range(80), [0, 1, 2, 3] * 20, _noisy(rng, [s in passed for s in range(80)])),
            "takes": takes,
        },
        "student.graduates",
    )


def staff(rng):
    """Employees have a boss, who is an employee."""
    boss = [None, *(int(rng.integers(0, max(1, n // 4))) for n in range(1, 90))]
    grade = _ints(rng, 9, 90)
    leaves = _noisy(rng, [b is not None and grade[b] > 4 for b in boss])
    return Schema(
        """
        CREATE TABLE staff(nr INT PRIMARY KEY, boss INT REFERENCES staff(nr), grade INT, leaves TEXT);
        CREATE TABLE trip(nr INT REFERENCES staff(nr), km FLOAT8);
        """,
        {
            "staff": _rows(range(90), boss, grade, leaves),
            "trip": _rows(_ints(rng, 90, 200), _numbers(rng, 200)),
        },
        "staff.leaves",
    )


def sites(rng):
    """Machines stand at a site, whose key has two columns."""
    places = [(land, nr) for land in ("at", "be", "ch") for nr in range(3)]
    at = [places[i] if rng.random() > 0.1 else (None, 1) for i in _ints(rng, 9, 90)]
    climate = dict(zip(places, ["dry", "wet"] * 5, strict=False))
    state = _noisy(rng, [climate.get(place) == "wet" for place in at])
    return Schema(
        """
        CREATE TABLE site(land TEXT, nr INT, climate TEXT, height FLOAT8, PRIMARY KEY (land, nr));
        CREATE TABLE machine(id INT PRIMARY KEY, land TEXT, place INT, state TEXT,
            FOREIGN KEY (land, place) REFERENCES site(land, nr));
        CREATE TABLE check_up(machine_id INT REFERENCES machine(id), cost FLOAT8);
        """,
        {
            "site": [(*place, climate[place], height) for place, height in _rows(places, _numbers(rng, 9))],
            "machine": [(i, *place, y) for i, place, y in _rows(range(90), at, state)],
            "check_up": _rows(_ints(rng, 90, 150), _numbers(rng, 150)),
        },
        "machine.state",
    )


def parcels(rng):
    """Parcels name their carrier by a code that is unique, not by its key."""
    rates, by = rng.random(8).round(3).tolist(), _ints(rng, 8, 100)
    late = _noisy(rng, [rates[carrier] > 0.5 for carrier in by])
    return Schema(
        """
        CREATE TABLE carrier(id INT PRIMARY KEY, code TEXT UNIQUE, rate FLOAT8);
        CREATE TABLE parcel(id INT PRIMARY KEY, carrier TEXT REFERENCES carrier(code), kg FLOAT8, late TEXT);
        CREATE TABLE complaint(carrier TEXT REFERENCES carrier(code), grave TEXT);
        """,
        {
            "carrier": _rows(range(10, 18), [f"c{i}" for i in range(8)], rates),
            "parcel": _rows(range(100), [f"c{i}" for i in by], _holes(rng, _numbers(rng, 100)), late),
            "complaint": _rows([f"c{i}" for i in _ints(rng, 8, 60)], _pick(rng, ["yes", "no"], 60)),
        },
        "parcel.late",
    )


def visits(rng):
    """Patients have dated visits; only those before the day of admission may be seen."""
    admitted, who, day = _days(rng, 90), _ints(rng, 90, 400), _days(rng, 400)
    recent = [0] * 90
    for patient, each in _rows(who, day):
        recent[patient] += dt.timedelta(0) < admitted[patient] - each <= dt.timedelta(90)
    return Schema(
        """
        CREATE TABLE patient(id INT PRIMARY KEY, admitted DATE, sick TEXT);
        CREATE TABLE visit(id INT PRIMARY KEY, patient_id INT REFERENCES patient(id), day DATE, fee FLOAT8);
        """,
        {
            "patient": _rows(range(90), admitted, _noisy(rng, [n > 1 for n in recent])),
            "visit": _rows(range(400), who, day, _holes(rng, _numbers(rng, 400))),
        },
        "patient.sick",
        options={"as_of": "admitted"},
    )


def moments(rng):
    """Logins with a time of day, some of it unknown, and the latest of them."""
    stamps = _holes(rng, [START + dt.timedelta(minutes=minutes) for minutes in _ints(rng, 90000, 400)])
    who, device = _ints(rng, 80, 400), _pick(rng, ["phone", "desk"], 400)
    known = sorted((stamp, user, used) for stamp, user, used in _rows(stamps, who, device) if stamp)
    latest = {user: used for _, user, used in known}
    churns = _noisy(rng, [latest.get(user) == "phone" for user in range(80)])
    return Schema(
        """
        CREATE TABLE account(id INT PRIMARY KEY, born DATE, churns TEXT);
        CREATE TABLE login(account_id INT REFERENCES account(id), moment TIMESTAMP, device TEXT);
        """,
        {
            "account": _rows(range(80), _holes(rng, _days(rng, 80)), churns),
            "login": _rows(who, stamps, device),
        },
        "account.churns",
    )


def gaps(rng):
    """Values, links and whole groups of rows are missing."""
    income = _numbers(rng, 100)
    repaid = _noisy(rng, [value > 40 for value in income])
    return Schema(
        """
        CREATE TABLE branch(id INT PRIMARY KEY, town TEXT, size INT);
        CREATE TABLE loan(id INT PRIMARY KEY, branch_id INT REFERENCES branch(id), income FLOAT8,
            purpose TEXT, repaid TEXT);
        CREATE TABLE payment(id INT PRIMARY KEY, loan_id INT REFERENCES loan(id), amount FLOAT8, kind TEXT);
        """,
        {
            "branch": _rows(range(6), _holes(rng, ["ulm", "bonn", "jena"] * 2), _holes(rng, range(6))),
            "loan": _rows(
                range(100),
                _holes(rng, _ints(rng, 6, 100)),
                _holes(rng, income),
                _holes(rng, _pick(rng, ["car", "home"], 100)),
                repaid,
            ),
            "payment": _rows(
                range(150),
                _holes(rng, _ints(rng, 60, 150)),
                _holes(rng, _numbers(rng, 150)),
                _holes(rng, _pick(rng, ["cash", "card"], 150)),
            ),
        },
        "loan.repaid",
    )


def baskets(rng):
    """A view picks items of each basket; another one shows the target and must not be seen."""
    basket, price = _ints(rng, 80, 300), _numbers(rng, 300)
    total = np.bincount(basket, price, 80)
    return Schema(
        """
        CREATE TABLE basket(id INT PRIMARY KEY, coupon TEXT, returned TEXT);
        CREATE TABLE item(id INT PRIMARY KEY, basket_id INT REFERENCES basket(id), price FLOAT8);
        """,
        {
            "basket": _rows(range(80), _pick(rng, ["a", "b"], 80), _noisy(rng, total > np.median(total))),
            "item": _rows(range(300), basket, price),
        },
        "basket.returned",
        views="""
        CREATE VIEW dear AS SELECT basket_id, price AS high FROM item WHERE price > 20;
        CREATE VIEW outcome AS SELECT id AS basket_id, returned AS known FROM basket;
        """,
    )


def molecules(rng):
    """Atoms with bonds between two of them: two links to one table."""
    of, element = _ints(rng, 70, 400), _pick(rng, ["c", "h", "o", "n"], 400)
    pairs = [(a, b) for a in range(400) for b in range(a) if of[a] == of[b] and rng.random() < 0.3]
    signal = {of[a] for a, b in pairs if {element[a], element[b]} == {"o", "n"}}
    return Schema(
        """
        CREATE TABLE molecule(id INT PRIMARY KEY, weight FLOAT8, active TEXT);
        CREATE TABLE atom(id INT PRIMARY KEY, molecule_id INT REFERENCES molecule(id), element TEXT,
            charge FLOAT8);
        CREATE TABLE bond(a INT REFERENCES atom(id), b INT REFERENCES atom(id), kind INT);
        """,
        {
            "molecule": _rows(range(70), _numbers(rng, 70), _noisy(rng, [m in signal for m in range(70)])),
            "atom": _rows(range(400), of, element, rng.normal(size=400).round(3).tolist()),
            "bond": [(a, b, (a + b) % 3) for a, b in pairs],
        },
        "molecule.active",
    )


def quotes(rng):
    """Names and values that SQL has to quote, truth values, numbers as text, a key of two columns."""
    place = [(f"r{i % 10}", i // 10) for i in range(90)]
    guest, smokes = _ints(rng, 90, 300), (rng.random(300) < 0.3).tolist()
    smoked = {each for each, smoker in _rows(guest, smokes) if smoker}
    paint = _noisy(rng, [i in smoked for i in range(90)], ("don't", "yes"))
    view, code = _pick(rng, ["sea", "garden's"], 90), _pick(rng, ["1", "02", "x"], 300)
    return Schema(
        """
        CREATE TABLE "Room Group"("Room" TEXT, "floor" INT, "View" TEXT, "to paint" TEXT,
            PRIMARY KEY ("Room", "floor"));
        CREATE TABLE "order"("Room" TEXT, "floor" INT, "smokes?" BOOLEAN, "code" TEXT,
            FOREIGN KEY ("Room", "floor") REFERENCES "Room Group"("Room", "floor"));
        """,
        {
            "Room Group": [(*place[i], view[i], paint[i]) for i in range(90)],
            "order": [(*place[g], s, c) for g, s, c in _rows(guest, smokes, code)],
        },
        "Room Group.to paint",
    )


def houses(rng):
    """A number is predicted, two links away."""
    wages, street = rng.gamma(5, 500, 6).round(0).tolist(), _ints(rng, 15, 120)
    noise = rng.normal(0, 90, 120).round(2).tolist()
    return Schema(
        """
        CREATE TABLE town(id INT PRIMARY KEY, wages FLOAT8);
        CREATE TABLE street(id INT PRIMARY KEY, town_id INT REFERENCES town(id), kind TEXT);
        CREATE TABLE house(id INT PRIMARY KEY, street_id INT REFERENCES street(id), price FLOAT8);
        """,
        {
            "town": list(enumerate(wages)),
            "street": [(s, s % 6, ["lane", "road"][s % 2]) for s in range(15)],
            "house": [(h, s, wages[s % 6] * 2 + e) for h, s, e in _rows(range(120), street, noise)],
        },
        "house.price",
    )


def accounts(rng):
    """Loans name their account by its key, cards by its code, and payments their card by two columns."""
    cards = [
        (i % 4, i, f"A-{code}", kind)
        for i, (code, kind) in enumerate(
            zip(_ints(rng, 40, 90), _pick(rng, ["gold", "plain"], 90), strict=True)
        )
    ]
    paid = [
        (i, *cards[card][:2], amount)
        for i, (card, amount) in enumerate(zip(_ints(rng, 90, 300), _numbers(rng, 300), strict=True))
    ]
    held = {code for _, _, code, kind in cards if kind == "gold"}
    loans = _ints(rng, 40, 120)
    return Schema(
        """
        CREATE TABLE account(id INT PRIMARY KEY, code TEXT UNIQUE);
        CREATE TABLE loan(loan_id INT PRIMARY KEY, account_id INT REFERENCES account(id), due FLOAT8,
            late TEXT);
        CREATE TABLE card(branch INT, no INT, acc TEXT REFERENCES account(code), kind TEXT,
            PRIMARY KEY(branch, no));
        CREATE TABLE payment(payment_id INT PRIMARY KEY, branch INT, no INT, amount FLOAT8,
            FOREIGN KEY(branch, no) REFERENCES card(branch, no));
        """,
        {
            "account": [(i, f"A-{i}") for i in range(40)],
            "loan": _rows(
                range(120), loans, _numbers(rng, 120), _noisy(rng, [f"A-{i}" in held for i in loans])
            ),
            "card": cards,
            "payment": paid,
        },
        "loan.late",
        options={"max_aggregates": 0},
    )


SCHEMAS = {
    made.__name__: made
    for made in (
        school,
        staff,
        sites,
        parcels,
        visits,
        moments,
        gaps,
        baskets,
        molecules,
        quotes,
        houses,
        accounts,
    )
}


def schema(name):
    """Return one of them."""
    return SCHEMAS[name](np.random.default_rng(7))
