"""The page of the study: tables with published figures, and plots."""

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
from .scores import ANGLES, AVERAGE, RARE, SNAPPED, answers, by_pitch, pose_table, snap_to_poses

_BEST = dict.fromkeys(("yaw", "pitch", AVERAGE, SNAPPED, RARE), -1)
_MARK = ", as published"
READING = """\
Mean absolute errors in degrees. Features are principal components of oriented gradients, fitted on the training heads
only. RF, kernel ridge, kernel PLS, KRF, CS-RF, CS-RF+AH and CS-RF+DSNA predict both angles at once; RF+SMOTE (with
angles as classes), RED-SVM and methods marked "angle by angle" predict each angle separately. Settings of kernel
ridge and kernel PLS are chosen on inner folds; those of all others were fixed beforehand, ours on other folds. CS-RF,
CS-RF+AH and CS-RF+DSNA share one forest and its time. "snapped" moves the predictions of every method to the nearest
pose, as CS-RF+DSNA does. "pitch 90" is the pitch error at +-90 degrees. Figures marked "as published" are quoted from
Huang, Loy and Tang, those of MLD-wJ from Geng and Xia; their features differ from ours."""


def _table_section(experiment: Experiment, stored: pd.DataFrame, title: str, with_published: bool = False) -> list[str]:
    """Paragraphs with the errors of all methods under one protocol, optionally with published ones."""
    table = pose_table(experiment.results(stored), TABLE_METHODS, experiment.folds)
    paragraphs = [f"## {title}"]
    if table.empty:
        return [*paragraphs, UNFINISHED]
    if with_published:
        table["average, published"] = [published.AVERAGES.get(method, np.nan) for method in table.index]
        published_errors = pd.DataFrame.from_dict(published.ANGLES, orient="index")
        table = pd.concat([table, published_errors.set_axis([f"{name}{_MARK}" for name in published_errors.index])])
    return [*paragraphs, markdown(table, best=_BEST, bold=OURS, digits=2)]


def _pitch_table(experiment: Experiment, stored: pd.DataFrame) -> pd.DataFrame:
    """Mean pitch error of each method (rows) at each pitch angle (columns)."""
    labels_of_method = {
        method: answers(experiment.results(stored), method, experiment.folds) for method in TABLE_METHODS
    }
    rows = {method: by_pitch(*labels) for method, labels in labels_of_method.items() if labels is not None}
    return pd.DataFrame.from_dict(rows, orient="index")


def _removal_tables(
    steps: Sequence[Experiment], stored: pd.DataFrame, snap: bool = False
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Mean and standard deviation over seeds of the pitch error, by method (rows) and share removed (columns)."""

    def error(truth: np.ndarray, predicted: np.ndarray) -> float:
        final_predictions = snap_to_poses(predicted, truth) if snap else predicted
        return float(np.abs(final_predictions - truth)[:, 0].mean())

    mean: dict[str, dict[float, float]] = {}
    deviation: dict[str, dict[float, float]] = {}
    for experiment in steps:
        share = float(experiment.protocol.split(" ")[0]) / 100 if experiment.kind == "removal" else 0.0
        for method in REMOVAL_METHODS:
            labels_of_folds = [answers(experiment.results(stored), method, [fold]) for fold in experiment.folds]
            errors = [error(*labels) for labels in labels_of_folds if labels is not None]
            if len(errors) == len(experiment.folds):
                mean.setdefault(method, {})[share] = float(np.mean(errors))
                deviation.setdefault(method, {})[share] = float(np.std(errors))
    return _table_by_share(mean), _table_by_share(deviation)


def _table_by_share(error_of_share: dict[str, dict[float, float]]) -> pd.DataFrame:
    """Table with shares in ascending order, even if methods have different shares."""
    return pd.DataFrame.from_dict(error_of_share, orient="index").sort_index(axis=1)


def _gap_table(gaps: Sequence[Experiment], stored: pd.DataFrame) -> pd.DataFrame:
    """Error of each method (rows) in the angles that training lacked (columns), and the mean predicted angle."""
    rows: dict[str, dict[str, float]] = {}
    angles = {gap.name: gap.angles for gap in GAPS}
    for experiment in gaps:
        for method in GAP_METHODS:
            labels = answers(experiment.results(stored), method, experiment.folds)
            if labels is None:
                continue
            truth, predicted = labels
            for column, angle in angles[experiment.protocol]:
                in_gap = np.abs(truth[:, column]) == angle
                if in_gap.any():
                    signed_prediction = predicted[in_gap, column] * np.sign(truth[in_gap, column])
                    name = f"{ANGLES[column]} {angle:.0f}"
                    rows.setdefault(method, {})[f"{name}: error"] = float(np.abs(signed_prediction - angle).mean())
                    rows[method][f"{name}: mean answer"] = float(signed_prediction.mean())
    return pd.DataFrame.from_dict(rows, orient="index")


def _sweep_errors(experiment: Experiment, stored: pd.DataFrame) -> dict[str, float]:
    """Average error of each setting of the sweeps."""
    table = pose_table(experiment.results(stored), experiment.methods, experiment.folds)
    return {} if table.empty else {setting_of(name): v for name, v in table[AVERAGE].items()}


def sections(
    planned_experiments: Sequence[Experiment], stored: pd.DataFrame, quick_run: bool = False
) -> tuple[list[str], dict[str, Any]]:
    """Write the paragraphs of the page, and draw plots by file name.

    With ``quick_run``, published figures are left out, as few rows and trees are not comparable.

    Examples
    --------
    >>> from dsna_studies.pictures.jobs import LAYOUT
    >>> from dsna_studies.pictures.splits import Split
    >>> def planned(kind, protocol):
    ...     split = Split(protocol, "0", np.arange(0), np.arange(2))
    ...     return Experiment(kind, [split], ("RF",), ("Pointing'04", "00", "full", protocol))
    >>> experiments = planned("table", "5 folds"), planned("persons", "5 person folds")
    >>> row = {"truth": "90 0 0 15", "predicted": "84 6 0 15", "fit_seconds": 1.0, "predict_seconds": 0.5}
    >>> stored = pd.DataFrame(
    ...     [dict(zip(LAYOUT.key, experiment.key(experiment.splits[0], "RF"))) | row for experiment in experiments]
    ... )
    >>> page, plots = sections(experiments, stored)
    >>> page[0], list(plots)
    ('## 1 folds; persons are in all of them (Table 1, Table 3)', ['pitch.png', 'removal.png'])
    """
    main, persons = of_kind(planned_experiments, "table")[0], of_kind(planned_experiments, "persons")[0]
    removal_steps = [main, *of_kind(planned_experiments, "removal")]
    title = f"{len(main.folds)} folds; persons are in all of them (Table 1, Table 3)"
    page = _table_section(main, stored, title, with_published=not quick_run)
    page += _table_section(persons, stored, f"{len(persons.folds)} folds that share no person")
    plots: dict[str, Any] = {}
    pitch = _pitch_table(main, stored)
    if not pitch.empty:
        page += ["## Pitch error at each pitch angle (Fig. 9a)", markdown(pitch, _angles(pitch), OURS, digits=1)]
        shown_methods = [method for method in REMOVAL_METHODS if method in pitch.index]
        if shown_methods:
            plots["pitch.png"] = plot_pitch({method: pitch.loc[method].to_dict() for method in shown_methods})
    mean, spread = _removal_tables(removal_steps, stored)
    if not mean.empty:
        page.append("## Pitch error as training pictures are removed toward a normal distribution of pitch (Fig. 9b)")
        page.append(f"Means over {len(main.folds)} seeds, each with a fold of its own; columns: share removed.")
        page.append(markdown(mean, _angles(mean), OURS, digits=2))
        snapped_mean, _ = _removal_tables(removal_steps, stored, snap=True)
        page += [
            "The same, all predictions snapped to the nearest pose",
            markdown(snapped_mean, _angles(snapped_mean), OURS, digits=2),
        ]
        plots["removal.png"] = plot_removal(mean, spread)
    gaps = _gap_table(of_kind(planned_experiments, "gap"), stored)
    if not gaps.empty:
        best = {name: -1 for name in gaps if name.endswith("error")}
        page += ["## Angles that training lacks", markdown(gaps, best, OURS, digits=1)]
    for experiment in of_kind(planned_experiments, "sweep"):
        errors = _sweep_errors(experiment, stored)
        if errors:
            plots["sweeps.png"] = plot_sweeps(SWEPT, errors, CHOSEN, "average error, degrees")
            table = pd.DataFrame({AVERAGE: errors})
            page += [
                f"## One parameter at a time, on {len(experiment.folds)} folds (Fig. 6)",
                markdown(table, digits=2),
            ]
    return page, plots


def _angles(table: pd.DataFrame) -> dict[str, int]:
    return {str(name): -1 for name in table.columns}
