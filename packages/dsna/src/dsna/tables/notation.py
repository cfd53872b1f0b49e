"""Notation of numbers and dates in a table: decimal signs, and whether the day or the month comes first.

The notation of a column follows from cells that can be read in one notation only. Ambiguous cells, such as ``1.243``,
are read in the notation of other columns or of the training data; without either, the column is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from .._utils.errors import DSNAError, setting
from .column_types import ColumnType
from .words import Words, dates, numbers

#: The two notations of each kind of cell: decimal signs, and orders of day and month.
NOTATIONS = {"number": (".", ","), "date": ("dmy", "mdy")}
_PARSERS: dict[str, Callable[[list[str], str], np.ndarray]] = {"number": numbers, "date": dates}
_MIN_SHARE = 0.9  # of the cells that can be read in one notation only
_DESCRIPTIONS = {
    ".": "a decimal point",
    ",": "a decimal comma",
    "dmy": "the day before the month",
    "mdy": "the month before the day",
}


@dataclass(frozen=True)
class Evidence:
    """Evidence of the cells of a column for either notation.

    Parameters
    ----------
    kind : {"number", "date"}
    counts : dict of int
        Number of cells that can be read in one notation only, by notation; number of ambiguous cells by "".
    examples : dict of (str, str)
        The first of these cells, and its row.

    Examples
    --------
    >>> from dsna.tables.words import words_of
    >>> evidence_of(words_of(["1.243", "464", "1,5"]), "number").way
    ','
    >>> evidence_of(words_of(["1.243", "464"]), "number").is_open
    True
    """

    kind: str
    counts: Mapping[str, int]
    examples: Mapping[str, tuple[str, str]]

    @property
    def way(self) -> str:
        """The notation that the cells show; empty if they show none, or both."""
        counts = {way: self.counts.get(way, 0) for way in NOTATIONS[self.kind]}
        total = sum(counts.values())
        return next((way for way, count in counts.items() if total and count >= _MIN_SHARE * total), "")

    @property
    def is_open(self) -> bool:
        """Whether the column is ambiguous."""
        return not self.way and any(self.counts.values())

    @property
    def is_weak(self) -> bool:
        """Whether most cells are ambiguous, so that the others may be mistakes."""
        return bool(self.way) and self.counts.get("", 0) > self.counts[self.way]

    @property
    def is_mixed(self) -> bool:
        """Whether the cells show both notations."""
        return not self.way and all(self.counts.get(way, 0) for way in NOTATIONS[self.kind])

    def example(self, way: str) -> str:
        """Return a cell in this notation and its row."""
        cell, row_name = self.examples[way]
        return f"{cell!r} ({row_name})"


def evidence_of(
    words: Words, kind: str, points: bool = False, row_name: Callable[[int], str] = "row {}".format
) -> Evidence:
    """Collect the evidence of a column of text.

    Parameters
    ----------
    words : Words
    kind : {"number", "date"}
    points : bool, default=False
        Whether points are always decimal signs, as in files whose cells are separated by commas.
    row_name : function from the index of a row to its name in messages
    """
    first_values, second_values = (_PARSERS[kind](words.values, way) for way in NOTATIONS[kind])
    is_missing = np.isnan if kind == "number" else np.isnat
    fits_first, fits_second = ~is_missing(first_values), ~is_missing(second_values)
    ambiguous = fits_first & fits_second & (first_values != second_values)
    only_first, only_second = fits_first & ~fits_second, fits_second & ~fits_first
    if points and kind == "number":
        has_point = ambiguous & np.array(["." in value and "," not in value for value in words.values], dtype=bool)
        only_first, ambiguous = only_first | has_point, ambiguous & ~has_point
    counts, examples, word_counts = {}, {}, words.counts
    for way, mask in zip((*NOTATIONS[kind], ""), (only_first, only_second, ambiguous), strict=True):
        counts[way] = int(word_counts[mask].sum())
        if counts[way]:
            code = int(np.argmax(mask))
            examples[way] = (words.values[code], row_name(int(np.argmax(words.codes == code))))
    return Evidence(kind, counts, examples)


class Notation:
    """Notation of the columns of a table, as far as it has been read.

    Parameters
    ----------
    decimal : {".", ","} or None
        Decimal sign set by the user.
    points : bool, default=False
        Whether points are always decimal signs, as in files whose cells are separated by commas.
    learned : dict of ColumnType, optional
        Types of the training columns, whose notation applies unless the table shows another.
    options : tuple of str
        Options by which the user can set notations, of "decimal" and "types".

    Attributes
    ----------
    decimals : dict of str
        Decimal signs that cells show, by column.
    examples : dict of str
        An ambiguous cell of each column of numbers that was resolved by other columns.
    """

    def __init__(
        self,
        *,
        decimal: str | None = None,
        points: bool = False,
        learned: Mapping[str, ColumnType] | None = None,
        options: tuple[str, ...] = ("decimal", "types"),
    ) -> None:
        self.decimal, self.points, self._options = decimal, points and decimal != ",", options
        self.learned = {name: column_type for name, column_type in (learned or {}).items() if column_type.way}
        self.decimals: dict[str, str] = {}
        self.examples: dict[str, str] = {}
        self._ways: dict[str, str] = {}
        self._resolved: dict[str, Evidence] = {}

    def has_order(self, name: str, column_type: ColumnType) -> bool:
        """Return whether a column holds dates with the day or the month first in training."""
        return column_type.kind == "date" and name in self.learned and self.learned[name].way in NOTATIONS["date"]

    def way(self, name: str, evidence: Evidence) -> str | None:
        """Return the notation of a column: "" if it makes no difference, None if other columns have to resolve it."""
        way = evidence.way
        if evidence.is_open or (evidence.is_weak and evidence.kind == "number"):
            return None
        if not way:
            return self._ways.get(name, "")
        if evidence.kind == "number":
            self.decimals[name] = way
        return self._record(name, way, evidence)

    def resolve(self, name: str, evidence: Evidence) -> str:
        """Return the notation of an ambiguous column after reading all others; refuse it if it stays ambiguous."""
        way = self._from_context(name, evidence)
        self._resolved[name] = evidence
        if evidence.kind == "number" and "" in evidence.examples:
            self.examples.setdefault(name, evidence.examples[""][0])
        if evidence.is_weak:
            self.decimals[name] = way
        return self._record(name, way, evidence)

    def check(self) -> None:
        """Refuse resolved columns that later rows would resolve differently."""
        for name, evidence in self._resolved.items():
            self._record(name, self._from_context(name, evidence), evidence)

    def default_decimal(self) -> str:
        """Return the decimal sign of columns without any: the only sign of the table, unless points are decimal."""
        signs = {self.decimal} if self.decimal else set(self.decimals.values())
        return signs.pop() or "" if len(signs) == 1 and not self.points else ""

    def _record(self, name: str, way: str, evidence: Evidence) -> str:
        """Store the notation of a column; refuse one that contradicts earlier rows."""
        earlier = self._ways.setdefault(name, way)
        if earlier == self.decimal:  # set by the user: contradicting cells count as unreadable
            return earlier
        if earlier != way:
            proof = f": {evidence.example(way)}" if way in evidence.examples else ", in other columns"
            raise DSNAError(
                f"column {name!r} was read with {_DESCRIPTIONS[earlier]} up to here, and the rows that follow show "
                f"{_DESCRIPTIONS[way]}{proof}. Remedy: write the file in one way{self._remedy(name, evidence.kind)}."
            )
        return way

    def _from_context(self, name: str, evidence: Evidence) -> str:
        """Return the notation of a column given the user, other columns, the training data or the separator."""
        ways = NOTATIONS[evidence.kind]
        if evidence.kind == "number" and self.decimal:
            return self.decimal
        if evidence.is_mixed and self.points:
            return "."
        if evidence.is_mixed:
            examples = " and ".join(f"{evidence.example(way)} with {_DESCRIPTIONS[way]}" for way in ways)
            raise DSNAError(
                f"column {name!r} holds {examples}. Remedy: write it in one way{self._remedy(name, evidence.kind)}."
            )
        votes = self._votes(name, ways) if evidence.kind == "number" else {self.learned[name].way}
        votes |= {evidence.way} if evidence.is_weak else set()
        if not votes and self.points:
            return "."
        if len(votes) == 1:
            return votes.pop()
        cell = evidence.examples[""][0]
        values = [_PARSERS["number"]([cell], way)[0] for way in ways]
        readings = " and ".join(
            f"{value:.15g} with {_DESCRIPTIONS[way]}" for value, way in zip(values, ways, strict=True)
        )
        raise DSNAError(
            f"column {name!r} can be read in two ways: {evidence.example('')} is {readings}, and "
            f"{self._conflict(name, votes, evidence)}. Remedy: {self._ambiguity_remedy(name, values)}."
        )

    def _votes(self, name: str, ways: tuple[str, str]) -> set[str]:
        """Return the decimal signs that other columns and the training data suggest for a column of numbers.

        A column in its training notation suggests that this one is, too; one in the other notation, the opposite.
        """
        others = {other: sign for other, sign in self.decimals.items() if other != name}
        learned_sign = self.learned[name].way if name in self.learned else ""
        comparable = {other for other in others if learned_sign and other in self.learned}
        votes = {
            learned_sign if others[other] == self.learned[other].way else _opposite(learned_sign, ways)
            for other in comparable
        }
        if learned_sign and not comparable:
            votes = {learned_sign}
        return votes | {sign for other, sign in others.items() if other not in comparable}

    def _conflict(self, name: str, votes: set[str], evidence: Evidence) -> str:
        """Explain why other columns do not resolve a column."""
        if not votes:
            return "no other column shows which is meant"
        column_of_sign = {sign: other for other, sign in reversed(self.decimals.items()) if other != name}
        clauses = [f"column {other!r} has {_DESCRIPTIONS[sign]}" for sign, other in sorted(column_of_sign.items())]
        if evidence.is_weak:
            clauses.append(f"{evidence.example(evidence.way)} has {_DESCRIPTIONS[evidence.way]}")
        if name in self.learned:
            clauses.append(f"training had {_DESCRIPTIONS[self.learned[name].way]} in it")
        return " and ".join(clauses)

    def _ambiguity_remedy(self, name: str, values: list[float]) -> str:
        """Return the remedy for a cell that can be read as two values."""
        if self._options:
            return f"say which it is{self._remedy(name, 'number')}"
        return f"write it as {max(values, key=abs):.15g} or {min(values, key=abs):.15g}0"

    def _remedy(self, name: str, kind: str) -> str:
        """Return the options that set a notation."""
        if not self._options:
            return ""
        specs = ("number:point", "number:comma") if kind == "number" else ("date:dmy", "date:mdy")
        column_options = " or ".join(setting("types", spec, name) for spec in specs)
        if kind == "number" and "decimal" in self._options:
            file_options = f"{setting('decimal', '.')} or {setting('decimal', ',')}"
            return f", by {file_options} for the whole file, or by {column_options} for this column"
        return f", by {column_options}"


def _opposite(way: str, ways: tuple[str, str]) -> str:
    return ways[1] if way == ways[0] else ways[0]
