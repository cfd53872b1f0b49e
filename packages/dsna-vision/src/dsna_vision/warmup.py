"""Compilation of the kernels for edges in photos by ``dsna warmup``."""

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
    """Detect edges in a small photo and, if lightgbm is installed, train a two-level detector on four photos."""
    from .edges import EdgeDetector, TwoLevelDetector, pretrained
    from .edges.drawing.products import Product

    with _example_photos() as (folder, photos, photo):
        detector = EdgeDetector(n_estimators=2, n_patches=150, n_pool=150, random_state=0).fit(photos)
        for method in ("se", "dsna"):
            edges = detector.detect(photo, scales=(0.5, 1.0), method=method)
        Product("svg").write(edges, photo, folder / "lines.svg")
        pretrained().detect(photo)
        if find_spec("lightgbm") is not None:
            first_level = EdgeDetector(n_estimators=2, n_patches=150, n_pool=0)
            TwoLevelDetector(first_level, n_estimators=2, random_state=0).fit(photos).detect(photo)


@contextmanager
def _example_photos() -> Iterator[tuple[Path, BoundarySet, np.ndarray]]:
    """Yield a folder, the four photos with boundaries in it, and the first photo."""
    from PIL import Image

    from .datasets import load_boundaries

    photo = np.full((48, 64, 3), 40, dtype=np.uint8)
    photo[12:36, 20:] = (220, 180, 60)
    boundary_map = np.zeros(photo.shape[:2], dtype=np.uint8)
    boundary_map[[12, 36], 20:] = 255
    boundary_map[12:36, 20] = 255
    with tempfile.TemporaryDirectory() as folder:
        for shift in range(4):
            for name, picture in (
                ("photos", np.roll(photo, shift, axis=0)),
                ("drawn", np.roll(boundary_map, shift, axis=0)),
            ):
                path = Path(folder) / name / f"{shift}.png"
                path.parent.mkdir(exist_ok=True)
                Image.fromarray(picture).save(path)
        yield Path(folder), load_boundaries(Path(folder) / "photos", Path(folder) / "drawn"), photo
