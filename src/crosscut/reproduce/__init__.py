"""The experiments of the paper, run again on this machine."""

from crosscut.reproduce.reproduction import reproduce

__all__ = ["reproduce"]
