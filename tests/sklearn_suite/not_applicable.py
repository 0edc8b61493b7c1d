"""Tests of scikit-learn that do not apply to crosscut, each with its reason."""

NOT_APPLICABLE = {
    "test_tree": {},
    "test_validation": {},
    "test_search": {
        "test_custom_run_search": "compares with a search of scikit-learn's own on a full-depth tree, where "
        "nearly every small node has tests of equal quality: scikit-learn draws one of them, crosscut takes "
        "the first",
    },
}
