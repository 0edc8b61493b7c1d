from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

def simd_level() -> str: ...
def best_simd_level() -> str: ...
def set_simd_level(name: str) -> None: ...

class Forest:
    def __init__(
        self,
        node_start: NDArray[np.int64],
        branch_start: NDArray[np.int64],
        feature: NDArray[np.int32],
        threshold: NDArray[np.float64],
        missing: NDArray[np.int32],
        first_child: NDArray[np.int64],
        children: NDArray[np.int32],
        first_branch: NDArray[np.int64],
        branches: NDArray[np.int32],
        depth: NDArray[np.int32],
        n_rows: NDArray[np.int64],
        weight: NDArray[np.float64],
    ) -> None: ...
    def apply(
        self,
        x: NDArray[np.float32 | np.float64 | np.int64 | np.uint8 | np.bool_],
        rows: NDArray[np.int64] | None,
        row_start: NDArray[np.int64] | None,
        n_threads: int,
    ) -> NDArray[np.int32]: ...
    def parents(self) -> NDArray[np.int32]: ...
    def node_alphas(self, risk: NDArray[np.float64], n_threads: int) -> NDArray[np.float64]: ...
    def shrink(self, own: NDArray[np.float64], strength: float) -> NDArray[np.float64]: ...
    def cut_losses(
        self,
        level: NDArray[np.int32],
        n_levels: int,
        leaf: NDArray[np.int32],
        row_start: NDArray[np.int64],
        own: NDArray[np.float64],
        measure: str,
        y: NDArray[np.float64],
        weight: NDArray[np.float64] | None,
        cost: NDArray[np.float64] | None,
        lambdas: NDArray[np.float64],
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
    def row_losses(
        self,
        level: NDArray[np.int32],
        n_levels: int,
        leaf: NDArray[np.int32],
        row_start: NDArray[np.int64],
        own: NDArray[np.float64],
        measure: str,
        y: NDArray[np.float64],
        cost: NDArray[np.float64] | None,
        lambdas: NDArray[np.float64],
        chosen_level: NDArray[np.int32],
        chosen_lane: NDArray[np.int32],
    ) -> NDArray[np.float64]: ...
    def stop_nodes(
        self,
        impurity: NDArray[np.float64],
        max_depth: int,
        max_leaves: int,
        min_samples_split: int,
        min_decrease: float,
        min_impurity: float,
        alpha: float,
        exact_ties: bool,
    ) -> NDArray[np.int32]: ...

class SharedTrees:
    def __init__(
        self,
        size: NDArray[np.int32],
        feature: NDArray[np.int32],
        threshold: NDArray[np.float64],
        missing: NDArray[np.int32],
        first_child: NDArray[np.int64],
        children: NDArray[np.int32],
        first_branch: NDArray[np.int64],
        branches: NDArray[np.int32],
        depth: NDArray[np.int32],
    ) -> None: ...
    def apply(
        self,
        root: NDArray[np.int32],
        x: NDArray[Any],
        rows: NDArray[np.int64],
        row_start: NDArray[np.int64],
    ) -> NDArray[np.int32]: ...
    def nodes_of(
        self, root: NDArray[np.int32], node_start: NDArray[np.int64], numbers: NDArray[np.int64]
    ) -> NDArray[np.int32]: ...
    def unfold(self, root: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int32]]: ...

def leaves_of_few(
    node_start: NDArray[np.int64],
    branch_start: NDArray[np.int64],
    feature: NDArray[np.int32],
    threshold: NDArray[np.float64],
    missing: NDArray[np.int32],
    first_child: NDArray[np.int64],
    children: NDArray[np.int32],
    first_branch: NDArray[np.int64],
    branches: NDArray[np.int32],
    x: NDArray[Any],
    rows: NDArray[np.int64],
    row_start: NDArray[np.int64],
) -> NDArray[np.int32]: ...
def rank_columns(
    matrix: NDArray[np.float32 | np.float64 | np.int64 | np.uint8 | np.bool_],
    max_intervals: int,
    bins: bool,
    n_threads: int,
    n_categories: NDArray[np.int32],
    ranks: NDArray[np.uint32] | None,
    coarse: NDArray[np.uint8],
    values: NDArray[np.float32],
    coarse_first: NDArray[np.uint32],
    n_values: NDArray[np.int32],
    n_coarse: NDArray[np.int32],
    n_missing: NDArray[np.int64],
    close: NDArray[np.uint32],
) -> tuple[int, int] | None: ...
def bits_of(numbers: NDArray[np.float64]) -> tuple[int, int] | None: ...
def spread_of(numbers: NDArray[np.float64], centre: float) -> tuple[float, float, bool]: ...
def on_grid(
    numbers: NDArray[np.float64], centre: float, exponent: int
) -> tuple[NDArray[np.float64], bool]: ...
def intervals(end: NDArray[np.uint32], max_intervals: int, first: NDArray[np.uint32]) -> int: ...
def code_classes(
    labels: NDArray[np.int64], max_span: int, codes: NDArray[np.int32], n_threads: int
) -> list[int] | None: ...
def cut_folds(n_folds: int, folds: NDArray[np.int64]) -> None: ...
def deal_folds(
    codes: NDArray[np.int32],
    n_classes: int,
    n_folds: int,
    folds: NDArray[np.int64],
    shuffle: Callable[[NDArray[np.int64]], None] | None,
    n_threads: int,
) -> list[int]: ...
def mark_rows(masks: NDArray[np.uint16], bit: int, rows: NDArray[np.int64]) -> int: ...
def first_marked(masks: NDArray[np.uint16], bit: int, rows: NDArray[np.int64]) -> int: ...
def copied_rows(
    ranks: NDArray[np.uint32 | np.uint8], target: NDArray[np.uint64], copied: NDArray[np.bool_]
) -> None: ...
def rows_by_fold(folds: NDArray[np.int64], ordered: NDArray[np.int64], n_threads: int) -> list[int]: ...
def masks_without(
    folds: NDArray[np.int64],
    n_folds: int,
    left_out: NDArray[np.int64],
    first: NDArray[np.int64],
    n_threads: int,
) -> NDArray[np.uint16]: ...

class Table:
    def __init__(
        self,
        ranks: NDArray[np.uint32 | np.uint8] | None,
        coarse: NDArray[np.uint8],
        n_values: NDArray[np.int32],
        values: list[NDArray[np.float32]],
        coarse_first: list[NDArray[np.uint32]],
        nominal: NDArray[np.bool_],
        has_missing: NDArray[np.bool_],
        close: NDArray[np.uint32],
        edges: list[NDArray[np.float64]] | None,
        n_threads: int = 1,
    ) -> None: ...

class Target:
    def __init__(
        self,
        n_classes: int,
        classes: NDArray[np.int32] | None,
        weight: NDArray[np.float64] | None,
        product: NDArray[np.float64] | None,
        target: NDArray[np.float64] | None,
        digits: NDArray[np.int64] | None,
        grids: list[tuple[int, int, int]],
        weight_rounded: bool,
        product_rounded: bool,
    ) -> None: ...

def exact_digits(
    target: NDArray[np.float64] | None,
    weight: NDArray[np.float64] | None,
    n_rows: int,
    grids: list[tuple[int, int, int]],
) -> NDArray[np.int64]: ...

class Tasks:
    def __init__(
        self,
        masks: NDArray[np.uint16],
        limits: NDArray[np.int64],
        min_decrease: NDArray[np.float64],
        multiplicity: NDArray[np.uint8] | None = None,
        features: NDArray[np.bool_] | None = None,
        totals: NDArray[np.float64] | None = None,
        class_weights: NDArray[np.float64] | None = None,
        class_digits: NDArray[np.int64] | None = None,
        rounded: NDArray[np.bool_] | None = None,
    ) -> None: ...

def accelerations() -> list[str]: ...
def switch_acceleration(name: str, on: bool) -> None: ...
def criteria() -> dict[str, tuple[int, int, bool]]: ...
def impurity(
    criterion: str, value: NDArray[np.float64], weight: NDArray[np.float64]
) -> NDArray[np.float64]: ...

class Growth:
    def __init__(
        self,
        criterion: str,
        multiway: bool,
        local_rows: int,
        bundling: bool = True,
        two_resolutions: bool = True,
    ) -> None: ...

def grow(
    table: Table,
    target: Target,
    tasks: Tasks,
    growth: Growth,
    n_threads: int,
    progress: Callable[[float], object] | None = None,
) -> tuple[dict[str, Any], dict[str, list[Any]]]: ...
def additional_errors(n: float, errors: float, confidence: float) -> float: ...
def pass_batch(
    bundles: dict[str, Any],
    codes: NDArray[np.uint8],
    masks: NDArray[np.uint64],
    slot: NDArray[np.int32],
    amounts: NDArray[np.int64] | None,
    target: NDArray[np.float64] | None,
    first_bin: NDArray[np.int64],
    n_channels: int,
    statistics: NDArray[Any],
    ranges: NDArray[np.float64] | None,
    n_threads: int,
) -> list[tuple[int, NDArray[np.uint32], NDArray[np.uint64]]]: ...
def choose_tests(
    statistics: NDArray[Any],
    first_bin: NDArray[np.int64],
    first_column: int,
    end_column: int,
    nominal: NDArray[np.bool_],
    n_channels: int,
    criterion: str,
    n_classes: int,
    grids: list[tuple[int, int, int]],
    multiway: bool,
    min_leaf: NDArray[np.int64],
) -> list[tuple[Any, ...]]: ...
def cells_to_lanes(statistics: NDArray[Any], n_lanes: int) -> None: ...
def bin_codes(
    values: NDArray[np.float32 | np.float64],
    edges: NDArray[np.float64],
    missing: int,
    codes: NDArray[np.uint8],
    n_threads: int,
) -> int: ...

class RuleTable:
    def __init__(
        self,
        ranks: NDArray[np.uint32 | np.uint8],
        n_values: NDArray[np.int32],
        nominal: NDArray[np.uint8],
        values: list[NDArray[np.float32]],
        codes: NDArray[np.int32],
        n_classes: int,
        weights: NDArray[np.float64] | None,
    ) -> None: ...
    def search(
        self,
        rows: NDArray[np.uint64],
        targets: NDArray[np.int32],
        a: NDArray[np.float64],
        b: NDArray[np.float64],
        least_weight: NDArray[np.float64],
        significance: NDArray[np.float64],
        kind: str,
        greedy: bool,
        width: int,
        max_length: int,
        unequal: bool,
    ) -> list[list[tuple[int, Any, float]]]: ...
    def truth(self, conditions: Sequence[tuple[int, str, float]]) -> bytes: ...
    def n_conditions(self, rows: NDArray[np.uint64]) -> int: ...
    @property
    def work(self) -> tuple[int, int, int, int]: ...
