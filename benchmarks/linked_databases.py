"""Default trees of linked tables beside summaries by featuretools with a tree and with LightGBM.

    python benchmarks/linked_databases.py [--data FOLDER] [--lahman FOLDER] [--seeds 3] [--json FILE]
                                          [NAME ...]

Every learner is evaluated in the same ten stratified folds, with other folds for each seed: mean area under
the ROC curve of the folds, and CPU seconds. crosscut's time includes reading the tables and the tree of all
examples. The time of the others includes featuretools' summaries (deep feature synthesis of depth 2, with its
default primitives) and ten fits. scikit-learn's trees are fitted as they are ("tree") and with at least ten
rows per leaf ("tree 10"). Needs featuretools, which needs pandas 2, and lightgbm. Published data are read
from FOLDER, $CROSSCUT_DATA or ../shared/data, and left out if they are absent. --lahman is the folder with
People.csv and other files of the Baseball Databank.
"""

import argparse
import json
import os
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.tree import DecisionTreeClassifier

from crosscut_relational import Database, RelationalTreeClassifier, datasets

HERE = Path(__file__).resolve().parent


def financial(folder):
    """Loans and whether they were or are being repaid."""
    names = ("account", "card", "client", "disp", "district", "loan", "order")
    tables = {name: pd.read_csv(folder / "financial_csv" / f"{name}.csv", sep=";") for name in names}
    tables["district"] = tables["district"].rename(columns={"A1": "district_id"})
    for name in ("account", "loan"):
        tables[name]["date"] = pd.to_datetime(tables[name]["date"], format="%y%m%d")
    tables["loan"]["status"] = tables["loan"]["status"].map(dict(zip("ABCD", "gbgb", strict=True)))
    links = [
        ("account", "district", "district_id"),
        ("client", "district", "district_id"),
        ("disp", "account", "account_id"),
        ("disp", "client", "client_id"),
        ("card", "disp", "disp_id"),
        ("loan", "account", "account_id"),
        ("order", "account", "account_id"),
    ]
    return tables, "loan", "status", [(child, column, parent) for child, parent, column in links]


def shop(_):
    """Generated customers and their purchases, with noise."""
    tables = {name: table.to_pandas() for name, table in datasets.shop(1000, noise=0.2).items()}
    return tables, "customer", "churned", [("purchase", "customer_id", "customer")]


def molecules(folder, prefix, target):
    database = Database.from_ace(folder / prefix)
    terms = database.constants.terms

    def rows(start):
        for (name, _), relation in database.relations.items():
            if name.startswith(start):
                for fact in relation.columns.T.tolist():
                    yield name.removeprefix(start), [terms[each] for each in fact]

    atoms = [(f"{fact[0]} {fact[1]}", fact[0], element, fact[2], fact[3]) for element, fact in rows("atm_")]
    known = {atom for atom, *_ in atoms}
    bonds = [
        (number, f"{fact[0]} {fact[1]}", f"{fact[0]} {fact[2]}", kind)
        for number, (kind, fact) in enumerate(rows("sbond_"))
    ]
    tables = {
        "molecule": pd.DataFrame({"id": database.examples, target: database.labels}),
        "atom": pd.DataFrame(atoms, columns=["id", "molecule_id", "element", "type", "charge"]),
        "bond": pd.DataFrame(
            [bond for bond in bonds if {bond[1], bond[2]} <= known],
            columns=["id", "atom_id", "other", "kind"],
        ),
    }
    tables["atom"]["type"] = tables["atom"]["type"].astype(str)
    links = [("atom", "molecule_id", "molecule"), ("bond", "atom_id", "atom"), ("bond", "other", "atom")]
    return tables, "molecule", target, links


def uwcse(folder):
    """Pairs of people, and whether one advises the other."""
    database = Database.from_ace(folder / "uwcse_ace/t-0-0-0/uwcse")
    terms = database.constants.terms

    def facts(name):
        for (each, _), relation in database.relations.items():
            if each == name:
                yield from ([terms[number] for number in fact] for fact in relation.columns.T.tolist())

    people = {}
    for name in ("phase", "position", "yearsinprogram"):
        for person, value in facts(name):
            people.setdefault(person, {})[name] = str(value)
    for name in ("professor", "student"):
        for (person,) in facts(name):
            people.setdefault(person, {})["role"] = name
    lists = {name: [*facts(name)] for name in ("publication", "ta", "taughtby")}
    pairs = {fact[0]: fact[1:] for fact in facts("kmap")}
    known = {*people, *(p for each in pairs.values() for p in each)}
    frame = pd.DataFrame({"id": sorted(known, key=str)})
    for name in ("role", "phase", "position", "yearsinprogram"):
        frame[name] = [people.get(person, {}).get(name) for person in frame["id"]]
    tables = {"person": frame}
    links = []
    for name, rows in lists.items():
        tables[name] = pd.DataFrame(
            [(number, what, who) for number, (what, who) in enumerate(rows) if who in known],
            columns=["id", "what", "person_id"],
        )
        links.append((name, "person_id", "person"))
    tables["pair"] = pd.DataFrame(
        {
            "id": database.examples,
            "advises": database.labels,
            "one": [pairs[key][0] for key in database.examples],
            "other": [pairs[key][1] for key in database.examples],
        }
    )
    return tables, "pair", "advises", [*links, ("pair", "one", "person"), ("pair", "other", "person")]


def lahman(folder):
    """Nominees for the Hall of Fame, and whether they were elected."""
    tables = {"player": pd.read_csv(folder / "People.csv").rename(columns={"playerID": "id"})}
    elected = pd.read_csv(folder / "HallOfFame.csv").query("category == 'Player'")
    inducted = elected.groupby("playerID")["inducted"].agg(lambda each: "Y" if "Y" in {*each} else "N")
    player = tables["player"].set_index("id").loc[[*inducted.index]].reset_index()
    player["inducted"] = inducted.to_numpy()
    for column in ("nameFirst", "nameLast", "nameGiven", "retroID", "bbrefID", "deathCity", "birthCity"):
        del player[column]
    tables["player"] = player
    links = []
    for name in ("AllstarFull", "AwardsPlayers", "BattingPost", "FieldingOF", "PitchingPost", "Salaries"):
        frame = pd.read_csv(folder / f"{name}.csv")
        frame = frame[frame["playerID"].isin(player["id"])].reset_index(drop=True)
        tables[name] = frame.rename(columns={"playerID": "player_id"}).assign(id=np.arange(len(frame)))
        links.append((name, "player_id", "player"))
    return tables, "player", "inducted", links


SETS = {
    "financial": financial,
    "shop": shop,
    "mutagenesis": lambda f: molecules(f, "mutagenesis_188d/t-0-0-0/muta-d", "active"),
    "carcinogenesis": lambda f: molecules(f, "carcinogenesis_ace/t-0-0-0/canc-d", "carcinogenic"),
    "uwcse": uwcse,
    "lahman": lahman,
}


def key_of(tables, table):
    return next(name for name in ("id", f"{table}_id") if name in tables[table])


def areas(classes, folds, probability):
    return float(np.mean([roc_auc_score(classes[folds == f], probability[folds == f]) for f in range(10)]))


def crosscut_tree(tables, target, column, links, folds):
    begin = time.process_time()
    database = Database.from_tables(
        tables,
        target=f"{target}.{column}",
        keys={table: key_of(tables, table) for table in tables},
        links={f"{child}.{name}": f"{parent}.{key_of(tables, parent)}" for child, name, parent in links},
    )
    model = RelationalTreeClassifier(cv=folds, n_jobs=1).fit(database)
    seconds = time.process_time() - begin
    return areas(database.target, folds, model.cv_probabilities_[:, 1]), seconds, model.tree_.n_leaves


def summaries(tables, target, column, links):
    import featuretools as ft

    begin = time.process_time()
    entities = ft.EntitySet("database")
    for name, table in tables.items():
        frame = table.drop(columns=column) if name == target else table
        entities = entities.add_dataframe(dataframe_name=name, dataframe=frame, index=key_of(tables, name))
    for child, name, parent in links:
        entities = entities.add_relationship(parent, key_of(tables, parent), child, name)
    features, _ = ft.dfs(entityset=entities, target_dataframe_name=target, max_depth=2, n_jobs=1)
    features = features.reindex(tables[target][key_of(tables, target)])
    encoded = {}
    for name in features:
        values = features[name]
        if pd.api.types.is_bool_dtype(values) or not pd.api.types.is_numeric_dtype(values):
            values = pd.Series(pd.factorize(values.astype(str), sort=True)[0])
        encoded[name] = values.to_numpy(np.float64, na_value=np.nan)
    X = np.column_stack(list(encoded.values()))
    return np.where(np.isfinite(X), X, np.nan), time.process_time() - begin


def learners():
    from lightgbm import LGBMClassifier

    return {
        "tree": DecisionTreeClassifier(random_state=0),
        "tree 10": DecisionTreeClassifier(random_state=0, min_samples_leaf=10),
        "LightGBM": LGBMClassifier(n_jobs=1, verbose=-1, random_state=0),
    }


def evaluate(name, make, folder, seeds):
    tables, target, column, links = make(folder)
    y = np.unique(tables[target][column].astype(str), return_inverse=True)[1]
    X, of_summaries = summaries(tables, target, column, links)
    results = {}
    for seed in range(seeds):
        folds = np.empty(len(y), np.int32)
        for fold, (_, test) in enumerate(StratifiedKFold(10, shuffle=True, random_state=seed).split(y, y)):
            folds[test] = fold
        area, seconds, leaves = crosscut_tree(tables, target, column, links, folds)
        results.setdefault("crosscut", []).append((area, seconds))
        for label, learner in learners().items():
            begin, probability = time.process_time(), np.empty(len(y))
            for fold in range(10):
                learner.fit(X[folds != fold], y[folds != fold])
                probability[folds == fold] = learner.predict_proba(X[folds == fold])[:, 1]
            seconds = of_summaries + time.process_time() - begin
            results.setdefault(label, []).append((areas(y, folds, probability), seconds))
    means = {label: np.mean(each, axis=0).tolist() for label, each in results.items()}
    cells = " | ".join(f"{area:.3f} ({seconds:.1f} s)" for area, seconds in means.values())
    print(f"| {name} | {len(y)} | {X.shape[1]} | {cells} | {leaves} |", flush=True)
    return means


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", help=f"databases: {', '.join(SETS)}")
    parser.add_argument("--data", type=Path, default=None)
    parser.add_argument("--lahman", type=Path, default=None)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--json", type=Path, default=None, help="also write the figures here")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    folder = options.data or Path(os.environ.get("CROSSCUT_DATA", HERE.parent.parent / "shared" / "data"))
    print("| database | examples | summaries | crosscut | tree | tree 10 | LightGBM | leaves |")
    print("| --- " * 8 + "|")
    figures = {}
    for name in options.names or SETS:
        place = options.lahman if name == "lahman" else folder
        try:
            figures[name] = evaluate(name, SETS[name], place, options.seeds)
        except (FileNotFoundError, TypeError) as error:
            print(f"| {name} | left out: {error} |", file=sys.stderr)
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
