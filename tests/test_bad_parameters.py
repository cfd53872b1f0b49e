"""Unknown and impossible parameter values are refused by name."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

from tests.small_models import CLASSIFIERS, every, make, table

WRONG = {
    "n_estimators": (0, -1, 1.5, "many", None),
    "max_depth": (0, -3, "deep"),
    "min_samples_leaf": (0, -1, 1.5, "few"),
    "max_features": ("most", 0, -1, 1.5, True),
    "n_draws": (0, "x"),
    "C": (0, -1, np.nan, np.inf, "x", None),
    "cost": ("dear", 3, lambda p: -p),
    "threshold": ("x", None),
    "split_groups": ("x", None),
    "svr_epsilon": (-1, "x"),
    "target_density": ("x", lambda y: -y),
    "max_split_samples": (0, "x"),
    "bootstrap": ("x", 3, None),
    "metric_rounds": (-1, "x"),
    "scaling": ("x", None),
    "balance": (-1, 2, np.nan, "x"),
    "oob_score": ("x", 3),
    "forest": ("x", None, 3),
    "metric": ("x", None),
    "max_neighbors": (0, -1, 1.5, "x"),
    "proximity_weights": ("x", 2),
    "n_clusters": (0, 1.5, "x"),
    "overlap": (-1, "x"),
    "tau": (-1, "x"),
    "selection": ("x", None),
    "temperature": (0, "x"),
    "hull_energy": (-1, 2, "x"),
    "lam": (-1, "x"),
    "gamma": (-1, "x"),
    "bandwidth": (0, "x"),
    "radius": (-1, 2, "mean"),
    "sum_to_one": ("x", 2),
    "ridge": (-1, "x"),
    "max_iter": (-1, 1.5, "x"),
    "tol": (0, "x"),
    "blend": (-1, 2, "x"),
    "decision": ("x", None),
    "tune": ("x", True),
    "verbose": ("x", -1),
}
FREE = {"n_jobs", "random_state"}  # joblib and numpy refuse bad values of these


@every
def test_unknown_parameter_values(kind):
    X, y = table(kind, 30)
    accepted = []
    for name in inspect.signature(kind).parameters:
        if name in FREE or (name == "target_density" and kind in CLASSIFIERS):
            continue
        for value in WRONG[name]:
            try:
                make(kind, **{name: value}).fit(X, y)
            except ValueError as error:
                assert name in str(error), (name, value)  # noqa: PT017
            else:
                accepted.append((name, value))
    assert not accepted


@every
def test_messages_name_what_is_allowed(kind):
    X, y = table(kind, 30)
    with pytest.raises(ValueError, match=r"scaling='x' is unknown: use one of .*columns.*global.*none"):
        make(kind, scaling="x").fit(X, y)
    with pytest.raises(ValueError, match=r"cost='x' is unknown: use 'paper', 'inverse', None or a callable"):
        make(kind, cost="x").fit(X, y)
    with pytest.raises(ValueError, match=r"n_estimators=0 must be a whole number of at least 1"):
        make(kind, n_estimators=0).fit(X, y)
    with pytest.raises(TypeError, match="unexpected keyword argument 'lambda_'"):
        kind(lambda_=1.0)
    with pytest.raises(ValueError, match="Invalid parameter 'lambda_'"):
        kind().set_params(lambda_=1.0)
