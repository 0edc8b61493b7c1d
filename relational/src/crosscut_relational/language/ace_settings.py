"""Read ACE settings files (``app.s``) into a language bias."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crosscut_relational.language import notation
from crosscut_relational.language.bias import Bias
from crosscut_relational.language.modes import Discretization, Literal, Mode, Var
from crosscut_relational.language.prolog import Clause, PrologError, read_program
from crosscut_relational.language.settings import DISCRETIZATIONS, HEURISTICS, PRUNINGS, Settings
from crosscut_relational.language.terms import Compound, Term, Variable, name_and_args, term_text

if TYPE_CHECKING:
    import os

    from crosscut_relational.language.modes import TypeNames

# Settings of ACE's implementation (packs, memory, logging) that do not affect the trees.
WITHOUT_EFFECT = frozenset(
    """
    talking use_packs resume report_timings write_predictions tilde_rst_optimization
    query_batch_size output_options output_dir granularity outerloop huge odbc
    language_warnings example_cache log_pid compatibility transform_queries default_prefix default_min
    default_preprocessing expert_implicit_language generation_order old_expand mi_distance_maxsample
    multiscore multiscore_2 precompute complexity_penalty prune_rules
    show_averages classify_mode combination_rule repeat_exec_time max_querytime tilde_version
    stopping_criterion query_length_bias select_root_models minfreq bg_file kb_file load_package warmode_key
    rmode_key discretization tilde_test_eval_model write_ensemble_models
    """.split()  # noqa: SIM905  # a list of 50 quoted names reads worse
)
# Settings that make ACE leave out or sample examples, which would change the tree.
RANDOM = frozenset(
    {"leave_out", "random_validation_set", "random_test_set", "sampling_strategy", "randomise"}
)
_FORMS = {"key": False, "keys": False, "models": True, "model": True, "examples": True}
_NUMBERS = ("minimal_cases", "accuracy", "ftest", "confidence_level", "max_lookahead", "exhaustive_lookahead")
_ALIASES = {"eucl": "variance", "euclid": "variance", "gain_ratio": "gainratio", "off": "none"}
_YES_OR_NO = {"on": "yes", "true": "yes", "off": "no", "false": "no"}


@dataclass
class _Draft:
    """Settings read so far."""

    source: str
    modes: list[Mode] = field(default_factory=list)
    types: dict[tuple[str, int], TypeNames] = field(default_factory=dict)
    parts: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    root: Term | None = None
    sets_typed: bool = False  # whether the file contains `typed_language`

    def declare(self, predicate: tuple[str, int], types: TypeNames) -> None:
        """Add the types of a ``warmode``; an argument with conflicting types accepts any type."""
        known = self.types.get(predicate, types)
        self.types[predicate] = tuple(
            a if b is None or a == b else b if a is None else None for a, b in zip(known, types, strict=True)
        )
        self.parts.setdefault("typed", True)

    def declare_the_rest(self) -> None:
        """Accept any type for predicates without a type if only ``warmode`` makes the language typed."""
        literals = [
            literal for each in self.parts.get("lookahead", ()) for literal in (each.first, *each.then)
        ]
        literals += [each.first for each in self.parts.get("auto_lookahead", ())]
        for literal in [*literals, *(literal for mode in self.modes for literal in mode.literals)]:
            self.types.setdefault(literal.predicate, (None,) * literal.arity)

    def append(self, name: str, item: object) -> None:
        self.parts[name] = (*self.parts.get(name, ()), item)


def read_settings(path: str | os.PathLike[str], problems: list[str] | None = None) -> Bias:
    """Return the bias in an ACE settings file; see `Bias.from_ace` and `settings_from_text`."""
    place = Path(path)
    if place.suffix in {".kb", ".bg"}:
        place = place.with_suffix("")
    if place.suffix != ".s":
        place = place.with_name(place.name + ".s")
    return settings_from_text(place.read_text(encoding="utf-8", errors="replace"), place.name, problems)


def settings_from_text(text: str, source: str = "<text>", problems: list[str] | None = None) -> Bias:
    """Return the bias that the text of a settings file describes.

    Unsupported settings are added to ``problems``. Without that list, one error names all of them.
    """
    draft = _Draft(source)
    for clause in read_program(text, source, draft.problems):
        _read(clause, draft)
    if problems is not None:
        problems += draft.problems
    elif draft.problems:
        raise PrologError.of(draft.problems, source)
    if draft.parts.get("typed") and not draft.sets_typed:
        draft.declare_the_rest()
    bias = Bias(
        modes=tuple(replace(mode, source=number) for number, mode in enumerate(draft.modes)),
        types=draft.types,
        settings=Settings(ties="last", **draft.settings),
        **draft.parts,
    )
    if draft.root is not None:
        target = None if bias.predict is None else (bias.predict.name, bias.predict.arity)
        bias = replace(bias, root=notation.root_from_term(draft.root, target))
    if bias.settings.regression and "heuristic" not in draft.settings:
        bias = bias.with_settings(heuristic="variance")
    return bias


def _read(clause: Clause, draft: _Draft) -> None:
    if clause.head is None:  # `:- directive.`: some files write settings that way
        clause = replace(clause, head=clause.body, body=None)  # type: ignore[arg-type]
    head = clause.head
    if clause.body is not None or not isinstance(head, (Compound, str)):
        _warn(draft, clause, "is a clause, not a setting, and is ignored")
        return
    name, args = name_and_args(head)
    before = dict(draft.settings)
    try:
        known = _read_setting(name, args, draft)
        Settings(**draft.settings)
        if name in RANDOM and args not in {(0,), ("none",), ("no",), ("off",)}:
            raise PrologError(
                f"{term_text(head)} is not supported: trees are grown from all examples, and cv chooses the "
                "held-out ones; remove the line"
            )
    except ValueError as error:
        draft.problems.append(f"{draft.source}, line {clause.line}: {error}")
        draft.settings = before
        return
    if not known and name not in WITHOUT_EFFECT | RANDOM:
        _warn(draft, clause, "is not a known setting and is ignored")


def _warn(draft: _Draft, clause: Clause, problem: str) -> None:
    warnings.warn(
        f"{draft.source}, line {clause.line}: {str(clause)[:80]} {problem}", UserWarning, stacklevel=6
    )


def _read_setting(name: str, args: tuple[Term, ...], draft: _Draft) -> bool:
    """Add one setting to the draft; return False if its name is unknown."""
    match name, args:
        case "rmode", (mode,):
            draft.modes.append(notation.mode_from_term(mode))
        case "warmode", (mode,):
            new, predicate, types = notation.warmode_from_term(mode)
            draft.modes.append(new)
            draft.declare(predicate, types)
        case "type", (declaration,):
            predicate, types = notation.types_from_term(declaration)
            draft.types[predicate] = types
        case "typed_language", (choice,):
            draft.sets_typed = True
            draft.parts["typed"] = _one_of(name, choice, ("yes", "no")) == "yes"
        case "predict", (target,):
            draft.parts["predict"], types = notation.predict_from_term(target)
            assert isinstance(target, Compound)
            draft.types.setdefault((target.name, len(target.args)), types)
        case "euclid", (Compound() as target, Variable() as value):
            draft.parts["predict"] = Literal(
                target.name,
                tuple(
                    Var("-", "value")
                    if argument is value
                    else Var("+", argument.name)
                    if isinstance(argument, Variable)
                    else Var("", "_")
                    for argument in target.args
                ),
            )
        case "root", (conjunction,):
            draft.root = conjunction
        case "lookahead", (first, then):
            draft.append("lookahead", notation.lookahead_from_terms(first, then))
        case "auto_lookahead", (first, names):
            draft.append("auto_lookahead", notation.auto_lookahead_from_terms(first, names))
        case "to_be_discretized", (literal, int() as number, tuple() as names):
            listed = tuple(item.name for item in names if isinstance(item, Variable))
            draft.append(
                "discretizations", Discretization(notation.literals_from_term(literal)[0], number, listed)
            )
        case "classes", (tuple() as classes,):
            draft.settings["classes"] = classes
        case "load", (form,):
            draft.parts["implicit_key"] = _FORMS[_one_of(name, form, tuple(_FORMS))]
        case "execute", (command,):
            _read_command(command, draft)
        case _:
            return _read_growth(name, args, draft)
    return True


def _read_growth(name: str, args: tuple[Term, ...], draft: _Draft) -> bool:
    match name, args:
        case "tilde_mode", (mode,):
            if mode not in {"classify", "classification", "regression", "regress"}:
                raise PrologError(
                    f"tilde_mode({term_text(mode)}) is not supported; use classify or regression"
                )
            draft.settings["regression"] = str(mode).startswith("regress")
        case "heuristic", (choice,):
            draft.settings[name] = _one_of(name, choice, HEURISTICS)
        case "pruning", (choice,):
            draft.settings[name] = _one_of(name, choice, PRUNINGS)
        case "discretize", (choice,):
            draft.settings[name] = _one_of(name, choice, DISCRETIZATIONS)
        case "tilde_maxdepth", (int() as number,):
            draft.settings["max_depth"] = number
        case "m_estimate", (Compound("m", (int() | float() as weight,)) | (int() | float() as weight),):
            draft.settings["m_estimate"] = float(weight)
        case "m_estimate", ("none",):
            pass
        case _, (int() | float() as number,) if name in _NUMBERS:
            draft.settings[name] = number
        case _, ("inf",) if name in {*_NUMBERS, "tilde_maxdepth"}:
            pass
        case _:
            return False
    return True


def _one_of(name: str, choice: Term, known: tuple[str, ...]) -> str:
    aliases = _YES_OR_NO if "yes" in known else _ALIASES
    value = aliases.get(choice, choice) if isinstance(choice, str) else choice
    if not isinstance(value, str) or value not in known:
        raise PrologError(
            f"{name}({term_text(choice)}) is not supported; use one of {', '.join(sorted(known))}"
        )
    return value


def _read_command(command: Term, draft: _Draft) -> None:
    match command:
        case Compound("nfold", ("tilde" | "t", int() as number, *_)):
            draft.settings["n_folds"] = number
        case "t" | "tilde" | "q" | "quit" | Compound("loofl", ("tilde" | "t", tuple())):
            pass
        case _:
            raise PrologError(
                f"execute({term_text(command)}) is not supported; use t, tilde, nfold(tilde,10), "
                "loofl(tilde,[1]) or q"
            )
