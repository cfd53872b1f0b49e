"""What the commands ``dsna edges ...`` do: maps of many photos, training, scores; a bad photo stops no other."""

from __future__ import annotations

import csv
import io
import os
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import joblib

from ..extras import import_extra
from ..files import write_atomically
from ..trees import one_blas_thread
from .photos import PHOTO_ENDINGS, PhotoError, read_photo, write_map

SHIPPED = "shipped"
#: Sizes at which photos are looked at, in shares of their own, by what they are called.
SCALES = {"single": (1.0,), "two": (0.5, 1.0), "multi": (0.5, 1.0, 2.0)}
_MAP_ENDINGS = (".png", ".npy")


class EdgesError(ValueError):
    """Input or output that a command cannot work with; the message names problem and remedy."""


@dataclass(frozen=True)
class Job:
    """A photo, and the file that its map is written to."""

    photo: Path
    map: Path


@dataclass(frozen=True)
class Detection:
    """How maps are made.

    Parameters
    ----------
    model : str
        File of a detector, or "shipped".
    scales : tuple of float
        Sizes, in shares of the photo's, at which it is looked at.
    method : {"dsna", "se"}
    suppress : bool
        Whether edges are thinned.
    n_jobs : int
        Threads.

    Examples
    --------
    >>> from dsna.edges.batch import Detection
    >>> Detection(scales=(0.5, 1.0, 2.0)).method
    'dsna'
    """

    model: str = SHIPPED
    scales: tuple[float, ...] = (1.0,)
    method: str = "dsna"
    suppress: bool = True
    n_jobs: int = 1

    def prepared(self, n_photos: int) -> Callable[[Any], Any]:
        """A function from photos to maps; threads share the photos if there are several, else the photo."""
        from . import load_detector, pretrained

        if self.model != SHIPPED and not Path(self.model).is_file():
            raise EdgesError(f"There is no model file {self.model}. Train one: dsna edges train.")
        with _explained():
            detector = pretrained() if self.model == SHIPPED else load_detector(Path(self.model))
        detector.n_jobs = 1 if n_photos > 1 else self.n_jobs
        return lambda photo: detector.detect(photo, scales=self.scales, method=self.method, suppress=self.suppress)


def plan(photos: Sequence[Path], out: Path) -> tuple[list[Job], list[str]]:
    """Which photo is written where.

    Parameters
    ----------
    photos : sequence of Path
        Files, and folders that are searched for pictures, with their subfolders.
    out : Path
        A file for one photo, else a folder; maps are named as the photos, and keep the subfolders they lie in.

    Returns
    -------
    jobs : list of Job
    problems : list of str
        Photos and folders that cannot be used, and why.

    Examples
    --------
    >>> from pathlib import Path
    >>> from dsna.edges.batch import plan
    >>> jobs, problems = plan([Path("a.jpg"), Path("b.jpg")], Path("edges"))
    >>> [job.map.as_posix() for job in jobs]
    ['edges/a.png', 'edges/b.png']
    """
    ending = out.suffix.lower()
    if len(photos) == 1 and not photos[0].is_dir() and not out.is_dir() and ending:
        if ending not in _MAP_ENDINGS:
            raise EdgesError(f"{out}: maps are not written as {out.suffix}. Remedy: use .png or .npy.")
        return _without_loss([Job(photos[0], out)], [])
    if out.is_file() or (ending in _MAP_ENDINGS and not out.is_dir()):
        raise EdgesError(f"{out} is a file, and several photos need a folder. Remedy: name one, as in -o edges.")
    problems: list[str] = []
    found: dict[Path, Path] = {}
    for given in photos:
        if not given.is_dir():
            found.setdefault(given, Path(given.name))
            continue
        if given.resolve() == out.resolve():
            raise EdgesError(f"{out} holds the photos; maps need another folder. Remedy: name one, as in -o edges.")
        inside = [path for path in _pictures(given) if out.resolve() not in path.resolve().parents]
        if not inside:
            problems.append(f"{given}: no pictures in this folder. Remedy: name one with {', '.join(PHOTO_ENDINGS)}.")
        for path in inside:
            found.setdefault(path, path.relative_to(given))
    names = Counter(relative.with_suffix(".png") for relative in found.values())
    jobs = [
        Job(photo, out / (short if names[short] == 1 else relative.with_name(f"{relative.name}.png")))
        for photo, relative in found.items()
        for short in [relative.with_suffix(".png")]
    ]
    return _without_loss(jobs, problems)


def detect_photos(
    photos: Sequence[Path], out: Path, how: Detection, *, invert: bool = False, say: Callable[[str], None] = print
) -> int:
    """Write the edge maps of photos; those that fail are named on stderr, and the others go on.

    Parameters
    ----------
    photos, out
        As :func:`plan` takes them.
    how : Detection
    invert : bool, default=False
        Dark edges on white.
    say : callable, default=print
        Is told what was written.

    Returns
    -------
    int
        Exit code: 0, or 1 if a photo failed, or 2 if all did.

    Examples
    --------
    >>> from pathlib import Path
    >>> from dsna.edges.batch import Detection, detect_photos
    >>> detect_photos([Path("a.jpg")], Path("edges.jpg"), Detection())
    Traceback (most recent call last):
    dsna.edges.batch.EdgesError: edges.jpg: maps are not written as .jpg. Remedy: use .png or .npy.
    """
    jobs, problems = plan(photos, out)
    for problem in problems:
        _tell(f"failed: {problem}")
    written = 0
    if jobs:
        detect = how.prepared(len(jobs))
        work = (joblib.delayed(_detect)(job, detect, invert) for job in jobs)
        with _notes(), one_blas_thread():
            done = joblib.Parallel(min(how.n_jobs, len(jobs)), prefer="threads", return_as="generator")(work)
            for failure in _progress(done, len(jobs)):
                if failure:
                    problems.append(failure)
                    _tell(f"failed: {failure}")
                else:
                    written += 1
    if written == 1 and len(jobs) == 1:
        say(f"Map: {jobs[0].map}")
    elif written:
        say(f"{written} of {len(jobs)} maps in {out}")
    return (1 if written else 2) if problems else 0


def train_detector(
    data: Path, truth: Path | None, out: Path, parameters: Mapping[str, Any], say: Callable[[str], None] = print
) -> int:
    """Train a detector and save it.

    Parameters
    ----------
    data : Path
        BSDS500, or a folder of photos if ``truth`` is given.
    truth : Path or None
        Folder of ground truth.
    out : Path
        File for the model.
    parameters : mapping
        Parameters of :class:`dsna.edges.EdgeDetector`.
    say : callable, default=print

    Returns
    -------
    int
        Exit code: 0, or 1 if photos were left out, which are named on stderr.

    Examples
    --------
    >>> from pathlib import Path
    >>> from dsna.edges.batch import train_detector
    >>> train_detector(Path("data"), None, Path("nowhere/model.dsna"), {})
    Traceback (most recent call last):
    dsna.edges.batch.EdgesError: nowhere/model.dsna cannot be written: ...
    """
    from . import EdgeDetector

    if out.is_dir() or not os.access(out.parent, os.W_OK):
        raise EdgesError(f"{out} cannot be written: name a file in a folder that exists and may be written to.")
    photos = _annotated(data, truth, "train")
    start = time.monotonic()
    with _explained():
        EdgeDetector(**parameters).fit(photos).save(out)
    say(
        f"Model: {out} ({out.stat().st_size / 1e6:.1f} MB), trained on {len(photos)} photos in "
        f"{time.monotonic() - start:.0f} s"
    )
    return 1 if photos.problems else 0


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
        Folder of PNG files named as the photos, or how maps are made.
    data, truth
        As :func:`train_detector` takes them.
    split : {"train", "val", "test"}
        Part of BSDS500.
    out : Path or None, default=None
        Folder for scores.csv, photos.csv, pr.png, and counts from which a second run goes on.
    n_jobs : int, default=1
        Photos at a time.
    say : callable, default=print

    Returns
    -------
    int
        Exit code: 0, or 1 if photos were left out, which are named on stderr.

    Examples
    --------
    >>> from pathlib import Path
    >>> from dsna.edges.batch import score
    >>> score(Path("nowhere"), Path("bsds500"), None, "val")
    Traceback (most recent call last):
    dsna.edges.batch.EdgesError: nowhere is not a folder: name one that holds a PNG file for each photo.
    """
    from . import evaluate

    if isinstance(maps, Path) and not maps.is_dir():
        raise EdgesError(f"{maps} is not a folder: name one that holds a PNG file for each photo.")
    if out is not None:
        import_extra("matplotlib", "report")
        if out.exists() and not out.is_dir():
            raise EdgesError(f"{out} is a file: name a folder for the scores.")
    photos = _annotated(data, truth, split)
    predictions: Any = maps
    if isinstance(maps, Detection):
        detect = maps.prepared(len(photos))
        predictions = lambda row: detect(photos.image(row))  # noqa: E731
    elif not any((maps / f"{name}.png").is_file() for name in photos.names):
        raise EdgesError(f"{maps} holds no map of these photos: {photos.names[0]}.png and so on are expected.")
    filed = None if out is None else out / "counts"
    with _explained(), one_blas_thread():
        scores = evaluate(predictions, photos, n_jobs=n_jobs, progress=len(photos) > 1, out=filed)
    for problem in scores.problems:
        _tell(f"left out: {problem}")
    say(str(scores))
    if out is not None:
        _file_scores(scores, out)
        say(f"Scores and curve: {out}")
    return 1 if photos.problems or scores.problems else 0


@contextmanager
def _explained() -> Iterator[None]:
    """What the library says of wrong input is what a command says."""
    try:
        yield
    except (OSError, ValueError) as error:
        raise EdgesError(str(error)) from error


def _tell(text: str) -> None:
    import_extra("tqdm", "cli").tqdm.write(text, file=sys.stderr)


@contextmanager
def _notes() -> Iterator[None]:
    """Tell warnings as notes, each on a line."""
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_: _tell(f"note: {message}")
        yield


def _progress(done: Iterable[Any], total: int) -> Iterable[Any]:
    slow = 0.1 if sys.stderr.isatty() else 15.0
    return import_extra("tqdm", "cli").tqdm(done, total=total, disable=total < 2, mininterval=slow, unit="photo")


def _pictures(folder: Path) -> list[Path]:
    found = (path for path in folder.rglob("*") if path.suffix.lower() in PHOTO_ENDINGS)
    return sorted(path for path in found if path.is_file() and not path.name.startswith("."))


def _without_loss(jobs: list[Job], problems: list[str]) -> tuple[list[Job], list[str]]:
    """Drop jobs that would overwrite a photo, or the map of another."""
    kept: dict[Path, Job] = {}
    sources = {job.photo.resolve() for job in jobs}
    for job in jobs:
        if job.map in kept:
            problems.append(
                f"{job.photo}: its map would overwrite that of {kept[job.map].photo}. Remedy: give the folder that "
                "holds both, or use two commands."
            )
        elif job.map.resolve() in sources:
            problems.append(f"{job.photo}: its map would overwrite {job.map}. Remedy: name another place with -o.")
        else:
            kept[job.map] = job
    return list(kept.values()), problems


def _detect(job: Job, detect: Callable[[Any], Any], invert: bool) -> str | None:
    """Write the map of one photo; what is wrong if that fails."""
    try:
        found = detect(read_photo(job.photo))
        job.map.parent.mkdir(parents=True, exist_ok=True)
        write_map(1 - found if invert else found, job.map)
    except PhotoError as error:
        return str(error)
    except ImportError:
        raise
    except MemoryError:
        return f"{job.photo}: not enough memory. Remedy: --scales single, fewer --jobs, or a smaller photo."
    except Exception as error:  # whatever befalls one photo, the others go on
        return f"{job.photo}: {type(error).__name__}: {error}"
    return None


def _annotated(data: Path, truth: Path | None, split: str) -> Any:
    """Photos with ground truth; those that cannot be used are told."""
    from ..datasets import load_boundaries, load_bsds500

    with _explained():
        photos = load_bsds500(data, split) if truth is None else load_boundaries(data, truth)
    for problem in photos.problems:
        _tell(f"left out: {problem}")
    return photos


def _file_scores(scores: Any, out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    overall = {name: getattr(scores, name) for name in ("ods", "ois", "ap", "r50")}
    _write_csv(out / "scores.csv", [{"photos": len(scores.table), **overall}])
    _write_csv(out / "photos.csv", scores.table)
    figure = scores.plot().figure
    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=120)
    import_extra("matplotlib.pyplot", "report").close(figure)
    write_atomically(out / "pr.png", content.getvalue())


def _write_csv(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    text = io.StringIO()
    table = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    table.writeheader()
    for row in rows:
        table.writerow({name: f"{value:.6g}" if isinstance(value, float) else value for name, value in row.items()})
    write_atomically(path, text.getvalue().encode())
