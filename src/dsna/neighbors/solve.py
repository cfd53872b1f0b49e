"""Algorithm 1 on many queries at once: from neighbourhoods to coefficients, in parallel chunks."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._utils.parallel import chunks, in_parallel, writable
from .neighborhoods import Neighborhoods

_CHUNK = 256
FIELDS = ("alpha", "member", "share", "hull_residual", "objective", "labels", "history", "steps", "residual")


def approximation_setting(params: dict[str, Any], n_classes: int) -> tuple:
    """The numbers of ``dsna._kernels.approximation.query.Approximation`` for a set of estimator parameters."""
    radius = params["radius"]
    energy = params["hull_energy"]
    return (
        n_classes,
        int(params["n_clusters"]),
        float(params["overlap"]),
        float(params["tau"]),
        int(params["selection"] == "best"),
        float(params["temperature"]),
        0.0 if energy is None else float(energy),
        float(params["lam"]),
        float(params["gamma"]),
        float(params["bandwidth"]),
        0.5 if radius == "median" else 1.0 if radius is None else float(radius),
        int(params["proximity_weights"]),
        int(params["sum_to_one"]),
        float(params["ridge"]),
        int(params["max_iter"]),
        float(params["tol"]),
    )


def solve(
    Q: np.ndarray,
    Z: np.ndarray,
    label: np.ndarray,
    class_scale: np.ndarray,
    near: Neighborhoods,
    how: tuple,
    n_jobs: int | None,
) -> dict[str, np.ndarray]:
    """Answers (fields of ``dsna._kernels.approximation.query.Answers``) for the queries Q with neighbourhoods ``near``."""
    tasks = [
        (Q[part], Z, label, class_scale, near.rows[part], near.proximity[part], near.size[part], how)
        for part in chunks(len(Q), _CHUNK)
    ]
    parts = in_parallel(_solve_some, tasks, n_jobs)
    return {name: np.concatenate([p[j] for p in parts]) for j, name in enumerate(FIELDS)}


def _solve_some(Q: np.ndarray, Z: np.ndarray, *rest: Any) -> tuple[np.ndarray, ...]:
    from .._kernels.approximation.query import Answers, Approximation, approximate

    label, class_scale, rows, proximity, size = (writable(a) for a in rest[:5])
    how = Approximation(*rest[5])
    n, width = rows.shape
    how = how._replace(n_clusters=min(how.n_clusters, width))
    steps = how.max_iter + 1
    answers = Answers(
        alpha=np.zeros((n, width)),
        member=np.zeros((n, width, how.n_clusters), dtype=np.bool_),
        share=np.zeros((n, how.n_clusters)),
        hull_residual=np.zeros((n, how.n_clusters)),
        objective=np.zeros((n, how.n_clusters)),
        labels=np.zeros((n, steps, label.shape[1])),
        history=np.zeros((n, steps)),
        steps=np.zeros(n, dtype=np.int64),
        residual=np.zeros(n),
    )
    approximate(writable(Q), writable(Z), label, class_scale, rows, proximity, size, how, answers)
    return tuple(answers)
