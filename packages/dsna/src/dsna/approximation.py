"""Settings of the sparse neighbour approximation, a parameter of the estimators."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import StrOptions

from ._utils.parameters import NON_NEGATIVE, POSITIVE, SHARE, at_least

_FEEDBACK_STEPS = 10
_MOST_STEPS = 1000


class Approximation(BaseEstimator):
    r"""Settings of the approximation of a query by the rows of its neighbourhood (Algorithm 1 of the paper).

    With the neighbours :math:`x_i` of a query :math:`q`, their mean squared distance :math:`s` and a prior :math:`b`
    that decays with distance, the coefficients :math:`\alpha` minimise

    .. math:: \frac{1}{2s} \Big\| q - \sum_i \alpha_i x_i \Big\|^2 + \sum_i \lambda_i |\alpha_i|
              + \gamma \, \| \alpha - b \|_1 + \frac{\rho}{2} \| \alpha \|^2
              \quad \text{subject to} \quad \sum_i \alpha_i = 1

    (equation 6 of Huang, Loy and Tang, "Discriminative Sparse Neighbor Approximation for Imbalanced Learning"), with
    :math:`\lambda_i = \lambda \max_j p_j / p_i` for proximities :math:`p`. This class holds parameters, with
    ``get_params`` and ``set_params``, but is not an estimator.

    Parameters
    ----------
    lam : float, default=0.003
        Weight of the l1 norm of the coefficients: larger values select fewer rows.
    gamma : float, default=0.1
        Weight of the l1 distance of the coefficients from the prior: larger values favour near rows.
    bandwidth : float, default=0.3
        Decay of the prior with distance, in mean distances from the query.
    radius : float, "median" or None, default="median"
        Quantile of the distances up to which rows are included in the prior; None: all rows.
    ridge : float, default=0.01
        Quadratic penalty :math:`\rho` that makes the coefficients unique.
    tol : float, default=1e-3
        Optimality residual at which the solver stops.
    sum_to_one : bool, default=True
        Whether the coefficients are constrained to sum to one.
    proximity_weights : bool, default=True
        Whether the l1 penalties and the prior are weighted by proximities.
    n_clusters : int, default=1
        Maximum number of clusters of a neighbourhood; the clustering also uses the labels (classes or targets).
    overlap : float, default=0.3
        Overlap of clusters: a row belongs to every cluster whose centroid is at most this much farther than the nearest
        one, in mean distances from the query.
    tau : float, default=1.0
        Weight of the targets in the label-aware distance (regression).
    selection : {"soft", "best"}, default="soft"
        "soft": clusters are weighted by exp(-objective / temperature); "best": only the best cluster is used.
    temperature : float, default=0.05
        Temperature of the soft `selection`.
    hull_energy : float or None, default=None
        Share of a cluster's variance that its affine hull explains; the rows then approximate the projection of the
        query on the hull. None: they approximate the query itself.
    max_iter : int or "auto", default="auto"
        Maximum number of label feedback steps; 0: the prior ignores labels. "auto": 10 in classification, 0 in
        regression.

    Examples
    --------
    >>> from dsna import Approximation, DSNAClassifier
    >>> model = DSNAClassifier(approximation=Approximation(lam=0.01, n_clusters=2))
    >>> model.set_params(approximation__gamma=0.3).approximation
    Approximation(gamma=0.3, lam=0.01, n_clusters=2)
    """

    _parameter_constraints: dict[str, Any] = {
        "lam": [NON_NEGATIVE],
        "gamma": [NON_NEGATIVE],
        "bandwidth": [POSITIVE],
        "radius": [SHARE, StrOptions({"median"}), None],
        "ridge": [NON_NEGATIVE],
        "tol": [POSITIVE],
        "sum_to_one": ["boolean"],
        "proximity_weights": ["boolean"],
        "n_clusters": [at_least(1)],
        "overlap": [NON_NEGATIVE],
        "tau": [NON_NEGATIVE],
        "selection": [StrOptions({"soft", "best"})],
        "temperature": [POSITIVE],
        "hull_energy": [SHARE, None],
        "max_iter": [at_least(0, _MOST_STEPS), StrOptions({"auto"})],
    }

    def __init__(
        self,
        lam: float = 0.003,
        gamma: float = 0.1,
        *,
        bandwidth: float = 0.3,
        radius: float | str | None = "median",
        ridge: float = 0.01,
        tol: float = 1e-3,
        sum_to_one: bool = True,
        proximity_weights: bool = True,
        n_clusters: int = 1,
        overlap: float = 0.3,
        tau: float = 1.0,
        selection: str = "soft",
        temperature: float = 0.05,
        hull_energy: float | None = None,
        max_iter: int | str = "auto",
    ) -> None:
        self.lam = lam
        self.gamma = gamma
        self.bandwidth = bandwidth
        self.radius = radius
        self.ridge = ridge
        self.tol = tol
        self.sum_to_one = sum_to_one
        self.proximity_weights = proximity_weights
        self.n_clusters = n_clusters
        self.overlap = overlap
        self.tau = tau
        self.selection = selection
        self.temperature = temperature
        self.hull_energy = hull_energy
        self.max_iter = max_iter

    def check(self) -> Approximation:
        """Validate the parameters, as estimators do in ``fit``.

        Examples
        --------
        >>> from dsna import Approximation
        >>> Approximation(lam=-1.0).check()
        Traceback (most recent call last):
        ...
        sklearn.utils._param_validation.InvalidParameterError: The 'lam' parameter of Approximation must be ...
        """
        self._validate_params()
        return self

    def feedback_steps(self, n_classes: int) -> int:
        """Return the maximum number of label feedback steps; ``n_classes`` is 0 in regression.

        Examples
        --------
        >>> from dsna import Approximation
        >>> (
        ...     Approximation().feedback_steps(2),
        ...     Approximation().feedback_steps(0),
        ...     Approximation(max_iter=3).feedback_steps(0),
        ... )
        (10, 0, 3)
        """
        if isinstance(self.max_iter, str):
            return _FEEDBACK_STEPS if n_classes else 0
        return int(self.max_iter)

    def kernel_settings(self, n_classes: int) -> dict[str, Any]:
        """Return the fields of ``dsna._kernels.approximation.query.SolverSettings``, which are plain numbers."""
        radius = self.radius
        return {
            "n_classes": n_classes,
            "n_clusters": int(self.n_clusters),
            "overlap": float(self.overlap),
            "tau": float(self.tau),
            "best": int(self.selection == "best"),
            "temperature": float(self.temperature),
            "energy": 0.0 if self.hull_energy is None else float(self.hull_energy),
            "lam": float(self.lam),
            "gamma": float(self.gamma),
            "bandwidth": float(self.bandwidth),
            "radius": 0.5 if isinstance(radius, str) else 1.0 if radius is None else float(radius),
            "use_proximity": int(self.proximity_weights),
            "sum_to_one": int(self.sum_to_one),
            "ridge": float(self.ridge),
            "max_iter": self.feedback_steps(n_classes),
            "tol": float(self.tol),
        }
