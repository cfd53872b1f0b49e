"""Columns of text: categories and free text."""

from __future__ import annotations

import re
import zlib

import numpy as np

from ..._utils.invariants import Array, Number
from ..cells import Cells
from ..column_types import ColumnType
from ..words import Words
from .base import FLAG, MISSING_COLUMN, SHOWN, ColumnEncoder, Notes, Settings, shortened

OTHER_COLUMN = "=(other)"
_MOST_KNOWN = 10_000  # categories whose frequencies are kept
_WORD = re.compile(r"\w+")


class CategoryEncoder(ColumnEncoder):
    """A column of 0 and 1 for each frequent category, and one for all others, which new ones join.

    Where there are more categories than columns, one more column holds the share of training rows of each.

    Parameters
    ----------
    kept : (n_kept,) categories that have a column.
    known, share : (n_known,) categories of training by frequency, and their share of the rows.
    other, frequency : whether there is a column for the other categories, and one for the share.
    """

    kind = "category"
    FIELDS = {
        "kept": Array("object", "kept"),
        "known": Array("object", "known"),
        "share": Array("float64", "known", 0.0, 1.0),
        "other": FLAG,
        "frequency": FLAG,
        "missing": FLAG,
        "indicator": FLAG,
    }

    def __init__(self, *, known: np.ndarray, share: np.ndarray, n_kept: int, frequency: bool, missing: bool):
        self.kept = np.array(sorted(known[:n_kept].tolist()), dtype=object)
        self.known, self.share = known, share
        self.other, self.frequency = n_kept < len(known), frequency
        self.missing = self.indicator = missing
        self.check()

    @classmethod
    def fit(cls, cells: Cells, kind: ColumnType, settings: Settings, notes: Notes) -> ColumnEncoder:
        """Learn from all cells of a training column."""
        words = cells.words()
        counts = words.counts
        order = sorted(range(len(counts)), key=lambda place: (-counts[place], words.values[place]))
        known = np.array([words.values[place] for place in order[:_MOST_KNOWN]], dtype=object)
        often = int((counts >= settings.min_rows).sum())
        many = len(counts) > settings.max_categories
        if many:
            notes.say(
                f"column {cells.name!r} holds {len(counts)} categories: the {min(often, settings.max_categories)} most "
                "frequent have columns of their own, the others share one, and one holds their frequency"
            )
        return cls(
            known=known,
            share=counts[order[:_MOST_KNOWN]] / max(len(words.codes), 1),
            n_kept=min(often, settings.max_categories) if often else min(len(known), settings.max_categories),
            frequency=many,
            missing=bool((words.codes < 0).any()),
        )

    def suffixes(self) -> list[str]:
        """What is added to the name of the column, for each column of numbers."""
        names = [f"={shortened(category)}" for category in self.kept]
        names += [OTHER_COLUMN] * self.other + [": frequency"] * self.frequency
        return names + [MISSING_COLUMN] * self.indicator

    def encode(self, cells: Cells, notes: Notes) -> np.ndarray:
        """(n, n_columns) float64."""
        words = cells.words()
        place = {category: column for column, category in enumerate(self.kept.tolist())}
        share = dict(zip(self.known.tolist(), self.share.tolist(), strict=True))
        n_hot = len(self.kept) + self.other
        # Others go to the column after those of the kept ones, which is cut off where there is none.
        hot = np.array([place.get(value, len(self.kept)) for value in words.values], dtype=np.int64)
        columns = np.zeros((len(words.codes), len(self.kept) + 2))
        columns[np.arange(len(words.codes)), words.spread(hot, len(self.kept) + 1)] = 1.0
        found = [columns[:, :n_hot]]
        new = [value for value in words.values if value not in share]
        if new:
            n = int(np.isin(words.codes, [words.values.index(value) for value in new[:1000]]).sum())
            such = ", ".join(repr(shortened(value)) for value in new[:SHOWN])
            notes.say(f"column {cells.name!r}: {n} rows hold categories that training had not, such as {such}")
        if self.frequency:
            by_value = np.array([share.get(value, 0.0) for value in words.values], dtype=np.float64)
            found.append(words.spread(by_value, 0.0)[:, None])
        return self._with_missing(found, words.codes < 0, cells.name, notes)


class TextEncoder(ColumnEncoder):
    """Free text: how long it is, and how often words occur, hashed into a few columns.

    Parameters
    ----------
    width : number of columns for words.

    Examples
    --------
    >>> from dsna.tables.words import words_of
    >>> cells = Cells("a", "text", words_of(["to be or not to be", ""]))
    >>> TextEncoder(width=4, missing=False).encode(cells, Notes()).shape
    (2, 6)
    """

    kind = "text"
    FIELDS = {"width": Number(1, 10_000, whole=True), "missing": FLAG, "indicator": FLAG}

    def __init__(self, width: int, missing: bool):
        self.width, self.missing, self.indicator = width, missing, missing
        self.check()

    @classmethod
    def fit(cls, cells: Cells, kind: ColumnType, settings: Settings, notes: Notes) -> ColumnEncoder:
        """Learn from all cells of a training column."""
        notes.say(
            f"column {cells.name!r} is free text: its length, its number of words and its words, hashed into "
            f"{settings.text_columns} columns, are used"
        )
        return cls(settings.text_columns, bool(cells.missing().any()))

    def suffixes(self) -> list[str]:
        """What is added to the name of the column, for each column of numbers."""
        hashed = [f": words {place}" for place in range(1, self.width + 1)]
        return [": length", ": number of words", *hashed] + [MISSING_COLUMN] * self.indicator

    def encode(self, cells: Cells, notes: Notes) -> np.ndarray:
        """(n, n_columns) float64."""
        words: Words = cells.words()
        by_value = np.zeros((len(words.values) + 1, self.width + 2))
        for row, value in enumerate(words.values):
            tokens = _WORD.findall(value.lower())
            by_value[row, :2] = len(value), len(tokens)
            for token in tokens:
                by_value[row, 2 + zlib.crc32(token.encode("utf-8", "surrogatepass")) % self.width] += 1.0
        by_value[:, 2:] = np.log1p(by_value[:, 2:])
        return self._with_missing([by_value[words.codes]], words.codes < 0, cells.name, notes)
