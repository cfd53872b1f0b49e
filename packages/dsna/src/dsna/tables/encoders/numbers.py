"""Encoders with one column of numbers: of numbers, booleans and ordered text."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from ..._utils.invariants import Array, Choice
from ..cells import Cells
from ..column_types import ColumnType
from .base import FLAG, MISSING_COLUMN, SHOWN, ColumnEncoder, EncoderSettings, Notes, check_readable


class _SingleColumnEncoder(ColumnEncoder):
    """Base class of encoders with one column of numbers, NaN where missing; :class:`.filling.Filling` imputes these."""

    filled = True
    indicator: bool

    def _value_name(self) -> str:
        """Plural name of the values in messages."""
        return f"{self.kind}s"

    @abstractmethod
    def _values(self, cells: Cells) -> tuple[np.ndarray, np.ndarray]:
        """Return the values, NaN where missing or unreadable, and a mask of unreadable cells."""

    def suffixes(self) -> list[str]:
        """Return the suffixes that turn the name of the input column into those of the output columns."""
        return ["", MISSING_COLUMN][: 1 + self.indicator]

    def encode(self, cells: Cells, notes: Notes) -> np.ndarray:
        """Encode cells as an (n, n_columns) float64 array."""
        values, unreadable = self._values(cells)
        check_readable(cells, unreadable, self._value_name(), notes)
        missing = np.isnan(values)
        return self._with_missing([values], missing, cells.name, notes)

    def _learn(self, cells: Cells, notes: Notes) -> None:
        """Learn whether values are missing."""
        values, unreadable = self._values(cells)
        check_readable(cells, unreadable, self._value_name(), notes)
        self.missing = self.indicator = bool(np.isnan(values).any())


class NumberEncoder(_SingleColumnEncoder):
    """Keep numbers unchanged.

    Parameters
    ----------
    decimal : decimal sign of numbers written as text, or "" if training did not determine it.

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
    def fit(cls, cells: Cells, column_type: ColumnType, settings: EncoderSettings, notes: Notes) -> ColumnEncoder:
        """Fit to the cells of a training column."""
        encoder = cls(column_type.decimal)
        encoder._learn(cells, notes)
        return encoder

    def _values(self, cells: Cells) -> tuple[np.ndarray, np.ndarray]:
        return cells.numbers(self.decimal)


class BooleanEncoder(_SingleColumnEncoder):
    """Encode false as 0 and true as 1.

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
    def fit(cls, cells: Cells, column_type: ColumnType, settings: EncoderSettings, notes: Notes) -> ColumnEncoder:
        """Fit to the cells of a training column."""
        encoder = cls()
        encoder._learn(cells, notes)
        return encoder

    def _values(self, cells: Cells) -> tuple[np.ndarray, np.ndarray]:
        return cells.booleans()


class OrderedEncoder(_SingleColumnEncoder):
    """Encode ordered text as ranks, starting at 0.

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
    def fit(cls, cells: Cells, column_type: ColumnType, settings: EncoderSettings, notes: Notes) -> ColumnEncoder:
        """Fit to the cells of a training column."""
        encoder = cls(np.array([*column_type.levels], dtype=object))
        encoder._learn(cells, notes)
        return encoder

    def _value_name(self) -> str:
        return f"levels such as {', '.join(self.levels[:SHOWN])}"

    def _values(self, cells: Cells) -> tuple[np.ndarray, np.ndarray]:
        words = cells.words()
        rank_of_level = {level: float(rank) for rank, level in enumerate(self.levels.tolist())}
        ranks = np.array([rank_of_level.get(value, np.nan) for value in words.values], dtype=np.float64)
        return words.expand(ranks, np.nan), words.expand(np.isnan(ranks), False)
