"""How a DSNA classification decides: what it learns out of bag, and how neighbours' classes become probabilities.

``DSNAClassifier`` adds parameters and what users call.
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

#: Given coefficients (n, M) of rows (n, M), the shares of the classes (n, n_classes).
Shares: TypeAlias = Callable[[np.ndarray, np.ndarray], np.ndarray]

_NONZERO = 1e-3
_LEARNED_FOR = 1.0  # balance under which approximations are made and settings tuned, whatever is decided later


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
        """Classes of the rows ``oob_rows_``, by a decision that has not seen them."""
        return np.asarray(self.fitted_classes_[self._oob_chosen])

    @property
    def decision_threshold_(self) -> Threshold | None:
        """The rarer of two classes and the probability from which on it is predicted; see ``Threshold``."""
        return None if self._by_votes else threshold_of(self._gain, self.class_prior_, self.classes_)

    @property
    def _code(self) -> np.ndarray:
        return self._index.label[:, 0].astype(np.int64)

    def _code_of(self, rows: np.ndarray) -> np.ndarray:
        """Classes of some rows, however many there are."""
        return np.asarray(self._index.label[rows, 0], dtype=np.int64)

    @property
    def _by_votes(self) -> bool:
        """Whether the paper's vote decides."""
        return isinstance(self.decision, str) and self.decision == "paper"

    def _n_classes(self) -> int:
        return len(self.classes_)

    def _forest_class(self) -> type:
        return CostSensitiveForestClassifier

    def _initial_balance(self) -> float:
        return _LEARNED_FOR

    def _class_scale(self) -> np.ndarray:
        return np.asarray(np.maximum(self.class_prior_, 1e-300) ** -_LEARNED_FOR)

    def _mass(self, alpha: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """(n, n_classes) class shares of the coefficients."""
        return class_mass(alpha, rows, self._index.label[:, 0], len(self.classes_))

    def _votes(self, alpha: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """(n, n_classes) the paper's vote: shares of the classes among coefficients that are not zero."""
        size = np.abs(alpha)
        votes = self._mass((size > _NONZERO * size.max(axis=1, keepdims=True)).astype(np.float64), rows)
        return np.asarray(votes + (votes.sum(axis=1, keepdims=True) == 0.0) * self.class_prior_)

    def _row_losses(self, alpha: np.ndarray, fold: Fold) -> np.ndarray:
        """Log loss of the coefficients and the vote in equal parts; all classes weigh the same."""
        mass = self._mass(alpha, fold.neighbor_rows[fold.near.rows])
        proba = Calibration(self.class_prior_).probabilities(np.stack([mass, fold.near.vote]))
        code = self._code_of(fold.rows)
        rarity = self.class_prior_[code] ** -_LEARNED_FOR
        return np.asarray(-np.log(proba[np.arange(len(code)), code]) * rarity)

    def _learn_probabilities(self, asked: OutOfBag, training: Training) -> None:
        """Calibrate on out-of-bag rows, and give each of them probabilities by a calibration without its fold."""
        n_classes = len(self.classes_)
        self._calibration = Calibration(self.class_prior_)
        self._trend: Any = None
        self.trend_ = None
        self.oob_rows_, self._oob_weight = asked.rows, asked.weight
        self.oob_decision_function_ = np.empty((len(asked.rows), n_classes))
        self._oob_votes = np.empty((0, n_classes))
        if not asked.folds:
            return
        code = self._code_of(asked.rows)
        mass = np.concatenate([self._mass(f.alpha, f.near.rows) for f in asked.folds])
        opinions = np.stack([mass, np.concatenate([f.near.vote for f in asked.folds])])
        self._oob_votes = np.concatenate([self._votes(f.alpha, f.near.rows) for f in asked.folds])
        if self.trend is not None:
            rows = ClassRows(training.X, self._code, training.weight, self._index.fold)
            scaling = self._index.scaling
            self._trend, own = fit_class_trend(self.trend, rows, scaling, asked.rows, opinions[1])
            if self._trend is not None:
                self.trend_ = self._trend.kind
                opinions = np.concatenate([opinions, own[None]])
        fold = self._index.fold[asked.rows]
        for held_out in np.unique(fold):
            side = fold == held_out
            fitted = self._calibrate(opinions[:, ~side], code[~side], asked.weight[~side])
            self.oob_decision_function_[side] = fitted.probabilities(opinions[:, side])
        self._calibration = self._calibrate(opinions, code, asked.weight)

    def _calibrate(self, opinions: np.ndarray, code: np.ndarray, weight: np.ndarray) -> Calibration:
        if len(code) == 0:
            return Calibration(self.class_prior_, np.full(len(opinions), 1.0 / len(opinions)))
        blend = None if isinstance(self.blend, str) else float(self.blend)
        return Calibration.fit(opinions, code, weight, self.class_prior_, blend)

    def _learn_decision(self) -> None:
        """Learn what ``decision`` asks for from the out-of-bag probabilities, and score it there."""
        rows, weight = self.oob_rows_, self._oob_weight
        known = np.searchsorted(self.classes_, self.fitted_classes_)
        code = np.searchsorted(known, self._code_of(rows))
        oob = OutOfBagProba(self.oob_decision_function_, code, weight, self._index.fold[rows])
        prior = self.class_prior_[known] / self.class_prior_[known].sum()
        votes = self._oob_votes if self._by_votes else None
        learned = learn_decision(self.decision, float(self.balance), oob, self.fitted_classes_, prior, votes)
        self._gain = self._gain_of_all(learned.gain, known)
        best = best_if_unreachable(self.decision, learned.gain, oob, self.fitted_classes_, prior)
        if best is not None:
            self._warn_of_wish(best, best_class(oob.proba, learned.gain) == np.argmin(prior), prior)
        self._oob_chosen = learned.predicted
        self.oob_decision_score_, self.oob_decision_score_std_ = learned.score, learned.error
        self.oob_balanced_accuracy_ = self.oob_score_ = np.nan
        if len(code):
            self.oob_score_ = float(accuracy_score(code, learned.predicted, sample_weight=weight))
            balanced = balanced_accuracy_score(code, learned.predicted, sample_weight=weight)
            self.oob_balanced_accuracy_ = float(balanced)

    def _warn_of_wish(self, most: float, called: np.ndarray, prior: np.ndarray) -> None:
        """Warn of a recall or precision that no threshold reaches; ``called`` (n,) rows are said to be rare."""
        kind, rare = self.decision.split(">")[0].strip(), self.fitted_classes_[np.argmin(prior)]
        warn(
            f"decision={self.decision!r} cannot be reached: out of bag the {kind} of {rare} is "
            f"{np.floor(1e3 * most) / 1e3:g} at most, so {rare} is predicted for {called.sum()} of {len(called)} rows "
            "there instead. Wish for less, or decide by costs.",
            UserWarning,
            stacklevel=4,
        )

    def _gain_of_all(self, gain: np.ndarray, known: np.ndarray) -> np.ndarray:
        """Gains of all classes, given those of the classes at the places ``known``."""
        if isinstance(self.decision, str) and find_measure(self.decision) is None:
            return balanced_gain(self.class_prior_, float(self.balance))
        if len(known) == len(self.classes_):
            return gain
        if is_cost(self.decision) and callable(self.decision):
            return cost_gain(self.decision, self.classes_)
        return gain_of_all_classes(gain, known, self.class_prior_, is_cost(self.decision))

    def _opinions(self, X: np.ndarray, mass: np.ndarray, vote: np.ndarray) -> np.ndarray:
        """(n_opinions, n, n_classes) what coefficients, forest and trend say of queries."""
        opinions = [mass, vote]
        if self._trend is not None:
            known = np.searchsorted(self.classes_, self.fitted_classes_)
            proba = self._trend.probabilities(self._index.scaling.transform(X))
            opinions.append(proba_of_all_classes(proba, known, vote))
        return np.stack(opinions)

    def _class_shares(self, X: np.ndarray, shares: Shares) -> tuple[np.ndarray, np.ndarray]:
        """(n, n_classes) shares of the classes among the coefficients, and the forest's vote, for queries.

        Where all neighbours are of one class and coefficients add up to one, it has all of them, whatever they are.
        """
        Q, near = self._neighbors(X)
        code = self._code_of(near.rows)
        inside = np.arange(code.shape[1]) < near.size[:, None]
        open_to_all = np.any((code != code[:, :1]) & inside, axis=1) | (near.size == 0)
        found = np.eye(len(self.classes_))[code[:, 0]]
        some = np.flatnonzero(open_to_all) if self.approximation_.sum_to_one else np.arange(len(X))
        if len(some):
            few = near.subset(some)
            found[some] = shares(self._solve(Q[some], few)["alpha"], few.rows)
        return found, near.vote

    def _probabilities(self, X: np.ndarray) -> np.ndarray:
        """(n, n_classes) probabilities of queries."""
        return self._calibration.probabilities(self._opinions(X, *self._class_shares(X, self._mass)))

    def _decided(self, X: np.ndarray) -> np.ndarray:
        """(n,) class numbers of queries."""
        shares = self._class_shares(X, self._votes)[0] if self._by_votes else self._probabilities(X)
        return best_class(shares, self._gain)

    def _evidence(self, X: np.ndarray, near: Neighborhoods, answers: dict[str, np.ndarray]) -> dict[str, Any]:
        """Probabilities shared among the rows of each class.

        A row's share is in proportion to its positive coefficient or, where a class has none, to its proximity.
        """
        n_classes = len(self.classes_)
        opinions = self._opinions(X, self._mass(answers["alpha"], near.rows), near.vote)
        proba = self._calibration.probabilities(opinions)
        of_row = self._code_of(near.rows)
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
        names = ["coefficients", "forest", *([self.trend_] * (self._trend is not None)), "class shares"]
        says = {"voices": names, "logits": np.moveaxis(self._calibration.terms(opinions), 0, 1)}
        votes = self._votes(answers["alpha"], near.rows) if self._by_votes else None
        uses = self._by_votes or bool(self._calibration.slopes[0] > 0.0)
        how = {"gain": self._gain, "votes": votes, "threshold": self.decision_threshold_, "uses_coefficients": uses}
        return {**task, **says, **how, "weight": weight, "label": label, "rest": rest}

    def _left_out(self, why: Explanation, rows: np.ndarray) -> Explanation:
        """Weights that add up to the out-of-bag probabilities; what single opinions said out of bag is not kept."""
        known = np.searchsorted(self.classes_, self.fitted_classes_)
        proba = np.zeros((len(rows), len(self.classes_)))
        order = np.argsort(self.oob_rows_)
        answered = order[np.searchsorted(self.oob_rows_, rows, sorter=order)]
        proba[:, known] = self.oob_decision_function_[answered]
        before = why.predict_proba()
        factor = np.where(before > 0.0, proba / np.maximum(before, 1e-300), 0.0)
        weight = why.weight * np.take_along_axis(factor, np.searchsorted(self.classes_, why.label), axis=1)
        rest = proba - class_sums(weight, why.label, self.classes_)
        return replace(why, weight=weight, rest=rest, voices=None, logits=None)
