"""Algorithm 1 on many queries at once: from neighbourhoods to coefficients, in parallel chunks."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._utils.parallel import chunks, in_parallel, writable
from .neighborhoods import Neighborhoods

_CHUNK = 256
FIELDS = ("alpha", "member", "share", "hull_residual", "objective", "labels", "history", "steps", "residual")


def solve(
    Q: np.ndarray,
    Z: np.ndarray,
    label: np.ndarray,
    class_scale: np.ndarray,
    near: Neighborhoods,
    how: dict[str, Any],
    n_jobs: int | None,
) -> dict[str, np.ndarray]:
    """Solutions for queries Q with neighbourhoods ``near``: fields of ``dsna._kernels.approximation.query.Answers``.

    ``how`` holds the fields of ``Settings`` there, as ``Approximation.kernel_settings`` gives them.
    """
    tasks = [
        (Q[part], Z, label, class_scale, near.rows[part], near.proximity[part], near.size[part], how)
        for part in chunks(len(Q), _CHUNK)
    ]
    parts = in_parallel(_solve_some, tasks, n_jobs)
    return {name: np.concatenate([p[j] for p in parts]) for j, name in enumerate(FIELDS)}


def _solve_some(Q: np.ndarray, Z: np.ndarray, *rest: Any) -> tuple[np.ndarray, ...]:
    from .._kernels.approximation.query import Answers, Settings, approximate

    label, class_scale, rows, proximity, size = (writable(a) for a in rest[:5])
    how = Settings(**rest[5])
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
