"""The method in one file, `examples/nano_dsna.py`, against the library and against the page that explains it."""

import ast
import re
import runpy
from pathlib import Path

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from dsna import DSNAClassifier, DSNARegressor, presets

ROOT = Path(__file__).parents[3]
FILE = ROOT / "examples" / "nano_dsna.py"
PAGE = ROOT / "docs" / "understand" / "method.md"
NanoDSNA = runpy.run_path(str(FILE))["NanoDSNA"]
MODELS = {
    "classification": (DSNAClassifier, RandomForestClassifier, {"criterion": "entropy", "class_weight": "balanced"}),
    "regression": (DSNARegressor, RandomForestRegressor, {}),
}
SHARED = ("lam", "gamma", "tau", "n_clusters", "overlap", "bandwidth", "ridge", "max_iter")
N_QUERIES = 4


def recording(forest_class):
    """A subclass that lists its fits: the library grows the trees of a forest in parts, on the rows they may see."""

    class Recording(forest_class):
        fits = []

        def fit(self, X, y, sample_weight=None):
            self.fits.append((X, super().fit(X, y, sample_weight).estimators_))
            return self

    Recording.__init__ = forest_class.__init__
    Recording.__name__ = forest_class.__name__
    return Recording


def toy_table(task, n_features=4):
    """A small table whose columns differ in scale; the last rows serve as queries."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(75, n_features)) * rng.uniform(0.1, 10.0, n_features) + 5.0
    y = X[:, 0] / X[:, 0].std() + np.abs(X[:, 1] - 5.0) / X[:, 1].std() + 0.3 * rng.normal(size=len(X))
    if task == "classification":
        y = np.array(["common", "medium", "rare"])[np.searchsorted(np.quantile(y, [0.6, 0.88]), y)]
    return X, y


def both_models(task, approximation, tune=None, n_features=4):
    """The library's paper preset and the nano version with the same trees, and queries."""
    X, y = toy_table(task, n_features)
    estimator_class, forest_class, forest_parameters = MODELS[task]
    forest = recording(forest_class)(20, max_depth=10, min_samples_leaf=5, **forest_parameters)
    library = estimator_class(**{**presets.paper(task), "forest": forest, "tune": tune}, random_state=0)
    library.set_params(**{f"approximation__{name}": value for name, value in {"tol": 1e-10, **approximation}.items()})
    library.fit(X[:-N_QUERIES], y[:-N_QUERIES])
    settings = {name: getattr(library.approximation_, name) for name in SHARED}
    nano = NanoDSNA(forest_class(1), **settings).fit(X[:-N_QUERIES], y[:-N_QUERIES])
    nano.trees = [
        (tree, np.abs(seen[:, None] - nano.X).sum(axis=2).argmin(axis=1))
        for seen, trees in type(forest).fits
        for tree in trees
    ]
    assert len(nano.trees) == 20
    return library, nano, X[-N_QUERIES:]


def check_equal(library, nano, queries):
    """Coefficients and predictions agree; returns the explanation and the coefficients of all training rows."""
    why = library.explain(queries)
    coefficients = np.zeros((len(queries), len(nano.X)))
    for i, size in enumerate(why.size):
        coefficients[i, why.rows[i, :size]] = why.coefficient[i, :size]
    np.testing.assert_allclose(nano.coefficients(queries), coefficients, rtol=0, atol=1e-6)
    if why.classes is None:
        np.testing.assert_allclose(nano.predict(queries), library.predict(queries), rtol=0, atol=1e-6)
    else:
        assert np.array_equal(nano.predict(queries), library.predict(queries))
    return why, coefficients


@pytest.mark.parametrize("task", MODELS)
def test_the_preset_as_it_is(task):
    why, _ = check_equal(*both_models(task, {}))
    assert np.all(why.member.any(axis=1).sum(axis=1) == 3)


@pytest.mark.parametrize("task", MODELS)
def test_the_preset_tuned_out_of_bag(task):
    check_equal(*both_models(task, {}, tune="oob"))


@pytest.mark.parametrize("task", MODELS)
@pytest.mark.parametrize("n_clusters", [1, 2])
def test_coefficients_that_leave_the_prior(task, n_clusters):
    """With a small gamma some coefficients are negative: they extrapolate."""
    why, coefficients = check_equal(*both_models(task, {"gamma": 0.1, "lam": 0.02, "n_clusters": n_clusters}))
    assert coefficients.min() < -0.01
    assert np.any(why.steps > 2)


@pytest.mark.parametrize("task", MODELS)
def test_hulls_that_do_not_reach_the_query(task):
    """Clusters of fewer rows than columns leave a distance, which the choice of the cluster counts."""
    why, _ = check_equal(*both_models(task, {"gamma": 0.3, "n_clusters": 4, "overlap": 0.0}, n_features=30))
    assert np.any(np.sum(why.hull_residual * why.share, axis=1) > 0.1)
    assert np.any(why.share.argmax(axis=1) > 0)


@pytest.mark.parametrize("task", MODELS)
def test_the_nano_version_fits_and_predicts_on_its_own(task):
    X, y = toy_table(task)
    forest = MODELS[task][1](10, min_samples_leaf=5, random_state=0)
    model = NanoDSNA(forest, gamma=0.1).fit(X[:-N_QUERIES], y[:-N_QUERIES])
    predicted = model.predict(X[-N_QUERIES:])
    assert predicted.shape == (N_QUERIES,)
    assert predicted.dtype == y.dtype


def test_the_page_shows_the_whole_file():
    """Each Python block of the page is a literal piece of the file, and no function or class of it is left out."""
    text = FILE.read_text(encoding="utf-8")
    pieces = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    for piece in pieces:
        assert piece in text
    shown = {node.name for piece in pieces for node in ast.parse(piece).body if hasattr(node, "name")}
    assert shown == {node.name for node in ast.parse(text).body if hasattr(node, "name")}


def test_the_file_names_the_equations_of_the_paper():
    text = FILE.read_text(encoding="utf-8")
    assert {int(number) for number in re.findall(r"\beq(\d+)\b", text)} == {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
    assert len(text.splitlines()) <= 220
