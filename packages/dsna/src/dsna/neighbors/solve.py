"""Algorithm 1 for many queries in parallel chunks: from neighbourhoods to coefficients."""

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
    neighborhoods: Neighborhoods,
    settings: dict[str, Any],
    n_jobs: int | None,
) -> dict[str, np.ndarray]:
    """Approximate queries by their neighbours; return the fields of ``dsna._kernels.approximation.query.Solutions``.

    ``neighborhoods.positions`` are positions in ``Z`` and ``label``; ``settings`` are those of
    ``Approximation.kernel_settings``.
    """
    by_query = (neighborhoods.positions, neighborhoods.proximity, neighborhoods.size)
    tasks = [
        (Q[chunk], Z, label, class_scale, *(array[chunk] for array in by_query), settings)
        for chunk in chunks(len(Q), _CHUNK)
    ]
    chunk_solutions = in_parallel(_solve_chunk, tasks, n_jobs)
    return {
        name: np.concatenate(arrays) for name, arrays in zip(FIELDS, zip(*chunk_solutions, strict=True), strict=True)
    }


def _solve_chunk(Q: np.ndarray, Z: np.ndarray, *arrays_and_settings: Any) -> tuple[np.ndarray, ...]:
    from .._kernels.approximation.query import SolverSettings

    label, class_scale, rows, proximity, size = (writable(a) for a in arrays_and_settings[:5])
    settings = SolverSettings(**arrays_and_settings[5])
    # There cannot be more clusters than rows.
    settings = settings._replace(n_clusters=min(settings.n_clusters, rows.shape[1]))
    neighborhoods = Neighborhoods(rows, proximity, size, np.empty((len(rows), 0)))
    return tuple(run_algorithm(writable(Q), writable(Z), label, class_scale, neighborhoods, settings))


def run_algorithm(
    Q: np.ndarray,
    Z: np.ndarray,
    label: np.ndarray,
    class_scale: np.ndarray,
    neighborhoods: Neighborhoods,
    settings: SolverSettings,
) -> Solutions:
    """Run Algorithm 1; see ``dsna._kernels.approximation.query.approximate`` for the arrays."""
    from .._kernels.approximation.query import Solutions, approximate

    rows, proximity, size = neighborhoods.rows, neighborhoods.proximity, neighborhoods.size
    n, width = rows.shape
    n_clusters, n_labels = settings.n_clusters, settings.max_iter + 1
    solutions = Solutions(
        alpha=np.zeros((n, width)),
        member=np.zeros((n, width, n_clusters), dtype=np.bool_),
        share=np.zeros((n, n_clusters)),
        hull_residual=np.zeros((n, n_clusters)),
        objective=np.zeros((n, n_clusters)),
        labels=np.zeros((n, n_labels, label.shape[1])),
        history=np.zeros((n, n_labels)),
        steps=np.zeros(n, dtype=np.int64),
        residual=np.zeros(n),
    )
    cluster_counts = np.ones(n, dtype=np.int64)
    if n_clusters > 1 or settings.energy > 0.0:
        from .._kernels.approximation.groups import group_neighbors

        point = np.empty((n, n_clusters, Q.shape[1]))
        group_neighbors(
            Q, Z, label, rows, size, settings, cluster_counts, point, solutions.member, solutions.hull_residual
        )
    else:
        point = Q[:, None]
        solutions.member[:, :, 0] = np.arange(width) < size[:, None]
    approximate(Q, Z, label, class_scale, rows, proximity, size, settings, cluster_counts, point, solutions)
    return solutions
