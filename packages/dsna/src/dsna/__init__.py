"""Imbalanced classification and regression with cost-sensitive forests and sparse neighbour approximation.

Public names are imported when they are first used: scikit-learn and numba take a while, and not every command of the
command line needs them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import presets
    from ._utils.errors import DSNAError, DSNAWarning
    from .approximation import Approximation
    from .classifier import DSNAClassifier
    from .forest import CostSensitiveForestClassifier, CostSensitiveForestRegressor
    from .io import ModelFileError, load, save
    from .regressor import DSNARegressor

__version__ = "0.1.0"
__all__ = [
    "Approximation",
    "CostSensitiveForestClassifier",
    "CostSensitiveForestRegressor",
    "DSNAClassifier",
    "DSNAError",
    "DSNARegressor",
    "DSNAWarning",
    "ModelFileError",
    "load",
    "presets",
    "save",
]
_MODULES = {
    "Approximation": "approximation",
    "CostSensitiveForestClassifier": "forest",
    "CostSensitiveForestRegressor": "forest",
    "DSNAClassifier": "classifier",
    "DSNAError": "_utils.errors",
    "DSNARegressor": "regressor",
    "DSNAWarning": "_utils.errors",
    "ModelFileError": "io",
    "load": "io",
    "presets": "presets",
    "save": "io",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module(f"{__name__}.{_MODULES[name]}")
    value = module if name == _MODULES[name] else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
