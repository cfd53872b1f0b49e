"""Computed numbers have as many digits as a reader needs."""

import numpy as np
import pytest

from dsna.inspection.comparison import said
from dsna.prediction.digits import decimals_of, like_targets, rounded


@pytest.mark.parametrize(
    "targets, decimals",
    [
        ([1.0, 2.0, -3.0], 0),
        ([0.5, 2.25], 2),
        ([1234567.89, 10.1], 2),
        ([1e8, 0.001], 3),
        ([1e10, 0.5], 1),
        ([1e15], None),
        ([1 / 3], None),
        (np.float32([0.1, 0.2]), None),
        ([123456.789012345], None),
        ([0.1 + 0.2], None),
        ([0.0], 0),
        ([], 0),
    ],
)
def test_decimals_of_targets(targets, decimals):
    assert decimals_of(np.asarray(targets, dtype=np.float64)) == decimals


@pytest.mark.parametrize(
    "value, decimals, shown",
    [
        (1234567.8912, 2, 1234567.89),
        (1234567.8912, 0, 1234568.0),
        (1234567.8912, None, 1234570.0),
        (591.05812345, 2, 591.058),
        (0.000123456789, 2, 0.000123457),
        (-98765.4321, 2, -98765.43),
        (0.1 + 0.2, None, 0.3),
        (1e300 / 3, None, 3.33333e299),
        (1e-310, None, 1e-310),
        (0.0, 2, 0.0),
        (np.inf, 2, np.inf),
        (-np.inf, None, -np.inf),
    ],
)
def test_six_digits_or_the_decimals_of_the_targets(value, decimals, shown):
    found = rounded(np.array([value]), decimals)
    assert found.tolist() == [shown]
    assert rounded(found, decimals).tolist() == [shown]


def test_rounding_keeps_the_order_and_missing_numbers():
    rng = np.random.default_rng(0)
    values = np.sort(rng.normal(size=500) * 10.0 ** rng.integers(-8, 9, 500))
    for decimals in (None, 0, 2):
        assert np.all(np.diff(rounded(values, decimals)) >= 0.0)
    assert np.isnan(rounded(np.array([np.nan]), 2)).all()
    assert like_targets(values, np.round(values, 1)).shape == values.shape


@pytest.mark.parametrize(
    "value, text",
    [(1234567.89, "1234567.89"), (12345.67, "12345.67"), (1e7, "10000000"), (1 / 3, "0.333333"), (2e6 / 3, "666667"),
     (np.float32(0.1), "0.1"), (1e20, "1e+20"), (float("inf"), "inf")],
)  # fmt: skip
def test_numbers_that_somebody_wrote_down_stay_as_they_are(value, text):
    assert said(value) == text
