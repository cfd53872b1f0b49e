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
    """Classifier for imbalanced classes that names the training rows behind each prediction.

    For each row to predict, the query, a cost-sensitive forest finds a neighbourhood: training rows in the same leaves,
    among which rare classes are well represented. The query is approximated by a sparse combination of these rows
    (discriminative sparse neighbour approximation, DSNA). Their coefficients, together with the vote of the forest and
    a smooth model of the whole table, give class probabilities, which are calibrated on out-of-bag rows, that is,
    training rows predicted by trees that did not see them.

    `predict_proba` gives probabilities in the population that the training rows come from. `predict` decides by them as
    `decision` says, so it need not take the most probable class. :class:`Approximation` and
    :class:`CostSensitiveForestClassifier` state what is minimised.

    Parameters
    ----------
    forest : estimator or None, default=None
        Where neighbours come from: a :class:`CostSensitiveForestClassifier` (None stands for one with its defaults), a
        ``RandomForestClassifier``, an ``ExtraTreesClassifier`` or ``NearestNeighbors`` of scikit-learn. It is cloned;
        ``n_jobs``, ``random_state``, ``verbose`` and ``scaling`` of this estimator are used in place of its own.
    approximation : Approximation or None, default=None
        How a query is approximated by its neighbours; None stands for the defaults.
    metric : {"forest", "euclidean"}, default="forest"
        Space in which distances between rows are measured: one learned from the splits of the forest, in which features
        that separate count more, or the scaled inputs.
    max_neighbors : int or None, default=100
        Largest number of rows in a neighbourhood; None keeps all that the leaves hold.
    blend : float in [0, 1] or "auto", default="auto"
        Share of the forest's own vote in the prediction; "auto" learns it from out-of-bag rows.
    scaling : {"columns", "global", "none"}, default="columns"
        Inputs divided by the spread of each column (tables), by one for all (PCA or HOG features), or not at all.
    balance : float in [0, 1], default=1.0
        How much rare classes count in predictions (not in probabilities): 1 predicts as if all classes were equally
        common, which serves balanced accuracy; 0 for the class shares of the training rows, which serves accuracy.
    decision : str, scorer, cost matrix or cost function, default="balanced"
        What `predict` serves. "balanced" takes the class of largest probability / share^balance. "f1", "f1_macro",
        "mcc", "gmean", "recall>=.9" or "precision>=.5" (of the rarest class), a scorer of scikit-learn or its name:
        factors of the classes that are best for it on out-of-bag rows. A matrix of costs (a row for each true class, a
        column for each predicted one) or a function ``cost(true, predicted)``: the least expected cost. "paper": each
        neighbour whose coefficient is not zero has one vote. All but "balanced" and "paper" ignore `balance`. See
        `with_decision`.
    trend : {"logistic"}, classifier or None, default="logistic"
        A smooth model of the whole table, whose probabilities are a third opinion beside those of coefficients and
        vote: a logistic regression on the inputs and on radial functions of them; a classifier of scikit-learn with
        ``predict_proba``, which is fitted six times; or none. How much it counts is learned from out-of-bag rows.
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
    classes_, fitted_classes_ : arrays of shape (n_classes,)
        All classes, and those known when the model was fitted (see `add_samples`).
    class_prior_ : array of shape (n_classes,)
        Share of each class in the training rows.
    forest_, approximation_ : estimator and Approximation
        The settings used: given or, with ``tune="oob"``, chosen. They hold parameters only.
    trend_ : str or None
        Kind of the trend; None where it is off or where rows are too few for one.
    oob_balanced_accuracy_ : float
        Balanced accuracy on training rows by trees, metric, neighbours, calibration and decision that never saw them.
    oob_score_ : float
        Accuracy, as in ``score``, of the same predictions.
    oob_decision_score_ : float
        The measure that `decision` serves, on the same rows: balanced accuracy for "balanced" and "paper"; for costs,
        the negative mean in units of the largest cost.
    oob_decision_score_std_ : float
        Standard error of ``oob_decision_score_``.
    decision_threshold_ : tuple of a class and a probability, or None
        Of two classes, the rarer one and the probability from which on `predict` says it; None where there are more,
        and for "paper".
    oob_rows_, oob_decision_function_, oob_prediction_ : arrays
        The rows of these scores (about 3,000 at most, rare ones first), their probabilities and predictions.
    feature_importances_ : array of shape (n_features,)
        Share of each feature in the gains of all splits.
    kept_rows_ : array
        Of a model saved with ``condense=True``: numbers, among the rows given to ``fit``, of the rows that it has left.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

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
        """Grow the forest, take its metric, and learn the decision from out-of-bag rows.

        Parameters
        ----------
        X : array of shape (n, n_features)
        y : array of shape (n,)
            Classes of any type.
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
        """Check all parameters; returns a copy of the forest that is to be grown."""
        forest = super().check_parameters()
        find_measure(self.decision)
        return forest

    def _check_decision(self) -> None:
        """Refuse costs and scorers that do not fit the classes, before any work."""
        if is_cost(self.decision):
            cost_gain(self.decision, self.fitted_classes_)
        check_measure(self.decision, self.fitted_classes_)
        if (is_cost(self.decision) or find_measure(self.decision) is not None) and self.balance != 1.0:
            name = setting("decision", self.decision) if isinstance(self.decision, str) else "the decision given"
            warn_caller(f"{setting('balance', self.balance)} is ignored: {name} is not balanced.")

    def with_decision(self, decision: Any = None, *, balance: float | None = None) -> DSNAClassifier:
        """A view of the fitted model that decides otherwise; nothing is fitted again.

        It shares rows, trees and probabilities with this model, and predicts as a model would that was fitted with this
        decision.

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
        """Class probabilities in the population that the training rows come from, whatever `decision` and `balance`.

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
        """The class that serves `decision` best, given the probabilities; not always the most probable one.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Rows to classify, as in :meth:`predict_proba`.

        Returns
        -------
        array of shape (n,)
            Classes, as they were in ``y``.
        """
        check_is_fitted(self)
        X = check_rows(self, X, reset=False)
        return np.asarray(self.classes_[self._decided(X)])

    def predict_set(self, X: Any, coverage: float = 0.9) -> np.ndarray:
        """All classes that a row may well have, so that each class is covered.

        Of the rows of any class, rare ones included, the sets hold that class for a share of ``coverage`` or more, in
        the mean over training tables: class-conditional conformal prediction on out-of-bag probabilities. A set is full
        or large where the data cannot tell the classes apart, or where a class has too few rows to promise anything
        (fewer than coverage / (1 - coverage)), as have classes that `add_samples` brought. It is empty where the row is
        unlike those of every class.

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
        """Prediction sets of rows whose probabilities are known; see `predict_set`.

        Parameters
        ----------
        proba : array of shape (n, n_classes)
            What `predict_proba` returns.
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

        Trees, metric, calibration and what was chosen for the decision stay as they are. The new rows can be neighbours
        and count in the class shares from now on. Their numbers continue those of the training rows. A new class is
        favoured according to its share, as the others are on average, or costs what mistakes cost on average.

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
            raise DSNAError(f"New classes of type {names.dtype} do not go with classes of type {self.classes_.dtype}.")
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
