"""Real tables, where DSNA_DATA names a folder that holds them."""

import os
from pathlib import Path

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.metrics import balanced_accuracy_score, mean_absolute_error
from sklearn.model_selection import train_test_split
from tests.small_models import build

from dsna import DSNAClassifier, DSNARegressor
from dsna.metrics import rare_target_absolute_error


def table(task, name):
    folder = os.environ.get("DSNA_DATA")
    if not folder:
        pytest.skip("DSNA_DATA is not set; it names the folder of real data sets")
    path = Path(folder) / "tabular" / task / f"{name}.csv"
    if not path.exists():
        pytest.skip(f"{path.name} is not in the folder that DSNA_DATA names")
    data = np.loadtxt(path, delimiter=",", skiprows=1)
    return data[:, :-1], data[:, -1]


@pytest.mark.parametrize("name", ["yeast4", "abalone9-18"])
def test_rare_class_is_found_better_than_by_a_random_forest(name):
    X, y = table("classification", name)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, stratify=y, random_state=0)
    ours = build(DSNAClassifier, n_estimators=50, random_state=0).fit(X_train, y_train)
    theirs = RandomForestClassifier(random_state=0).fit(X_train, y_train)
    score = balanced_accuracy_score(y_test, ours.predict(X_test))
    assert score > balanced_accuracy_score(y_test, theirs.predict(X_test)) + 0.05
    assert abs(ours.oob_score_ - score) < 0.15


def test_rare_labels_are_met_better_at_no_cost_overall():
    X, y = table("regression", "wine-red")
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, random_state=0)
    ours = build(DSNARegressor, n_estimators=50, random_state=0).fit(X_train, y_train).predict(X_test)
    theirs = RandomForestRegressor(random_state=0).fit(X_train, y_train).predict(X_test)
    assert mean_absolute_error(y_test, ours) < 1.03 * mean_absolute_error(y_test, theirs)
    rare = [rare_target_absolute_error(y_test, p, y_train=y_train) for p in (ours, theirs)]
    assert rare[0] < 0.9 * rare[1]
