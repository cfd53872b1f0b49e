"""How a table writes numbers and dates: its decimal signs, and whether the day or the month comes first.

A column shows its way of writing where some of its cells can be read in one way only. Cells that can be read in both
ways, such as ``1.243``, are read as the other columns are written, or as those of training were; where nothing tells,
the column is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from .._utils.errors import DSNAError, setting
from .column_types import ColumnType
from .words import Words, dates, numbers

#: The two ways in which cells of a kind are written: decimal signs, and orders of day and month.
WAYS = {"number": (".", ","), "date": ("dmy", "mdy")}
_READ: dict[str, Callable[[list[str], str], np.ndarray]] = {"number": numbers, "date": dates}
_SURE = 0.9  # of the cells that only one way reads
_CALLED = {
    ".": "a decimal point",
    ",": "a decimal comma",
    "dmy": "the day before the month",
    "mdy": "the month before the day",
}


@dataclass(frozen=True)
class Evidence:
    """What the cells of a column show of the way in which it is written.

    Parameters
    ----------
    kind : {"number", "date"}
    counts : dict of int
        How many cells can be read in one way only, by this way; how many in both, as different values, by "".
    examples : dict of (str, str)
        The first of these cells, and where it stands.

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
        """The way that the cells show; empty where they show none, or both."""
        total = sum(self.counts.get(way, 0) for way in WAYS[self.kind])
        return next((way for way in WAYS[self.kind] if total and self.counts.get(way, 0) >= _SURE * total), "")

    @property
    def is_open(self) -> bool:
        """Whether the two ways read different values, and the cells do not show which is meant."""
        return not self.way and any(self.counts.values())

    @property
    def is_weak(self) -> bool:
        """Whether most cells can be read in both ways, so that those which show one may be slips."""
        return bool(self.way) and self.counts.get("", 0) > self.counts[self.way]

    @property
    def is_mixed(self) -> bool:
        """Whether the cells show both ways."""
        return not self.way and all(self.counts.get(way, 0) for way in WAYS[self.kind])

    def example(self, way: str) -> str:
        """A cell, and where it stands."""
        cell, where = self.examples[way]
        return f"{cell!r} ({where})"


def evidence_of(
    words: Words, kind: str, points: bool = False, place: Callable[[int], str] = "row {}".format
) -> Evidence:
    """What the cells of a column of text show.

    Parameters
    ----------
    words : Words
    kind : {"number", "date"}
    points : bool, default=False
        Whether points are decimal signs in any case, as in files whose cells are separated by commas.
    place : function from row numbers to what messages call them.
    """
    one, two = (_READ[kind](words.values, way) for way in WAYS[kind])
    unknown = np.isnan if kind == "number" else np.isnat
    known, also = ~unknown(one), ~unknown(two)
    either = known & also & (one != two)
    only = known & ~also
    if points and kind == "number":
        pointed = either & np.array(["." in value and "," not in value for value in words.values], dtype=bool)
        only, either = only | pointed, either & ~pointed
    counts, examples, per_value = {}, {}, words.counts
    for way, mask in zip((*WAYS[kind], ""), (only, also & ~known, either), strict=True):
        counts[way] = int(per_value[mask].sum())
        if counts[way]:
            first = int(np.argmax(mask))
            examples[way] = (words.values[first], place(int(np.argmax(words.codes == first))))
    return Evidence(kind, counts, examples)


class Notation:
    """How the columns of a table are written, as far as was seen yet.

    Parameters
    ----------
    decimal : {".", ","} or None
        The decimal sign that the user names.
    points : bool, default=False
        Whether points are decimal signs in any case, as in files whose cells are separated by commas.
    learned : dict of ColumnType, optional
        Columns of the rows that a model was trained on, which hold where the table shows nothing else.
    options : tuple of str
        Options by which the user can say how columns are written, as far as there are any: "decimal" and "types".

    Attributes
    ----------
    shown : dict of str
        Decimal signs that cells show, by column.
    examples : dict of str
        A cell that can be read in both ways, of each column of numbers that others told of.
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
        self.learned = {name: kind for name, kind in (learned or {}).items() if kind.way}
        self.shown: dict[str, str] = {}
        self.examples: dict[str, str] = {}
        self._kept: dict[str, str] = {}
        self._helped: dict[str, Evidence] = {}

    def has_order(self, name: str, kind: ColumnType) -> bool:
        """Whether a column holds dates of which training knew if the day or the month comes first."""
        return kind.kind == "date" and name in self.learned and self.learned[name].way in WAYS["date"]

    def way(self, name: str, evidence: Evidence) -> str | None:
        """How a column is written; "" where both ways read the same, None where other columns have to tell."""
        found = evidence.way
        if evidence.is_open or (evidence.is_weak and evidence.kind == "number"):
            return None
        if not found:
            return self._kept.get(name, "")
        if evidence.kind == "number":
            self.shown[name] = found
        return self._keep(name, found, evidence)

    def helped(self, name: str, evidence: Evidence) -> str:
        """How a column is written whose cells do not show it, once all other columns were seen; refused if unknown."""
        found = self._by_others(name, evidence)
        self._helped[name] = evidence
        if evidence.kind == "number" and "" in evidence.examples:
            self.examples.setdefault(name, evidence.examples[""][0])
        if evidence.is_weak:
            self.shown[name] = found
        return self._keep(name, found, evidence)

    def check(self) -> None:
        """Refuse what was read before, where what was seen since would have it read otherwise."""
        for name, evidence in self._helped.items():
            self._keep(name, self._by_others(name, evidence), evidence)

    def usual(self) -> str:
        """The decimal sign of columns in which none stands: the only one of the table, unless its cells need points."""
        found = {self.decimal} if self.decimal else set(self.shown.values())
        return found.pop() or "" if len(found) == 1 and not self.points else ""

    def _keep(self, name: str, way: str, evidence: Evidence) -> str:
        """Refuse a way that contradicts rows before these."""
        before = self._kept.setdefault(name, way)
        if before == self.decimal:  # of what the user says otherwise, single cells cannot be read
            return before
        if before != way:
            seen = f": {evidence.example(way)}" if way in evidence.examples else ", in other columns"
            raise DSNAError(
                f"column {name!r} was read with {_CALLED[before]} up to here, and the rows that follow show "
                f"{_CALLED[way]}{seen}. Remedy: write the file in one way{self._remedy(name, evidence.kind)}."
            )
        return way

    def _by_others(self, name: str, evidence: Evidence) -> str:
        """How a column is written, by what the user, other columns, the training rows or the separator say."""
        ways = WAYS[evidence.kind]
        if evidence.kind == "number" and self.decimal:
            return self.decimal
        if evidence.is_mixed and self.points:
            return "."
        if evidence.is_mixed:
            both = " and ".join(f"{evidence.example(way)} with {_CALLED[way]}" for way in ways)
            raise DSNAError(
                f"column {name!r} holds {both}. Remedy: write it in one way{self._remedy(name, evidence.kind)}."
            )
        votes = self._votes(name, ways) if evidence.kind == "number" else {self.learned[name].way}
        votes |= {evidence.way} if evidence.is_weak else set()
        if not votes and self.points:
            return "."
        if len(votes) == 1:
            return votes.pop()
        cell, where = evidence.examples[""]
        values = [_READ["number"]([cell], way)[0] for way in ways]
        read = " and ".join(f"{value:.15g} with {_CALLED[way]}" for value, way in zip(values, ways, strict=True))
        raise DSNAError(
            f"column {name!r} can be read in two ways: {cell!r} ({where}) is {read}, and "
            f"{self._why(name, votes, evidence)}. Remedy: {self._say_which(name, values)}."
        )

    def _votes(self, name: str, ways: tuple[str, str]) -> set[str]:
        """Signs of a column of numbers that others speak for.

        Columns that are written as in training say that this one is, too; those that are not say that it is not.
        """
        others = {other: sign for other, sign in self.shown.items() if other != name}
        mine = self.learned[name].way if name in self.learned else ""
        compared = {other for other in others if mine and other in self.learned}
        votes = {mine if others[other] == self.learned[other].way else _other(mine, ways) for other in compared}
        if mine and not compared:
            votes = {mine}
        return votes | {sign for other, sign in others.items() if other not in compared}

    def _why(self, name: str, votes: set[str], evidence: Evidence) -> str:
        """Why other columns are of no help."""
        if not votes:
            return "no other column shows which is meant"
        signs = {sign: other for other, sign in reversed(self.shown.items()) if other != name}
        shown = [f"column {other!r} has {_CALLED[sign]}" for sign, other in sorted(signs.items())]
        if evidence.is_weak:
            shown.append(f"{evidence.example(evidence.way)} has {_CALLED[evidence.way]}")
        if name in self.learned:
            shown.append(f"training had {_CALLED[self.learned[name].way]} in it")
        return " and ".join(shown)

    def _say_which(self, name: str, values: list[float]) -> str:
        """What settles a cell of two values."""
        if self._options:
            return f"say which it is{self._remedy(name, 'number')}"
        return f"write it as {max(values, key=abs):.15g} or {min(values, key=abs):.15g}0"

    def _remedy(self, name: str, kind: str) -> str:
        """The options that settle it."""
        if not self._options:
            return ""
        types = ("number:point", "number:comma") if kind == "number" else ("date:dmy", "date:mdy")
        of_column = " or ".join(setting("types", one, name) for one in types)
        if kind == "number" and "decimal" in self._options:
            whole = f"{setting('decimal', '.')} or {setting('decimal', ',')}"
            return f", by {whole} for the whole file, or by {of_column} for this column"
        return f", by {of_column}"


def _other(way: str, ways: tuple[str, str]) -> str:
    return ways[1] if way == ways[0] else ways[0]
