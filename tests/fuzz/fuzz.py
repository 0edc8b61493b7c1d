"""Attack crosscut with damaged input: `cd tests; python -m fuzz.fuzz models readers bindings --cases 100000`.

`bindings:rules` are those of one folder of cpp/; `--module tests.fuzz.targets` attacks crosscut-relational.

Cases run in a process of their own. What takes long is interrupted, as by Ctrl-C, and the process is killed
if that does not help. A case that crashes, hangs or raises an error that is no refusal is reported with its
number, which `--first N --cases 1` repeats.
"""

import argparse
import faulthandler
import os
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from importlib import import_module
from pathlib import Path

import numpy as np

LIMIT = 10  # seconds of processor time
TESTS = Path(__file__).parents[1]
FOLDERS = [str(TESTS.parent / name) for name in ("relational", "benchmarks")]  # of relational's targets
PATHS = {**os.environ, "PYTHONPATH": os.pathsep.join(FOLDERS)}


def work(name, first, cases, seconds, module):
    """Run cases, printing the number and what is attacked before each attack."""
    found = import_module(module).TARGETS
    faulthandler.enable()
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    warnings.simplefilter("ignore")
    kind, _, group = name.partition(":")
    target = found[kind](group) if group else found[kind]()
    begin = time.monotonic()
    for case in range(first, first + cases):
        if time.monotonic() - begin > seconds:
            break
        for what in target.attack(np.random.default_rng(case)):
            if what is not None:
                print(case, what, flush=True)
            signal.setitimer(signal.ITIMER_PROF, LIMIT)
            signal.alarm(target.patience)
    print("done", flush=True)


def preloaded(name, module, folder):
    """Return the environment of a target's process: some targets preload a library."""
    sys.path += FOLDERS
    source = getattr(import_module(module).TARGETS[name.partition(":")[0]], "preload", None)
    if source is None:
        return PATHS
    library = f"{folder}/preload.so"
    compiler = os.environ.get("CXX", "c++")
    subprocess.run(
        [compiler, "-O1", "-shared", "-fPIC", "-std=c++20", TESTS / "fuzz" / source, "-o", library],
        check=True,
    )
    return PATHS | {"LD_PRELOAD": f"{library} {PATHS.get('LD_PRELOAD', '')}".strip()}


def attack(name, first, cases, seconds, module="fuzz.targets"):
    """Return how often each thing was attacked, and what went wrong in which cases."""
    with tempfile.TemporaryDirectory() as folder:
        return _attack(name, first, cases, seconds, module=module, variables=preloaded(name, module, folder))


def _attack(name, first, cases, seconds, *, module, variables):
    faults, begin, end, tried = [], time.monotonic(), first + cases, Counter()
    while first < end and (left := seconds - (time.monotonic() - begin)) > 0:
        command = [sys.executable, "-m", "fuzz.fuzz", "--work", name, "--first", str(first)]
        command += ["--cases", str(end - first), "--seconds", str(left), "--module", module]
        result = subprocess.run(
            command, capture_output=True, text=True, check=False, cwd=TESTS, env=variables
        )
        lines = result.stdout.splitlines()
        tried.update(line.split()[1] for line in lines if line != "done")
        if lines[-1:] == ["done"]:
            break
        if not lines:
            raise RuntimeError(result.stderr)
        said = result.stderr.strip()
        faults.append(
            (lines[-1], result.returncode, said if len(said) < 2000 else f"{said[:1000]} … {said[-1000:]}")
        )
        first = int(lines[-1].split()[0]) + 1
    return tried, faults


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="*", default=["models", "readers", "bindings"])
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--module", default="fuzz.targets", help="the module that has the targets")
    parser.add_argument("--work", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.work:
        work(given.work, given.first, given.cases, given.seconds, given.module)
        return
    wrong = 0
    for name in given.targets:
        tried, faults = attack(name, given.first, given.cases, given.seconds, given.module)
        for case, code, said in faults:
            print(f"{name} case {case}: exit code {code}\n{said}\n")
        print(
            f"{name}: {tried.total():,} attacks, {len(faults)} faults;",
            *(f"{n:,} {what}" for what, n in tried.most_common()),
        )
        wrong += len(faults)
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
