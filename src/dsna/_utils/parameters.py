"""The estimators' parameters: what they mean, in one place for all, and which values they take."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

T = TypeVar("T", bound=type)

GROWTH = """\
    n_estimators : int, default=100
        Trees.
    max_depth : int or None, default=20
        Depth at which a tree stops growing.
    min_samples_leaf : int or None, default=None
        Rows that each side of a split must hold; None stands for 2 in regression, and in classification
        for the rows of the rarest class, within 2 and 4.
    max_features : {"auto", "sqrt"}, int, float or None, default="auto"
        Features that a node's linear split combines: a number, a share of all, None for all, "sqrt"; "auto" lets
        single features, pairs and sets of sqrt(n_features) compete for the largest gain.
    n_draws : int, default=10
        Random feature subsets that a node tries.
    C : float, default=10.0
        Weight of the mean loss against the norm in the SVM or SVR of a node.
    cost : {"inverse", "paper"}, callable or None, default="inverse"
        f(p) of a group or label that has the share p of a node: 1 / p, (1 - p) / p, a function, or no cost.
    threshold : {"gain", "sign"}, default="gain"
        Where a split cuts: wherever the reweighted gain is largest, or at the sign of the SVM (SVR: the mean label).
    split_groups : {"targets", "features"}, default="targets"
        Which two groups the SVM of a classification node separates: (groups of) classes, or 2-means clusters.
    svr_epsilon : float, default=0.1
        Tube of the SVR of a regression node, in standard deviations of the node's labels.
    target_density : {"auto", "exact", "bins", "kernel"} or callable, default="auto"
        How common a regression label is: counts of equal labels, of 20 bins, a kernel density, or a function of the
        labels; "auto" counts where labels repeat and smooths where they do not.
    max_split_samples : int, default=512
        Rows that a split is learned on, at most; larger nodes take a stratified sample.
    bootstrap : bool, default=False
        Whether trees resample their rows with replacement. Each tree omits two fifths of the rows in any case.
    scaling : {"columns", "global", "none"}, default="columns"
        Inputs divided by the spread of each column (tables), by one for all (PCA or HOG features), or not at all.
"""

ROUNDS = """\
    metric_rounds : int, default=1
        Forests grown one after another, each in the metric of the one before; the last is kept.
"""

COMMON = """\
    n_jobs : int or None, default=None
        Parallel jobs; results do not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed.
    verbose : int, default=0
        Progress: 1 tells the stages, 2 also the trees.
"""

APPROXIMATION = """\
    metric : {"forest", "euclidean"}, default="forest"
        Space in which neighbours are compared: the forest's metric, or the scaled inputs.
    max_neighbors : int or None, default=100
        Most rows of a neighbourhood; None keeps all that the leaves hold.
    proximity_weights : bool, default=True
        Whether proximities weigh the l1 penalties and the prior.
    n_clusters : int, default=1
        Label-aware clusters of a neighbourhood, at most.
    overlap : float, default=0.3
        How much farther than its nearest centroid a row may lie from another and still belong to it, in mean
        distances from the query.
    tau : float, default=1.0
        Strength of labels in the label-aware distance (regression).
    selection : {"soft", "best"}, default="soft"
        Clusters weighted by exp(-objective / temperature), or the best alone.
    temperature : float, default=0.05
        See `selection`.
    hull_energy : float or None, default=None
        Share of a cluster's variance that its affine hull keeps; the query's projection on the hull is what the rows
        approximate. None: they approximate the query itself.
    lam, gamma : float, default=0.003, 0.1
        Weights of the l1 norm of the coefficients and of their l1 distance from the prior.
    bandwidth : float, default=0.3
        Decay h of the prior with distance, in mean distances from the query.
    radius : float, "median" or None, default="median"
        Quantile of the distances within which rows enter the prior; None: all.
    sum_to_one : bool, default=True
        Whether coefficients add up to one.
    ridge : float, default=0.01
        Small quadratic penalty that makes the coefficients unique.
    max_iter : int or None, default=None
        Steps of label feedback, at most; 0: labels have no say in the prior. None: 10 for classes, 0 in regression.
    tol : float, default=1e-3
        Optimality residual at which the sparse solver stops.
    blend : float or "auto", default="auto"
        Share of the forest's own opinion in the prediction; "auto" learns it from out-of-bag rows.
"""

TUNE = """\
    tune : {None, "oob"}, default=None
        "oob" chooses lam, gamma, bandwidth, n_clusters and tau, and on a few trees C and max_features, by the error on
        out-of-bag rows.
"""


def documented(cls: T) -> T:
    """Class decorator that fills ``{NAME}`` in the docstring with the parameter texts of this module."""
    for name, text in (
        ("GROWTH", GROWTH), ("ROUNDS", ROUNDS), ("COMMON", COMMON), ("APPROXIMATION", APPROXIMATION), ("TUNE", TUNE),
    ):  # fmt: skip
        cls.__doc__ = (cls.__doc__ or "").replace("    {" + name + "}\n", text)
    return cls


_CHOICES: dict[str, tuple[Any, ...]] = {
    "threshold": ("gain", "sign"),
    "split_groups": ("targets", "features"),
    "scaling": ("columns", "global", "none"),
    "metric": ("forest", "euclidean"),
    "selection": ("soft", "best"),
    "tune": (None, "oob"),
}
_WHOLE = {
    "n_estimators": 1, "min_samples_leaf": 1, "n_draws": 1, "max_split_samples": 10, "metric_rounds": 0,
    "n_clusters": 1, "max_iter": 0, "max_depth": 1, "max_neighbors": 1, "verbose": 0,
}  # fmt: skip
_AT_MOST = {"max_iter": 1000}
_MOST_JOBS = 1024
# Of numbers that are multiplied by each other and by squares of distances.
SMALLEST, LARGEST = 1e-100, 1e100
_NONE_ALLOWED = ("max_depth", "min_samples_leaf", "max_neighbors", "max_iter", "hull_energy", "radius", "balance")
_AT_LEAST_ZERO = ("lam", "gamma", "tau", "overlap", "ridge", "svr_epsilon")
_POSITIVE = ("C", "bandwidth", "temperature", "tol")
_FLAGS = ("bootstrap", "proximity_weights", "sum_to_one", "oob_score")
_SHARES = ("hull_energy", "radius", "blend", "balance")


def is_number(value: Any) -> bool:
    """Whether a parameter value is a number; True and False are not."""
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool | np.bool_)


def check_parameters(estimator: Any) -> None:
    """Refuse unknown or impossible parameter values, naming what is allowed."""
    for name, value in estimator.get_params(deep=False).items():
        check_parameter(name, value)


def check_parameter(name: str, value: Any) -> None:
    """Refuse a value that the parameter of this name does not take."""
    if name in _CHOICES:
        if not any(value is allowed or value == allowed for allowed in _CHOICES[name]):
            raise ValueError(f"{name}={value!r} is unknown: use one of {_CHOICES[name]}.")
    elif value is None and name in _NONE_ALLOWED:
        return
    elif name in _WHOLE:
        if not is_number(value) or value != int(value) or value < _WHOLE[name]:
            raise ValueError(f"{name}={value!r} must be a whole number of at least {_WHOLE[name]}.")
        if value > _AT_MOST.get(name, np.inf):
            raise ValueError(f"{name}={value!r} must be a whole number of at most {_AT_MOST[name]}.")
    elif name in _FLAGS:
        if not isinstance(value, bool | np.bool_):
            raise ValueError(f"{name}={value!r} must be True or False.")
    elif name in _AT_LEAST_ZERO:
        if not is_number(value) or not 0.0 <= value <= LARGEST:
            raise ValueError(f"{name}={value!r} must be a number of at least 0 and at most {LARGEST:g}.")
    elif name in _POSITIVE:
        if not is_number(value) or not SMALLEST <= value <= LARGEST:
            raise ValueError(f"{name}={value!r} must be a positive number from {SMALLEST:g} to {LARGEST:g}.")
    elif name in _SHARES:
        if isinstance(value, str) and (name, value) in (("blend", "auto"), ("radius", "median")):
            return
        if not is_number(value) or not 0.0 <= value <= 1.0:
            raise ValueError(f"{name}={value!r} must lie in [0, 1].")
    elif name == "n_jobs":
        check_jobs(value)


def check_jobs(n_jobs: Any) -> None:
    """Refuse what is no number of parallel jobs."""
    whole = is_number(n_jobs) and isinstance(n_jobs, int | np.integer)
    if n_jobs is not None and not (whole and n_jobs != 0 and abs(n_jobs) <= _MOST_JOBS):
        raise ValueError(
            f"n_jobs={n_jobs!r} must be None or a whole number from 1 to {_MOST_JOBS}; -1 takes all processors."
        )
