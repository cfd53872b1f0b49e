"""Methods that share a fitted model, which one fit then answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..presets import affine_hull

#: Our method, as tables name it.
FULL = "CS-RF+DSNA"
QUICK_TREES = 5

Answers = dict[str, np.ndarray]


@dataclass(frozen=True)
class Family:
    """Methods that one fitted model answers.

    Parameters
    ----------
    names : tuple of str
    make : callable
        From a seed to an estimator.
    answer : callable
        From the fitted estimator and rows to the labels that each method predicts.

    Examples
    --------
    >>> import numpy as np
    >>> family = single("RF", random_forest)
    >>> family.names, family.make(3).random_state
    (('RF',), 3)
    """

    names: tuple[str, ...]
    make: Callable[[int], Any]
    answer: Callable[[Any, np.ndarray], Answers]


def single(name: str, make: Callable[[int], Any]) -> Family:
    """A method that shares its fit with no other.

    Examples
    --------
    >>> single("RF", random_forest).names
    ('RF',)
    """
    return Family((name,), make, lambda model, X: {name: model.predict(X)})


def random_forest(seed: int) -> Any:
    """The forest to compare with.

    Examples
    --------
    >>> random_forest(3).random_state
    3
    """
    from sklearn.ensemble import RandomForestRegressor

    # A third of the features is Breiman's advice for labels; on faces it is as good as all of them, and faster.
    return RandomForestRegressor(100, max_features=1 / 3, random_state=seed)


def grouped(families: Iterable[Family]) -> list[Family]:
    """Families, each once, in the order given.

    Examples
    --------
    >>> forest = single("RF", random_forest)
    >>> len(grouped([forest, forest]))
    1
    """
    return list({family.names: family for family in families}.values())


def as_affine_hull(model: Any) -> Any:
    """The affine-hull baseline on the forest of a fitted DSNARegressor: labels have no say, their weighted mean counts.

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
    return model.with_settings(**affine_hull(), decision="mean", balance=0.0)


def with_trees(model: Any, trees: int) -> Any:
    """An estimator whose forests have at most as many trees.

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> with_trees(RandomForestRegressor(100), 5).n_estimators
    5
    """
    if getattr(model, "forest", False) is None:
        model.set_params(forest=model.default_forest())
    counts = {name: value for name, value in model.get_params().items() if name.split("__")[-1] == "n_estimators"}
    return model.set_params(**{name: min(value, trees) for name, value in counts.items()})
