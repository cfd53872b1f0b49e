"""Landmark files: ``.pts``, as FG-NET and many after it write them."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from .pictures import UnusableFile, check_usable


def read_pts(path: Path) -> np.ndarray:
    """Landmarks (n_landmarks, 2) between the braces of a ``.pts`` file, checked against its ``n_points``."""
    check_usable(path, f"no landmarks in {path.name}")
    try:
        head, _, rest = path.read_text(encoding="latin-1").partition("{")
        body, closing, _ = rest.partition("}")
        numbers = np.array(body.split(), dtype=np.float64)
    except OSError as error:
        raise UnusableFile(f"no landmarks ({path.name}: {error.strerror})") from error
    except ValueError as error:
        raise UnusableFile(f"damaged landmarks ({path.name}: {error})") from error
    announced = [line.split(":")[1] for line in head.splitlines() if line.strip().startswith("n_points")]
    count = int(announced[0]) if announced and announced[0].strip().isdigit() else len(numbers) // 2
    if not closing or len(numbers) != 2 * count or count < 3 or not np.isfinite(numbers).all():
        raise UnusableFile(f"damaged landmarks ({path.name}: {len(numbers) / 2:g} of {count} points)")
    return numbers.reshape(-1, 2)


def pts_beside(picture: Path) -> np.ndarray | None:
    """Landmarks from the ``.pts`` file of the same name beside a picture, or None where there is none."""
    path = picture.with_suffix(".pts")
    return read_pts(path) if os.path.lexists(path) else None
