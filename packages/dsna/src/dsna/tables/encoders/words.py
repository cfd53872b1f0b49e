"""Encoders of text columns: categories and free text."""

from __future__ import annotations

import re
import zlib

import numpy as np

from ..._utils.invariants import Array, Number
from ..cells import Cells
from ..column_types import ColumnType
from ..words import Words
from .base import FLAG, MISSING_COLUMN, SHOWN, ColumnEncoder, EncoderSettings, Notes, shortened

OTHER_COLUMN = "=(other)"
_MAX_KNOWN = 10_000  # categories whose frequencies are stored
_WORD = re.compile(r"\w+")


class CategoryEncoder(ColumnEncoder):
    """One-hot encode frequent categories; rare and new categories share one column.

    If there are more categories than columns, an additional column holds the share of training rows of each category.

    Attributes
    ----------
    kept : (n_kept,) categories with columns of their own.
    known, share : (n_known,) training categories by falling frequency, and their shares of the rows.
    other, frequency : whether there is a column for all other categories, and one for shares.
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
    def fit(cls, cells: Cells, column_type: ColumnType, settings: EncoderSettings, notes: Notes) -> ColumnEncoder:
        """Fit to the cells of a training column."""
        words = cells.words()
        counts = words.counts
        order = sorted(range(len(counts)), key=lambda code: (-counts[code], words.values[code]))
        categories = np.array([words.values[code] for code in order[:_MAX_KNOWN]], dtype=object)
        n_frequent = int((counts >= settings.min_rows).sum())
        has_frequency = len(counts) > settings.max_categories
        if has_frequency:
            n_columns = min(n_frequent, settings.max_categories)
            notes.add(
                f"column {cells.name!r} holds {len(counts)} categories: the {n_columns} most "
                "frequent have columns of their own, the others share one, and one holds their frequency"
            )
        return cls(
            known=categories,
            share=counts[order[:_MAX_KNOWN]] / max(len(words.codes), 1),
            n_kept=min(n_frequent or len(categories), settings.max_categories),
            frequency=has_frequency,
            missing=bool((words.codes < 0).any()),
        )

    def suffixes(self) -> list[str]:
        """Return the suffixes that turn the name of the input column into those of the output columns."""
        names = [f"={shortened(category)}" for category in self.kept]
        names += [OTHER_COLUMN] * self.other + [": frequency"] * self.frequency
        return names + [MISSING_COLUMN] * self.indicator

    def encode(self, cells: Cells, notes: Notes) -> np.ndarray:
        """Encode cells as an (n, n_columns) float64 array."""
        words = cells.words()
        column_of_category = {category: column for column, category in enumerate(self.kept.tolist())}
        share_of_category = dict(zip(self.known.tolist(), self.share.tolist(), strict=True))
        n_kept, n_rows = len(self.kept), len(words.codes)
        # Column n_kept is for other categories, and dropped if there is no such column; the last is for missing values.
        hot_columns = np.array([column_of_category.get(value, n_kept) for value in words.values], dtype=np.int64)
        one_hot = np.zeros((n_rows, n_kept + 2))
        one_hot[np.arange(n_rows), words.expand(hot_columns, n_kept + 1)] = 1.0
        columns = [one_hot[:, : n_kept + self.other]]
        new_categories = [value for value in words.values if value not in share_of_category]
        if new_categories:
            n_new = int(np.isin(words.codes, [words.values.index(value) for value in new_categories[:1000]]).sum())
            examples = ", ".join(repr(shortened(value)) for value in new_categories[:SHOWN])
            notes.add(f"column {cells.name!r}: {n_new} rows hold categories not seen in training, such as {examples}")
        if self.frequency:
            shares = np.array([share_of_category.get(value, 0.0) for value in words.values], dtype=np.float64)
            columns.append(words.expand(shares, 0.0)[:, None])
        return self._with_missing(columns, words.codes < 0, cells.name, notes)


class TextEncoder(ColumnEncoder):
    """Encode free text as its length and word counts, hashed into a few columns.

    Parameters
    ----------
    width : number of columns for word counts.

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
    def fit(cls, cells: Cells, column_type: ColumnType, settings: EncoderSettings, notes: Notes) -> ColumnEncoder:
        """Fit to the cells of a training column."""
        notes.add(
            f"column {cells.name!r} is free text: its length, its number of words and its words, hashed into "
            f"{settings.text_columns} columns, are used"
        )
        return cls(settings.text_columns, bool(cells.missing().any()))

    def suffixes(self) -> list[str]:
        """Return the suffixes that turn the name of the input column into those of the output columns."""
        hashed = [f": words {number}" for number in range(1, self.width + 1)]
        return [": length", ": number of words", *hashed] + [MISSING_COLUMN] * self.indicator

    def encode(self, cells: Cells, notes: Notes) -> np.ndarray:
        """Encode cells as an (n, n_columns) float64 array."""
        words: Words = cells.words()
        encoded_values = np.zeros((len(words.values) + 1, self.width + 2))  # the last row is for missing values
        for row, value in enumerate(words.values):
            tokens = _WORD.findall(value.lower())
            encoded_values[row, :2] = len(value), len(tokens)
            for token in tokens:
                encoded_values[row, 2 + zlib.crc32(token.encode("utf-8", "surrogatepass")) % self.width] += 1.0
        encoded_values[:, 2:] = np.log1p(encoded_values[:, 2:])
        return self._with_missing([encoded_values[words.codes]], words.codes < 0, cells.name, notes)
