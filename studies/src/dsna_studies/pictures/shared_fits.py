"""Methods that are evaluated on one fitted model."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from dsna.presets import affine_hull

#: Our method, as tables name it.
FULL = "CS-RF+DSNA"
QUICK_TREES = 5
#: Parameters that turn an approximation into an affine hull; distances and tolerances remain those of the model.
_HULL = ("lam", "gamma", "n_clusters", "proximity_weights", "max_iter")

Answers = dict[str, np.ndarray]


@dataclass(frozen=True)
class SharedFit:
    """Methods that share one fitted model.

    Parameters
    ----------
    names : tuple of str
    make : callable
        Returns an estimator for a seed.
    answer : callable
        Returns the predictions of each method, given the fitted estimator and rows.

    Examples
    --------
    >>> import numpy as np
    >>> fit = single("RF", random_forest)
    >>> fit.names, fit.make(3).random_state
    (('RF',), 3)
    """

    names: tuple[str, ...]
    make: Callable[[int], Any]
    answer: Callable[[Any, np.ndarray], Answers]


def single(name: str, make: Callable[[int], Any]) -> SharedFit:
    """Create a fit for a single method.

    Examples
    --------
    >>> single("RF", random_forest).names
    ('RF',)
    """
    return SharedFit((name,), make, lambda model, X: {name: model.predict(X)})


def random_forest(seed: int) -> Any:
    """Create the random forest of the tables.

    Examples
    --------
    >>> random_forest(3).random_state
    3
    """
    from sklearn.ensemble import RandomForestRegressor

    # Breiman recommends a third of the features for regression; on faces this is as good as all features, and faster.
    return RandomForestRegressor(100, max_features=1 / 3, random_state=seed)


def unique_fits(fits: Iterable[SharedFit]) -> list[SharedFit]:
    """Remove duplicate fits, keeping their order.

    Examples
    --------
    >>> forest = single("RF", random_forest)
    >>> len(unique_fits([forest, forest]))
    1
    """
    return list({fit.names: fit for fit in fits}.values())


def as_affine_hull(model: Any) -> Any:
    """Create the affine-hull baseline, without targets in the coefficients, on the forest of a fitted DSNARegressor.

    Examples
    --------
    >>> import numpy as np
    >>> from dsna import CostSensitiveForestRegressor, DSNARegressor
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> model = DSNARegressor(CostSensitiveForestRegressor(5), random_state=0).fit(X, X[:, 0])
    >>> hull = as_affine_hull(model)
    >>> hull.approximation_.lam, model.approximation_.lam, hull.predict(X[:3]).shape
    (0.0, 0.003, (3,))
    """
    preset = affine_hull()
    changes = {name: getattr(preset["approximation"], name) for name in _HULL}
    hull = clone(model.approximation_).set_params(**changes)
    return model.with_settings(approximation=hull, blend=preset["blend"], decision="mean", balance=0.0)
