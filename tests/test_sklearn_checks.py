"""scikit-learn's own checks, metadata routing, data frames, pipelines."""

from __future__ import annotations

from sklearn.utils.estimator_checks import parametrize_with_checks

from dsna import CostSensitiveForestClassifier, CostSensitiveForestRegressor, DSNAClassifier, DSNARegressor

KINDS = (CostSensitiveForestClassifier, CostSensitiveForestRegressor, DSNAClassifier, DSNARegressor)
CLASSIFIERS = (CostSensitiveForestClassifier, DSNAClassifier)

# scikit-learn excuses its own bagged forests from these two, and only these are excused here.
EXCUSED = {
    "check_sample_weight_equivalence_on_dense_data": "random blocks of rows are left out of trees",
    "check_sample_weight_equivalence_on_sparse_data": "random blocks of rows are left out of trees",
}


@parametrize_with_checks([kind(n_estimators=10) for kind in KINDS], expected_failed_checks=lambda _: EXCUSED)
def test_scikit_learn_check(estimator, check):
    check(estimator)
