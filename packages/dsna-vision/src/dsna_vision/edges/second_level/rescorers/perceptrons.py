"""Perceptrons as rescorer: the mean of a few small ones with two hidden layers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from dsna.extend.containers import POSITIVE, Array, Checked
from dsna.extend.parallel import chunks, writable

_MEMBERS, _UNITS = 4, (64, 32)
_RATE, _RIDGE, _BATCH = 5e-4, 1.0, 1024
_STEPS, _MIN_PASSES, _MAX_PASSES = 1200, 3, 50
_MAX_DEVIATION = np.float32(5.0)  # standard deviations at which columns are clipped
_MAX_WEIGHT = 1e4  # limit for weights
_CHUNK_ROWS = 65_536  # number of rows scaled at once


@dataclass
class Perceptrons(Checked):
    """Ensemble of perceptrons that predict log odds.

    Parameters
    ----------
    offset, scale : arrays of shape (n_columns,), float32
        Columns are centred, divided by their scale and clipped at 5.
    first : array of shape (n_members, n_columns, n_first), float32
        Weights of the first hidden layer of each member.
    second : array of shape (n_members, n_first, n_second), float32
    last : array of shape (n_members, n_second, 1), float32
    first_bias, second_bias, last_bias : arrays of shapes (n_members, n_first), (n_members, n_second), (n_members, 1)

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.random.default_rng(0).normal(size=(3000, 3)).astype(np.float32)
    >>> mind = fit_perceptrons(rows, (rows[:, 0] > 0).astype(float), 0, seed=0)
    >>> mind(np.array([[-2, 0, 0], [2, 0, 0]], dtype=np.float32)) > 0.5
    array([False,  True])
    """

    offset: np.ndarray
    scale: np.ndarray
    first: np.ndarray
    first_bias: np.ndarray
    second: np.ndarray
    second_bias: np.ndarray
    last: np.ndarray
    last_bias: np.ndarray

    FIELDS = {
        "offset": Array("float32", "columns", -_MAX_WEIGHT, _MAX_WEIGHT),
        "scale": Array("float32", "columns", POSITIVE),
        "first": Array("float32", "members, columns, units", -_MAX_WEIGHT, _MAX_WEIGHT),
        "first_bias": Array("float32", "members, units", -_MAX_WEIGHT, _MAX_WEIGHT),
        "second": Array("float32", "members, units, cells", -_MAX_WEIGHT, _MAX_WEIGHT),
        "second_bias": Array("float32", "members, cells", -_MAX_WEIGHT, _MAX_WEIGHT),
        "last": Array("float32", "members, cells, 1", -_MAX_WEIGHT, _MAX_WEIGHT),
        "last_bias": Array("float32", "members, 1", -_MAX_WEIGHT, _MAX_WEIGHT),
    }
    NOT_EMPTY = ("columns", "members", "units", "cells")

    def __post_init__(self) -> None:
        self.check()

    @property
    def n_columns(self) -> int:
        """Number of columns of a candidate's description."""
        return len(self.offset)

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        """Share of people, for rows (n, n_columns), float32."""
        # First layers are concatenated, so that rows are read once.
        scaled, side_by_side = _scaled(rows, self.offset, self.scale), np.concatenate([*self.first], axis=1)
        first_layers = np.split(_layer(scaled, side_by_side, self.first_bias.ravel()), len(self.first), axis=1)
        total = np.zeros(len(rows))
        for k in range(len(self.first)):
            second_layer = _layer(np.ascontiguousarray(first_layers[k]), self.second[k], self.second_bias[k])
            total += expit(_layer(second_layer, self.last[k], self.last_bias[k], -np.inf)[:, 0].astype(np.float64))
        return total / len(self.first)


def _layer(rows: np.ndarray, weight: np.ndarray, bias: np.ndarray, floor: float = 0.0) -> np.ndarray:
    from ...._kernels.second_level.rescoring import fill_layer

    out = np.empty((len(rows), len(bias)), dtype=np.float32)
    fill_layer(rows, writable(weight), writable(bias), np.float32(floor), out)
    return out


def _scaled(rows: np.ndarray, offset: np.ndarray, scale: np.ndarray) -> np.ndarray:
    scaled = np.empty(rows.shape, dtype=np.float32)
    for chunk in chunks(len(rows), _CHUNK_ROWS):
        np.clip((rows[chunk] - offset) / scale, -_MAX_DEVIATION, _MAX_DEVIATION, out=scaled[chunk])
    return scaled


def fit_perceptrons(rows: np.ndarray, share: np.ndarray, n_trees: int, seed: int) -> Perceptrons:
    """Fit perceptrons with scikit-learn; in each pass, a row is labelled as an edge with probability ``share``.

    With 400,000 rows there are three passes; more passes overfit the training photos.

    Parameters
    ----------
    rows : array of shape (n, n_columns), float32
    share : array of shape (n,)
        From 0 to 1.
    n_trees : int
        Ignored.
    seed : int

    Returns
    -------
    Perceptrons
    """
    from sklearn.neural_network import MLPClassifier

    spread = rows.std(axis=0, dtype=np.float64)
    offset = rows.mean(axis=0, dtype=np.float64)
    scale = np.where(spread > 1e-6 * (1 + np.abs(offset)), spread, 1.0)
    offset, scale = offset.astype(np.float32), scale.astype(np.float32)
    scaled = _scaled(rows, offset, scale)
    batch = min(_BATCH, len(rows))
    n_passes = int(np.clip(round(_STEPS * batch / len(rows)), _MIN_PASSES, _MAX_PASSES))
    members = []
    for member in np.random.SeedSequence(seed).generate_state(_MEMBERS):
        rng, state = np.random.default_rng(member), int(member % 2**31)
        model = MLPClassifier(_UNITS, alpha=_RIDGE, batch_size=batch, learning_rate_init=_RATE, random_state=state)
        for _ in range(n_passes):
            model.partial_fit(scaled, (rng.random(len(rows)) < share).astype(np.int64), classes=[0, 1])
        members.append(model)
    weights = [np.stack([member.coefs_[k] for member in members]).astype(np.float32) for k in range(3)]
    biases = [np.stack([member.intercepts_[k] for member in members]).astype(np.float32) for k in range(3)]
    return Perceptrons(offset, scale, weights[0], biases[0], weights[1], biases[1], weights[2], biases[2])
