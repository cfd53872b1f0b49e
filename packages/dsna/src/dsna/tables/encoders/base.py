"""What the encoders of all kinds of columns share: notes, missing values, cells that are of another kind."""

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
SHOWN = 3  # values that a note names
_LONGEST = 60  # letters of a category in the name of its column
FLAG = Choice((False, True))


class Settings(NamedTuple):
    """What the encoder says to its columns; see :class:`~dsna.tables.TableEncoder`."""

    max_categories: int
    min_rows: int
    text_columns: int


@dataclass
class Notes:
    """What is worth saying of the rows at hand; ``warnings`` is the part of it that should not pass unseen.

    Parameters
    ----------
    lenient : bool
        Whether cells that cannot be read are only counted, in ``unreadable``, also where a column has no others.
    """

    said: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    lenient: bool = False
    unreadable: dict[str, Unreadable] = field(default_factory=dict)

    def say(self, text: str) -> None:
        """Note something that was expected."""
        self.said.append(text)

    def warn(self, text: str) -> None:
        """Note something that the user should look into."""
        self.said.append(text)
        self.warnings.append(text)


class ColumnEncoder(Checked, ABC):
    """Base class: imputation and the indicator of missing values.

    Parameters
    ----------
    missing : bool
        Whether values were missing in training.
    indicator : bool
        Whether a column says where they are; if they were, but for numbers whose gaps tell nothing.
    """

    kind: ClassVar[str]
    filled: ClassVar[bool] = False  # whether NaN in the first column is left to be filled in
    missing: bool

    indicator: bool

    @classmethod
    @abstractmethod
    def fit(cls, cells: Cells, kind: ColumnType, settings: Settings, notes: Notes) -> ColumnEncoder:
        """Learn from all cells of a training column."""

    @abstractmethod
    def suffixes(self) -> list[str]:
        """What is added to the name of the column, for each column of numbers."""

    @abstractmethod
    def encode(self, cells: Cells, notes: Notes) -> np.ndarray:
        """(n, n_columns) float64; see ``filled``."""

    def _with_missing(self, columns: list[np.ndarray], missing: np.ndarray, name: str, notes: Notes) -> np.ndarray:
        """Columns beside the indicator of missing values, if there is one."""
        if self.indicator:
            columns = [*columns, missing.astype(np.float64)]
        elif missing.any() and not self.missing:
            notes.say(
                f"column {name!r}: {int(missing.sum())} missing values, of which training had none, are filled in as "
                "usual ones"
            )
        return np.column_stack(columns) if columns else np.empty((len(missing), 0))


def check_readable(cells: Cells, strange: np.ndarray, what: str, notes: Notes) -> None:
    """Refuse a column that holds nothing of its kind; note single cells that do not."""
    n, filled = int(strange.sum()), int((~cells.missing()).sum())
    notes.unreadable[cells.name] = Unreadable(n, filled, what)
    if not n:
        return
    words = cells.words()
    shown = list(dict.fromkeys(words.values[code] for code in words.codes[strange][: 10 * SHOWN].tolist()))[:SHOWN]
    examples = tuple(repr(shortened(value)) for value in shown)
    notes.unreadable[cells.name] = Unreadable(n, filled, what, examples)
    such = ", ".join(examples)
    if notes.lenient:
        return
    if n == filled:
        raise DSNAError(
            f"Column {cells.name!r} holds {such}, where training had {what}: is it another column under this name?"
        )
    notes.warn(f"column {cells.name!r}: {n} cells, such as {such}, are no {what}: taken for missing values")


def shortened(text: str) -> str:
    """A value of a length that fits into a name or a message."""
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


class LeftOut(ColumnEncoder):
    """A column that tells nothing: an identifier or a constant."""

    kind = ""
    FIELDS = {"why": Choice(("identifier", "constant"))}
    missing = indicator = False

    def __init__(self, why: str):
        self.why = why
        self.check()

    @classmethod
    def fit(cls, cells: Cells, kind: ColumnType, settings: Settings, notes: Notes) -> ColumnEncoder:
        """Learn from all cells of a training column."""
        if kind.kind == "identifier":
            notes.say(f"column {cells.name!r} is left out: it identifies rows, each has a value of its own")
        else:
            held = "no value" if cells.missing().all() else "one value only"
            notes.say(f"column {cells.name!r} is left out: it holds {held}")
        return cls(kind.kind)

    def suffixes(self) -> list[str]:
        """What is added to the name of the column, for each column of numbers."""
        return []

    def encode(self, cells: Cells, notes: Notes) -> np.ndarray:
        """(n, n_columns) float64."""
        return np.empty((len(cells), 0))
