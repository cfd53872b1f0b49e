"""Drawn faces: a light oval with dark eyes, nose and mouth, whose wrinkles grow with the label."""

from __future__ import annotations

import numpy as np

from dsna_vision.features import Face

# Symmetric about x = 0, y downwards.
JAW = [[-50, -20], [-42, 30], [-20, 62], [0, 70], [20, 62], [42, 30], [50, -20]]
BROWS = [[-35, -48], [-12, -50], [12, -50], [35, -48]]
EYES = [[-30, -25], [-15, -25], [15, -25], [30, -25]]
NOSE = [[0, -15], [-9, 12], [0, 16], [9, 12]]
MOUTH = [[-22, 38], [0, 33], [22, 38], [0, 46]]
LANDMARKS = np.array([*JAW, *BROWS, *EYES, *NOSE, *MOUTH], dtype=np.float64)
CENTRE = np.array([80.0, 90.0])


def draw(rng, label=0.0, turn=0.0, scale=1.0, colour=False):
    """A face of 160 x 180 pixels, its jaw lower and its wrinkles deeper the larger the label (0 to 1) is."""
    shape = LANDMARKS + rng.normal(0, 1.0, LANDMARKS.shape)
    shape[1:6, 1] += 8 * label
    cos, sin = np.cos(turn), np.sin(turn)
    points = scale * shape @ np.array([[cos, sin], [-sin, cos]]) + CENTRE
    y, x = np.mgrid[0:180, 0:160]
    # Pixels in the coordinates of the landmarks before they were turned and scaled.
    back = np.stack([x - CENTRE[0], y - CENTRE[1]], axis=-1) @ np.array([[cos, -sin], [sin, cos]]) / scale
    image = 60 + 130 * ((back[..., 0] / 58) ** 2 + (back[..., 1] / 75) ** 2 < 1)
    for centre, spread in ((shape[11:13].mean(axis=0), 7), (shape[13:15].mean(axis=0), 7), (shape[22], 9)):
        image = image - 90 * np.exp(-((back - centre) ** 2).sum(axis=-1) / (2 * spread**2))
    image = image + 25 * label * np.sin(back[..., 1] / 2.5) + rng.normal(0, 2, image.shape)
    return Face(np.repeat(image[:, :, None], 3, axis=2) if colour else image, points)


def drawn(n, seed=0):
    """Faces and labels, without turn or scale."""
    rng = np.random.default_rng(seed)
    labels = rng.uniform(0, 1, n)
    return [draw(rng, label) for label in labels], labels
