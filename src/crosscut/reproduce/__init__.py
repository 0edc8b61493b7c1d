"""The experiments of the paper, run again on this machine."""
