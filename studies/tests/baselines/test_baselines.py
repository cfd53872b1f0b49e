"""What others do: resampling and weighting."""

import numpy as np
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.svm import LinearSVC

from dsna_studies.baselines import (
    DensityWeighted,
    Resampled,
    Restarted,
    oversample_rare,
    smogn,
    smote,
)


@pytest.fixture
def skewed():
    """Labels of which one in twenty is far from the others."""
    rng = np.random.RandomState(0)
    y = np.r_[rng.normal(0, 1, 190), rng.uniform(8, 12, 10)]
    X = np.c_[y + 0.1 * rng.normal(size=200), rng.normal(size=200)]
    return X, y


def test_smogn_thins_out_common_labels_and_adds_rare_ones_beside_the_old(skewed):
    X, y = skewed
    new_X, new_y = smogn(X, y, np.random.RandomState(0))
    assert new_X.shape == (len(new_y), 2)
    assert np.isfinite(new_X).all()
    assert np.sum(new_y > 7) > 1.5 * np.sum(y > 7)
    assert np.sum(np.abs(new_y) < 1) < np.sum(np.abs(y) < 1)
    assert abs(len(new_y) - len(y)) <= 5
    made = ~np.isin(new_y, y)
    assert made.any()
    # What is made lies among the rows it was made from, up to the noise.
    far = made & (new_y > 7)
    assert new_X[far, 0].max() < X[:, 0].max() + 0.5
    # The first column follows the label, in the new rows too.
    assert np.abs(new_X[far, 0] - new_y[far]).max() < 1.0


def test_smogn_keeps_labels_that_are_equally_common():
    X, y = np.arange(20.0)[:, None], np.repeat([1.0, 2.0], 10)
    new_X, new_y = smogn(X, y, np.random.RandomState(0))
    np.testing.assert_array_equal(np.sort(new_y), y)
    np.testing.assert_array_equal(np.sort(new_X, axis=0), X)


def test_smogn_jitters_a_single_rare_row():
    X, y = np.r_[np.zeros(30), 5.0][:, None], np.r_[np.ones(30), 9.0]
    new_y = smogn(X, y, np.random.RandomState(0))[1]
    assert np.all(new_y[new_y > 2] == 9.0)  # one row has no spread to draw noise from
    assert np.sum(new_y == 9.0) > 10


def test_oversampling_evens_out_rare_and_common(skewed):
    X, y = skewed
    new_X, new_y = oversample_rare(X, y, np.random.RandomState(0))
    np.testing.assert_array_equal(new_y[:200], y)
    assert set(new_y[200:]) <= set(y)
    assert np.sum(new_y > 7) > 2 * np.sum(y > 7)
    assert len(new_X) == len(new_y)


@pytest.mark.parametrize("few", [1, 2, 3, 9])
def test_smote_survives_classes_of_a_few_rows(few):
    rng = np.random.RandomState(0)
    X, y = rng.normal(size=(40 + few, 2)), np.r_[np.zeros(40), np.ones(few)].astype(int)
    new_X, new_y = smote(X, y, np.random.RandomState(0))
    np.testing.assert_array_equal(np.bincount(new_y), [40, 40])
    rare = X[y == 1]
    assert np.all(new_X[new_y == 1] <= rare.max(axis=0) + 1e-9)
    assert np.all(new_X[new_y == 1] >= rare.min(axis=0) - 1e-9)


@pytest.mark.parametrize("sampler", [smogn, oversample_rare])
def test_resampling_follows_its_seed(sampler, skewed):
    first, again, other = (sampler(*skewed, np.random.RandomState(seed))[1] for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert first.shape != other.shape or np.any(first != other)


def test_resampled_is_what_its_estimator_is(skewed):
    X, y = skewed
    assert is_regressor(Resampled(LinearRegression(), smogn))
    assert is_classifier(Resampled(LogisticRegression(), smote))
    assert not hasattr(Resampled(LinearSVC(), smote), "predict_proba")
    model = clone(Resampled(LogisticRegression(), smote, random_state=0)).fit(X, y > 7)
    assert model.classes_.tolist() == [False, True]
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    assert np.mean(model.predict(X) == (y > 7)) > 0.95


class Moody(LogisticRegression):
    """Can be fitted with some seeds only."""

    def fit(self, X, y):
        if self.random_state % 4:
            raise ValueError("worse than random")
        return super().fit(X, y)


def test_fits_that_fail_are_tried_with_other_seeds(skewed):
    X, y = skewed[0], skewed[1] > 7
    model = Restarted(Moody(random_state=3)).fit(X, y)
    assert model.estimator_.random_state % 4 == 0
    assert model.classes_.tolist() == [False, True]
    assert Restarted(Moody(random_state=8)).fit(X, y).estimator_.random_state == 8
    again = Restarted(Moody(random_state=3)).fit(X, y)
    assert again.estimator_.random_state == model.estimator_.random_state
    with pytest.raises(ValueError, match="worse than random"):
        Restarted(Moody(random_state=3), n_tries=1).fit(X, y)
    with pytest.raises(ValueError, match="1 or more"):
        Restarted(Moody(random_state=3), n_tries=0).fit(X, y)


def test_density_weights_draw_the_fit_toward_rare_labels(skewed):
    X, y = skewed
    rare = y > 7
    plain, weighted = LinearRegression().fit(X[:, 1:], y), DensityWeighted(LinearRegression()).fit(X[:, 1:], y)
    errors = [np.abs(model.predict(X[rare, 1:]) - y[rare]).mean() for model in (plain, weighted)]
    assert errors[1] < errors[0]
    assert is_regressor(weighted)
