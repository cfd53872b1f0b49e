"""What ``dsna warmup`` compiles for edges in photos."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .datasets.boundaries import BoundarySet


def compile_edges() -> None:
    """Detect edges once in a small photo and, where lightgbm is installed, train two levels on four."""
    from .edges import EdgeDetector, TwoLevelDetector, pretrained
    from .edges.drawing.products import Product

    with _drawn_photos() as (folder, photos, photo):
        detector = EdgeDetector(n_estimators=2, n_patches=150, n_pool=150, random_state=0).fit(photos)
        for method in ("se", "dsna"):
            edges = detector.detect(photo, scales=(0.5, 1.0), method=method)
        Product("svg").write(edges, photo, folder / "lines.svg")
        pretrained().detect(photo)
        if find_spec("lightgbm") is not None:
            first = EdgeDetector(n_estimators=2, n_patches=150, n_pool=0)
            TwoLevelDetector(first, n_estimators=2, random_state=0).fit(photos).detect(photo)


@contextmanager
def _drawn_photos() -> Iterator[tuple[Path, BoundarySet, np.ndarray]]:
    """A folder, four photos with boundaries in it, and the first of them."""
    from PIL import Image

    from .datasets import load_boundaries

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
