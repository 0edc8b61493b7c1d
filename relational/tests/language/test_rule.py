from crosscut_relational.language.rule import Goal, Rule


def test_a_rule_of_one_test_of_its_arguments_can_be_negated_in_place():
    less = Rule("less", 2, ((Goal("<", (0, 1)),),), frozenset({0, 1}))
    assert less.is_test
    close = Rule("close", 2, ((Goal("charge", (0, 2)), Goal("<", (2, 1))),), frozenset({1}))
    assert not close.is_test
    has = Rule("has", 1, ((Goal("part", (0, 1)),),), frozenset())  # "no part" is about all of them
    assert not has.is_test
    either = Rule("either", 1, ((Goal("p", (0,)),), (Goal("q", (0,)),)), frozenset())
    assert not either.is_test
