"""What a DSNA regression says beside its predictions: intervals, quantiles, and which queries lie past the rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._utils.errors import DSNAError
from .._utils.validation import check_levels, check_rows, check_share
from ..neighbors.neighborhoods import Neighborhoods
from ..prediction.rule import Answered, Rule
from ..regression import DSNARegression
from ..training import OutOfBag, Training
from ..trend.trend import fit_trend
from .continuation import Continuation
from .intervals import Regions, target_spread
from .quantiles import Ranks, common_spread, positive_weights, rank_among


class DSNAUncertainty(DSNARegression):
    """Base class of ``DSNARegressor``: a regression with intervals and quantiles."""

    def _learn_uncertainty(
        self, asked: OutOfBag, folds: list[Answered], training: Training, prediction: np.ndarray
    ) -> None:
        self._regions: list[Regions] = []
        self._ranks: list[Ranks] = []
        self._continuation: Continuation | None = None
        if not folds:
            return
        target, outputs = self._index.label, range(self.n_outputs_)
        truth = target[asked.rows]
        spread = np.concatenate([target_spread(f.near.kernel, target[f.near.rows]) for f in asked.folds])
        ends_seen = self._density.repeats and self._rule.decision != "open"
        grids = [np.unique(target[:, a]) if ends_seen else None for a in outputs]
        self._regions = [Regions(truth[:, a], prediction[:, a], spread[:, a], asked.weight, grids[a]) for a in outputs]
        common = [common_spread(spread[:, a], asked.weight) for a in outputs]
        ranks, start = [], 0
        for fold in folds:
            some = slice(start, start + len(fold.alpha))
            weights, carried = self._population(fold), self._population_rule.carried(fold.targets, fold.along)
            scale = spread[some] + common
            found = [rank_among(truth[some, a], weights, carried[:, :, a], scale[:, a]) for a in outputs]
            ranks.append(np.stack(found, axis=1))
            start = some.stop
        rank = np.concatenate(ranks)
        self._ranks = [Ranks(rank[:, a], asked.weight, common[a], grids[a]) for a in outputs]
        if self._trend is not None and not ends_seen:
            rows = self._trend_rows(training)
            line = fit_trend("linear", rows, np.random.RandomState(0))
            self._continuation = Continuation(line, target, training.weight)

    @property
    def _population_rule(self) -> Rule:
        """The rule whose weights are those of quantiles: all rows count as they are, whatever the balance."""
        return replace(self._rules[0], balance=0.0)

    def _population(self, fold: Answered) -> np.ndarray:
        """(n, M) weights of the neighbours in quantiles."""
        return positive_weights(self._population_rule.weights(fold.alpha, fold.kernel, fold.rarity), fold.kernel)

    def is_extrapolated(self, X: Any) -> np.ndarray:
        """Which queries lie past the training rows along the trend: their predictions rest on its continuation.

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
        return np.asarray(np.any(self._past(X) > np.zeros((len(X), self.n_outputs_)), axis=1))

    def predict_interval(self, X: Any, coverage: float = 0.9, *, return_prediction: bool = False) -> Any:
        """Intervals that hold the target with the requested probability, for rare targets too.

        The probability is that of each region of the true target: 50 rows or more make a region, or 30 if they are the
        outermost tenth of a long tail. So intervals reach farther toward rare targets than quantiles do;
        `predict_quantiles` is for the rows as they are.

        Where a trend is used, they open outward for queries past the rows, where targets past those seen may lie.
        How far these lie is unknown; the interval holds what the outermost targets suggest. Targets that repeat, such
        as ages, end there unless ``decision="open"``.

        Parameters
        ----------
        X : array of shape (n, n_features)
        coverage : float in (0, 1), default=0.9
        return_prediction : bool, default=False
            Whether to return what `predict` gives, too, for which neighbours then need not be searched again.

        Returns
        -------
        interval : array of shape (n, 2), or (n, n_outputs, 2) for several outputs
            Lower and upper bounds.
        prediction : array of shape (n,) or (n, n_outputs)
            Only if `return_prediction`.
        """
        check_share(coverage, "coverage")
        X, Q, near = self._asked(X, "Intervals")
        prediction = self._decided(X, near, self._coefficients(Q, near))
        opens = self._continuation is not None and self._continuation.used.any(axis=0)
        spread = self._spread(near) + np.where(opens, 0.0, self._past(X))
        bounds = np.stack(
            [r.intervals(prediction[:, a], coverage, spread[:, a]) for a, r in enumerate(self._regions)], axis=1
        )
        if self._continuation is not None:
            bounds = self._continuation.opened(self._index.scaling.transform(X), prediction, bounds)
        bounds = bounds[:, 0] if self.n_outputs_ == 1 else bounds
        return (bounds, self._shaped(prediction)) if return_prediction else bounds

    def predict_quantiles(self, X: Any, quantiles: Any = (0.05, 0.5, 0.95)) -> np.ndarray:
        """Quantiles of the target of each query: a share q of fresh targets lies below the q-quantile.

        They come from the weighted targets of the neighbours, at levels that hold out of bag. The share is that of
        rows as they are: quantiles do not depend on ``balance`` or ``decision``, and the median need not be what
        `predict` gives. `predict_interval` serves rare targets, for which these quantiles are often exceeded.

        Parameters
        ----------
        X : array of shape (n, n_features)
        quantiles : array-like of shape (n_quantiles,), default=(0.05, 0.5, 0.95)
            Levels, each strictly between 0 and 1, in any order.

        Returns
        -------
        array of shape (n, n_quantiles), or (n, n_outputs, n_quantiles) for several outputs
            They rise with the level. Where targets repeat, such as ages, they are targets seen.

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
        X, Q, near = self._asked(X, "Quantiles")
        label = self._index.label[near.rows]
        weights = self._population(Answered(self._solve(Q, near)["alpha"], near.kernel, self._rarity[near.rows], label))
        carried, spread = self._carried(X, near, self._population_rule), self._spread(near)
        found = [
            ranks.quantiles(weights, carried[:, :, a], spread[:, a], levels) for a, ranks in enumerate(self._ranks)
        ]
        return found[0] if self.n_outputs_ == 1 else np.stack(found, axis=1)

    def _asked(self, X: Any, what: str) -> tuple[np.ndarray, np.ndarray, Neighborhoods]:
        """Checked queries, also in the space of distances, and their neighbours; an error where nothing was learned."""
        check_is_fitted(self)
        if not self._regions:
            raise DSNAError(f"{what} need out-of-bag rows, and this model has none: fit on 10 rows or more.")
        X = check_rows(self, X, reset=False)
        return X, *self._neighbors(X)

    def _spread(self, near: Neighborhoods) -> np.ndarray:
        """(n, n_outputs) how much the targets around each query differ."""
        return target_spread(near.kernel, self._index.label[near.rows])
