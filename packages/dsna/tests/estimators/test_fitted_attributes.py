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


def assert_documented(model):
    """Public fitted attributes are those of the docstring, but for two that not every model has."""
    fitted = {name for name in vars(model) if name not in model.get_params(deep=False)}
    public = {name for name in fitted if not name.startswith("_")}
    assert all(name.endswith("_") for name in public)
    assert public <= documented(type(model))
    always = documented(type(model)) - {"feature_names_in_", "kept_rows_"}
    missing = {name for name in always if not hasattr(model, name)}
    assert missing == set(), "documented, but not there"


@pytest.mark.parametrize("model", _MODELS, ids=lambda model: type(model).__name__)
def test_public_fitted_attributes_are_documented(model):
    make = make_classification if "Classifier" in type(model).__name__ else make_regression
    X, y = make(60, random_state=0)[:2]
    model.set_params(random_state=0).fit(X, y)
    assert_documented(model)
    assert np.isclose(model.feature_importances_.sum(), 1.0)


def test_those_of_a_detector_are_documented(tmp_path):
    pytest.importorskip("PIL")
    from tests.boundary_folders import write_shapes

    from dsna_vision.datasets import load_bsds500
    from dsna_vision.edges import EdgeDetector

    write_shapes(tmp_path, n=2)
    detector = EdgeDetector(n_estimators=2, n_patches=150, n_pool=150, random_state=0)
    assert_documented(detector.fit(load_bsds500(tmp_path, "train")))
