"""Readers of picture collections in the layouts of their owners; nothing is downloaded or copied."""

from .fgnet import load_fgnet
from .morph import load_morph
from .pictures import PictureSet
from .pointing04 import load_pointing04
from .utkface import load_utkface

__all__ = ["PictureSet", "load_fgnet", "load_morph", "load_pointing04", "load_utkface"]
