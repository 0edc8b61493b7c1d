"""The experiments of the paper, repeated on this machine: `benchmarks/reproduce.py` runs them."""
