import pytest

from crosscut_relational.database.database import Database
from crosscut_relational.language.bias import Bias
from crosscut_relational.queries.growth import signature_of
from crosscut_relational.queries.printing import query_text
from crosscut_relational.queries.queries import Facts, Queries
from crosscut_relational.queries.refinement import Path
from crosscut_relational.queries.resolve import resolve

TYPES = ["atom(mol,id,element)", "bond(mol,id,id,order)"]
DATABASE = """
    active(m1,yes). atom(m1,a,c). atom(m1,b,n). bond(m1,a,b,1).
    active(m2,no). atom(m2,d,c). bond(m2,d,d,2).
"""


class Language:
    def __init__(self, modes, **settings):
        db = Database.from_prolog(DATABASE, predict="active(+mol,-class)", types=TYPES)
        language = resolve(Bias.of(modes, types=TYPES, **settings), db)
        self.queries = Queries(Facts.of(db, language), language)
        self.signature = signature_of(self.queries.facts, language)

    def tests(self, *chosen):
        """Candidates after a path of tests, each chosen by its text; the path's goals stand before them."""
        path, goals = Path.root(self.queries), ()
        for text in chosen:
            found = {self.text(goals, test): test for test in self.refinements(path)}
            test = found[text]
            path, goals = test.path, goals + test.goals
        return [self.text(goals, test) for test in self.refinements(path)]

    def refinements(self, path):
        candidates = path.candidates(self.queries)
        order = self.queries.store.order(candidates, path.ages)
        return [path.extend(self.queries, candidates, number) for number in order]

    def text(self, before, test):
        whole = query_text((*before, *test.goals), self.signature)
        prefix = query_text(before, self.signature)
        return whole[len(prefix) + 1 :] if prefix else whole


def test_an_input_takes_bound_variables_of_its_type_only():
    language = Language(["bond(+M,+A,-B,-O)", "atom(+M,-A,-E)"])
    assert language.tests() == ["atom(A,B,C)"]
    assert language.tests("atom(A,B,C)") == ["bond(A,B,D,E)", "atom(A,D,E)"]


def test_variables_are_tried_from_the_newest_and_a_new_one_last():
    language = Language(["atom(+M,-A,-E)", "bond(+M,+A,+-B,-O)"])
    assert language.tests("atom(A,B,C)", "atom(A,D,E)")[1:] == [
        "bond(A,D,D,F)", "bond(A,D,B,F)", "bond(A,D,F,G)",
        "bond(A,B,D,F)", "bond(A,B,B,F)", "bond(A,B,F,G)",
    ]  # fmt: skip


def test_constants_come_in_their_order():
    assert Language(["atom(+M,-A,#[n,c,o])"]).tests() == ["atom(A,B,n)", "atom(A,B,c)", "atom(A,B,o)"]
    assert Language(["atom(+M,-A,#)"]).tests() == ["atom(A,B,c)", "atom(A,B,n)"]


def test_lookahead_adds_the_second_literal_to_the_first():
    lookahead = [("bond(M,A,B,O)", "atom(M,B,#[c,n])")]
    language = Language(["atom(+M,-A,-E)", "bond(+M,+A,-B,-O)"], lookahead=lookahead)
    assert language.tests("atom(A,B,C)")[1:] == [
        "bond(A,B,D,E)", "bond(A,B,D,E),atom(A,D,c)", "bond(A,B,D,E),atom(A,D,n)",
    ]  # fmt: skip
    none = Language(["atom(+M,-A,-E)", "bond(+M,+A,-B,-O)"], lookahead=lookahead, max_lookahead=0)
    assert none.tests("atom(A,B,C)")[1:] == ["bond(A,B,D,E)"]


def test_automatic_lookahead_lets_any_mode_follow_that_uses_the_variable():
    language = Language(["atom(+M,-A,#[c,n])", "bond(+M,+A,-B,-O)"], auto_lookahead=[("atom(M,A,E)", ["A"])])
    assert language.tests() == [
        "atom(A,B,c)", "atom(A,B,c),bond(A,B,C,D)", "atom(A,B,n)", "atom(A,B,n),bond(A,B,C,D)",
    ]  # fmt: skip


def test_a_conjunction_is_one_test():
    language = Language(["(atom(+M,-A,#[c]), bond(+M,A,-B,-O))"])
    assert language.tests() == ["atom(A,B,c),bond(A,B,C,D)"]


def test_variables_of_a_negated_literal_are_not_seen_later():
    language = Language(["\\+ atom(+M,-A,#[n])", "bond(+M,+A,-B,-O)"])
    assert language.tests("\\+atom(A,B,n)") == ["\\+atom(A,C,n)"]  # no bond: its input is not bound


def test_a_literal_that_is_on_the_path_is_not_offered_again():
    language = Language(["atom(+M,+-A,#[c])"])
    assert language.tests("atom(A,B,c)") == ["atom(A,C,c)"]


@pytest.mark.parametrize("depth", [1, 2])
def test_exhaustive_lookahead_lets_all_modes_follow(depth):
    language = Language(["atom(+M,-A,#[c])"], exhaustive_lookahead=depth, max_lookahead=0)
    assert [text.count("atom") for text in language.tests()] == list(range(1, depth + 2))
