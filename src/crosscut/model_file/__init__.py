"""Model files: a documented, versioned format that cannot run code (docs/model-format.md)."""

from crosscut.model_file.model import load_model, save_model
from crosscut.training.stored import ModelFileError

__all__ = ["ModelFileError", "load_model", "save_model"]
