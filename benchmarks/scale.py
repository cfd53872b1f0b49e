"""How time and memory grow with the number of training rows and columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from measure import Report, core_seconds, duration, megabytes, processor_seconds
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from synthetic import KINDS, N_FEATURES, table

from dsna import CostSensitiveForestClassifier, CostSensitiveForestRegressor, DSNAClassifier, DSNARegressor
from dsna.forest.build import min_leaf_rows

CSRF = {"classification": CostSensitiveForestClassifier, "regression": CostSensitiveForestRegressor}
DSNA = {"classification": DSNAClassifier, "regression": DSNARegressor}
RF = {"classification": RandomForestClassifier, "regression": RandomForestRegressor}
# Enough for full neighbourhoods at every size: a query of a few trees finds more rows as leaves grow.
N_TREES = 50
N_QUERIES = 2000


def growth(report: Report, quick: bool) -> None:
    """Time of fit and predict as the table grows."""
    sizes = [10_000, 30_000, 100_000] if quick else [10_000, 30_000, 100_000, 300_000, 1_000_000]
    report.title(
        f"growth: DSNA with {N_TREES} trees, {sizes[0]:,} to {sizes[-1]:,} rows; processor time of fit with n_jobs=2, "
        f"{N_QUERIES:,} queries on one core; peer: RandomForest"
    )
    for kind in KINDS:
        X, y = table(kind, sizes[-1] + N_QUERIES)
        Q, fits, peers, asks = X[sizes[-1] :], [], [], []
        for n in sizes:
            model = DSNA[kind](CSRF[kind](N_TREES), random_state=0, n_jobs=2)
            common = {
                "max_depth": model.forest.max_depth,
                "min_samples_leaf": min_leaf_rows("auto", 4 if kind == "classification" else 0),
            }
            repeats = 3 if n <= 30_000 else 1
            fits.append(processor_seconds(model.fit, X[:n], y[:n], repeats=repeats)[0])
            peer = RF[kind](N_TREES, random_state=0, n_jobs=2, **common)
            peers.append(processor_seconds(peer.fit, X[:n], y[:n], repeats=repeats)[0])
            model.set_params(n_jobs=1)
            asks.append(core_seconds(model.predict, Q, repeats=5)[0] / N_QUERIES)
            report.add(f"{kind}: fit {n:,} rows", duration(fits[-1]), duration(peers[-1]), fits[-1] / peers[-1])
            report.note(f"per query {duration(asks[-1])}")
        ours, theirs = _exponent(sizes, fits), _exponent(sizes, peers)
        report.add(f"{kind}: exponent of fit", f"{ours:.3f}", f"{theirs:.3f}", None, "<= 1.15", ours <= 1.15)
        # Work that does not depend on the number of rows flatters the line above.
        ours, theirs = _exponent(sizes[-2:], fits[-2:]), _exponent(sizes[-2:], peers[-2:])
        report.add(f"{kind}: the same between the last two sizes", f"{ours:.3f}", f"{theirs:.3f}")
        flat = asks[-1] / asks[0]
        report.add(
            f"{kind}: time per query, last against first size", duration(asks[-1]), duration(asks[0]), flat, "<= 1.5",
            flat <= 1.5,
        )  # fmt: skip


def wide(report: Report, quick: bool) -> None:
    """Time of fit and predict on few rows of many columns."""
    n, d = (50, 5000) if quick else (200, 20_000)
    report.title(f"wide: DSNA on {n:,} x {d:,}, fit and predict of as many rows, processor time of one core")
    X = np.random.default_rng(0).normal(size=(2 * n, d))
    score = X[:, :10].sum(axis=1)
    for kind in KINDS:
        y = score > 3.0 if kind == "classification" else score
        for rounds in (1, 2):
            model = DSNA[kind](CSRF[kind](metric_rounds=rounds), random_state=0, n_jobs=1)
            took = core_seconds(lambda model=model, y=y: model.fit(X[:n], y[:n]).predict(X[n:]))[0]
            report.add(f"{kind}: metric_rounds={rounds}", duration(took), target="< 60 s", ok=took < 60)
            report.note(f"{model._index.space.shape[1]} directions, {len(model._index.trees.child)} nodes")


def _exponent(sizes: list[int], times: list[float]) -> float:
    return float(np.log(times[-1] / times[0]) / np.log(sizes[-1] / sizes[0]))


def arrays(state: Any, name: str = "", seen: set[int] | None = None) -> list[tuple[str, int]]:
    """(attribute name, bytes) of each distinct array that an object holds, directly or further down."""
    seen = set() if seen is None else seen
    if isinstance(state, np.ndarray):
        owner = state if state.base is None or not isinstance(state.base, np.ndarray) else state.base
        if id(owner) in seen:
            return []
        seen.add(id(owner))
        return [(name, owner.nbytes)]
    if isinstance(state, dict):
        parts = list(state.items())
    elif isinstance(state, list | tuple):
        parts = [(name, part) for part in state]
    elif type(state).__module__.startswith("dsna."):
        parts = list(vars(state).items())
    else:
        return []
    return [found for key, part in parts for found in arrays(part, str(key), seen)]


def memory(report: Report, quick: bool) -> None:
    """Size of a fitted model against the table it was fitted on."""
    n, n_trees = (5000, 20) if quick else (30_000, 100)
    report.title(f"memory: DSNA fitted on {n:,} x {N_FEATURES}, {n_trees} trees; peer: the training table")
    for kind in KINDS:
        X, y = table(kind, n)
        model = DSNA[kind](CSRF[kind](n_trees), random_state=0, n_jobs=2).fit(X, y)
        held = arrays(model)
        leaves = sum(size for name, size in held if name.startswith("leaf_"))
        nodes = sum(size for name, size in arrays(model._index.trees) if not name.startswith("leaf_"))
        rest = sum(size for _, size in held) - leaves
        ratio = rest / X.nbytes
        report.add(f"{kind}: all but the leaves", megabytes(rest), megabytes(X.nbytes), ratio, "<= 3", ratio <= 3)
        report.add(
            f"{kind}: the same without the nodes of the trees",
            megabytes(rest - nodes),
            megabytes(X.nbytes),
            (rest - nodes) / X.nbytes,
        )
        common = {
            "max_depth": model.forest_.max_depth,
            "min_samples_leaf": min_leaf_rows("auto", 4 if kind == "classification" else 0),
        }
        peer = RF[kind](n_trees, random_state=0, n_jobs=2, **common).fit(X, y)
        states = [tree.tree_.__getstate__() for tree in peer.estimators_]
        theirs = sum(state["nodes"].nbytes + state["values"].nbytes for state in states)
        report.add(
            f"{kind}: whole model (peer: RandomForest)",
            megabytes(rest + leaves),
            megabytes(theirs),
            (rest + leaves) / theirs,
        )
        largest = sorted(held, key=lambda part: -part[1])[:8]
        report.note("largest: " + ", ".join(f"{name} {megabytes(size)}" for name, size in largest))
