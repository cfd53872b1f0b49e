"""Public fitted attributes are in the class docstring; everything else that fit sets is private."""

import re

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_regression

from dsna import CostSensitiveForestClassifier, CostSensitiveForestRegressor, DSNAClassifier, DSNARegressor

_FEW = 3
_MODELS = [
    CostSensitiveForestClassifier(_FEW, oob_score=True),
    CostSensitiveForestRegressor(_FEW, oob_score=True),
    DSNAClassifier(CostSensitiveForestClassifier(_FEW)),
    DSNARegressor(CostSensitiveForestRegressor(_FEW)),
]


def documented(cls: type) -> set[str]:
    """Names in the section Attributes of a numpy-style docstring."""
    section = cls.__doc__.split("Attributes\n    ----------\n")[1].split("\n\n")[0]
    heads = [line.split(" : ")[0] for line in section.splitlines() if re.match(r"    \w", line)]
    return {name.strip() for head in heads for name in head.split(",")}


@pytest.mark.parametrize("model", _MODELS, ids=lambda model: type(model).__name__)
def test_public_fitted_attributes_are_documented(model):
    make = make_classification if "Classifier" in type(model).__name__ else make_regression
    X, y = make(60, random_state=0)[:2]
    model.set_params(random_state=0).fit(X, y)
    fitted = {name for name in vars(model) if name not in model.get_params(deep=False)}
    public = {name for name in fitted if not name.startswith("_")}
    assert all(name.endswith("_") for name in public)
    assert public <= documented(type(model))
    missing = {name for name in documented(type(model)) - {"feature_names_in_"} if not hasattr(model, name)}
    assert missing == set(), "documented, but not there"
    assert np.isclose(model.feature_importances_.sum(), 1.0)
