"""What the commands ``dsna edges ...`` do: maps of many photos, training, scores; a bad photo stops no other."""

from __future__ import annotations

import csv
import io
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import joblib
import numpy as np
from sklearn.utils._param_validation import InvalidParameterError

from ..._utils.atomic import (
    FileError,
    check_outputs,
    check_results_folder,
    explained,
    make_folder,
    reading_problem,
    write_atomically,
)
from ..._utils.errors import DSNAError
from ..._utils.optional import import_extra
from ..._utils.parallel import one_blas_thread
from ..datasets.boundaries import BoundarySet
from ..photos import PhotoError, read_photo
from .drawing.products import Product
from .planning import EdgesError, Job, plan
from .scoring.evaluation import read_map

if TYPE_CHECKING:
    from . import EdgeDetector, TwoLevelDetector

SHIPPED = "shipped"
#: Sizes at which photos are looked at, in shares of their own, by what they are called.
SCALES = {"single": (1.0,), "two": (0.5, 1.0), "multi": (0.5, 1.0, 2.0)}
_SCORE_FILES = "scores.csv", "photos.csv", "pr.png"


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
    first_level : bool
        Whether a detector of two levels answers with its first alone, which knows scales, methods and soft maps.

    Examples
    --------
    >>> from dsna.vision.edges.batch import Detection
    >>> Detection(scales=(0.5, 1.0, 2.0)).method
    'dsna'
    """

    model: str = SHIPPED
    scales: tuple[float, ...] = (1.0,)
    method: str = "dsna"
    suppress: bool = True
    n_jobs: int = 1
    first_level: bool = False

    def loaded(self) -> EdgeDetector | TwoLevelDetector:
        """The detector."""
        from . import load_detector, pretrained

        problem = None if self.model == SHIPPED else reading_problem(self.model)
        if problem:
            raise EdgesError(f"The model {self.model}: {problem[0]}. Remedy: {problem[1]}, or use dsna edges train.")
        with _explained():
            return pretrained() if self.model == SHIPPED else load_detector(Path(self.model))

    def prepared(self, n_photos: int) -> Callable[[np.ndarray], np.ndarray]:
        """A function from photos to maps; threads share the photos if there are several, else the photo."""
        from . import TwoLevelDetector

        detector = self.loaded()
        detector.n_jobs = 1 if n_photos > 1 else self.n_jobs
        if isinstance(detector, TwoLevelDetector) and not self.first_level:
            return detector.detect
        first = detector.first_level_ if isinstance(detector, TwoLevelDetector) else detector
        return lambda photo: first.detect(photo, scales=self.scales, method=self.method, suppress=self.suppress)


def detect_photos(
    photos: Sequence[Path],
    how: Detection,
    *,
    file: Path | None = None,
    out: Path | None = None,
    product: Product | None = None,
    say: Callable[[str], None] = print,
) -> int:
    """Write the edge maps of photos; those that fail are named on stderr, and the others go on.

    Parameters
    ----------
    photos : sequence of Path
    how : Detection
    file, out
        As :func:`plan` takes them.
    product : Product or None, default=None
        What is written of each map; None: a grey map.
    say : callable, default=print
        Called with what was written.

    Returns
    -------
    int
        Exit code: 0, or 1 if a photo failed, or 2 if all did.

    Examples
    --------
    >>> from pathlib import Path
    >>> from dsna.vision.edges.batch import Detection, detect_photos
    >>> detect_photos([Path("a.jpg")], Detection(), file=Path("edges.jpg"))
    Traceback (most recent call last):
    dsna.vision.edges.planning.EdgesError: edges.jpg: maps are not written as .jpg. Remedy: use .png or .npy.
    """
    product = product or Product()
    jobs, problems = plan(photos, file=file, out=out, endings=product.endings)
    for problem in problems:
        _tell(f"failed: {problem}")
    written = 0
    if jobs:
        detect = how.prepared(len(jobs))
        work = (joblib.delayed(_detect)(job, detect, product) for job in jobs)
        with _notes(), one_blas_thread():
            done = joblib.Parallel(min(how.n_jobs, len(jobs)), prefer="threads", return_as="generator")(work)
            for failure in _bar(len(jobs), done):
                if failure:
                    problems.append(failure)
                    _tell(f"failed: {failure}")
                else:
                    written += 1
    if written == 1 and len(jobs) == 1:
        say(f"Map: {jobs[0].map}")
    elif written:
        say(f"{written} of {len(jobs)} maps {f'in {out}' if out else 'beside the photos'}")
    return (1 if written else 2) if problems else 0


def train_detector(
    data: Path,
    truth: Path | None,
    out: Path,
    parameters: Mapping[str, Any],
    second: Mapping[str, Any] | None = None,
    say: Callable[[str], None] = print,
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
        Parameters of :class:`dsna.vision.edges.EdgeDetector`.
    second : mapping or None, default=None
        Parameters of a :class:`dsna.vision.edges.TwoLevelDetector` whose first level it becomes; None: there is none.
    say : callable, default=print

    Returns
    -------
    int
        Exit code: 0, or 1 if photos were left out, which are named on stderr.

    Examples
    --------
    >>> from pathlib import Path
    >>> from dsna.vision.edges.batch import train_detector
    >>> train_detector(Path("data"), None, Path("nowhere/model.dsna"), {})
    Traceback (most recent call last):
    dsna._utils.atomic.FileError: nowhere/model.dsna: there is no folder ...nowhere. Remedy: make it first, ...
    """
    from . import EdgeDetector, TwoLevelDetector

    check_outputs(files=[out])
    photos = _annotated(data, truth, "train")
    start = time.monotonic()
    with _explained():
        detector = EdgeDetector(**parameters)
        if second is None:
            detector.fit(photos).save(out)
        else:
            shared = {name: parameters[name] for name in ("random_state", "n_jobs", "verbose") if name in parameters}
            TwoLevelDetector(detector, **shared, **second).fit(photos).save(out)
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
        Called with the scores, and with where they are.

    Returns
    -------
    int
        Exit code, as that of :func:`train_detector`.

    Examples
    --------
    >>> from pathlib import Path
    >>> from dsna.vision.edges.batch import score
    >>> score(Path("nowhere"), Path("bsds500"), None, "val")
    Traceback (most recent call last):
    dsna.vision.edges.planning.EdgesError: nowhere is not a folder: name one that holds a PNG file for each photo.
    """
    from . import evaluate

    if isinstance(maps, Path) and not maps.is_dir():
        raise EdgesError(f"{maps} is not a folder: name one that holds a PNG file for each photo.")
    if out is not None:
        import_extra("matplotlib", "report")
        check_results_folder(out, *_SCORE_FILES)
    photos = _annotated(data, truth, split)
    map_of = _map_source(maps, photos)
    filed = None if out is None else out / "counts"
    with _explained(), one_blas_thread(), _bar(len(photos)) as begun:

        def counted(row: int) -> np.ndarray:
            begun.update()
            return map_of(row)

        scores = evaluate(counted, photos, n_jobs=n_jobs, out=filed)
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
    except DSNAError:
        raise
    except OSError as error:
        raise EdgesError(explained(error)) from error
    except InvalidParameterError as error:
        raise EdgesError(str(error)) from error


def _tell(text: str) -> None:
    import_extra("tqdm", "cli").tqdm.write(text, file=sys.stderr)


@contextmanager
def _notes() -> Iterator[None]:
    """Tell warnings as notes, each on a line."""
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_: _tell(f"note: {message}")
        yield


def _bar(total: int, photos: Iterable[Any] | None = None) -> Any:
    """A progress bar over photos; a single one needs none."""
    slow = 0.1 if sys.stderr.isatty() else 15.0
    return import_extra("tqdm", "cli").tqdm(photos, total=total, disable=total < 2, mininterval=slow, unit="photo")


def _map_source(maps: Path | Detection, photos: BoundarySet) -> Callable[[int], np.ndarray]:
    """From the number of a photo to its map, read from a folder or detected."""
    if isinstance(maps, Detection):
        detect = maps.prepared(len(photos))
        return lambda row: detect(photos.image(row))
    if not any((maps / f"{name}.png").is_file() for name in photos.names):
        raise EdgesError(f"{maps} holds no map of these photos: {photos.names[0]}.png and so on are expected.")
    return lambda row: read_map(maps / f"{photos.names[row]}.png")


def _detect(job: Job, detect: Callable[[Any], Any], product: Product) -> str | None:
    """Write the map of one photo; what is wrong if that fails."""
    try:
        photo = read_photo(job.photo)
        found = detect(photo)
        make_folder(job.map.parent)
        product.write(found, photo, job.map)
    except (PhotoError, FileError) as error:
        return str(error)
    except ImportError:
        raise
    except MemoryError:
        return f"{job.photo}: not enough memory. Remedy: --scales single, fewer --jobs, or a smaller photo."
    except Exception as error:  # whatever befalls one photo, the others go on
        return f"{job.photo}: {type(error).__name__}: {error}"
    return None


def _annotated(data: Path, truth: Path | None, split: str) -> BoundarySet:
    """Photos with ground truth; those that cannot be used are reported."""
    from ..datasets import load_boundaries, load_bsds500

    with _explained():
        photos = load_bsds500(data, split) if truth is None else load_boundaries(data, truth)
    for problem in photos.problems:
        _tell(f"left out: {problem}")
    return photos


def _file_scores(scores: Any, out: Path) -> None:
    make_folder(out)
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
