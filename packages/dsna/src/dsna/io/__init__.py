"""Model files: save and load fitted estimators, with no pickle and no code inside."""

from .archive import ModelFileError
from .model_file import load, save

__all__ = ["ModelFileError", "load", "save"]
