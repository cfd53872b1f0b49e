"""BalanceCurveDisplay: errors over all rows and over rare targets by ``balance``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..._utils.errors import DSNAError
from ..figures import Cases, Figure, rare_targets
from ..out_of_bag import explain_out_of_bag
from ..pipeline import split_pipeline
from .axes import MAIN, SECOND, Display, draw_ranges

_BALANCES = tuple(step / 10 for step in range(11))


class BalanceCurveDisplay(Display):
    """Mean absolute error over all rows and over the rarest targets, for several values of ``balance``.

    Create it with :meth:`from_estimator` or :meth:`from_predictions`.

    Parameters
    ----------
    balances : (k,) values of ``balance``, in increasing order.
    overall, rare : (k,) Figures of the errors over all rows and over rare targets.
    chosen : value that the model uses, or None.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
    lines_ : matplotlib lines of both curves

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from dsna import CostSensitiveForestRegressor, DSNARegressor
    >>> from dsna.inspection import BalanceCurveDisplay
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = DSNARegressor(CostSensitiveForestRegressor(10), random_state=0).fit(X, y)
    >>> display = BalanceCurveDisplay.from_estimator(model, X, y)
    >>> display.chosen in display.balances
    True
    """

    def __init__(
        self, balances: Sequence[float], overall: Sequence[Figure], rare: Sequence[Figure], chosen: float | None = None
    ):
        self.balances, self.overall, self.rare, self.chosen = list(balances), list(overall), list(rare), chosen

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, share: float = 0.1, ax: Any = None) -> Any:
        """Plot out-of-bag errors at each balance, with the blend and decision of the estimator.

        Parameters
        ----------
        estimator : fitted DSNARegressor with one output, or Pipeline that ends in one
        X, y : all rows given to ``fit`` and their targets, in the same order
        share : float, default=0.1
            Share of the rows that count as rare.
        ax : matplotlib axes, optional

        Returns
        -------
        BalanceCurveDisplay
        """
        model = split_pipeline(estimator)[1]
        if not hasattr(model, "_predict_oob") or model.n_outputs_ > 1:
            raise DSNAError("The balance curve needs a DSNARegressor with one output, or a pipeline that ends in one.")
        rows, target = model.oob_rows_, np.asarray(y, dtype=np.float64)
        explanation = explain_out_of_bag(estimator, X)
        predictions = {
            balance: model._predict_oob(explanation, rows, balance)[:, 0]
            for balance in sorted({*_BALANCES, model.balance_})
        }
        rare = rare_targets(target, share)[rows]
        options = {"sample_weight": model._oob_weight, "chosen": model.balance_}
        return cls.from_predictions(target[rows], predictions, rare=rare, ax=ax, **options)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_pred: Mapping[float, Any],
        *,
        rare: Any,
        sample_weight: Any = None,
        chosen: float | None = None,
        ax: Any = None,
    ) -> Any:
        """Plot given predictions.

        Parameters
        ----------
        y_true : array of shape (n,)
        y_pred : mapping of values of ``balance`` to predictions of shape (n,)
        rare : array of shape (n,), bool
            Mask of the rare targets.
        sample_weight : array of shape (n,), optional
            Number of rows that each row represents, such as the weights of out-of-bag rows.
        chosen : float, optional
            Value of ``balance`` to mark, such as that of the model.
        ax : matplotlib axes, optional

        Returns
        -------
        BalanceCurveDisplay
        """
        truth, is_rare = np.asarray(y_true, dtype=np.float64), np.asarray(rare, dtype=bool)
        cases = Cases.of(len(truth), sample_weight)
        errors = {balance: np.abs(np.asarray(y_pred[balance]) - truth) for balance in sorted(y_pred)}
        overall = [cases.mean(error) for error in errors.values()]
        rare_errors = [cases.part(is_rare).mean(error[is_rare]) for error in errors.values()]
        return cls(list(errors), overall, rare_errors, chosen).plot(ax=ax)

    def _draw(self, ax: Any) -> None:
        balances = np.array(self.balances)
        curves = ((self.overall, MAIN, "all rows", -0.004), (self.rare, SECOND, "rare targets", 0.004))
        self.lines_ = [
            draw_ranges(ax, balances + offset, figures, color=color, label=name, markersize=5, linewidth=1.5)
            for figures, color, name, offset in curves
        ]
        if self.chosen is not None:
            ax.axvline(self.chosen, color="0.35", linestyle="--", linewidth=1.0, label="this model")
        ax.set(xlabel="balance", ylabel="mean absolute error")
        ax.legend(edgecolor="none", framealpha=0.9)
