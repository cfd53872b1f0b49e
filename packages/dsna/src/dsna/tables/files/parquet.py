"""A Parquet file larger than memory: read by slices, and typed by a sample of its rows."""

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
    """Size of a Parquet file, and its rows by slices.

    Parameters
    ----------
    path : the file.
    rows, columns : its size.
    """

    path: str
    rows: int
    columns: int

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> ParquetFile:
        """Look at a file; formats that cannot be read by slices are refused.

        Examples
        --------
        >>> import tempfile
        >>> import polars
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     polars.DataFrame({"a": [1, 2, 3], "b": [4, 5, 6]}).write_parquet(folder + "/t.parquet")
        ...     found = ParquetFile.open(folder + "/t.parquet")
        ...     found.rows, found.columns, found.slice(1, 1, ReadOptions()).frame["b"].to_list()
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
        """Rows that are read at once."""
        return int(np.clip(_SLICE_BYTES // (8 * max(1, self.columns)), 1000, _SLICE_ROWS))

    def starts(self) -> Iterator[int]:
        """First row of each slice."""
        return iter(range(0, self.rows, self.slice_rows))

    def frame(self, begin: int, rows: int, columns: Sequence[str] | None = None) -> Any:
        """Rows as they are in the file, with all columns or some."""
        import polars as pl

        try:
            lazy = pl.scan_parquet(self.path)
            return (lazy if columns is None else lazy.select(columns)).slice(begin, rows).collect()
        except (pl.exceptions.PolarsError, OSError) as error:
            raise unreadable(self.path, "parquet", error) from error

    def slice(self, begin: int, rows: int, options: ReadOptions, columns: Sequence[str] | None = None) -> FileTable:
        """Rows with columns of the types that are given; all columns or some."""
        bare = FileTable(name=self.path, frame=self.frame(begin, rows, columns), types={}, notes=[], first=begin)
        return bare.typed(options.typing(bare.frame.columns))

    def sample(self, most: int, seed: int, options: ReadOptions) -> FileTable:
        """About so many rows, drawn evenly from the whole file, with types inferred from them."""
        import polars as pl

        check_has_lines(self.path, "parquet", options)
        share = min(1.0, most / max(1, self.rows))
        drawn = [
            self.frame(begin, self.slice_rows).sample(fraction=share, seed=seed + k)
            for k, begin in enumerate(self.starts())
        ]
        if not drawn:
            raise TableError(f"{self.path}: there are no rows. Remedy: add some.")
        return typed_table(self.path, pl.concat(drawn), None, [], options)
