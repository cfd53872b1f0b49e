"""Second levels: maps by first levels and detectors trained on them, stored on disk and shared by all rescorers."""

from __future__ import annotations

import io
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone

from dsna import ModelFileError
from dsna.extend.files import make_folder, write_atomically
from dsna_vision.edges import EdgeDetector, TwoLevelDetector, load_detector
from dsna_vision.edges.second_level.cross_fitting import Lessons, assign_blocks, learn_rounds, level_without
from dsna_vision.edges.second_level.planes import View
from dsna_vision.edges.second_level.rounds import first_view

from ..running import Row
from .runs import Run


class SecondLevels:
    """Second levels of runs, in a folder.

    Training photos are mapped by first levels trained without the photo's block, test photos by the first level of the
    run.  Maps are written photo by photo, and reused by other rescorers that need the same maps.

    Parameters
    ----------
    folder : Path
        Folder for the subfolders ``models`` and ``views``.
    jobs : int
        Number of threads.

    Examples
    --------
    >>> from pathlib import Path
    >>> SecondLevels(Path("edges"), 1).folder.as_posix()
    'edges'
    """

    def __init__(self, folder: Path, jobs: int) -> None:
        self.folder = folder
        self.jobs = jobs

    def learn(self, run: Run, first: Callable[[], EdgeDetector]) -> Iterator[Row]:
        """Train both levels of a run unless they are on disk, yielding a row for each training photo.

        Parameters
        ----------
        run : Run
            Run with a second level.
        first : callable
            Returns the first level of the run, fitted on all training photos.

        Yields
        ------
        dict
        """
        photos = run.train.train
        if self._stored_detector(run) is not None:
            yield from ({"run": run} for _ in photos.names)
            return
        lessons = _lessons(run)
        block = assign_blocks(len(photos), lessons.n_blocks)
        for b in range(lessons.n_blocks):
            rows = np.flatnonzero(block == b).tolist()
            missing_rows = [row for row in rows if _stored_maps(self._maps_path(run, "train", row)) is None]
            yield from ({"run": run} for _ in range(len(rows) - len(missing_rows)))
            if missing_rows:
                first_level = self._first_level_without(run, b, lessons)
                tasks = (delayed(self._write_maps)(run, "train", row, first_level) for row in missing_rows)
                for _ in Parallel(self.jobs, prefer="threads", return_as="generator_unordered")(tasks):
                    yield {"run": run}
        views = [self._stored_view(run, "train", row)[0] for row in range(len(photos))]
        detector, fitted_first = clone(run.level).set_params(first_level=run.detector), first()
        detector.forest_, detector.pool_ = fitted_first.forest_, fitted_first.pool_
        detector.rounds_ = learn_rounds(photos, views, lessons, _ignore, self.jobs)
        detector.save(self.folder / "models" / run.two_levels)

    def lines(self, run: Run, first: Callable[[], EdgeDetector]) -> Callable[[int], tuple[np.ndarray, float]]:
        """Return a function that detects lines in a test photo, given its number, and measures the seconds.

        Parameters
        ----------
        run : Run
            Run whose levels :meth:`learn` has trained.
        first : callable
            Returns the first level of the run.

        Returns
        -------
        callable
        """
        detector = self._stored_detector(run)
        if detector is None:
            raise RuntimeError(f"{run.two_levels} is not there or damaged")
        rounds = detector.rounds_

        def detect_lines(row: int) -> tuple[np.ndarray, float]:
            if _stored_maps(self._maps_path(run, "test", row)) is None:
                self._write_maps(run, "test", row, first())
            view, first_level_seconds = self._stored_view(run, "test", row)
            start = time.perf_counter()
            return rounds.lines(view), time.perf_counter() - start + first_level_seconds

        return detect_lines

    def forget(self, run: Run) -> None:
        """Remove the stored levels and maps of a run."""
        models = [run.two_levels, *map(run.model_without, range(_lessons(run).n_blocks))]
        paths = [self.folder / "models" / name for name in models]
        paths += [
            self._maps_path(run, split_name, row)
            for split_name in ("train", "test")
            for row in range(len(_photo_names(run, split_name)))
        ]
        for path in paths:
            path.unlink(missing_ok=True)

    def _stored_detector(self, run: Run) -> TwoLevelDetector | None:
        detector = load_if_whole(self.folder / "models" / run.two_levels)
        return detector if isinstance(detector, TwoLevelDetector) else None

    def _first_level_without(self, run: Run, b: int, lessons: Lessons) -> EdgeDetector:
        """First level trained without a block of photos, read from disk or else trained and saved."""
        path = self.folder / "models" / run.model_without(b)
        detector = load_if_whole(path)
        if not isinstance(detector, EdgeDetector):
            template = clone(run.detector).set_params(n_jobs=self.jobs, verbose=True)
            detector = level_without(b, run.train.train, template, lessons)
            make_folder(path.parent)
            detector.save(path)
        return detector

    def _maps_path(self, run: Run, split_name: str, row: int) -> Path:
        """Path of the maps of a photo by the first level of a run."""
        blocks = f"train-{_lessons(run).n_blocks}-blocks"
        folder_name = blocks if split_name == "train" else f"{run.test.name}-{run.test.split}"
        return (
            self.folder
            / "views"
            / run.model.removesuffix(".dsna")
            / folder_name
            / f"{_photo_names(run, split_name)[row]}.npz"
        )

    def _write_maps(self, run: Run, split_name: str, row: int, first: EdgeDetector) -> None:
        """Write the maps of a photo by a first level."""
        photos = run.train.train if split_name == "train" else run.test.test
        photo = photos.image(row)
        start = time.perf_counter()
        sizes = np.array(_lessons(run).scales)
        view = first_view(photo, sizes, first.forest_, first.pool_, first.voting("dsna"), 1)
        content = io.BytesIO()
        np.savez_compressed(content, maps=np.stack(view.maps), seconds=time.perf_counter() - start)
        path = self._maps_path(run, split_name, row)
        make_folder(path.parent)
        write_atomically(path, content.getvalue())

    def _stored_view(self, run: Run, split_name: str, row: int) -> tuple[View, float]:
        """View of a photo for the second level, and the seconds that the first level took."""
        stored = _stored_maps(self._maps_path(run, split_name, row))
        if stored is None:
            raise RuntimeError(f"{self._maps_path(run, split_name, row)} is not there or damaged")
        maps, seconds = stored
        photos = run.train.train if split_name == "train" else run.test.test
        return View(photos.image(row), tuple(maps)), seconds


def _ignore(text: str) -> None:
    """Ignore progress messages, as the study shows its own progress."""


def _photo_names(run: Run, split_name: str) -> list[str]:
    return run.train.train.names if split_name == "train" else run.test.test.names


def _lessons(run: Run) -> Lessons:
    if run.level is None:
        raise ValueError(f"{run.method} has no second level")
    return run.level.lessons(run.seed)


def load_if_whole(path: Path) -> EdgeDetector | TwoLevelDetector | None:
    """Load a detector if it is on disk and not damaged.

    Examples
    --------
    >>> from pathlib import Path
    >>> load_if_whole(Path("nowhere.dsna")) is None
    True
    """
    try:
        return load_detector(path) if path.is_file() else None
    except ModelFileError:  # damaged; it will be trained again
        return None


def _stored_maps(path: Path) -> tuple[np.ndarray, float] | None:
    """Maps of a photo and the seconds that they took, if they are on disk and not damaged."""
    try:
        with np.load(path) as stored:
            return stored["maps"], float(stored["seconds"])
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None
