"""DSNAClassifier: class probabilities from sparse coefficients of neighbours, calibrated out of bag."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils._param_validation import HasMethods, StrOptions
from sklearn.utils.validation import check_is_fitted

from ._utils.errors import DSNAError, setting, warn_caller
from ._utils.parameters import SHARE, is_number, refusing_others
from ._utils.validation import check_classes, check_groups, check_new_classes, check_rows, check_weights
from .approximation import Approximation
from .base import DSNAEstimator
from .classification import DSNAClassification
from .forest.targets import class_targets
from .prediction.calibration import Calibration
from .prediction.class_decision import cost_gain, is_cost
from .prediction.measures import check_measure, find_measure
from .prediction.sets import class_thresholds
from .training import Training


class DSNAClassifier(ClassifierMixin, DSNAClassification):
    """Classifier for imbalanced classes that shows the training rows behind each prediction.

    For each row to predict, the query, a cost-sensitive forest finds a neighbourhood: training rows in the same leaves,
    among which rare classes are well represented. The query is approximated by a sparse combination of these rows
    (discriminative sparse neighbour approximation, DSNA). Their coefficients, the vote of the forest and a smooth model
    of the whole table give class probabilities, which are calibrated on out-of-bag rows, that is, training rows
    predicted by trees that were grown without them.

    `predict_proba` gives probabilities in the population that the training rows come from. `predict` uses them as
    `decision` specifies and need not return the most probable class. The objectives are documented in
    :class:`Approximation` and :class:`CostSensitiveForestClassifier`.

    Parameters
    ----------
    forest : estimator or None, default=None
        Source of the neighbours: a :class:`CostSensitiveForestClassifier` (None stands for one with default
        parameters), or a ``RandomForestClassifier``, ``ExtraTreesClassifier`` or ``NearestNeighbors`` of scikit-learn.
        It is cloned; ``n_jobs``, ``random_state``, ``verbose`` and ``scaling`` are taken from this estimator.
    approximation : Approximation or None, default=None
        Parameters of the approximation of queries by neighbours; None stands for the defaults.
    metric : {"forest", "euclidean"}, default="forest"
        Space in which distances are measured: "forest" learns it from the splits of the forest, with larger weights of
        discriminative features; "euclidean" uses the scaled inputs.
    max_neighbors : int or None, default=100
        Maximum number of rows in a neighbourhood; None keeps all rows of the leaves.
    blend : float in [0, 1] or "auto", default="auto"
        Share of the forest's vote in the prediction; "auto" learns it from out-of-bag rows.
    scaling : {"columns", "global", "none"}, default="columns"
        Divide inputs by the spread of each column (tables), by a common spread (PCA or HOG features), or not at all.
    balance : float in [0, 1], default=1.0
        Weight of rare classes in predictions (not in probabilities): 1 predicts as if all classes were equally common,
        which is best for balanced accuracy; 0 uses the class shares of the training rows, which is best for accuracy.
    decision : str, scorer, cost matrix or cost function, default="balanced"
        Objective of `predict`. "balanced" takes the class with the largest probability / share^balance. "f1",
        "f1_macro", "mcc", "gmean", "recall>=.9" or "precision>=.5" (of the rarest class), a scorer of scikit-learn or
        its name: factors of the classes that are best for it on out-of-bag rows. A cost matrix (a row for each true
        class, a column for each predicted class) or a function ``cost(true, predicted)``: lowest expected cost.
        "paper": each neighbour with a nonzero coefficient has one vote. All but "balanced" and "paper" ignore
        `balance`. See `with_decision`.
    trend : {"logistic"}, classifier or None, default="logistic"
        Smooth model of the whole table, whose probabilities are combined with those of coefficients and vote: a
        logistic regression on the inputs and on radial functions of them; a classifier of scikit-learn with
        ``predict_proba``, which is fitted six times; or none. Its weight is learned from out-of-bag rows.
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
    classes_, fitted_classes_ : arrays of shape (n_classes,)
        All classes, and those known when the model was fitted (see `add_samples`).
    class_prior_ : array of shape (n_classes,)
        Share of each class in the training rows.
    forest_, approximation_ : estimator and Approximation
        The settings used, given or tuned. They are not fitted themselves.
    trend_ : str or None
        Kind of the trend; None if it is disabled or there are too few rows.
    oob_balanced_accuracy_ : float
        Out-of-bag balanced accuracy, by trees, metric, neighbours, calibration and decision learned without each row.
    oob_score_ : float
        Accuracy, as in ``score``, of the same predictions.
    oob_decision_score_ : float
        Score of the objective of `decision` on the same rows: balanced accuracy for "balanced" and "paper"; for costs,
        the negative mean cost relative to the largest cost.
    oob_decision_score_std_ : float
        Standard error of ``oob_decision_score_``.
    decision_threshold_ : tuple of a class and a probability, or None
        With two classes, the rarer one and the probability from which `predict` returns it; None with more classes and
        for "paper".
    oob_rows_, oob_decision_function_, oob_prediction_ : arrays
        Rows of these scores (about 3,000 at most, preferably rare ones), their probabilities and predictions.
    feature_importances_ : array of shape (n_features,)
        Share of each feature in the total gain of all splits.
    kept_rows_ : array
        For a model saved with ``condense=True``: numbers of the remaining rows, among the rows given to ``fit``.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from dsna import CostSensitiveForestClassifier, DSNAClassifier
    >>> X, y = make_classification(300, weights=[0.9], class_sep=2.0, random_state=0)
    >>> model = DSNAClassifier(CostSensitiveForestClassifier(20), random_state=0).fit(X[:200], y[:200])
    >>> model.predict(X[200:203]).tolist() == y[200:203].tolist()
    True
    >>> why = model.explain(X[200:201])
    >>> bool(why.predict()[0] == y[200])
    True
    """

    _parameter_constraints: dict[str, Any] = {
        **DSNAEstimator._parameter_constraints,
        "balance": [SHARE],
        "decision": [str, callable, "array-like"],
        "trend": [StrOptions({"logistic"}), HasMethods(["fit", "predict_proba"]), None],
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
        balance: float = 1.0,
        decision: Any = "balanced",
        trend: Any = "logistic",
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
        self.decision = decision
        self.trend = trend
        self.tune = tune
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @refusing_others
    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> DSNAClassifier:
        """Grow the forest, learn its metric, and learn the decision from out-of-bag rows.

        Parameters
        ----------
        X : array of shape (n, n_features)
        y : array of shape (n,)
            Classes of any type.
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
        self.classes_, code = check_classes(self, y, X)
        self.fitted_classes_ = self.classes_
        weight = check_weights(sample_weight, X)
        n_classes = len(self.classes_)
        self._class_weight: np.ndarray = np.bincount(code, weights=weight, minlength=n_classes)
        targets = class_targets(code, n_classes, weight)
        training = Training(X, code[:, None], np.eye(n_classes), targets, weight, check_groups(groups, X))
        self._check_decision()
        training.warn_of_scores(self.classes_)
        self._learn_probabilities(self._find_neighbors(training, forest), training)
        self._learn_decision()
        self._say(f"out-of-bag balanced accuracy {self.oob_balanced_accuracy_:.3f} on {len(self.oob_rows_)} rows")
        return self

    def check_parameters(self) -> Any:
        """Validate all parameters and return an unfitted copy of the forest."""
        forest = super().check_parameters()
        find_measure(self.decision)
        return forest

    def _check_decision(self) -> None:
        """Validate that costs and scorers match the classes, before fitting."""
        if is_cost(self.decision):
            cost_gain(self.decision, self.fitted_classes_)
        check_measure(self.decision, self.fitted_classes_)
        if (is_cost(self.decision) or find_measure(self.decision) is not None) and self.balance != 1.0:
            name = setting("decision", self.decision) if isinstance(self.decision, str) else "the decision given"
            warn_caller(f"{setting('balance', self.balance)} is ignored: {name} is not balanced.")

    def with_decision(self, decision: Any = None, *, balance: float | None = None) -> DSNAClassifier:
        """Return a view of the fitted model with another decision, without refitting.

        It shares rows, trees and probabilities with this model, and predicts like a model fitted with this decision.

        Parameters
        ----------
        decision, balance
            As in the constructor; None keeps those of this model.

        Returns
        -------
        DSNAClassifier

        Examples
        --------
        >>> from sklearn.datasets import make_classification
        >>> from dsna import CostSensitiveForestClassifier, DSNAClassifier
        >>> X, y = make_classification(400, weights=[0.9], flip_y=0.1, random_state=0)
        >>> model = DSNAClassifier(CostSensitiveForestClassifier(20), random_state=0).fit(X, y)
        >>> bool(model.with_decision("recall>=.95").predict(X).sum() >= model.with_decision("mcc").predict(X).sum())
        True
        """
        check_is_fitted(self)
        self._check_unchanged()
        view: DSNAClassifier = copy(self)
        view.decision = self.decision if decision is None else decision
        view.balance = self.balance if balance is None else balance
        view.check_parameters()
        view._check_decision()
        view._learn_decision()
        view.restored()
        return view

    def predict_proba(self, X: Any) -> np.ndarray:
        """Predict class probabilities in the population that the training rows come from.

        They do not depend on `decision` and `balance`.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Rows to classify, with the columns of the training rows.

        Returns
        -------
        array of shape (n, n_classes)
            In the order of ``classes_``.
        """
        check_is_fitted(self)
        X = check_rows(self, X, reset=False)
        return self._probabilities(X)

    def predict(self, X: Any) -> np.ndarray:
        """Predict the best class for `decision`, which need not be the most probable one.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Rows to classify, as in :meth:`predict_proba`.

        Returns
        -------
        array of shape (n,)
            Classes of the same type as ``y``.
        """
        check_is_fitted(self)
        X = check_rows(self, X, reset=False)
        return np.asarray(self.classes_[self._decided(X)])

    def predict_set(self, X: Any, coverage: float = 0.9) -> np.ndarray:
        """Predict sets of plausible classes, with a guaranteed coverage of each class.

        For each class, rare ones included, the expected share of its rows whose set contains the class is at least
        ``coverage``: class-conditional conformal prediction with out-of-bag probabilities. Sets are large if the data
        do not separate the classes, or if a class has too few rows for a guarantee (fewer than coverage / (1 -
        coverage)), as classes from `add_samples` do. A set is empty if the row is unlike the rows of all classes.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Rows to classify.
        coverage : float, above 0 and below 1, default=0.9

        Returns
        -------
        array of shape (n, n_classes), bool
            In the order of ``classes_``.

        Examples
        --------
        >>> from sklearn.datasets import make_classification
        >>> from dsna import CostSensitiveForestClassifier, DSNAClassifier
        >>> X, y = make_classification(400, weights=[0.9], random_state=0)
        >>> model = DSNAClassifier(CostSensitiveForestClassifier(20), random_state=0).fit(X[:300], y[:300])
        >>> model.predict_set(X[300:]).shape
        (100, 2)
        """
        return self.in_set(self.predict_proba(X), coverage)

    def in_set(self, proba: np.ndarray, coverage: float = 0.9) -> np.ndarray:
        """Compute prediction sets from probabilities; see `predict_set`.

        Parameters
        ----------
        proba : array of shape (n, n_classes)
            Result of `predict_proba`.
        coverage : float, above 0 and below 1, default=0.9

        Returns
        -------
        array of shape (n, n_classes), bool

        Examples
        --------
        >>> from sklearn.datasets import make_classification
        >>> from dsna import CostSensitiveForestClassifier, DSNAClassifier
        >>> X, y = make_classification(300, weights=[0.9], random_state=0)
        >>> model = DSNAClassifier(CostSensitiveForestClassifier(10), random_state=0).fit(X, y)
        >>> bool((model.in_set(model.predict_proba(X)) == model.predict_set(X)).all())
        True
        """
        if not is_number(coverage) or not 0.0 < coverage < 1.0:
            raise DSNAError(f"coverage={coverage!r} must be a number above 0 and below 1.")
        check_is_fitted(self)
        fitted_codes = np.searchsorted(self.classes_, self.fitted_classes_)
        code = np.searchsorted(fitted_codes, self._code_of(self.oob_rows_))
        thresholds = np.zeros(len(self.classes_))
        thresholds[fitted_codes] = class_thresholds(
            self.oob_decision_function_, code, self._oob_weight, float(coverage)
        )
        return np.asarray(proba >= thresholds)

    def add_samples(self, X: Any, y: Any) -> DSNAClassifier:
        """Add rows to the leaves without refitting; their classes may be new.

        Trees, metric, calibration and learned decisions do not change. The new rows become possible neighbours and
        count in the class shares. Their numbers continue those of the training rows. A new class gets the average
        factor for its share, or average costs of errors.

        Parameters
        ----------
        X : array of shape (n, n_features)
        y : array of shape (n,)

        Returns
        -------
        self
        """
        check_is_fitted(self)
        X = check_rows(self, X, reset=False)
        names, code = check_new_classes(y, X)
        if (names.dtype.kind in "US") != (self.classes_.dtype.kind in "US") and object not in (
            names.dtype,
            self.classes_.dtype,
        ):
            raise DSNAError(f"New classes of type {names.dtype} do not match classes of type {self.classes_.dtype}.")
        classes = np.unique(np.concatenate([self.classes_, names]))
        old, new = np.searchsorted(classes, self.classes_), np.searchsorted(classes, names)[code]
        counts: np.ndarray = np.bincount(new, minlength=len(classes)).astype(np.float64)
        counts[old] += self._class_weight
        calibration = Calibration(counts / counts.sum(), self._calibration.slopes)
        # Classes that were added later have not been calibrated and have no bias.
        fitted = np.isin(self.classes_, self.fitted_classes_)
        calibration.bias[old[fitted]] = self._calibration.bias[fitted]
        index = self._index = copy(self._index)
        leaf_value = np.zeros((len(index.leaf_value), len(classes)))
        leaf_value[:, old] = index.leaf_value
        index.leaf_value = leaf_value
        index.values = np.eye(len(classes))[old[self._code[: len(index.values)]]]
        index.label = old[self._code].astype(np.float64)[:, None]
        self.classes_, self._class_weight = classes, counts
        self._calibration = calibration
        self._gain = self._gain_of_all(self._gain, old)
        rarity = 1.0 / (len(classes) * np.maximum(self.class_prior_, 1e-300)[np.concatenate([self._code, new])])
        index.add(X, new[:, None].astype(np.float64), np.eye(len(classes))[new], rarity)
        return self
