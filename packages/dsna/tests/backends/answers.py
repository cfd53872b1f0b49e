"""What the tests of joblib backends share: small models, and their fitted state laid out for comparison."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.datasets import make_classification, make_regression
from tests.small_models import build

from dsna import CostSensitiveForestClassifier, CostSensitiveForestRegressor, DSNAClassifier, DSNARegressor

KINDS = (CostSensitiveForestClassifier, CostSensitiveForestRegressor, DSNAClassifier, DSNARegressor)


def table(kind: type) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Training rows, labels and more queries than one task answers."""
    if kind.__name__.endswith("Classifier"):
        X, y = make_classification(900, 6, n_informative=4, n_classes=3, weights=[0.7, 0.25], random_state=0)
    else:
        X, y = make_regression(900, 6, n_informative=4, noise=5.0, random_state=0)
    return X[:300], y[:300], X[300:]


def fitted_state(value: Any, name: str = "") -> dict[str, Any]:
    """Every array and plain value that a fitted object holds, by the path that leads to it."""
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list | tuple):
        items = enumerate(value)
    elif type(value).__module__.startswith("dsna."):
        items = vars(value).items()
    else:
        return {name: value}
    return {path: v for key, inner in items for path, v in fitted_state(inner, f"{name}.{key}").items()}


METHODS = ("predict", "predict_proba", "apply", "predict_interval", "predict_quantiles", "explain")


def answers(kind: type, methods: tuple[str, ...] = METHODS, **params: Any) -> dict[str, Any]:
    """Fitted state of a small model, and what those of the methods that it has give."""
    X, y, queries = table(kind)
    model = build(kind, n_estimators=12, random_state=3, **params).fit(X, y, groups=np.arange(len(X)) // 3)
    out = fitted_state(model)
    for method in methods:
        if hasattr(model, method):
            found = getattr(model, method)(queries)
            out[method] = found.weight if method == "explain" else found
    return {path: v for path, v in out.items() if not path.endswith("n_jobs")}


def assert_identical(found: dict[str, Any], expected: dict[str, Any]) -> None:
    """Raise unless both hold the same paths and, bit for bit, the same values."""
    assert found.keys() == expected.keys()
    for path, value in expected.items():
        if isinstance(value, np.ndarray):
            assert value.dtype == found[path].dtype, path
            np.testing.assert_array_equal(found[path], value, err_msg=path, strict=True)
        else:
            assert found[path] == value or (found[path] != found[path] and value != value), path
