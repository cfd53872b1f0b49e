"""Rare digits and rare targets: our estimators beside the usual ones, in under a minute.

    python examples/beside_other_forests.py

Both data sets come with scikit-learn. Every score is taken on a half of the rows that no method has seen.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from imblearn.ensemble import BalancedRandomForestClassifier
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_digits
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.metrics import accuracy_score, balanced_accuracy_score, mean_absolute_error
from sklearn.model_selection import train_test_split

from dsna import CostSensitiveForestClassifier, CostSensitiveForestRegressor, DSNAClassifier, DSNARegressor
from dsna.forest.density import TargetDensity
from dsna.metrics import minority_recall_score, rare_target_absolute_error

SEED = 0


def main() -> None:
    X_train, X_test, y_train, y_test = rare_digit()
    model = compare_classifiers(X_train, X_test, y_train, y_test)
    rare = np.flatnonzero((y_test == "eight") & (model.predict(X_test) == "eight"))
    if len(rare):
        explain(model, X_test[rare[:1]])
    compare_regressors()


def rare_digit(n_rare: int = 20) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Handwritten eights against the other digits, with `n_rare` eights left in the training half."""
    X, digit = load_digits(return_X_y=True)
    y = np.where(digit == 8, "eight", "other")
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=SEED)
    eights = np.random.default_rng(SEED).permutation(np.flatnonzero(y_train == "eight"))
    keep = np.setdiff1d(np.arange(len(y_train)), eights[n_rare:])
    return X_train[keep], X_test, y_train[keep], y_test


def compare_classifiers(X_train: Any, X_test: Any, y_train: Any, y_test: Any) -> Any:
    """Print the table of the classifiers and return our fitted DSNAClassifier."""
    methods = {
        "RandomForest": RandomForestClassifier(random_state=SEED),
        "RandomForest, class weights": RandomForestClassifier(class_weight="balanced", random_state=SEED),
        "BalancedRandomForest": BalancedRandomForestClassifier(random_state=SEED),
        "CS-RF (ours)": CostSensitiveForestClassifier(random_state=SEED),
        "CS-RF+DSNA (ours)": DSNAClassifier(random_state=SEED),
    }
    rare = y_train == "eight"
    print("Classification: handwritten eights among other digits")
    print(f"{len(rare)} training rows, {rare.sum()} of them eights; {len(y_test)} held-out rows\n")
    print_row("", "accuracy", "balanced acc.", "eights found", "seconds")
    for name, model in methods.items():
        predicted, seconds = timed(model, X_train, y_train, X_test)
        scores = (accuracy_score(y_test, predicted), balanced_accuracy_score(y_test, predicted))
        print_row(name, *scores, minority_recall_score(y_test, predicted, minority="eight"), seconds)
    return model


def compare_regressors() -> None:
    X, y = load_diabetes(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=SEED)
    density = TargetDensity(y_train)
    weight = 1 / density.evaluate(y_train)
    methods: dict[str, tuple[Any, dict[str, Any]]] = {
        "RandomForest": (RandomForestRegressor(random_state=SEED), {}),
        "RandomForest, density weights": (
            RandomForestRegressor(random_state=SEED),
            {"sample_weight": weight},
        ),
        "CS-RF (ours)": (CostSensitiveForestRegressor(random_state=SEED), {}),
        "CS-RF+DSNA, balance=0 (ours)": (DSNARegressor(balance=0.0, random_state=SEED), {}),
        "CS-RF+DSNA (ours)": (DSNARegressor(random_state=SEED), {}),
    }
    print("\nRegression: progression of diabetes after a year; rare = rarest 10 % of the targets")
    print(f"{len(y_train)} training rows; {len(y_test)} held-out rows\n")
    print_row("", "MAE", "MAE, rare", "seconds")
    for name, (model, options) in methods.items():
        predicted, seconds = timed(model, X_train, y_train, X_test, **options)
        errors = (
            mean_absolute_error(y_test, predicted),
            rare_target_absolute_error(y_test, predicted, density=density),
        )
        print_row(name, *(f"{error:.1f}" for error in errors), seconds)


def with_few_trees(model: Any) -> Any:
    """The same model, quick to fit."""
    if getattr(model, "forest", ...) is None:
        return model.set_params(forest=model.default_forest().set_params(n_estimators=2))
    return model.set_params(n_estimators=2)


def timed(model: Any, X: Any, y: Any, X_test: Any, **options: Any) -> tuple[np.ndarray, float]:
    """Prediction, and the time of fit and predict once compiled kernels are loaded."""
    with_few_trees(clone(model)).fit(X, y).predict(X_test[:2])
    start = time.perf_counter()
    predicted = model.fit(X, y, **options).predict(X_test)
    return predicted, time.perf_counter() - start


def print_row(name: str, *cells: str | float) -> None:
    print(f"{name:<34}" + "".join(f"{c if isinstance(c, str) else f'{c:.3f}':>15}" for c in cells))


def explain(model: Any, query: np.ndarray) -> None:
    """The training rows with the largest coefficients for one query."""
    frame = model.explain(query).frame()
    top = frame.loc[frame["coefficient"].abs().nlargest(5).index]
    print("\nWhy the first held-out eight found is called an eight: the training rows with the largest")
    print("coefficients, and the weights that the balanced decision gives them\n")
    print(top.to_string(index=False, float_format="{:.3f}".format))


if __name__ == "__main__":
    main()
