"""DSNAClassifier: class probabilities from sparse coefficients of neighbours, calibrated out of bag."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score, balanced_accuracy_score
from sklearn.utils._param_validation import HasMethods, StrOptions
from sklearn.utils.validation import check_is_fitted

from ._utils.errors import DSNAError
from ._utils.parameters import SHARE
from ._utils.ties import most_probable
from ._utils.validation import check_classes, check_groups, check_new_classes, check_rows, check_weights
from .approximation import Approximation
from .base import DSNAEstimator
from .forest import CostSensitiveForestClassifier
from .forest.targets import class_targets
from .inspection.explanation import class_sums
from .neighbors.index import Fold
from .neighbors.neighborhoods import Neighborhoods
from .prediction.calibration import Calibration, class_mass, prior_corrected
from .training import OutOfBag, Training
from .trend.classes import ClassRows, fit_class_trend, widened

_NONZERO = 1e-3


class DSNAClassifier(ClassifierMixin, DSNAEstimator):
    """Classifier for imbalanced classes that names the training rows behind each prediction.

    For each row to predict, the query, a cost-sensitive forest finds a neighbourhood: training rows in the same leaves,
    among which rare classes are well represented. The query is approximated by a sparse combination of these rows
    (discriminative sparse neighbour approximation, DSNA). Their coefficients, together with the vote of the forest,
    give class probabilities, which are calibrated on out-of-bag rows, that is, training rows predicted by trees that
    did not see them. :class:`Approximation` and :class:`CostSensitiveForestClassifier` state what is minimised.

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
        How much rare classes count, in predictions and probabilities: 1 predicts as if all classes were equally
        common, which serves balanced accuracy; 0 for the class shares of the training rows, which serves accuracy and
        makes ``predict_proba`` match observed frequencies.
    decision : {"auto", "paper"}, default="auto"
        Where probabilities come from: coefficients and vote, calibrated as described above, or the paper's vote, in
        which each neighbour whose coefficient is not zero counts once.
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
    oob_balanced_accuracy_, oob_score_ : float
        Balanced accuracy, and accuracy as in ``score``, on training rows by trees, metric, neighbours and calibration
        that never saw them.
    oob_rows_, oob_decision_function_ : arrays
        The rows of these scores (about 3,000 at most, rare ones first) and their probabilities.
    feature_importances_ : array of shape (n_features,)
        Share of each feature in the gains of all splits.
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
        "decision": [StrOptions({"auto", "paper"})],
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
        decision: str = "auto",
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

    classes_: np.ndarray
    balance: float

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
            Rows of one group (a person, a day) are held out together wherever rows are held out.

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
        label, values = code[:, None].astype(np.float64), np.eye(n_classes)[code]
        training = Training(X, label, values, targets, weight, check_groups(groups, X))
        self._learn_decision(self._find_neighbors(training, forest), training)
        return self

    @property
    def class_prior_(self) -> np.ndarray:
        """Share of each class in the training rows."""
        return np.asarray(self._class_weight / self._class_weight.sum())

    @property
    def _code(self) -> np.ndarray:
        return self._index.label[:, 0].astype(np.int64)

    def _n_classes(self) -> int:
        return len(self.classes_)

    def _forest_class(self) -> type:
        return CostSensitiveForestClassifier

    def _initial_balance(self) -> float:
        return float(self.balance)

    def _class_scale(self) -> np.ndarray:
        return np.asarray(np.maximum(self.class_prior_, 1e-300) ** -self.balance)

    def _mass(self, alpha: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """(n, n_classes) class shares of the coefficients; the paper counts those that are not zero."""
        if self.decision == "paper":
            size = np.abs(alpha)
            alpha = (size > _NONZERO * size.max(axis=1, keepdims=True)).astype(np.float64)
        return class_mass(alpha, rows, self._code, len(self.classes_))

    def _row_losses(self, alpha: np.ndarray, fold: Fold) -> np.ndarray:
        """Log loss of the coefficients and the vote in equal parts, weighted according to ``balance``."""
        mass = self._mass(alpha, fold.known[fold.near.rows])
        proba = Calibration(self.class_prior_).probabilities(np.stack([mass, fold.near.vote]), 0.0)
        code = self._code[fold.rows]
        rarity = self.class_prior_[code] ** -self.balance
        return np.asarray(-np.log(proba[np.arange(len(code)), code]) * rarity)

    def _learn_decision(self, asked: OutOfBag, training: Training) -> None:
        """Calibrate on out-of-bag rows, and score each of them by a calibration without its fold."""
        self._calibration = Calibration(self.class_prior_)
        self._trend: Any = None
        self.trend_ = None
        self.oob_rows_ = asked.rows
        self.oob_decision_function_ = np.empty((len(asked.rows), len(self.classes_)))
        self.oob_balanced_accuracy_ = self.oob_score_ = np.nan
        if not asked.folds:
            return
        code, weight = self._code[asked.rows], asked.weight
        mass = np.concatenate([self._mass(f.alpha, f.near.rows) for f in asked.folds])
        opinions = np.stack([mass, np.concatenate([f.near.vote for f in asked.folds])])
        if self.trend is not None and self.decision != "paper":
            rows = ClassRows(training.X, self._code, training.weight, self._index.fold)
            scaling = self._index.scaling
            self._trend, own = fit_class_trend(self.trend, rows, scaling, asked.rows, opinions[1])
            if self._trend is not None:
                self.trend_ = self._trend.kind
                opinions = np.concatenate([opinions, own[None]])
        fold = self._index.fold[asked.rows]
        proba = self.oob_decision_function_
        for held_out in np.unique(fold):
            side = fold == held_out
            fitted = self._calibrate(opinions[:, ~side], code[~side], weight[~side])
            proba[side] = self._probabilities(fitted, opinions[:, side])
        chosen = most_probable(proba)
        self.oob_score_ = float(accuracy_score(code, chosen, sample_weight=weight))
        self.oob_balanced_accuracy_ = float(balanced_accuracy_score(code, chosen, sample_weight=weight))
        self._calibration = self._calibrate(opinions, code, weight)
        self._say(f"out-of-bag balanced accuracy {self.oob_balanced_accuracy_:.3f} on {len(code)} rows")

    def _calibrate(self, opinions: np.ndarray, code: np.ndarray, weight: np.ndarray) -> Calibration:
        if self.decision == "paper" or len(code) == 0:
            return Calibration(self.class_prior_, np.full((2, len(opinions)), 1.0 / len(opinions)))
        blend = None if isinstance(self.blend, str) else float(self.blend)
        return Calibration.fit(opinions, code, weight, self.class_prior_, blend)

    def _opinions(self, X: np.ndarray, near: Neighborhoods, answers: dict[str, np.ndarray]) -> np.ndarray:
        """(n_opinions, n, n_classes) what coefficients, forest and trend say of queries."""
        opinions = [self._mass(answers["alpha"], near.rows), near.vote]
        if self._trend is not None:
            known = np.searchsorted(self.classes_, self.fitted_classes_)
            proba = self._trend.probabilities(self._index.scaling.transform(X))
            opinions.append(widened(proba, known, near.vote))
        return np.stack(opinions)

    def _probabilities(self, calibration: Calibration, opinions: np.ndarray) -> np.ndarray:
        if self.decision == "paper":
            proba = opinions[0] + (opinions[0].sum(axis=1, keepdims=True) == 0.0) * self.class_prior_
            return prior_corrected(proba, self.class_prior_, self.balance)
        return calibration.probabilities(opinions, self.balance)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Class probabilities, calibrated for a population between the class shares in training and equal classes.

        ``balance`` says where between the two: 0 for the training shares, 1 for equal classes.

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
        near, answers = self._answer(X)
        return self._probabilities(self._calibration, self._opinions(X, near, answers))

    def predict(self, X: Any) -> np.ndarray:
        """Most probable class.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Rows to classify, as in :meth:`predict_proba`.

        Returns
        -------
        array of shape (n,)
            Classes, as they were in ``y``.
        """
        best = most_probable(self.predict_proba(X))
        return np.asarray(self.classes_[best])

    def _evidence(self, X: np.ndarray, near: Neighborhoods, answers: dict[str, np.ndarray]) -> dict[str, Any]:
        """Probabilities shared among the rows of each class.

        A row's share is in proportion to its positive coefficient or, where a class has none, to its proximity.
        """
        code = self._code
        n_classes = len(self.classes_)
        opinions = self._opinions(X, near, answers)
        proba = self._probabilities(self._calibration, opinions)
        of_row = code[near.rows]
        one_hot = (of_row[:, :, None] == np.arange(n_classes)) & (near.proximity > 0)[:, :, None]
        positive = np.maximum(answers["alpha"], 0.0)
        has_mass = np.einsum("nm,nmc->nc", positive, one_hot) > 0
        backed = np.take_along_axis(has_mass, of_row, axis=1)
        base = np.where(backed, positive, near.proximity)
        totals = np.einsum("nm,nmc->nc", base, one_hot)
        part = np.where(totals > 0, proba / np.where(totals > 0, totals, 1.0), 0.0)
        weight = base * np.take_along_axis(part, of_row, axis=1)
        label = self.classes_[of_row]
        rest = proba - class_sums(weight, label, self.classes_)
        task = {"kind": "classification", "decision": "proba", "classes": self.classes_}
        says: dict[str, Any] = {}
        if self.decision != "paper":
            terms = self._calibration.terms(opinions, self.balance)
            names = ["coefficients", "forest", *([self.trend_] * (self._trend is not None)), "class shares"]
            says = {"voices": names, "logits": np.moveaxis(terms, 0, 1)}
        return {**task, **says, "weight": weight, "label": label, "rest": rest}

    def add_samples(self, X: Any, y: Any) -> DSNAClassifier:
        """Add rows to the leaves without refitting; their classes may be new.

        Trees, metric and calibration stay as they are. The new rows can be neighbours and count in the class shares
        from now on. Their numbers continue those of the training rows.

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
        # Classes that were added later have not been calibrated; their bias follows from their share.
        fitted = np.isin(self.classes_, self.fitted_classes_)
        calibration.bias[:, old[fitted]] = self._calibration.bias[:, fitted]
        index = self._index = copy(self._index)
        leaf_value = np.zeros((len(index.leaf_value), len(classes)))
        leaf_value[:, old] = index.leaf_value
        index.leaf_value = leaf_value
        index.values = np.eye(len(classes))[old[self._code[: len(index.values)]]]
        index.label = old[self._code].astype(np.float64)[:, None]
        self.classes_, self._class_weight = classes, counts
        self._calibration = calibration
        rarity = 1.0 / (len(classes) * np.maximum(self.class_prior_, 1e-300)[np.concatenate([self._code, new])])
        index.add(X, new[:, None].astype(np.float64), np.eye(len(classes))[new], rarity)
        return self
