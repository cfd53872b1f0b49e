"""The target of a table: classes or numbers, rows without a target, and the rarity of rare cases."""

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

RARE_SHARE = 0.1  # share of rows whose targets count as rare
_MAX_LISTED = 6  # classes in a message
_MIN_ROWS = 20  # to recognize a column of row identifiers
_MAX_SMALL_CLASSES = 100  # with fewer rows per class than:
_MIN_CLASS_ROWS = 5  # on average


@dataclass(frozen=True, eq=False)
class Target:
    """The target column of a table, for the rows that have a target.

    Parameters
    ----------
    name : name of the column.
    task : {"classification", "regression"}
    values : (n,) classes or targets.
    rows : (n,) indices of the table's rows that have a target.
    notes : notes on corrections.
    """

    name: str
    task: str
    values: np.ndarray
    rows: np.ndarray
    notes: list[str]


def read_target(
    table: FileTable, name: str, task: str | None = None, *, for_training: bool = True, labels: str | None = None
) -> Target:
    """Read the target column of a table; rows without a target are left out, with a note.

    Parameters
    ----------
    table : the table.
    name : name of the column.
    task : {"classification", "regression"} or None, which guesses it from the values.
    for_training : whether the target is for training: then a single class or value, too many classes, row identifiers
        and classes that differ only in spelling raise an error.
    labels : {"merge", "keep"} or None: whether classes that differ only in spelling are merged or kept; None raises
        an error.

    Examples
    --------
    >>> import polars
    >>> frame = polars.DataFrame({"x": [1, 2, 3], "y": ["a", None, "b"]})
    >>> target = read_target(FileTable(name="t.csv", frame=frame, types={}, notes=[]), "y")
    >>> target.task, target.values.tolist(), target.notes
    ('classification', ['a', 'b'], ["rows without a target ('y') are left out: 1, row 2"])
    """
    labelled = split_target(table, name, several=for_training)
    y, notes = labelled.y, labelled.table.notes[len(table.notes) :]
    task_name = task or guess_task(y)
    if task_name == "regression":
        if labels is not None:
            raise DSNAError(
                f"{table.name}: --{labels}-labels applies to classes, but the target {name!r} is numeric. Remedy: "
                "leave the option out."
            )
        if y.dtype.kind not in "biuf":
            raise TableError(
                f"{table.name}: the target {name!r} holds text, not numbers. Remedy: use --task classification, or "
                "name another column."
            )
        y = y.astype(np.float64)
        if not np.all(np.isfinite(y)):
            raise TableError(
                f"{table.name}: the target {name!r} holds numbers that are not finite. Remedy: leave them out."
            )
    elif y.dtype.kind == "f" and np.all(y == np.round(y)):
        y = y.astype(np.int64)
    elif y.dtype.kind not in "biuf":
        y = np.array([str(label) for label in y], dtype=object)
    if task_name == "classification" and for_training:
        classes = np.unique(y)
        problem = _class_count_problem(classes, len(y)) or _fraction_problem(y, name)
        if problem:
            raise TableError(f"{table.name}: the target {name!r} {problem}.")
        if y.dtype == object:
            names, counts = np.unique(y, return_counts=True)
            merged, remarks = merge_spellings(table.name, name, dict(zip(names, counts.tolist(), strict=True)), labels)
            y = np.array([merged.get(label, label) for label in y], dtype=object)
            if len(np.unique(y)) < 2:
                raise TableError(
                    f"{table.name}: the target {name!r} holds a single class after its spellings are merged."
                )
            notes += remarks
        elif task is None:
            notes += _guess_note(classes, name)
    return Target(name, task_name, y, labelled.rows, notes)


def _class_count_problem(classes: np.ndarray, n_rows: int) -> str:
    """Problem with the number of classes, and its remedy; empty if there is none."""
    n_classes = len(classes)
    remedy = "use --task regression, or name" if classes.dtype.kind in "iuf" else "name"
    if n_rows >= _MIN_ROWS and 2 * n_classes > n_rows:
        return (
            f"identifies rows rather than describing an outcome: {n_classes} different values in {n_rows} rows. "
            f"Remedy: {remedy} another column with --target"
        )
    if n_classes > _MAX_SMALL_CLASSES and n_rows < _MIN_CLASS_ROWS * n_classes:
        return (
            f"has {n_classes} classes in {n_rows} rows, under {_MIN_CLASS_ROWS} rows each on average. Remedy: "
            f"{remedy} another column with --target, or put classes together, such as all rare ones into one"
        )
    return ""


def _fraction_problem(y: np.ndarray, name: str) -> str:
    """Problem with fractional numbers as classes, and its remedy; empty if there is none."""
    if y.dtype.kind != "f":
        return ""
    return (
        "holds fractional numbers, which cannot be classes. Remedy: use --task regression, or read them as text with "
        f"--types {name}=category"
    )


def _guess_note(classes: np.ndarray, name: str) -> list[str]:
    """Note that integers are taken for classes because no task was given; none for 0 and 1 or booleans."""
    if classes.dtype.kind == "b" or classes.tolist() == [0, 1]:
        return []
    return [
        f"the target {name!r} is treated as {len(classes)} classes, because it holds {len(classes)} distinct integers "
        "only; --task regression predicts numbers"
    ]


def _normalized(name: str) -> str:
    """Normalize the spelling of a class: case, blanks, and accents of European letters.

    Examples
    --------
    >>> _normalized(" Génial") == _normalized("genial"), _normalized("A+") == _normalized("A")
    (True, False)
    """
    letters = unicodedata.normalize("NFD", "".join(name.split()).casefold())
    return "".join(letter for letter in letters if not "\u0300" <= letter <= "\u036f")


def merge_spellings(
    table: str, target: str, counts: Mapping[str, int], labels: str | None
) -> tuple[dict[str, str], list[str]]:
    """Merge classes that differ only in case, blanks or accents, keep them, or raise an error.

    Parameters
    ----------
    table, target : names of the table and of the column.
    counts : rows of each class.
    labels : {"merge", "keep"} or None, which raises an error.

    Returns
    -------
    merged : maps each merged spelling to the most frequent one.
    notes : notes on what was done.

    Examples
    --------
    >>> merge_spellings("t.csv", "ill", {"no": 90, "yes": 8, "Yes": 2}, "merge")[0]
    {'Yes': 'yes'}
    """
    by_spelling: dict[str, list[str]] = {}
    for name in sorted(counts, key=lambda name: (-counts[name], name)):
        by_spelling.setdefault(_normalized(name), []).append(name)
    duplicates = [names for names in by_spelling.values() if len(names) > 1]
    if not duplicates:
        return {}, []
    if labels == "keep":
        class_list = "; ".join(" and ".join(map(repr, names)) for names in duplicates[:_MAX_LISTED])
        return {}, [f"classes {class_list} differ only in case, blanks or accents: kept apart, as --keep-labels says"]
    class_list = "; ".join(
        " and ".join(f"{name!r} ({counts[name]:,} rows)" for name in names) for names in duplicates[:_MAX_LISTED]
    )
    differing = f"{class_list} differ only in case, blanks or accents"
    if labels == "merge":
        merged = {name: names[0] for names in duplicates for name in names[1:]}
        return merged, [f"classes {differing}: merged into the most frequent spelling, as --merge-labels says"]
    raise TableError(
        f"{table}: the target {target!r} holds classes that may be one: {differing}. Remedy: --merge-labels takes them "
        "for one class, --keep-labels for several."
    )


def read_known_target(table: FileTable, name: str | None, task: str) -> Target:
    """The target of new rows for a trained model; a single class is allowed."""
    if name is None:
        raise DSNAError("the model does not know the name of its target. Remedy: name the column with --target.")
    return read_target(table, name, task, for_training=False)


def training_labels(encoder: Any) -> str | None:
    """How training handled classes that differ only in spelling, as stored in the encoder."""
    return getattr(encoder, "label_spelling_", None)


def match_classes(
    y: np.ndarray, classes: np.ndarray, name: str, allow_new: bool = False, labels: str | None = None
) -> np.ndarray:
    """Convert the classes of a file to the type and spelling of a model's classes.

    Parameters
    ----------
    y : (n,) classes of the file.
    classes : classes of the model.
    name : name of the column.
    allow_new : whether classes unknown to the model are allowed.
    labels : {"merge", "keep"} or None: how training handled classes that differ only in spelling.

    Examples
    --------
    >>> import numpy as np
    >>> match_classes(np.array([0, 1]), np.array(["0", "1"], dtype=object), "y").tolist()
    ['0', '1']
    """
    known_classes = {said(label): label for label in classes.tolist()}
    if labels == "merge":
        names, counts = np.unique([said(label) for label in y.tolist()], return_counts=True)
        all_counts = {
            **dict(zip(names.tolist(), counts.tolist(), strict=True)),
            **dict.fromkeys(known_classes, len(y) + 1),
        }
        merged, _ = merge_spellings(name, name, all_counts, labels)
        y = np.array([merged.get(said(label), label) for label in y.tolist()], dtype=object)
    new_labels = sorted({said(label) for label in np.unique(y)} - known_classes.keys())
    if new_labels and not allow_new:
        raise DSNAError(
            f"the target column {name!r} holds {', '.join(new_labels[:5])}, which the model does not know; it knows "
            f"{', '.join([*known_classes][:5])}. Remedy: correct these cells, or name another column with --target."
        )
    by_spelling = {_normalized(label): label for label in [*new_labels[::-1], *known_classes]}
    misspelled = [label for label in new_labels if by_spelling[_normalized(label)] != label]
    if misspelled and labels != "keep":
        correct = by_spelling[_normalized(misspelled[0])]
        holder = "the model knows" if correct in known_classes else "also"
        raise DSNAError(
            f"the target column {name!r} holds {misspelled[0]!r}, and {holder} {correct!r}, which differs only in "
            "case, blanks or accents. Remedy: spell classes as the model does, or train it with --merge-labels."
        )
    numbers = classes.dtype.kind in "iuf" and y.dtype.kind in "iuf"
    if new_labels and classes.dtype.kind not in "OU" and not numbers:
        raise DSNAError(
            f"the target column {name!r} holds {', '.join(new_labels[:5])}, and the classes of the model are "
            f"{', '.join([*known_classes][:5])}. Remedy: use the same type of values."
        )
    result = np.empty(len(y), dtype=object)
    result[:] = [
        known_classes.get(said(label), label if classes.dtype.kind not in "OU" else said(label)) for label in y.tolist()
    ]
    return result if classes.dtype == object else np.array(result.tolist())


def rare_targets(targets: np.ndarray, training: np.ndarray) -> np.ndarray:
    """Mask of targets whose density is as low as that of the rarest tenth of the training targets.

    Examples
    --------
    >>> import numpy as np
    >>> rare_targets(np.array([1.0, 9.0]), np.r_[np.ones(50), 2 * np.ones(45), 9 * np.ones(5)]).tolist()
    [False, True]
    """
    density = TargetDensity(training)
    density_cut = np.quantile(density.evaluate(training), RARE_SHARE, method="lower")
    return np.asarray(density.evaluate(targets) <= density_cut * (1.0 + 1e-9))


def rarity_lines(target: Target) -> list[str]:
    """Describe how rare the rare cases are.

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
        rare, n_rare = said(names[order[0]]), int(counts[order[0]])
        other_classes = [f"{said(names[k])} {counts[k]}" for k in order[1:_MAX_LISTED]]
        other_classes += [f"{len(order) - _MAX_LISTED} more classes"] if len(order) > _MAX_LISTED else []
        share = f"{n_rare / n:.2g}" if n_rare / n < 0.001 else f"{100 * n_rare / n:.2g}%"
        rare_counts = f"{n_rare} of {n} rows are {rare} ({share}, one in {n / n_rare:.0f})"
        return [f"{target.name}: {rare_counts}; {', '.join(other_classes)}"]
    low, middle, high = np.quantile(y, [0.25, 0.5, 0.75])
    is_rare = rare_targets(y, y)
    below, above = y[is_rare & (y < middle)], y[is_rare & (y > middle)]
    ends = [f"{len(below)} up to {said(float(below.max()))}"] if len(below) else []
    ends += [f"{len(above)} from {said(float(above.min()))} on"] if len(above) else []
    summary = (
        f"{target.name}: from {said(float(y.min()))} to {said(float(y.max()))}, half of the rows between "
        f"{said(float(low))} and {said(float(high))}"
    )
    return [summary, f"rare targets, by their density: {int(is_rare.sum())} of {n} rows, {' and '.join(ends)}"]
