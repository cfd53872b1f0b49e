"""DSNA for classes: coefficients per class, calibrated, and corrected for the class shares."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.metrics import balanced_accuracy_score
from sklearn.utils.validation import check_is_fitted

from ._utils.parameters import documented
from ._utils.validation import check_classes, check_groups, check_new_classes, check_rows, check_weights
from .base import _DSNA, explained
from .forest.targets import class_targets
from .inspection.explanation import Explanation, class_sums
from .neighbors.index import Fold
from .prediction.calibration import Calibration, class_mass, prior_corrected
from .prediction.decision import most_probable

_NONZERO = 1e-3


@documented
class DSNAClassifier(ClassifierMixin, _DSNA):
    """Discriminative sparse neighbour approximation (DSNA) for classes.

    A cost-sensitive forest finds a safe neighbourhood of training rows for each query; the query is approximated by
    a few of them, and their coefficients carry the classes over.  Probabilities are calibrated on out-of-bag rows.

    Parameters
    ----------
    forest : "csrf", RandomForestClassifier, ExtraTreesClassifier or NearestNeighbors instance, default="csrf"
        Where neighbours come from: our cost-sensitive forest, a scikit-learn forest, or plain nearest neighbours.
    {GROWTH}
    {ROUNDS}
    {APPROXIMATION}
    balance : float in [0, 1] or None, default=None
        0 predicts for the class shares of the training rows, 1 (which None stands for) treats classes alike.
    decision : {"auto", "paper"}, default="auto"
        Calibrated mass of the coefficients, or the paper's vote among those that are not zero.
    {TUNE}
    {COMMON}

    Attributes
    ----------
    classes_, fitted_classes_ : arrays of shape (n_classes,)
        All classes, and those known when the model was fitted (see `add_samples`).
    class_prior_ : array of shape (n_classes,)
    lam_, gamma_, bandwidth_, n_clusters_, tau_, C_, max_features_
        The values used: given or, with ``tune="oob"``, chosen.
    oob_score_ : float
        Balanced accuracy on training rows by trees, metric, neighbours and calibration that never saw them.
    oob_rows_, oob_decision_function_ : arrays
        The rows of that score (about 3,000 at most, rare ones first) and their probabilities.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from dsna import DSNAClassifier
    >>> X, y = make_classification(300, weights=[0.9], class_sep=2.0, random_state=0)
    >>> model = DSNAClassifier(n_estimators=20, random_state=0).fit(X[:200], y[:200])
    >>> model.predict(X[200:203]).tolist() == y[200:203].tolist()
    True
    >>> why = model.explain(X[200:201])
    >>> bool(why.predict()[0] == y[200])
    True
    """

    classes_: np.ndarray
    class_weight_sum_: np.ndarray

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> DSNAClassifier:
        """Grow the forest, take its metric, and learn the decision from out-of-bag rows.

        Parameters
        ----------
        X : array of shape (n, n_features)
        y : array of shape (n,)
            Classes of any type.
        sample_weight : array of shape (n,), optional
            A row of weight two counts as two rows.
        groups : array of shape (n,), optional
            Rows of one group (a person, a day) are held out together wherever rows are held out.

        Returns
        -------
        self
        """
        X = check_rows(self, X, reset=True)
        self.classes_, code = check_classes(self, y, X)
        self.fitted_classes_ = self.classes_
        weight = check_weights(sample_weight, X)
        groups = check_groups(groups, X)
        self._check_parameters()
        self.class_weight_sum_ = np.bincount(code, weights=weight, minlength=len(self.classes_))
        self._learn(
            X,
            code,
            code[:, None].astype(np.float64),
            np.eye(len(self.classes_))[code],
            class_targets(code, len(self.classes_), weight),
            weight,
            groups,
        )
        return self

    def _check_parameters(self) -> None:
        if self.decision not in ("auto", "paper"):
            raise ValueError(f"decision={self.decision!r} is unknown: use 'auto' or 'paper'.")
        super()._check_parameters()

    @property
    def class_prior_(self) -> np.ndarray:
        """Share of each class in the training rows."""
        return self.class_weight_sum_ / self.class_weight_sum_.sum()

    @property
    def _code(self) -> np.ndarray:
        return self.knowledge_.label[:, 0].astype(np.int64)

    def _n_classes(self) -> int:
        return len(self.classes_)

    def _balance(self) -> float:
        return 1.0 if self.balance is None else float(self.balance)

    def _class_scale(self) -> np.ndarray:
        return np.maximum(self.class_prior_, 1e-300) ** -self._balance()

    def _mass(self, alpha: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """(n, n_classes) opinion of the coefficients; the paper's is a vote among those that are not zero."""
        if self.decision == "paper":
            size = np.abs(alpha)
            alpha = (size > _NONZERO * size.max(axis=1, keepdims=True)).astype(np.float64)
        return class_mass(alpha, rows, self._code, len(self.classes_))

    def _row_losses(self, alpha: np.ndarray, fold: Fold) -> np.ndarray:
        """Log loss of the coefficients and the vote in equal parts, weighted as ``balance`` asks."""
        mass = self._mass(alpha, fold.known[fold.near.rows])
        proba = Calibration(self.class_prior_).probabilities(mass, fold.near.vote, 0.0)
        code = self._code[fold.rows]
        rarity = self.class_prior_[code] ** -self._balance()
        return -np.log(proba[np.arange(len(code)), code]) * rarity

    def _finish(self, folds: list[Fold], rows: np.ndarray, weight: np.ndarray) -> None:
        blend = None if self.blend == "auto" else float(self.blend)
        prior = self.class_prior_
        self.calibration_ = Calibration(prior)
        self.oob_rows_ = np.concatenate([f.rows for f in folds]) if folds else np.empty(0, dtype=np.int64)
        if not folds:
            return
        code = self._code[self.oob_rows_]
        weight = weight[np.searchsorted(rows, self.oob_rows_)]
        mass = np.concatenate(
            [self._mass(self._solve_fold(f, self._setting)["alpha"], f.known[f.near.rows]) for f in folds]
        )
        vote = np.concatenate([f.near.vote for f in folds])
        # The score comes from a calibration that has not seen the row either: each block is scored by the others.
        block = self.knowledge_.block[self.oob_rows_]
        proba = np.empty_like(mass)
        for b in np.unique(block):
            side = block == b
            fitted = self._calibrate(mass[~side], vote[~side], code[~side], weight[~side], blend)
            proba[side] = self._probabilities(fitted, mass[side], vote[side])
        self.oob_decision_function_ = proba
        self.oob_score_ = balanced_accuracy_score(code, most_probable(proba), sample_weight=weight)
        self.calibration_ = self._calibrate(mass, vote, code, weight, blend)

    def _calibrate(
        self, mass: np.ndarray, vote: np.ndarray, code: np.ndarray, weight: np.ndarray, blend: float | None
    ) -> Calibration:
        if self.decision == "paper" or len(code) == 0:
            return Calibration(self.class_prior_)
        return Calibration.fit(mass, vote, code, weight, self.class_prior_, blend)

    def _probabilities(self, calibration: Calibration, mass: np.ndarray, vote: np.ndarray) -> np.ndarray:
        if self.decision == "paper":
            proba = mass + (mass.sum(axis=1, keepdims=True) == 0.0) * self.class_prior_
            return prior_corrected(proba, self.class_prior_, self._balance())
        return calibration.probabilities(mass, vote, self._balance())

    def predict_proba(self, X: Any) -> np.ndarray:
        """Class probabilities: calibrated, then corrected for the class shares as ``balance`` asks.

        Parameters
        ----------
        X : array of shape (n, n_features)

        Returns
        -------
        array of shape (n, n_classes)
        """
        check_is_fitted(self)
        X = check_rows(self, X, reset=False)
        near, answers = self._answer(X)
        return self._probabilities(self.calibration_, self._mass(answers["alpha"], near.rows), near.vote)

    def predict(self, X: Any) -> np.ndarray:
        """Most probable class.

        Parameters
        ----------
        X : array of shape (n, n_features)

        Returns
        -------
        array of shape (n,)
        """
        best = most_probable(self.predict_proba(X))
        return self.classes_[best]

    def explain(self, X: Any) -> Explanation:
        """Which training rows made each prediction, and how.

        The weights of the rows of a class add up to the probability of the class, in proportion to their positive
        coefficients (or, where a class has none, to their proximities).

        Parameters
        ----------
        X : array of shape (n, n_features)

        Returns
        -------
        Explanation
        """
        check_is_fitted(self)
        X = check_rows(self, X, reset=False)
        near, answers = self._answer(X)
        code = self._code
        n_classes = len(self.classes_)
        proba = self._probabilities(self.calibration_, self._mass(answers["alpha"], near.rows), near.vote)
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
        return Explanation(
            kind="classification",
            weight=weight,
            label=label,
            classes=self.classes_,
            rest=proba - class_sums(weight, label, self.classes_),
            decision="proba",
            grid=None,
            **explained(near, answers),
        )

    def add_samples(self, X: Any, y: Any) -> DSNAClassifier:
        """Let new rows into the leaves, without refitting; classes may be new.

        Trees, metric and calibration stay as they are.  The rows are neighbours, and count in the class shares, from
        now on.  They are numbered on from the last training row.

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
            raise ValueError(f"New classes of type {names.dtype} do not go with classes of type {self.classes_.dtype}.")
        classes = np.unique(np.concatenate([self.classes_, names]))
        old, new = np.searchsorted(classes, self.classes_), np.searchsorted(classes, names)[code]
        counts = np.bincount(new, minlength=len(classes)).astype(np.float64)
        counts[old] += self.class_weight_sum_
        calibration = Calibration(counts / counts.sum(), self.calibration_.slopes)
        # Classes that came later were never calibrated; theirs follows from their share.
        fitted = np.isin(self.classes_, self.fitted_classes_)
        calibration.bias[:, old[fitted]] = self.calibration_.bias[:, fitted]
        know = self.knowledge_
        leaf_value = np.zeros((len(know.leaf_value), len(classes)))
        leaf_value[:, old] = know.leaf_value
        know.leaf_value = leaf_value
        know.values = np.eye(len(classes))[old[self._code[: len(know.values)]]]
        know.label = old[self._code].astype(np.float64)[:, None]
        self.classes_, self.class_weight_sum_ = classes, counts
        self.calibration_ = calibration
        rarity = 1.0 / (len(classes) * np.maximum(self.class_prior_, 1e-300)[np.concatenate([self._code, new])])
        know.add(X, new[:, None].astype(np.float64), np.eye(len(classes))[new], rarity)
        return self
