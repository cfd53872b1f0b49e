"""Tables of numbers from CSV files without missing values: one file, or a folder of files."""

from __future__ import annotations

import os
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl

from dsna.extend.solver import TargetDensity
from dsna.tables import TASKS, FileTable, TableError, guess_task, read_file, split_target

_RARE_SHARE = 0.1  # share of rows that count as rare in regression
_MAX_LEVELS = 100  # most values of a text column, each of which becomes a column
_SHOWN = 3  # most lines that a message names


@dataclass(frozen=True)
class NumericTable:
    """A table of numbers with a label for each row.

    Parameters
    ----------
    name : str
        Name of the file without its extension.
    task : {"classification", "regression"}
    X : array of shape (n, n_features)
    y : array of shape (n,)
        Class numbers from 0, or regression targets.
    checksum : str
        Checksum of the content of the file and of changes to it.
    relevance : {"auto", "high", "low"}, default="auto"
        Which targets of a regression matter, as in ``DSNARegressor``.

    Examples
    --------
    >>> import numpy as np
    >>> NumericTable("tiny", "regression", np.zeros((3, 2)), np.arange(3.0), "00000000").shape
    (3, 2)
    """

    name: str
    task: str
    X: np.ndarray
    y: np.ndarray
    checksum: str
    relevance: str = "auto"

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and of features."""
        return self.X.shape[0], self.X.shape[1]

    def strata(self, n_strata: int) -> np.ndarray:
        """Return the class of each row, or the number of its target quantile.

        Examples
        --------
        >>> import numpy as np
        >>> NumericTable("tiny", "regression", np.zeros((4, 1)), np.arange(4.0), "0").strata(2)
        array([0, 0, 1, 1])
        """
        if self.task == "classification":
            return self.y
        cuts = np.quantile(self.y, np.arange(1, n_strata) / n_strata)
        return np.searchsorted(cuts, self.y, side="right")

    @property
    def rare(self) -> np.ndarray:
        """Rows of classes with less than half an equal share, or the tenth with the rarest targets, rarest first.

        Examples
        --------
        >>> import numpy as np
        >>> NumericTable("tiny", "classification", np.zeros((6, 1)), np.array([0, 0, 0, 0, 0, 1]), "0").rare
        array([5])
        """
        if self.task == "classification":
            sizes = np.bincount(self.y)
            return np.flatnonzero(sizes[self.y] * 2 * len(sizes) < len(self.y))
        distances_to_median = np.abs(self.y - np.median(self.y))  # breaks ties between equally rare targets
        order = np.lexsort((-distances_to_median, TargetDensity(self.y).evaluate(self.y)))
        return order[: int(np.ceil(_RARE_SHARE * len(order)))]

    @property
    def n_rare(self) -> int:
        """Number of rows of the rarest class or with rare targets."""
        return len(self.rare) if self.task == "regression" else int(np.bincount(self.y).min())

    def thinned(self, n_rows: int) -> NumericTable:
        """Return at most ``n_rows`` rows: rare ones first, up to half of them, then common ones.

        Common rows are left out evenly along the labels, and the checksum is marked.

        Examples
        --------
        >>> import numpy as np
        >>> table = NumericTable("tiny", "classification", np.zeros((1000, 1)), np.repeat([0, 1], [970, 30]), "0")
        >>> np.bincount(table.thinned(400).y).tolist(), np.bincount(table.thinned(50).y).tolist()
        ([370, 30], [25, 25])
        """
        if len(self.y) <= n_rows:
            return self
        rare, max_rare = self.rare, n_rows // 2
        common_rows = np.setdiff1d(np.arange(len(self.y)), rare)
        kept_rare = rare[:max_rare] if self.task == "regression" else self._thin_evenly(rare, max_rare)
        rows = np.sort(np.concatenate([kept_rare, self._thin_evenly(common_rows, n_rows - len(kept_rare))]))
        return replace(self, X=self.X[rows], y=self.y[rows], checksum=f"{self.checksum}-thin{n_rows}")

    def with_relevance(self, relevance: str) -> NumericTable:
        """Return the regression table with another relevance and a marked checksum.

        Examples
        --------
        >>> import numpy as np
        >>> NumericTable("tiny", "regression", np.zeros((3, 2)), np.arange(3.0), "0f").with_relevance("high").checksum
        '0f-high'
        """
        if relevance == self.relevance or self.task == "classification":
            return self
        return replace(self, relevance=relevance, checksum=f"{self.checksum}-{relevance}")

    def _thin_evenly(self, rows: np.ndarray, n_rows: int) -> np.ndarray:
        """Select at most ``n_rows`` of the rows, evenly along their labels."""
        if len(rows) <= n_rows:
            return rows
        order = rows[np.argsort(self.y[rows], kind="stable")]
        return order[(np.arange(n_rows) * len(order)) // n_rows]


def find_tables(
    folder: str | Path,
    *,
    task: str | None = None,
    target: str | None = None,
    only: Sequence[str] = (),
    skip: Sequence[str | Path] = (),
) -> list[NumericTable]:
    r"""Read and check the selected tables of a folder.

    Parameters
    ----------
    folder : path
        Contains CSV files with a header, or subfolders `classification` and `regression` of such files; or a single
        file.
    task : {"classification", "regression"} or None, default=None
        Only this task, which also overrides the guess from the labels (see :func:`read_table`).
    target : str or None, default=None
        Name of the target column; None: the last.
    only : sequence of str, default=()
        Names of files, without ``.csv``; empty: all.
    skip : sequence of paths, default=()
        Files that are not tables, such as results.

    Returns
    -------
    list of NumericTable

    Raises
    ------
    TableError
        With all problems of all files.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from dsna_studies.tables import find_tables
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "fruit.csv").write_text("size,kind\n1,apple\n2,plum\n3,apple\n")
    ...     [(table.name, table.task, table.y.tolist()) for table in find_tables(folder)]
    [('fruit', 'classification', [0, 1, 0])]
    """
    folder = Path(folder)
    if task not in (None, *TASKS):
        raise TableError(f"task {task!r} is unknown: use one of {', '.join(TASKS)}.")
    if folder.is_file():
        return [read_table(folder, task=task, target=target)]
    if not folder.is_dir():
        raise TableError(f"{folder} is not a folder. Name one that contains CSV files.")
    sources: dict[Path, str | None] = {folder / name: name for name in TASKS if (folder / name).is_dir()}
    if sources:
        sources = {source: name for source, name in sources.items() if task in (None, name)}
    else:
        folder_name = folder.resolve().name
        sources = {folder: task or (folder_name if folder_name in TASKS else None)}
    skipped = {os.path.realpath(path) for path in skip}
    paths = [(path, name) for source, name in sources.items() for path in _csv_files(source)]
    paths = [(path, name) for path, name in paths if os.path.realpath(path) not in skipped]
    if not paths:
        raise TableError(
            f"No CSV file {f'for {task} ' if task else ''}in {folder}: name a folder that contains CSV files."
        )
    unknown = set(only) - {path.stem for path, _ in paths}
    if unknown:
        available = ", ".join(path.stem for path, _ in paths)
        raise TableError(f"There is no table {', '.join(sorted(unknown))} in {folder}; there are {available}.")
    tables: list[NumericTable] = []
    problems: list[str] = []
    for path, name in paths:
        if not only or path.stem in only:
            try:
                tables.append(read_table(path, task=name, target=target))
            except TableError as error:
                problems.append(str(error))
    if problems:
        raise TableError("\n".join(problems))
    return tables


def _csv_files(folder: Path) -> list[Path]:
    """List the files with the extension .csv, in any case, except hidden ones."""
    return sorted(path for path in folder.iterdir() if path.suffix.lower() == ".csv" and path.name[0] != ".")


def read_table(path: str | Path, *, task: str | None = None, target: str | None = None) -> NumericTable:
    r"""Read a CSV file as numbers: text becomes 0/1 columns, classes become numbers.

    Parameters
    ----------
    path : path
        File with a header.
    task : {"classification", "regression"} or None, default=None
        None: classification if labels are text or at most ten whole numbers, otherwise regression.
    target : str or None, default=None
        Name of the target column; None: the last.

    Returns
    -------
    NumericTable

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from dsna_studies.tables import read_table
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "flats.csv"
    ...     _ = path.write_text("rooms,street,rent\n1,main,500.5\n2,side,610\n3,side,700\n")
    ...     table = read_table(path)
    >>> table.task, table.X.tolist()
    ('regression', [[1.0, 1.0, 0.0], [2.0, 0.0, 1.0], [3.0, 0.0, 1.0]])
    """
    path = Path(path)
    table = read_file(path)
    target = table.frame.columns[-1] if target is None else target
    problems = _problems(table, target)
    if problems:
        raise TableError("\n  - ".join([f"{path}:", *problems, *table.notes]))
    labelled = split_target(table, target)
    task = task or guess_task(labelled.y)
    if task == "classification":
        y = np.unique(labelled.y, return_inverse=True)[1]
    elif table.frame[target].dtype.is_numeric():
        y = labelled.y.astype(np.float64)
    else:
        raise TableError(
            f"{path}: the target {target!r} is not numeric, which regression needs: name another with --target"
        )
    return NumericTable(path.stem, task, _numbers(labelled.table.frame), y, f"{zlib.crc32(path.read_bytes()):08x}")


def _problems(table: FileTable, target: str) -> list[str]:
    """List problems of a table: unnamed columns, missing values, dates, and text with too many values."""
    problems = [f"{note.split(': called')[0]}: name it or drop it" for note in table.notes if "without a name" in note]
    for column in table.frame.iter_columns():
        missing = np.flatnonzero(column.is_null())
        if missing.size:
            positions = [table.place(row) for row in missing[:_SHOWN]]
            remainder = f" and {missing.size - _SHOWN} more" * (missing.size > _SHOWN)
            problems.append(
                f"missing values in {column.name!r}, {', '.join(positions)}{remainder}: impute them or drop these rows"
            )
        if column.dtype.is_temporal():
            problems.append(
                f"column {column.name!r} holds dates: replace them by numbers, such as days since the first, or drop it"
            )
        n_levels = column.n_unique()
        is_identifier = table.types[column.name].kind == "identifier"
        if column.dtype == pl.String and (is_identifier or n_levels > _MAX_LEVELS):
            remedy = "is it the target? Name another with --target" if column.name == target else "drop it"
            problems.append(f"column {column.name!r} is text with {n_levels} values in {len(column)} rows: {remedy}")
    return problems


def _numbers(frame: pl.DataFrame) -> np.ndarray:
    """Return (n, n_features): numeric columns, then a 0/1 column for each value of each text column."""
    text = [column for column in frame.iter_columns() if column.dtype == pl.String]
    columns = [column.to_numpy() for column in frame.iter_columns() if column.dtype != pl.String]
    columns += [(column == level).to_numpy() for column in text for level in sorted(column.unique())]
    return np.stack(columns, dtype=np.float64, casting="unsafe").T
