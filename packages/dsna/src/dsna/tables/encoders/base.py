"""Base class of column encoders, with the handling of missing and unreadable cells and of notes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import numpy as np

from ..._utils.errors import DSNAError
from ..._utils.invariants import Checked, Choice
from ..cells import Cells, Unreadable
from ..column_types import ColumnType

MISSING_COLUMN = "=(missing)"
SHOWN = 3  # example values in a note
_LONGEST = 60  # characters of a category in a column name
FLAG = Choice((False, True))


class EncoderSettings(NamedTuple):
    """Parameters of :class:`~dsna.tables.TableEncoder` that column encoders use."""

    max_categories: int
    min_rows: int
    text_columns: int


@dataclass
class Notes:
    """Messages about the rows being encoded; ``warnings`` are those that users should see.

    Parameters
    ----------
    lenient : bool
        Whether unreadable cells are only counted, in ``unreadable``, even if they fill a whole column.
    """

    messages: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    lenient: bool = False
    unreadable: dict[str, Unreadable] = field(default_factory=dict)

    def add(self, message: str) -> None:
        """Note something expected."""
        self.messages.append(message)

    def warn(self, message: str) -> None:
        """Note something that the user should look into."""
        self.messages.append(message)
        self.warnings.append(message)


class ColumnEncoder(Checked, ABC):
    """Base class of column encoders.

    Parameters
    ----------
    missing : bool
        Whether values were missing in training.
    indicator : bool
        Whether an output column marks missing values: if there were any, unless gaps in numbers are uninformative.
    """

    kind: ClassVar[str]
    filled: ClassVar[bool] = False  # whether the first column may hold NaN, which Filling replaces
    missing: bool
    indicator: bool

    @classmethod
    @abstractmethod
    def fit(cls, cells: Cells, column_type: ColumnType, settings: EncoderSettings, notes: Notes) -> ColumnEncoder:
        """Fit to the cells of a training column."""

    @abstractmethod
    def suffixes(self) -> list[str]:
        """Return the suffixes that turn the name of the input column into those of the output columns."""

    @abstractmethod
    def encode(self, cells: Cells, notes: Notes) -> np.ndarray:
        """Encode cells as an (n, n_columns) float64 array; see ``filled``."""

    def _with_missing(self, columns: list[np.ndarray], missing: np.ndarray, name: str, notes: Notes) -> np.ndarray:
        """Stack output columns, with the indicator of missing values if there is one."""
        if self.indicator:
            columns = [*columns, missing.astype(np.float64)]
        elif missing.any() and not self.missing:
            notes.add(f"column {name!r}: {missing.sum()} missing values are filled in, although training had none")
        return np.column_stack(columns) if columns else np.empty((len(missing), 0))


def check_readable(cells: Cells, unreadable: np.ndarray, expected: str, notes: Notes) -> None:
    """Refuse a column of which no cell can be read; note single unreadable cells.

    Parameters
    ----------
    unreadable : (n,) bool.
    expected : plural name of the values that can be read, such as "numbers".
    """
    n_unreadable, n_filled = int(unreadable.sum()), int((~cells.missing()).sum())
    notes.unreadable[cells.name] = Unreadable(n_unreadable, n_filled, expected)
    if not n_unreadable:
        return
    words = cells.words()
    values = [words.values[code] for code in words.codes[unreadable][: 10 * SHOWN].tolist()]
    examples = tuple(repr(shortened(value)) for value in list(dict.fromkeys(values))[:SHOWN])
    notes.unreadable[cells.name] = Unreadable(n_unreadable, n_filled, expected, examples)
    if notes.lenient:
        return
    if n_unreadable == n_filled:
        raise DSNAError(
            f"Column {cells.name!r} holds {', '.join(examples)}, where training had {expected}: is it another column "
            "with the same name?"
        )
    notes.warn(f"column {cells.name!r}: {notes.unreadable[cells.name].text()}: taken for missing values")


def shortened(text: str) -> str:
    """Truncate a value for use in a name or a message."""
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


class LeftOut(ColumnEncoder):
    """Encoder without output columns, for identifiers and constants."""

    kind = ""
    FIELDS = {"why": Choice(("identifier", "constant"))}
    missing = indicator = False

    def __init__(self, why: str):
        self.why = why
        self.check()

    @classmethod
    def fit(cls, cells: Cells, column_type: ColumnType, settings: EncoderSettings, notes: Notes) -> ColumnEncoder:
        """Fit to the cells of a training column."""
        if column_type.kind == "identifier":
            notes.add(f"column {cells.name!r} is left out: it identifies rows, each has a value of its own")
        else:
            content = "no value" if cells.missing().all() else "one value only"
            notes.add(f"column {cells.name!r} is left out: it holds {content}")
        return cls(column_type.kind)

    def suffixes(self) -> list[str]:
        """Return the suffixes that turn the name of the input column into those of the output columns."""
        return []

    def encode(self, cells: Cells, notes: Notes) -> np.ndarray:
        """Encode cells as an (n, n_columns) float64 array."""
        return np.empty((len(cells), 0))
