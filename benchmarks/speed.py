"""How fast the estimators are, as ratios against peers measured in the same run.

    python benchmarks/speed.py [--quick] [--only NAME ...]

Every line names what is measured, ours, the peer's, their ratio and the target; a summary follows at the end.  The exit
code is 0 whether targets are met or not.
"""

from __future__ import annotations

import argparse
import platform
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from first_call import first_call
from measure import Report, core_seconds, duration, seconds
from photos import edges
from rare import rare
from reference import ReferenceQueries
from reference_forest import ReferenceTree
from scale import growth, memory, wide
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.metrics import balanced_accuracy_score, r2_score
from synthetic import KINDS, table

from dsna import CostSensitiveForestClassifier, CostSensitiveForestRegressor, DSNAClassifier, DSNARegressor
from dsna.forest.build import min_leaf_rows
from dsna.forest.density import TargetDensity
from dsna.forest.targets import Targets, class_targets, regression_targets

DSNA = {"classification": DSNAClassifier, "regression": DSNARegressor}
CSRF = {"classification": CostSensitiveForestClassifier, "regression": CostSensitiveForestRegressor}
RF = {"classification": RandomForestClassifier, "regression": RandomForestRegressor}
SCORE = {"classification": ("balanced accuracy", balanced_accuracy_score), "regression": ("R2", r2_score)}


def warm_up() -> None:
    """Compile or load every kernel."""
    for kind in KINDS:
        X, y = table(kind, 400)
        DSNA[kind](CSRF[kind](10), random_state=0).fit(X, y).predict(X[:5])


@lru_cache
def fitted(kind: str, n: int, n_queries: int) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray]:
    """A model with default parameters, fresh queries, their labels, and the training labels."""
    X, y = table(kind, n + n_queries)
    model = DSNA[kind](random_state=0, n_jobs=2).fit(X[:n], y[:n])
    return model.set_params(n_jobs=1), X[n:], y[n:], y[:n]


def with_coefficients(model: Any, Q: np.ndarray, found: list[tuple[np.ndarray, ...]]) -> tuple[np.ndarray, float]:
    """Predictions that the model makes of coefficients found elsewhere, and how far those are from its own."""
    *rest, answers = model._answer(Q)
    near = next(part for part in rest if hasattr(part, "proximity"))
    other = np.zeros_like(answers["alpha"])
    for i, (rows, _, alpha) in enumerate(found):
        theirs = dict(zip(rows.tolist(), alpha.tolist(), strict=True))
        for k in range(near.size[i]):
            other[i, k] = theirs.pop(int(near.rows[i, k]), 0.0)
        other[i, 0] += sum(abs(a) for a in theirs.values())
    apart = float(np.abs(other - answers["alpha"]).sum(axis=1).mean())
    of_rows = {rows.tobytes(): alpha for rows, alpha in zip(near.rows, other, strict=True)}
    model._solve = lambda Q, some: {"alpha": np.stack([of_rows[rows.tobytes()] for rows in some.rows])}
    try:
        return model.predict(Q), apart
    finally:
        del model._solve


def prediction(report: Report, quick: bool) -> None:
    """One query at a time in scikit-learn and cvxpy, against ours."""
    n, n_queries, n_reference = (2000, 1000, 10) if quick else (10_000, 5000, 40)
    report.title(f"prediction: {n:,} x 20, default parameters, one core, time per query")
    for kind in KINDS:
        model, Q, _, y = fitted(kind, n, n_queries)
        few = Q[:n_reference]
        ours = core_seconds(model.predict, Q, repeats=3)[0] / n_queries
        for compile_once in (False, True):
            peer = ReferenceQueries(model, compile_once)
            # A first pass compiles what can be compiled.
            peer.answers(few if compile_once else few[:1])
            took, found = core_seconds(peer.answers, few)
            theirs = took / n_reference
            how = "cvxpy problem compiled before" if compile_once else "scikit-learn and cvxpy calls"
            goal = {} if compile_once else {"target": ">= 100", "ok": theirs / ours >= 100}
            report.add(f"{kind}: {how}", duration(ours), duration(theirs), theirs / ours, **goal)
        labels, apart = with_coefficients(model, few, found)
        own = model.predict(few)
        same = own == labels if kind == "classification" else np.abs(own - labels) <= 0.02 * y.std()
        report.add(
            f"{kind}: same predictions" + ("" if kind == "classification" else " within 2 % of the label's spread"),
            f"{same.mean():.1%}", target=">= 95 %", ok=bool(same.mean() >= 0.95),
        )  # fmt: skip
        report.note(
            f"mean l1 distance of the coefficients from cvxpy's: {apart:.2g} (tol={model.approximation_.tol:g})"
        )


def queries(report: Report, quick: bool) -> None:
    """Queries per second on one core."""
    n, n_queries = (2000, 1000) if quick else (10_000, 5000)
    report.title(f"queries: {n:,} x 20, default parameters and tolerance, one core")
    for kind in KINDS:
        model, Q, y, _ = fitted(kind, n, n_queries)
        peer = RF[kind](
            n_estimators=model.forest_.n_estimators, max_depth=model.forest_.max_depth, random_state=0, n_jobs=2
        )
        peer.fit(*table(kind, n)).set_params(n_jobs=1)
        ours = n_queries / core_seconds(model.predict, Q, repeats=3)[0]
        theirs = n_queries / core_seconds(peer.predict, Q, repeats=3)[0]
        one = core_seconds(model.predict, Q[:1], repeats=20)[0]
        *rest, answers = model._answer(Q)
        near = next(part for part in rest if hasattr(part, "proximity"))
        report.add(
            f"{kind}: queries a second (peer: RandomForest)", f"{ours:,.0f}/s", f"{theirs:,.0f}/s", ours / theirs,
            ">= 2,000/s", ours >= 2000,
        )  # fmt: skip
        name, score = SCORE[kind]
        report.note(
            f"optimality residual: mean {answers['residual'].mean():.2g}, max {answers['residual'].max():.2g} "
            f"(tol={model.approximation_.tol}); non-zero coefficients: "
            f"{np.sum(answers['alpha'] != 0) / near.size.sum():.1%} of {near.size.mean():.0f} neighbours; "
            f"label steps: {answers['steps'].mean():.2f}"
        )
        report.note(f"one query alone: {duration(one)}; {name}: {score(y, model.predict(Q)):.3f}")


def _targets(kind: str, y: np.ndarray) -> Targets:
    if kind == "classification":
        return class_targets(y, 2, np.ones(len(y)))
    return regression_targets(y[:, None], np.ones(len(y)), TargetDensity(y[:, None], "auto"))


def training(report: Report, quick: bool) -> None:
    """CS-RF against the same forest on LinearSVC and LinearSVR."""
    n, n_trees = (1000, 2) if quick else (5000, 3)
    report.title(f"training: CS-RF on {n:,} x 20, {n_trees} trees, one core, against LinearSVC / LinearSVR per split")
    for kind in KINDS:
        X, y = table(kind, n + 500)
        targets = _targets(kind, y[:n])
        forest = CSRF[kind](n_trees, random_state=0, n_jobs=1)
        ours, forest = core_seconds(forest.fit, X[:n], y[:n], repeats=3)
        scaled = forest._scaling.transform(X)
        theirs, peer = core_seconds(_reference_trees, forest, scaled[:n], targets)
        kernel = "LinearSVC" if kind == "classification" else "LinearSVR"
        report.add(f"{kind}: {kernel}", duration(ours), duration(theirs), theirs / ours, ">= 5", theirs >= 5 * ours)
        values = np.mean([tree.predict(scaled[n:]) for tree in peer], axis=0)
        if kind == "classification":
            predicted = forest.classes_[(values / forest.class_prior_).argmax(axis=1)]
        else:
            predicted = values[:, 0] * y[:n].std() + y[:n].mean()
        name, score = SCORE[kind]
        report.note(
            f"nodes per tree: {(len(forest.trees_.child) + forest.trees_.n_leaves) / n_trees:.0f} and "
            f"{np.mean([len(t.nodes) for t in peer]):.0f}; "
            f"{name}: {score(y[n:], forest.predict(X[n:])):.3f} and {score(y[n:], predicted):.3f}"
        )


def _reference_trees(forest: Any, scaled: np.ndarray, targets: Targets) -> list[ReferenceTree]:
    """As many trees as in our forest, each on the rows that ours was grown on."""
    seen = [~left_out[forest.fold_] for left_out in forest.trees_.left_out]
    return [ReferenceTree(forest, t).fit(scaled[rows], _part_of(targets, rows)) for t, rows in enumerate(seen)]


def _part_of(targets: Targets, rows: np.ndarray) -> Targets:
    return Targets(
        targets.n_classes, targets.code[rows], targets.label[rows], targets.share[rows], targets.gain[rows],
        targets.density,
    )  # fmt: skip


def forests(report: Report, quick: bool) -> None:
    """Fit of CS-RF and DSNA against scikit-learn's RandomForest."""
    n, n_trees = (10_000, 10) if quick else (100_000, 40)
    report.title(
        f"forests: fit on {n:,} x 20, {n_trees} trees, n_jobs=2, against RandomForest of equal depth and leaves"
    )
    for kind in KINDS:
        X, y = table(kind, n)
        size = {
            "max_depth": CSRF[kind]().max_depth,
            "min_samples_leaf": min_leaf_rows("auto", 4 if kind == "classification" else 0),
        }
        common = {"n_estimators": n_trees, "random_state": 0, "n_jobs": 2, **size}
        forest = CSRF[kind](**common)
        ours = {"CS-RF": forest, "DSNA": DSNA[kind](forest, random_state=0, n_jobs=2)}
        theirs, peer = seconds(RF[kind](**common).fit, X, y)
        for name, estimator in ours.items():
            took, model = seconds(estimator.fit, X, y)
            report.add(f"{kind}: {name}", duration(took), duration(theirs), took / theirs, "<= 3", took <= 3 * theirs)
        trees = model._index.trees
        report.note(
            f"{size}; nodes per tree: {(len(trees.child) + trees.n_leaves) / n_trees:.0f} and "
            f"{np.mean([tree.tree_.node_count for tree in peer.estimators_]):.0f}"
        )


BLOCKS: dict[str, Callable[[Report, bool], None]] = {
    "prediction": prediction,
    "queries": queries,
    "training": training,
    "forests": forests,
    "rare": rare,
    "growth": growth,
    "wide": wide,
    "memory": memory,
    "edges": edges,
    "first-call": first_call,
}


def main() -> None:
    """Run the blocks asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small tables: minutes less, figures that mean less")
    parser.add_argument("--only", nargs="+", choices=BLOCKS, metavar="NAME", help=f"some of: {', '.join(BLOCKS)}")
    options = parser.parse_args()
    print(f"Python {platform.python_version()} on {platform.machine()}, numpy {np.__version__}")
    if options.quick:
        print("--quick: tables are smaller than those that the targets are meant for")
    warm_up()
    report = Report()
    for name in options.only or BLOCKS:
        BLOCKS[name](report, options.quick)
    report.summary()


if __name__ == "__main__":
    main()
