"""Reading and writing the model files of trees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut.estimators.stored_trees import TYPES, read_trees
from crosscut.estimators.tree_classifier import TreeClassifier
from crosscut.estimators.tree_regressor import TreeRegressor
from crosscut.forest.forest import Forest
from crosscut.forest.pruning_table import COLUMNS, PruningTable
from crosscut.statistics.validation import TreeValidation
from crosscut.training.fit import Fit
from crosscut.training.parameters import check_parameters, measure_of
from crosscut.training.stored import described, need, read_described, read_groups, read_held_out, read_weights
from crosscut.training.train import with_loss

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosscut.forest.smaller_trees import Measure


def written(model: Any, fit: Fit) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the header and the arrays of a file with this fit."""
    header = described(model, fit)
    header["columns"]["missing"] = None if fit.n_missing is None else fit.n_missing.tolist()
    header["ccp_alpha"] = fit.alpha
    work = fit.forest.work or {}
    header["work"] = {name: np.asarray(counts).tolist() for name, counts in work.items()}
    arrays = {name: getattr(fit.forest.packed, name) for name in TYPES}
    if fit.forest.packed.loss is not None:
        arrays["loss"] = fit.forest.packed.loss
    cv: Any = fit.validation
    if cv is None:
        return header, arrays
    arrays |= {
        "held_out_rows": cv.held_out.rows,
        "held_out_start": cv.held_out.row_start,
        "held_out_leaf": cv.held_out.leaf,
        "y": cv.y,
    }
    if cv.weights is not None:
        arrays["row_weights"] = cv.weights
    if cv.groups is not None:
        arrays["groups"] = cv.groups
    if cv.chosen_scores is not None:
        arrays["scores"] = cv.chosen_scores
    table = fit.chosen_by
    if table is not None:
        arrays |= {f"pruning_{name}": getattr(table, name) for name in COLUMNS}
    return header, arrays


def read(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> TreeClassifier | TreeRegressor:
    """Return the fitted tree of a file."""
    model = TreeClassifier() if header["model"] == "TreeClassifier" else TreeRegressor()
    schema, classes = read_described(header, model)
    if "loss" in arrays:
        model.loss = arrays["loss"].tolist()
    check_parameters(model)
    classifies = isinstance(model, TreeClassifier)
    need(classifies == (classes is not None), "the classes do not fit the learner")
    need(classes is None or len(classes), "there are no classes")
    packed = read_trees(arrays, schema, 0 if classes is None else len(classes))
    work = {str(name): np.array(counts, dtype=np.float64) for name, counts in header["work"].items()}
    need(all(counts.ndim == 1 for counts in work.values()), "the counts of levels are wrong")
    forest = with_loss(model, Forest(packed, work or None), classes)
    packed = forest.packed
    # the cost belongs to the trees before pruning, which are not in the file
    pruned = "pruning_alpha" in arrays or model.ccp_alpha > 0 or model.prune == "pessimistic"
    model.fit_ = Fit(
        learner=header["model"],
        settings=model.get_params(deep=False),
        schema=schema,
        classes=classes,
        target=str(header["target"]),
        forest=forest,
        grown=Forest(packed) if pruned else forest,
        validation=_validation(arrays, forest, classes, measure_of(model)),
        alpha=float(header["ccp_alpha"]),
        chosen_by=_pruning_table(arrays, measure_of(model) if classifies else "error"),
        n_missing=_counts(header["columns"].get("missing"), len(schema)),
    )
    return model


def _counts(missing: Any, n_columns: int) -> NDArray[np.int64] | None:
    if missing is None:
        return None
    whole = all(type(n) is int and 0 <= n < 2**62 for n in missing)
    need(whole and len(missing) == n_columns, "the numbers of missing values are invalid")
    return np.array(missing, np.int64)


def _scores(arrays: dict[str, NDArray[Any]], n_folds: int) -> NDArray[np.float64] | None:
    scores = arrays.get("scores")
    sound = scores is None or (scores.shape == (n_folds,) and scores.dtype == np.float64)
    need(sound, "there must be one score per fold")
    return scores


def _validation(
    arrays: dict[str, NDArray[Any]], forest: Forest, classes: NDArray[Any] | None, by: Measure
) -> TreeValidation | None:
    if "y" not in arrays:
        return None
    packed = forest.packed
    is_leaf = np.split(packed.feature < 0, packed.node_start[1:-1])
    held_out, y = read_held_out(arrays, is_leaf, classes)
    weights = read_weights(arrays, len(y))
    scores = _scores(arrays, packed.n_trees - 1)
    found = TreeValidation(forest, held_out, y, classes, weights, chosen_scores=scores, prune_by=by)
    found.groups = read_groups(arrays, len(y))
    return found


def _pruning_table(arrays: dict[str, NDArray[Any]], by: Measure) -> PruningTable | None:
    if "pruning_alpha" not in arrays:
        return None
    length = len(arrays["pruning_alpha"])
    unknown = np.full(length, np.nan)  # in files of earlier versions
    columns: dict[str, Any] = {name: arrays[f"pruning_{name}"] for name in COLUMNS if name != "paired_error"}
    sound = all(column.shape == (length,) and np.all(np.isfinite(column)) for column in columns.values())
    columns["paired_error"] = paired = arrays.get("pruning_paired_error", unknown)
    sound = sound and paired.shape == (length,) and not np.any(np.isinf(paired))
    need(length and sound, "the pruning table is wrong")
    return PruningTable(**columns, by=by)
