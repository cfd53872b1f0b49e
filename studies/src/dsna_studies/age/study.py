"""The study of ages from faces."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..models import with_trees
from ..pictures.experiments import PictureStudy, of_kind
from ..pictures.jobs import LabelledRows
from ..pictures.shared_fits import QUICK_TREES
from ..pictures.splits import person_folds
from ..study import StudyOptions as Options
from ..study import run_study
from .approximations import convergence, fit_split, plot_approximations
from .collections import find_collections
from .figures import plot_convergence, plot_embeddings
from .methods import GAP_METHODS, SWEEP_METHODS, TABLE_METHODS, fits_of
from .page import READING, gap_section, main_table, section, sweep_section, write_figures
from .plan import FaceExperiment, experiments
from .rows import FaceRows, rows_of
from .scores import score

__all__ = ["AgeStudy", "Options", "run_study"]

_PICTURED = 5


class AgeStudy(PictureStudy):
    """Ages from faces: FG-NET, and UTKFace or MORPH.

    Examples
    --------
    >>> from pathlib import Path
    >>> run_study(AgeStudy(Options(Path("nowhere"), Path("age"))))
    Traceback (most recent call last):
    dsna_studies.study.DataError: nowhere is not a folder. ...
    """

    name, title, reading = "age", "Ages from faces", READING
    table_methods, other_methods, fits_of = TABLE_METHODS, (*GAP_METHODS, *SWEEP_METHODS), fits_of

    def read(self) -> Sequence[FaceExperiment]:
        """Read the collections in the folder."""
        self._rows: dict[str, LabelledRows] = {}
        collections = find_collections(self.options.data)
        for collection in collections:
            for problem in collection.pictures.problems:
                print(f"{collection.name}: left out {problem}", file=sys.stderr)
        return experiments(collections, self.options.quick)

    def data_of(self, experiment: FaceExperiment) -> LabelledRows:
        """Rows of the experiment's collection, computed once on first use."""
        collection = experiment.collection
        if collection.checksum not in self._rows:
            pictures = collection.pictures
            self._rows[collection.checksum] = LabelledRows(rows_of(collection), pictures.labels, pictures.groups)
        return self._rows[collection.checksum]

    def sections(self, results: pd.DataFrame) -> tuple[list[str], Callable[[], list[str]]]:
        """Tables of the collections, gaps in the ages, sweeps."""
        quick_run = self.options.quick
        tables = {
            experiment.collection.name: (experiment, main_table(experiment, results))
            for experiment in of_kind(self.experiments, "table")
        }
        page = [
            paragraph for experiment, table in tables.values() for paragraph in section(experiment, table, quick_run)
        ]
        page += gap_section(of_kind(self.experiments, "gap"), results)
        sweep = None
        for experiment in of_kind(self.experiments, "sweep"):
            sweep = experiment, score(experiment.results(results), SWEEP_METHODS, experiment.folds)
            page += sweep_section(*sweep)
        return page, lambda: write_figures(self.options.out, tables, sweep, self._figures_of_a_fit())

    def _figures_of_a_fit(self) -> dict[str, Any]:
        """Figures that need a model fitted on one fold of FG-NET, if that collection is available."""
        collections = [
            experiment.collection for experiment in self.experiments if experiment.collection.name == "FG-NET"
        ]
        if not collections:
            return {}
        pictures = collections[0].pictures
        groups = np.asarray(pictures.groups)
        rows = FaceRows(collections[0].name, collections[0].folder)
        model = fits_of(["CS-RF"])[0].make(0)
        if self.options.quick:
            model = with_trees(model, QUICK_TREES)
        fitted = fit_split(rows, person_folds(groups)[0], pictures.labels, groups, model)
        oldest = np.argsort(-fitted.truth, kind="stable")[: 3 * _PICTURED : 3]
        return {
            "embedding.png": plot_embeddings(fitted.train, pictures.labels[fitted.split.train]),
            "convergence.png": plot_convergence(convergence(fitted), fitted.truth),
            "approximations.png": plot_approximations(fitted, rows, oldest.tolist()),
        }
