"""``dsna warmup``: compile the numerical kernels ahead of time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._utils.optional import install_command, plugins
from .errors import exit_on_user_error, say

if TYPE_CHECKING:
    import numpy as np


def warmup() -> None:
    """Compile the numerical kernels ahead of time: for tables and, if dsna-vision is installed, for edges in photos.

    The kernels are cached on disk, and later runs load them from there. Run this once after installation, or while
    building a container image. Set NUMBA_CACHE_DIR to choose another cache folder.
    """
    with exit_on_user_error(
        "warmup", install_command("cli"), "Compiled kernels are kept; run the command again to continue."
    ):
        compile_kernels()


def compile_kernels() -> None:
    """Compile kernels that are not cached yet, printing progress and the cache folder."""
    from .._kernels.notices import NOTICES

    steps = {"classification": _classify, "regression": _regress}
    steps |= {name: entry.load() for name, entry in plugins("dsna.warmup").items()}
    for number, (name, step) in enumerate(steps.items(), start=1):
        say(f"{number} of {len(steps)}: {name}")
        before = NOTICES.compiled
        step()
        say(f"  {NOTICES.compiled - before} kernels compiled")
    say(_cache_notice())


def _cache_notice() -> str:
    from .._kernels.forest.tree import grow_tree
    from .._kernels.notices import NOTICES

    if NOTICES.cached:
        return f"All kernels are in {grow_tree._cache.cache_path}."
    return "The kernels could not be cached: each run compiles them again."


def _table() -> tuple[np.ndarray, np.ndarray]:
    import numpy as np

    X = np.random.default_rng(0).normal(size=(60, 4))
    return X, X[:, 0]


def _classify() -> None:
    from .. import Approximation, CostSensitiveForestClassifier, DSNAClassifier

    X, score = _table()
    approximation = Approximation(n_clusters=2, hull_energy=0.9)
    model = DSNAClassifier(CostSensitiveForestClassifier(3), approximation, random_state=0)
    model.fit(X, score > 0.8).predict(X)
    from ..distributed import DistributedDSNAClassifier

    DistributedDSNAClassifier(model, sample_size=100).fit([(X, score > 0.8)], None).predict(X)


def _regress() -> None:
    from .. import Approximation, CostSensitiveForestRegressor, DSNARegressor

    X, score = _table()
    approximation = Approximation(n_clusters=2, hull_energy=0.9)
    DSNARegressor(CostSensitiveForestRegressor(3), approximation, random_state=0).fit(X, score).predict(X)
