"""Tables from CSV files: one file, or a folder of them."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

TASKS = ("classification", "regression")
_MAX_LEVELS = 100
_MAX_WHOLE_CLASSES = 10


class TableError(ValueError):
    """A folder or a file that cannot be used as a table; the message says why and what to do.

    Examples
    --------
    >>> from dsna.datasets import TableError, find_tables
    >>> try:
    ...     find_tables("no/such/folder")
    ... except TableError as error:
    ...     print(error)
    no/such/folder is not a folder. Name one that holds CSV files.
    """


@dataclass(frozen=True)
class Table:
    """A table of numbers with a label for each row.

    Parameters
    ----------
    name : str
        The file's name without its ending.
    task : {"classification", "regression"}
    X : array of shape (n, n_features)
    y : array of shape (n,)
        Class numbers from 0, or labels.
    checksum : str
        Changes with the content of the file.

    Examples
    --------
    >>> import numpy as np
    >>> Table("tiny", "regression", np.zeros((3, 2)), np.arange(3.0), "00000000").shape
    (3, 2)
    """

    name: str
    task: str
    X: np.ndarray
    y: np.ndarray
    checksum: str

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and features."""
        return self.X.shape[0], self.X.shape[1]

    def strata(self, n_strata: int) -> np.ndarray:
        """Class of each row, or the number of the label quantile it lies in.

        Examples
        --------
        >>> import numpy as np
        >>> Table("tiny", "regression", np.zeros((4, 1)), np.arange(4.0), "0").strata(2)
        array([0, 0, 1, 1])
        """
        if self.task == "classification":
            return self.y
        cuts = np.quantile(self.y, np.arange(1, n_strata) / n_strata)
        return np.searchsorted(cuts, self.y, side="right")

    def head(self, n_rows: int) -> Table:
        """At most about ``n_rows`` rows, taken evenly along the labels; the checksum tells that rows were left out.

        Examples
        --------
        >>> import numpy as np
        >>> Table("tiny", "regression", np.zeros((9, 1)), np.arange(9.0), "0").head(3).y
        array([0., 3., 6.])
        """
        if len(self.y) <= n_rows:
            return self
        kept = np.zeros(len(self.y), dtype=bool)
        order = np.argsort(self.y, kind="stable")
        kept[order[(np.arange(n_rows) * len(order)) // n_rows]] = True
        if self.task == "classification":
            for label in np.unique(self.y):  # a rare class keeps three rows where it has them
                kept[np.flatnonzero(self.y == label)[:3]] = True
        return replace(self, X=self.X[kept], y=self.y[kept], checksum=f"{self.checksum}-{n_rows}")


def find_tables(
    folder: str | Path,
    *,
    task: str | None = None,
    target: str | None = None,
    only: Sequence[str] = (),
    skip: Sequence[str | Path] = (),
) -> list[Table]:
    r"""All tables of a folder that are asked for, read and checked.

    Parameters
    ----------
    folder : path
        Holds CSV files with a header, or subfolders `classification` and `regression` of such files.
    task : {"classification", "regression"} or None, default=None
        Only this, which also overrides the guess from the labels (see :func:`read_table`).
    target : str or None, default=None
        Name of the label column; None: the last.
    only : sequence of str, default=()
        Names of files, without ``.csv``; empty: all.
    skip : sequence of paths, default=()
        Files that are no tables, such as results.

    Returns
    -------
    list of Table

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from dsna.datasets import find_tables
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "fruit.csv").write_text("size,kind\n1,apple\n2,plum\n3,apple\n")
    ...     [(table.name, table.task, table.y.tolist()) for table in find_tables(folder)]
    [('fruit', 'classification', [0, 1, 0])]
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise TableError(f"{folder} is not a folder. Name one that holds CSV files.")
    if task not in (None, *TASKS):
        raise TableError(f"task {task!r} is unknown: use one of {', '.join(TASKS)}.")
    sources: dict[Path, str | None] = {folder / name: name for name in TASKS if (folder / name).is_dir()}
    if sources:
        sources = {source: name for source, name in sources.items() if task in (None, name)}
    else:
        named = folder.resolve().name
        sources = {folder: task or (named if named in TASKS else None)}
    skipped = {Path(path).resolve() for path in skip}
    paths = [(path, name) for source, name in sources.items() for path in sorted(source.glob("*.csv"))]
    paths = [(path, name) for path, name in paths if path.resolve() not in skipped]
    if not paths:
        raise TableError(f"No CSV file {f'for {task} ' if task else ''}in {folder}.")
    unknown = set(only) - {path.stem for path, _ in paths}
    if unknown:
        there = ", ".join(path.stem for path, _ in paths)
        raise TableError(f"There is no table {', '.join(sorted(unknown))} in {folder}; there are {there}.")
    return [read_table(path, task=name, target=target) for path, name in paths if not only or path.stem in only]


def read_table(path: str | Path, *, task: str | None = None, target: str | None = None) -> Table:
    r"""One CSV file as numbers: text becomes 0/1 columns, classes become numbers.

    Parameters
    ----------
    path : path
        File with a header.
    task : {"classification", "regression"} or None, default=None
        None: classification where labels are text or at most ten whole numbers, otherwise regression.
    target : str or None, default=None
        Name of the label column; None: the last.

    Returns
    -------
    Table

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from dsna.datasets import read_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "flats.csv"
    ...     _ = path.write_text("rooms,street,rent\n1,main,500.5\n2,side,610\n3,side,700\n")
    ...     table = read_table(path)
    >>> table.task, table.X.tolist()
    ('regression', [[1.0, 1.0, 0.0], [2.0, 0.0, 1.0], [3.0, 0.0, 1.0]])
    """
    from pandas.api.types import is_numeric_dtype

    path = Path(path)
    frame, target = _read_frame(path, target)
    label = frame[target]
    numeric = is_numeric_dtype(label)
    if task is None:
        few = numeric and label.nunique() <= _MAX_WHOLE_CLASSES and (label == np.round(label)).all()
        task = "classification" if few or not numeric else "regression"
    if task == "regression" and not numeric:
        raise TableError(f"{path}: the label {target!r} is not numeric, which regression needs.")
    X = _numbers(frame.drop(columns=target), path)
    y = label.to_numpy(dtype=np.float64) if task == "regression" else np.unique(label, return_inverse=True)[1]
    if not np.isfinite(X).all() or not np.isfinite(y).all():
        raise TableError(f"{path}: infinite values; replace them or drop their rows first.")
    if len(np.unique(y)) < 2:
        raise TableError(f"{path}: all labels are equal; there is nothing to learn. Is {target!r} the label column?")
    return Table(path.stem, task, X, y, f"{zlib.crc32(path.read_bytes()):08x}")


def _read_frame(path: Path, target: str | None) -> tuple[pd.DataFrame, str]:
    """The file as a frame with no value missing, and the name of its label column."""
    import pandas as pd

    try:
        first, frame = pd.read_csv(path, header=None, nrows=1), pd.read_csv(path)
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as error:
        raise TableError(f"{path}: not a CSV file that can be read ({error}).") from error
    if first.dtypes.map(pd.api.types.is_numeric_dtype).all():
        raise TableError(f"{path}: the first line holds numbers only; a header with column names is needed.")
    target = frame.columns[-1] if target is None else target
    if target not in frame.columns:
        raise TableError(f"{path}: no column {target!r}; there are {', '.join(frame.columns)}.")
    if frame.shape[1] < 2 or not len(frame):
        raise TableError(f"{path}: at least one row and one column beside the label {target!r} are needed.")
    missing = frame.columns[frame.isna().any()].tolist()
    if missing:
        raise TableError(f"{path}: missing values in {', '.join(missing)}; impute or drop them first.")
    return frame, target


def _numbers(features: Any, path: Path) -> np.ndarray:
    """(n, n_features) columns of a frame, text as 0/1."""
    import pandas as pd

    text = [name for name in features if not pd.api.types.is_numeric_dtype(features[name])]
    for name in text:
        if features[name].nunique() > _MAX_LEVELS:
            raise TableError(f"{path}: text column {name!r} has over {_MAX_LEVELS} values; drop it.")
    return pd.get_dummies(features, columns=text).to_numpy(dtype=np.float64)
