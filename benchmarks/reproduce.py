"""Run the experiments of the paper and write its tables and figures: `make reproduce`.

They compare growing all trees together with one by one: the five data sets of Table 1, the number of folds,
time per level, the cost model, and the same on tables.

    python benchmarks/reproduce.py                 # some minutes
    python benchmarks/reproduce.py --quick         # fewer repetitions, folds and rows: about a minute
    python benchmarks/reproduce.py --data FOLDER   # also measures the ACE files (app.kb, app.s) in a folder
"""

import argparse
import sys
from functools import partial
from pathlib import Path

from paper.reproduction import reproduce

if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="fewer repetitions, folds and rows")
    parser.add_argument("--data", type=Path, help="a folder with ACE files to be measured, too")
    parser.add_argument("--output", type=Path, default=Path("reproduction"), help="the folder to write to")
    options = parser.parse_args()
    report = partial(print, file=sys.stderr)
    print(reproduce(options.output, quick=options.quick, data=options.data, report=report))
