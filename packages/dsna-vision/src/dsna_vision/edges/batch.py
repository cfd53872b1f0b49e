"""Work of the commands ``dsna edges ...``: training, and maps of many photos."""

from __future__ import annotations

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

from dsna import DSNAError
from dsna.extend.files import FileError, check_outputs, explained, make_folder, reading_problem
from dsna.extend.parallel import one_blas_thread, parts_shown

from ..datasets.boundaries import BoundarySet
from ..datasets.pictures import MissingPictures
from ..photos import PhotoError, read_photo
from ..wording import number_of
from .drawing.products import Product
from .planning import EdgesError, PhotoJob, plan

if TYPE_CHECKING:
    from . import EdgeDetector, TwoLevelDetector

SHIPPED = "shipped"
#: Sizes at which photos are analysed, relative to their own, by name of the option.
SCALES = {"single": (1.0,), "two": (0.5, 1.0), "multi": (0.5, 1.0, 2.0)}


@dataclass(frozen=True)
class Detection:
    """Settings for detecting edges.

    Parameters
    ----------
    model : str
        File of a detector, or "shipped".
    scales : tuple of float
        Sizes at which a photo is analysed, relative to its own.
    method : {"dsna", "se"} or None
        None means "dsna", or "se" if the detector stores no patches.
    suppress : bool
        Whether edges are thinned.
    n_jobs : int
        Number of threads.
    first_level : bool
        Whether to use only the first level of a two-level detector, which supports scales, methods and soft maps.

    Examples
    --------
    >>> from dsna_vision.edges.batch import Detection
    >>> Detection(scales=(0.5, 1.0, 2.0)).model
    'shipped'
    """

    model: str = SHIPPED
    scales: tuple[float, ...] = (1.0,)
    method: str | None = None
    suppress: bool = True
    n_jobs: int = 1
    first_level: bool = False

    def load(self) -> EdgeDetector | TwoLevelDetector:
        """Load the detector."""
        from . import load_detector, pretrained

        problem = None if self.model == SHIPPED else reading_problem(self.model)
        if problem:
            raise EdgesError(f"The model {self.model}: {problem[0]}. Remedy: {problem[1]}, or use dsna edges train.")
        with as_user_errors():
            return pretrained() if self.model == SHIPPED else load_detector(Path(self.model))

    def map_function(self, n_photos: int) -> Callable[[np.ndarray], np.ndarray]:
        """Return a function from photos to maps; threads run over photos if there are several, else within one."""
        from . import TwoLevelDetector

        detector = self.load()
        detector.n_jobs = 1 if n_photos > 1 else self.n_jobs
        if isinstance(detector, TwoLevelDetector) and not self.first_level:
            return detector.detect
        first = detector.first_level_ if isinstance(detector, TwoLevelDetector) else detector
        method = self.method or ("se" if first.pool_ is None else "dsna")
        if method != "se" and first.pool_ is None:
            raise EdgesError(
                f"The model {self.model} stores no patches for --method {method}. Remedy: --method se, or dsna edges "
                "train with --pool."
            )
        return lambda photo: first.detect(photo, scales=self.scales, method=method, suppress=self.suppress)


def detect_photos(
    photos: Sequence[Path],
    detection: Detection,
    *,
    file: Path | None = None,
    out: Path | None = None,
    product: Product | None = None,
    say: Callable[[str], None] = print,
) -> int:
    """Write the edge maps of photos, reporting those that fail on stderr.

    Parameters
    ----------
    photos : sequence of Path
    detection : Detection
    file, out
        See :func:`plan`.
    product : Product or None, default=None
        Kind of output; None means a grey map.
    say : callable, default=print
        Called with a summary of what was written.

    Returns
    -------
    int
        Exit code: 0, or 1 if a photo failed, or 2 if all failed.

    Examples
    --------
    >>> from pathlib import Path
    >>> from dsna_vision.edges.batch import Detection, detect_photos
    >>> detect_photos([Path("a.jpg")], Detection(), file=Path("edges.jpg"))
    Traceback (most recent call last):
    dsna_vision.edges.planning.EdgesError: edges.jpg: maps are not written as .jpg. Remedy: use .png, .npy or .svg.
    """
    product = product or Product()
    jobs, problems = plan(photos, file=file, out=out, endings=product.endings)
    for problem in problems:
        write_to_stderr(f"failed: {problem}")
    written: list[Path] = []
    location = f"in {out}" if out else "beside the photos"
    if jobs:
        detect = detection.map_function(len(jobs))
        work = (joblib.delayed(_write_map)(job, detect, product, written) for job in jobs)
        try:
            with warnings_to_stderr(), one_blas_thread(), parts_shown(len(jobs) == 1):
                done = joblib.Parallel(min(detection.n_jobs, len(jobs)), prefer="threads", return_as="generator")(work)
                for failure in progress_bar(len(jobs), done):
                    if failure:
                        problems.append(failure)
                        write_to_stderr(f"failed: {failure}")
        except KeyboardInterrupt:
            finished = f"{len(written)} of {len(jobs)} maps {location} were written." if written else ""
            raise KeyboardInterrupt(finished) from None
    if written and len(jobs) == 1:
        say(f"Map: {jobs[0].map}")
    elif written:
        say(f"{len(written)} of {len(jobs)} maps {location}")
    return (1 if written else 2) if problems else 0


def train_detector(
    data: Path,
    truth: Path | None,
    out: Path,
    parameters: Mapping[str, Any],
    levels: int = 1,
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
        Model file to write.
    parameters : mapping
        Parameters of :class:`dsna_vision.edges.EdgeDetector`.
    levels : {1, 2}, default=1
        2: train a :class:`dsna_vision.edges.TwoLevelDetector` with this detector as its first level.
    say : callable, default=print

    Returns
    -------
    int
        Exit code: 0, or 1 if photos were left out; these are reported on stderr.

    Examples
    --------
    >>> from pathlib import Path
    >>> from dsna_vision.edges.batch import train_detector
    >>> train_detector(Path("data"), None, Path("nowhere/model.dsna"), {})
    Traceback (most recent call last):
    dsna._utils.atomic.FileError: nowhere/model.dsna: there is no folder ...nowhere. Remedy: make it first, ...
    """
    from . import EdgeDetector, TwoLevelDetector

    check_outputs(files=[out])
    photos = read_annotated(data, truth, "train")
    start = time.monotonic()
    with as_user_errors():
        detector = EdgeDetector(**parameters)
        if levels == 1:
            detector.fit(photos).save(out)
        else:
            shared = {name: parameters[name] for name in ("random_state", "n_jobs", "verbose") if name in parameters}
            TwoLevelDetector(detector, **shared).fit(photos).save(out)
    say(
        f"Model: {out} ({out.stat().st_size / 1e6:.1f} MB), trained on {number_of(len(photos), 'photo')} in "
        f"{time.monotonic() - start:.0f} s"
    )
    return 1 if photos.problems else 0


@contextmanager
def as_user_errors() -> Iterator[None]:
    """Turn the library's errors about wrong input into errors of the command."""
    try:
        yield
    except DSNAError:
        raise
    except OSError as error:
        raise EdgesError(explained(error)) from error
    except InvalidParameterError as error:
        raise EdgesError(str(error)) from error


def write_to_stderr(text: str) -> None:
    """Write a line on stderr, above the progress bar."""
    from tqdm import tqdm

    tqdm.write(text, file=sys.stderr)


@contextmanager
def warnings_to_stderr() -> Iterator[None]:
    """Print each warning as a note on one line."""
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_: write_to_stderr(f"note: {message}")
        yield


def progress_bar(total: int, photos: Iterable[Any] | None = None) -> Any:
    """Progress bar over photos, disabled for a single photo."""
    from tqdm import tqdm

    slow = 0.1 if sys.stderr.isatty() else 15.0
    return tqdm(photos, total=total, disable=total < 2, mininterval=slow, unit="photo")


def _write_map(job: PhotoJob, detect: Callable[[Any], Any], product: Product, written: list[Path]) -> str | None:
    """Write the map of one photo and record its path; return the problem if that fails."""
    try:
        photo = read_photo(job.photo)
        edges = detect(photo)
        make_folder(job.map.parent)
        product.write(edges, photo, job.map)
        written.append(job.map)
    except (PhotoError, FileError) as error:
        return str(error)
    except ImportError:
        raise
    except MemoryError:
        return f"{job.photo}: not enough memory. Remedy: --scales single, fewer --jobs, or a smaller photo."
    except Exception as error:  # any failure concerns this photo alone
        return f"{job.photo}: {type(error).__name__}: {error}"
    return None


def read_annotated(data: Path, truth: Path | None, split: str) -> BoundarySet:
    """Read photos with ground truth, reporting those that cannot be used."""
    from ..datasets import load_boundaries, load_bsds500

    with as_user_errors(), warnings_to_stderr():
        try:
            photos = load_bsds500(data, split) if truth is None else load_boundaries(data, truth)
        except MissingPictures as error:
            if truth is not None or not data.is_dir():
                raise
            raise EdgesError(f"{error} For photos of your own, name the drawings with --truth.") from error
    for problem in photos.problems:
        write_to_stderr(f"left out: {problem}")
    return photos
