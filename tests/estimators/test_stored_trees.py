import numpy as np
import pytest
from model_file.models import classifier, forged, offset_of

from crosscut.estimators.model_file import TYPES
from crosscut.model_file import ModelFileError, load_model, save_model


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    model, _ = classifier()
    path = tmp_path_factory.mktemp("models") / "m"
    save_model(model, path)
    return path.read_bytes()


def load_changed(tmp_path, saved, name, index, value):
    path = tmp_path / "m"
    path.write_bytes(saved)

    def change(arrays, body):
        kind = np.dtype(TYPES[name])
        at = offset_of(arrays, name) + index * kind.itemsize
        body[at : at + kind.itemsize] = np.array(value, kind).tobytes()

    forged(path, change_body=change)
    return load_model(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("children", 0, 0), "before its parent"),  # the root below itself: a cycle
        (("children", 1, 1), "more than one parent"),
        (("children", 0, 2**31 - 1), "before its parent"),
        (("children", 0, -5), "before its parent"),
        (("node_start", 1, 2**62), "no node|cover"),
        (("node_start", 0, -1), "cover"),
        (("first_child", 1, 2**60), "offsets"),
        (("first_child", 1, -1), "offsets"),
        (("first_branch", 1, 2**40), "offsets"),
        (("branch_start", 1, -4), "branch_start"),
        (("feature", 0, 99), "unknown column"),
        (("feature", 0, -1), "leaf"),
        (("feature", 0, -7), "leaf|column"),
        (("missing", 0, 9), "missing values"),
        (("depth", 1, 7), "depth"),
        (("n_rows", 0, 10**15), "add up"),
        (("value", 0, np.nan), "value"),
        (("value", 0, -1.0), "negative"),
        (("weight", 0, np.inf), "weight"),
        (("impurity", 0, np.nan), "impurity"),
        (("branches", 0, 7), "no branch"),
        (("low", 0, np.inf), "infinite"),
    ],
)
def test_other_estimators_are_refused(tmp_path, saved, change, message):
    with pytest.raises(ModelFileError, match=message):
        load_changed(tmp_path, saved, *change)


def test_thresholds_must_be_numbers(tmp_path, saved):
    path = tmp_path / "m"
    path.write_bytes(saved)
    packed = load_model(path).forest_.packed
    numeric = int(np.flatnonzero(np.isfinite(packed.threshold))[0])
    for value in (np.nan, -np.inf):
        with pytest.raises(ModelFileError, match="threshold"):
            load_changed(tmp_path, saved, "threshold", numeric, value)
