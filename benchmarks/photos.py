"""How fast edges are found, and maps are scored."""

from __future__ import annotations

import numpy as np
from measure import Report, duration, seconds
from scipy.ndimage import gaussian_filter
from scipy.spatial import cKDTree

from dsna_vision.edges import evaluate, pretrained
from dsna_vision.edges.sampling import boundary_of

_SIDES = (321, 481)
_SEGMENTS, _NOISE = 60, 25.0


def picture(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A photo of patches of colour with a soft texture, (321, 481, 3) bytes, and where one patch meets another."""
    rng = np.random.default_rng(seed)
    grid = np.indices(_SIDES).reshape(2, -1).T
    _, segment = cKDTree(rng.uniform(0, _SIDES, (_SEGMENTS, 2))).query(grid)
    segment = segment.reshape(_SIDES)
    texture = gaussian_filter(rng.normal(size=(*_SIDES, 3)), (2, 2, 0))
    colours = rng.uniform(40, 215, (_SEGMENTS, 3))[segment] + _NOISE * texture / texture.std()
    return np.clip(colours, 0, 255).astype(np.uint8), boundary_of(segment)


def edges(report: Report, quick: bool) -> None:
    """The shipped detector beside structured edges by the same code; scoring."""
    n = 2 if quick else 10
    report.title(f"edges: {n} made photos of 481 x 321 pixels, the shipped detector, two threads, time per photo")
    detector = pretrained(levels=1).set_params(n_jobs=2)
    photos, boundaries = zip(*(picture(seed) for seed in range(n)), strict=True)

    def maps(method: str) -> list[np.ndarray]:
        return [detector.detect(photo, method=method) for photo in photos]

    (peer, _), (took, found) = (seconds(maps, method, repeats=3) for method in ("se", "dsna"))
    what = "detect (peer: method='se', structured edges)"
    report.add(what, duration(took / n), duration(peer / n), took / peer, "<= 5", took / peer <= 5)
    report.add("  the same, in seconds", duration(took / n), target="< 1.5 s", ok=took / n < 1.5)
    report.add("  the peer, in seconds (--fast)", duration(peer / n), target="< 0.5 s", ok=peer / n < 0.5)
    both = pretrained().set_params(n_jobs=2)
    both.detect(photos[0])
    whole = seconds(lambda: [both.detect(photo) for photo in photos])[0] / n
    report.add("  two levels, in seconds", duration(whole), target="< 3 s", ok=whole < 3)
    truth = [[one] * 5 for one in boundaries]
    evaluate(found[:1], truth[:1], n_jobs=2)
    scored = seconds(lambda: evaluate(found, truth, n_jobs=2))[0] * 200 / n
    report.add("evaluate 200 such maps, five annotators each", duration(scored), target="< 300 s", ok=scored < 300)
