"""The target of a table: classes or numbers, which of its rows have one, and how rare the rare is."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._utils.errors import DSNAError
from ..forest.density import TargetDensity
from ..inspection.comparison import said
from ..tables import FileTable, TableError, guess_task, split_target

RARE_SHARE = 0.1  # of the rows, whose targets count as rare
_SHOWN = 6  # classes that are listed
_LEAST_ROWS = 20  # that tell names of rows from classes, as among the columns
_MANY, _FEW = 100, 5  # more classes than these, of fewer rows on average, cannot be learned


@dataclass(frozen=True, eq=False)
class Target:
    """The target of some rows.

    Parameters
    ----------
    name : of the column.
    task : {"classification", "regression"}
    values : (n,) classes or targets.
    rows : (n,) which rows of the table have one.
    notes : what was mended.
    """

    name: str
    task: str
    values: np.ndarray
    rows: np.ndarray
    notes: list[str]


def read_target(
    table: FileTable, name: str, task: str | None = None, *, several: bool = True, labels: str | None = None
) -> Target:
    """The target column of a table; rows without a target are left out, with a note.

    Parameters
    ----------
    table : the table.
    name : of the column.
    task : {"classification", "regression"} or None, which guesses it from the values.
    several : whether there is to be something to learn: a single class or value is refused, and so are classes that
        name the rows or are too many, or that only their spelling tells apart.
    labels : {"merge", "keep"} or None: what becomes of classes that only their spelling tells apart; None refuses them.

    Examples
    --------
    >>> import polars
    >>> frame = polars.DataFrame({"x": [1, 2, 3], "y": ["a", None, "b"]})
    >>> target = read_target(FileTable(name="t.csv", frame=frame, types={}, notes=[]), "y")
    >>> target.task, target.values.tolist(), target.notes
    ('classification', ['a', 'b'], ["rows without a target ('y') are left out: 1, row 2"])
    """
    labelled = split_target(table, name, several=several)
    y, notes = labelled.y, labelled.table.notes[len(table.notes) :]
    found = task or guess_task(y)
    if found == "regression":
        if labels is not None:
            raise DSNAError(
                f"{table.name}: --{labels}-labels is about the spelling of classes, and the target {name!r} holds "
                "numbers to predict. Remedy: leave the option out."
            )
        if y.dtype.kind not in "biuf":
            raise TableError(
                f"{table.name}: the target {name!r} holds text, no numbers: use --task classification, or name another."
            )
        y = y.astype(np.float64)
        if not np.all(np.isfinite(y)):
            raise TableError(f"{table.name}: the target {name!r} holds numbers that are not finite: leave them out.")
    elif y.dtype.kind == "f" and np.all(y == np.round(y)):
        y = y.astype(np.int64)
    elif y.dtype.kind not in "biuf":
        y = np.array([str(one) for one in y], dtype=object)
    if found == "classification" and several:
        classes = np.unique(y)
        problem = _too_many(classes, len(y)) or _not_whole(y, name)
        if problem:
            raise TableError(f"{table.name}: the target {name!r} {problem}.")
        if y.dtype == object:
            names, counts = np.unique(y, return_counts=True)
            merged, remarks = settle_spelling(table.name, name, dict(zip(names, counts.tolist(), strict=True)), labels)
            y = np.array([merged.get(one, one) for one in y], dtype=object)
            if len(np.unique(y)) < 2:
                raise TableError(
                    f"{table.name}: the target {name!r} holds one class only once its spellings are merged."
                )
            notes += remarks
        elif task is None:
            notes += _note_of_guess(classes, name)
    return Target(name, found, y, labelled.rows, notes)


def _too_many(classes: np.ndarray, n_rows: int) -> str:
    """Why so many classes cannot be learned from so many rows, and the remedy; empty where they can."""
    n = len(classes)
    remedy = "--task regression, or name" if classes.dtype.kind in "iuf" else "name"
    if n_rows >= _LEAST_ROWS and 2 * n > n_rows:
        return (
            f"identifies rows rather than says how they turned out: {n} different values in {n_rows} rows. Remedy: "
            f"{remedy} another column with --target"
        )
    if n > _MANY and n_rows < _FEW * n:
        return (
            f"has {n} classes in {n_rows} rows, under {_FEW} rows each on average. Remedy: {remedy} another column "
            "with --target, or put classes together, such as all rare ones into one"
        )
    return ""


def _not_whole(y: np.ndarray, name: str) -> str:
    """Why these numbers are no classes, and the remedy; empty where they may be."""
    if y.dtype.kind != "f":
        return ""
    return (
        "holds numbers that are not whole, which are no classes. Remedy: --task regression, or read them as text by "
        f"--types {name}=category"
    )


def _note_of_guess(classes: np.ndarray, name: str) -> list[str]:
    """What to say of whole numbers that are taken for classes, as nobody said what they are."""
    if classes.dtype.kind == "b" or classes.tolist() == [0, 1]:
        return []
    return [
        f"the target {name!r} is taken for {len(classes)} classes, because it holds {len(classes)} different whole "
        "numbers only; --task regression predicts numbers"
    ]


def _spelling(name: str) -> str:
    """A class without what may be spelled in several ways: case, blanks, and accents of European letters.

    Examples
    --------
    >>> _spelling(" Génial") == _spelling("genial"), _spelling("A+") == _spelling("A")
    (True, False)
    """
    letters = unicodedata.normalize("NFD", "".join(name.split()).casefold())
    return "".join(letter for letter in letters if not "\u0300" <= letter <= "\u036f")


def settle_spelling(
    table: str, target: str, counts: Mapping[str, int], labels: str | None
) -> tuple[dict[str, str], list[str]]:
    """Classes that differ in case, blanks or accents alone are merged, kept apart, or refused.

    Parameters
    ----------
    table, target : names of the table and of the column.
    counts : rows of each class.
    labels : {"merge", "keep"} or None, which refuses them.

    Returns
    -------
    merged : the class that each spelling of it is taken for: the most frequent one.
    notes : what was done.

    Examples
    --------
    >>> settle_spelling("t.csv", "ill", {"no": 90, "yes": 8, "Yes": 2}, "merge")[0]
    {'Yes': 'yes'}
    """
    alike: dict[str, list[str]] = {}
    for name in sorted(counts, key=lambda name: (-counts[name], name)):
        alike.setdefault(_spelling(name), []).append(name)
    several = [names for names in alike.values() if len(names) > 1]
    if not several:
        return {}, []
    if labels == "keep":
        shown = "; ".join(" and ".join(map(repr, names)) for names in several[:_SHOWN])
        return {}, [f"classes {shown} differ only in case, blanks or accents: kept apart, as --keep-labels says"]
    shown = "; ".join(" and ".join(f"{name!r} ({counts[name]:,} rows)" for name in names) for names in several[:_SHOWN])
    differing = f"{shown} differ only in case, blanks or accents"
    if labels == "merge":
        merged = {name: names[0] for names in several for name in names[1:]}
        return merged, [f"classes {differing}: merged into the most frequent spelling, as --merge-labels says"]
    raise TableError(
        f"{table}: the target {target!r} holds classes that may be one: {differing}. Remedy: --merge-labels takes them "
        "for one class, --keep-labels for several."
    )


def known_target(table: FileTable, name: str | None, task: str) -> Target:
    """The target of rows for a model that is trained already; they may all have one class."""
    if name is None:
        raise DSNAError("the model does not know what its target is called. Remedy: name the column with --target.")
    return read_target(table, name, task, several=False)


def known_labels(encoder: Any) -> str | None:
    """What became of spellings of one class in training, as the encoder of a model remembers it."""
    return getattr(encoder, "label_spelling_", None)


def same_classes(
    y: np.ndarray, classes: np.ndarray, name: str, new: bool = False, labels: str | None = None
) -> np.ndarray:
    """Classes of a file in the form that a model knows them in: numbers, text or booleans.

    Parameters
    ----------
    y : (n,) classes of the file.
    classes : those of the model.
    name : of the column.
    new : whether classes that the model does not know are allowed.
    labels : {"merge", "keep"} or None: what became of spellings of one class when the model was trained.

    Examples
    --------
    >>> import numpy as np
    >>> same_classes(np.array([0, 1]), np.array(["0", "1"], dtype=object), "y").tolist()
    ['0', '1']
    """
    known = {said(one): one for one in classes.tolist()}
    if labels == "merge":
        met, counts = np.unique([said(one) for one in y.tolist()], return_counts=True)
        every = {**dict(zip(met.tolist(), counts.tolist(), strict=True)), **dict.fromkeys(known, len(y) + 1)}
        merged, _ = settle_spelling(name, name, every, labels)
        y = np.array([merged.get(said(one), one) for one in y.tolist()], dtype=object)
    strange = sorted({said(one) for one in np.unique(y)} - known.keys())
    if strange and not new:
        raise DSNAError(
            f"the target column {name!r} holds {', '.join(strange[:5])}, which the model does not know; it knows "
            f"{', '.join([*known][:5])}. Remedy: correct these cells, or name another column with --target."
        )
    meant = {_spelling(one): one for one in [*strange[::-1], *known]}
    misspelled = [one for one in strange if meant[_spelling(one)] != one]
    if misspelled and labels != "keep":
        other = meant[_spelling(misspelled[0])]
        holder = "the model knows" if other in known else "also"
        raise DSNAError(
            f"the target column {name!r} holds {misspelled[0]!r}, and {holder} {other!r}, which differs only in case, "
            "blanks or accents. Remedy: spell classes as the model does, or train it with --merge-labels."
        )
    numbers = classes.dtype.kind in "iuf" and y.dtype.kind in "iuf"
    if strange and classes.dtype.kind not in "OU" and not numbers:
        raise DSNAError(
            f"the target column {name!r} holds {', '.join(strange[:5])}, and the classes of the model are "
            f"{', '.join([*known][:5])}. Remedy: use the same type of values."
        )
    found = np.empty(len(y), dtype=object)
    found[:] = [known.get(said(one), one if classes.dtype.kind not in "OU" else said(one)) for one in y.tolist()]
    return found if classes.dtype == object else np.array(found.tolist())


def rare_targets(targets: np.ndarray, training: np.ndarray) -> np.ndarray:
    """Which targets are as rare as the rarest tenth of the training targets, by their density.

    Examples
    --------
    >>> import numpy as np
    >>> rare_targets(np.array([1.0, 9.0]), np.r_[np.ones(50), 2 * np.ones(45), 9 * np.ones(5)]).tolist()
    [False, True]
    """
    density = TargetDensity(training)
    cut = np.quantile(density.evaluate(training), RARE_SHARE, method="lower")
    return np.asarray(density.evaluate(targets) <= cut * (1.0 + 1e-9))


def rarity_lines(target: Target) -> list[str]:
    """How rare the rare is, in words.

    Examples
    --------
    >>> import numpy as np
    >>> target = Target("fraud", "classification", np.repeat(["no", "yes"], [95, 5]), np.arange(100), [])
    >>> rarity_lines(target)
    ['fraud: 5 of 100 rows are yes (5%, one in 20); no 95']
    """
    y, n = target.values, len(target.values)
    if target.task == "classification":
        names, counts = np.unique(y, return_counts=True)
        order = np.argsort(counts, kind="stable")
        rare, few = said(names[order[0]]), int(counts[order[0]])
        others = [f"{said(names[k])} {counts[k]}" for k in order[1:_SHOWN]]
        others += [f"{len(order) - _SHOWN} more classes"] if len(order) > _SHOWN else []
        share = f"{few / n:.2g}" if few / n < 0.001 else f"{100 * few / n:.2g}%"
        return [f"{target.name}: {few} of {n} rows are {rare} ({share}, one in {n / few:.0f}); {', '.join(others)}"]
    low, middle, high = np.quantile(y, [0.25, 0.5, 0.75])
    seldom = rare_targets(y, y)
    below, above = y[seldom & (y < middle)], y[seldom & (y > middle)]
    ends = [f"{len(below)} up to {said(float(below.max()))}"] if len(below) else []
    ends += [f"{len(above)} from {said(float(above.min()))} on"] if len(above) else []
    first = (
        f"{target.name}: from {said(float(y.min()))} to {said(float(y.max()))}, half of the rows between "
        f"{said(float(low))} and {said(float(high))}"
    )
    return [first, f"rare targets, by their density: {int(seldom.sum())} of {n} rows, {' and '.join(ends)}"]
