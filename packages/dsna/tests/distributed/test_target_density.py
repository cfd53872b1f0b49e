"""The density of the targets of a regression comes from all rows, whatever the sample."""

from __future__ import annotations

import numpy as np
import pytest
from tests.distributed.tables import cut, regressor, targets

from dsna.distributed.blocks import Roles
from dsna.distributed.engines.local import LocalEngine
from dsna.distributed.placed import Passes
from dsna.distributed.sums.targets import add_targets, target_sums
from dsna.forest.density import TargetDensity

ROWS, MOST = 9000, 1200  # different targets that are counted one by one


def continuous(outputs=1):
    rng = np.random.default_rng(2)
    y = np.exp(rng.normal(size=(ROWS, outputs)))  # a long tail
    y[: ROWS // 5] = 1.0  # and a target that repeats
    return rng.permutation(y), rng.uniform(0.5, 2.0, ROWS)


def counted(y, weight, at=(2500, 2600, 7000)):
    """What the passes count and sample of a table that lies in partitions."""
    parts = cut(np.zeros((len(y), 1)), y, weight, at=at)
    passes = Passes(LocalEngine(), parts, seed=3, sample_size=MOST, shard_rows=3000)
    totals, sums = passes.count(Roles(), False, "columns")
    return totals, sums, passes.sample(totals)[0]


def by_fold(y, weight, fold, totals):
    """Sums by fold of two parts of a table."""
    rows = (y, totals.strata(y, "X"), weight, fold)
    half = len(y) // 2
    parts = [tuple(a[some] for a in rows) for some in (slice(half), slice(half, None))]
    return add_targets(*(target_sums(part, totals, MOST) for part in parts))


@pytest.mark.parametrize("without", [None, 2])
@pytest.mark.parametrize(
    "kind, digits, tolerance",
    [
        ("auto", None, 1e-3),  # a kernel density
        ("bins", None, 1e-12),
        ("exact", None, 1e-12),
        ("auto", 1, 1e-12),  # targets that repeat
        ("kernel", 1, 1e-12),
    ],
)
def test_one_output(kind, digits, tolerance, without):
    y, weight = continuous()
    y = y if digits is None else np.minimum(np.round(y, digits), 9.0)
    totals, sums, sample = counted(y, weight)
    fold = np.random.default_rng(0).integers(5, size=len(y))
    others = fold != without
    sums = sums if without is None else by_fold(y, weight, fold, totals)
    found = sums.density(kind, sample, totals, without)
    expected = TargetDensity(y[others], kind, weight[others])
    assert (found.kind, found.floor) == (expected.kind, expected.floor)
    assert found.kind == {"auto": "kernel" if digits is None else "exact"}.get(kind, kind)
    # Of too many different targets that are counted one by one, only some are known.
    asked = found.support if found.kind == "exact" else y
    np.testing.assert_allclose(found.evaluate(asked), expected.evaluate(asked), rtol=tolerance)


def test_several_outputs():
    y, weight = continuous(2)
    totals, sums, sample = counted(y, weight)
    assert not sums.is_complete
    found, expected = sums.density("per-output", sample, totals), TargetDensity(y, "per-output", weight)
    np.testing.assert_allclose(found.evaluate(sample.y), expected.evaluate(sample.y), rtol=1e-3)
    assert not found.repeats
    # Jointly, both are estimated from some 500 rows, which are others: as near as such rows can be.
    found, expected = sums.density("kernel", sample, totals), TargetDensity(y, "kernel", weight)
    assert 500 <= len(found.support) < 1000
    np.testing.assert_allclose(found.scale, expected.scale, rtol=1e-12)
    assert np.abs(found.evaluate(y) - expected.evaluate(y)).max() < 5 * np.sqrt(0.25 / 500)
    of_sample = TargetDensity(sample.y, "kernel")  # rare rows are common in it
    off = [np.abs(one.evaluate(y) - expected.evaluate(y)).mean() for one in (found, of_sample)]
    assert off[0] < 0.3 * off[1]


def test_sums_do_not_depend_on_how_the_table_is_cut():
    y, weight = continuous()
    one, other = (counted(y, weight, at)[1] for at in ((2500, 2600, 7000), (1, 8999)))
    np.testing.assert_array_equal(one.value, other.value)
    assert (len(one.value), one.is_complete) == (MOST, False)
    for a, b in zip((*one[2:4], *one.bins[0]), (*other[2:4], *other.bins[0]), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


def test_a_model_knows_the_density_of_all_rows():
    X, y = targets()
    model = regressor(balance=1.0).fit(cut(X, y), None).model_
    expected = TargetDensity(y)
    assert model._index.weight[model._index.weight > 0].size == 400
    np.testing.assert_allclose(model._density.evaluate(y), expected.evaluate(y), rtol=1e-10)
    np.testing.assert_allclose(model._rarity, expected.rarity(model._index.label), rtol=1e-10)
