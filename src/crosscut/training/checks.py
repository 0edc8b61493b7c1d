"""Check the input of estimators: quick checks for plain arrays and frames, scikit-learn's for the rest.

scikit-learn's validation takes longer than growing the trees of a small table. For NumPy arrays of numbers
and frames with distinct column names, the quick checks accept exactly what scikit-learn accepts.
"""

from __future__ import annotations

import math
from numbers import Real
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import check_array, column_or_1d
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from crosscut import _core
from crosscut.data.columns import is_missing
from crosscut.data.frames import check_arrow, coded_text, names_of_frame
from crosscut.data.target import MOST_CLASSES, coded_classes

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray
    from sklearn.base import BaseEstimator
    from sklearn.utils import Tags

    from crosscut.typing import ClassWeight, ColumnLike, TableLike

_SAME_IN_NUMPY = {"int64", "double", "bool"}  # Arrow's types that NumPy keeps without conversion


def is_plain(X: TableLike) -> bool:
    """Whether X is a non-empty NumPy matrix of numbers."""
    return type(X) is np.ndarray and X.ndim == 2 and X.dtype.kind in "fiub" and X.size > 0


def is_frame(X: TableLike) -> bool:
    """Whether X has named, typed columns."""
    return hasattr(type(X), "__dataframe__") or hasattr(type(X), "__arrow_c_stream__")


def whole(X: TableLike) -> TableLike:
    """Return X in a form scikit-learn can index: collect lazy frames, convert record batches to tables."""
    kind = type(X)  # hasattr is slow on frame instances, so test the type
    if kind is np.ndarray:
        return X
    if hasattr(kind, "collect_schema") and hasattr(kind, "collect"):
        return X.collect()
    if hasattr(kind, "__arrow_c_array__") and hasattr(kind, "schema") and not hasattr(kind, "to_batches"):
        import pyarrow as pa

        return pa.table(X)
    if hasattr(kind, "__arrow_c_stream__") and not hasattr(X, "shape"):  # a stream of record batches
        import pyarrow as pa

        return pa.table(X)
    return X


def read_table(estimator: BaseEstimator, X: TableLike, *, reset: bool) -> TableLike:
    """Check X and store its columns, or compare them with the stored ones; return X for ``Table``."""
    X = whole(X)
    if isinstance(X, (str, PathLike)):
        raise TypeError(
            f"X must be a table here, not the path {str(X)!r}; use crosscut.read_file, because only fit of "
            "TreeClassifier and TreeRegressor reads files"
        )
    names = [] if is_plain(X) else names_of_frame(X)
    if names is None:
        _check_is_table(X)
    if names is not None and reset:
        estimator.__dict__.pop("feature_names_in_", None)
        if names:
            estimator.feature_names_in_ = np.array(names, dtype=object)
    elif names is None or names != list(getattr(estimator, "feature_names_in_", ())):
        X = X if reset else known_columns(estimator, X)
        check_names(estimator, X, reset=reset)
    if names is None and not is_frame(X):
        if getattr(getattr(X, "dtype", None), "kind", "") == "c":  # scikit-learn's message has all numbers
            raise ValueError(
                f"Complex data not supported: X is {X.dtype}; use X.real, or two columns of numbers"
            )
        X = check_array(X, dtype=None, ensure_all_finite=False, estimator=estimator, input_name="X")
        if X.dtype.kind == "O":
            X = _numbers_if_possible(X)
    n_features = X.shape[1]
    if reset:
        estimator.n_features_in_ = n_features
    elif n_features != estimator.n_features_in_:
        raise ValueError(
            f"X has {n_features} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input"
        )
    return X


def check_names(estimator: BaseEstimator, X: TableLike, *, reset: bool = True) -> None:
    """Store the column names of X in ``feature_names_in_``, or compare them, as scikit-learn does."""
    validate_data(estimator, X, reset=reset, skip_check_array=True, ensure_2d=False)


def _check_is_table(X: TableLike) -> None:
    """Refuse what is not a table, with the remedy for rows, columns and dicts."""
    if X is None or type(X) in {str, bytes, dict, set}:  # a sparse matrix may be a subclass of dict
        raise TypeError(
            f"X is {'None' if X is None else 'a ' + type(X).__name__}; pass a two-dimensional array or a "
            "pandas, polars or Arrow frame, for example pandas.DataFrame(X)"
        )
    shape = getattr(X, "shape", None)
    if isinstance(X, (list, tuple)) and X and not any(np.ndim(row) for row in X[:1]):
        shape = (len(X),)
    if shape is not None and len(shape) == 1:  # worded like scikit-learn's, whose checks look for it
        what = f"a {type(X).__name__} of length {shape[0]}"
        remedy = "X.reshape(1, -1) is one row, X.reshape(-1, 1) is one column"
        if hasattr(X, "iloc"):
            remedy = "df.iloc[[0]] is a table of one row, df[['a']] of one column"
        raise ValueError(f"Expected 2D array, got 1D array instead: X is {what}. Reshape your data: {remedy}")


def known_columns(estimator: BaseEstimator, X: TableLike) -> TableLike:
    """Return the columns that the estimator was fitted on, in its order, if the frame has them all."""
    known = list(getattr(estimator, "feature_names_in_", ()))
    if not known or not is_frame(X):
        return X
    import narwhals as nw

    frame = nw.from_native(X, eager_only=True)
    if frame.columns == known or not set(known) <= set(frame.columns):
        return X
    return frame.select(known).to_native()


def _numbers_if_possible(X: NDArray[Any]) -> NDArray[Any]:
    """Return objects as numbers if none is text or None."""
    if any(isinstance(value, str) or value is None for value in X.ravel().tolist()):
        return X
    return np.asarray(check_array(X, dtype=np.float64, ensure_all_finite=False))


def read_classes(
    y: ColumnLike, n_rows: int, n_jobs: int | None = None
) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """Return the classes in sorted order, and each row's class code."""
    classes, codes = _read_classes(y, n_rows, n_jobs)
    if len(classes) > MOST_CLASSES:
        raise ValueError(
            f"y has {len(classes):,} classes; at most {MOST_CLASSES:,} are possible; "
            "use TreeRegressor to predict numbers"
        )
    return classes, codes


def _read_classes(y: ColumnLike, n_rows: int, n_jobs: int | None) -> tuple[NDArray[Any], NDArray[np.int32]]:
    check_arrow(y=y)
    coded = coded_text(y)
    if coded and len(coded.codes) == n_rows and coded.codes.min() >= 0 and not coded.ordered:
        return np.array(coded.categories, "U" if hasattr(type(y), "to_pylist") else object), coded.codes
    y = _plain_column(y, "iubUO")
    simple = type(y) is np.ndarray and y.ndim == 1 and len(y) > 0
    if not simple or not (y.dtype.kind in "iubU" or (y.dtype.kind == "O" and set(map(type, y)) == {str})):
        y = _column(y, "classifier")
        try:
            check_classification_targets(y)
        except ValueError as error:
            what, advice = str(error).partition(".")[0], "classes must be text, booleans or whole numbers"
            if y.dtype.kind == "f":
                advice = (
                    f"y holds numbers such as {y[y != np.round(y)][0]}; use TreeRegressor to predict numbers"
                )
            raise ValueError(f"{what}: {advice}") from error
    _check_length(y, n_rows)
    return coded_classes(y, n_jobs)


def read_numbers(y: ColumnLike, n_rows: int) -> NDArray[np.float64]:
    """Return the targets of a regression as doubles."""
    check_arrow(y=y)
    y = _plain_column(y, "fiub")
    if type(y) is not np.ndarray or y.ndim != 1 or y.dtype.kind not in "fiub" or len(y) == 0:
        y = _column(y, "regressor")
        if y.dtype.kind not in "fiub":
            try:
                y = y.astype(np.float64)
            except (ValueError, TypeError) as error:
                text = next(value for value in y.tolist() if isinstance(value, str))
                raise ValueError(
                    f"y holds text such as {text!r}, but this estimator predicts numbers: {error}; "
                    "use TreeClassifier to predict classes"
                ) from error
    _check_length(y, n_rows)
    numbers: NDArray[np.float64] = np.ascontiguousarray(y, dtype=np.float64)
    if not math.isfinite(_core.spread_of(numbers, 0.0)[0]):
        _check_known(numbers)
    return numbers


class PredictionMethods:
    """Mixin of estimators: ``score`` that validates Arrow data, and ``predict_log_proba``."""

    predict: Callable[[TableLike], NDArray[Any]]
    predict_proba: Callable[[TableLike], NDArray[np.float64]]

    @available_if(is_classifier)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: TableLike) -> NDArray[np.float64]:
        """Return the logarithm of ``predict_proba``, minus infinity where a probability is 0.

        Parameters
        ----------
        X : array or frame (rows, columns)
            Rows to classify.
        """
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))

    def score(self, X: TableLike, y: ColumnLike, sample_weight: ColumnLike = None) -> float:
        """Return the accuracy, or R², of the predictions for rows with these targets.

        Parameters
        ----------
        X : array or frame (rows, columns)
            Rows to predict.
        y : array (rows,)
            Their classes or numbers.
        sample_weight : array (rows,), optional
            Weights of the rows.
        """
        from sklearn.metrics import accuracy_score, r2_score

        check_arrow(y=y, sample_weight=sample_weight)
        measure = accuracy_score if is_classifier(self) else r2_score
        return float(measure(y, self.predict(X), sample_weight=sample_weight))


def read_weights(sample_weight: ColumnLike, n_rows: int) -> NDArray[np.float64] | None:
    """Return the sample weights, or None if there are none.

    They are kept even if all are 1: weighted tests are compared exactly, and a fold whose rows all weigh 1
    must equal a refit on them.
    """
    if sample_weight is None:
        return None
    check_arrow(sample_weight=sample_weight)
    if isinstance(sample_weight, Real):
        sample_weight = np.full(n_rows, sample_weight)
    options = {"ensure_2d": False, "ensure_min_samples": 0, "input_name": "sample_weight"}
    try:
        weights: NDArray[np.float64] = check_array(
            sample_weight, dtype=np.float64, order="C", copy=True, **options
        )
    except (TypeError, ValueError) as error:
        if "sample_weight" in str(error):
            raise
        raise ValueError(f"sample_weight must be numbers: {error}") from None
    if weights.shape != (n_rows,):
        size = f"{len(weights)} values" if weights.ndim == 1 else f"shape {weights.shape}"
        raise ValueError(f"sample_weight has {size}, but X has {n_rows} rows; pass one per row")
    if not weights.any():
        raise ValueError("sample_weight is zero in every row; at least one row needs a positive weight")
    if weights.min() < 0:
        raise ValueError(f"sample_weight must not be negative, not {weights.min()}")
    return weights


def read_class_weights(
    class_weight: ClassWeight, codes: NDArray[np.int32], classes: NDArray[Any]
) -> NDArray[np.float64] | None:
    """Return the weight of each class, or None if there are no class weights."""
    if class_weight is None:
        return None
    names = classes.tolist()
    unknown = [name for name in class_weight if name not in names] if isinstance(class_weight, dict) else []
    if unknown:
        raise ValueError(f"class_weight names {unknown[0]!r}, which is not among the classes {names}")
    if not isinstance(class_weight, dict) and class_weight != "balanced":
        raise ValueError(
            f"class_weight must be 'balanced', a dict of weights by class or None, not {class_weight!r}"
        )
    weights = np.asarray(
        compute_class_weight(class_weight, classes=classes, y=classes[codes]), dtype=np.float64
    )
    if not (weights >= 0).all():
        raise ValueError(
            f"class_weight must not be negative, but it is {weights.min():g} for {names[weights.argmin()]!r}"
        )
    return weights


def with_class_weights(
    weights: NDArray[np.float64] | None, class_weights: NDArray[np.float64] | None, codes: NDArray[np.int32]
) -> NDArray[np.float64] | None:
    """Return sample weights times class weights, or None if there are neither."""
    if class_weights is not None:
        weights = class_weights[codes] if weights is None else weights * class_weights[codes]
    if weights is not None and not weights.any():
        raise ValueError(
            "class_weight is zero for every row with a positive weight, which leaves no rows to train on"
        )
    return weights


def _plain_column(y: ColumnLike, kinds: str) -> ColumnLike:
    """Return a pandas, polars or Arrow column of these kinds as a NumPy array, which is faster to check."""
    array, of = y, type(y)  # hasattr is slow on column instances, so test the type
    if hasattr(of, "to_pylist"):
        array = y.to_numpy(zero_copy_only=False) if not y.null_count and str(y.type) in _SAME_IN_NUMPY else y
    elif hasattr(of, "to_numpy"):
        array = y.to_numpy()
    return array if getattr(array, "ndim", 0) == 1 and array.dtype.kind in kinds else y


def _column(y: ColumnLike, what: str) -> NDArray[Any]:
    if y is None:
        raise ValueError(f"This {what} requires y to be passed, but the target y is None")
    if isinstance(y, (str, bytes)):
        raise TypeError(
            f"y must be one value per row, not the text {y!r}; pass the column, for example X[{y!r}]"
        )
    if hasattr(y, "to_pylist"):  # Arrow's to_numpy refuses to copy by default
        y = np.asarray(y.to_pylist())
    elif hasattr(y, "to_numpy"):
        y = y.to_numpy()
    elif isinstance(y, (list, tuple)) and any(map(is_missing, y)):
        y = np.asarray(y, dtype=object)
    if isinstance(y, np.ndarray) and y.dtype.kind in "fO":
        _check_known(y.ravel())
    y = check_array(
        y, ensure_2d=False, dtype=None, input_name="y", ensure_all_finite=True, ensure_min_samples=0
    )
    if y.ndim == 2 and y.shape[1] > 1:
        raise ValueError(f"y must be one column, not an array of shape {y.shape}; fit one model per output")
    return np.asarray(column_or_1d(y, warn=True))


def _check_known(y: NDArray[Any]) -> None:
    """Refuse targets with missing or infinite values; name the first such row."""
    unknown = ~np.isfinite(y) if y.dtype.kind == "f" else np.fromiter(map(is_missing, y), bool, len(y))
    if unknown.any():
        row = int(unknown.argmax())
        what = "infinity" if y.dtype.kind == "f" and np.isinf(y[row]) else "NaN"
        raise ValueError(
            f"Input y contains {what}: y is {y[row]} in {unknown.sum():,} row(s), first in row {row}; "
            "remove rows without a known target"
        )


def _check_length(y: NDArray[Any], n_rows: int) -> None:
    if len(y) != n_rows:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: X has {n_rows} rows, y has {len(y)}"
        )


def table_tags(tags: Tags) -> Tags:
    """Declare that an estimator accepts missing values, categories and text."""
    tags.input_tags.allow_nan = True
    tags.input_tags.categorical = True
    tags.input_tags.string = True
    return tags
