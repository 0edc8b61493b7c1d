"""How a bundle goes on: each task takes its test, and tasks that test the same column stay together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut.engines.stream.bundle import CODES, Bundle, Split

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosscut.engines.stream.growing_tree import GrowingTree
    from crosscut.engines.stream.level_wise import Plan, State
    from crosscut.tasks.growth import Limits


def branch_off(plan: Plan, state: State, b: int, choices: list[Any]) -> None:
    """Give each task of a bundle its test, and the bundle its children."""
    bundle = state.bundles[b]
    by_column: dict[int, list[tuple[int, list[int], NDArray[np.int32]]]] = {}
    for task, node, choice in zip(bundle.tasks, bundle.nodes, choices, strict=True):
        (n_rows, stats, weight), _, improvement, feature, _, _, branch_of, _, pure = choice
        tree, limits = state.trees[task], plan.limits[task]
        if bundle.depth == 0:
            tree.n_rows[0], tree.stats[0], tree.weight = n_rows, stats, weight
            if not tree.wants_test(0, limits, plan.coding.n_classes):
                continue
        if pure or feature < 0 or not _enough_decrease(tree, improvement, limits):
            continue
        children = _take_test(plan, tree, node, choice)
        by_column.setdefault(feature, []).append((task, children, branch_of))
    for feature, tests in by_column.items():
        bundle.splits.append(_join(plan, state, bundle, feature, tests))


def _enough_decrease(tree: GrowingTree, improvement: float, limits: Limits) -> bool:
    least = limits.min_impurity_decrease
    if not least > 0:
        return True
    return improvement / tree.weight + 2.220446049250313e-16 >= least


def _take_test(plan: Plan, tree: GrowingTree, node: int, choice: list[Any]) -> list[int]:
    """Make a node an inner one; return its children."""
    _, _, _, feature, missing, cut, branch_of, branches, _ = choice
    tree.feature[node], tree.missing[node] = feature, missing
    if plan.coding.nominal[feature]:
        tree.branches[node] = branch_of
    else:
        edges = plan.coding.edges[feature]
        tree.threshold[node] = float(edges[cut]) if cut < plan.coding.n_bins[feature] else float("inf")
    children = [tree.add_node(tree.depth[node] + 1, n, stats) for n, stats in branches]
    tree.children[node] = children
    return children


def _join(
    plan: Plan,
    state: State,
    bundle: Bundle,
    feature: int,
    tests: list[tuple[int, list[int], NDArray[np.int32]]],
) -> Split:
    """Bundle the children of tasks that test the same column: branch by branch, or category by category."""
    split = Split(feature, [], [])
    multiway = bool(plan.coding.nominal[feature]) and plan.growth.splits == "multiway"
    width = len(tests[0][2])
    for key in range(width if multiway else 2):
        table = np.zeros(CODES, np.uint64)
        lanes: list[tuple[int, int]] = []
        maps = []
        for task, children, branch_of in tests:
            branch = int(branch_of[key]) if multiway else key
            if branch < 0 or not state.trees[task].wants_test(
                children[branch], plan.limits[task], plan.coding.n_classes
            ):
                continue
            lanes.append((task, children[branch]))
            taken = np.arange(width) == key if multiway else branch_of == key
            table[:width][taken] |= np.uint64(1 << task)
            maps.append(branch_of)
        if not lanes:
            continue
        mixed = bundle.mixed or (not multiway and _conflict(maps))
        split.children.append(len(state.bundles))
        split.tables.append(table)
        sizes = [state.trees[task].n_rows[node] for task, node in lanes]
        union = sum(sizes) if mixed or len(sizes) == 1 else sum(sizes) // (len(sizes) - 1)
        state.frontier.append(len(state.bundles))
        state.bundles.append(
            Bundle(
                bundle.depth + 1,
                tuple(task for task, _ in lanes),
                tuple(node for _, node in lanes),
                mixed,
                min(union, bundle.n_rows),
            )
        )
    return split


def _conflict(maps: list[NDArray[np.int32]]) -> bool:
    """Whether two tasks send some code of both of them different ways."""
    all_maps = np.array(maps)
    most = all_maps.max(axis=0)
    least = np.where(all_maps < 0, most, all_maps).min(axis=0)
    return bool(np.any(most != least))
