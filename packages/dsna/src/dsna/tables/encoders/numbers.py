"""Columns that stay one column of numbers: numbers, booleans and ordered text."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from ..._utils.invariants import Array, Choice
from ..cells import Cells
from ..column_types import ColumnType
from .base import FLAG, MISSING_COLUMN, SHOWN, ColumnEncoder, Notes, Settings, check_readable


class _OneColumn(ColumnEncoder):
    """Base class: one column of numbers, with NaN where there is none; :class:`.filling.Filling` fills them in."""

    filled = True
    indicator: bool

    def _what(self) -> str:
        """What messages call the values."""
        return f"{self.kind}s"

    @abstractmethod
    def _values(self, cells: Cells) -> tuple[np.ndarray, np.ndarray]:
        """Values with NaN where there is none, and which cells hold something else."""

    def suffixes(self) -> list[str]:
        """What is added to the name of the column, for each column of numbers."""
        return ["", MISSING_COLUMN][: 1 + self.indicator]

    def encode(self, cells: Cells, notes: Notes) -> np.ndarray:
        """(n, n_columns) float64."""
        values, strange = self._values(cells)
        check_readable(cells, strange, self._what(), notes)
        missing = np.isnan(values)
        return self._with_missing([values], missing, cells.name, notes)

    def _learn(self, cells: Cells, notes: Notes) -> None:
        """Whether any value was missing."""
        values, strange = self._values(cells)
        check_readable(cells, strange, self._what(), notes)
        self.missing = self.indicator = bool(np.isnan(values).any())


class NumberEncoder(_OneColumn):
    """Numbers as they are.

    Parameters
    ----------
    decimal : decimal sign of text, or "" where training did not show it.

    Examples
    --------
    >>> import numpy as np
    >>> cells = Cells("a", "number", np.array([1.0, np.nan, 5.0, 3.0]))
    >>> NumberEncoder(missing=True).encode(cells, Notes()).tolist()
    [[1.0, 0.0], [nan, 1.0], [5.0, 0.0], [3.0, 0.0]]
    """

    kind = "number"
    FIELDS = {"missing": FLAG, "indicator": FLAG, "decimal": Choice(("", ".", ","))}

    def __init__(self, decimal: str = "", missing: bool = False):
        self.decimal, self.missing, self.indicator = decimal, missing, missing
        self.check()

    @classmethod
    def fit(cls, cells: Cells, kind: ColumnType, settings: Settings, notes: Notes) -> ColumnEncoder:
        """Learn from all cells of a training column."""
        learned = cls(kind.decimal)
        learned._learn(cells, notes)
        return learned

    def _values(self, cells: Cells) -> tuple[np.ndarray, np.ndarray]:
        return cells.numbers(self.decimal)


class BooleanEncoder(_OneColumn):
    """0 for false and 1 for true.

    Examples
    --------
    >>> from dsna.tables.words import words_of
    >>> cells = Cells("a", "text", words_of(["yes", "No", "", "yes"]))
    >>> BooleanEncoder().encode(cells, Notes())[:, 0].tolist()
    [1.0, 0.0, nan, 1.0]
    """

    kind = "boolean"
    FIELDS = {"missing": FLAG, "indicator": FLAG}

    def __init__(self, missing: bool = False):
        self.missing = self.indicator = missing
        self.check()

    @classmethod
    def fit(cls, cells: Cells, kind: ColumnType, settings: Settings, notes: Notes) -> ColumnEncoder:
        """Learn from all cells of a training column."""
        learned = cls()
        learned._learn(cells, notes)
        return learned

    def _values(self, cells: Cells) -> tuple[np.ndarray, np.ndarray]:
        return cells.booleans()


class OrderedEncoder(_OneColumn):
    """Ordered text as its rank from 0 on.

    Examples
    --------
    >>> import numpy as np
    >>> from dsna.tables.words import words_of
    >>> cells = Cells("a", "text", words_of(["M", "S", "L", "?"]))
    >>> sizes = OrderedEncoder(levels=np.array(["S", "M", "L"], dtype=object))
    >>> sizes.encode(cells, Notes())[:, 0].tolist()
    [1.0, 0.0, 2.0, nan]
    """

    kind = "ordered"
    FIELDS = {"levels": Array("object", "levels"), "missing": FLAG, "indicator": FLAG}

    def __init__(self, levels: np.ndarray, missing: bool = False):
        self.levels, self.missing, self.indicator = levels, missing, missing
        self.check()

    @classmethod
    def fit(cls, cells: Cells, kind: ColumnType, settings: Settings, notes: Notes) -> ColumnEncoder:
        """Learn from all cells of a training column."""
        learned = cls(np.array([*kind.levels], dtype=object))
        learned._learn(cells, notes)
        return learned

    def _what(self) -> str:
        return f"levels such as {', '.join(self.levels[:SHOWN])}"

    def _values(self, cells: Cells) -> tuple[np.ndarray, np.ndarray]:
        words = cells.words()
        rank = {level: float(place) for place, level in enumerate(self.levels.tolist())}
        by_value = np.array([rank.get(value, np.nan) for value in words.values], dtype=np.float64)
        return words.spread(by_value, np.nan), words.spread(np.isnan(by_value), False)
