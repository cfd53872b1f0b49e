"""Non-maximum suppression of an edge map."""

import numpy as np

from dsna.extend.kernels import kernel


@kernel
def _interpolate(values, row, column):
    """Bilinear interpolation; beyond the map, border values are repeated."""
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
    """Unit vector (down, across) of greatest curvature, up or down: the direction across an edge."""
    height, width = smooth.shape
    above, below = max(row - 1, 0), min(row + 1, height - 1)
    left, right = max(column - 1, 0), min(column + 1, width - 1)
    center = np.float64(smooth[row, column])
    bend_across = smooth[row, left] - 2.0 * center + smooth[row, right]
    bend_down = smooth[above, column] - 2.0 * center + smooth[below, column]
    rising = np.float64(smooth[above, left]) + smooth[below, right]
    falling = np.float64(smooth[above, right]) + smooth[below, left]
    mixed = (rising - falling) / 4.0
    sign = 1.0 if bend_across + bend_down > 0.0 else -1.0
    angle = 0.5 * np.arctan2(sign * 2.0 * mixed, sign * (bend_across - bend_down))
    return np.sin(angle), np.cos(angle)


@kernel
def _fade(position, length, margin):
    """Weight of a position in a row or column: 0 on the border, 1 from ``margin`` pixels inwards."""
    border_distance = min(position, length - 1 - position)
    return 1.0 if border_distance >= margin else border_distance / margin


@kernel
def suppress_nonmaxima(values, smooth, radius, margin, multiplier, out):
    """Copy to ``out`` the values that are largest across their edge, and set the others to 0.

    Parameters
    ----------
    values, smooth, out : float32 (height, width); the map, a smoothed map for directions, the result.
    radius : number of pixels on each side with which a value is compared.
    margin : int64 (2,); pixels from the border, down and across, within which values fade.
    multiplier : factor applied to a value before comparison.
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
                value_ahead = _interpolate(values, row + step * down, column + step * across)
                value_behind = _interpolate(values, row - step * down, column - step * across)
                if value * multiplier < max(value_ahead, value_behind):
                    largest = False
                    break
            if largest:
                out[row, column] = value * fade * _fade(column, width, margin[1])
