"""Small fitted models with their tables, and reports of them, made once."""

from __future__ import annotations

from functools import cache
from unittest.mock import patch

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from dsna import CostSensitiveForestClassifier, CostSensitiveForestRegressor, DSNAClassifier, DSNARegressor
from dsna.report import About, collect

SCRIPT = "<script>window.hacked = 1</script>"
PICTURE = "<img src=x onerror='window.hacked = 2'>"
CLOSING = "</script><script>window.hacked = 3</script>"
FORMULA = "=HYPERLINK('https://example.org')"
EMOJI = "🦄 naïve"
ARABIC = "مرحبا"
TURNED = "\u202eabc"
LONG = "long" * 2500
NUL = "a\x00b"
HOSTILE = (SCRIPT, PICTURE, CLOSING, FORMULA, EMOJI, ARABIC, TURNED, LONG, NUL)


def rows(n, seed=0):
    rng = np.random.RandomState(seed)
    X = rng.randn(n, 4)
    return X, X[:, 0] + 0.7 * X[:, 1] ** 2 + 0.3 * rng.randn(n)


def of_a_sample(model, X, y):
    """The model, with 600 rows answered out of bag, where it would answer 3,000."""
    with patch("dsna.base._OOB_ROWS", 600):
        return model.fit(X, y)


@cache
def two_classes(n=1500):
    """More rows than are answered out of bag, so that weights differ."""
    X, score = rows(n)
    y = np.where(score > np.quantile(score, 0.96), "yes", "no")
    return X, y, of_a_sample(DSNAClassifier(CostSensitiveForestClassifier(10), random_state=0), X, y)


@cache
def three_classes(n=300):
    X, score = rows(n, 1)
    y = np.digitize(score, np.quantile(score, [0.6, 0.93]))
    return X, y, DSNAClassifier(CostSensitiveForestClassifier(10), random_state=0).fit(X, y)


@cache
def targets(n=1500):
    X, score = rows(n, 2)
    y = np.exp(0.5 * score)
    return X, y, of_a_sample(DSNARegressor(CostSensitiveForestRegressor(10), random_state=0), X, y)


@cache
def mixed():
    """A frame of numbers with gaps, categories and dates, in a pipeline; names and values are hostile."""
    X, score = rows(260, 3)
    rng = np.random.RandomState(0)
    frame = pd.DataFrame(X, columns=[SCRIPT, CLOSING, EMOJI, ARABIC])
    frame.iloc[rng.rand(len(X)) < 0.1, 2] = np.nan
    frame[PICTURE] = np.array(HOSTILE, dtype=object)[rng.randint(len(HOSTILE), size=len(X))]
    frame["seen"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.randint(900, size=len(X)), unit="D")
    frame["id"] = [f"{CLOSING}{i}" for i in range(len(X))]
    y = np.where(score > np.quantile(score, 0.85), CLOSING, PICTURE)
    columns = make_column_transformer(
        (SimpleImputer(), [SCRIPT, CLOSING, EMOJI, ARABIC]), (OneHotEncoder(handle_unknown="ignore"), [PICTURE])
    )
    model = make_pipeline(columns, DSNAClassifier(CostSensitiveForestClassifier(10), random_state=0))
    used = frame[[SCRIPT, CLOSING, EMOJI, ARABIC, PICTURE, "seen"]]
    return frame, y, model.fit(used, y)


@cache
def report(name, cases=400):
    """The report of one of the models above."""
    X, y, model = {"two": two_classes, "three": three_classes, "targets": targets, "mixed": mixed}[name]()
    about = About(title=f"Report on {name}", target="y", model_file="my model.dsna", data_file="it's.csv", cases=cases)
    if name == "mixed":
        about = About(title=SCRIPT, target=CLOSING, id="id", left_out=((SCRIPT, PICTURE),), model_file="-x'y.dsna")
    scores = [{"method": m, "metric": "AUC", "mean": 0.9, "low": 0.8, "high": 1.0} for m in ("ours", SCRIPT)]
    return collect(model, X, y, scores=scores, notes=(CLOSING,), about=about)
