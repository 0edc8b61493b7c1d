"""All private names of scikit-learn in one place, because new versions may move or change them."""

from sklearn.metrics._scorer import _BaseScorer, _MultimetricScorer, _PassthroughScorer
from sklearn.model_selection._validation import (
    _aggregate_score_dicts,
    _normalize_score_results,
    _score,
    _shuffle,
    _translate_train_sizes,
)
from sklearn.tree._tree import NODE_DTYPE
from sklearn.tree._tree import Tree as SklearnTree
from sklearn.utils import _safe_indexing
from sklearn.utils._param_validation import StrOptions, validate_params
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.validation import (
    _check_feature_names,
    _check_method_params,
    _check_sample_weight,
    _get_feature_names,
    _num_samples,
)

__all__ = [
    "NODE_DTYPE",
    "SklearnTree",
    "StrOptions",
    "_BaseScorer",
    "_MultimetricScorer",
    "_PassthroughScorer",
    "_aggregate_score_dicts",
    "_check_feature_names",
    "_check_method_params",
    "_check_sample_weight",
    "_get_feature_names",
    "_normalize_score_results",
    "_num_samples",
    "_safe_indexing",
    "_safe_split",
    "_score",
    "_shuffle",
    "_translate_train_sizes",
    "validate_params",
]
