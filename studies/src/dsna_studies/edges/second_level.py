"""Second levels: maps by first levels, and what was learned from them, kept on disk and shared by all rescorers."""

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
from dsna_vision.edges.second_level.cross_fitting import Lessons, dealt, learn_rounds, level_without
from dsna_vision.edges.second_level.planes import View
from dsna_vision.edges.second_level.rounds import first_view

from ..running import Row
from .runs import Run


class SecondLevels:
    """Second levels of runs, in a folder.

    Training photos are mapped by first levels that know no photo of their block, test photos by the first level of the
    run.  Maps are written photo by photo; a rescorer that learns from maps that another has used only reads them.

    Parameters
    ----------
    folder : Path
        Gets the subfolders ``models`` and ``views``.
    jobs : int
        Threads.

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
        """Make sure that both levels of a run are on disk; yields a row for each training photo.

        Parameters
        ----------
        run : Run
            With a second level.
        first : callable
            Gives its first level, fitted on all training photos.

        Yields
        ------
        dict
        """
        photos = run.train.train
        if self._kept(run) is not None:
            yield from ({"run": run} for _ in photos.names)
            return
        lessons = _lessons(run)
        block = dealt(len(photos), lessons.n_blocks)
        for b in range(lessons.n_blocks):
            rows = np.flatnonzero(block == b).tolist()
            missing = [row for row in rows if _read(self._view(run, "train", row)) is None]
            yield from ({"run": run} for _ in range(len(rows) - len(missing)))
            if missing:
                without = self._without(run, b, lessons)
                work = (delayed(self._look)(run, "train", row, without) for row in missing)
                for _ in Parallel(self.jobs, prefer="threads", return_as="generator_unordered")(work):
                    yield {"run": run}
        views = [self._seen(run, "train", row)[0] for row in range(len(photos))]
        both, level = clone(run.level).set_params(first_level=run.detector), first()
        both.forest_, both.pool_ = level.forest_, level.pool_
        both.rounds_ = learn_rounds(photos, views, lessons, _quiet, self.jobs)
        both.save(self.folder / "models" / run.two_levels)

    def lines(self, run: Run, first: Callable[[], EdgeDetector]) -> Callable[[int], tuple[np.ndarray, float]]:
        """From the number of a test photo to its map and the seconds that it took.

        Parameters
        ----------
        run : Run
            Whose levels :meth:`learn` has made.
        first : callable
            Gives its first level.

        Returns
        -------
        callable
        """
        both = self._kept(run)
        if both is None:
            raise RuntimeError(f"{run.two_levels} is not there or damaged")
        rounds = both.rounds_

        def draw(row: int) -> tuple[np.ndarray, float]:
            if _read(self._view(run, "test", row)) is None:
                self._look(run, "test", row, first())
            view, before = self._seen(run, "test", row)
            start = time.perf_counter()
            return rounds.lines(view), time.perf_counter() - start + before

        return draw

    def forget(self, run: Run) -> None:
        """Remove what is kept of a run: levels, and the maps that they learned from and were asked for."""
        models = [run.two_levels, *map(run.model_without, range(_lessons(run).n_blocks))]
        paths = [self.folder / "models" / name for name in models]
        paths += [self._view(run, part, row) for part in ("train", "test") for row in range(len(_photos(run, part)))]
        for path in paths:
            path.unlink(missing_ok=True)

    def _kept(self, run: Run) -> TwoLevelDetector | None:
        found = loaded(self.folder / "models" / run.two_levels)
        return found if isinstance(found, TwoLevelDetector) else None

    def _without(self, run: Run, b: int, lessons: Lessons) -> EdgeDetector:
        """A first level that knows no photo of a block: read, or else trained and saved."""
        path = self.folder / "models" / run.model_without(b)
        found = loaded(path)
        if not isinstance(found, EdgeDetector):
            template = clone(run.detector).set_params(n_jobs=self.jobs, verbose=True)
            found = level_without(b, run.train.train, template, lessons)
            make_folder(path.parent)
            found.save(path)
        return found

    def _view(self, run: Run, part: str, row: int) -> Path:
        """File of the maps of a photo by the first level of a run."""
        blocks = f"train-{_lessons(run).n_blocks}-blocks"
        place = blocks if part == "train" else f"{run.test.name}-{run.test.split}"
        return self.folder / "views" / run.model.removesuffix(".dsna") / place / f"{_photos(run, part)[row]}.npz"

    def _look(self, run: Run, part: str, row: int, first: EdgeDetector) -> None:
        """Write all that a first level says of a photo."""
        photos = run.train.train if part == "train" else run.test.test
        photo = photos.image(row)
        start = time.perf_counter()
        sizes = np.array(_lessons(run).scales)
        view = first_view(photo, sizes, first.forest_, first.pool_, first.voting("dsna"), 1)
        content = io.BytesIO()
        np.savez_compressed(content, maps=np.stack(view.maps), seconds=time.perf_counter() - start)
        path = self._view(run, part, row)
        make_folder(path.parent)
        write_atomically(path, content.getvalue())

    def _seen(self, run: Run, part: str, row: int) -> tuple[View, float]:
        """What the second level sees of a photo, and how long the first has looked at it."""
        kept = _read(self._view(run, part, row))
        if kept is None:
            raise RuntimeError(f"{self._view(run, part, row)} is not there or damaged")
        maps, seconds = kept
        photos = run.train.train if part == "train" else run.test.test
        return View(photos.image(row), tuple(maps)), seconds


def _quiet(text: str) -> None:
    """Say nothing: the study shows its own progress."""


def _photos(run: Run, part: str) -> list[str]:
    return run.train.train.names if part == "train" else run.test.test.names


def _lessons(run: Run) -> Lessons:
    if run.level is None:
        raise ValueError(f"{run.method} has no second level")
    return run.level.lessons(run.seed)


def loaded(path: Path) -> EdgeDetector | TwoLevelDetector | None:
    """A detector, if it is on disk and whole.

    Examples
    --------
    >>> from pathlib import Path
    >>> loaded(Path("nowhere.dsna")) is None
    True
    """
    try:
        return load_detector(path) if path.is_file() else None
    except ModelFileError:  # damaged: it is made anew
        return None


def _read(path: Path) -> tuple[np.ndarray, float] | None:
    """Maps of a photo and the seconds that they took, if they are on disk and whole."""
    try:
        with np.load(path) as kept:
            return kept["maps"], float(kept["seconds"])
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None
