"""The page of the study: tables with published figures, conclusions, plots."""

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
Mean absolute errors in years. Appearance models, components, scales and the tuned settings of kernel machines are
learned from training persons only. RF has 100 trees, which consider a third of the features at each split; SMOTE
treats each age as a class. RED-SVM and OHRank have fixed settings. CS-RF, CS-RF+AH and both CS-RF+DSNA share one fit
(`presets.faces()`) and its time; CS-RF is the vote of its forest, the others adjust neighbours' ages along a trend.
"balanced" is the default `balance`, which accepts a larger mean error for better predictions of rare ages; the other
rows use `balance=0`. "DSNA (paper's form)" is `presets.paper("regression")` with all features and two clusters,
chosen once, out of bag, on the training persons of the first split of FG-NET. Published figures are quoted from
Huang, Loy and Tang unless another source is named; they were measured by others, on other features, not run here."""


def main_table(experiment: FaceExperiment, stored: pd.DataFrame) -> pd.DataFrame:
    """Compute the errors of a leave-one-person-out or three-subsets experiment.

    See :func:`dsna_studies.age.scores.score` for its columns; methods that have not finished all folds are missing.

    Examples
    --------
    See :func:`section`.
    """
    old = OLD if experiment.pooled else _LARGE_OLD
    return score(experiment.results(stored), TABLE_METHODS, experiment.folds, pooled=experiment.pooled, old=old)


def section(experiment: FaceExperiment, table: pd.DataFrame, quick_run: bool = False) -> list[str]:
    """Write tables and conclusions of an experiment scored by :func:`main_table`.

    With ``quick_run``, published figures and conclusions are left out, as few rows and trees are not comparable.

    Examples
    --------
    >>> from dsna_studies.age.collections import FaceCollection
    >>> from dsna_studies.age.plan import planned
    >>> from dsna_studies.age.protocols import three_subsets
    >>> from dsna_studies.pictures.jobs import LAYOUT
    >>> from dsna_vision.datasets import PictureSet
    >>> faces = PictureSet([Path("1.jpg")] * 3, np.array([20.0, 30.0, 40.0]), points=[None] * 3)
    >>> experiment = planned(FaceCollection("UTKFace", Path("."), faces), three_subsets(3), ("RF",), pooled=False)
    >>> section(experiment, main_table(experiment, pd.DataFrame(columns=LAYOUT.columns)))  # nothing has been run
    ['## UTKFace, S1, S2, S3: 3 pictures, 2 folds', 'No method has finished all folds yet.']
    """
    n = len(experiment.collection.pictures)
    paragraphs = [
        f"## {experiment.collection.name}, {experiment.protocol}: {n} pictures, {len(experiment.folds)} folds"
    ]
    if table.empty:
        return [*paragraphs, UNFINISHED]
    errors = table.drop(columns=list(_COSTS))
    old = [name for name in errors if name.startswith("over")]
    shown_columns = errors[["MAE", *old]]
    if not quick_run:
        shown_columns = beside_published(shown_columns, experiment.collection.name)
    paragraphs.append(markdown(shown_columns, best=dict.fromkeys(["MAE", *old], -1), bold=OURS, digits=2))
    decades = [name for name in decade_names(experiment.collection.pictures.labels) if name in errors]
    decade = (experiment.collection.pictures.labels // 10).astype(int)
    label_with_count = {name: f"{name} ({(decade == int(name.split('-')[0]) // 10).sum()})" for name in decades}
    paragraphs += ["By decade of age (number of pictures)"]
    best = dict.fromkeys(label_with_count.values(), -1)
    paragraphs.append(markdown(errors[decades].rename(columns=label_with_count), best=best, bold=OURS, digits=1))
    if not quick_run:
        peers = [fit.names[0] for fit in PEERS]
        sentences = conclusions(table, FULL, peers, ["MAE", *old])
        sentences = {**sentences, **{f"{k} ": v for k, v in conclusions(table, BALANCED, peers, old).items()}}
        paragraphs.append("\n".join(f"- {column.strip()}: {sentence}." for column, sentence in sentences.items()))
    paragraphs += ["Time on one thread", markdown(table[list(_COSTS)], digits=2)]
    if not experiment.pooled and FULL in table.index and experiment.collection.name != "MORPH":
        growth, seconds = _MORPH / n, table.loc[FULL, "seconds"]
        paragraphs.append(
            f"MORPH has about {_MORPH:,} pictures, {growth:.1f} times as many. Forests and approximations grow about "
            f"linearly with the rows, so the {seconds:.0f} s of CS-RF+DSNA would become about "
            f"{growth * seconds / 60:.0f} minutes; an exact kernel machine grows with the square to the cube. This is "
            "an extrapolation, not a measurement."
        )
    return [paragraph for paragraph in paragraphs if paragraph]


def gap_section(gaps: Sequence[FaceExperiment], stored: pd.DataFrame) -> list[str]:
    """Write a section on predictions for ages that are missing from training.

    Examples
    --------
    >>> gap_section([], pd.DataFrame())
    []
    """
    paragraphs = ["## Ages missing from training"]
    for experiment in gaps:
        results = experiment.results(stored)
        table = score(results, GAP_METHODS, experiment.folds)
        if table.empty:
            continue
        training_ages = np.concatenate(
            [experiment.collection.pictures.labels[split.train] for split in experiment.splits]
        )
        youngest, oldest = training_ages.min(), training_ages.max()
        rows = []
        for method in table.index:
            method_results = results[results["method"] == method]
            predicted = np.array(" ".join(method_results["predicted"]).split(), dtype=np.float64)
            truth = np.array(" ".join(method_results["truth"]).split(), dtype=np.float64)
            rows.append(
                {
                    "MAE": table.loc[method, "MAE"],
                    "bias": (predicted - truth).mean(),
                    "smallest": predicted.min(),
                    "largest": predicted.max(),
                    "beyond training, %": 100 * ((predicted < youngest) | (predicted > oldest)).mean(),
                }
            )
        n = sum(len(split.test) for split in experiment.splits)
        paragraphs.append(
            f"**{experiment.protocol}** in training, {n} such test pictures on {len(experiment.folds)} "
            "person-disjoint folds. "
            f"Ages in training reach from {youngest:.0f} to {oldest:.0f}; bias is the mean of predicted minus true age."
        )
        paragraphs.append(markdown(pd.DataFrame(rows, index=table.index), best={"MAE": -1}, bold=OURS, digits=2))
    return paragraphs if len(paragraphs) > 1 else []


def sweep_section(experiment: FaceExperiment, table: pd.DataFrame) -> list[str]:
    """Write a section on the settings of the sweeps, scored by :func:`dsna_studies.age.scores.score`.

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
    errors = table[[name for name in table if name == "MAE" or name.startswith("over")]]
    errors = errors.rename(index=setting_of)
    return [f"## One parameter at a time, on {experiment.protocol} (Fig. 6)", markdown(errors, digits=2)]


def write_figures(
    folder: Path,
    tables: Mapping[str, tuple[FaceExperiment, pd.DataFrame]],
    sweep: tuple[FaceExperiment, pd.DataFrame] | None,
    fit_figures: Mapping[str, Any],
) -> list[str]:
    """Write all figures for which there are results, and return the lines that show them on the page.

    Examples
    --------
    >>> import tempfile
    >>> from matplotlib.figure import Figure
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_figures(Path(folder), {}, None, {"some_plot.png": Figure()})
    ['![some plot](some_plot.png)']
    """
    ages = {name: experiment.collection.pictures.labels for name, (experiment, _) in tables.items()}
    figures: dict[str, Any] = {"ages.png": plot_ages(ages)} if ages else {}
    figures.update(fit_figures)
    for name, (experiment, table) in tables.items():
        if not table.empty:
            file_name = f"decades_{name.lower().replace('-', '')}.png"
            figures[file_name] = plot_decades(table, _SHOWN, experiment.collection.pictures.labels)
    if sweep is not None and not sweep[1].empty:
        errors = {setting_of(str(name)): float(mae) for name, mae in sweep[1]["MAE"].items()}
        figures["sweeps.png"] = plot_sweeps(SWEPT, errors, CHOSEN, "mean absolute error, years")
    return write_plots(folder, figures)
