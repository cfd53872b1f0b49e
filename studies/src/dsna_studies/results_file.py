"""Results files: one line per result, appended as soon as it is computed, so that a later run can resume."""

from __future__ import annotations

import csv
import errno
import io
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import pandas as pd

from dsna import DSNAError
from dsna.extend.files import check_readable

#: Key of a result: the values of the key columns, in order.
Key = tuple[Any, ...]


class ResultsError(DSNAError):
    """A file with the name of the results file has other content.

    Examples
    --------
    >>> raise ResultsError("notes.csv is not a results file.")
    Traceback (most recent call last):
    dsna_studies.results_file.ResultsError: notes.csv is not a results file.
    """


@dataclass(frozen=True)
class Layout:
    """Columns of a results file.

    Parameters
    ----------
    key : tuple of str
        Columns that identify a result.
    values : tuple of str
        Columns of numbers; the last one is never empty: a line without it was cut off.
    whole : tuple of str, default=()
        Key columns of whole numbers.
    texts : tuple of str, default=()
        Text columns between key and values.

    Examples
    --------
    >>> Layout(("method",), ("seconds",)).columns
    ('method', 'seconds')
    """

    key: tuple[str, ...]
    values: tuple[str, ...]
    whole: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns, in order."""
        return (*self.key, *self.texts, *self.values)


def load_results(path: Path, layout: Layout) -> pd.DataFrame:
    """Load results of earlier runs.

    Parameters
    ----------
    path : Path
        May be missing or empty.
    layout : Layout

    Returns
    -------
    data frame with the columns of the layout
        Of equal keys the last line counts; lines cut off by an interruption are ignored.

    Examples
    --------
    >>> from pathlib import Path
    >>> load_results(Path("not_there.csv"), Layout(("method",), ("seconds",))).empty
    True
    """
    text = ""
    if os.path.lexists(path):
        check_readable(path)
        text = path.read_bytes().decode(errors="replace")
    complete_text = text[: text.rfind("\n") + 1]  # text after the last line end is incomplete
    try:
        lines = list(csv.reader(io.StringIO(complete_text)))
    except csv.Error:
        lines = []
    header = ",".join(layout.columns)
    if not header.startswith(text) and (not lines or tuple(lines[0]) != layout.columns):
        raise ResultsError(
            f"{path} exists and is not a results file of this version of the command; name another folder with --out."
        )
    complete_lines = [line for line in lines[1:] if len(line) == len(layout.columns) and line[-1]]
    frame = pd.DataFrame(complete_lines, columns=list(layout.columns))
    for name in (*layout.whole, *layout.values):
        frame[name] = pd.to_numeric(frame[name], errors="coerce").replace([np.inf, -np.inf], np.nan)
    frame = frame.dropna(subset=[*layout.whole, layout.values[-1]]).astype(dict.fromkeys(layout.whole, "int64"))
    return frame.drop_duplicates(list(layout.key), keep="last").reset_index(drop=True)


class ResultsFile:
    """Appends results to a file, each as a line that is on disk before the next one is computed.

    Parameters
    ----------
    path : Path
        A missing or empty file gets a header; a line cut off by an interruption is removed first.
    layout : Layout

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> layout = Layout(("method",), ("seconds",))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "results.csv"
    ...     with ResultsFile(path, layout) as file:
    ...         file.add({"method": "RF", "seconds": 1.5})
    ...     load_results(path, layout)["seconds"].tolist()
    [1.5]
    """

    def __init__(self, path: Path, layout: Layout):
        self.path = path
        self.layout = layout

    def __enter__(self) -> ResultsFile:
        existing = self.path.read_bytes() if self.path.exists() else b""
        if not existing.endswith(b"\n") and existing:
            with self.path.open("r+b") as stream:
                stream.truncate(existing.rfind(b"\n") + 1)
        self.stream = self.path.open("ab", buffering=0)
        if not self.path.stat().st_size:
            self._write(dict(zip(self.layout.columns, self.layout.columns, strict=True)))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stream.close()

    def add(self, row: Mapping[str, Any]) -> None:
        """Append a result; missing columns stay empty."""
        present = [name for name in self.layout.columns if name in row]
        self._write({name: f"{row[name]:.6g}" if name in self.layout.values else row[name] for name in present})

    def _write(self, row: Mapping[str, Any]) -> None:
        line = io.StringIO()
        csv.DictWriter(line, self.layout.columns, lineterminator="\n").writerow(row)
        content = line.getvalue().encode()
        try:
            n_written = self.stream.write(content)  # unbuffered and at once, so that lines of two processes do not mix
            if n_written != len(content):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as error:
            error.filename = str(self.path)
            raise
