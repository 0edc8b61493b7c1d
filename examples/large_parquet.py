"""Cross-validate a tree on files of 20 million rows: `python examples/large_parquet.py [FOLDER] [ROWS]`.

The Parquet files and the plot are written to FOLDER; 20 million rows take about 250 MB.
"""

import resource
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from crosscut import Stream, TreeClassifier
from crosscut.plot import plot_tree

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path()
n_rows = int(sys.argv[2]) if len(sys.argv) > 2 else 20_000_000
n_files = 20

# one file per month: flights, and whether they were late
carriers = [f"C{i}" for i in range(12)]
for month in range(n_files):
    rng = np.random.default_rng(month)
    n = n_rows // n_files
    hour, distance = rng.integers(0, 24, n), rng.gamma(2, 400, n).astype(np.float32)
    wind, carrier = rng.weibull(2, n).astype(np.float32) * 12, rng.integers(0, 12, n)
    chance = 0.08 + 0.25 * (hour > 16) + 0.35 * (wind > 20) + 0.15 * ((carrier > 8) & (distance > 900))
    names = pa.DictionaryArray.from_arrays(carrier, carriers)
    flights = {"hour": hour, "distance": distance, "wind": wind, "carrier": names}
    table = pa.table(flights | {"late": rng.random(n) < chance})
    parquet.write_table(table, folder / f"flights-{month:02}.parquet")

start = time.perf_counter()
stream = Stream(folder / "flights-*.parquet", memory_limit="512MB")
model = TreeClassifier(max_depth=4, prune="1se", cv=10).fit(stream, "late")
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(f"{n_rows:,} rows, eleven trees: {time.perf_counter() - start:.0f} s, {peak / 1e6:.1f} GB at most")
print(f"accuracy on unseen rows {model.cv_score_:.4f} ± {model.cv_standard_error_:.5f}")
print(model.to_text())
plot_tree(model, max_depth=3).figure.savefig(folder / "large-parquet.svg", metadata={"Date": None})
