"""Encoders of single columns, one class for each kind of column.

An encoder is fitted to training cells alone, never to the target (``fit``), names its output columns (``suffixes``) and
encodes cells as numbers (``encode``). Fitted attributes are plain values.
"""

from .base import ColumnEncoder, EncoderSettings, LeftOut, Notes
from .dates import DateEncoder
from .filling import Filling, informative_gaps
from .numbers import BooleanEncoder, NumberEncoder, OrderedEncoder
from .words import CategoryEncoder, TextEncoder

#: The encoder of each kind of column.
ENCODERS: dict[str, type[ColumnEncoder]] = {
    "number": NumberEncoder,
    "boolean": BooleanEncoder,
    "ordered": OrderedEncoder,
    "category": CategoryEncoder,
    "date": DateEncoder,
    "text": TextEncoder,
    "identifier": LeftOut,
    "constant": LeftOut,
}

__all__ = ["ENCODERS", "ColumnEncoder", "EncoderSettings", "Filling", "Notes", "informative_gaps"]
