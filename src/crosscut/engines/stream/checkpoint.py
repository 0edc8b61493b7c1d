"""Save and resume level-wise growth by a checkpoint file."""

from __future__ import annotations

import errno
import hashlib
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut.data.array_file import read_arrays, write_arrays
from crosscut.engines.stream.bundle import CODES, Bundle, Split
from crosscut.engines.stream.growing_tree import GrowingTree
from crosscut.engines.stream.level_wise import Plan, State

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

_BUNDLE = ("depth", "mixed", "n_rows")


class Checkpoint:
    """A file with the forest grown so far; it is replaced atomically.

    A run resumes only from a file of the same plan and the same ``key``, a hash of everything the codes of
    the rows depend on.
    """

    def __init__(self, path: Path, plan: Plan, key: str) -> None:
        self.path = path
        self.about = {
            "data": key,
            "folds": asdict(plan.folds),
            "growth": asdict(plan.growth),
            "limits": [asdict(limit) for limit in plan.limits],
            "bins": hashlib.sha256(b"".join(e.tobytes() for e in plan.coding.edges)).hexdigest(),
        }

    def load(self) -> State | None:
        """Return the saved state, or None if there is no file."""
        if not self.path.exists():
            return None
        try:
            header, arrays = read_arrays(self.path)
            about = header["about"]
            state = _state(header, arrays) if about == self.about else None
        except (OSError, ValueError, KeyError) as error:
            raise ValueError(
                f"the checkpoint {str(self.path)!r} cannot be read ({error}); delete it to start again"
            ) from error
        if state is None:
            other = [name for name in self.about if about.get(name) != self.about[name]]
            raise ValueError(
                f"the checkpoint {str(self.path)!r} is of another run: its {', '.join(other)} "
                "differ(s); delete it or choose another file"
            )
        return state

    def save(self, state: State) -> None:
        """Replace the file."""
        header = {"about": self.about, "work": state.work, "n_trees": len(state.trees)}
        try:
            write_arrays(self.path, header, _arrays(state))
        except OSError as error:
            full = error.errno in {errno.ENOSPC, errno.EDQUOT}
            problem = "its disk is full" if full else str(error.strerror)
            raise OSError(
                error.errno, f"the checkpoint {str(self.path)!r} cannot be written: {problem}"
            ) from error

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


def _state(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> State:
    by_tree: list[dict[str, NDArray[Any]]] = [{} for _ in range(header["n_trees"])]
    for name, array in arrays.items():
        head, _, rest = name.partition(".")
        if head.startswith("tree"):
            by_tree[int(head[4:])][rest] = array
    children = _parts(arrays["split.children"], arrays["split.n_children"])
    tables = _parts(arrays["split.tables"], arrays["split.n_children"])
    splits = [
        Split(feature, places.tolist(), list(masks))
        for feature, places, masks in zip(arrays["split.feature"].tolist(), children, tables, strict=True)
    ]
    ends = np.cumsum(arrays["bundle.n_splits"]).tolist()
    tasks, nodes = (_parts(arrays[f"bundle.{name}"], arrays["bundle.n_tasks"]) for name in ("tasks", "nodes"))
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
    return State(trees, bundles, arrays["frontier"].tolist(), header["work"])


def _parts(array: NDArray[Any], counts: NDArray[Any]) -> list[NDArray[Any]]:
    return np.split(array, np.cumsum(counts)[:-1]) if len(counts) else []
