import pytest

from crosscut_relational import RelationalTreeClassifier
from crosscut_relational.database.database import Database
from crosscut_relational.language.bias import Bias, BiasError
from crosscut_relational.language.modes import Const, Key, Var
from crosscut_relational.queries.resolve import resolve

FACTS = """
    mol(1,pos). mol(2,neg). mol(3,pos).
    atom(1,x,c,5). atom(1,y,n,7). atom(2,x,c,1). atom(3,z,o,9).
    ring(1,[x,y]). ring(3,[z]).
    equals(X,X).
    light(M,T) :- atom(M,_,_,V), V < T.
    near(X,Y) :- X < Y + 3, X > Y - 3.
    odd(X,Y) :- X = Y ; X > Y.
"""
TYPES = ["atom(mol,id,element,num)", "ring(mol,list)"]


@pytest.fixture
def database():
    return Database.from_prolog(FACTS, predict="mol(+mol,-class)", types=TYPES)


def texts(language):
    return [str(mode) for mode in language.modes]


def test_constants_are_expanded_in_order_and_numbered(database):
    language = resolve(Bias.of(["atom(+M,-A,#,-N)", "2: atom(+M,+A,#[o,c],#[1,9])"]), database)
    assert texts(language) == [
        "atom(+M,-A,c,-N)",
        "atom(+M,-A,n,-N)",
        "atom(+M,-A,o,-N)",
        "2: atom(+M,+A,o,1)",
        "2: atom(+M,+A,o,9)",
        "2: atom(+M,+A,c,1)",
        "2: atom(+M,+A,c,9)",
    ]
    assert [mode.source for mode in language.modes[2:5]] == [0, 1, 1]
    constant = language.modes[0].literals[0].args[2]
    assert isinstance(constant, Const)
    assert database.constants.terms[constant.id] == "c"


def test_constants_of_a_rule_come_from_columns_of_the_type(database):
    bias = Bias.of(["equals(+E,#)"], types=["equals(element,element)", "atom(mol,id,element,num)"])
    language = resolve(bias, database)
    assert texts(language) == ["equals(+E,c)", "equals(+E,n)", "equals(+E,o)"]


def test_generated_constants(database):
    bias = Bias.of(["#(C: (atom(_,_,c,C), C > 2), light(+M,C))", "#(2*C: atom(_,_,_,C), +X < C)"])
    language = resolve(bias, database)
    assert texts(language) == ["light(+M,5)", "+X < 5", "+X < 9"]


def test_thresholds(database):
    bias = Bias.of(
        ["#(C: threshold(atom(_,_,_,Y),[Y],C), (atom(+M,-A,_,Y), Y < C))"],
        thresholds=[("atom(M,A,E,Y)", "Y", 1)],
        discretize="equal_freq",
    )
    assert [mode.literals[1].args[1].value for mode in resolve(bias, database).modes] == [6.0]


def test_comparison_aliases_are_replaced(database):
    assert texts(resolve(Bias.of(["+X == #[c]", "+X =\\= 3"]), database)) == ["+X = c", "+X \\= 3"]


def test_inputs_of_a_rule_are_not_new_variables(database):
    assert texts(resolve(Bias.of(["light(+M,+-T)"]), database)) == ["light(+M,+T)"]
    with pytest.raises(BiasError, match=r"argument 2 of light/2 must be bound .*light\(M,T\) :- "):
        resolve(Bias.of(["light(+M,-T)"]), database)


def test_rules_with_arithmetic_are_stored(database):
    bias = Bias.of(
        ["near(+X,#[4,6])", "odd(+X,5)", "\\+ light(+M,#[2,6])"],
        types=[*TYPES, "near(num,num)", "odd(num,num)", "light(mol,num)"],
    )
    resolve(bias, database)

    def stored(name):
        return {
            tuple(database.constants.terms[each] for each in row)
            for row in database.relations[name, 2].columns.T
        }

    assert stored("near") == {(5, 4), (5, 6), (7, 6)}
    assert not {("odd", 2), ("light", 2)} & database.relations.keys()


def test_a_rule_whose_domain_is_too_large(database, monkeypatch):
    monkeypatch.setattr("crosscut_relational.queries.stored_rules.MAX_DOMAIN", 3)
    with pytest.raises(BiasError, match=r"near/2 .* more than 3"):
        resolve(Bias.of(["near(+X,#[4,6])"]), database)


def test_member_of_lists(database):
    resolve(Bias.of(["ring(+M,-L)", "member(+A,+L)"]), database)
    assert database.relations["member", 2].n_facts == 3


def test_root(database):
    language = resolve(Bias.of(["light(+M,5)"], root="ring(K,L)"), database)
    assert [(goal.name, goal.args) for goal in language.root] == [("ring", (0, 1))]
    assert language.root_types == ("mol", None)


def test_an_unknown_predicate_is_false_and_warned_about(database):
    with pytest.warns(UserWarning, match="a mode uses bond/3, which has no facts and no rules; it is false"):
        language = resolve(Bias.of(["bond(+M,+A,-B)", "bond(+M,-A,#)"]), database)
    assert texts(language) == ["bond(+M,+A,-B)"]


def test_an_arity_clash_is_an_error(database):
    with pytest.raises(BiasError) as caught:
        resolve(Bias.of(["atom(+M,-A,-E)", "ring(+M)", "atom(+M,-A,-E,-N)", "atom(+M,#,-E)"]), database)
    assert str(caught.value).splitlines() == [
        "a mode uses atom/3, but the database has atom/4",
        "a mode uses ring/1, but the database has ring/2",
    ]


def test_a_template_without_types_is_a_warning(database):
    bias = Bias.of(
        ["atom(+M,-A,-E,-N)"], types=["atom(mol,id,element,num)"], auto_lookahead=[("ring(M,L)", ["L"])]
    )
    with pytest.warns(UserWarning, match="ring/2 has no declared types, but the language is typed"):
        resolve(bias, database)


def test_an_untyped_argument_is_an_error_in_a_typed_language(database):
    with pytest.raises(BiasError, match=r"ring/2 has no declared types.*add type\(ring"):
        resolve(Bias.of(["ring(+M,-L)"], types=["atom(mol,id,element,num)"]), database)


def test_errors_about_thresholds_and_generators(database):
    with pytest.raises(BiasError, match="to_be_discretized"):
        resolve(Bias.of(["#(C: threshold(atom(_,_,_,Y),[Y],C), +X < C)"]), database)
    with pytest.raises(BiasError, match="does not mention D"):
        resolve(Bias.of(["#(D: atom(_,_,_,C), +X < D)"]), database)
    with pytest.raises(BiasError, match="does not bind C"):
        resolve(Bias.of(["#(C: C > 4, +X < C)"]), database)
    with pytest.raises(BiasError, match="no stored relation has an argument of type"):
        resolve(Bias.of(["equals(+X,#)"]), database)
    with pytest.raises(BiasError, match="a root cannot choose constants"):
        resolve(Bias.of([], root="ring(K,#)"), database)


def test_keys_are_added_in_the_models_format(tmp_path):
    (tmp_path / "app.kb").write_text(
        "begin(model(1)). pos. size(3). in(a,b). end(model(1)). begin(model(2)). neg. size(8). end(model(2))."
    )
    (tmp_path / "app.s").write_text(
        """load(models). classes([pos,neg]). typed_language(yes). type(in(obj,obj)). type(size(num)).
        discretize(equal_freq). to_be_discretized(size(Y),1,[Y]).
        rmode(in(+-A,-B)). rmode(#(C: threshold(size(Y),[Y],C), (size(X), X < C))). rmode(#(C: size(C),
        size(C)))."""
    )
    database = Database.from_ace(tmp_path / "app")
    language = resolve(Bias.from_ace(tmp_path / "app"), database)
    assert texts(language) == ["in(Key,+-A,-B)", "size(Key,X), X < 6.0", "size(Key,3)", "size(Key,8)"]
    assert language.types_of("in", 3)[1:] == ("obj", "obj")
    assert language.implicit_key
    assert language.modes[0].literals[0].args[0] == Key(0)


def test_resolving_twice_gives_the_same(database):
    bias = Bias.of(["atom(+M,-A,#,-N)", "near(+X,4)"], types=[*TYPES, "near(num,num)"])
    assert resolve(bias, database).modes == resolve(bias, database).modes


def test_arguments_are_kept(database):
    (mode,) = resolve(Bias.of(["atom(+M,+A,c,5)"]), database).modes
    assert mode.literals[0].args[:2] == (Var("+", "M"), Var("+", "A"))


def test_a_bias_without_keys_fits_any_database(database):
    bias = Bias.of(["atom(-A,#[c],-N)", "light(3)", "equals(+X,c)"], implicit_key=True)
    assert texts(resolve(bias, database)) == ["atom(Key,-A,c,-N)", "light(Key,3)", "equals(+X,c)"]


def test_a_stored_rule_is_still_about_the_example(database):
    bias = Bias.of(["\\+ light(3)"], implicit_key=True)
    for _ in range(2):
        assert texts(resolve(bias, database)) == ["\\+ light(Key,3)"]


def test_rules_that_compute_are_tests_and_predict_new_examples():
    clauses = "near(X,Y) :- X < Y + 3, X > Y - 3. double(X,Y) :- Y is 2*X. "
    types = ["c(k,class)", "v(k,num)", "near(num,num)", "double(num,num)"]

    def database(values):
        facts = "".join(f"c({i},{'ab'[v > 4]}). v({i},{v}). " for i, v in enumerate(values))
        return Database.from_prolog(facts + clauses, predict="c(+k,-class)", types=types)

    known, new = database([i % 10 for i in range(40)]), database([3, 5.5, 17, 0, 9])
    for mode in ("(v(+K,-X), near(X,2))", "(v(+K,-X), double(X,-Y), Y < 9)"):
        model = RelationalTreeClassifier(Bias.of([mode], types=types), cv=3).fit(known)
        assert model.cv_score_ == 1.0
        assert model.score(new) == 1.0
        assert ("near", 2) not in new.relations
