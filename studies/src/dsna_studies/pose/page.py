"""The page of the study: tables beside published figures, and plots."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..pages import UNFINISHED, markdown
from ..pictures.experiments import Experiment, of_kind
from ..pictures.sweeps import plot_sweeps, setting_of
from . import published
from .figures import plot_pitch, plot_removal
from .methods import CHOSEN, GAP_METHODS, OURS, REMOVAL_METHODS, SWEPT, TABLE_METHODS
from .protocols import GAPS
from .scores import ANGLES, AVERAGE, RARE, SNAPPED, answers, by_pitch, pose_table, snapped

_BEST = dict.fromkeys(("yaw", "pitch", AVERAGE, SNAPPED, RARE), -1)
_MARK = ", as published"
READING = """\
Mean absolute errors in degrees. Rows are principal components of oriented gradients, of the training heads alone. RF,
kernel ridge, kernel PLS, KRF, CS-RF, CS-RF+AH and CS-RF+DSNA predict both angles at once; RF+SMOTE (angles as
classes), RED-SVM and what is named so go angle by angle. Kernel ridge and kernel PLS are chosen on inner folds; the
settings of all others were fixed beforehand, ours on other folds. CS-RF, CS-RF+AH and CS-RF+DSNA are answers of one
forest and share its time. "snapped" moves the predictions of every method to the nearest pose, as CS-RF+DSNA does.
"pitch 90" is the pitch error at +-90 degrees. Figures marked "as published" are quoted from Huang, Loy and Tang, that
of MLD-wJ from Geng and Xia; their features are other ones."""


def _table_section(one: Experiment, stored: pd.DataFrame, title: str, beside: bool = False) -> list[str]:
    """Errors of all methods under one protocol, as paragraphs; beside published ones where asked for."""
    table = pose_table(one.results(stored), TABLE_METHODS, one.folds)
    parts = [f"## {title}"]
    if table.empty:
        return [*parts, UNFINISHED]
    if beside:
        table["average, published"] = [published.AVERAGES.get(method, np.nan) for method in table.index]
        others = pd.DataFrame.from_dict(published.ANGLES, orient="index")
        table = pd.concat([table, others.set_axis([f"{name}{_MARK}" for name in others.index])])
    return [*parts, markdown(table, best=_BEST, bold=OURS, digits=2)]


def _pitch_table(one: Experiment, stored: pd.DataFrame) -> pd.DataFrame:
    """Mean pitch error of each method (rows) at each pitch angle (columns)."""
    found = {method: answers(one.results(stored), method, one.folds) for method in TABLE_METHODS}
    rows = {method: by_pitch(*both) for method, both in found.items() if both is not None}
    return pd.DataFrame.from_dict(rows, orient="index")


def _removal_tables(
    steps: Sequence[Experiment], stored: pd.DataFrame, snap: bool = False
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Mean over seeds of the pitch error, and its standard deviation: methods in rows, shares removed in columns."""

    def error(truth: np.ndarray, predicted: np.ndarray) -> float:
        said = snapped(predicted, truth) if snap else predicted
        return float(np.abs(said - truth)[:, 0].mean())

    mean: dict[str, dict[float, float]] = {}
    spread: dict[str, dict[float, float]] = {}
    for one in steps:
        share = float(one.protocol.split(" ")[0]) / 100 if one.kind == "removal" else 0.0
        for method in REMOVAL_METHODS:
            each = [answers(one.results(stored), method, [fold]) for fold in one.folds]
            errors = [error(*both) for both in each if both is not None]
            if len(errors) == len(one.folds):
                mean.setdefault(method, {})[share] = float(np.mean(errors))
                spread.setdefault(method, {})[share] = float(np.std(errors))
    return _by_share(mean), _by_share(spread)


def _by_share(found: dict[str, dict[float, float]]) -> pd.DataFrame:
    """Shares in ascending order, also where methods have answered different ones."""
    return pd.DataFrame.from_dict(found, orient="index").sort_index(axis=1)


def _gap_table(gaps: Sequence[Experiment], stored: pd.DataFrame) -> pd.DataFrame:
    """Error of each method (rows) in the angle that training lacked (columns), with the mean size of what it said."""
    rows: dict[str, dict[str, float]] = {}
    angles = {gap.name: gap.angles for gap in GAPS}
    for one in gaps:
        for method in GAP_METHODS:
            both = answers(one.results(stored), method, one.folds)
            if both is None:
                continue
            truth, predicted = both
            for column, size in angles[one.protocol]:
                asked = np.abs(truth[:, column]) == size
                if asked.any():
                    toward = predicted[asked, column] * np.sign(truth[asked, column])
                    name = f"{ANGLES[column]} {size:.0f}"
                    rows.setdefault(method, {})[f"{name}: error"] = float(np.abs(toward - size).mean())
                    rows[method][f"{name}: mean answer"] = float(toward.mean())
    return pd.DataFrame.from_dict(rows, orient="index")


def _sweep_errors(one: Experiment, stored: pd.DataFrame) -> dict[str, float]:
    """Average error of each setting of the sweeps."""
    table = pose_table(one.results(stored), one.methods, one.folds)
    return {} if table.empty else {setting_of(name): v for name, v in table[AVERAGE].items()}


def sections(
    everything: Sequence[Experiment], stored: pd.DataFrame, quick: bool = False
) -> tuple[list[str], dict[str, Any]]:
    """Paragraphs of the page, and plots by file name.

    With ``quick``, published figures are left out, as few rows and trees are no match for them.

    Examples
    --------
    >>> from dsna_studies.pictures.jobs import LAYOUT
    >>> from dsna_studies.pictures.splits import Split
    >>> def planned(kind, protocol):
    ...     split = Split(protocol, "0", np.arange(0), np.arange(2))
    ...     return Experiment(kind, [split], ("RF",), ("Pointing'04", "00", "full", protocol))
    >>> both = planned("table", "5 folds"), planned("persons", "5 person folds")
    >>> said = {"truth": "90 0 0 15", "predicted": "84 6 0 15", "fit_seconds": 1.0, "predict_seconds": 0.5}
    >>> stored = pd.DataFrame([dict(zip(LAYOUT.key, one.key(one.splits[0], "RF"))) | said for one in both])
    >>> page, plots = sections(both, stored)
    >>> page[0], list(plots)
    ('## 1 folds; persons are in all of them (Table 1, Table 3)', ['pitch.png', 'removal.png'])
    """
    main, persons = of_kind(everything, "table")[0], of_kind(everything, "persons")[0]
    removed = [main, *of_kind(everything, "removal")]
    title = f"{len(main.folds)} folds; persons are in all of them (Table 1, Table 3)"
    page = _table_section(main, stored, title, beside=not quick)
    page += _table_section(persons, stored, f"{len(persons.folds)} folds that share no person")
    plots: dict[str, Any] = {}
    pitch = _pitch_table(main, stored)
    if not pitch.empty:
        page += ["## Pitch error at each pitch angle (Fig. 9a)", markdown(pitch, _angles(pitch), OURS, digits=1)]
        shown = [method for method in REMOVAL_METHODS if method in pitch.index]
        if shown:
            plots["pitch.png"] = plot_pitch({method: pitch.loc[method].to_dict() for method in shown})
    mean, spread = _removal_tables(removed, stored)
    if not mean.empty:
        page.append("## Pitch error as training pictures are removed toward a normal distribution of pitch (Fig. 9b)")
        page.append(f"Means over {len(main.folds)} seeds, each with a fold of its own; columns: share removed.")
        page.append(markdown(mean, _angles(mean), OURS, digits=2))
        moved, _ = _removal_tables(removed, stored, snap=True)
        page += [
            "The same, all predictions snapped to the nearest pose",
            markdown(moved, _angles(moved), OURS, digits=2),
        ]
        plots["removal.png"] = plot_removal(mean, spread)
    gaps = _gap_table(of_kind(everything, "gap"), stored)
    if not gaps.empty:
        best = {name: -1 for name in gaps if name.endswith("error")}
        page += ["## Angles that training lacks", markdown(gaps, best, OURS, digits=1)]
    for one in of_kind(everything, "sweep"):
        errors = _sweep_errors(one, stored)
        if errors:
            plots["sweeps.png"] = plot_sweeps(SWEPT, errors, CHOSEN, "average error, degrees")
            table = pd.DataFrame({AVERAGE: errors})
            page += [f"## One parameter at a time, on {len(one.folds)} folds (Fig. 6)", markdown(table, digits=2)]
    return page, plots


def _angles(table: pd.DataFrame) -> dict[str, int]:
    return {str(name): -1 for name in table.columns}
