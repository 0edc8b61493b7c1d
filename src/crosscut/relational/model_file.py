"""Relational trees in model files (docs/model-format.md); nothing in a file is run, and all is checked."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

import crosscut
from crosscut.model_file.container import ModelFileError, write_container
from crosscut.relational.constants import Constants
from crosscut.relational.growth import Level, RelationalForest
from crosscut.relational.prolog import PrologError, read_term
from crosscut.relational.rule import Goal
from crosscut.relational.settings import Settings
from crosscut.relational.terms import Variable, term_text
from crosscut.relational.tree import Node, RelationalTree, Signature

if TYPE_CHECKING:
    from os import PathLike

    from numpy.typing import NDArray

    from crosscut.relational.estimators import RelationalTreeClassifier, RelationalTreeRegressor
    from crosscut.relational.terms import Constant

    RelationalModel: TypeAlias = RelationalTreeClassifier | RelationalTreeRegressor

MODELS = ("RelationalTreeClassifier", "RelationalTreeRegressor")
MOST_DEPTH = 500  # of a tree that is read; walks over it are recursive
_SETTINGS = [field.name for field in fields(Settings) if field.name not in {"classes", "folds", "commands"}]


def save(model: RelationalModel, path: str | PathLike[str]) -> None:
    """Write the pruned trees of a fitted model, and what its cross-validation held out."""
    trees = model.forest_.pruned
    signature = trees[0].signature
    used = Constants()

    def goal(each: Goal) -> list[Any]:
        terms = signature.constants.terms
        return [each.name, [a if a >= 0 else ~used.intern(terms[~a]) for a in each.args], each.negated]

    nodes = [list(tree.root.walk()) for tree in trees]
    tests: dict[tuple[Goal, ...], int] = {}
    for node in (node for tree in nodes for node in tree):
        if node.test:
            tests.setdefault(node.test, len(tests))
    settings = {name: value for name, value in asdict(model.settings_).items() if name in _SETTINGS}
    header = {
        "crosscut": crosscut.__version__,
        "model": type(model).__name__,
        "target": signature.target_name,
        "step_limit": model.step_limit,
        "settings": settings,
        "tests": [[goal(each) for each in test] for test in tests],
        "signature": {
            "n_keys": signature.n_keys,
            "n_fixed": signature.n_fixed,
            "root": [goal(each) for each in signature.root],
            "hidden_key": sorted([name, arity] for name, arity in signature.hidden_key),
            "implicit_key": signature.implicit_key,
        },
        "classes": [_written(name) for name in trees[0].classes],
        "levels": [list(asdict(level).values()) for level in model.forest_.levels],
    }
    # interned while the tests were written
    header["constants"] = [_written(constant) for constant in used.terms]
    flat = [node for tree in nodes for node in tree]
    arrays: dict[str, NDArray[Any]] = {
        "node_start": np.cumsum([0, *map(len, nodes)]).astype(np.int64),
        "test": np.array([tests[node.test] if node.test else -1 for node in flat], np.int32),
        "no": np.array([number for tree in nodes for number in _no_branches(tree)], np.int32),
        "n_variables": np.array([node.n_variables for node in flat], np.int32),
        "prediction": np.array([node.prediction for node in flat], np.float64),
        "statistics": np.array([node.statistics for node in flat], np.float64),
        "folds": model.folds_.astype(np.int32),
        "held_out": model.forest_.held_out,
        "held_out_leaf": model.forest_.held_out_leaves,
        "y": np.asarray(model._target, np.float64),  # noqa: SLF001, one package
    }
    write_container(path, header, arrays)


def _no_branches(nodes: list[Node]) -> list[int]:
    numbers = {id(node): number for number, node in enumerate(nodes)}
    return [-1 if node.no is None else numbers[id(node.no)] for node in nodes]


def _written(constant: Constant) -> Any:
    """Atoms and numbers as themselves, other terms as Prolog text in a list."""
    return constant if isinstance(constant, str | int | float) else [term_text(constant)]


def _read_constant(stored: Any) -> Constant:
    if isinstance(stored, str | int | float) and not isinstance(stored, bool):
        return stored
    if isinstance(stored, list) and len(stored) == 1 and isinstance(stored[0], str):
        try:
            term = read_term(stored[0])
        except (PrologError, RecursionError) as error:
            raise ModelFileError(f"the constant {stored[0]!r} is no term") from error
        if not isinstance(term, Variable):
            return term
    raise ModelFileError(f"{stored!r} is no constant")


def read(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> RelationalModel:
    """Return the model that a container holds; refuse what does not fit together."""
    from crosscut.relational.estimators import RelationalTreeClassifier, RelationalTreeRegressor

    classes = tuple(map(_read_constant, header["classes"]))
    maker = RelationalTreeClassifier if header["model"] == MODELS[0] else RelationalTreeRegressor
    if (maker is RelationalTreeClassifier) != bool(classes) or len(set(classes)) < len(classes):
        raise ModelFileError("the classes do not fit the model")
    settings = header["settings"]
    if set(settings) != set(_SETTINGS):
        raise ModelFileError("the settings are not those of a relational tree")
    step_limit = header["step_limit"]
    if not isinstance(step_limit, int) or isinstance(step_limit, bool) or step_limit < 1:
        raise ModelFileError(f"the step limit is {step_limit!r}")
    constants = Constants()
    if constants.intern_all(map(_read_constant, header["constants"])).tolist() != list(
        range(len(header["constants"]))
    ):
        raise ModelFileError("the constants are not different from each other")
    signature = _signature(header, constants)
    tests = [tuple(_goal(stored, len(constants)) for stored in test) for test in header["tests"]]
    if not all(tests):
        raise ModelFileError("a test is empty")
    trees = _trees(arrays, tests, signature, classes)
    model = maker(step_limit=step_limit)
    model.settings_ = Settings(**settings)
    model.classes_ = np.array(classes, dtype=object)
    model.target_name_ = signature.target_name
    model.folds_, held_out, leaves, y = _held_out(arrays, trees, len(classes))
    model.n_examples_ = len(y)
    levels = tuple(Level(*map(int, level)) for level in header["levels"])
    model.forest_ = RelationalForest.of(trees, held_out, leaves, levels)
    model._score_folds(y)  # noqa: SLF001, one package
    return model


def _signature(header: dict[str, Any], constants: Constants) -> Signature:
    stored = header["signature"]
    n_keys, n_fixed = stored["n_keys"], stored["n_fixed"]
    if not (_is_count(n_keys) and _is_count(n_fixed) and 1 <= n_keys <= n_fixed):
        raise ModelFileError("the numbers of keys and fixed variables are damaged")
    return Signature(
        constants=constants,
        target_name=_text(header["target"]),
        n_keys=n_keys,
        n_fixed=n_fixed,
        root=tuple(_goal(each, len(constants)) for each in stored["root"]),
        hidden_key=frozenset((_text(name), int(arity)) for name, arity in stored["hidden_key"]),
        implicit_key=bool(stored["implicit_key"]),
    )


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 16


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ModelFileError(f"{value!r} is no name")
    return value


def _goal(stored: Any, n_constants: int) -> Goal:
    name, args, negated = stored
    sound = isinstance(args, list) and len(args) <= 64 and isinstance(negated, bool)
    if not sound or not all(_is_count(a) or (type(a) is int and -n_constants <= a < 0) for a in args):
        raise ModelFileError(f"{stored!r} is no literal")
    return Goal(_text(name), tuple(args), negated)


def _trees(
    arrays: dict[str, NDArray[Any]],
    tests: list[tuple[Goal, ...]],
    signature: Signature,
    classes: tuple[Constant, ...],
) -> tuple[RelationalTree, ...]:
    start, test, no = arrays["node_start"], arrays["test"], arrays["no"]
    n_variables, prediction, statistics = (
        arrays[name] for name in ("n_variables", "prediction", "statistics")
    )
    n = len(test)
    sound = (
        start.ndim == test.ndim == no.ndim == n_variables.ndim == prediction.ndim == 1
        and statistics.shape == (n, len(classes) or 3)
        and len(no) == len(n_variables) == len(prediction) == n
        and len(start) >= 2
        and start[0] == 0
        and start[-1] == n
        and bool(np.all(np.diff(start) > 0))
        and bool(np.all((test >= -1) & (test < len(tests))))
        and bool(np.all((n_variables >= 0) & (n_variables < 1 << 16)))
        and bool(np.all(np.isfinite(prediction)))
        and bool(np.all(np.isfinite(statistics)))
        and (not classes or bool(np.all((prediction >= 0) & (prediction < len(classes)))))
    )
    if not sound:
        raise ModelFileError("the trees are damaged")
    trees = []
    for begin, end in zip(start[:-1].tolist(), start[1:].tolist(), strict=True):
        nodes: list[Node | None] = [None] * (end - begin)
        depth = [0] * (end - begin)
        parents = [0] * (end - begin)
        # children come after their parents, so the last node is made first
        for i in range(end - begin - 1, -1, -1):
            counts, mean = tuple(statistics[begin + i].tolist()), float(prediction[begin + i])
            if test[begin + i] < 0:
                nodes[i] = Node(counts, mean)
                continue
            branch = int(no[begin + i])
            if not i + 1 < branch < end - begin:
                raise ModelFileError("a branch leads nowhere")
            depth[i] = 1 + max(depth[i + 1], depth[branch])
            if depth[i] > MOST_DEPTH:
                raise ModelFileError(f"a tree is deeper than {MOST_DEPTH}")
            parents[i + 1] += 1
            parents[branch] += 1
            own = tests[test[begin + i]]
            nodes[i] = Node(counts, mean, own, int(n_variables[begin + i]), nodes[i + 1], nodes[branch])
        if parents != [0, *[1] * (end - begin - 1)] or nodes[0] is None:
            raise ModelFileError("a node is not the branch of exactly one other")
        trees.append(RelationalTree(nodes[0], signature, classes))
    return tuple(trees)


def _held_out(
    arrays: dict[str, NDArray[Any]], trees: tuple[RelationalTree, ...], n_classes: int
) -> tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.int32], NDArray[Any]]:
    folds, held_out, leaves, y = (arrays[name] for name in ("folds", "held_out", "held_out_leaf", "y"))
    sound = (
        folds.ndim == held_out.ndim == leaves.ndim == y.ndim == 1
        and len(folds) == len(held_out) == len(leaves) == len(y) > 0
        and folds.dtype == leaves.dtype == np.int32
        and bool(np.all((folds >= -1) & (folds < len(trees) - 1)))
        and bool(np.all(np.isfinite(y)))
        and (n_classes == 0 or bool(np.all((y >= 0) & (y < n_classes))))
    )
    if not sound:
        raise ModelFileError("the held-out examples are damaged")
    nodes = [list(tree.root.walk()) for tree in trees]
    for fold, value, leaf in zip(folds.tolist(), held_out.tolist(), leaves.tolist(), strict=True):
        if fold < 0:
            fits = leaf == -1
        else:
            own = nodes[fold + 1]
            fits = 0 <= leaf < len(own) and own[leaf].is_leaf and own[leaf].prediction == value
        if not fits:
            raise ModelFileError("a held-out example is in no leaf")
    return folds, held_out, leaves, y.astype(np.int32) if n_classes else y
