"""Forests, maps and counts that are stored on disk, so that later runs can resume."""

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
from .second_level import SecondLevels, load_if_whole

_Detect = Callable[[int], tuple[np.ndarray, float]]
_TIMES = Layout(key=("photo",), values=("seconds",))
_NOISE = np.random.default_rng(0).integers(256, size=(64, 64, 3), dtype=np.uint8)
_CHUNK = 10  # photos per thread that are scored between updates of progress


class Store:
    """Forests, maps and counts in a folder.

    Parameters
    ----------
    folder : Path
        Folder for the subfolders ``models``, ``maps``, ``counts`` and, for second levels, ``views``.
    jobs : int, default=1
        Number of threads that grow trees, or that process or score photos.

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
        self._cached: tuple[str, EdgeDetector] | None = None
        self._second = SecondLevels(folder, jobs)

    def maps(self, run: Run) -> Path:
        """Folder of PNG files named after the photos."""
        return self.folder / "maps" / run.name

    def map(self, run: Run, row: int) -> np.ndarray:
        """The map of one photo, from 0 to 1."""
        return read_photo(self.maps(run) / f"{run.test.test.names[row]}.png")[..., 0] / 255

    def with_maps(self, runs: Sequence[Run]) -> list[int]:
        """Numbers of the photos for which all runs, of one collection, have a map."""
        names = runs[0].test.test.names
        return [
            row for row, name in enumerate(names) if all((self.maps(run) / f"{name}.png").is_file() for run in runs)
        ]

    def counts(self, run: Run) -> Path:
        """Folder of the counts of each photo."""
        return self.folder / "counts" / run.name

    def detector(self, run: Run) -> EdgeDetector:
        """Fitted detector of a run, or its first level: cached, read from disk, or else trained and saved."""
        if self._cached is None or self._cached[0] != run.model:
            self._cached = None  # avoids two forests in memory
            self._cached = run.model, self.stored_detector(run) or self._train(run)
        return _with_settings_of(self._cached[1], run)

    def stored_detector(self, run: Run) -> EdgeDetector | None:
        """Fitted detector of a run, or its first level, if it is on disk and not damaged."""
        detector = load_if_whole(self.folder / "models" / run.model)
        return _with_settings_of(detector, run) if isinstance(detector, EdgeDetector) else None

    def _train(self, run: Run) -> EdgeDetector:
        detector = EdgeDetector(**run.detector.get_params(deep=False)).set_params(n_jobs=self.jobs, verbose=True)
        detector.fit(run.train.train)
        folder = self.folder / "models"
        folder.mkdir(parents=True, exist_ok=True)
        detector.save(folder / run.model)
        return detector

    def detect(self, run: Run) -> Iterator[Row]:
        """Write missing or damaged maps, yielding a row for each photo, with an ``error`` if it failed."""
        folder, photos = self.maps(run), run.test.test
        folder.mkdir(parents=True, exist_ok=True)
        missing_rows = [row for row in range(len(photos)) if not _is_whole(folder / f"{photos.names[row]}.png")]
        if run.level is not None:
            yield from self._learn(run, bool(missing_rows))
        yield from ({"run": run} for _ in range(len(photos) - len(missing_rows)))
        if not missing_rows:
            return
        detect_edges = self._detection_function(run)
        tasks = (delayed(_write_map)(detect_edges, run, row, folder) for row in missing_rows)
        with ResultsFile(folder / "seconds.csv", _TIMES) as times:
            for row in Parallel(self.jobs, prefer="threads", return_as="generator_unordered")(tasks):
                if "seconds" in row:
                    times.add(row)
                yield {"run": run, **row}

    def _learn(self, run: Run, needed: bool) -> Iterator[Row]:
        """Train the second level of a run, yielding a row for each training photo."""
        if needed:
            yield from self._second.learn(run, lambda: self.detector(run))
        else:
            yield from ({"run": run} for _ in run.train.train.names)

    def _detection_function(self, run: Run) -> _Detect:
        """Return a function that detects edges in a test photo, given its number, and measures the seconds."""
        detector = self.detector(run)
        detector.detect(_NOISE, method=run.answer)  # compiles the kernels before time is measured
        if run.level is not None:
            return self._second.lines(run, lambda: detector)

        def detect(row: int) -> tuple[np.ndarray, float]:
            photo = run.test.test.image(row)
            start = time.perf_counter()
            edges = detector.detect(photo, scales=SCALES[run.scales], method=run.answer)
            return edges, time.perf_counter() - start

        return detect

    def score(self, run: Run) -> Iterator[Row]:
        """Count matches of the existing maps, yielding a row for each photo, with an ``error`` if it failed."""
        photos = run.test.test
        mapped_rows = [row for row, name in enumerate(photos.names) if (self.maps(run) / f"{name}.png").is_file()]
        step = _CHUNK * self.jobs
        chunk_scores: list[BoundaryScores] = []
        for start in range(0, len(mapped_rows), step):
            chunk = photos.subset(mapped_rows[start : start + step])
            try:
                scores = evaluate(
                    self.maps(run),
                    chunk,
                    max_distance=run.test.max_distance,
                    n_jobs=self.jobs,
                    out=self.counts(run),
                )
            except ValueError as error:  # no photo of the chunk could be scored
                yield from ({"run": run, "error": str(error)} for _ in chunk.names)
                continue
            chunk_scores.append(scores)
            yield from ({"run": run} for _ in scores.names)
            yield from ({"run": run, "error": problem} for problem in scores.problems)
        if chunk_scores:
            names = np.array([name for scores in chunk_scores for name in scores.names])
            content = io.BytesIO()
            counts = np.concatenate([scores.counts for scores in chunk_scores])
            np.savez_compressed(content, names=names, thresholds=chunk_scores[0].thresholds, counts=counts)
            write_atomically(self._scores(run), content.getvalue())

    def scores(self, run: Run) -> BoundaryScores | None:
        """Scores of a run, if it has been scored."""
        try:
            with np.load(self._scores(run)) as stored:
                return BoundaryScores(stored["names"].tolist(), stored["thresholds"], stored["counts"])
        except (OSError, ValueError, KeyError, zipfile.BadZipFile):
            return None

    def seconds(self, run: Run) -> float:
        """Median time that a photo took, on one thread."""
        times = load_results(self.maps(run) / "seconds.csv", _TIMES)
        return float(times["seconds"].median())

    def forget(self, run: Run) -> None:
        """Remove all stored results of a run, including its forest."""
        for folder in (self.maps(run), self.counts(run)):
            shutil.rmtree(folder, ignore_errors=True)
        for path in (self._scores(run), self.folder / "models" / run.model):
            path.unlink(missing_ok=True)
        if run.level is not None:
            self._second.forget(run)

    def _scores(self, run: Run) -> Path:
        return self.folder / "counts" / f"{run.name}.npz"


def _with_settings_of(detector: EdgeDetector, run: Run) -> EdgeDetector:
    """Set a fitted detector to the settings of a run, on one thread."""
    return detector.set_params(**run.detector.get_params(deep=False) | {"n_jobs": 1})


def _is_whole(path: Path) -> bool:
    try:
        read_photo(path)
    except PhotoError:
        return False
    return True


def _write_map(detect: _Detect, run: Run, row: int, folder: Path) -> Row:
    """Write the map of one photo, and return the seconds that it took, or the error."""
    name = run.test.test.names[row]
    try:
        edges, seconds = detect(row)
        write_map(edges, folder / f"{name}.png")
    except Exception as error:  # the failure of one photo leaves the others running
        return {"photo": name, "error": f"{name}: {failure(error)}"}
    return {"photo": name, "seconds": seconds}
