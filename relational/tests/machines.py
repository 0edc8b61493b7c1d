"""The machines of the TILDE papers as ACE's files, and what TILDE printed about them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paper.data import machines

if TYPE_CHECKING:
    from pathlib import Path

MODES = "rmode(replaceable(+X)). rmode(not_replaceable(+X))."
TYPES = "typed_language(yes). type(replaceable(comp)). type(not_replaceable(comp))."
SETTINGS = {
    "keys": f"predict(machine(+machine,-action)). {TYPES} type(worn(machine,comp)). {MODES}"
    " rmode(worn(+Key,+-X)).",
    "models": f"load(examples). classes([fix,sendback,ok]). {TYPES} type(worn(comp)). {MODES}"
    " rmode(worn(+-X)).",
}
BACKGROUND = "".join(f"replaceable({part}). " for part in ("gear", "wheel", "chain"))
BACKGROUND += "not_replaceable(engine). not_replaceable(control_unit)."
# TILDE 2.2's; it sorts the classes of the first one, and ACE has them as the examples do
TREES = {
    "keys": """machine(-A,-B)
worn(A,-C) ?
+--yes: not_replaceable(C) ?
|       +--yes: [sendback] 6.0 [[sendback:6.0,ok:0.0,fix:0.0]]
|       +--no:  [fix] 6.0 [[sendback:0.0,ok:0.0,fix:6.0]]
+--no:  [ok] 3.0 [[sendback:0.0,ok:3.0,fix:0.0]]""",
    "models": """worn(-A) ?
+--yes: not_replaceable(A) ?
|       +--yes: [sendback] 6.0 [[fix:0.0,sendback:6.0,ok:0.0]]
|       +--no:  [fix] 6.0 [[fix:6.0,sendback:0.0,ok:0.0]]
+--no:  [ok] 3.0 [[fix:0.0,sendback:0.0,ok:3.0]]""",
}
PROGRAMS = {
    "keys": """
        machine(A,sendback) :- worn(A,B),not_replaceable(B), !.
        machine(A,fix) :- worn(A,B), !.
        machine(A,ok).
    """,
    "models": """
        class([sendback]) :- worn(A),not_replaceable(A), !.
        class([fix]) :- worn(A), !.
        class([ok]).
    """,
}
ESTIMATED_ERRORS = 3.58571211334849
FORMS = ("keys", "models")


def write_machines(folder: Path, form: str) -> Path:
    """Write ``mach.kb``, ``mach.bg`` and ``mach.s``, in one of ACE's two forms."""
    database, _ = machines()
    terms = database.constants.terms
    worn: dict[object, list[object]] = {key: [] for key in database.examples}
    for machine, part in database.relations["worn", 2].columns.T.tolist():
        worn[terms[machine]].append(terms[part])
    lines = []
    for (key, parts), code in zip(worn.items(), database.target, strict=True):
        label = database.classes[code]
        if form == "keys":
            lines += [f"machine({key},{label}).", *(f"worn({key},{part})." for part in parts)]
        else:
            lines += [f"begin(model({key})).", f"{label}.", *(f"worn({part})." for part in parts)]
            lines += [f"end(model({key}))."]
    (folder / "mach.kb").write_text("\n".join(lines))
    (folder / "mach.bg").write_text(BACKGROUND)
    (folder / "mach.s").write_text(SETTINGS[form])
    return folder / "mach"
