"""Model files: a documented, versioned format that cannot run code (docs/model-format.md)."""

from crosscut.model_file.container import ModelFileError
from crosscut.model_file.model import load_model, save_model

__all__ = ["ModelFileError", "load_model", "save_model"]
