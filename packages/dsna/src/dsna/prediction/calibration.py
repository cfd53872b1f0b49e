"""Class probabilities that combine those of coefficients, forest and trend, calibrated on out-of-bag rows."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax

from .._utils.invariants import Array, Checked, require

_SMOOTHING = 0.15
_TINY = 1e-300
_SLOPE_PENALTY = 2.0
_BIAS_PENALTY = 0.5
_STEEPEST = 4.0
_LARGEST_BIAS = 1e6


def class_mass(weights: np.ndarray, rows: np.ndarray, code: np.ndarray, n_classes: int) -> np.ndarray:
    """(n, n_classes) share of each class in the positive weights (n, M) of the rows; 0 where no weight is positive.

    Examples
    --------
    >>> import numpy as np
    >>> class_mass(np.array([[0.75, 0.25, -0.1]]), np.array([[0, 1, 2]]), np.array([1, 0, 0]), 2)
    array([[0.25, 0.75]])
    """
    n = len(weights)
    flat_index = code[rows].astype(np.int64) + np.arange(n)[:, None] * n_classes
    mass = np.bincount(flat_index.ravel(), weights=np.maximum(weights, 0.0).ravel(), minlength=n * n_classes)
    mass = mass.reshape(n, n_classes)
    return np.asarray(mass / np.maximum(mass.sum(axis=1, keepdims=True), _TINY))


class Calibration(Checked):
    """Probabilities from opinions: class shares of the coefficients, the forest's vote and, if there is one, a trend.

    ``log p_c = sum_k slope_k log opinion_kc + bias_c`` up to normalisation.  Slopes and biases are fitted on out-of-bag
    rows by penalised maximum likelihood. The penalty draws them toward equal slopes that add up to one, and no bias;
    its influence falls with the number of rows. Probabilities are those of the population that the rows come from.

    Attributes
    ----------
    prior : (n_classes,) class shares, with which all opinions are smoothed.
    slopes : (n_opinions,)
    bias : (n_classes,)
    """

    FIELDS = {
        "prior": Array("float64", "classes", 0.0, 1.0),
        "slopes": Array("float64", "opinions", 0.0, _STEEPEST),
        "bias": Array("float64", "classes", -_LARGEST_BIAS, _LARGEST_BIAS),
    }
    NOT_EMPTY = ("classes", "opinions")

    def __init__(self, prior: np.ndarray, slopes: np.ndarray | None = None, bias: np.ndarray | None = None):
        self.prior = prior
        self.slopes = np.full(2, 0.5) if slopes is None else slopes
        self.bias = np.zeros(len(prior)) if bias is None else bias
        self.check()

    def _check_relations(self, sizes: dict[str, int]) -> None:
        require(abs(self.prior.sum() - 1.0) < 1e-6, "Calibration.prior must add up to one")

    def terms(self, opinions: np.ndarray) -> np.ndarray:
        """(n_opinions + 1, n, n_classes) terms of log p: one for each of the opinions, then the biases.

        Parameters
        ----------
        opinions : (n_opinions, n, n_classes)
        """
        bias = np.broadcast_to(self.bias, opinions.shape[1:])
        return np.concatenate([self.slopes[:, None, None] * _logarithms(opinions, self.prior), bias[None]])

    def probabilities(self, opinions: np.ndarray) -> np.ndarray:
        """(n, n_classes) calibrated probabilities."""
        logits = self.terms(opinions).sum(axis=0)
        # A class without training weight has probability zero, whatever its bias.
        return np.asarray(np.exp(log_softmax(np.where(self.prior > 0, logits, -np.inf), axis=1)))

    @classmethod
    def fit(
        cls, opinions: np.ndarray, code: np.ndarray, weight: np.ndarray, prior: np.ndarray, blend: float | None = None
    ) -> Calibration:
        """Fit to rows of known class; ``blend`` fixes the share of the forest in the sum of the first two slopes."""
        logarithms = _logarithms(opinions, prior)
        mix, default_slopes = np.eye(len(opinions)), np.full(len(opinions), 1.0 / len(opinions))
        if blend is not None:
            mix = np.column_stack([(1.0 - blend) * mix[0] + blend * mix[1], *mix[2:]])
            default_slopes = np.append(default_slopes[0] + default_slopes[1], default_slopes[2:])
        # Weights add up to the effective number of rows.
        weights = weight / weight.max()
        weights = weights * weights.sum() / np.sum(weights**2)
        return cls(prior, *_fit_opinions(logarithms, np.eye(len(prior))[code], weights, mix, default_slopes))


def _logarithms(opinions: np.ndarray, prior: np.ndarray) -> np.ndarray:
    """Logarithms of opinions (n_opinions, n, n_classes), smoothed."""
    return np.asarray(np.log((opinions + _SMOOTHING * prior + 1e-12) / (1.0 + _SMOOTHING)))


def _fit_opinions(
    logarithms: np.ndarray, truth: np.ndarray, weight: np.ndarray, mix: np.ndarray, default_slopes: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Slopes ``mix @ free`` and bias of largest penalised likelihood, ``free`` being drawn toward default slopes."""
    n_free = mix.shape[1]
    n_classes = truth.shape[1]
    defaults = np.concatenate([default_slopes, np.zeros(n_classes)])
    penalty = np.concatenate([np.full(n_free, _SLOPE_PENALTY), np.full(n_classes, _BIAS_PENALTY)])

    def loss(parameters: np.ndarray) -> tuple[float, np.ndarray]:
        logits = np.tensordot(mix @ parameters[:n_free], logarithms, axes=1) + parameters[n_free:]
        log_proba = log_softmax(logits, axis=1)
        deviation = parameters - defaults
        value = np.sum(penalty * deviation**2) - np.sum(weight * np.sum(truth * log_proba, axis=1))
        residual = weight[:, None] * (np.exp(log_proba) - truth)
        gradient = np.concatenate([mix.T @ np.einsum("knc,nc->k", logarithms, residual), residual.sum(axis=0)])
        return float(value), gradient + 2.0 * penalty * deviation

    bounds = [(0.0, _STEEPEST)] * n_free + [(None, None)] * n_classes
    solution = minimize(loss, defaults, jac=True, method="L-BFGS-B", bounds=bounds).x
    return mix @ solution[:n_free], solution[n_free:]
