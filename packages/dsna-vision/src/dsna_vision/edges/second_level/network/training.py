"""How the network learns: with torch, from the candidates that rescorers learn from and the same shares of people.

Photos are seen one by one, mirrored and turned at random, each as often as the others.  At first layers are normalised
by the mean and spread of their planes over the photo, without which they learn slowly.  Then typical means and spreads
are folded into the weights, and these learn on: a network that is asked only has the photos' parts, in tiles, and one
that has always seen whole photos normalised is much worse without.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dsna.extend.optional import import_extra
from dsna.extend.parallel import in_parallel

from ..candidates import find_candidates
from ..cross_fitting import Lessons, shares_drawn
from ..description import mean_and_rms
from ..planes import View
from .layers import Convolution, flow, widths
from .network import Network, mirrored, network_planes, turned

if TYPE_CHECKING:
    from ....datasets.boundaries import BoundarySet

#: Times that each photo is seen, and the largest rate of learning: while layers are normalised, and after.
EPOCHS, _RATES = (10, 5), (4e-3, 1e-3)
_WARM_UP, _DECAY, _STEEPEST = 50, 1e-3, 5.0
_LARGEST_SIDE = 320  # half pixels of a photo that are learned from, down and across
_PURPOSE = 1000  # of random numbers, which rounds do not use
_RARE = -1.4  # log odds to begin with
_MOMENTUM, _LEAST_SPREAD = 0.1, 1e-5


class Lesson(NamedTuple):
    """What a photo teaches, at half its resolution."""

    planes: np.ndarray  # (n, h, w) float16
    share: np.ndarray  # (h, w) float32, of the people who drew the candidates in a pixel
    weight: np.ndarray  # (h, w) float32, candidates in it

    def changed(self, mirror: bool, turns: int) -> Lesson:
        """The same, mirrored and turned by 90 degrees some times."""
        planes, share, weight = self
        if mirror:
            planes, share, weight = mirrored(planes), share[:, ::-1], weight[:, ::-1]
        for _ in range(turns):
            planes, share, weight = turned(planes), np.rot90(share), np.rot90(weight)
        return Lesson(planes, share, weight)

    def scaled(self, offset: np.ndarray, scale: np.ndarray) -> Lesson:
        """The same with planes as layers take them."""
        return self._replace(planes=(self.planes - offset[:, None, None]) / scale[:, None, None])


def learn_network(
    photos: BoundarySet, views: list[View], lessons: Lessons, say: Callable[[str], None], n_jobs: int | None = None
) -> Network:
    """Learn to score candidates from the channels and honest maps of all photos.

    Parameters
    ----------
    photos, views, lessons, say, n_jobs
        As :func:`dsna_vision.edges.second_level.cross_fitting.learn_rounds` takes them.

    Returns
    -------
    Network
    """
    say(f"network: candidates of {len(views)} photos")
    draws = lessons.generators(_PURPOSE, len(views) + 1)
    tasks = [(photos, row, view, draws[row]) for row, view in enumerate(views)]
    taught = in_parallel(_lesson, tasks, n_jobs)
    return train_network(taught, draws[-1], say)


def _lesson(photos: BoundarySet, row: int, view: View, rng: np.random.Generator) -> Lesson:
    """What a photo teaches; of a large one, a part of it."""
    planes = network_planes(view, mean_and_rms(view.edges)[0]).astype(np.float16)
    candidates = find_candidates(view.edges)
    y, x = candidates.places.T // 2
    weight, share = np.zeros((2, *planes.shape[1:]), dtype=np.float32)
    np.add.at(weight, (y, x), 1)
    np.add.at(share, (y, x), shares_drawn(photos.boundaries(row), candidates))
    share /= np.maximum(weight, 1)
    corner = [int(rng.integers(max(side - _LARGEST_SIDE, 0) + 1)) for side in weight.shape]
    part = tuple(slice(first, first + _LARGEST_SIDE) for first in corner)
    return Lesson(planes[:, *part].copy(), share[part].copy(), weight[part].copy())


def train_network(lessons: list[Lesson], rng: np.random.Generator, say: Callable[[str], None]) -> Network:
    """A network of these lessons.

    Parameters
    ----------
    lessons : list of Lesson
    rng : Generator
        Of weights to begin with, and of the order of photos.
    say : callable
        Called with what is being done.

    Returns
    -------
    Network
    """
    torch = import_extra("torch", "network", package="dsna-vision")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # so that sums come out the same, however many there are
    try:
        return _trained(torch, lessons, rng, say)
    finally:
        torch.set_num_threads(threads)


def _trained(torch: Any, lessons: list[Lesson], rng: np.random.Generator, say: Callable[[str], None]) -> Network:
    moments = [(one.planes.mean((1, 2), np.float64), one.planes.std((1, 2), np.float64)) for one in lessons]
    offset, scale = (np.mean(each, axis=0).astype(np.float32) for each in zip(*moments, strict=True))
    scale += np.float32(1e-4)
    *inner, last = widths(len(offset))
    layers = [_Layer.drawn(torch, n_in, n_out, rng) for n_in, n_out in inner]
    layers.append(_Layer.last(torch, *last))

    def drawn(epochs: range) -> Iterator[Lesson]:
        for epoch in epochs:
            say(f"network: all photos for the {epoch + 1}. time of {sum(EPOCHS)}")
            for row in rng.permutation(len(lessons)):
                yield lessons[row].changed(bool(rng.integers(2)), int(rng.integers(4))).scaled(offset, scale)

    for epochs, rate in zip((range(EPOCHS[0]), range(EPOCHS[0], sum(EPOCHS))), _RATES, strict=True):
        _learn(torch, layers, drawn(epochs), len(epochs) * len(lessons), rate)
        layers = [layer.folded() for layer in layers]
    return Network(offset, scale, [layer.kept() for layer in layers])


def _learn(torch: Any, layers: list[_Layer], lessons: Iterator[Lesson], n_steps: int, rate: float) -> None:
    """Steps by one lesson each, at a rate that rises and then falls to almost 0."""
    functions = torch.nn.functional
    weights = [one for layer in layers for one in layer.learned]
    optimizer = torch.optim.AdamW(weights, weight_decay=_DECAY)
    for step, lesson in enumerate(lessons):
        for group in optimizer.param_groups:
            fall = 0.51 + 0.5 * np.cos(np.pi * step / n_steps)
            group["lr"] = rate * min(1, (step + 1) / _WARM_UP) * fall
        if not lesson.weight.any():
            continue
        planes, share, weight = (torch.from_numpy(np.ascontiguousarray(one)) for one in lesson)
        found = flow(planes[None], layers, partial(_joined, torch))[0, 0]
        loss = functions.binary_cross_entropy_with_logits(found, share, weight, reduction="sum") / weight.sum()
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(weights, _STEEPEST)
        optimizer.step()


@dataclass
class _Layer:
    """A convolution that learns, normalised if it has a gain."""

    torch: Any
    weight: Any
    bias: Any
    gain: Any = None
    mean: Any = None
    square: Any = None  # of the spread

    @classmethod
    def drawn(cls, torch: Any, n_in: int, n_out: int, rng: np.random.Generator) -> _Layer:
        limit = 1 / np.sqrt(9 * n_in)
        weight = torch.from_numpy(rng.uniform(-limit, limit, (n_out, n_in, 3, 3)).astype(np.float32))
        mean, square = torch.zeros(n_out), torch.ones(n_out)
        return cls(torch, weight, torch.zeros(n_out), torch.ones(n_out), mean, square)

    @classmethod
    def last(cls, torch: Any, n_in: int, n_out: int) -> _Layer:
        return cls(torch, torch.zeros(n_out, n_in, 3, 3), torch.full((n_out,), _RARE))

    def __post_init__(self) -> None:
        for one in self.learned:
            one.requires_grad_()

    @property
    def learned(self) -> list[Any]:
        return [one for one in (self.weight, self.bias, self.gain) if one is not None]

    def __call__(self, planes: Any, step: int = 1, added: Any = None, rectified: bool = True) -> Any:
        functions = self.torch.nn.functional
        if self.gain is None:
            found = functions.conv2d(planes, self.weight, self.bias, stride=step, padding=1)
        else:
            found = functions.conv2d(planes, self.weight, stride=step, padding=1)
            moments = (self.mean, self.square, self.gain, self.bias)
            found = functions.batch_norm(found, *moments, training=True, momentum=_MOMENTUM, eps=_LEAST_SPREAD)
        if added is not None:
            found = found + added
        return functions.relu(found) if rectified else found

    def folded(self) -> _Layer:
        """The same without normalisation: typical means and spreads are part of the weights."""
        if self.gain is None:
            return self
        gain = (self.gain / (self.square + _LEAST_SPREAD).sqrt()).detach()
        weight, bias = self.weight.detach() * gain[:, None, None, None], self.bias.detach() - gain * self.mean
        return _Layer(self.torch, weight, bias)

    def kept(self) -> Convolution:
        """Its arrays."""
        return Convolution(*(one.detach().numpy().copy() for one in (self.weight, self.bias)))


def _joined(torch: Any, fine: Any, coarse: Any) -> Any:
    """Planes of one level, and those of the next with every pixel four times."""
    height, width = fine.shape[2:]
    doubled = coarse.repeat_interleave(2, 2).repeat_interleave(2, 3)
    return torch.cat([fine, doubled[:, :, :height, :width]], 1)
