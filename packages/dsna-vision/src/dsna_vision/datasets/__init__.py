"""Readers of picture collections in their original layout; nothing is downloaded or copied."""

from .boundaries import BoundarySet, load_boundaries, load_bsds500
from .fgnet import load_fgnet
from .morph import load_morph
from .nyud import load_nyud
from .pictures import MissingPictures, PictureSet
from .pointing04 import load_pointing04
from .utkface import load_utkface

__all__ = [
    "BoundarySet",
    "MissingPictures",
    "PictureSet",
    "load_boundaries",
    "load_bsds500",
    "load_fgnet",
    "load_morph",
    "load_nyud",
    "load_pointing04",
    "load_utkface",
]
