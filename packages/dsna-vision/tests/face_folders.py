"""Folders of drawn faces in the layouts of FG-NET and UTKFace."""

from __future__ import annotations

import numpy as np
from PIL import Image
from tests.synthetic_faces import draw


def write_fgnet(folder, persons=4, pictures=7, seed=0):
    """Persons of different ages, from 2 to 65, in images/ and points/."""
    rng = np.random.default_rng(seed)
    (folder / "images").mkdir(parents=True)
    (folder / "points").mkdir()
    for person in range(1, persons + 1):
        for k in range(pictures):
            age = 2 + (63 * k + 9 * person) // pictures % 64
            face = draw(rng, label=age / 65)
            name = f"{person:03d}A{age:02d}"
            Image.fromarray(np.clip(face.image, 0, 255).astype(np.uint8)).save(folder / "images" / f"{name}.JPG")
            lines = "\n".join(f"{x:.2f} {y:.2f}" for x, y in face.points)
            text = f"version: 1\nn_points: {len(face.points)}\n{{\n{lines}\n}}\n"
            (folder / "points" / f"{name.lower()}.pts").write_text(text)


def write_utkface(folder, pictures=60, seed=0):
    """Crops whose names begin with an age from 1 to 80."""
    rng = np.random.default_rng(seed)
    folder.mkdir(parents=True)
    for k in range(pictures):
        age = 1 + (79 * k) // pictures
        image = np.clip(draw(rng, label=age / 80).image, 0, 255).astype(np.uint8)
        Image.fromarray(image).resize((96, 96)).save(folder / f"{age}_0_0_{k:08d}.jpg")
