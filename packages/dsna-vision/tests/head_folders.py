"""Folders of drawn heads in the layout of Pointing'04."""

from __future__ import annotations

import numpy as np
from PIL import Image


def write_pointing04(folder, persons=4, series=1, pitches=(-90, -30, 0, 30, 90), yaws=(-90, -45, 0, 45, 90), seed=0):
    """A bright spot that wanders with pitch and yaw; at a pitch of 90 degrees yaw is 0, as in the real collection."""
    rng = np.random.default_rng(seed)
    row, column = np.mgrid[:72, :96]
    for person in range(1, persons + 1):
        place = folder / f"Person{person:02d}"
        place.mkdir(parents=True)
        for number in range(1, series + 1):
            poses = [(pitch, yaw) for pitch in pitches for yaw in yaws if abs(pitch) < 90 or yaw == 0]
            for k, (pitch, yaw) in enumerate(poses):
                away = (row - 36 - pitch / 6) ** 2 + (column - 48 - yaw / 6) ** 2
                picture = rng.integers(0, 30, away.shape) + 180 * np.exp(-away / 90)
                name = f"person{person:02d}{number}{k:02d}{pitch:+d}{yaw:+d}"
                Image.fromarray(picture.astype(np.uint8)).save(place / f"{name}.jpg")
                (place / f"{name}.txt").write_text(f"{name}.jpg\n\nFace\n48\n36\n40\n40\n")
