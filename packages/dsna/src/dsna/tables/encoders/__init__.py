"""One column -> columns of numbers, a class for each kind of column; what is learned is plain values.

Each class learns from training cells alone (``fit``) and never from the target, says what its columns are called
(``suffixes``) and encodes other cells (``encode``).
"""

from .base import ColumnEncoder, LeftOut, Notes, Settings
from .dates import DateEncoder
from .filling import Filling, telling_gaps
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

__all__ = ["ENCODERS", "ColumnEncoder", "Filling", "Notes", "Settings", "telling_gaps"]
