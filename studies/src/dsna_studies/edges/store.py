"""Forests, maps and counts that a run keeps on disk, for the next one to resume from."""

from __future__ import annotations

import io
import shutil
import time
import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed

from dsna.extend.files import write_atomically
from dsna_vision.edges import BoundaryScores, EdgeDetector, evaluate
from dsna_vision.edges.batch import SCALES
from dsna_vision.photos import PhotoError, read_photo, write_map

from ..results_file import Layout, ResultsFile, load_results
from ..running import Row, failure
from .runs import Run
from .second_level import SecondLevels, loaded

_Draw = Callable[[int], tuple[np.ndarray, float]]
_TIMES = Layout(key=("photo",), values=("seconds",))
_NOISE = np.random.default_rng(0).integers(256, size=(64, 64, 3), dtype=np.uint8)
_AT_ONCE = 10  # photos scored, by each thread, before progress is shown


class Store:
    """Forests, maps and counts in a folder.

    Parameters
    ----------
    folder : Path
        Gets the subfolders ``models``, ``maps``, ``counts`` and, where there are second levels, ``views``.
    jobs : int, default=1
        Threads: trees grown, or photos processed or scored, at a time.

    Examples
    --------
    >>> from pathlib import Path
    >>> from types import SimpleNamespace
    >>> Store(Path("edges")).maps(SimpleNamespace(name="BSDS500-BSDS500-val/SE-2-0f")).as_posix()
    'edges/maps/BSDS500-BSDS500-val/SE-2-0f'
    """

    def __init__(self, folder: Path, jobs: int = 1) -> None:
        self.folder = folder
        self.jobs = jobs
        self._held: tuple[str, EdgeDetector] | None = None
        self._second = SecondLevels(folder, jobs)

    def maps(self, run: Run) -> Path:
        """Folder of PNG files named as the photos."""
        return self.folder / "maps" / run.name

    def map(self, run: Run, row: int) -> np.ndarray:
        """The map of one photo, from 0 to 1."""
        return read_photo(self.maps(run) / f"{run.test.test.names[row]}.png")[..., 0] / 255

    def with_maps(self, runs: Sequence[Run]) -> list[int]:
        """Photos of which all runs, of one collection, have a map."""
        names = runs[0].test.test.names
        return [
            row for row, name in enumerate(names) if all((self.maps(run) / f"{name}.png").is_file() for run in runs)
        ]

    def counts(self, run: Run) -> Path:
        """Folder of the counts of each photo."""
        return self.folder / "counts" / run.name

    def detector(self, run: Run) -> EdgeDetector:
        """The fitted detector of a run: held, read, or else trained and saved; of two levels the first."""
        if self._held is None or self._held[0] != run.model:
            self._held = None  # two forests need not be in memory
            self._held = run.model, self.kept(run) or self._trained(run)
        return _as_asked(self._held[1], run)

    def kept(self, run: Run) -> EdgeDetector | None:
        """The fitted detector of a run, if it is on disk and whole; of two levels the first."""
        found = loaded(self.folder / "models" / run.model)
        return _as_asked(found, run) if isinstance(found, EdgeDetector) else None

    def _trained(self, run: Run) -> EdgeDetector:
        detector = EdgeDetector(**run.detector.get_params(deep=False)).set_params(n_jobs=self.jobs, verbose=True)
        detector.fit(run.train.train)
        folder = self.folder / "models"
        folder.mkdir(parents=True, exist_ok=True)
        detector.save(folder / run.model)
        return detector

    def detect(self, run: Run) -> Iterator[Row]:
        """Write the maps that are missing or damaged; yields a row for each photo, with an ``error`` if it failed."""
        folder, photos = self.maps(run), run.test.test
        folder.mkdir(parents=True, exist_ok=True)
        missing = [row for row in range(len(photos)) if not _is_whole(folder / f"{photos.names[row]}.png")]
        if run.level is not None:
            yield from self._learn(run, bool(missing))
        yield from ({"run": run} for _ in range(len(photos) - len(missing)))
        if not missing:
            return
        draw = self._drawing(run)
        work = (delayed(_detect)(draw, run, row, folder) for row in missing)
        with ResultsFile(folder / "seconds.csv", _TIMES) as times:
            for row in Parallel(self.jobs, prefer="threads", return_as="generator_unordered")(work):
                if "seconds" in row:
                    times.add(row)
                yield {"run": run, **row}

    def _learn(self, run: Run, needed: bool) -> Iterator[Row]:
        """Make the second level of a run; yields a row for each training photo."""
        if needed:
            yield from self._second.learn(run, lambda: self.detector(run))
        else:
            yield from ({"run": run} for _ in run.train.train.names)

    def _drawing(self, run: Run) -> _Draw:
        """From the number of a test photo to its map and the seconds that it took."""
        detector = self.detector(run)
        detector.detect(_NOISE, method=run.answer)  # loads the kernels, so that no time measured holds any of it
        if run.level is not None:
            return self._second.lines(run, lambda: detector)

        def draw(row: int) -> tuple[np.ndarray, float]:
            photo = run.test.test.image(row)
            start = time.perf_counter()
            found = detector.detect(photo, scales=SCALES[run.scales], method=run.answer)
            return found, time.perf_counter() - start

        return draw

    def score(self, run: Run) -> Iterator[Row]:
        """Count matches of the maps that there are; yields a row for each photo, with an ``error`` if it failed."""
        photos = run.test.test
        there = [row for row, name in enumerate(photos.names) if (self.maps(run) / f"{name}.png").is_file()]
        step = _AT_ONCE * self.jobs
        found: list[BoundaryScores] = []
        for start in range(0, len(there), step):
            some = photos.subset(there[start : start + step])
            try:
                scores = evaluate(
                    self.maps(run),
                    some,
                    max_distance=run.test.max_distance,
                    n_jobs=self.jobs,
                    out=self.counts(run),
                )
            except ValueError as error:  # none of these could be scored
                yield from ({"run": run, "error": str(error)} for _ in some.names)
                continue
            found.append(scores)
            yield from ({"run": run} for _ in scores.names)
            yield from ({"run": run, "error": problem} for problem in scores.problems)
        if found:
            names = np.array([name for scores in found for name in scores.names])
            content = io.BytesIO()
            counts = np.concatenate([scores.counts for scores in found])
            np.savez_compressed(content, names=names, thresholds=found[0].thresholds, counts=counts)
            write_atomically(self._scores(run), content.getvalue())

    def scores(self, run: Run) -> BoundaryScores | None:
        """Scores of a run, if it has been scored."""
        try:
            with np.load(self._scores(run)) as kept:
                return BoundaryScores(kept["names"].tolist(), kept["thresholds"], kept["counts"])
        except (OSError, ValueError, KeyError, zipfile.BadZipFile):
            return None

    def seconds(self, run: Run) -> float:
        """Median time that a photo took, on one thread."""
        times = load_results(self.maps(run) / "seconds.csv", _TIMES)
        return float(times["seconds"].median())

    def forget(self, run: Run) -> None:
        """Remove what is kept of a run, its forest included."""
        for folder in (self.maps(run), self.counts(run)):
            shutil.rmtree(folder, ignore_errors=True)
        for path in (self._scores(run), self.folder / "models" / run.model):
            path.unlink(missing_ok=True)
        if run.level is not None:
            self._second.forget(run)

    def _scores(self, run: Run) -> Path:
        return self.folder / "counts" / f"{run.name}.npz"


def _as_asked(detector: EdgeDetector, run: Run) -> EdgeDetector:
    """A fitted detector that answers as a run has it, on one thread."""
    return detector.set_params(**run.detector.get_params(deep=False) | {"n_jobs": 1})


def _is_whole(path: Path) -> bool:
    try:
        read_photo(path)
    except PhotoError:
        return False
    return True


def _detect(draw: _Draw, run: Run, row: int, folder: Path) -> Row:
    """Write the map of one photo; how long it took, or what went wrong."""
    name = run.test.test.names[row]
    try:
        found, seconds = draw(row)
        write_map(found, folder / f"{name}.png")
    except Exception as error:  # the failure of one photo leaves the others running
        return {"photo": name, "error": f"{name}: {failure(error)}"}
    return {"photo": name, "seconds": seconds}
