"""The file of results: one line for each (table, fold, method), appended as it is finished, resumed from."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import pandas as pd

from .scores import METRICS, TIMES

KEY = ("task", "dataset", "checksum", "folds", "seed", "fold", "method")
_WHOLE = ("folds", "seed", "fold")
_VALUES = (*METRICS["classification"], *METRICS["regression"], *TIMES)
COLUMNS = (*KEY, *_VALUES)


class ResultsError(ValueError):
    """The file named for results holds something else.

    Examples
    --------
    >>> raise ResultsError("notes.csv is no result file.")
    Traceback (most recent call last):
    dsna.experiments.tabular.results.ResultsError: notes.csv is no result file.
    """


def load_results(path: Path) -> pd.DataFrame:
    """Results of earlier runs.

    Parameters
    ----------
    path : Path
        May be missing or empty.

    Returns
    -------
    data frame with the columns of ``COLUMNS``
        The last of equal keys counts, and lines that an interruption has cut off do not.

    Examples
    --------
    >>> from pathlib import Path
    >>> load_results(Path("not_there.csv")).empty
    True
    """
    text = path.read_bytes().decode(errors="replace") if path.exists() else ""
    whole = text[: text.rfind("\n") + 1]  # what follows the last line end was not finished
    lines = list(csv.reader(io.StringIO(whole)))
    header = ",".join(COLUMNS)
    if not header.startswith(text) and (not lines or tuple(lines[0]) != COLUMNS):
        raise ResultsError(
            f"{path} exists and is not a result file of this version of the command; name another with --out."
        )
    good = [line for line in lines[1:] if len(line) == len(COLUMNS) and line[-1]]
    frame = pd.DataFrame(good, columns=list(COLUMNS))
    for name in (*_WHOLE, *_VALUES):
        frame[name] = pd.to_numeric(frame[name], errors="coerce")
    frame = frame.dropna(subset=[*_WHOLE, TIMES[-1]]).astype(dict.fromkeys(_WHOLE, "int64"))
    return frame.drop_duplicates(list(KEY), keep="last").reset_index(drop=True)


class ResultsWriter:
    """Adds results to a file, each as one line that is on disk before the next is computed.

    Parameters
    ----------
    path : Path
        A missing or empty file gets a header; a line cut off by an interruption is removed first.

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
        self.path = path

    def __enter__(self) -> ResultsWriter:
        done = self.path.read_bytes() if self.path.exists() else b""
        if not done.endswith(b"\n") and done:
            with self.path.open("r+b") as stream:
                stream.truncate(done.rfind(b"\n") + 1)
        self.stream = self.path.open("ab", buffering=0)
        if not self.path.stat().st_size:
            self._write(dict(zip(COLUMNS, COLUMNS, strict=True)))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stream.close()

    def add(self, row: Mapping[str, Any]) -> None:
        """Append one result; columns that it lacks stay empty."""
        self._write({name: f"{row[name]:.6g}" if name in _VALUES else row[name] for name in COLUMNS if name in row})

    def _write(self, row: Mapping[str, Any]) -> None:
        line = io.StringIO()
        csv.DictWriter(line, COLUMNS, lineterminator="\n").writerow(row)
        self.stream.write(line.getvalue().encode())  # unbuffered and in one piece: lines of two processes do not mix
