"""The rows that trees hold out, as model files store them; all is checked before it is used."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut.forest.predict import HeldOut
from crosscut.model_file.container import ModelFileError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


def read_held_out(
    arrays: dict[str, NDArray[Any]], is_leaf: Sequence[NDArray[np.bool_]], classes: NDArray[Any] | None
) -> tuple[HeldOut, NDArray[Any]]:
    """Return the leaves that held-out rows reach, and the target of all rows.

    ``is_leaf`` says of every tree which of its nodes are leaves.
    """
    y = arrays["y"]
    rows, start, leaf = (arrays[f"held_out_{name}"] for name in ("rows", "start", "leaf"))
    sound = (
        y.ndim == rows.ndim == start.ndim == leaf.ndim == 1
        and rows.dtype == start.dtype == np.int64
        and leaf.dtype == np.int32
        and y.dtype == (np.float64 if classes is None else np.int32)
        and len(start) == len(is_leaf) + 1
        and len(rows) == len(leaf)
        and spans(start, len(rows))
        and bool(np.all((rows >= 0) & (rows < len(y))))
        and bool(np.all(np.isfinite(y)))
        and (classes is None or bool(np.all((y >= 0) & (y < len(classes)))))
    )
    if not sound:
        raise ModelFileError("the held-out rows are damaged")
    for own, (begin, end) in zip(is_leaf, pairwise(start), strict=True):
        reached = leaf[begin:end]
        if not np.all((reached >= 0) & (reached < len(own))) or not own[reached].all():
            raise ModelFileError("a held-out row is in no leaf")
    return HeldOut(rows, start, leaf), y


def spans(start: NDArray[Any], end: int) -> bool:
    """Whether offsets span everything up to an end."""
    return len(start) >= 2 and start[0] == 0 and start[-1] == end and bool(np.all(np.diff(start) >= 0))
