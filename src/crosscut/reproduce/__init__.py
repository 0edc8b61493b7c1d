"""The experiments of the paper, repeated on this machine."""

from crosscut.reproduce.reproduction import reproduce

__all__ = ["reproduce"]
