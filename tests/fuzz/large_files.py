"""Time and memory that wide and packed files take: `cd tests; python -m fuzz.large_files`."""

import gzip
import multiprocessing
import resource
import tempfile
import time
from pathlib import Path

from crosscut import read_file

COLUMNS = 100_000


def wide_csv(path):
    rows = [[f"a{i}" for i in range(COLUMNS)], *([str(i * r % 7) for i in range(COLUMNS)] for r in range(20))]
    path.write_text("".join(",".join(row) + "\n" for row in rows))


def wide_arff(path):
    names = "".join(f"@attribute a{i} numeric\n" for i in range(COLUMNS))
    path.write_text(f"@relation r\n{names}@data\n" + "".join(f"{{{r} 1, {r + 50} 2}}\n" for r in range(20)))


def bomb(path):
    with gzip.open(path, "wb", 1) as file:
        file.write(b"x,y\n")
        for _ in range(3 << 10):
            file.write(b"1,a\n" * (1 << 18))


FILES = {"wide.csv": wide_csv, "wide.arff": wide_arff, "bomb.csv.gz": bomb}


def read(path):
    """Read a file with 5 GB of address space, and tell what it took."""
    resource.setrlimit(resource.RLIMIT_AS, (5 << 30, 5 << 30))
    before, begin = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    try:
        said = f"{read_file(path).num_columns:,} columns"
    except MemoryError as error:
        said = f"refused: {error}"
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seconds = time.process_time() - begin
    print(
        f"{path.name}, {path.stat().st_size / 1e6:.0f} MB: {seconds:.1f} s of processor time, "
        f"{most / 1e6:.2f} GB, {before / 1e6:.2f} before; {said}"
    )


def main():
    with tempfile.TemporaryDirectory() as folder:
        for name, write in FILES.items():
            path = Path(folder, name)
            write(path)
            process = multiprocessing.get_context("spawn").Process(target=read, args=(path,))
            process.start()
            process.join()


if __name__ == "__main__":
    main()
