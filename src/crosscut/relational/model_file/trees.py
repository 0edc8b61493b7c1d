"""Relational trees in model files (docs/model-format.md); nothing in a file is run, and all is checked."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

import crosscut
from crosscut.model_file.container import ModelFileError, write_container
from crosscut.relational.language.settings import Settings
from crosscut.relational.model_file.language import checked_step_limit, read_language, written_language
from crosscut.relational.queries.growth import Level, RelationalForest
from crosscut.relational.queries.tree import Node, RelationalTree

if TYPE_CHECKING:
    from os import PathLike

    from numpy.typing import NDArray

    from crosscut.relational.estimators import RelationalTreeClassifier, RelationalTreeRegressor
    from crosscut.relational.language.rule import Goal
    from crosscut.relational.language.terms import Constant
    from crosscut.relational.queries.tree import Signature

    RelationalModel: TypeAlias = RelationalTreeClassifier | RelationalTreeRegressor

MODELS = ("RelationalTreeClassifier", "RelationalTreeRegressor")
MOST_DEPTH = 500  # of a tree that is read; walks over it are recursive
_SETTINGS = [field.name for field in fields(Settings) if field.name not in {"classes", "folds", "commands"}]


def save(model: RelationalModel, path: str | PathLike[str]) -> None:
    """Write the pruned trees of a fitted model, and what its cross-validation held out."""
    trees = model.forest_.pruned
    nodes = [list(tree.root.walk()) for tree in trees]
    tests: dict[tuple[Goal, ...], int] = {}
    for node in (node for tree in nodes for node in tree):
        if node.test:
            tests.setdefault(node.test, len(tests))
    settings = {name: value for name, value in asdict(model.settings_).items() if name in _SETTINGS}
    header = {
        "crosscut": crosscut.__version__,
        "model": type(model).__name__,
        "step_limit": model.step_limit,
        "settings": settings,
        "levels": [list(asdict(level).values()) for level in model.forest_.levels],
        **written_language(trees[0].signature, tests, trees[0].classes),
    }
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


def read(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> RelationalModel:
    """Return the model that a container holds; refuse what does not fit together."""
    from crosscut.relational.estimators import RelationalTreeClassifier, RelationalTreeRegressor

    signature, tests, classes = read_language(header)
    maker = RelationalTreeClassifier if header["model"] == MODELS[0] else RelationalTreeRegressor
    if (maker is RelationalTreeClassifier) != bool(classes):
        raise ModelFileError("the classes do not fit the model")
    settings = header["settings"]
    if set(settings) != set(_SETTINGS):
        raise ModelFileError("the settings are not those of a relational tree")
    step_limit = checked_step_limit(header["step_limit"])
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
