"""DSNARegressor: predictions from sparse coefficients of neighbours, with intervals."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin, clone
from sklearn.utils._param_validation import HasMethods, StrOptions
from sklearn.utils.validation import check_is_fitted

from ._utils.errors import DSNAError, setting, worded
from ._utils.parameters import SHARE, refusing_others
from ._utils.validation import check_groups, check_rows, check_targets, check_weights
from .approximation import Approximation
from .forest.density import DENSITIES
from .forest.targets import regression_targets
from .prediction.decision import DECISIONS
from .prediction.rule import rule_for_settings
from .training import Training
from .trend.trend import KINDS
from .uncertainty.base import DSNAUncertainty


class DSNARegressor(RegressorMixin, DSNAUncertainty):
    """Regressor for imbalanced targets that shows the training rows behind each prediction; one or several outputs.

    For each row to predict, the query, a cost-sensitive forest finds a neighbourhood: training rows in the same leaves,
    among which rare targets are well represented. The query is approximated by a sparse combination of these rows
    (discriminative sparse neighbour approximation, DSNA), whose coefficients, some of which may be negative, are the
    weights of their targets. Choices made "out of bag" minimise errors on training rows, predicted by trees that were
    grown without them. The objectives are documented in :class:`Approximation` and
    :class:`CostSensitiveForestRegressor`.

    Parameters
    ----------
    forest : estimator or None, default=None
        Source of the neighbours: a :class:`CostSensitiveForestRegressor` (None stands for one with default parameters),
        or a ``RandomForestRegressor``, ``ExtraTreesRegressor`` or ``NearestNeighbors`` of scikit-learn. It is cloned;
        ``n_jobs``, ``random_state``, ``verbose``, ``scaling`` and ``target_density`` are taken from this estimator.
    approximation : Approximation or None, default=None
        Parameters of the approximation of queries by neighbours; None stands for the defaults.
    metric : {"forest", "euclidean"}, default="forest"
        Space in which distances are measured: "forest" learns it from the splits of the forest, with larger weights of
        discriminative features; "euclidean" uses the scaled inputs.
    max_neighbors : int or None, default=100
        Maximum number of rows in a neighbourhood; None keeps all rows of the leaves.
    blend : float in [0, 1] or "auto", default="auto"
        Share of the forest's vote in the prediction; "auto" chooses it out of bag.
    scaling : {"columns", "global", "none"}, default="columns"
        Divide inputs by the spread of each column (tables), by a common spread (PCA or HOG features), or not at all.
    balance : float in [0, 1] or "auto", default="auto"
        Weight of rare targets: 0 minimises the error over all rows, 1 treats all regions of the target as equally
        important. "auto" takes the largest balance whose out-of-bag errors stay within 10 % (mean absolute) and 3 %
        (root mean squared) of those at 0.
    relevance : {"auto", "high", "low"}, callable or sequence of pairs, default="auto"
        Targets that matter; others are treated as common, however rare they are. "auto": all. "high", "low": those
        above or below the median of the training targets, fully relevant beyond the whisker of a box plot. A callable
        maps the targets (n,) of an output to numbers in [0, 1]; pairs (target, relevance) are control points. With
        several outputs, the most relevant one counts. ``sera_error`` takes the same values.
    decision : {"auto", "mean", "trimmed", "median", "grid", "open", "paper"}, default="auto"
        "mean": weighted mean, which can extrapolate even without a trend; "trimmed": mean of the middle half of the
        weights; "median": weighted median; "grid": mean, rounded to the nearest training target; "open": mean, moved
        outward at the ends; "paper": plain weighted sum. "auto" takes "mean", "trimmed" or "grid" by the out-of-bag
        error ("median" usually loses more squared error than it gains absolute error). Use "open" if targets outside
        the training range are expected: it corrects the average bias of predictions near the ends, at the cost of
        larger errors elsewhere.
    criterion : {"absolute_error", "squared_error"}, default="absolute_error"
        Error that decision, blend, trend and balance minimise out of bag. "squared_error" usually selects means instead
        of trimmed means: large errors have more weight, as in R2, which ``score`` returns.
    trend : {"auto", "linear", "kernel", "joint", "ordinal"}, regressor or None, default="auto"
        Smooth model that shifts the targets of neighbours to the query: a share of the difference between the model at
        the query and at the neighbour is added. It reduces the bias toward common targets. "linear", a ridge regression
        on the inputs, also extrapolates; "kernel" uses radial functions, "joint" both, "ordinal" models the thresholds
        that targets exceed. The share is chosen out of bag. "auto" also chooses the kind, or no trend unless the error
        decreases by a standard error. A regressor of scikit-learn is fitted 16 times, on scaled inputs; ``dsna.save``
        cannot store it.
    target_density : {"auto", "exact", "bins", "kernel", "per-output"} or callable, default="auto"
        Density that defines rare targets: counts of equal targets or of 20 bins, a kernel density, or a function of the
        targets; "auto" uses counts if targets repeat and a kernel density otherwise. Several outputs are treated as one
        point; "per-output" treats them separately, and a target is as rare as its rarest output.
    tune : {"oob"} or None, default=None
        "oob" tunes the main parameters of the approximation and, for a cost-sensitive forest, ``C`` and
        ``max_features`` by the out-of-bag error, which takes longer; see ``forest_`` and ``approximation_``.
    n_jobs : int or None, default=None
        Number of parallel jobs; results do not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed of all random draws; an int makes fits reproducible.
    verbose : int, default=0
        1 shows progress.

    Attributes
    ----------
    n_outputs_ : int
    forest_, approximation_ : estimator and Approximation
        The settings used, given or tuned. They are not fitted themselves.
    blend_, decision_, balance_ : float, str, float
        The values used, given or, for "auto", chosen out of bag.
    trend_, trend_offset_, trend_pull_ : str or None, float, float
        Kind of the trend; share of its differences that is added to the targets of neighbours; share of the trend
        itself in the shifted targets, which decreases with ``balance_`` and, if that costs little out of bag, toward
        the lowest and highest values of the trend. Both shares are 0 if targets are not shifted.
    oob_score_ : float
        Out-of-bag R2, by trees, metric, neighbours and densities learned without each row.
    oob_rows_, oob_prediction_ : arrays
        Rows of that score (about 3,000 at most, preferably rare ones) and their predictions.
    feature_importances_ : array of shape (n_features,)
        Share of each feature in the total gain of all splits.
    kept_rows_ : array
        For a model saved with ``condense=True``: numbers of the remaining rows, among the rows given to ``fit``.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from dsna import CostSensitiveForestRegressor, DSNARegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = DSNARegressor(CostSensitiveForestRegressor(20), random_state=0).fit(X[:400], y[:400])
    >>> model.predict(X[400:]).shape
    (42,)
    >>> model.predict_interval(X[400:]).shape
    (42, 2)
    >>> model.predict_quantiles(X[400:], [0.1, 0.5, 0.9]).shape
    (42, 3)
    """

    _parameter_constraints: dict[str, Any] = {
        **DSNAUncertainty._parameter_constraints,
        "balance": [SHARE, StrOptions({"auto"})],
        "relevance": [StrOptions({"auto", "high", "low"}), callable, "array-like"],
        "decision": [StrOptions({"auto", "paper", *DECISIONS})],
        "criterion": [StrOptions({"absolute_error", "squared_error"})],
        "trend": [StrOptions({"auto", *KINDS}), HasMethods(["fit", "predict"]), None],
        "target_density": [StrOptions(set(DENSITIES)), callable],
    }

    def __init__(
        self,
        forest: Any = None,
        approximation: Approximation | None = None,
        *,
        metric: str = "forest",
        max_neighbors: int | None = 100,
        blend: float | str = "auto",
        scaling: str = "columns",
        balance: float | str = "auto",
        relevance: Any = "auto",
        decision: str = "auto",
        criterion: str = "absolute_error",
        trend: Any = "auto",
        target_density: Any = "auto",
        tune: str | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.forest = forest
        self.approximation = approximation
        self.metric = metric
        self.max_neighbors = max_neighbors
        self.blend = blend
        self.scaling = scaling
        self.balance = balance
        self.relevance = relevance
        self.decision = decision
        self.criterion = criterion
        self.trend = trend
        self.target_density = target_density
        self.tune = tune
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @refusing_others
    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> DSNARegressor:
        """Grow the forest, learn its metric, and learn the decision from out-of-bag rows.

        Parameters
        ----------
        X : array of shape (n, n_features)
        y : array of shape (n,) or (n, n_outputs)
        sample_weight : array of shape (n,), optional
            A row of weight two has the same effect as two rows on average; the models differ, because trees draw rows
            and features at random.
        groups : array of shape (n,), optional
            Rows of one group (a person, a day) are always held out together. If rows are copies of others, which
            causes a warning, use the groups from `dsna.model_selection.equal_rows`.

        Returns
        -------
        self
        """
        forest = self.check_parameters()
        X = check_rows(self, X, reset=True)
        y = check_targets(y, X)
        weight = check_weights(sample_weight, X)
        self.n_outputs_ = 1 if y.ndim == 1 else y.shape[1]
        target = y.reshape(len(y), -1)
        positive = weight > 0
        self._density = self._first_density(target[positive], weight[positive])
        relevant = self._relevant(self._density, target[positive], weight[positive])
        self._rarity = relevant.rarity(target)
        targets = regression_targets(target, weight, relevant)
        training = Training(X, target, targets.values_by_code(target), targets, weight, check_groups(groups, X))
        training.warn_of_scores()
        self._learn_decision(self._find_neighbors(training, forest), training)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def predict(self, X: Any) -> np.ndarray:
        """Predict targets by the decision rule from the weighted targets of the neighbours.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Rows to predict, with the columns of the training rows.

        Returns
        -------
        array of shape (n,) or (n, n_outputs)
            Of the same shape as ``y``.
        """
        check_is_fitted(self)
        X = check_rows(self, X, reset=False)
        Q, neighborhoods = self._neighbors(X)
        return self._shaped(self._decided(X, neighborhoods, self._coefficients(Q, neighborhoods)))

    def with_settings(self, **settings: Any) -> DSNARegressor:
        """Return a view of the fitted model with other settings of approximation and decision, without refitting.

        It shares rows, trees and trend with this model. Settings that are not given do not change: the view keeps the
        trend, and the blend and decision that ``fit`` has chosen, although a fit with these settings might choose
        others. For the balances 0 and "auto", ``fit`` has optimised both, and the view uses the result.

        Parameters
        ----------
        **settings : dict
            ``approximation``, ``blend``, ``decision`` and ``balance``, as in the constructor but not "auto".

        Returns
        -------
        DSNARegressor

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from dsna import CostSensitiveForestRegressor, DSNARegressor
        >>> X, y = load_diabetes(return_X_y=True)
        >>> model = DSNARegressor(CostSensitiveForestRegressor(10), random_state=0).fit(X, y)
        >>> rare = model.with_settings(balance=1.0)
        >>> rare.balance_, rare.blend_ == model.blend_, rare.decision_ == model.decision_
        (1.0, True, True)
        """
        check_is_fitted(self)
        unknown = set(settings) - {"approximation", "blend", "decision", "balance"}
        if unknown:
            raise DSNAError(f"{', '.join(sorted(unknown))} cannot be changed without another fit.")
        if settings.get("decision", self.decision) == "open":
            raise DSNAError(
                f"{setting('decision', 'open')} is learned in training, for all other settings. Remedy: "
                + worded("train with it.", "set them and call fit.")
            )
        self._check_unchanged()
        view: DSNARegressor = copy(self).set_params(**settings)
        view._validate_params()
        if "approximation" in settings:
            view.approximation_ = clone(settings["approximation"])
        balance = self.balance_ if isinstance(view.balance, str) else float(view.balance)
        rule = rule_for_settings(
            self._rule,
            self._rules,
            blend=view.blend,
            decision=view.decision,
            balance=balance,
            sum_to_one=view.approximation_.sum_to_one,
        )
        view._take(rule)
        view.restored()
        return view

    def add_samples(self, X: Any, y: Any) -> DSNARegressor:
        """Add rows to the leaves without refitting.

        Trees, metric, intervals and the calibration of quantiles do not change. The new rows become possible neighbours
        and count in the target density. Their numbers continue those of the training rows.

        Parameters
        ----------
        X : array of shape (n, n_features)
        y : array of shape (n,) or (n, n_outputs)

        Returns
        -------
        self
        """
        check_is_fitted(self)
        X = check_rows(self, X, reset=False)
        target = check_targets(y, X).reshape(len(X), -1)
        if target.shape[1] != self.n_outputs_:
            raise DSNAError(f"y has {target.shape[1]} outputs; the model was fitted on {self.n_outputs_}.")
        index = self._index = copy(self._index)
        targets = np.concatenate([index.label, target])
        weight = np.concatenate([index.weight, np.ones(len(X))])
        self._density = self._density_of(targets[weight > 0], weight[weight > 0])
        self._rarity = self._relevant(self._density, targets[weight > 0], weight[weight > 0]).rarity(targets)
        index.add(X, target, target, np.ones(len(self._rarity)))
        if self._trend is not None:
            new_trend = self._trend.predict(index.scaling.transform(X))
            self._row_trend = np.concatenate([self._row_trend, new_trend])
        self._take(self._rule)
        return self
