"""BalanceCurveDisplay: what more weight for rare targets gains and costs."""

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

    Make it with :meth:`from_estimator` or :meth:`from_predictions`.

    Parameters
    ----------
    balances : (k,) values of ``balance``, rising.
    overall, rare : (k,) Figures of the errors over all rows, and over rare targets.
    chosen : the value that a model uses, or None.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
    lines_ : matplotlib lines of both errors

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
        """Predict the training rows out of bag at each balance, with blend and decision as they are, and plot.

        Parameters
        ----------
        estimator : fitted DSNARegressor of one output, or Pipeline that ends in one
        X, y : all rows given to ``fit`` and their targets, in their order
        share : float, default=0.1
            Share of the rows that counts as rare.
        ax : matplotlib axes, optional

        Returns
        -------
        BalanceCurveDisplay
        """
        model = split_pipeline(estimator)[1]
        if not hasattr(model, "_predict_oob") or model.n_outputs_ > 1:
            raise DSNAError("The curve of balance needs a DSNARegressor of one output, or a pipeline that ends in one.")
        rows, target = model.oob_rows_, np.asarray(y, dtype=np.float64)
        why = explain_out_of_bag(estimator, X)
        said = {at: model._predict_oob(why, rows, at)[:, 0] for at in sorted({*_BALANCES, model.balance_})}
        rare = rare_targets(target, share)[rows]
        weight = {"sample_weight": model._oob_weight, "chosen": model.balance_}
        return cls.from_predictions(target[rows], said, rare=rare, ax=ax, **weight)

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
            Which targets are rare.
        sample_weight : array of shape (n,), optional
            How many rows each stands for, as of out-of-bag rows.
        chosen : float, optional
            The value that a model uses, which is marked.
        ax : matplotlib axes, optional

        Returns
        -------
        BalanceCurveDisplay
        """
        truth, few = np.asarray(y_true, dtype=np.float64), np.asarray(rare, dtype=bool)
        cases = Cases.of(len(truth), sample_weight)
        errors = {at: np.abs(np.asarray(y_pred[at]) - truth) for at in sorted(y_pred)}
        overall = [cases.mean(error) for error in errors.values()]
        of_rare = [cases.part(few).mean(error[few]) for error in errors.values()]
        return cls(list(errors), overall, of_rare, chosen).plot(ax=ax)

    def _draw(self, ax: Any) -> None:
        at = np.array(self.balances)
        drawn = ((self.overall, MAIN, "all rows", -0.004), (self.rare, SECOND, "rare targets", 0.004))
        self.lines_ = [
            draw_ranges(ax, at + aside, figures, color=colour, label=name, markersize=5, linewidth=1.5)
            for figures, colour, name, aside in drawn
        ]
        if self.chosen is not None:
            ax.axvline(self.chosen, color="0.35", linestyle="--", linewidth=1.0, label="this model")
        ax.set(xlabel="balance", ylabel="mean absolute error")
        ax.legend(edgecolor="none", framealpha=0.9)
