"""Lines as vectors, in SVG files."""

from __future__ import annotations

import numpy as np

from .lines import trace_lines

_TOLERANCE = 0.75  # maximum distance in pixels between a line and its pixels
_STROKE = 1.5


def as_svg(lines: np.ndarray, min_length: int = 1) -> str:
    """Convert a map of lines to an SVG drawing in black, with fainter lines more transparent.

    Parameters
    ----------
    lines : array of shape (H, W)
        Strengths; 0 where there is no line.
    min_length : int, default=1
        Shorter strokes are left out if both ends are open, or if one end is open and two longer strokes meet at the
        other, so that the rest of the contour has no gap.

    Returns
    -------
    str

    Examples
    --------
    >>> import numpy as np
    >>> lines = np.zeros((9, 9))
    >>> lines[4, 1:8] = 0.5
    >>> print(as_svg(lines))
    <svg xmlns="http://www.w3.org/2000/svg" width="9" height="9" viewBox="0 0 9 9">
    <g fill="none" stroke="black" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round">
    <path stroke-opacity="0.5" d="M1.5 4.5L7.5 4.5"/>
    </g>
    </svg>
    """
    from skimage.measure import approximate_polygon

    height, width = lines.shape
    paths = []
    for path in _without_spurs(trace_lines(lines > 0), min_length):
        strength = float(np.mean(lines[path[:, 0], path[:, 1]]))
        points = "L".join(f"{x:g} {y:g}" for y, x in approximate_polygon(path + 0.5, _TOLERANCE).tolist())
        paths.append(f'<path stroke-opacity="{min(strength, 1.0):.2g}" d="M{points}"/>')
    size = f'width="{width}" height="{height}"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {width} {height}">',
            f'<g fill="none" stroke="black" stroke-width="{_STROKE}" stroke-linecap="round" stroke-linejoin="round">',
            *paths,
            "</g>",
            "</svg>",
        ]
    )


def _without_spurs(paths: list[np.ndarray], min_length: int) -> list[np.ndarray]:
    """Drop short paths that do not connect other paths."""
    lengths_at: dict[tuple[int, ...], list[int]] = {}
    for path in paths:
        for end in path[[0, -1]].tolist():
            lengths_at.setdefault(tuple(end), []).append(len(path))

    def leads_on(path: np.ndarray) -> bool:
        ends = [lengths_at[tuple(end)] for end in path[[0, -1]].tolist()]
        joints = [lengths for lengths in ends if len(lengths) > 1]
        return len(joints) == 2 or (len(joints) == 1 and sum(n > len(path) for n in joints[0]) < 2)

    return [path for path in paths if len(path) >= min_length or leads_on(path)]
