"""Check the published ACE applications: reading them, and the trees that TILDE and ACE printed.

    python benchmarks/published_trees.py FOLDER

FOLDER holds the applications distributed with ACE and with the papers on TILDE (machines, bongard,
mutagenesis, carcinogenesis, uwcse), King's mutagenesis and the financial tables of PKDD'99, which are not
part of this project. Prints one line per check; the exit code is 1 if any fails.
"""

import re
import sys
import warnings
from pathlib import Path

import numpy as np

from crosscut.forest.pruning_table import additional_errors
from crosscut_relational import Bias, Database, RelationalTreeClassifier
from crosscut_relational.database.ace import read_folds
from crosscut_relational.queries.growth import Grower
from crosscut_relational.queries.queries import Facts
from crosscut_relational.queries.resolve import resolve
from paper.data import machines

APPLICATIONS = {
    # prefix: class counts, relations, modes, lookaheads, fold sizes
    "machines/keys/mach": ([6, 3, 6], 3, 3, 0, None),
    "machines/examples/mach": ([6, 6, 3], 3, 3, 0, None),
    "bongard/keys/bongard": ([128, 264], 5, 6, 0, None),
    "bongard/examples/bongard": ([128, 264], 5, 6, 0, None),
    "mutagenesis_ace230/muta": ([138, 92], 21, 48, 53, None),
    "mutagenesis_188d/t-0-0-0/muta-d": ([125, 63], 16, 55, 0, [19] * 9 + [17]),
    "carcinogenesis_ace/t-0-0-0/canc-d": ([182, 148], 30, 99, 0, [33] * 10),
    "uwcse_ace/t-0-0-0/uwcse": ([113, 2711], 14, 39, 0, [756, 468, 160, 972, 468]),
}
PRINTED = [name for name in APPLICATIONS if name.startswith(("machines", "bongard"))]


class Checks:
    """Prints each check and remembers whether one failed."""

    failed = False

    def __call__(self, name, actual, expected=True):
        same = actual == expected
        print(f"{'ok  ' if same else 'FAIL'} {name}" + ("" if same else f": {actual}, not {expected}"))
        self.failed |= not same


def load(folder, name):
    folds = folder / name.split("/")[0] / "folds" if APPLICATIONS[name][-1] else None
    return Database.from_ace(folder / name, folds=folds), Bias.from_ace(folder / name)


def facts(database, predicate):
    terms = database.constants.terms
    return {tuple(terms[each] for each in row) for row in database.relations[predicate].columns.T.tolist()}


def labels(database):
    return [database.classes[code] for code in database.target]


def shape(text):
    """Return the tests and leaves of TILDE's notation, with variables renamed in order of appearance."""
    names, lines = {}, []
    for line in text.splitlines():
        indent = re.match(r"[|+ -]*(?:yes: |no:  )?", line).group()
        rest = line[len(indent) :].strip()
        leaf = re.match(r"\[(\w+)\] (?:\[([\d.]+)/([\d.]+)\]|([\d.]+) \[\[(.*)\]\])", rest)
        if leaf and leaf.group(4):
            counts = dict(part.split(":") for part in leaf.group(5).split(","))
            lines.append((indent, leaf.group(1), counts[leaf.group(1)], leaf.group(4)))
        elif leaf:
            lines.append((indent, *leaf.group(1, 2, 3)))
        elif rest:
            plain = rest.replace("-", "")
            named = re.sub(r"\b[A-Z]\d*\b", lambda m: names.setdefault(m.group(), f"V{len(names)}"), plain)
            lines.append((indent, named))
    return lines


def estimated_errors(tree):
    """Return C4.5's estimate of a tree's errors on new examples, as many as there are training examples."""
    leaves = [(covered - correct, covered) for _, correct, covered in tree.leaves() if covered]
    return sum(errors + additional_errors(covered, errors) for errors, covered in leaves)


def check_reading(check, folder):
    for name, (counts, relations, modes, lookahead, folds) in APPLICATIONS.items():
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            database, bias = load(folder, name)
            language = resolve(bias, database)
        check(f"{name}: classes", np.bincount(database.target).tolist(), counts)
        sizes = (len(database.relations), len(language.modes), len(language.lookahead))
        check(f"{name}: relations, modes, lookaheads", sizes, (relations, modes, lookahead))
        if folds is not None:
            check(f"{name}: folds", np.bincount(database.folds).tolist(), folds)
    for name in ("machines/{}/mach", "bongard/{}/bongard"):
        keys, models = (Database.from_ace(folder / name.format(form)) for form in ("keys", "examples"))
        check(f"{name}: examples", keys.examples, models.examples)
        check(f"{name}: labels", labels(keys), labels(models))
        same = all(facts(keys, each) == facts(models, each) for each in keys.relations)
        check(f"{name}: keys and models hold the same facts", same)
    published, generated = Database.from_ace(folder / "machines/keys/mach"), machines()[0]
    check("machines: labels", labels(generated), labels(published))
    check("machines: facts", facts(generated, ("worn", 2)), facts(published, ("worn", 2)))


def check_others(check, folder):
    muta = Database.from_ace(folder / "mutagenesis_ace230/muta")
    bonds = facts(muta, ("bond", 4))
    both = bonds | {(m, y, x, t) for m, x, y, t in bonds}
    check("mutagenesis: symmetric bonds", facts(muta, ("sbond", 4)) == both)
    uwcse, bias = load(folder, "uwcse_ace/t-0-0-0/uwcse")
    language = resolve(bias, uwcse)
    root = [(goal.name, goal.args) for goal in language.root]
    check("uwcse: root", (root, language.root_types), ([("kmap", (0, 1, 2))], ("key", "human", "human")))
    king = folder / "mutagenesis_king"
    text = "\n".join((king / f"{name}.pl").read_text() for name in ("log_mutag", "atom_bond", "logp", "lumo"))
    numbers = Database.from_prolog(
        text, predict="act(+mol,-num)", types=["atm(mol,id,e,t,c)"], regression=True
    )
    check("King: targets", (numbers.n_examples, numbers.target[:2].tolist()), (230, [2.11, -1.24]))
    folds = np.bincount(read_folds(king / "lp" / "188", numbers) + 1).tolist()
    check("King: folds", folds, [42, *[19] * 9, 17])
    loans = Database.from_folder(
        folder / "financial_csv",
        target="loan.status",
        keys={"district": "A1"},
        links={"account.district_id": "district.A1", "client.district_id": "district.A1"},
    )
    check("financial: examples and classes", (loans.n_examples, loans.classes), (682, ("A", "B", "C", "D")))
    types = loans.relations["disp", 4].types
    check("financial: links", types, ("disp", "client", "account", "disp.type"))
    check("financial: modes", len(resolve(Bias.from_schema(loans), loans).modes) > 200)


def check_printed_trees(check, folder):
    for name in PRINTED:
        database, bias = load(folder, name)
        model = RelationalTreeClassifier(bias, cv=None).fit(database)
        tree = model.tree_
        output = (folder / f"{name}.out.tilde").read_text()
        printed = output.split("Compact notation of pruned tree:")[1].split("-----")[0]
        check(f"{name}: TILDE's tree", shape(str(model)), shape(printed))
        estimate = float(re.search(r"pruned_C4.5_error_estimation : ([\d.]+)", output).group(1))
        check(f"{name}: C4.5's estimate", abs(estimated_errors(tree) - estimate) < 1e-12)
        accuracy = float(re.search(r"pruned_training_accuracy : ([\d.]+)=", output).group(1))
        correct = sum(correct for _, correct, _ in tree.leaves())
        check(f"{name}: training accuracy", correct / database.n_examples, accuracy)
        size = re.search(r"pruned_complexity : (\d+) nodes \((\d+) literals\)", output).groups()
        check(f"{name}: nodes and literals", (tree.n_nodes, tree.n_literals), tuple(map(int, size)))
        program = output.split("Equivalent prolog program:")[1]
        clauses, exported = (
            [re.sub(r"[\[\]]", "", line) for line in text.splitlines() if ":-" in line]
            for text in (program, model.to_prolog())
        )
        check(f"{name}: Prolog", exported, clauses)
    database, bias = load(folder, "bongard/keys/bongard")
    output = (folder / "bongard/keys/tilde/bongard.out").read_text()
    printed = output.split("Compact notation of tree:")[1].split("Equivalent")[0].strip()
    check("bongard: ACE's tree", str(RelationalTreeClassifier(bias, cv=None).fit(database)), printed)


def check_sharing(check, folder):
    for name in APPLICATIONS:
        database, bias = load(folder, name)
        folds = np.arange(database.n_examples) % 10 if APPLICATIONS[name][-1] is None else database.folds
        language = resolve(bias, database)
        grower = Grower(Facts.of(database, language), language, folds.astype(np.int32))
        together = grower.grow()
        check(f"{name}: step limit", together.limit_hits, ())
        for sharing in ("paper", "serial", "uncached"):
            separate = grower.grow(sharing)
            same = (
                separate.trees == together.trees
                and separate.pruned == together.pruned
                and np.array_equal(separate.held_out, together.held_out, equal_nan=True)
                and np.array_equal(separate.held_out_leaves, together.held_out_leaves)
            )
            check(f"{name}: the same trees in one run and {sharing}", same)
            # the six trees of uwcse, whose folds are universities, have only two levels in common
            least = {"paper": 1, "serial": 2, "uncached": 3}[sharing]
            check(
                f"{name}: fewer evaluations than {sharing}",
                together.n_evaluations < separate.n_evaluations / least,
            )


def main():
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_dir():
        sys.exit(__doc__)
    check, folder = Checks(), Path(sys.argv[1])
    check_reading(check, folder)
    check_others(check, folder)
    check_printed_trees(check, folder)
    check_sharing(check, folder)
    sys.exit(check.failed)


if __name__ == "__main__":
    main()
