"""The paper's relational data sets, generated, so that its experiments can be run anywhere.

Each function returns a database and the bias to learn it with: Bongard pictures, the machines of the TILDE
papers, and data that resemble molecules (Mutagenesis) and windows of system logs (Adaptive Systems
Management).
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any, Literal

import numpy as np

from crosscut_relational.database.database import Database
from crosscut_relational.language.bias import Bias

Facts = defaultdict[str, list[tuple[Any, ...]]]


def machines() -> tuple[Database, Bias]:
    """Make fifteen machines with worn parts, to be fixed, sent back or left alone.

    The example of H. Blockeel and L. De Raedt, "Top-down induction of first-order logical decision trees"
    (1998), as distributed with the documentation of ACE: a machine is sent back if a worn part cannot be
    replaced, fixed if other parts are worn, and ok if none is.

    Examples
    --------
    >>> database, bias = machines()
    >>> database
    <Database: 15 examples, 3 classes, 3 relations, 29 facts>
    >>> print(bias)
    replaceable(+X)
    not_replaceable(+X)
    worn(+Key,+-X)
    """
    worn = {
        1: ("sendback", "gear engine"),
        2: ("ok", ""),
        3: ("fix", "gear"),
        4: ("sendback", "engine"),
        5: ("fix", "gear chain"),
        6: ("fix", "wheel"),
        7: ("sendback", "wheel control_unit"),
        8: ("ok", ""),
        9: ("fix", "wheel chain"),
        10: ("sendback", "engine chain"),
        11: ("sendback", "engine control_unit"),
        12: ("fix", "chain wheel gear"),
        13: ("sendback", "chain wheel gear engine"),
        14: ("ok", ""),
        15: ("fix", "wheel gear"),
    }
    types = ["worn(machine,comp)", "replaceable(comp)", "not_replaceable(comp)"]
    database = Database.from_facts(
        {
            "machine": [(key, action) for key, (action, _) in worn.items()],
            "worn": [(key, part) for key, (_, parts) in worn.items() for part in parts.split()],
            "replaceable": [("gear",), ("wheel",), ("chain",)],
            "not_replaceable": [("engine",), ("control_unit",)],
        },
        predict="machine(+machine,-action)",
        types=types,
    )
    return database, Bias.of(["replaceable(+X)", "not_replaceable(+X)", "worn(+Key,+-X)"], types=types)


def bongard(
    theory: Literal["simple", "complex"] = "simple",
    n: int | None = None,
    noise: float = 0.0,
    seed: int = 0,
) -> tuple[Database, Bias]:
    """Make pictures of triangles, squares and circles, some inside others.

    Parameters
    ----------
    theory : "simple" or "complex"
        A picture is positive if, simple: a triangle is inside a circle; complex: a triangle that points up is
        inside a circle, or a square is inside a triangle that points down, or there is no circle and a
        triangle is inside a square.
    n : int, optional
        Number of pictures; by default as many as in the paper, 1453 (simple) and 1521 (complex).
    noise : float
        Share of pictures that get the wrong class.
    seed : int
        Seed of the random numbers.

    Examples
    --------
    >>> database, bias = bongard("simple", n=100)
    >>> database.n_examples, database.classes
    (100, ('pos', 'neg'))
    """
    if theory not in {"simple", "complex"}:
        raise ValueError(f"theory must be 'simple' or 'complex', but {theory!r} was given")
    n = n if n is not None else {"simple": 1453, "complex": 1521}[theory]
    random = np.random.default_rng(seed)
    facts: Facts = defaultdict(list)
    for key in range(1, n + 1):
        shapes = random.choice(["triangle", "square", "circle"], random.integers(2, 7))
        points = random.choice(["up", "down"], len(shapes))
        inside = [-1] * len(shapes)
        for each in range(1, len(shapes)):
            if random.random() < 0.75:
                inside[each] = int(random.integers(each))
        positive = _is_positive(theory, shapes.tolist(), points.tolist(), inside)
        if random.random() < noise:
            positive = not positive
        facts["bongard"].append((key, "pos" if positive else "neg"))
        for each, (shape, point, outer) in enumerate(
            zip(shapes.tolist(), points.tolist(), inside, strict=True), 1
        ):
            facts[shape].append((key, f"o{each}"))
            if shape == "triangle":
                facts["config"].append((key, f"o{each}", point))
            if outer >= 0:
                facts["in"].append((key, f"o{each}", f"o{outer + 1}"))
    types = [
        "triangle(pic,obj)",
        "square(pic,obj)",
        "circle(pic,obj)",
        "in(pic,obj,obj)",
        "config(pic,obj,conf)",
    ]
    modes = [
        "triangle(+P,+-S)",
        "square(+P,+-S)",
        "circle(+P,+-S)",
        "in(+P,+S1,+-S2)",
        "in(+P,+-S1,+S2)",
        "config(+P,+S,#[up,down])",
    ]
    database = Database.from_facts(facts, predict="bongard(+pic,-class)", types=types, classes=["pos", "neg"])
    return database, Bias.of(modes, types=types, heuristic="gain")


def _is_positive(theory: str, shapes: list[str], points: list[str], inside: list[int]) -> bool:
    pairs = [(inner, outer) for inner, outer in enumerate(inside) if outer >= 0]
    if theory == "simple":
        return any(shapes[inner] == "triangle" and shapes[outer] == "circle" for inner, outer in pairs)
    for inner, outer in pairs:
        within = (shapes[inner], shapes[outer])
        if within == ("triangle", "circle") and points[inner] == "up":
            return True
        if within == ("square", "triangle") and points[outer] == "down":
            return True
        if within == ("triangle", "square") and "circle" not in shapes:
            return True
    return False


_VALENCE = {"c": 4, "n": 3, "o": 2, "h": 1, "cl": 1, "s": 2}
_ATOM_TYPES = {
    "c": [10, 14, 21, 22, 27],
    "n": [32, 35, 38],
    "o": [40, 45, 50],
    "h": [1, 3, 8],
    "cl": [93],
    "s": [72],
}


def molecules(n: int = 230, noise: float = 0.05, seed: int = 0) -> tuple[Database, Bias]:
    """Make molecules of atoms and bonds, in the form of the Mutagenesis data, with a known theory.

    A molecule is active if a carbon of type 22 is bonded to a nitrogen that has a double bond to an oxygen,
    or if a chlorine is bonded to a carbon of charge above 0.1.

    Parameters
    ----------
    n : int
        Number of molecules.
    noise : float
        Share of molecules that get the wrong class.
    seed : int
        Seed of the random numbers.

    Examples
    --------
    >>> database, bias = molecules(n=50)
    >>> sorted(database.relations)
    [('atom', 5), ('bond', 4), ('sbond', 4)]
    """
    random = np.random.default_rng(seed)
    facts: Facts = defaultdict(list)
    for key in range(1, n + 1):
        active = _add_molecule(key, facts, random)
        if random.random() < noise:
            active = not active
        facts["active"].append((key, "pos" if active else "neg"))
    types = ["atom(mol,id,element,type,charge)", "sbond(mol,id,id,bondtype)", "bond(mol,id,id,bondtype)"]
    database = Database.from_facts(
        facts,
        predict="active(+mol,-class)",
        types=types,
        classes=["pos", "neg"],
        background="sbond(M,X,Y,Z) :- bond(M,X,Y,Z) ; bond(M,Y,X,Z).",
    )
    bias = Bias.of(
        [
            "atom(+M,-A,-E,#,-Ch)",
            "atom(+M,-A,#,-T,-Ch)",
            "atom(+M,+A,#,-T,-Ch)",
            "sbond(+M,+A1,+-A2,-BT)",
            "sbond(+M,+A1,-A2,#)",
            "#(C: threshold(atom(_,_,_,_,Y),[Y],C), (atom(+M,+-A,_,_,Ch), Ch > C))",
        ],
        types=[*types, "equals(X,X)"],
        lookahead=[
            ("sbond(M,A1,A2,BT)", "atom(M,A2,#,_,_)"),
            ("sbond(M,A1,A2,BT)", "atom(M,A2,_,#,_)"),
            ("sbond(M,A1,A2,BT)", "sbond(M,A2,+-A3,#)"),
        ],
        thresholds=[("atom(M,A,E,T,Y)", "Y", 4)],
        heuristic="gain",
        minimal_cases=4,
        discretize="equal_freq",
    )
    return database, bias


def _add_molecule(key: int, facts: Facts, random: np.random.Generator) -> bool:
    """Add one molecule's atoms and bonds, and return whether the theory holds."""
    size = int(random.integers(12, 30))
    elements = random.choice(list(_VALENCE), size, p=[0.45, 0.15, 0.17, 0.13, 0.07, 0.03]).tolist()
    elements[0] = "c"
    kinds = [int(random.choice(_ATOM_TYPES[element])) for element in elements]
    charges = [round(float(charge), 3) for charge in random.normal(0.0, 0.15, size)]
    free = [_VALENCE[element] for element in elements]
    bonds: list[tuple[int, int, int]] = []
    for each in range(1, size):
        open_atoms = [other for other in range(each) if free[other] > 0]
        if not open_atoms:
            break
        other = int(random.choice(open_atoms))
        order = 2 if min(free[each], free[other]) > 1 and random.random() < 0.45 else 1
        bonds.append((each, other, order))
        free[each] -= order
        free[other] -= order
    used = {atom for pair in bonds for atom in pair[:2]} | {0}
    for atom in sorted(used):
        facts["atom"].append((key, f"m{key}_{atom}", elements[atom], kinds[atom], charges[atom]))
    for first, second, order in bonds:
        facts["bond"].append((key, f"m{key}_{first}", f"m{key}_{second}", order))
    neighbours: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for first, second, order in bonds:
        neighbours[first].append((second, order))
        neighbours[second].append((first, order))
    oxidized = {
        atom
        for atom in used
        if elements[atom] == "n"
        and any(elements[other] == "o" and order == 2 for other, order in neighbours[atom])
    }
    carbons = [atom for atom in used if elements[atom] == "c"]
    return any(
        (kinds[atom] == 22 and any(other in oxidized for other, _ in neighbours[atom]))
        or (charges[atom] > 0.1 and any(elements[other] == "cl" for other, _ in neighbours[atom]))
        for atom in carbons
    )


def asm(n: int = 999, seed: int = 0, *, linked: bool = False) -> tuple[Database, Bias]:
    """Make windows of a computer system's log, good or bad: weak tests and much noise.

    They resemble the paper's "Adaptive Systems Management" data. Each window has levels of many metrics and
    events on hosts. Each changes the odds of trouble only slightly, so many tests are about equally good, and
    the trees of different folds differ from the first tests on.

    Parameters
    ----------
    n : int
        Number of windows.
    seed : int
        Seed of the random numbers.
    linked : bool
        Whether metrics belong to hosts, so that tests may follow a host from test to test, down to smaller
        leaves. Paths are then long joins that few trees share, the worst case for growing trees together.

    Examples
    --------
    >>> database, bias = asm(n=50)
    >>> from crosscut_relational.queries.resolve import resolve
    >>> len(resolve(bias, database).modes) > 100
    True
    """
    random = np.random.default_rng(seed)
    roles = ["database", "web", "batch", "mail", "proxy"]
    hosts = [(f"h{number}", roles[number % len(roles)]) for number in range(15)]
    metrics = [f"metric{number}" for number in range(14 if linked else 40)]
    events = [f"event{number}" for number in range(18)]
    levels = ["low", "normal", "high", "peak"]
    severities = ["info", "warning", "error"]
    metric_weight = random.normal(0.0, 0.22, (len(metrics), len(levels), len(roles) if linked else 1))
    event_weight = random.normal(0.0, 0.22, (len(events), len(severities), len(roles)))
    facts: Facts = defaultdict(list)
    facts["host"] = list(hosts)
    scores = np.zeros(n)
    for key in range(1, n + 1):
        present = random.choice(len(hosts), 5, replace=False).tolist() if linked else []
        # (host, its role) of each metric: three for every host, or twenty of the window itself
        for owner in [(hosts[host][0], host % len(roles)) for host in present] if linked else [(None, 0)]:
            for metric in random.choice(len(metrics), 3 if linked else 20, replace=False).tolist():
                level = int(random.choice(len(levels), p=[0.2, 0.45, 0.25, 0.1]))
                of = (owner[0],) if linked else ()
                facts["metric"].append((key, *of, metrics[metric], levels[level]))
                scores[key - 1] += metric_weight[metric, level, owner[1]]
        for host in present or random.choice(len(hosts), 5, replace=False).tolist():
            name, role = hosts[host][0], host % len(roles)
            for _ in range(int(random.poisson(1.2))):
                event, severity = int(random.integers(len(events))), int(random.choice(3, p=[0.6, 0.3, 0.1]))
                facts["event"].append((key, name, events[event], severities[severity]))
                scores[key - 1] += event_weight[event, severity, role]
    odds = 1.0 / (1.0 + np.exp(-1.5 * (scores - np.median(scores))))
    bad = random.random(n) < odds
    facts["window"] = [(key, "bad" if each else "good") for key, each in enumerate(bad.tolist(), 1)]
    types = ["event(win,host,kind,severity)", "host(host,role)"]
    if linked:
        types.append("metric(win,host,metric,level)")
        modes = ["metric(+W,+-H,#,#)", "event(+W,+-H,#,-S)", "event(+W,+-H,-K,#)", "event(+W,+H,#,#)"]
        modes += ["host(+H,#)", "metric(+W,+-H,-M,#)"]
    else:
        types.append("metric(win,metric,level)")
        modes = ["metric(+W,#,#)", "event(+W,-H,#,#)", "event(+W,+H,-K,#)", "host(+H,#)"]
    database = Database.from_facts(facts, predict="window(+win,-state)", types=types, classes=["good", "bad"])
    return database, Bias.of(modes, types=types, heuristic="gainratio", minimal_cases=5 if linked else 10)
