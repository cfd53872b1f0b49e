"""What the network is made of: convolutions, and the way that planes take through them.

At each of four levels, the next of half the resolution, residual blocks look at 3 x 3 pixels.  On the way back each
level is joined with the coarser one.  Training and detection share this way and differ in who convolves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dsna.extend.containers import Array, Checked
from dsna.extend.parallel import writable

#: Residual blocks of each level, and planes in it; on the way back there are fewer.
BLOCKS, WIDTHS, JOINED = (1, 1, 2, 2), (16, 32, 48, 48), 16
ALIGNED = 2 ** (len(BLOCKS) - 1)  # places that begin a pixel at every level
#: Pixels that an answer depends on, to each side: of a level those of the coarser one, doubled, and its own.
REACH = 77
_LARGEST = 1e4  # of a weight
_ANY = np.float32(-np.inf)


@dataclass
class Convolution(Checked):
    """A convolution of 3 x 3 pixels; beyond the border there are zeros.

    Parameters
    ----------
    weight : array of shape (n_out, n_in, 3, 3), float32
    bias : array of shape (n_out,), float32

    Examples
    --------
    >>> import numpy as np
    >>> mean = Convolution(np.full((1, 1, 3, 3), 1 / 9, np.float32), np.zeros(1, np.float32))
    >>> mean(framed(np.ones((1, 3, 3), np.float32)))[0, 1:-1, 1:-1].round(2)
    array([[0.44, 0.67, 0.44],
           [0.67, 1.  , 0.67],
           [0.44, 0.67, 0.44]], dtype=float32)
    """

    weight: np.ndarray
    bias: np.ndarray

    FIELDS = {
        "weight": Array("float32", "planes, inputs, 3, 3", -_LARGEST, _LARGEST),
        "bias": Array("float32", "planes", -_LARGEST, _LARGEST),
    }
    NOT_EMPTY = ("planes", "inputs")

    def __post_init__(self) -> None:
        self.check()

    def __call__(
        self, planes: np.ndarray, step: int = 1, added: np.ndarray | None = None, rectified: bool = True
    ) -> np.ndarray:
        """Planes convolved, as :func:`flow` asks for it; all lie in a frame of one pixel of zeros."""
        from ...._kernels.second_level.convolution import add_convolution

        if added is None:
            height, width = (-(-(side - 2) // step) + 2 for side in planes.shape[1:])
            out = np.zeros((len(self.bias), height, width), dtype=np.float32)
        else:
            out = added.copy()
        weight, bias = writable(self.weight), writable(self.bias)
        add_convolution(writable(planes), weight, bias, step, np.float32(0) if rectified else _ANY, out)
        return out


def flow(planes: Any, layers: Sequence[Callable[..., Any]], joined: Callable[[Any, Any], Any]) -> Any:
    """The way of planes through the layers of a network.

    Parameters
    ----------
    planes : array or tensor
    layers : sequence of callables
        As :func:`widths` lists them.  Each takes planes, ``step`` (2: to half the resolution), ``added`` (planes to
        add to its own) and ``rectified`` (whether negative sums become 0).
    joined : callable
        Takes planes of one level and of the next, and stacks the former and the latter at double the resolution.

    Returns
    -------
    array or tensor
        One plane of log odds.
    """
    rest = iter(layers)
    fine = []
    for level, n_blocks in enumerate(BLOCKS):
        planes = next(rest)(planes, step=2 if level else 1)
        for _ in range(n_blocks):
            inner = next(rest)(planes)
            planes = next(rest)(inner, added=planes)
        fine.append(planes)
    for level_planes in fine[-2::-1]:
        planes = next(rest)(joined(level_planes, planes))
    return next(rest)(planes, rectified=False)


def widths(n_planes: int) -> list[tuple[int, int]]:
    """Planes that each layer takes and gives, in the order of :func:`flow`.

    Examples
    --------
    >>> widths(16)[:4], widths(16)[-2:], sum(9 * a * b + b for a, b in widths(16))
    ([(16, 16), (16, 16), (16, 16), (16, 32)], [(32, 16), (16, 1)], 256561)
    """
    found = []
    for before, width, n_blocks in zip((n_planes, *WIDTHS), WIDTHS, BLOCKS, strict=False):
        found += [(before, width), *[(width, width)] * (2 * n_blocks)]
    coarser = WIDTHS[-1]
    for width in WIDTHS[-2::-1]:
        found.append((width + coarser, JOINED))
        coarser = JOINED
    return [*found, (coarser, 1)]


def framed(planes: np.ndarray) -> np.ndarray:
    """Planes in a frame of one pixel of zeros."""
    return np.pad(planes, [(0, 0), (1, 1), (1, 1)])


def joined_planes(fine: np.ndarray, coarse: np.ndarray) -> np.ndarray:
    """Planes of one level, and after them those of the next with every pixel four times; framed."""
    height, width = (side - 2 for side in fine.shape[1:])
    both = np.zeros((len(fine) + len(coarse), *fine.shape[1:]), dtype=np.float32)
    both[: len(fine)] = fine
    for down in range(2):
        for across in range(2):
            inside = both[len(fine) :, 1 + down : 1 + height : 2, 1 + across : 1 + width : 2]
            inside[...] = coarse[:, 1 : 1 + inside.shape[1], 1 : 1 + inside.shape[2]]
    return both
