"""Attack crosscut with damaged input: `cd tests; python -m fuzz.fuzz models readers bindings --cases 100000`.

Cases run in a process of their own, each with a time limit. One that crashes, hangs or raises an error that
is not a refusal is reported with its number, which `--first N --cases 1` repeats.
"""

import argparse
import faulthandler
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np

LIMIT = 10  # seconds of a case
TESTS = Path(__file__).parents[1]


def work(name, first, cases, seconds):
    """Run cases, printing the number of each before it begins."""
    from .targets import TARGETS

    faulthandler.enable()
    warnings.simplefilter("ignore")
    target = TARGETS[name]()
    begin = time.monotonic()
    for case in range(first, first + cases):
        if time.monotonic() - begin > seconds:
            break
        print(case, flush=True)
        signal.alarm(LIMIT)
        target.attack(np.random.default_rng(case))
    print("done", flush=True)


def attack(name, first, cases, seconds):
    """Return the number of cases, and what went wrong in which of them."""
    faults, begin, end, run = [], time.monotonic(), first + cases, 0
    while first < end and (left := seconds - (time.monotonic() - begin)) > 0:
        command = [sys.executable, "-m", "fuzz.fuzz", "--work", name, "--first", str(first)]
        command += ["--cases", str(end - first), "--seconds", str(left)]
        result = subprocess.run(command, capture_output=True, text=True, check=False, cwd=TESTS)
        lines = result.stdout.split()
        if lines and lines[-1] == "done":
            run += len(lines) - 1
            break
        if not lines:
            raise RuntimeError(result.stderr)
        case = int(lines[-1])
        run += case - first + 1
        faults.append((case, result.returncode, result.stderr.strip()[-1500:]))
        first = case + 1
    return run, faults


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="*", default=["models", "readers", "bindings"])
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--work", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.work:
        work(given.work, given.first, given.cases, given.seconds)
        return
    wrong = 0
    for name in given.targets:
        run, faults = attack(name, given.first, given.cases, given.seconds)
        for case, code, said in faults:
            print(f"{name} case {case}: exit code {code}\n{said}\n")
        print(f"{name}: {run:,} cases, {len(faults)} faults")
        wrong += len(faults)
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
