"""Imbalanced classification and regression with cost-sensitive forests and sparse neighbour approximation."""

from .classification import DSNAClassifier
from .forest import CostSensitiveForestClassifier, CostSensitiveForestRegressor
from .persistence import ModelFileError, load, save
from .presets import AFFINE_HULL, FACES, PAPER
from .regression import DSNARegressor

__version__ = "0.1.0"
__all__ = [
    "AFFINE_HULL",
    "FACES",
    "PAPER",
    "CostSensitiveForestClassifier",
    "CostSensitiveForestRegressor",
    "DSNAClassifier",
    "DSNARegressor",
    "ModelFileError",
    "load",
    "save",
]
