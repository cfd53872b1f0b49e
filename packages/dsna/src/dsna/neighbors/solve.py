"""Algorithm 1 on many queries at once: from neighbourhoods to coefficients, in parallel chunks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._utils.parallel import chunks, in_parallel, writable
from .neighborhoods import Neighborhoods

if TYPE_CHECKING:
    from .._kernels.approximation.query import Solutions, SolverSettings

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
    """Solutions for queries Q with neighbourhoods ``near``: fields of ``dsna._kernels.approximation.query.Solutions``.

    ``Z`` and ``label`` are those of the rows that ``near.places`` numbers. ``how`` holds the fields of ``SolverSettings``
    there, as ``Approximation.kernel_settings`` gives them.
    """
    tasks = [
        (Q[part], Z, label, class_scale, near.places[part], near.proximity[part], near.size[part], how)
        for part in chunks(len(Q), _CHUNK)
    ]
    parts = in_parallel(_solve_some, tasks, n_jobs)
    return {name: np.concatenate([p[j] for p in parts]) for j, name in enumerate(FIELDS)}


def _solve_some(Q: np.ndarray, Z: np.ndarray, *rest: Any) -> tuple[np.ndarray, ...]:
    from .._kernels.approximation.query import SolverSettings

    label, class_scale, rows, proximity, size = (writable(a) for a in rest[:5])
    how = SolverSettings(**rest[5])
    # More clusters than rows cannot be filled.
    how = how._replace(n_clusters=min(how.n_clusters, rows.shape[1]))
    near = Neighborhoods(rows, proximity, size, np.empty((len(rows), 0)))
    return tuple(answer(writable(Q), writable(Z), label, class_scale, near, how))


def answer(
    Q: np.ndarray, Z: np.ndarray, label: np.ndarray, class_scale: np.ndarray, near: Neighborhoods, how: SolverSettings
) -> Solutions:
    """Run Algorithm 1 on the arrays that ``dsna._kernels.approximation.query.approximate`` describes."""
    from .._kernels.approximation.query import Solutions, approximate

    rows, proximity, size = near.rows, near.proximity, near.size
    n, width = rows.shape
    K, steps = how.n_clusters, how.max_iter + 1
    answers = Solutions(
        alpha=np.zeros((n, width)),
        member=np.zeros((n, width, K), dtype=np.bool_),
        share=np.zeros((n, K)),
        hull_residual=np.zeros((n, K)),
        objective=np.zeros((n, K)),
        labels=np.zeros((n, steps, label.shape[1])),
        history=np.zeros((n, steps)),
        steps=np.zeros(n, dtype=np.int64),
        residual=np.zeros(n),
    )
    found = np.ones(n, dtype=np.int64)
    if K > 1 or how.energy > 0.0:
        from .._kernels.approximation.groups import group_neighbors

        point = np.empty((n, K, Q.shape[1]))
        group_neighbors(Q, Z, label, rows, size, how, found, point, answers.member, answers.hull_residual)
    else:
        point = Q[:, None]
        answers.member[:, :, 0] = np.arange(width) < size[:, None]
    approximate(Q, Z, label, class_scale, rows, proximity, size, how, found, point, answers)
    return answers
