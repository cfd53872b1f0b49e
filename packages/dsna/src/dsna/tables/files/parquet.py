"""Parquet files larger than memory: read in slices, with types inferred from a sample of rows."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .source import TableError, source_of
from .table import FileTable, ReadOptions, check_has_lines, typed_table, unreadable

_SLICE_BYTES, _SLICE_ROWS = 1 << 25, 25_000


@dataclass(frozen=True)
class ParquetFile:
    """A Parquet file, read in slices.

    Parameters
    ----------
    path : the file.
    rows, columns : its numbers of rows and columns.
    """

    path: str
    rows: int
    columns: int

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> ParquetFile:
        """Open a file, and refuse formats that cannot be read in slices.

        Examples
        --------
        >>> import tempfile
        >>> import polars
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     polars.DataFrame({"a": [1, 2, 3], "b": [4, 5, 6]}).write_parquet(folder + "/t.parquet")
        ...     file = ParquetFile.open(folder + "/t.parquet")
        ...     file.rows, file.columns, file.slice(1, 1, ReadOptions()).frame["b"].to_list()
        (3, 2, [5])
        """
        import polars as pl

        source = source_of(path)
        if source.stream is not None or source.format() != "parquet":
            raise TableError(
                f"{source.name}: only Parquet files can be read by slices. Remedy: write the table as Parquet, or "
                "train on a part of it with --sample."
            )
        try:
            lazy = pl.scan_parquet(source.name)
            return cls(source.name, int(lazy.select(pl.len()).collect().item()), len(lazy.collect_schema()))
        except (pl.exceptions.PolarsError, OSError) as error:
            raise unreadable(source.name, "parquet", error) from error

    @property
    def slice_rows(self) -> int:
        """Number of rows of a slice."""
        return int(np.clip(_SLICE_BYTES // (8 * max(1, self.columns)), 1000, _SLICE_ROWS))

    def starts(self) -> Iterator[int]:
        """Iterate over the first rows of the slices."""
        return iter(range(0, self.rows, self.slice_rows))

    def frame(self, start: int, rows: int, columns: Sequence[str] | None = None) -> Any:
        """Read rows without converting them, with all columns or some."""
        import polars as pl

        try:
            lazy = pl.scan_parquet(self.path)
            return (lazy if columns is None else lazy.select(columns)).slice(start, rows).collect()
        except (pl.exceptions.PolarsError, OSError) as error:
            raise unreadable(self.path, "parquet", error) from error

    def slice(self, start: int, rows: int, options: ReadOptions, columns: Sequence[str] | None = None) -> FileTable:
        """Read rows, with all columns or some, and convert text to the types in ``options``."""
        untyped = FileTable(name=self.path, frame=self.frame(start, rows, columns), types={}, notes=[], first=start)
        return untyped.typed(options.typing(untyped.frame.columns))

    def sample(self, size: int, seed: int, options: ReadOptions) -> FileTable:
        """Draw about ``size`` rows evenly from the whole file, and infer types from them."""
        import polars as pl

        check_has_lines(self.path, "parquet", options)
        share = min(1.0, size / max(1, self.rows))
        samples = [
            self.frame(start, self.slice_rows).sample(fraction=share, seed=seed + k)
            for k, start in enumerate(self.starts())
        ]
        if not samples:
            raise TableError(f"{self.path}: there are no rows. Remedy: add some.")
        return typed_table(self.path, pl.concat(samples), None, [], options)
