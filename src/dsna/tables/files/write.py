"""CSV that is safe to open in a spreadsheet."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING

from ..words import is_plain_number

if TYPE_CHECKING:
    import polars as pl

_FORMULA = r"^[=+\-@\t\r]"
_SIGNS = ("=", "+", "-", "@", "\t", "\r")


class CsvWriter:
    """Writes frames one after another as one CSV file in UTF-8.

    A spreadsheet takes a cell that begins with ``=``, ``+``, ``-`` or ``@`` for a formula. Text and names that do get
    an apostrophe before them, which tells it to show them as they are; numbers never do.

    Parameters
    ----------
    stream : binary stream
    raw : bool, default=False
        Whether text is written as it is.

    Examples
    --------
    >>> import io
    >>> import polars as pl
    >>> from dsna.tables import CsvWriter
    >>> stream = io.BytesIO()
    >>> CsvWriter(stream).write(pl.DataFrame({"=a": ["=1+1", "-2", "b"], "c": [-1, 2, 3]}))
    >>> print(stream.getvalue().decode())
    '=a,c
    '=1+1,-1
    -2,2
    b,3
    """

    def __init__(self, stream: IO[bytes], *, raw: bool = False) -> None:
        self._stream, self._raw, self._begun = stream, raw, False

    def write(self, frame: pl.DataFrame) -> None:
        """Write the rows of a frame, under a header if they are the first."""
        shown = frame if self._raw else _safe(frame)
        # As bytes: an error of the stream, such as a full disk, loses its number on the way through polars.
        self._stream.write(shown.write_csv(include_header=not self._begun).encode())
        self._begun = True


def _safe(frame: pl.DataFrame) -> pl.DataFrame:
    """Text and names that no spreadsheet takes for a formula."""
    import polars as pl

    columns = []
    for series in frame.iter_columns():
        text = series.cast(pl.String) if series.dtype in (pl.Categorical, pl.Enum) else series
        if text.dtype == pl.String and text.str.contains(_FORMULA).any():
            text = pl.Series(
                text.name, [None if cell is None else safe_cell(cell) for cell in text.to_list()], dtype=pl.String
            )
        columns.append(text.alias(safe_cell(series.name)))
    return pl.DataFrame(columns)


def safe_cell(cell: str) -> str:
    """A text with an apostrophe before it, where a spreadsheet would take it for a formula.

    Examples
    --------
    >>> safe_cell("=HYPERLINK(...)"), safe_cell("-1.5"), safe_cell("a=b")
    ("'=HYPERLINK(...)", '-1.5', 'a=b')
    """
    return f"'{cell}" if cell.startswith(_SIGNS) and not is_plain_number(cell) else cell
