"""Unknown and impossible parameter values are refused by name."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from tests.small_models import every, make, table

from dsna import (
    Approximation,
    CostSensitiveForestClassifier,
    CostSensitiveForestRegressor,
    DSNAClassifier,
    DSNAError,
    DSNARegressor,
)

WRONG = {
    "n_estimators": (0, -1, 1.5, "many", None, True),
    "max_depth": (0, -3, "deep", True),
    "min_samples_leaf": (0, -1, 1.5, "few"),
    "max_features": ("most", 0, -1, 1.5, True),
    "n_draws": (0, "x"),
    "splits": ("diagonal", None),
    "C": (0, -1, np.nan, np.inf, "x", None, True),
    "cost": ("dear", 3, lambda p: -p),
    "threshold": ("x", None),
    "split_groups": ("x", None),
    "svr_epsilon": (-1, "x"),
    "target_density": ("x", lambda y: -y),
    "relevance": ("x", None, 3, [], [(0, 1)], [(0, 0), (0, 1)], [(0, 0), (1, 2)], lambda y: y + 9),
    "trend": ("x", 3, True),
    "criterion": ("x", None, "mse"),
    "max_split_samples": (0, "x"),
    "bootstrap": ("x", 3, None),
    "metric_rounds": (0, -1, "x"),
    "scaling": ("x", None),
    "approximation": ("x", 3),
    "balance": (-1, 2, np.nan, "x", None, True),
    "oob_score": ("x", 3),
    "forest": ("x", 3, Approximation()),
    "metric": ("x", None),
    "max_neighbors": (0, -1, 1.5, "x", True),
    "proximity_weights": ("x", 2),
    "n_clusters": (0, 1.5, "x"),
    "overlap": (-1, "x"),
    "tau": (-1, "x"),
    "selection": ("x", None),
    "temperature": (0, "x"),
    "hull_energy": (-1, 2, "x"),
    "lam": (-1, "x", np.True_),
    "gamma": (-1, "x"),
    "bandwidth": (0, "x"),
    "radius": (-1, 2, "mean"),
    "sum_to_one": ("x", 2),
    "ridge": (-1, "x"),
    "max_iter": (-1, 1.5, "x", False),
    "tol": (0, "x"),
    "blend": (-1, 2, "x", False),
    "decision": ("x", None),
    "tune": ("x", True),
    "verbose": ("x", -1),
}
FREE = {"n_jobs", "random_state"}  # joblib and numpy refuse bad values of these
FORESTS = (CostSensitiveForestClassifier, CostSensitiveForestRegressor)
IGNORED = {"oob_score"}  # of a forest inside DSNA; tested in test_composition.py


def parameters_of(part):
    return set(part.get_params(deep=False))


@every
def test_unknown_parameter_values(kind):
    X, y = table(kind, 30)
    accepted = []
    own = set(inspect.signature(kind).parameters)
    nested = set() if kind in FORESTS else parameters_of(kind().default_forest()) | parameters_of(Approximation())
    for name in own | nested - IGNORED:
        if name in FREE:
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
    with pytest.raises(ValueError, match=r"'scaling' parameter of .* must be a str among .*columns"):
        make(kind, scaling="x").fit(X, y)
    with pytest.raises(ValueError, match=r"'cost' parameter of .* must be a str among .*inverse.* a callable or None"):
        make(kind, cost="x").fit(X, y)
    with pytest.raises(ValueError, match=r"'n_estimators' parameter of .* must be an int in the range \[1, inf\)"):
        make(kind, n_estimators=0).fit(X, y)
    with pytest.raises(TypeError, match="unexpected keyword argument 'lambda_'"):
        kind(lambda_=1.0)
    with pytest.raises(ValueError, match="Invalid parameter 'lambda_'"):
        kind().set_params(lambda_=1.0)


@pytest.mark.parametrize("kind", [DSNAClassifier, DSNARegressor])
def test_class_weight_and_partial_fit_name_what_to_use(kind):
    for ask in (lambda: kind(class_weight="balanced"), lambda: kind().set_params(class_weight="balanced")):
        with pytest.raises(DSNAError, match=rf"{kind.__name__} has no class_weight: set balance, from 0 "):
            ask()
    assert not hasattr(kind(), "partial_fit")
    with pytest.raises(AttributeError, match=rf"{kind.__name__} has no partial_fit: call fit once, then add_samples"):
        kind().partial_fit([[0.0]], [0.0])
    assert "class_weight" not in inspect.signature(kind).parameters
    assert list(inspect.signature(kind.fit).parameters) == ["self", "X", "y", "sample_weight", "groups"]
    assert "balance" in inspect.signature(kind).parameters


@pytest.mark.parametrize("kind", [DSNAClassifier, DSNARegressor])
@pytest.mark.parametrize(
    "name, value, remedy",
    [
        ("n_estimators", 500, r"parameter of its forest, so pass forest={forest}\(n_estimators=500\)"),
        ("max_features", "sqrt", r"forest={forest}\(max_features='sqrt'\)"),
        ("lam", 0.1, r"parameter of its approximation, so pass approximation=Approximation\(lam=0.1\)"),
        ("warm_start", True, "call fit anew, or add_samples"),
        ("scale_pos_weight", 20, "set balance, from 0 "),
        ("early_stopping_rounds", 10, "nothing is stopped early"),
        ("oob_score", True, "oob_score_ is there after every fit"),
        ("eval_set", [], "nothing is stopped early"),
    ],
)
def test_parameters_of_others_are_refused_with_a_remedy(kind, name, value, remedy):
    forest = type(kind().default_forest()).__name__
    message = rf"^{kind.__name__} has no {name}: .*{remedy.format(forest=forest)}"
    for ask in (lambda: kind(**{name: value}), lambda: kind().set_params(**{name: value})):
        with pytest.raises(DSNAError, match=message):
            ask()
    if name in kind().default_forest().get_params() and name != "oob_score":
        assert kind(kind().default_forest()).set_params(**{f"forest__{name}": value}).forest.get_params()[name] == value


@pytest.mark.parametrize("kind", [DSNAClassifier, DSNARegressor])
@pytest.mark.parametrize("name", ["eval_set", "early_stopping_rounds", "class_weight"])
def test_fit_refuses_what_others_take(kind, name):
    X, y = table(kind, 30)
    with pytest.raises(DSNAError, match=f"{kind.__name__} has no {name}: "):
        make(kind).fit(X, y, **{name: [(X, y)]})
    with pytest.raises(TypeError, match="unexpected keyword argument 'epochs'"):
        make(kind).fit(X, y, epochs=3)
