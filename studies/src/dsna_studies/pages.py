"""Pages and pictures on disk: Markdown tables, PNG files, each written whole or not at all."""

from __future__ import annotations

import io
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from dsna.extend.files import write_atomically

#: Said on the page of a quick run.
QUICK = (
    " A quick run, to see that everything works: few rows, folds and trees, so its scores are far from those of a "
    "full run. Sweeps and published figures are left out."
)


#: In place of a table.
UNFINISHED = "No method has finished all folds yet."


def markdown(
    frame: pd.DataFrame,
    best: Mapping[str, int] | None = None,
    bold: Sequence[str] | Mapping[str, Any] = (),
    digits: int = 3,
) -> str:
    """A data frame as a Markdown table.

    Parameters
    ----------
    frame : data frame
        The index gives the first column.
    best : mapping from columns to 1 or -1, optional
        Where the largest, or the smallest, value is set in bold; ranks are best when small.
    bold : sequence of str, default=()
        Rows whose names are set in bold.
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
            first = text.loc[values.idxmax() if direction > 0 else values.idxmin(), name]
            text[name] = [f"**{cell}**" if cell == first else cell for cell in text[name]]
    lines = ["| " + " | ".join(["", *(str(name).replace("_", " ") for name in frame.columns)]) + " |"]
    lines.append("|" + "---|" * (frame.shape[1] + 1))
    for name, row in text.iterrows():
        shown = f"**{name}**" if name in bold else str(name)
        lines.append("| " + " | ".join([shown, *row]) + " |")
    return "\n".join(lines)


def png(figure: Any, dpi: int = 120) -> bytes:
    """A matplotlib figure as the bytes of a PNG file.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> png(Figure())[1:4]
    b'PNG'
    """
    target = io.BytesIO()
    figure.savefig(target, format="png", dpi=dpi)
    return target.getvalue()


def write_plots(folder: Path, plots: Mapping[str, Any]) -> list[str]:
    """Write plots; returns the lines that show them on the page.

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
    """Write the page of a study, if it has one; failures are listed at its end and on stderr.

    Returns
    -------
    int
        Exit code: 0, or 1 where something failed.

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
