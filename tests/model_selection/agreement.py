"""Results of a drop-in against scikit-learn's, to 1e-12."""

import numpy as np
from scipy.stats import rankdata

TOLERANCE = {"rtol": 1e-12, "atol": 1e-12, "equal_nan": True}


def assert_same_results(ours, theirs):
    """Compare dicts of arrays as ``cross_validate`` and ``cv_results_`` have them; times cannot be the same.

    scikit-learn sums targets in an order that its random state decides, so two candidates with the very same
    tree may get scores that differ in the last bit, and other ranks: ranks are those of rounded scores here.
    """
    assert list(ours) == list(theirs)
    for key, expected in theirs.items():
        if key.endswith("_time"):
            assert len(ours[key]) == len(expected)
        elif key == "estimator":
            for mine, other in zip(ours[key], expected, strict=True):
                assert_same_tree(mine, other)
        elif key == "indices":
            for part in ("train", "test"):
                for mine, other in zip(ours[key][part], expected[part], strict=True):
                    np.testing.assert_array_equal(mine, other)
        elif key.startswith("rank_"):
            scores = key.replace("rank", "mean", 1)
            np.testing.assert_array_equal(ranks(ours[scores]), ranks(theirs[scores]))
            np.testing.assert_array_equal(ours[key], rankdata(-ours[scores], method="min"))
        elif key == "params":
            assert ours[key] == expected
        elif isinstance(expected, np.ma.MaskedArray):
            assert ours[key].dtype == expected.dtype
            np.testing.assert_array_equal(ours[key].mask, expected.mask)
            assert list(ours[key].compressed()) == list(expected.compressed())
        else:
            assert ours[key].dtype == expected.dtype
            np.testing.assert_allclose(ours[key], expected, err_msg=key, **TOLERANCE)


def ranks(scores):
    """Return the ranks of scores that are equal if they are to nearly 12 digits."""
    return rankdata(-np.round(scores, 11), method="min")


def assert_same_tree(ours, theirs):
    """Compare two fitted scikit-learn estimators: parameters, attributes, and every array of the tree."""
    assert type(ours) is type(theirs)
    assert ours.get_params() == theirs.get_params()
    assert {name for name in vars(ours) if name.endswith("_")} == {
        name for name in vars(theirs) if name.endswith("_")
    }
    for name in ("n_features_in_", "n_outputs_", "max_features_"):
        assert getattr(ours, name) == getattr(theirs, name)
    if hasattr(theirs, "classes_"):
        np.testing.assert_array_equal(ours.classes_, theirs.classes_)
        assert ours.n_classes_ == theirs.n_classes_
    if hasattr(theirs, "feature_names_in_"):
        np.testing.assert_array_equal(ours.feature_names_in_, theirs.feature_names_in_)
    mine, other = ours.tree_, theirs.tree_
    for name in (
        "feature",
        "threshold",
        "children_left",
        "children_right",
        "n_node_samples",
        "missing_go_to_left",
    ):
        np.testing.assert_array_equal(getattr(mine, name), getattr(other, name), err_msg=name)
    for name in ("value", "impurity", "weighted_n_node_samples"):
        np.testing.assert_allclose(getattr(mine, name), getattr(other, name), err_msg=name, **TOLERANCE)
    assert mine.max_depth == other.max_depth
