"""Landmark files: ``.pts``, the format of FG-NET and many later databases."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from .pictures import UnusableFile, check_usable


def read_pts(path: Path) -> np.ndarray:
    """Read landmarks (n_landmarks, 2) from the braces of a ``.pts`` file, checked against its ``n_points``."""
    check_usable(path, f"no landmarks in {path.name}")
    try:
        header, _, after_brace = path.read_text(encoding="latin-1").partition("{")
        body, closing, _ = after_brace.partition("}")
        numbers = np.array(body.split(), dtype=np.float64)
    except OSError as error:
        raise UnusableFile(f"no landmarks ({path.name}: {error.strerror})") from error
    except ValueError as error:
        raise UnusableFile(f"damaged landmarks ({path.name}: {error})") from error
    declared_counts = [line.split(":")[1] for line in header.splitlines() if line.strip().startswith("n_points")]
    count = int(declared_counts[0]) if declared_counts and declared_counts[0].strip().isdigit() else len(numbers) // 2
    if not closing or len(numbers) != 2 * count or count < 3 or not np.isfinite(numbers).all():
        raise UnusableFile(f"damaged landmarks ({path.name}: {len(numbers) / 2:g} of {count} points)")
    return numbers.reshape(-1, 2)


def read_pts_of(picture: Path) -> np.ndarray | None:
    """Read landmarks from the ``.pts`` file next to a picture; None if there is none."""
    path = picture.with_suffix(".pts")
    return read_pts(path) if os.path.lexists(path) else None
