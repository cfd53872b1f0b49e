"""Small collections of photos with boundaries, in the layouts of their owners."""

import numpy as np
import scipy.io
from PIL import Image


def scene(shape=(48, 64), seed=0):
    """A photo of a few boxes and its segments."""
    rng = np.random.default_rng(seed)
    segments = np.ones(shape, np.uint16)
    for k in range(3):
        y, x = rng.integers(0, shape[0] // 2), rng.integers(0, shape[1] // 2)
        segments[y : y + shape[0] // 2, x : x + shape[1] // 2] = k + 2
    colours = rng.integers(30, 220, (5, 3))
    return colours[segments].astype(np.uint8), segments


def between(segments):
    """Pixels whose right or lower neighbour is of another segment."""
    found = np.zeros(segments.shape, np.uint8)
    found[:, :-1] |= segments[:, :-1] != segments[:, 1:]
    found[:-1] |= segments[:-1] != segments[1:]
    return found


def write_mat(path, annotators):
    """Save segments of some annotators as BSDS500 does."""
    path.parent.mkdir(parents=True, exist_ok=True)
    cells = np.empty((1, len(annotators)), dtype=object)
    for k, segments in enumerate(annotators):
        cells[0, k] = {"Segmentation": segments, "Boundaries": between(segments)}
    scipy.io.savemat(path, {"groundTruth": cells})


def write_photo(path, photo):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(photo).save(path)


def write_bsds(root, split="val", n=3, shape=(48, 64)):
    for k in range(n):
        photo, segments = scene(shape, k)
        write_photo(root / "images" / split / f"{k}00.jpg", photo)
        write_mat(root / "groundTruth" / split / f"{k}00.mat", [segments, np.roll(segments, 1, axis=0)])


def write_gupta(root, n=10, shape=(85, 112)):
    """NYUD as Gupta et al. lay it out, without the lists of the splits."""
    for k in range(n):
        photo, segments = scene(shape, k)
        write_photo(root / "data" / "images" / f"img_{5001 + k}.png", photo)
        write_mat(root / "data" / "benchmarkData" / "groundTruth" / f"img_{5001 + k}.mat", [segments])


def shapes(seed=0, shape=(64, 80)):
    """A noisy photo of two halves and a disc, and its segments."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[: shape[0], : shape[1]]
    angle, height = rng.uniform(0, np.pi), rng.uniform(-0.2, 0.2) * shape[0]
    across = (x - shape[1] / 2) * np.cos(angle) + (y - shape[0] / 2) * np.sin(angle)
    segments = np.where(across > height, 2, 1).astype(np.uint16)
    middle = rng.uniform(0.25, 0.75, 2) * shape
    segments[(y - middle[0]) ** 2 + (x - middle[1]) ** 2 < (0.2 * shape[0]) ** 2] = 3
    tones = np.append(0, rng.permutation([50, 125, 200]))
    photo = tones[segments][..., None] + rng.integers(-15, 16, 3) + rng.normal(0, 8, (*shape, 3))
    return np.clip(photo, 0, 255).astype(np.uint8), segments


def write_shapes(root, n=5):
    """Such photos as BSDS500's training part."""
    for k in range(n):
        photo, segments = shapes(k)
        write_photo(root / "images" / "train" / f"{k}.png", photo)
        write_mat(root / "groundTruth" / "train" / f"{k}.mat", [segments])
