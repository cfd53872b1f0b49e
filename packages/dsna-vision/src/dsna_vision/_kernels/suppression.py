"""Non-maximum suppression of an edge map."""

import numpy as np

from dsna.extend.kernels import kernel


@kernel
def _between(values, row, column):
    """Bilinear interpolation; beyond the map its border goes on."""
    height, width = values.shape
    row = min(max(row, 0.0), height - 1.0)
    column = min(max(column, 0.0), width - 1.0)
    top, left = np.int64(row), np.int64(column)
    below, right = min(top + 1, height - 1), min(left + 1, width - 1)
    down, across = row - top, column - left
    upper = values[top, left] * (1.0 - across) + values[top, right] * across
    lower = values[below, left] * (1.0 - across) + values[below, right] * across
    return upper * (1.0 - down) + lower * down


@kernel
def _normal(smooth, row, column):
    """Unit vector (down, across) along which the map bends most, up or down: across the edge that runs here."""
    height, width = smooth.shape
    above, below = max(row - 1, 0), min(row + 1, height - 1)
    left, right = max(column - 1, 0), min(column + 1, width - 1)
    here = np.float64(smooth[row, column])
    bend_across = smooth[row, left] - 2.0 * here + smooth[row, right]
    bend_down = smooth[above, column] - 2.0 * here + smooth[below, column]
    rising = np.float64(smooth[above, left]) + smooth[below, right]
    falling = np.float64(smooth[above, right]) + smooth[below, left]
    mixed = (rising - falling) / 4.0
    sign = 1.0 if bend_across + bend_down > 0.0 else -1.0
    angle = 0.5 * np.arctan2(sign * 2.0 * mixed, sign * (bend_across - bend_down))
    return np.sin(angle), np.cos(angle)


@kernel
def _fade(place, length, margin):
    """Share that stays at a place of a row or column: 0 on the border, 1 from ``margin`` pixels inwards."""
    away = min(place, length - 1 - place)
    return 1.0 if away >= margin else away / margin


@kernel
def suppress_nonmaxima(values, smooth, radius, margin, multiplier, out):
    """Copy to ``out`` the values that are largest across their edge, the others as 0.

    Parameters
    ----------
    values, smooth, out : float32 (height, width); the map, the map that directions are taken from, the result.
    radius : how many pixels to each side a value is compared with.
    margin : int64 (2,); pixels from the border, down and across, within which values fade.
    multiplier : what a value is multiplied by before it is compared.
    """
    height, width = values.shape
    for row in range(height):
        fade = _fade(row, height, margin[0])
        for column in range(width):
            value = values[row, column]
            out[row, column] = 0.0
            if value <= 0.0:
                continue
            down, across = _normal(smooth, row, column)
            largest = True
            for step in range(1, radius + 1):
                ahead = _between(values, row + step * down, column + step * across)
                behind = _between(values, row - step * down, column - step * across)
                if value * multiplier < max(ahead, behind):
                    largest = False
                    break
            if largest:
                out[row, column] = value * fade * _fade(column, width, margin[1])
