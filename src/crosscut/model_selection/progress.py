"""The lines that ``verbose`` prints, as scikit-learn words them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from joblib.logger import short_format_time

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def print_fits(
    verbose: int,
    results: Sequence[Mapping[str, Any]],
    candidates: Sequence[Mapping[str, Any] | None],
    n_splits: int,
    *,
    numbered: bool = False,
) -> None:
    """Print one line per candidate and split if ``verbose`` is above 1, with the scores if above 2."""
    if verbose <= 1:
        return
    for k, result in enumerate(results):
        candidate, s = candidates[k // n_splits], k % n_splits
        progress = f" {s + 1}/{n_splits}" if numbered and verbose > 2 else ""
        if numbered and verbose > 9:
            progress += f"; {k // n_splits + 1}/{len(candidates)}"
        said = (
            "" if candidate is None else ", ".join(f"{name}={candidate[name]}" for name in sorted(candidate))
        )
        said += ";" if said else ""
        if verbose > 2:
            said += _scores(result)
        said += f" total time={short_format_time(result['fit_time'] + result['score_time'])}"
        start = f"[CV{progress}] END "
        print(f"{start}{'.' * (80 - len(start) - len(said))}{said}")  # noqa: T201 - what verbose asks for


def _scores(result: Mapping[str, Any]) -> str:
    test, train = result["test_scores"], result.get("train_scores")
    if isinstance(test, dict):
        return "".join(
            f" {name}: ({'' if train is None else f'train={train[name]:.3f}, '}test={test[name]:.3f})"
            for name in sorted(test)
        )
    return f", score={test:.3f}" if train is None else f", score=(train={train:.3f}, test={test:.3f})"
