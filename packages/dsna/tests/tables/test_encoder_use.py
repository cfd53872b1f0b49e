"""TableEncoder where it is used: scikit-learn's checks, its state, pipelines and explanations."""

import warnings

import numpy as np
import pytest
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.tables.mixed_tables import N, every_frame, mixed

from dsna import CostSensitiveForestClassifier, DSNAClassifier
from dsna._utils.invariants import Checked, InvariantError
from dsna.inspection import explain
from dsna.tables import TableEncoder


@parametrize_with_checks([TableEncoder()])
def test_scikit_learn_check(estimator, check):
    check(estimator)


def test_state_is_plain_values_that_are_checked():
    encoder = TableEncoder().fit(mixed())
    for column in encoder._columns:
        assert isinstance(column, Checked)
        again = type(column).restored(dict(column.state))
        assert again.suffixes() == column.suffixes()
    number = encoder._columns[0]
    with pytest.raises(InvariantError):
        type(number).restored({**number.state, "decimal": ";"})
    with pytest.raises(InvariantError):
        type(encoder._filling).restored({**encoder._filling.state, "spread": np.zeros(6)})


def model(**params):
    return Pipeline(
        [
            ("columns", TableEncoder(**params)),
            ("model", DSNAClassifier(CostSensitiveForestClassifier(10), random_state=0)),
        ]
    )


@every_frame
def test_explanations_speak_of_the_users_columns(made):
    frame = mixed()[["number", "colour", "size", "day"]]
    y = np.where((frame["colour"] == "red") & (frame["size"] == "high"), "rare", "usual")
    fitted = model().fit(made(frame), y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        why = explain(fitted, made(frame)[:2], train=made(frame), id=[f"row {i}" for i in range(N)])
    shown = why.compare(largest=2)
    assert shown.index.tolist() == ["id", "class", "weight", "number", "colour", "size", "day"]
    assert shown.loc["size"].iloc[0] in ("low", "medium", "high")


def test_a_pipeline_is_cross_validated():
    frame = mixed(n=150)
    y = np.where(frame["colour"] == "red", "a", "b")
    assert cross_val_score(model(), frame, y, cv=3).mean() > 0.9


def test_output_can_be_a_frame():
    frame = mixed()
    encoder = TableEncoder().set_output(transform="pandas")
    found = encoder.fit_transform(frame.set_index(frame["whole"] + 1000))
    assert found.columns.tolist() == encoder.get_feature_names_out().tolist()
    assert found.index[0] == frame["whole"][0] + 1000
