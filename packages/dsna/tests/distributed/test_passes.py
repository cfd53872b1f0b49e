"""The passes over partitions: what they count, sample and place, however the table is cut and sorted."""

from __future__ import annotations

import numpy as np
import pytest
from tests.distributed.tables import classes, classifier, cut, regressor, shards_of, targets

from dsna import DSNAClassifier, DSNAError
from dsna.distributed import DistributedDSNAClassifier
from dsna.distributed.blocks import Roles
from dsna.distributed.engines.local import LocalEngine
from dsna.distributed.placed import Passes
from dsna.distributed.sampling import quotas
from dsna.forest.scaling import Scaling


def passes_over(partitions, roles=None, most=200, scaling="columns"):
    passes = Passes(LocalEngine(), partitions, seed=3, sample_size=most, shard_rows=300)
    return passes, passes.count(roles or Roles(), True, scaling)[0]


@pytest.mark.parametrize("scaling", ["columns", "global", "none"])
def test_counts_are_those_of_the_whole_table(scaling):
    X, y = classes()
    X = X * [1e-3, 1.0, 1e6, 0.0] + [5.0, -1e4, 0.0, 7.0]
    _, totals = passes_over(cut(X, y), scaling=scaling)
    whole = Scaling(X, scaling, np.ones(len(X)))
    np.testing.assert_allclose(totals.scaling.offset, whole.offset, rtol=1e-12, atol=1e-8)
    np.testing.assert_allclose(totals.scaling.scale, whole.scale, rtol=1e-9)
    names, counts = np.unique(y, return_counts=True)
    assert totals.classes.tolist() == names.tolist()
    assert totals.counts.tolist() == counts.tolist()


def test_the_sample_does_not_depend_on_how_the_table_is_cut():
    X, y = classes()
    found = []
    for at in ((250, 260, 700), (1, 899)):
        passes, totals = passes_over(cut(X, y, at=at))
        found.append(passes.sample(totals)[0])
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one.astype(float), other.astype(float), rtol=1e-9, atol=1e-12)


def test_the_sample_holds_all_rare_rows_and_stands_for_all_others():
    X, y = classes()
    weight = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    passes, totals = passes_over(cut(X, y, weight))
    sample, rule = passes.sample(totals)
    rare = np.flatnonzero(y == "rare")
    assert len(sample.y) == 200
    assert set(rare) <= set(sample.number)
    for code, name in enumerate(totals.classes):
        assert sample.weight[sample.y == code].sum() == pytest.approx(weight[y == name].sum())
    held = np.bincount(sample.fold[sample.y == 1], minlength=5)
    assert np.ptp(held) <= 1  # rare rows evenly
    assert set(rule.number) == set(rare)
    np.testing.assert_array_equal(quotas(np.array([5, 1000, 10]), 10_000), [5, 1000, 10])


def test_groups_and_keys():
    X, y = classes()
    group = np.arange(len(y)) // 9
    frame = {**{f"x{j}": X[:, j] for j in range(4)}, "y": y, "who": [f"g{one}" for one in group], "row": group}
    parts = [{name: np.asarray(values)[i : i + 450] for name, values in frame.items()} for i in (0, 450)]
    passes, totals = passes_over(parts, Roles(target="y", group="who"), most=300)
    sample, _ = passes.sample(totals)
    assert totals.names == ("x0", "x1", "x2", "x3", "row")
    for one in np.unique(group[sample.number]):
        assert len(np.unique(sample.fold[group[sample.number] == one])) == 1
    # With a key, the order of the rows does not matter.
    turned = [{name: values[::-1] for name, values in one.items()} for one in parts[::-1]]
    drawn = []
    for some in (parts, turned):
        for one in some:
            one["row"] = np.array([f"id{x:.12f}" for x in one["x0"]])
        passes, totals = passes_over(some, Roles(target="y", group="who", key="row"), most=300)
        drawn.append(np.sort(passes.sample(totals)[0].draw))
    np.testing.assert_array_equal(*drawn)


def test_every_row_lives_on_one_shard_and_counts_in_its_leaves():
    X, y = classes()
    model = classifier(max_neighbors=None).fit(cut(X, y), None)
    numbers = np.concatenate([shard.number for shard in shards_of(model)])
    assert np.sort(numbers).tolist() == list(range(len(y)))
    assert model.class_prior_.tolist() == pytest.approx([np.mean(y == "common"), np.mean(y == "rare")])
    bounded = classifier().fit(cut(X, y), None)
    held = np.sum([np.diff(shard.leaf_ptr) for shard in shards_of(bounded)], axis=0)
    assert 32 <= held.max() <= 64  # about 32: rows are drawn, and each class has one at least


@pytest.mark.parametrize("sort", ["target", "feature"])
def test_sorted_rows(sort):
    """A shard without the rare class, and shards that know a part of the space only."""
    X, y = classes(2000)
    order = np.argsort(y if sort == "target" else X[:, 0], kind="stable")
    queries, truth = classes(1500, seed=7)
    scores = []
    for by in (np.arange(len(y)), order):
        found = classifier().fit(cut(X[by], y[by]), None).predict(queries)
        scores.append(np.mean([np.mean(found[truth == name] == name) for name in np.unique(truth)]))
    assert min(scores) > 0.9
    assert abs(scores[0] - scores[1]) < 0.03  # samples differ; tests/slow compares large tables


def test_a_class_of_the_last_partition():
    X, y = classes()
    y = y.astype(object)
    y[-30:] = "new"
    X[-30:] += 4.0
    model = classifier().fit(cut(X, y), None)
    assert model.classes_.tolist() == ["common", "new", "rare"]
    assert np.mean(model.predict(X[-30:]) == "new") > 0.9


def test_a_regression_of_sorted_targets():
    X, y = targets()
    order = np.argsort(y)
    model = regressor().fit(cut(X[order], y[order]), None)
    queries, truth = targets(300, seed=4)
    assert np.corrcoef(model.predict(queries), truth)[0, 1] > 0.9
    low, high = model.predict_interval(queries, 0.9).T
    assert np.mean((low <= truth) & (truth <= high)) > 0.8


def test_tuned():
    X, y = targets(500)
    model = regressor(tune="oob").fit(cut(X, y, at=(200, 210, 400)), None)
    assert np.isfinite(model.model_.oob_score_)


@pytest.mark.parametrize(
    "change, problem",
    [
        (lambda parts: parts[1].pop("x1"), "partition 1 lacks column x1|partition 1 and partition 0 differ in columns"),
        (lambda parts: parts[1].update(more=parts[1]["x0"]), "partition 1 and partition 0 differ in columns: 'more'"),
        (lambda parts: parts[1].update(x1=np.array(["a"] * 450)), "partition 1: column 'x1' holds .*, not numbers"),
        (lambda parts: parts[1].update(y=np.ones(450)), "target of partition 1 holds numbers, and that of partition 0"),
        (lambda parts: parts[1].update(x1=np.full(450, np.nan)), "partition 1: NaN or infinity in column x1"),
        (lambda parts: parts[0].pop("y"), "partition 0 lacks column y"),
        (lambda parts: parts[0].update(y=np.array([None] * 450)), "partition 0: 450 rows have no target"),
    ],
)
def test_partitions_that_do_not_fit(change, problem):
    X, y = classes()
    parts = [{**{f"x{j}": X[i : i + 450, j] for j in range(4)}, "y": y[i : i + 450]} for i in (0, 450)]
    change(parts)
    with pytest.raises(DSNAError, match=problem):
        DistributedDSNAClassifier().fit(parts, "y")


def test_numbers_of_different_types_go_together():
    X, y = classes()
    whole = np.round(X * 10)
    parts = cut(whole, y)
    mixed = [(x.astype([np.int32, np.float32, np.int64, np.float64][k % 4]), c) for k, (x, c) in enumerate(parts)]
    queries = whole[:50]
    found = [classifier().fit(some, None).predict_proba(queries) for some in (parts, mixed)]
    np.testing.assert_array_equal(*found)


class Changing:
    """A partition that has fewer rows every time that it is read."""

    def __init__(self, *arrays):
        self.arrays = arrays

    def read(self):
        self.arrays = tuple(a[:-1] for a in self.arrays)
        return self.arrays


def test_what_cannot_be_fitted():
    X, y = classes()
    with pytest.raises(DSNAError, match="another number of rows than before"):
        classifier().fit([Changing(X, y)], None)
    with pytest.raises(DSNAError, match="use the ordinary estimators"):
        classifier().fit(X, y)
    with pytest.raises(DSNAError, match="name of a column"):
        classifier().fit([(X, y)], y)
    with pytest.raises(DSNAError, match="sample_size=5 must be"):
        DistributedDSNAClassifier(sample_size=5).fit([(X, y)], None)
    with pytest.raises(DSNAError, match="must be a DSNAClassifier"):
        DistributedDSNAClassifier("forest").fit([(X, y)], None)
    with pytest.raises(DSNAError, match="y has shape"):
        classifier().fit([(X, np.column_stack([y, y]))], None)
    with pytest.raises(DSNAError, match="target of partition 1 has 1 outputs, and that of partition 0 has 2"):
        regressor().fit([(X, X[:, :2]), (X, X[:, :1])], None)
    with pytest.raises(DSNAError, match="one class only"):
        classifier().fit([(X, np.full(len(y), "a"))], None)
    with pytest.raises(DSNAError, match="No partition has a row"):
        classifier().fit([(X[:0], y[:0])], None)
    from sklearn.neighbors import NearestNeighbors

    with pytest.raises(DSNAError, match="not nearest neighbours"):
        DistributedDSNAClassifier(DSNAClassifier(NearestNeighbors())).fit([(X, y)], None)
    model = classifier().fit([(X, y)], None)
    with pytest.raises(DSNAError, match="has 3 columns; the model was fitted on 4"):
        model.predict(X[:, :3])
    with pytest.raises(DSNAError, match="at most 2048 rows"):
        model.explain(np.repeat(X, 3, axis=0))
    assert model.predict_set(X[:5]).shape == (5, 2)
    assert model.predict(X[:0]).shape == (0,)
