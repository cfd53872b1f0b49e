"""Candidates seen in the frame of their own edge: its normal, and samples on rings around it."""

import numpy as np

from dsna.extend.kernels import TIE, kernel

_N_ANGLES = 4  # on a half circle, from the normal on; the other half is taken with it
_HALF_ROOT = 0.5**0.5


@kernel
def bend_axes(smooth, out):
    """Axis along which a map bends down most, in each pixel: the normal of the ridge that runs there.

    An axis has no sign, so its doubled angle is stored.  Where the map bends alike in all directions there is none,
    and the normal points across.

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
    """Unit vector (down, across) of a doubled angle; its sign means nothing."""
    if cosine >= 0.0:
        across = np.sqrt((1.0 + cosine) / 2.0)
        return sine / (2.0 * across), across
    down = np.sqrt((1.0 - cosine) / 2.0)
    return down, sine / (2.0 * down)


@kernel
def _inside(place, corner, length, step, held):
    """Where a row or column of the photo lies in planes that are cut out of it; the borders of the photo mirror."""
    place = abs(place)
    if place > length - 1.0:
        place = max(2.0 * (length - 1.0) - place, 0.0)
    place = (place - corner - 0.5 * (step - 1.0)) / step
    return min(max(place, 0.0), held - 1.0)


@kernel
def _sample(planes, row, column, values):
    """Values of all planes between pixels, by bilinear interpolation."""
    height, width, n_planes = planes.shape
    top, left = np.int64(row), np.int64(column)
    below, right = min(top + 1, height - 1), min(left + 1, width - 1)
    down, across = row - top, column - left
    for k in range(n_planes):
        upper = planes[top, left, k] * (1.0 - across) + planes[top, right, k] * across
        lower = planes[below, left, k] * (1.0 - across) + planes[below, right, k] * across
        values[k] = upper * (1.0 - down) + lower * down


@kernel
def describe_ring(planes, step, window, places, axes, radius, counts, out, column):
    """Describe candidates by what lies on a ring around them, at four angles from their normal.

    Of the values at opposite points the mean and the absolute difference count, so that the sign of the normal does
    not.  Vectors of doubled angles are added up and turned into the frame: their part along the axis, and the absolute
    value of the other one.  Of the last planes, colours, only the difference counts.

    Parameters
    ----------
    planes : float32 (h, w, n_planes); first scalars, then pairs (cosine, sine) of vectors, then colours.
    step : pixels of the photo along one pixel of the planes.
    window : float64 (4,); row and column of the photo where the planes begin, height and width of the photo.
    places : int64 (n, 2); rows and columns of the candidates in the photo.
    axes : float64 (n, 2); cosine and sine of twice the angle of each normal.
    radius : of the ring, in pixels of the photo.
    counts : int64 (3,); scalars, pairs, colours.
    out : float32 (n, n_columns), of which 4 * (2 * scalars + 2 * pairs + colours) are filled.
    column : the first of them.
    """
    height, width, n_planes = planes.shape
    n_scalars, n_pairs, n_colours = counts
    ahead, behind = np.empty(n_planes), np.empty(n_planes)
    for i in range(places.shape[0]):
        y, x = np.float64(places[i, 0]), np.float64(places[i, 1])
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
            row = _inside(y + dy, window[0], window[2], step, height)
            _sample(planes, row, _inside(x + dx, window[1], window[3], step, width), ahead)
            row = _inside(y - dy, window[0], window[2], step, height)
            _sample(planes, row, _inside(x - dx, window[1], window[3], step, width), behind)
            for p in range(n_scalars):
                out[i, k] = (ahead[p] + behind[p]) / 2.0
                out[i, k + 1] = abs(ahead[p] - behind[p])
                k += 2
            p = n_scalars
            for _ in range(n_pairs):
                along, aside = ahead[p] + behind[p], ahead[p + 1] + behind[p + 1]
                out[i, k] = along * cosine + aside * sine
                out[i, k + 1] = abs(aside * cosine - along * sine)
                p += 2
                k += 2
            for _ in range(n_colours):
                out[i, k] = abs(ahead[p] - behind[p])
                p += 1
                k += 1
