"""Frames of candidates: the normal of their edge, and samples on rings around them."""

import numpy as np

from dsna.extend.kernels import TIE, kernel

_N_ANGLES = 4  # on a half circle, starting at the normal; each is combined with the opposite one
_HALF_ROOT = 0.5**0.5


@kernel
def bend_axes(smooth, out):
    """Axis of greatest downward curvature at each pixel: the normal of a ridge.

    An axis has no sign, so its doubled angle is stored.  Where curvature is the same in all directions, the normal
    points across.

    Parameters
    ----------
    smooth : float32 (height, width)
    out : float32 (height, width, 2); cosine and sine of twice the angle between normal and row.
    """
    height, width = smooth.shape
    for row in range(height):
        above, below = max(row - 1, 0), min(row + 1, height - 1)
        for column in range(width):
            left, right = max(column - 1, 0), min(column + 1, width - 1)
            across = np.float64(smooth[row, left]) + smooth[row, right]
            down = np.float64(smooth[above, column]) + smooth[below, column]
            rising = np.float64(smooth[above, left]) + smooth[below, right]
            falling = np.float64(smooth[above, right]) + smooth[below, left]
            difference = across - down
            mixed = (rising - falling) / 2.0
            size = np.sqrt(difference * difference + mixed * mixed)
            out[row, column, 0] = 1.0
            out[row, column, 1] = 0.0
            if size > TIE * (across + down + rising + falling):
                out[row, column, 0] = -difference / size
                out[row, column, 1] = -mixed / size


@kernel
def _normal(cosine, sine):
    """Unit vector (down, across) of a doubled angle; its sign is arbitrary."""
    if cosine >= 0.0:
        across = np.sqrt((1.0 + cosine) / 2.0)
        return sine / (2.0 * across), across
    down = np.sqrt((1.0 - cosine) / 2.0)
    return down, sine / (2.0 * down)


@kernel
def _plane_coordinate(position, start, length, step, plane_length):
    """Row or column in cropped planes of a row or column of the photo, mirrored at the borders of the photo."""
    position = abs(position)
    if position > length - 1.0:
        position = max(2.0 * (length - 1.0) - position, 0.0)
    position = (position - start - 0.5 * (step - 1.0)) / step
    return min(max(position, 0.0), plane_length - 1.0)


@kernel
def _sample(planes, row, column, values):
    """Values of all planes at a position between pixels, by bilinear interpolation."""
    height, width, n_planes = planes.shape
    top, left = np.int64(row), np.int64(column)
    below, right = min(top + 1, height - 1), min(left + 1, width - 1)
    down, across = row - top, column - left
    for k in range(n_planes):
        upper = planes[top, left, k] * (1.0 - across) + planes[top, right, k] * across
        lower = planes[below, left, k] * (1.0 - across) + planes[below, right, k] * across
        values[k] = upper * (1.0 - down) + lower * down


@kernel
def describe_ring(planes, step, window, positions, axes, radius, counts, out, column):
    """Describe candidates by samples on a ring around them, at four angles from their normal.

    Values at opposite points are combined into their mean and absolute difference, which do not depend on the sign of
    the normal.  Vectors of doubled angles are summed and rotated into the frame, which gives their component along the
    axis and the absolute value of the other.  Of the last planes, colours, only the absolute difference is used.

    Parameters
    ----------
    planes : float32 (h, w, n_planes); first scalars, then pairs (cosine, sine) of vectors, then colours.
    step : size of a pixel of the planes, in pixels of the photo.
    window : float64 (4,); row and column of the photo where the planes begin, height and width of the photo.
    positions : int64 (n, 2); rows and columns of the candidates in the photo.
    axes : float64 (n, 2); cosine and sine of twice the angle of each normal.
    radius : radius of the ring, in pixels of the photo.
    counts : int64 (3,); scalars, pairs, colours.
    out : float32 (n, n_columns), of which 4 * (2 * scalars + 2 * pairs + colours) columns are filled.
    column : first column to fill.
    """
    height, width, n_planes = planes.shape
    n_scalars, n_pairs, n_colours = counts
    values_ahead, values_behind = np.empty(n_planes), np.empty(n_planes)
    for i in range(positions.shape[0]):
        y, x = np.float64(positions[i, 0]), np.float64(positions[i, 1])
        cosine, sine = axes[i, 0], axes[i, 1]
        down, across = _normal(cosine, sine)
        k = column
        for angle in range(_N_ANGLES):
            if angle == 0:
                dy, dx = down, across
            elif angle == 1:
                dy, dx = (down + across) * _HALF_ROOT, (across - down) * _HALF_ROOT
            elif angle == 2:
                dy, dx = across, -down
            else:
                dy, dx = (across - down) * _HALF_ROOT, -(down + across) * _HALF_ROOT
            dy *= radius
            dx *= radius
            row = _plane_coordinate(y + dy, window[0], window[2], step, height)
            _sample(planes, row, _plane_coordinate(x + dx, window[1], window[3], step, width), values_ahead)
            row = _plane_coordinate(y - dy, window[0], window[2], step, height)
            _sample(planes, row, _plane_coordinate(x - dx, window[1], window[3], step, width), values_behind)
            for p in range(n_scalars):
                out[i, k] = (values_ahead[p] + values_behind[p]) / 2.0
                out[i, k + 1] = abs(values_ahead[p] - values_behind[p])
                k += 2
            p = n_scalars
            for _ in range(n_pairs):
                along_axis, across_axis = values_ahead[p] + values_behind[p], values_ahead[p + 1] + values_behind[p + 1]
                out[i, k] = along_axis * cosine + across_axis * sine
                out[i, k + 1] = abs(across_axis * cosine - along_axis * sine)
                p += 2
                k += 2
            for _ in range(n_colours):
                out[i, k] = abs(values_ahead[p] - values_behind[p])
                p += 1
                k += 1
