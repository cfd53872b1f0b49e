"""Work of ``dsna edges evaluate``: score a folder of maps, or the maps that a detector makes."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dsna.extend.files import check_results_folder, make_folder, write_atomically
from dsna.extend.parallel import one_blas_thread

from ...datasets.boundaries import BoundarySet
from ..batch import Detection, as_user_errors, progress_bar, read_annotated, write_to_stderr
from ..planning import EdgesError
from .evaluation import read_map

_SCORE_FILES = "scores.csv", "photos.csv", "pr.png"


def score(
    maps: Path | Detection,
    data: Path,
    truth: Path | None,
    split: str,
    *,
    out: Path | None = None,
    n_jobs: int = 1,
    say: Callable[[str], None] = print,
) -> int:
    """Score a folder of maps, or the maps that a detector makes.

    Parameters
    ----------
    maps : Path or Detection
        Folder of PNG files named after the photos, or settings for detecting edges.
    data, truth
        See :func:`dsna_vision.edges.batch.train_detector`.
    split : {"train", "val", "test"}
        Part of BSDS500.
    out : Path or None, default=None
        Folder for scores.csv, photos.csv, pr.png and counts, from which a second run resumes.
    n_jobs : int, default=1
        Number of photos processed in parallel.
    say : callable, default=print
        Called with the scores, and with the folder that they were written to.

    Returns
    -------
    int
        Exit code: 0, or 1 if photos were left out; these are reported on stderr.

    Examples
    --------
    >>> from pathlib import Path
    >>> from dsna_vision.edges.scoring.command import score
    >>> score(Path("nowhere"), Path("bsds500"), None, "val")
    Traceback (most recent call last):
    dsna_vision.edges.planning.EdgesError: nowhere is not a folder: name one that holds a PNG file for each photo.
    """
    from .. import evaluate

    if isinstance(maps, Path) and not maps.is_dir():
        raise EdgesError(f"{maps} is not a folder: name one that holds a PNG file for each photo.")
    if out is not None:
        check_results_folder(out, *_SCORE_FILES)
    photos = read_annotated(data, truth, split)
    map_of = _map_source(maps, photos)
    counts_folder = None if out is None else out / "counts"
    with as_user_errors(), one_blas_thread(), progress_bar(len(photos)) as progress:

        def map_with_progress(row: int) -> np.ndarray:
            progress.update()
            return map_of(row)

        scores = evaluate(map_with_progress, photos, n_jobs=n_jobs, out=counts_folder)
    for problem in scores.problems:
        write_to_stderr(f"left out: {problem}")
    say(str(scores))
    if out is not None:
        _write_scores(scores, out)
        say(f"Scores and curve: {out}")
    return 1 if photos.problems or scores.problems else 0


def _map_source(maps: Path | Detection, photos: BoundarySet) -> Callable[[int], np.ndarray]:
    """Return a function that reads or detects the map of a photo by its number."""
    if isinstance(maps, Detection):
        detect = maps.map_function(len(photos))
        return lambda row: detect(photos.image(row))
    if not any((maps / f"{name}.png").is_file() for name in photos.names):
        raise EdgesError(f"{maps} holds no map of these photos: {photos.names[0]}.png and so on are expected.")
    return lambda row: read_map(maps / f"{photos.names[row]}.png")


def _write_scores(scores: Any, out: Path) -> None:
    make_folder(out)
    overall = {name: getattr(scores, name) for name in ("ods", "ois", "ap", "r50")}
    _write_csv(out / "scores.csv", [{"photos": len(scores.table), **overall}])
    _write_csv(out / "photos.csv", scores.table)
    from matplotlib import pyplot

    figure = scores.plot().figure
    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=120)
    pyplot.close(figure)
    write_atomically(out / "pr.png", content.getvalue())


def _write_csv(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    text = io.StringIO()
    table = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    table.writeheader()
    for row in rows:
        table.writerow({name: f"{value:.6g}" if isinstance(value, float) else value for name, value in row.items()})
    write_atomically(path, text.getvalue().encode())
