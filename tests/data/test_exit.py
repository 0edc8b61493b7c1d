"""A process that ends while pyarrow reads ahead."""

import subprocess
import sys
import textwrap

import pytest


@pytest.mark.parametrize(("encoding", "quote"), [("cp1252", '"'), ("utf-8", ' "')])
def test_a_reader_that_is_left_does_not_hold_up_the_end(tmp_path, encoding, quote):
    path = tmp_path / "a.csv"
    row = f'{quote}für",' * 20 + "1\n"
    path.write_text(row * 60_000, encoding=encoding)
    program = textwrap.dedent("""
        import sys
        from pathlib import Path
        from crosscut.data.text.dialect import TextOptions
        from crosscut.data.source import Source

        source = Source(Path(sys.argv[1]), batch_rows=1000, options=TextOptions())
        print(next(iter(source.read(source.pieces[0])))[1].num_rows)
    """)
    done = subprocess.run(
        [sys.executable, "-c", program, path], capture_output=True, text=True, timeout=100, check=True
    )
    assert (done.stdout, done.stderr) == ("1000\n", "")
