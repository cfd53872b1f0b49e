"""A distributed model answers as one ordinary model with the same trees and all rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from tests.distributed.tables import (
    classes,
    classifier,
    cut,
    ordinary_of_all_rows,
    pairs_of_targets,
    regressor,
    targets,
)


def assert_same_neighbors(model, one, queries):
    why = model.explain(queries)
    own = one.explain(model._core.scaling.transform(queries))
    np.testing.assert_array_equal(why.size, own.size)
    for a, b, n in zip(why.rows, own.rows, why.size, strict=True):
        assert set(a[:n]) == set(b[:n])
    outside = np.arange(why.rows.shape[1]) >= why.size[:, None]
    order = [np.argsort(np.where(outside, len(outside) + one.rows.max(), one.rows), axis=1) for one in (why, own)]
    for field in ("proximity", "coefficient", "weight"):
        found, expected = (
            np.take_along_axis(getattr(one, field), by, axis=1) for one, by in zip((why, own), order, strict=True)
        )
        scale = np.abs(expected).max()
        np.testing.assert_allclose(found[~outside], expected[~outside], rtol=0, atol=1e-10 * scale)


@pytest.mark.parametrize("most", [100, None])
@pytest.mark.parametrize("weighted", [False, True])
def test_classes(most, weighted):
    X, y = classes()
    weight = np.random.default_rng(1).uniform(0.5, 2.0, len(X)) if weighted else np.ones(len(X))
    model = classifier(max_neighbors=most).fit(cut(X, y, weight), None)
    assert len(model._placed.shards) > 2
    one, _ = ordinary_of_all_rows(model, X, np.unique(y, return_inverse=True)[1], weight)
    queries = classes(150, seed=5)[0]
    np.testing.assert_allclose(
        model.predict_proba(queries), one.predict_proba(model._core.scaling.transform(queries)), rtol=0, atol=1e-10
    )
    assert_same_neighbors(model, one, queries)


@pytest.mark.parametrize("trend, make", [(None, targets), ("linear", targets), ("joint", pairs_of_targets)])
def test_targets(trend, make):
    X, y = make()
    model = regressor(trend=trend).fit(cut(X, y), None)
    one, _ = ordinary_of_all_rows(model, X, y)
    queries = make(150, seed=5)[0]
    scaled = model._core.scaling.transform(queries)
    for found, expected in (
        (model.predict(queries), one.predict(scaled)),
        (model.predict_interval(queries), one.predict_interval(scaled)),
        (model.predict_quantiles(queries), one.predict_quantiles(scaled)),
    ):
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10 * np.ptp(y, axis=0).max())
    assert_same_neighbors(model, one, queries)


@pytest.mark.parametrize("make, table", [(classifier, classes), (regressor, targets)])
def test_how_rows_are_dealt_to_shards_changes_nothing(make, table):
    """What is learned out of bag, and in which order neighbours are solved, do not depend on it either."""
    X, y = table()
    one, many = (make(max_neighbors=40).set_params(shard_rows=rows).fit(cut(X, y), None) for rows in (100_000, 200))
    assert len(one._placed.shards) == 1
    assert len(many._placed.shards) > 2
    queries = table(150, seed=5)[0]
    for method in ("predict_proba", "predict") if make is classifier else ("predict", "predict_interval"):
        found, expected = (getattr(model, method)(queries) for model in (many, one))
        if expected.dtype.kind == "f":
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10 * np.ptp(y) if make is regressor else 1e-10)
        else:
            assert found.tolist() == expected.tolist()


@pytest.mark.parametrize("make, table", [(classifier, classes), (regressor, targets)])
def test_with_a_key_the_order_of_a_table_changes_nothing(make, table):
    """Neither the sample nor the order of its rows, on which trees depend."""
    X, y = table()
    frame = pd.DataFrame(X, columns=list("abcd")).assign(y=y, id=np.arange(len(y)) + 1000)
    queries = pd.DataFrame(table(150, seed=5)[0], columns=list("abcd"))
    parts = [frame[:300], frame[300:450], frame[450:]]
    there, back = (make().fit(rows, "y", key="id") for rows in (parts, parts[::-1]))
    np.testing.assert_array_equal(there._core.forest.trees.child, back._core.forest.trees.child)
    answers = [getattr(m, "predict_proba" if make is classifier else "predict")(queries) for m in (there, back)]
    # Neighbours are solved in another order, to the tolerance of the solver.
    np.testing.assert_allclose(*answers, rtol=0, atol=1e-2 * np.ptp(answers[0]))


def test_a_trend_of_all_rows():
    """Its slopes are those of a ridge on all rows, of one of the penalties that are tried."""
    X, y = targets()
    model = regressor(trend="linear").fit(cut(X, y), None)
    trend, head = model.model_._trend, model.model_
    scaled = model._core.scaling.transform(X)
    known = head._index.weight > 0
    relevant = head._relevant(head._density, head._index.label[known], head._index.weight[known])
    weight = relevant.evaluate(y[:, None]) ** -0.5
    weight /= weight.mean()
    F = np.column_stack([scaled - trend.basis.offset, np.ones(len(y))])
    off = []
    for penalty in (0.1, 1.0, 10.0, 100.0):
        ridge = penalty * np.diag([1.0] * 4 + [0.0])
        slopes = np.linalg.solve(F.T @ (weight[:, None] * F) + ridge, F.T @ (weight * y))
        off.append(np.abs(slopes - [*trend.slopes[:, 0], *trend.intercept]).max())
    assert min(off) < 1e-10 < sorted(off)[1]
