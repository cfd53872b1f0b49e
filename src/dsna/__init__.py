"""Imbalanced classification and regression with cost-sensitive forests and sparse neighbour approximation.

Public names are imported when they are first used: scikit-learn and numba take a while, and not every command of the
command line needs them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .classifier import DSNAClassifier
    from .forest import CostSensitiveForestClassifier, CostSensitiveForestRegressor
    from .io.model_file import ModelFileError, load, save
    from .presets import AFFINE_HULL, FACES, PAPER
    from .regressor import DSNARegressor

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
_MODULES = {
    "AFFINE_HULL": "presets",
    "FACES": "presets",
    "PAPER": "presets",
    "CostSensitiveForestClassifier": "forest",
    "CostSensitiveForestRegressor": "forest",
    "DSNAClassifier": "classification",
    "DSNARegressor": "regression",
    "ModelFileError": "persistence",
    "load": "persistence",
    "save": "persistence",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
