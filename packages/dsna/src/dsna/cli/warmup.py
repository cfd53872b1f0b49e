"""``dsna warmup``: compiles the numerical kernels ahead of time, so that no later fit waits for them."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from .._utils.optional import install_command
from .errors import exit_on_user_error, say

if TYPE_CHECKING:
    import numpy as np

    from dsna_vision.datasets.boundaries import BoundarySet


def warmup() -> None:
    """Compile the numerical kernels ahead of time: of tables and, where their extras are installed, of edges in photos.

    What is not installed is skipped, and named.

    They are kept on disk, and later runs load them from there. Run it once after installation, or while an image of a
    container is built. Set NUMBA_CACHE_DIR to keep them elsewhere.
    """
    remedy = install_command("cli", "bench", "report")
    with exit_on_user_error("warmup", remedy, "What is compiled is kept; the same command goes on from there."):
        compile_kernels()


def compile_kernels() -> None:
    """Compile what is not in the cache yet, telling what is being done and where the cache is."""
    from .._kernels.notices import NOTICES

    steps: dict[str, Callable[[], None]] = {"classification": _classify, "regression": _regress}
    skipped = []
    if find_spec("skimage") is None or find_spec("PIL") is None:
        skipped.append(("edges in photos", install_command("cli", "report", "vision")))
    else:
        steps["edges"] = _find_edges
        if find_spec("lightgbm") is None:
            skipped.append(("training edges of two levels", install_command("cli", "report", "vision", "train")))
        else:
            steps["training edges of two levels"] = _train_two_levels
    for number, (name, step) in enumerate(steps.items(), start=1):
        say(f"{number} of {len(steps)}: {name}")
        before = NOTICES.compiled
        step()
        say(f"  {NOTICES.compiled - before} kernels compiled")
    for name, remedy in skipped:
        say(f"Skipped: {name}, which would need {remedy}.")
    say(_place())


def _place() -> str:
    from .._kernels.forest.tree import grow_tree
    from .._kernels.notices import NOTICES

    if NOTICES.cached:
        return f"All kernels are in {grow_tree._cache.cache_path}."
    return "The kernels could not be cached: each run compiles them again."


def _table() -> tuple[np.ndarray, np.ndarray]:
    import numpy as np

    X = np.random.default_rng(0).normal(size=(60, 4))
    return X, X[:, 0]


def _classify() -> None:
    from .. import Approximation, CostSensitiveForestClassifier, DSNAClassifier

    X, score = _table()
    approximation = Approximation(n_clusters=2, hull_energy=0.9)
    model = DSNAClassifier(CostSensitiveForestClassifier(3), approximation, random_state=0)
    model.fit(X, score > 0.8).predict(X)
    from ..distributed import DistributedDSNAClassifier

    DistributedDSNAClassifier(model, sample_size=100).fit([(X, score > 0.8)], None).predict(X)


def _regress() -> None:
    from .. import Approximation, CostSensitiveForestRegressor, DSNARegressor

    X, score = _table()
    approximation = Approximation(n_clusters=2, hull_energy=0.9)
    DSNARegressor(CostSensitiveForestRegressor(3), approximation, random_state=0).fit(X, score).predict(X)


@contextmanager
def _drawn_photos() -> Iterator[tuple[Path, BoundarySet, np.ndarray]]:
    """A folder, four photos with boundaries in it, and the first of them."""
    import numpy as np
    from PIL import Image

    from dsna_vision.datasets import load_boundaries

    photo = np.full((48, 64, 3), 40, dtype=np.uint8)
    photo[12:36, 20:] = (220, 180, 60)
    drawn = np.zeros(photo.shape[:2], dtype=np.uint8)
    drawn[[12, 36], 20:] = 255
    drawn[12:36, 20] = 255
    with tempfile.TemporaryDirectory() as folder:
        for k in range(4):
            for name, picture in (("photos", np.roll(photo, k, axis=0)), ("drawn", np.roll(drawn, k, axis=0))):
                path = Path(folder) / name / f"{k}.png"
                path.parent.mkdir(exist_ok=True)
                Image.fromarray(picture).save(path)
        yield Path(folder), load_boundaries(Path(folder) / "photos", Path(folder) / "drawn"), photo


def _find_edges() -> None:
    from dsna_vision.edges import EdgeDetector, pretrained
    from dsna_vision.edges.drawing.products import Product

    with _drawn_photos() as (folder, photos, photo):
        detector = EdgeDetector(n_estimators=2, n_patches=150, n_pool=150, random_state=0).fit(photos)
        for method in ("se", "dsna"):
            edges = detector.detect(photo, scales=(0.5, 1.0), method=method)
        Product("svg").write(edges, photo, folder / "lines.svg")
        pretrained().detect(photo)


def _train_two_levels() -> None:
    from dsna_vision.edges import EdgeDetector, TwoLevelDetector

    with _drawn_photos() as (_, photos, photo):
        first = EdgeDetector(n_estimators=2, n_patches=150, n_pool=0)
        TwoLevelDetector(first, n_estimators=2, random_state=0).fit(photos).detect(photo)
