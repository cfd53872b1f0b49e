"""Decisions of DSNA classifiers: calibration on out-of-bag rows, and probabilities from the classes of neighbours.

``DSNAClassifier`` adds the parameters and the public methods.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias
from warnings import warn

import numpy as np
from sklearn.metrics import accuracy_score, balanced_accuracy_score

from ._utils.choices import balanced_gain, best_class
from .base import DSNAEstimator
from .forest import CostSensitiveForestClassifier
from .inspection.explanation import Explanation
from .inspection.opinions import class_sums
from .neighbors.index import Fold
from .neighbors.neighborhoods import Neighborhoods
from .prediction.calibration import Calibration, class_mass
from .prediction.class_decision import (
    OutOfBagProba,
    Threshold,
    best_if_unreachable,
    cost_gain,
    gain_of_all_classes,
    is_cost,
    learn_decision,
    threshold_of,
)
from .prediction.measures import find_measure
from .training import OutOfBag, Training
from .trend.classes import ClassRows, fit_class_trend, proba_of_all_classes

#: Function from coefficients (n, M) of rows (n, M) to shares of the classes (n, n_classes).
Shares: TypeAlias = Callable[[np.ndarray, np.ndarray], np.ndarray]

_NONZERO = 1e-3
_TRAINING_BALANCE = 1.0  # of approximations and tuning, independent of the balance of decisions


class DSNAClassification(DSNAEstimator):
    """Base class of ``DSNAClassifier``."""

    balance: float
    decision: Any
    trend: Any
    classes_: np.ndarray
    fitted_classes_: np.ndarray
    _class_weight: np.ndarray

    @property
    def class_prior_(self) -> np.ndarray:
        """Share of each class in the training rows."""
        return np.asarray(self._class_weight / self._class_weight.sum())

    @property
    def oob_prediction_(self) -> np.ndarray:
        """Out-of-bag predictions of the rows ``oob_rows_``."""
        return np.asarray(self.fitted_classes_[self._oob_chosen])

    @property
    def decision_threshold_(self) -> Threshold | None:
        """The rarer of two classes and the probability from which it is predicted; see ``Threshold``."""
        return None if self._by_votes else threshold_of(self._gain, self.class_prior_, self.classes_)

    @property
    def _code(self) -> np.ndarray:
        return self._index.label[:, 0].astype(np.int64)

    def _code_of(self, rows: np.ndarray) -> np.ndarray:
        """Class numbers of rows."""
        return np.asarray(self._index.label[rows, 0], dtype=np.int64)

    @property
    def _by_votes(self) -> bool:
        """Whether predictions are made by the vote of the paper."""
        return isinstance(self.decision, str) and self.decision == "paper"

    def _n_classes(self) -> int:
        return len(self.classes_)

    def _forest_class(self) -> type:
        return CostSensitiveForestClassifier

    def _initial_balance(self) -> float:
        return _TRAINING_BALANCE

    def _class_scale(self) -> np.ndarray:
        return np.asarray(np.maximum(self.class_prior_, 1e-300) ** -_TRAINING_BALANCE)

    def _mass(self, alpha: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """(n, n_classes) class shares of the coefficients."""
        return class_mass(alpha, rows, self._index.label[:, 0], len(self.classes_))

    def _votes(self, alpha: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """(n, n_classes) votes as in the paper: shares of the classes among nonzero coefficients."""
        size = np.abs(alpha)
        votes = self._mass((size > _NONZERO * size.max(axis=1, keepdims=True)).astype(np.float64), rows)
        return np.asarray(votes + (votes.sum(axis=1, keepdims=True) == 0.0) * self.class_prior_)

    def _row_losses(self, alpha: np.ndarray, fold: Fold) -> np.ndarray:
        """Log loss of the coefficients and the vote in equal parts, with equal weight of all classes."""
        mass = self._mass(alpha, fold.neighbor_rows[fold.near.rows])
        proba = Calibration(self.class_prior_).probabilities(np.stack([mass, fold.near.vote]))
        code = self._code_of(fold.rows)
        rarity = self.class_prior_[code] ** -_TRAINING_BALANCE
        return np.asarray(-np.log(proba[np.arange(len(code)), code]) * rarity)

    def _learn_probabilities(self, out_of_bag: OutOfBag, training: Training) -> None:
        """Calibrate on out-of-bag rows, whose own probabilities come from calibrations without their fold."""
        n_classes = len(self.classes_)
        self._calibration = Calibration(self.class_prior_)
        self._trend: Any = None
        self.trend_ = None
        self.oob_rows_, self._oob_weight = out_of_bag.rows, out_of_bag.weight
        self.oob_decision_function_ = np.empty((len(out_of_bag.rows), n_classes))
        self._oob_votes = np.empty((0, n_classes))
        if not out_of_bag.folds:
            return
        code = self._code_of(out_of_bag.rows)
        mass = np.concatenate([self._mass(f.alpha, f.near.rows) for f in out_of_bag.folds])
        opinions = np.stack([mass, np.concatenate([f.near.vote for f in out_of_bag.folds])])
        self._oob_votes = np.concatenate([self._votes(f.alpha, f.near.rows) for f in out_of_bag.folds])
        if self.trend is not None:
            rows = ClassRows(training.X, self._code, training.weight, self._index.fold)
            scaling = self._index.scaling
            self._trend, trend_proba = fit_class_trend(self.trend, rows, scaling, out_of_bag.rows, opinions[1])
            if self._trend is not None:
                self.trend_ = self._trend.kind
                opinions = np.concatenate([opinions, trend_proba[None]])
        fold = self._index.fold[out_of_bag.rows]
        for held_out in np.unique(fold):
            in_fold = fold == held_out
            calibration = self._calibrate(opinions[:, ~in_fold], code[~in_fold], out_of_bag.weight[~in_fold])
            self.oob_decision_function_[in_fold] = calibration.probabilities(opinions[:, in_fold])
        self._calibration = self._calibrate(opinions, code, out_of_bag.weight)

    def _calibrate(self, opinions: np.ndarray, code: np.ndarray, weight: np.ndarray) -> Calibration:
        if len(code) == 0:
            return Calibration(self.class_prior_, np.full(len(opinions), 1.0 / len(opinions)))
        blend = None if isinstance(self.blend, str) else float(self.blend)
        return Calibration.fit(opinions, code, weight, self.class_prior_, blend)

    def _learn_decision(self) -> None:
        """Learn the decision from out-of-bag probabilities, and compute its out-of-bag scores."""
        rows, weight = self.oob_rows_, self._oob_weight
        fitted_codes = np.searchsorted(self.classes_, self.fitted_classes_)
        code = np.searchsorted(fitted_codes, self._code_of(rows))
        answers = OutOfBagProba(self.oob_decision_function_, code, weight, self._index.fold[rows])
        prior = self.class_prior_[fitted_codes] / self.class_prior_[fitted_codes].sum()
        votes = self._oob_votes if self._by_votes else None
        learned = learn_decision(self.decision, float(self.balance), answers, self.fitted_classes_, prior, votes)
        self._gain = self._gain_of_all(learned.gain, fitted_codes)
        reached = best_if_unreachable(self.decision, learned.gain, answers, self.fitted_classes_, prior)
        if reached is not None:
            self._warn_unreached(reached, best_class(answers.proba, learned.gain) == np.argmin(prior), prior)
        self._oob_chosen = learned.predicted
        self.oob_decision_score_, self.oob_decision_score_std_ = learned.score, learned.error
        self.oob_balanced_accuracy_ = self.oob_score_ = np.nan
        if len(code):
            self.oob_score_ = float(accuracy_score(code, learned.predicted, sample_weight=weight))
            balanced = balanced_accuracy_score(code, learned.predicted, sample_weight=weight)
            self.oob_balanced_accuracy_ = float(balanced)

    def _warn_unreached(self, reached: float, is_predicted: np.ndarray, prior: np.ndarray) -> None:
        """Warn of a recall or precision that no threshold reaches; ``is_predicted`` (n,) marks alarms."""
        kind, rare = self.decision.split(">")[0].strip(), self.fitted_classes_[np.argmin(prior)]
        warn(
            f"decision={self.decision!r} cannot be reached: out of bag the {kind} of {rare} is at most "
            f"{np.floor(1e3 * reached) / 1e3:g}, with {rare} predicted for {is_predicted.sum()} of "
            f"{len(is_predicted)} rows. Choose a lower {kind}, or decide by costs.",
            UserWarning,
            stacklevel=4,
        )

    def _gain_of_all(self, gain: np.ndarray, fitted_codes: np.ndarray) -> np.ndarray:
        """Gains of all classes, given those of the classes known when the model was fitted."""
        if isinstance(self.decision, str) and find_measure(self.decision) is None:
            return balanced_gain(self.class_prior_, float(self.balance))
        if len(fitted_codes) == len(self.classes_):
            return gain
        if is_cost(self.decision) and callable(self.decision):
            return cost_gain(self.decision, self.classes_)
        return gain_of_all_classes(gain, fitted_codes, self.class_prior_, is_cost(self.decision))

    def _opinions(self, X: np.ndarray, mass: np.ndarray, vote: np.ndarray) -> np.ndarray:
        """(n_opinions, n, n_classes) class shares by coefficients, forest and trend."""
        opinions = [mass, vote]
        if self._trend is not None:
            fitted_codes = np.searchsorted(self.classes_, self.fitted_classes_)
            proba = self._trend.probabilities(self._index.scaling.transform(X))
            opinions.append(proba_of_all_classes(proba, fitted_codes, vote))
        return np.stack(opinions)

    def _class_shares(self, X: np.ndarray, shares: Shares) -> tuple[np.ndarray, np.ndarray]:
        """(n, n_classes) class shares of the coefficients of queries, and the vote of the forest.

        If all neighbours have the same class and the coefficients sum to one, they need not be computed.
        """
        Q, neighborhoods = self._neighbors(X)
        code = self._code_of(neighborhoods.rows)
        is_neighbor = np.arange(code.shape[1]) < neighborhoods.size[:, None]
        is_mixed = np.any((code != code[:, :1]) & is_neighbor, axis=1) | (neighborhoods.size == 0)
        class_shares = np.eye(len(self.classes_))[code[:, 0]]
        queries = np.flatnonzero(is_mixed) if self.approximation_.sum_to_one else np.arange(len(X))
        if len(queries):
            subset = neighborhoods.subset(queries)
            class_shares[queries] = shares(self._solve(Q[queries], subset)["alpha"], subset.rows)
        return class_shares, neighborhoods.vote

    def _probabilities(self, X: np.ndarray) -> np.ndarray:
        """(n, n_classes) probabilities of queries."""
        return self._calibration.probabilities(self._opinions(X, *self._class_shares(X, self._mass)))

    def _decided(self, X: np.ndarray) -> np.ndarray:
        """(n,) class numbers of queries."""
        shares = self._class_shares(X, self._votes)[0] if self._by_votes else self._probabilities(X)
        return best_class(shares, self._gain)

    def _evidence(self, X: np.ndarray, neighborhoods: Neighborhoods, answers: dict[str, np.ndarray]) -> dict[str, Any]:
        """Class probabilities, distributed over the rows of each class.

        The weight of a row is proportional to its positive coefficient, or to its proximity if its class has none.
        """
        n_classes = len(self.classes_)
        opinions = self._opinions(X, self._mass(answers["alpha"], neighborhoods.rows), neighborhoods.vote)
        proba = self._calibration.probabilities(opinions)
        row_codes = self._code_of(neighborhoods.rows)
        one_hot = (row_codes[:, :, None] == np.arange(n_classes)) & (neighborhoods.proximity > 0)[:, :, None]
        positive = np.maximum(answers["alpha"], 0.0)
        has_mass = np.einsum("nm,nmc->nc", positive, one_hot) > 0
        class_has_mass = np.take_along_axis(has_mass, row_codes, axis=1)
        base = np.where(class_has_mass, positive, neighborhoods.proximity)
        totals = np.einsum("nm,nmc->nc", base, one_hot)
        factor = np.where(totals > 0, proba / np.where(totals > 0, totals, 1.0), 0.0)
        weight = base * np.take_along_axis(factor, row_codes, axis=1)
        label = self.classes_[row_codes]
        remainder = proba - class_sums(weight, label, self.classes_)
        task = {"kind": "classification", "decision": "proba", "classes": self.classes_}
        names = ["coefficients", "forest", *([self.trend_] * (self._trend is not None)), "class shares"]
        opinion_fields = {"voices": names, "logits": np.moveaxis(self._calibration.terms(opinions), 0, 1)}
        votes = self._votes(answers["alpha"], neighborhoods.rows) if self._by_votes else None
        uses_coefficients = self._by_votes or bool(self._calibration.slopes[0] > 0.0)
        decision_fields = {
            "gain": self._gain,
            "votes": votes,
            "threshold": self.decision_threshold_,
            "uses_coefficients": uses_coefficients,
        }
        return {**task, **opinion_fields, **decision_fields, "weight": weight, "label": label, "rest": remainder}

    def _out_of_bag_version(self, explanation: Explanation, rows: np.ndarray) -> Explanation:
        """Replace the weights by those that sum to out-of-bag probabilities; opinions are not stored out of bag."""
        fitted_codes = np.searchsorted(self.classes_, self.fitted_classes_)
        proba = np.zeros((len(rows), len(self.classes_)))
        order = np.argsort(self.oob_rows_)
        answered = order[np.searchsorted(self.oob_rows_, rows, sorter=order)]
        proba[:, fitted_codes] = self.oob_decision_function_[answered]
        previous = explanation.predict_proba()
        factor = np.where(previous > 0.0, proba / np.maximum(previous, 1e-300), 0.0)
        codes = np.searchsorted(self.classes_, explanation.label)
        weight = explanation.weight * np.take_along_axis(factor, codes, axis=1)
        remainder = proba - class_sums(weight, explanation.label, self.classes_)
        return replace(explanation, weight=weight, rest=remainder, voices=None, logits=None)
