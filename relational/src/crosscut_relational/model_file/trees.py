"""Write and read relational trees as model files (docs/model-format.md); everything read is checked."""

from __future__ import annotations

from dataclasses import asdict, fields
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut.forest.pruning_table import Objective
from crosscut.training.fit import Fit
from crosscut.training.stored import (
    choice_arrays,
    need,
    read_corrections,
    read_groups,
    read_held_out,
    read_pruning_table,
    read_weights,
    spans,
)
from crosscut_relational.estimators import RelationalTreeClassifier, RelationalTreeRegressor
from crosscut_relational.language.settings import Settings
from crosscut_relational.model_file.language import give_fit, read_language, written_language
from crosscut_relational.queries.growth import Level, RelationalForest
from crosscut_relational.queries.tree import Node, RelationalTree, linked, no_branches
from crosscut_relational.validation import RelationalValidation

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosscut_relational.language.rule import Goal

    Arrays = dict[str, NDArray[Any]]

MAX_DEPTH = 500  # of a tree that is read; walks over it are recursive
_SETTINGS = [field.name for field in fields(Settings) if field.name != "classes"]
_TYPES = {
    "node_start": np.int64,
    "test": np.int32,
    "no": np.int32,
    "prediction": np.float64,
    "statistics": np.float64,
}


def written(model: Any, fit: Fit) -> tuple[dict[str, Any], Arrays]:
    """Return the header and the arrays of a file with this fit: its pruned trees."""
    nodes = [list(tree.root.walk()) for tree in fit.forest]
    flat = [node for tree in nodes for node in tree]
    tests = {test: number for number, test in enumerate(dict.fromkeys(n.test for n in flat if n.test))}
    settings = {name: value for name, value in asdict(fit.grown.settings).items() if name in _SETTINGS}
    header = {
        "settings": settings,
        "levels": [list(asdict(level).values()) for level in fit.grown.levels],
        **written_language(model, fit, tests),
    }
    arrays: Arrays = {
        "node_start": np.cumsum([0, *map(len, nodes)]).astype(np.int64),
        "test": np.array([tests[node.test] if node.test else -1 for node in flat], np.int32),
        "no": np.array([number for tree in nodes for number in no_branches(tree)], np.int32),
        "prediction": np.array([node.prediction for node in flat], np.float64),
        "statistics": np.array([node.statistics for node in flat], np.float64),
    }
    if flat[0].shrunk is not None:
        arrays["shrunk"] = np.array([node.shrunk for node in flat], np.float64)
    cv: Any = fit.validation
    if cv is not None:
        arrays |= {
            "held_out_rows": cv.rows,
            "held_out_start": cv.row_start,
            "held_out_leaf": cv.leaf,
            "y": cv.y,
        }
        if cv.weights is not None:
            arrays["weights"] = cv.weights
        if cv.groups is not None:
            arrays["groups"] = cv.groups
    return header, arrays | choice_arrays(fit)


def read(header: dict[str, Any], arrays: Arrays) -> RelationalTreeClassifier | RelationalTreeRegressor:
    """Return the fitted tree of a file; refuse inconsistent files."""
    classifies = header["model"] == "RelationalTreeClassifier"
    model = RelationalTreeClassifier() if classifies else RelationalTreeRegressor()
    signature, tests, classes = read_language(header, model)
    need(classifies == (classes is not None), "the classes do not fit the model")
    stored = {"shrinkage": None, "ties": "first", **header["settings"]}  # files of earlier versions lack them
    need(set(stored) == set(_SETTINGS), "the settings are not those of a relational tree")
    settings = Settings(**stored)
    names = () if classes is None else tuple(classes)
    trees = tuple(RelationalTree(root, signature, names) for root in _roots(arrays, tests, len(names)))
    levels = tuple(Level(*map(int, level)) for level in header["levels"])
    validation = _validation(arrays, trees, classes, settings)
    objective = Objective() if validation is None else validation.objective
    fit = Fit(
        learner=header["model"],
        settings=model.get_params(deep=False) | ({"prune": settings.pruning} if settings.chooses else {}),
        schema=signature,
        classes=classes,
        target=signature.predicted,
        forest=trees,
        grown=RelationalForest.of(trees, settings, levels),
        validation=validation,
        chosen_by=read_pruning_table(arrays, objective, classifies=classifies) if settings.chooses else None,
    )
    give_fit(model, header, fit)
    return model


def _roots(arrays: Arrays, tests: list[tuple[Goal, ...]], n_classes: int) -> list[Node]:
    start, test, no, prediction, statistics = (arrays[name] for name in _TYPES)
    shrunk_values = arrays.get("shrunk")
    n = len(test)
    sound = (
        all(arrays[name].dtype == kind for name, kind in _TYPES.items())
        and start.ndim == test.ndim == no.ndim == prediction.ndim == 1
        and statistics.shape == (n, n_classes or 3)
        and len(no) == len(prediction) == n
        and spans(start, n)
        and bool(np.all(np.diff(start) > 0))
        and bool(np.all((test >= -1) & (test < len(tests))))
        and bool(np.all(np.isfinite(prediction)))
        and bool(np.all(np.isfinite(statistics)))
        and (
            shrunk_values is None
            or (
                shrunk_values.shape == (n, n_classes)
                and bool(np.all((shrunk_values >= 0) & (shrunk_values <= 1)))
            )
        )
        and (not n_classes or bool(np.all((prediction >= 0) & (prediction < n_classes))))
    )
    need(sound, "its trees do not fit together")
    shrunk = [None] * n if shrunk_values is None else map(tuple, shrunk_values.tolist())
    each = zip(statistics.tolist(), prediction.tolist(), test.tolist(), shrunk, strict=True)
    nodes = [
        Node(tuple(counts), mean, tests[number] if number >= 0 else (), shrunk=values)
        for counts, mean, number, values in each
    ]
    roots = []
    for begin, end in pairwise(start.tolist()):
        _check_shape(test[begin:end] >= 0, no[begin:end].tolist())
        roots.append(linked(nodes[begin:end], no[begin:end].tolist()))
    return roots


def _check_shape(inner: NDArray[np.bool_], no: list[int]) -> None:
    """Check that every node but the first is the branch of one other, and that paths are not too long."""
    depth, parents = [0] * len(no), [0] * len(no)
    for i in range(len(no) - 1, -1, -1):
        if not inner[i]:
            continue
        need(i + 1 < no[i] < len(no), "a branch leads to no node")
        depth[i] = 1 + max(depth[i + 1], depth[no[i]])
        need(depth[i] <= MAX_DEPTH, f"a tree is deeper than {MAX_DEPTH}")
        parents[i + 1] += 1
        parents[no[i]] += 1
    need(parents == [0, *[1] * (len(no) - 1)], "a node is not the branch of exactly one other")


def _validation(
    arrays: Arrays, trees: tuple[RelationalTree, ...], classes: NDArray[Any] | None, settings: Settings
) -> RelationalValidation | None:
    if "y" not in arrays:
        return None
    is_leaf = [np.array([node.is_leaf for node in tree.root.walk()]) for tree in trees]
    held_out, y = read_held_out(arrays, is_leaf, classes)
    need(len(np.unique(held_out.rows)) == len(held_out.rows), "an example is held out twice")
    rows, start = held_out.rows, held_out.row_start
    validation = RelationalValidation(
        trees, rows, start, leaf=held_out.leaf, y=y, classes=classes, settings=settings
    )
    validation.weights = read_weights(arrays, len(y), "weights")
    validation.groups = read_groups(arrays, len(y))
    read_corrections(arrays, validation)
    return validation
