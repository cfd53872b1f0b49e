"""The study of head poses."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import pandas as pd

from ..models import with_trees
from ..pages import write_plots
from ..pictures.crops import CropRows
from ..pictures.experiments import Experiment, PictureStudy
from ..pictures.jobs import LabelledRows
from ..pictures.shared_fits import FULL, QUICK_TREES
from ..study import StudyOptions as Options
from ..study import run_study
from .heads import COMPONENTS, gradients, read_heads
from .methods import GAP_METHODS, SWEEP_METHODS, TABLE_METHODS, fits_of
from .neighbors import plot_neighbors, rare_and_common
from .page import READING, sections
from .plan import experiments

__all__ = ["Options", "PoseStudy", "run_study"]


class PoseStudy(PictureStudy):
    """Pitch and yaw of heads: Pointing'04.

    Examples
    --------
    >>> from pathlib import Path
    >>> PoseStudy(Options(data=Path("pointing04"), out=Path("pose"))).page.as_posix()
    'pose/pose.md'
    """

    name, title, reading = "pose", "Head pose", READING
    table_methods, other_methods, fits_of = TABLE_METHODS, (*GAP_METHODS, *SWEEP_METHODS), fits_of

    def read(self) -> Sequence[Experiment]:
        """Read the heads in the folder."""
        self.heads = read_heads(self.options.data, self.options.quick)
        for problem in self.heads.problems:
            print(f"left out {problem}", file=sys.stderr)
        return experiments(self.heads, self.options.quick)

    @cached_property
    def rows(self) -> CropRows:
        """Oriented gradients of all heads, stored in the folder of the results."""
        return CropRows(gradients(self.heads, self.options.out / "gradients.npz"), COMPONENTS)

    def data_of(self, experiment: Experiment) -> LabelledRows:
        """All heads, grouped by person for folds that do not share persons."""
        return LabelledRows(self.rows, self.heads.labels, self.heads.groups if experiment.kind == "persons" else None)

    def sections(self, results: pd.DataFrame) -> tuple[list[str], Callable[[], list[str]]]:
        """Tables of both protocols, pictures removed, gaps in the angles, sweeps."""
        page, plots = sections(self.experiments, results, self.options.quick)
        return page, lambda: write_plots(self.options.out, plots | {"neighbours.png": self._neighbors()})

    def _neighbors(self) -> Any:
        """Plot of neighbours on the first fold."""
        split = self.experiments[0].splits[0]
        train, test = self.rows.of(split)
        model = fits_of([FULL])[0].make(0)
        if self.options.quick:
            model = with_trees(model, QUICK_TREES)
        model.fit(train, self.heads.labels[split.train])
        return plot_neighbors(model, self.heads, split, test, rare_and_common(self.heads.labels[split.test]))
