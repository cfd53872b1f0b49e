"""Costs and label densities: each kind against counting, and labels that make arithmetic hard."""

import numpy as np
import pytest
from scipy.stats import gaussian_kde

from dsna import DSNAError
from dsna.forest.density import TargetDensity
from dsna.forest.targets import COSTS, class_shares, cost_code

RNG = np.random.RandomState(0)
SMOOTH = np.r_[RNG.randn(950), 8.0 + RNG.rand(50)]
AGES = RNG.poisson(20, size=800).astype(float)


@pytest.mark.parametrize("cost, code", [(None, 0), ("paper", 1), ("inverse", 2)])
def test_cost_code_of_names(cost, code):
    assert cost_code(cost)[0] == code


def test_cost_code_of_a_callable_is_a_table_of_its_values():
    code, table = cost_code(lambda p: p**-0.5)
    assert code == 3
    np.testing.assert_allclose(table, np.logspace(-6, 0, 1025) ** -0.5)


@pytest.mark.parametrize("cost", ["papers", 3, ("paper",)])
def test_unknown_costs_are_refused(cost):
    with pytest.raises(ValueError, match="'inverse'"):
        cost_code(cost)


@pytest.mark.parametrize("cost", [lambda p: -p, lambda p: p / 0.0, lambda p: 1.0, lambda p: p[:5]])
def test_callable_costs_must_be_finite_and_not_negative(cost):
    with np.errstate(divide="ignore"), pytest.raises(ValueError, match="finite, non-negative"):
        cost_code(cost)


def test_class_shares_follow_the_weights():
    np.testing.assert_allclose(class_shares(np.array([0, 2, 2]), 3, np.array([1.0, 2.0, 1.0])), [0.25, 0.0, 0.75])


def test_exact_counts_equal_labels():
    density = TargetDensity(AGES, "exact")
    values, counts = np.unique(AGES, return_counts=True)
    np.testing.assert_allclose(density.evaluate(values), counts / len(AGES))


def test_exact_counts_weights_as_repetitions():
    times = 1 + np.arange(len(AGES)) % 3
    weighted = TargetDensity(AGES, "exact", times)
    repeated = TargetDensity(np.repeat(AGES, times), "exact")
    np.testing.assert_allclose(weighted.evaluate(AGES), repeated.evaluate(AGES))


def test_a_label_never_seen_has_the_share_of_its_neighbour():
    density = TargetDensity(np.repeat([1.0, 5.0, 6.0], [6, 3, 1]), "exact")
    np.testing.assert_allclose(density.evaluate([-9.0, 2.9, 3.1, 5.4, 5.6, 99.0]), [0.6, 0.6, 0.3, 0.3, 0.1, 0.1])


def test_bins_count_labels_of_equal_ranges():
    density = TargetDensity(SMOOTH, "bins")
    counts, edges = np.histogram(SMOOTH, 20)
    middle = 0.5 * (edges[1:] + edges[:-1])
    np.testing.assert_allclose(density.evaluate(middle), np.maximum(counts, 0.5) / len(SMOOTH))


def test_kernel_follows_a_kernel_density():
    inner = RNG.randn(5000)
    density = TargetDensity(inner, "kernel")
    at = np.linspace(-2, 2, 41)
    reference = gaussian_kde(inner, lambda kde: 0.9 * kde.n**-0.2)(at) * np.ptp(inner) / 20
    np.testing.assert_allclose(density.evaluate(at), reference, rtol=0.05)


def test_auto_is_exact_where_labels_repeat():
    assert TargetDensity(AGES).kind == "exact"
    assert TargetDensity(SMOOTH).kind == "kernel"
    assert TargetDensity(np.c_[AGES // 10, AGES // 20]).kind == "exact"
    assert TargetDensity(np.c_[SMOOTH, SMOOTH]).kind == "kernel"


@pytest.mark.parametrize("kind", ["auto", "exact", "bins", "kernel"])
@pytest.mark.parametrize("outputs", [1, 2])
def test_rare_labels_have_small_shares(kind, outputs):
    y = SMOOTH if outputs == 1 else np.c_[SMOOTH, -SMOOTH + 0.01 * RNG.randn(len(SMOOTH))]
    shares = TargetDensity(y, kind).evaluate(y)
    assert shares.shape == (len(y),)
    assert np.all((shares > 0) & (shares <= 1))
    if kind != "exact":
        assert shares[SMOOTH > 7].mean() < 0.5 * shares[np.abs(SMOOTH) < 1].mean()


def test_several_outputs_are_counted_jointly():
    y = np.repeat([[0.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [70, 20, 10], axis=0)
    np.testing.assert_allclose(TargetDensity(y, "exact").evaluate(y[[0, 75, 95]]), [0.7, 0.2, 0.1])


def test_several_outputs_do_not_depend_on_units():
    y = RNG.randn(400, 2)
    units = np.array([1e-3, 1e6])
    for kind in ("kernel", "exact"):
        plain = TargetDensity(y, kind).evaluate(y)
        np.testing.assert_allclose(TargetDensity(y * units, kind).evaluate(y * units), plain)


def test_callable_is_kept_as_values_and_not_as_a_function():
    density = TargetDensity(AGES, lambda y: np.exp(-y))
    np.testing.assert_allclose(density.evaluate(AGES[:50]), np.maximum(np.exp(-AGES[:50]), density.floor))
    assert not any(callable(value) for value in vars(density).values())


def test_callable_of_several_outputs():
    y = np.c_[AGES, -AGES]
    shares = TargetDensity(y, lambda y: 1.0 / (1.0 + np.abs(y[:, 1]))).evaluate(y)
    np.testing.assert_allclose(shares, 1.0 / (1.0 + AGES))


def test_callable_densities_above_one_keep_their_ratios():
    shares = TargetDensity(np.array([0.0, 1.0]), lambda y: 3.0 + 3.0 * y).evaluate(np.array([0.0, 1.0]))
    np.testing.assert_allclose(shares, [0.5, 1.0])


@pytest.mark.parametrize("wrong", [lambda y: -y, lambda y: y[:3] + 1, lambda y: y / 0.0, lambda y: 1.0])
def test_callable_densities_must_be_positive(wrong):
    with np.errstate(all="ignore"), pytest.raises(ValueError, match="one positive, finite density"):
        TargetDensity(AGES, wrong)


def test_unknown_kinds_are_refused():
    with pytest.raises(ValueError, match="target_density='kde'"):
        TargetDensity(AGES, "kde")


POSES = np.repeat([[0.0, 0.0], [0.0, 15.0], [0.0, 30.0], [9.0, 15.0]], [30, 20, 40, 10], axis=0)


def test_per_output_is_the_rarest_output_relative_to_its_commonest_target():
    pitch, yaw = (np.array([(column == one).mean() for one in column]) for column in POSES.T)
    relative = np.minimum(pitch / pitch.max(), yaw / yaw.max())
    shares = TargetDensity(POSES, "per-output").evaluate(POSES)
    np.testing.assert_allclose(shares / shares[0], relative / relative[0])
    assert np.all(shares <= np.minimum(pitch, yaw) + 1e-12)


def test_per_output_sees_an_angle_that_is_rare_where_all_pairs_are_equally_common():
    pairs = np.array([(pitch, yaw) for pitch in (-30, 0, 30) for yaw in range(-60, 61, 15)] + [(90, 0)], dtype=float)
    shares = TargetDensity(np.repeat(pairs, 10, axis=0), "per-output").evaluate(pairs)
    np.testing.assert_allclose(TargetDensity(np.repeat(pairs, 10, axis=0)).evaluate(pairs), 1 / len(pairs))
    assert np.all(shares[:-1] > 5 * shares[-1])


def test_per_output_of_one_output_is_auto():
    for y in (AGES, SMOOTH, AGES[:, None]):
        plain, each = TargetDensity(y), TargetDensity(y, "per-output")
        assert each.kind == plain.kind
        np.testing.assert_array_equal(each.evaluate(y), plain.evaluate(y))


def test_per_output_counts_weights_as_repetitions_and_forgets_units():
    times = 1 + np.arange(len(POSES)) % 3
    weighted = TargetDensity(POSES, "per-output", times).evaluate(POSES)
    repeated = TargetDensity(np.repeat(POSES, times, axis=0), "per-output").evaluate(POSES)
    np.testing.assert_allclose(weighted, repeated)
    smooth = np.c_[SMOOTH, RNG.randn(1000)]
    units = np.array([1e-3, 1e6])
    plain = TargetDensity(smooth, "per-output").evaluate(smooth)
    np.testing.assert_allclose(TargetDensity(smooth * units, "per-output").evaluate(smooth * units), plain, rtol=1e-6)


@pytest.mark.parametrize(
    "y, kind, repeats",
    [
        (AGES, "auto", True),
        (SMOOTH, "auto", False),
        (POSES, "per-output", True),
        (np.c_[SMOOTH, SMOOTH], "per-output", False),
        (POSES, lambda y: np.ones(len(y)), False),
    ],
)
def test_targets_repeat_where_distinct_ones_are_few(y, kind, repeats):
    assert TargetDensity(y, kind).repeats is repeats


@pytest.mark.parametrize("kind", ["auto", "exact", "bins", "kernel"])
@pytest.mark.parametrize(
    "y",
    [
        np.r_[RNG.randn(99), 1e12],
        1e15 + RNG.randn(100),
        1e150 * RNG.randn(100),
        1e-200 * RNG.randn(100),
        np.zeros(100),
        np.array([3.0]),
        np.r_[np.zeros(99), 1.0],
    ],
    ids=["outlier", "offset", "huge", "tiny", "equal", "one", "two values"],
)
def test_hard_labels_give_shares(kind, y):
    shares = TargetDensity(y, kind).evaluate(y)
    assert np.all((shares > 0) & (shares <= 1))
    if len(np.unique(y)) == 1:
        np.testing.assert_allclose(shares, 1.0)


def test_an_outlier_is_rarer_than_the_rest():
    y = np.r_[RNG.randn(999), 1e6]
    for kind in ("bins", "kernel"):
        shares = TargetDensity(y, kind).evaluate(y)
        assert shares[-1] < shares[:-1].min()


@pytest.mark.parametrize("kind", ["auto", "exact", "bins", "kernel"])
def test_labels_whose_squares_vanish_count_as_equal(kind):
    y = np.r_[np.full(90, 2e-308), np.zeros(10)]
    assert np.all(TargetDensity(y, kind).evaluate(y) > 0)


def test_a_named_function_is_the_cost_that_a_callable_is(monkeypatch):
    def root(p):
        return p**-0.5

    monkeypatch.setitem(COSTS, "root", root)
    number, table = cost_code("root")
    same_number, same_table = cost_code(root)
    assert number == same_number
    np.testing.assert_array_equal(table, same_table)
    with pytest.raises(DSNAError, match=r"cost='roots' is unknown: use one of .*'root'"):
        cost_code("roots")
