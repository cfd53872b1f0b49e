"""Explanations of pipelines speak of the pipeline's own input."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from imblearn.over_sampling import RandomOverSampler
from imblearn.pipeline import make_pipeline as make_resampled
from sklearn.compose import make_column_transformer
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler, TargetEncoder
from tests.small_models import build

from dsna import DSNAClassifier, DSNAError, DSNARegressor
from dsna.inspection import explain


@pytest.fixture(scope="module")
def frame():
    rng = np.random.RandomState(0)
    table = pd.DataFrame({"customer": [f"C-{i:03d}" for i in range(100)], "age": rng.randint(18, 80, 100)})
    table["city"] = rng.choice(["Bonn", "Oslo", "Rome"], 100)
    table["late"] = np.where(table["age"] + 9 * (table["city"] == "Rome") > 65, "yes", "no")
    return table


def small(kind=DSNAClassifier):
    return build(kind, n_estimators=8, random_state=0)


def encoded(last, encoder=None):
    columns = make_column_transformer((encoder or OneHotEncoder(), ["city"]), (StandardScaler(), ["age"]))
    return make_pipeline(columns, last)


@pytest.fixture(scope="module")
def pipeline(frame):
    return encoded(small()).fit(frame[:80], frame["late"][:80])


def test_pipelines_are_explained_in_their_own_columns(pipeline, frame, recwarn):
    why = explain(pipeline, frame[80:], train=frame[:80], id="customer")
    assert not recwarn
    np.testing.assert_array_equal(why.predict(), pipeline.predict(frame[80:]))
    np.testing.assert_array_equal(why.rows, pipeline[-1].explain(pipeline[:-1].transform(frame[80:])).rows)
    shown = why.compare(1, largest=2)
    assert shown.index.tolist() == ["customer", "class", "weight", "age", "city", "late"]
    assert shown.loc["customer"].tolist()[0] == "C-081"
    row = why.frame(1)["row"][0]
    assert (
        shown[f"row {row}"][["customer", "age", "city"]].tolist()
        == frame.iloc[row][["customer", "age", "city"]].tolist()
    )
    assert shown["differs"]["city"] == sum(frame["city"][r] != frame["city"][81] for r in why.frame(1)["row"][:2])


def test_polars_and_arrays(frame, recwarn):
    features = frame[["age", "city"]]
    fitted = encoded(small()).fit(pl.DataFrame(features[:80].to_dict("list")), frame["late"][:80])
    why = explain(
        fitted,
        pl.DataFrame(features[80:].to_dict("list")),
        train=pl.DataFrame(frame[:80].to_dict("list")),
        id="customer",
    )
    assert why.compare(largest=1).index.tolist() == ["customer", "class", "weight", "age", "city"]
    X = np.random.RandomState(0).randn(60, 2)
    scaled = make_pipeline(StandardScaler(), small(DSNARegressor)).fit(X, X[:, 0])
    shown = explain(scaled, X[:2], train=X).compare(largest=1)
    assert shown.index.tolist() == ["target", "carried", "weight", "x0", "x1"]
    assert shown["query 0"][3:].tolist() == X[0].tolist()
    assert not recwarn


def test_texts(recwarn):
    texts = [f"{'cheap pills' if i % 3 else 'see you'} {i}" for i in range(60)]
    spam = np.arange(60) % 3 > 0
    dense = FunctionTransformer(lambda counts: counts.toarray())
    model = make_pipeline(CountVectorizer(), dense, small()).fit(texts, spam)
    shown = explain(model, texts[:2], train=texts).compare(1, largest=1)
    assert shown.loc["x0", "query 1"] == texts[1]
    assert not recwarn


def test_bare_estimators_and_searches(pipeline, frame):
    X, y = frame[["age"]], frame["late"]
    bare = small().fit(X[:80], y[:80])
    shown = explain(bare, X[80:], train=frame[:80], id="customer").compare()
    pd.testing.assert_frame_equal(shown, bare.explain(X[80:], train=frame[:80], id="customer").compare())
    search = GridSearchCV(encoded(small()), {"dsnaclassifier__balance": [0.5]}, cv=2).fit(frame[:80], y[:80])
    assert len(explain(search, frame[80:], train=frame[:80])) == 20


def test_what_cannot_be_explained_is_said(pipeline, frame):
    other = encoded(LogisticRegression()).fit(frame[:80], frame["late"][:80])
    with pytest.raises(DSNAError, match=r"The last step of the pipeline is a LogisticRegression, .* use DSNA"):
        explain(other, frame[80:])
    with pytest.raises(DSNAError, match="The model is a LogisticRegression"):
        explain(LogisticRegression(), frame[80:])
    with pytest.raises(NotFittedError, match="call fit of the model or pipeline before explain"):
        explain(encoded(small()), frame[80:])
    with pytest.raises(DSNAError, match="train has 79 rows"):
        explain(pipeline, frame[80:], train=frame[:79])
    with pytest.raises(DSNAError, match="train lacks the column city"):
        explain(pipeline, frame[80:], train=frame[:80].drop(columns="city"))


def test_steps_that_change_rows_are_refused(frame):
    X, y = frame[["age"]], frame["late"]
    model = make_resampled(RandomOverSampler(random_state=0), small()).fit(X, y)
    with pytest.raises(DSNAError, match="The step 'randomoversampler' changes the rows"):
        explain(model, X[:2], train=X)
    np.testing.assert_array_equal(explain(model, X[:2]).predict(), model.predict(X[:2]))


def test_other_rows_are_warned_of(pipeline, frame):
    with pytest.warns(UserWarning, match="in the same order"):
        explain(pipeline, frame[80:], train=frame[:80][::-1])
    targets = encoded(small(), TargetEncoder(cv=2)).fit(frame[:80], frame["late"][:80])
    with pytest.warns(UserWarning, match="TargetEncoder"):
        explain(targets, frame[80:], train=frame[:80])
