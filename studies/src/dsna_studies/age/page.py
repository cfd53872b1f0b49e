"""The page of the study: tables beside published figures, conclusions, plots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..pages import UNFINISHED, markdown, write_plots
from ..pictures.shared_fits import FULL
from ..pictures.sweeps import plot_sweeps, setting_of
from .figures import plot_ages, plot_decades
from .methods import BALANCED, CHOSEN, GAP_METHODS, OURS, PEERS, SWEPT, TABLE_METHODS
from .plan import FaceExperiment
from .published import beside_published
from .scores import OLD, conclusions, decade_names, score

_COSTS = ("seconds", "ms per query")
_MORPH = 55_000
_LARGE_OLD = 60
_SHOWN = ("RF", "OHRank", "CS-RF", FULL, BALANCED)

READING = """\
Mean absolute errors in years. Everything is learned from training persons only: appearance models, components, scales,
and, where they are chosen, the settings of kernel machines (on folds of training persons). RF has 100 trees and looks
at a third of the features; SMOTE takes each age as a class. RED-SVM and OHRank have fixed settings. CS-RF, CS-RF+AH and
both CS-RF+DSNA are answers of one fit (`presets.faces()`), and share its time; CS-RF is the vote of its forest, the
others carry ages over along a trend. "balanced" is the default `balance`, which spends some of the mean error on rare
ages, the other rows use `balance=0`. "DSNA (paper's form)" is `presets.paper("regression")` with all features and two
clusters, chosen once, out of bag, on the training persons of the first split of FG-NET. Published figures are quoted
from Huang, Loy and Tang unless another source is named; others measured them, on other features, and they were not
run here."""


def main_table(one: FaceExperiment, stored: pd.DataFrame) -> pd.DataFrame:
    """Errors of a leave-one-person-out or three-subsets experiment.

    See :func:`dsna_studies.age.scores.score` for its columns; methods that have not finished all folds are missing.

    Examples
    --------
    See :func:`section`.
    """
    old = OLD if one.pooled else _LARGE_OLD
    return score(one.results(stored), TABLE_METHODS, one.folds, pooled=one.pooled, old=old)


def section(one: FaceExperiment, table: pd.DataFrame, quick: bool = False) -> list[str]:
    """Tables and conclusions of an experiment that :func:`main_table` has scored.

    With ``quick``, published figures and conclusions are left out, as few rows and trees are no match for them.

    Examples
    --------
    >>> from dsna_studies.age.collections import Collection
    >>> from dsna_studies.age.plan import planned
    >>> from dsna_studies.age.protocols import three_subsets
    >>> from dsna_studies.pictures.jobs import LAYOUT
    >>> from dsna_vision.datasets import PictureSet
    >>> faces = PictureSet([Path("1.jpg")] * 3, np.array([20.0, 30.0, 40.0]), points=[None] * 3)
    >>> one = planned(Collection("UTKFace", Path("."), faces), three_subsets(3), ("RF",), pooled=False)
    >>> section(one, main_table(one, pd.DataFrame(columns=LAYOUT.columns)))  # nothing has been run
    ['## UTKFace, S1, S2, S3: 3 pictures, 2 folds', 'No method has finished all folds yet.']
    """
    n = len(one.collection.pictures)
    parts = [f"## {one.collection.name}, {one.protocol}: {n} pictures, {len(one.folds)} folds"]
    if table.empty:
        return [*parts, UNFINISHED]
    errors = table.drop(columns=list(_COSTS))
    old = [name for name in errors if name.startswith("over")]
    shown = errors[["MAE", *old]]
    if not quick:
        shown = beside_published(shown, one.collection.name)
    parts.append(markdown(shown, best=dict.fromkeys(["MAE", *old], -1), bold=OURS, digits=2))
    decades = [name for name in decade_names(one.collection.pictures.labels) if name in errors]
    decade = (one.collection.pictures.labels // 10).astype(int)
    counted = {name: f"{name} ({(decade == int(name.split('-')[0]) // 10).sum()})" for name in decades}
    parts += ["By decade of age (number of pictures)"]
    best = dict.fromkeys(counted.values(), -1)
    parts.append(markdown(errors[decades].rename(columns=counted), best=best, bold=OURS, digits=1))
    if not quick:
        peers = [fit.names[0] for fit in PEERS]
        said = conclusions(table, FULL, peers, ["MAE", *old])
        said = {**said, **{f"{k} ": v for k, v in conclusions(table, BALANCED, peers, old).items()}}
        parts.append("\n".join(f"- {column.strip()}: {sentence}." for column, sentence in said.items()))
    parts += ["Time on one thread", markdown(table[list(_COSTS)], digits=2)]
    if not one.pooled and FULL in table.index and one.collection.name != "MORPH":
        grown, seconds = _MORPH / n, table.loc[FULL, "seconds"]
        parts.append(
            f"MORPH has about {_MORPH:,} pictures, {grown:.1f} times as many. Forests and approximations grow about "
            f"linearly with the rows, so the {seconds:.0f} s of CS-RF+DSNA would become about "
            f"{grown * seconds / 60:.0f} minutes; an exact kernel machine grows with the square to the cube. This is "
            "an extrapolation, not a measurement."
        )
    return [part for part in parts if part]


def gap_section(gaps: Sequence[FaceExperiment], stored: pd.DataFrame) -> list[str]:
    """Predictions for ages that are missing from training.

    Examples
    --------
    >>> gap_section([], pd.DataFrame())
    []
    """
    parts = ["## Ages missing from training"]
    for one in gaps:
        results = one.results(stored)
        table = score(results, GAP_METHODS, one.folds)
        if table.empty:
            continue
        learned = np.concatenate([one.collection.pictures.labels[split.train] for split in one.splits])
        low, top = learned.min(), learned.max()
        rows = []
        for method in table.index:
            mine = results[results["method"] == method]
            predicted = np.array(" ".join(mine["predicted"]).split(), dtype=np.float64)
            truth = np.array(" ".join(mine["truth"]).split(), dtype=np.float64)
            rows.append(
                {
                    "MAE": table.loc[method, "MAE"],
                    "bias": (predicted - truth).mean(),
                    "smallest": predicted.min(),
                    "largest": predicted.max(),
                    "beyond training, %": 100 * ((predicted < low) | (predicted > top)).mean(),
                }
            )
        n = sum(len(split.test) for split in one.splits)
        parts.append(
            f"**{one.protocol}** in training, {n} such test pictures on {len(one.folds)} person-disjoint folds. "
            f"Ages in training reach from {low:.0f} to {top:.0f}; bias is the mean of predicted minus true age."
        )
        parts.append(markdown(pd.DataFrame(rows, index=table.index), best={"MAE": -1}, bold=OURS, digits=2))
    return parts if len(parts) > 1 else []


def sweep_section(one: FaceExperiment, table: pd.DataFrame) -> list[str]:
    """Errors of the settings of the sweeps, as :func:`dsna_studies.age.scores.score` gives them.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> table = pd.DataFrame({"MAE": [4.0], "over 40": [15.0]}, index=["CS-RF+DSNA (max_depth=4)"])
    >>> print(sweep_section(SimpleNamespace(protocol="5 person folds"), table)[1])
    |  | MAE | over 40 |
    |---|---|---|
    | max_depth=4 | 4.00 | 15.00 |
    """
    if table.empty:
        return []
    shown = table[[name for name in table if name == "MAE" or name.startswith("over")]]
    shown = shown.rename(index=setting_of)
    return [f"## One parameter at a time, on {one.protocol} (Fig. 6)", markdown(shown, digits=2)]


def write_figures(
    folder: Path,
    tables: Mapping[str, tuple[FaceExperiment, pd.DataFrame]],
    sweep: tuple[FaceExperiment, pd.DataFrame] | None,
    drawn: Mapping[str, Any],
) -> list[str]:
    """Write all figures for which there are results; returns the lines that show them on the page.

    Examples
    --------
    >>> import tempfile
    >>> from matplotlib.figure import Figure
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_figures(Path(folder), {}, None, {"some_plot.png": Figure()})
    ['![some plot](some_plot.png)']
    """
    ages = {name: one.collection.pictures.labels for name, (one, _) in tables.items()}
    figures: dict[str, Any] = {"ages.png": plot_ages(ages)} if ages else {}
    figures.update(drawn)
    for name, (one, table) in tables.items():
        if not table.empty:
            file = f"decades_{name.lower().replace('-', '')}.png"
            figures[file] = plot_decades(table, _SHOWN, one.collection.pictures.labels)
    if sweep is not None and not sweep[1].empty:
        errors = {setting_of(str(name)): float(mae) for name, mae in sweep[1]["MAE"].items()}
        figures["sweeps.png"] = plot_sweeps(SWEPT, errors, CHOSEN, "mean absolute error, years")
    return write_plots(folder, figures)
