"""Prediction intervals and quantiles of a DSNA regression, and whether its predictions are extrapolated."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._utils.errors import DSNAError
from .._utils.validation import check_levels, check_rows, check_share
from ..neighbors.neighborhoods import Neighborhoods
from ..prediction.rule import Rule, RuleInputs
from ..regression import DSNARegression
from ..training import OutOfBag, Training
from ..trend.trend import fit_trend
from .continuation import Continuation
from .intervals import Regions, target_spread
from .quantiles import Ranks, common_spread, positive_weights, rank_among


class DSNAUncertainty(DSNARegression):
    """Base class of ``DSNARegressor``: a regression with intervals and quantiles."""

    def _learn_uncertainty(
        self, oob: OutOfBag, folds: list[RuleInputs], training: Training, prediction: np.ndarray
    ) -> None:
        self._regions: list[Regions] = []
        self._ranks: list[Ranks] = []
        self._continuation: Continuation | None = None
        if not folds:
            return
        target, outputs = self._index.label, range(self.n_outputs_)
        truth = target[oob.rows]
        spread = np.concatenate([target_spread(fold.near.kernel, target[fold.near.rows]) for fold in oob.folds])
        on_grid = self._density.repeats and self._rule.decision != "open"
        grids = [np.unique(target[:, a]) if on_grid else None for a in outputs]
        self._regions = [Regions(truth[:, a], prediction[:, a], spread[:, a], oob.weight, grids[a]) for a in outputs]
        common = [common_spread(spread[:, a], oob.weight) for a in outputs]
        fold_ranks, start = [], 0
        for fold in folds:
            rows = slice(start, start + len(fold.alpha))
            weights, carried = self._quantile_weights(fold), self._quantile_rule.carried(fold.targets, fold.trend)
            scale = spread[rows] + common
            output_ranks = [rank_among(truth[rows, a], weights, carried[:, :, a], scale[:, a]) for a in outputs]
            fold_ranks.append(np.stack(output_ranks, axis=1))
            start = rows.stop
        ranks = np.concatenate(fold_ranks)
        self._ranks = [Ranks(ranks[:, a], oob.weight, common[a], grids[a]) for a in outputs]
        if self._trend is not None and not on_grid:
            line = fit_trend("linear", self._trend_rows(training), np.random.RandomState(0))
            self._continuation = Continuation(line, target, training.weight)

    @property
    def _quantile_rule(self) -> Rule:
        """Rule at balance 0, whose weights quantiles use."""
        return replace(self._rules[0], balance=0.0)

    def _quantile_weights(self, inputs: RuleInputs) -> np.ndarray:
        """(n, M) weights of the neighbours in quantiles."""
        weights = self._quantile_rule.weights(inputs.alpha, inputs.kernel, inputs.rarity)
        return positive_weights(weights, inputs.kernel)

    def is_extrapolated(self, X: Any) -> np.ndarray:
        """Whether each query lies beyond the training rows along the trend, so that its prediction is extrapolated.

        Parameters
        ----------
        X : array of shape (n, n_features)

        Returns
        -------
        array of shape (n,), bool
            All False where no trend is used.
        """
        check_is_fitted(self)
        X = check_rows(self, X, reset=False)
        return np.asarray(np.any(self._extrapolation(X) > np.zeros((len(X), self.n_outputs_)), axis=1))

    def predict_interval(self, X: Any, coverage: float = 0.9, *, return_prediction: bool = False) -> Any:
        """Prediction intervals that hold the target with the requested probability, for rare targets too.

        The probability holds in each region of the true target. A region has at least 50 rows, or 30 if it is the
        outermost tenth of a long tail. Intervals therefore reach farther toward rare targets than quantiles do; for
        coverage over all rows, use `predict_quantiles`.

        Where a trend is used, intervals widen for queries beyond the training rows, whose targets may lie beyond the
        training targets. How far is unknown: the width is extrapolated from the outermost training targets. Where
        targets repeat, as ages do, intervals end at training targets unless ``decision="open"``.

        Parameters
        ----------
        X : array of shape (n, n_features)
        coverage : float in (0, 1), default=0.9
        return_prediction : bool, default=False
            Whether to return the predictions of `predict` as well, without a second search for neighbours.

        Returns
        -------
        interval : array of shape (n, 2), or (n, n_outputs, 2) for several outputs
            Lower and upper bounds.
        prediction : array of shape (n,) or (n, n_outputs)
            Only if `return_prediction`.
        """
        check_share(coverage, "coverage")
        X, Q, neighbors = self._neighbors_of_queries(X, "Intervals")
        prediction = self._decided(X, neighbors, self._coefficients(Q, neighbors))
        widens = self._continuation is not None and self._continuation.used.any(axis=0)
        spread = self._spread(neighbors) + np.where(widens, 0.0, self._extrapolation(X))
        intervals = [
            regions.intervals(prediction[:, a], coverage, spread[:, a]) for a, regions in enumerate(self._regions)
        ]
        bounds = np.stack(intervals, axis=1)
        if self._continuation is not None:
            bounds = self._continuation.widen(self._index.scaling.transform(X), prediction, bounds)
        bounds = bounds[:, 0] if self.n_outputs_ == 1 else bounds
        return (bounds, self._shaped(prediction)) if return_prediction else bounds

    def predict_quantiles(self, X: Any, quantiles: Any = (0.05, 0.5, 0.95)) -> np.ndarray:
        """Quantiles of the target of each query: a share q of new targets lies below the q-quantile.

        They are quantiles of the neighbours' weighted targets, at levels calibrated on out-of-bag rows. Shares are of
        all rows: quantiles do not depend on ``balance`` or ``decision``, and the median may differ from the prediction
        of `predict`. Rare targets often lie outside these quantiles; for them, use `predict_interval`.

        Parameters
        ----------
        X : array of shape (n, n_features)
        quantiles : array-like of shape (n_quantiles,), default=(0.05, 0.5, 0.95)
            Levels, each strictly between 0 and 1, in any order.

        Returns
        -------
        array of shape (n, n_quantiles), or (n, n_outputs, n_quantiles) for several outputs
            They rise with the level. Where targets repeat, as ages do, they are training targets.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from dsna import CostSensitiveForestRegressor, DSNARegressor
        >>> X, y = load_diabetes(return_X_y=True)
        >>> model = DSNARegressor(CostSensitiveForestRegressor(20), random_state=0).fit(X[:300], y[:300])
        >>> low, high = model.predict_quantiles(X[300:], [0.1, 0.9]).T
        >>> bool(0.7 < ((low <= y[300:]) & (y[300:] <= high)).mean() < 0.9)
        True
        """
        levels = check_levels(quantiles, "quantiles")
        X, Q, neighbors = self._neighbors_of_queries(X, "Quantiles")
        label = self._index.label[neighbors.rows]
        inputs = RuleInputs(self._solve(Q, neighbors)["alpha"], neighbors.kernel, self._rarity[neighbors.rows], label)
        weights = self._quantile_weights(inputs)
        carried, spread = self._carried(X, neighbors, self._quantile_rule), self._spread(neighbors)
        values = [
            ranks.quantiles(weights, carried[:, :, a], spread[:, a], levels) for a, ranks in enumerate(self._ranks)
        ]
        return values[0] if self.n_outputs_ == 1 else np.stack(values, axis=1)

    def _neighbors_of_queries(self, X: Any, output: str) -> tuple[np.ndarray, np.ndarray, Neighborhoods]:
        """Checked queries, the same in the space of distances, and their neighbours; an error without regions."""
        check_is_fitted(self)
        if not self._regions:
            raise DSNAError(f"{output} need out-of-bag rows, and this model has none: fit on 10 rows or more.")
        X = check_rows(self, X, reset=False)
        return X, *self._neighbors(X)

    def _spread(self, neighbors: Neighborhoods) -> np.ndarray:
        """(n, n_outputs) standard deviation of the targets around each query."""
        return target_spread(neighbors.kernel, self._index.label[neighbors.rows])
