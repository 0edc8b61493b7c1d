"""Save and resume level-wise growth by a checkpoint file.

A file is read only by a run of the same data, settings and version of crosscut. It contains digests of these,
and a digest of its contents whose key is made of them and not stored. So a file that another program has
changed is refused. Anyone who has the data can compute the key, so all shapes and numbers are checked, too.
"""

from __future__ import annotations

import errno
import hashlib
import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

import crosscut
from crosscut.data.array_file import read_arrays, write_arrays
from crosscut.engines.stream.bundle import CODES, Bundle, Split
from crosscut.engines.stream.growing_tree import GrowingTree, parts
from crosscut.engines.stream.level_wise import Plan, State
from crosscut.forest.forest import Packed

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

_BUNDLE = ("depth", "mixed", "n_rows")
_REAL = {"stats", "threshold", "weight", "low", "high", "value", "impurity"}  # other arrays are integers


class Checkpoint:
    """A file with the forest grown so far; it is replaced atomically.

    A run resumes only from a file of the same plan and the same ``key``, a hash of everything the codes of
    the rows depend on.
    """

    def __init__(self, path: Path, plan: Plan, key: str) -> None:
        self.path = path
        self.plan = plan
        about = {
            "version": crosscut.__version__,
            "data": key,
            "folds": asdict(plan.folds),
            "growth": asdict(plan.growth),
            "limits": [asdict(limit) for limit in plan.limits],
            "bins": hashlib.sha256(b"".join(e.tobytes() for e in plan.coding.edges)).hexdigest(),
        }
        texts = {name: json.dumps(part, sort_keys=True, default=str) for name, part in about.items()}
        self.about = {name: hashlib.sha256(text.encode()).hexdigest() for name, text in texts.items()}
        self._key = hashlib.sha256(json.dumps(texts).encode()).digest()

    def load(self) -> State | None:
        """Return the saved state, or None if there is no file."""
        if not self.path.exists():
            return None
        try:
            header, arrays = read_arrays(self.path)
            about = dict(header["about"])
            other = [name for name in self.about if about.get(name) != self.about[name]]
            if not other:
                _need(header["seal"] == self._seal(header["state"], arrays), "its contents were changed")
                return _state(header["state"], arrays, self.plan)
        except (OSError, ValueError, LookupError, TypeError, OverflowError, AttributeError) as error:
            raise ValueError(
                f"the checkpoint {str(self.path)!r} cannot be read ({error}); delete it to start again"
            ) from error
        raise ValueError(
            f"the checkpoint {str(self.path)!r} is of another run: its {', '.join(other)} "
            "differ(s); delete it or choose another file"
        )

    def save(self, state: State) -> None:
        """Replace the file."""
        known = {"work": state.work, "n_trees": len(state.trees)}
        arrays = _arrays(state)
        header = {"about": self.about, "seal": self._seal(known, arrays), "state": known}
        try:
            write_arrays(self.path, header, arrays)
        except OSError as error:
            full = error.errno in {errno.ENOSPC, errno.EDQUOT}
            problem = "its disk is full" if full else str(error.strerror)
            raise OSError(
                error.errno, f"the checkpoint {str(self.path)!r} cannot be written: {problem}"
            ) from error

    def _seal(self, state: Any, arrays: dict[str, NDArray[Any]]) -> str:
        """Return the keyed digest of the contents."""
        digest = hashlib.blake2b(json.dumps(state, sort_keys=True).encode(), key=self._key)
        for name in sorted(arrays):
            array = np.ascontiguousarray(arrays[name])
            digest.update(f"{name} {array.dtype.str} {arrays[name].shape}".encode())
            digest.update(array.tobytes())
        return digest.hexdigest()

    def remove(self) -> None:
        """Delete the file, because growth is finished."""
        self.path.unlink(missing_ok=True)


def _arrays(state: State) -> dict[str, NDArray[Any]]:
    bundles = state.bundles
    splits = [split for bundle in bundles for split in bundle.splits]
    arrays: dict[str, NDArray[Any]] = {
        f"bundle.{name}": np.array([getattr(bundle, name) for bundle in bundles]) for name in _BUNDLE
    }
    for name in ("tasks", "nodes"):
        arrays[f"bundle.{name}"] = np.array([v for b in bundles for v in getattr(b, name)], np.int64)
    arrays["bundle.n_tasks"] = np.array([len(bundle.tasks) for bundle in bundles], np.int64)
    arrays["bundle.n_splits"] = np.array([len(bundle.splits) for bundle in bundles], np.int64)
    arrays["split.feature"] = np.array([split.feature for split in splits], np.int64)
    arrays["split.n_children"] = np.array([len(split.children) for split in splits], np.int64)
    arrays["split.children"] = np.array([child for split in splits for child in split.children], np.int64)
    tables = [table for split in splits for table in split.tables]
    arrays["split.tables"] = np.array(tables, np.uint64).reshape(-1, CODES)
    arrays["frontier"] = np.array(state.frontier, np.int64)
    for t, tree in enumerate(state.trees):
        arrays |= {f"tree{t}.{name}": array for name, array in tree.to_arrays().items()}
    return arrays


def _state(header: dict[str, Any], arrays: dict[str, NDArray[Any]], plan: Plan) -> State:
    by_tree: list[dict[str, NDArray[Any]]] = [{} for _ in plan.limits]
    _need(header["n_trees"] == len(plan.limits), "it has another number of trees")
    for name, array in arrays.items():
        whole = name.rpartition(".")[2] not in _REAL
        _need(array.dtype.kind in ("iub" if whole else "iuf"), f"{name} has type {array.dtype}")
        head, _, rest = name.partition(".")
        if head.startswith("tree"):
            by_tree[int(head[4:])][rest] = array
    children = parts(arrays["split.children"], arrays["split.n_children"])
    tables = parts(arrays["split.tables"], arrays["split.n_children"])
    splits = [
        Split(feature, places.tolist(), list(masks))
        for feature, places, masks in zip(arrays["split.feature"].tolist(), children, tables, strict=True)
    ]
    ends = np.cumsum(arrays["bundle.n_splits"]).tolist()
    tasks, nodes = (parts(arrays[f"bundle.{name}"], arrays["bundle.n_tasks"]) for name in ("tasks", "nodes"))
    bundles = [
        Bundle(depth, tuple(t.tolist()), tuple(n.tolist()), mixed, n_rows, splits[end - count : end])
        for depth, mixed, n_rows, t, n, end, count in zip(
            *(arrays[f"bundle.{name}"].tolist() for name in _BUNDLE),
            tasks,
            nodes,
            ends,
            arrays["bundle.n_splits"].tolist(),
            strict=True,
        )
    ]
    trees = [GrowingTree.from_arrays(part) for part in by_tree]
    work = header["work"]
    listed = isinstance(work, list) and all(isinstance(level, dict) for level in work)
    _need(listed, "the work of its levels is no list")
    state = State(trees, bundles, arrays["frontier"].tolist(), work)
    _need(sum(arrays["bundle.n_splits"].tolist()) == len(splits), "its splits do not fit")
    _check(state, plan)
    return state


def _check(state: State, plan: Plan) -> None:
    """Check that the trees are trees of the plan, and that bundles refer to them and to later bundles."""
    trees, bundles, coding = state.trees, state.bundles, plan.coding
    _need(bundles, "it has no bundles")
    for tree in trees:
        n = len(tree.feature)
        per_node = (tree.depth, tree.n_rows, tree.stats, tree.threshold, tree.missing)
        _need(n and all(len(values) == n for values in per_node), "a tree is incomplete")
        _need(tree.stats[0].shape == (coding.n_classes or 1,), "a tree has other classes")
        children = sorted(child for family in tree.children for child in family)
        below = all(child > node for node, family in enumerate(tree.children) for child in family)
        _need(children == list(range(1, n)) and below, "the nodes of a tree are not in order")
        depths = [(tree.depth[node], family) for node, family in enumerate(tree.children)]
        deeper = all(tree.depth[child] == depth + 1 for depth, family in depths for child in family)
        _need(tree.depth[0] == 0 and deeper, "the depths of a tree are wrong")
        _need(all(0 <= node < n and not tree.children[node] for node in tree.subtrees), "a subtree is lost")
    flat = [tree.flatten(coding.n_classes, plan.growth.criterion) for tree in trees]
    _ = Packed.of(flat).core  # checks the links between nodes
    for each in flat:
        inner, numeric = np.diff(each.first_child) > 0, ~np.isnan(each.threshold)
        features = each.feature[inner]
        _need(np.all((features >= 0) & (features < len(coding.n_bins))), "a test has an unknown column")
        _need(np.array_equal(numeric[inner], ~coding.nominal[features]), "a test does not suit its column")
        _need(np.all(each.feature[~inner] == -1) and not numeric[~inner].any(), "a leaf has a test")
    for b, bundle in enumerate(bundles):
        nodes = zip(bundle.tasks, bundle.nodes, strict=True)
        sound = all(0 <= t < len(trees) and 0 <= node < len(trees[t].feature) for t, node in nodes)
        _need(sound and len(set(bundle.tasks)) == len(bundle.tasks) > 0, "a bundle has unknown nodes")
        of_nodes = [trees[t].depth[node] for t, node in zip(bundle.tasks, bundle.nodes, strict=True)]
        _need(set(of_nodes) == {bundle.depth}, "a bundle has another depth than its nodes")
        _need(0 <= bundle.n_rows <= coding.n_rows and isinstance(bundle.mixed, bool), "a bundle has no rows")
        for split in bundle.splits:
            _need(0 <= split.feature < len(coding.n_bins), "a split has an unknown column")
            _need(all(b < child < len(bundles) for child in split.children), "a split has unknown children")
            _need(all(table.shape == (CODES,) for table in split.tables), "a split has too few codes")
    waiting = state.frontier
    known = len(set(waiting)) == len(waiting) and all(0 <= b < len(bundles) for b in waiting)
    _need(known and not any(bundles[b].splits for b in waiting), "its frontier is unknown")
    names = {"bundles", "rows", "passes", "seconds"}
    _need(all(set(level) == names for level in state.work), "the work of its levels is unknown")
    _need(
        all(isinstance(v, int | float) for level in state.work for v in level.values()), "work is no number"
    )


def _need(holds: object, what: str) -> None:
    if not holds:
        raise ValueError(what)
