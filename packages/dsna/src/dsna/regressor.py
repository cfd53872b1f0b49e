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
from .prediction.rule import rule_with
from .training import Training
from .trend.trend import KINDS
from .uncertainty.base import DSNAUncertainty


class DSNARegressor(RegressorMixin, DSNAUncertainty):
    """Regressor for imbalanced targets that names the training rows behind each prediction; one or several outputs.

    For each row to predict, the query, a cost-sensitive forest finds a neighbourhood: training rows in the same leaves,
    among which rare targets are well represented. The query is approximated by a sparse combination of these rows
    (discriminative sparse neighbour approximation, DSNA), and the coefficients, some of which may be negative, weigh
    their targets. What is chosen "out of bag" is chosen by the errors on training rows predicted by trees that did not
    see them. :class:`Approximation` and :class:`CostSensitiveForestRegressor` state what is minimised.

    Parameters
    ----------
    forest : estimator or None, default=None
        Where neighbours come from: a :class:`CostSensitiveForestRegressor` (None stands for one with its defaults), a
        ``RandomForestRegressor``, an ``ExtraTreesRegressor`` or ``NearestNeighbors`` of scikit-learn. It is cloned;
        ``n_jobs``, ``random_state``, ``verbose``, ``scaling`` and ``target_density`` of this estimator are used in
        place of its own.
    approximation : Approximation or None, default=None
        How a query is approximated by its neighbours; None stands for the defaults.
    metric : {"forest", "euclidean"}, default="forest"
        Space in which distances between rows are measured: one learned from the splits of the forest, in which features
        that separate count more, or the scaled inputs.
    max_neighbors : int or None, default=100
        Largest number of rows in a neighbourhood; None keeps all that the leaves hold.
    blend : float in [0, 1] or "auto", default="auto"
        Share of the forest's own vote in the prediction; "auto" chooses it out of bag.
    scaling : {"columns", "global", "none"}, default="columns"
        Inputs divided by the spread of each column (tables), by one for all (PCA or HOG features), or not at all.
    balance : float in [0, 1] or "auto", default="auto"
        How much rare targets count: 0 minimises the error over the rows as they are, 1 treats all regions of the target
        as equally important. "auto" gives rare targets the most weight at which the out-of-bag errors stay within 10 %
        (mean absolute) and 3 % (root mean squared) of those at 0.
    relevance : {"auto", "high", "low"}, callable or sequence of pairs, default="auto"
        Which targets matter; those that do not count as common ones do, however rare they are. "auto": all. "high",
        "low": those above, or below, the median of the training targets, fully from the whisker of a box plot on. A
        callable maps the targets (n,) of an output to numbers in [0, 1]; pairs (target, relevance) are control points.
        Of several outputs, the most relevant decides. ``sera_error`` takes the same values.
    decision : {"auto", "mean", "trimmed", "median", "grid", "open", "paper"}, default="auto"
        Weighted mean, which extrapolates past the targets seen even without a trend; mean of the middle half of the
        weights; weighted median; mean snapped to the nearest target seen; mean that is moved outward at the ends; the
        plain sum of the paper. "auto" takes the mean, trimmed mean or snapped mean of smallest out-of-bag error: the
        median costs more squared error than it saves absolute error. Choose "open" where targets past those seen are
        expected: predictions fall short of the outermost targets, and it makes up for what they fall short on average,
        at the cost of more error inside.
    criterion : {"absolute_error", "squared_error"}, default="absolute_error"
        What out-of-bag choices of decision, blend, trend and balance minimise. "squared_error" mostly leads to means in
        place of trimmed means: larger errors weigh more, as in R2, which ``score`` gives.
    trend : {"auto", "linear", "kernel", "joint", "ordinal"}, regressor or None, default="auto"
        Smooth model along which neighbours' targets are carried over to the query: to a target, a share of the
        difference between the model at the query and at the neighbour is added. It counteracts the pull toward common
        targets; "linear", a ridge regression on the inputs, also continues past the targets seen. "kernel" is one on
        radial functions, "joint" one on both, "ordinal" one of the thresholds that targets exceed. How far targets are
        carried is chosen out of bag. "auto" also chooses the kind, and uses none unless the error falls by a standard
        error. A regressor of scikit-learn is fitted 16 times, on inputs on a common scale; ``dsna.save`` refuses it.
    target_density : {"auto", "exact", "bins", "kernel", "per-output"} or callable, default="auto"
        How common a target is: counts of equal targets, of 20 bins, a kernel density, or a function of the targets;
        "auto" counts where targets repeat and smooths where they do not. Several outputs are taken together, as one
        point; "per-output" takes each on its own, and a target is as rare as the rarest of its outputs.
    tune : {"oob"} or None, default=None
        "oob" chooses the main settings of the approximation and, of our forest, ``C`` and ``max_features`` by the error
        on out-of-bag rows, which takes longer. The chosen values are in ``forest_`` and ``approximation_``.
    n_jobs : int or None, default=None
        Parallel jobs; results do not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed of all that is random; an int gives the same model at every fit.
    verbose : int, default=0
        1 shows progress.

    Attributes
    ----------
    n_outputs_ : int
    forest_, approximation_ : estimator and Approximation
        The settings used: given or, with ``tune="oob"``, chosen. They hold parameters only.
    blend_, decision_, balance_ : float, str, float
        The values used: given or, where they are "auto", chosen out of bag.
    trend_, trend_offset_, trend_pull_ : str or None, float, float
        Kind of the trend; share of its differences that is added to neighbours' targets; share of the trend itself in
        the carried targets, which fades out as ``balance_`` grows and, where that costs little out of bag, toward the
        lowest and highest values of the trend. Both are 0 where targets are taken as they are.
    oob_score_ : float
        R2 on training rows by trees, metric, neighbours and densities that never saw them.
    oob_rows_, oob_prediction_ : arrays
        The rows of that score (about 3,000 at most, rare ones first) and their predictions.
    feature_importances_ : array of shape (n_features,)
        Share of each feature in the gains of all splits.
    kept_rows_ : array
        Of a model saved with ``condense=True``: numbers, among the rows given to ``fit``, of the rows that it has left.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

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
        """Grow the forest, take its metric, and learn the decision from out-of-bag rows.

        Parameters
        ----------
        X : array of shape (n, n_features)
        y : array of shape (n,) or (n, n_outputs)
        sample_weight : array of shape (n,), optional
            A row of weight two counts as two rows, in distribution: trees draw rows and features at random, so the
            model is not the very one that the row given twice makes.
        groups : array of shape (n,), optional
            Rows of one group (a person, a day) are held out together wherever rows are held out. Where rows are copies
            of others, which is warned of, `dsna.model_selection.equal_rows` gives the groups that hold them together.

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
        training = Training(X, target, targets.of_codes(target), targets, weight, check_groups(groups, X))
        training.warn_of_scores()
        self._learn_decision(self._find_neighbors(training, forest), training)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def predict(self, X: Any) -> np.ndarray:
        """Predicted targets: the decision rule applied to the weighted targets of the neighbours.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Rows whose targets are wanted, with the columns of the training rows.

        Returns
        -------
        array of shape (n,) or (n, n_outputs)
            As ``y`` was.
        """
        check_is_fitted(self)
        X = check_rows(self, X, reset=False)
        Q, neighborhoods = self._neighbors(X)
        return self._shaped(self._decided(X, neighborhoods, self._coefficients(Q, neighborhoods)))

    def with_settings(self, **settings: Any) -> DSNARegressor:
        """A view of the fitted model under other settings of what comes after the neighbours.

        It shares rows, trees and trend with this model. What is not given stays as it is: the view keeps the trend, and
        a blend and a decision that ``fit`` has chosen, where a fit with these settings might choose others. For the
        balances 0 and "auto" ``fit`` has looked for both, and the view takes what was best there.

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
        rule = rule_with(
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

        Trees, metric, intervals and the calibration of quantiles stay as they are. The new rows can be neighbours and
        count in the target density from now on. Their numbers continue those of the training rows.

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
