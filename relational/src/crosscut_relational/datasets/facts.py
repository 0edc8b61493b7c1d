"""Relational data sets: each function returns a database and the bias to learn it with.

They replace the paper's data, so that its experiments can be run anywhere: Bongard pictures and the
machines of the TILDE papers.
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
