"""Tests of scikit-learn that do not apply to crosscut, each with its reason."""

NOT_APPLICABLE = {
    "test_tree": {
        "test_importances": "compares crosscut's importances with scikit-learn's to the last bit",
        "test_sample_weight_invalid": "expects scikit-learn's TypeError for an array without dimensions; "
        "crosscut raises a ValueError that names sample_weight and the number of rows",
        "test_huge_allocations": "expects that memory is taken for 2^63 leaves; crosscut takes what it needs",
        "test_deterministic_pickle": "pickles two fits and compares their bytes; crosscut's hold the seconds "
        "that growing took (Forest.work)",
    },
    "test_validation": {},
    "test_search": {
        "test_custom_run_search": "compares with a search of scikit-learn's own on a full-depth tree, where "
        "nearly every small node has tests of equal quality: scikit-learn draws one of them, crosscut takes "
        "the first",
    },
}
