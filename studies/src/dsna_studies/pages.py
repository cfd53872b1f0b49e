"""Pages and pictures on disk: Markdown tables and PNG files, written atomically."""

from __future__ import annotations

import io
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from dsna.extend.files import write_atomically

#: Note on the page of a quick run.
QUICK = (
    " A quick run, to check that everything works: few rows, folds and trees, so its scores are far from those of a "
    "full run. Sweeps and published figures are left out."
)


#: Text in place of a table without results.
UNFINISHED = "No method has finished all folds yet."


def markdown(
    frame: pd.DataFrame,
    best: Mapping[str, int] | None = None,
    bold: Sequence[str] | Mapping[str, Any] = (),
    digits: int = 3,
) -> str:
    """Format a data frame as a Markdown table.

    Parameters
    ----------
    frame : data frame
        Its index becomes the first column.
    best : mapping from columns to 1 or -1, optional
        Columns whose largest (1) or smallest (-1) value is set in bold; small ranks are best.
    bold : sequence of str, default=()
        Names of rows to set in bold.
    digits : int, default=3

    Returns
    -------
    str

    Examples
    --------
    >>> print(markdown(pd.DataFrame({"mae": [4.25, 3.9]}, index=["RF", "ours"]), best={"mae": -1}, digits=2))
    |  | mae |
    |---|---|
    | RF | 4.25 |
    | ours | **3.90** |
    """
    text = frame.map(lambda value: value if isinstance(value, str) else "" if pd.isna(value) else f"{value:.{digits}f}")
    for name, values in frame.items():
        direction = -1 if str(name).startswith("rank ") else (best or {}).get(str(name), 0)
        if direction and values.notna().any():
            best_cell = text.loc[values.idxmax() if direction > 0 else values.idxmin(), name]
            text[name] = [f"**{cell}**" if cell == best_cell else cell for cell in text[name]]
    lines = ["| " + " | ".join(["", *(str(name).replace("_", " ") for name in frame.columns)]) + " |"]
    lines.append("|" + "---|" * (frame.shape[1] + 1))
    for name, row in text.iterrows():
        label = f"**{name}**" if name in bold else str(name)
        lines.append("| " + " | ".join([label, *row]) + " |")
    return "\n".join(lines)


def png(figure: Any, dpi: int = 120) -> bytes:
    """Render a matplotlib figure as the bytes of a PNG file.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> png(Figure())[1:4]
    b'PNG'
    """
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=dpi)
    return stream.getvalue()


def write_plots(folder: Path, plots: Mapping[str, Any]) -> list[str]:
    """Write plots; return the lines that show them on the page.

    Examples
    --------
    >>> import tempfile
    >>> from matplotlib.figure import Figure
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_plots(Path(folder), {"some_plot.png": Figure()})
    ['![some plot](some_plot.png)']
    """
    for name, figure in plots.items():
        write_atomically(folder / name, png(figure))
    return [f"![{name.removesuffix('.png').replace('_', ' ')}]({name})" for name in plots]


def close_page(path: Path | None, page: list[str], failures: Sequence[str], say: Callable[[str], None]) -> int:
    """Write the page of a study, if it has one; list failures at its end and on stderr.

    Returns
    -------
    int
        Exit code: 0, or 1 if something failed.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     close_page(Path(folder) / "age.md", ["# Ages"], [], lambda text: None)
    0
    """
    lines = [f"{failure} ({count} times)" for failure, count in Counter(failures).items()]
    if lines:
        page = [*page, "## Failures", "\n".join(f"- {line}" for line in lines)]
    if path is not None:
        write_atomically(path, ("\n\n".join(page) + "\n").encode())
        say(f"Page: {path}")
    for line in lines:
        print(f"failed: {line}", file=sys.stderr)
    return 1 if lines else 0
