"""The result file of the benchmark: one line for each (table, fold, method)."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from ..results_file import Layout, Ledger, load_ledger
from .scores import METRICS, TIMES

LAYOUT = Layout(
    key=("task", "dataset", "checksum", "folds", "seed", "fold", "method"),
    values=(*METRICS["classification"], *METRICS["regression"], *TIMES),
    whole=("folds", "seed", "fold"),
)
KEY = LAYOUT.key
COLUMNS = LAYOUT.columns


def load_results(path: Path) -> pd.DataFrame:
    """Results of earlier runs; see :func:`dsna.studies.results_file.load_ledger`.

    Examples
    --------
    >>> from pathlib import Path
    >>> load_results(Path("not_there.csv")).empty
    True
    """
    return load_ledger(path, LAYOUT)


class ResultsWriter(Ledger):
    """Adds results of the benchmark to a file.

    Parameters
    ----------
    path : Path
        See :class:`dsna.studies.results_file.Ledger`.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "results.csv"
    ...     with ResultsWriter(path) as writer:
    ...         writer.add(
    ...             {"task": "regression", "dataset": "a", "folds": 2, "seed": 0, "fold": 0, "predict_seconds": 1}
    ...         )
    ...     len(load_results(path))
    1
    """

    def __init__(self, path: Path):
        super().__init__(path, LAYOUT)
