"""The methods compared: forests, and the ways to answer of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...vision.edges import EdgeDetector
from ..select_methods import check_names

#: Our method, and what it is measured against.
FULL, PLAIN = "CS-SE+DSNA", "SE"


@dataclass(frozen=True)
class Method:
    """An answer of a forest.

    Parameters
    ----------
    forest : {"SE", "SE-pool", "WRF", "CS-SE"}
    answer : {"se", "kernel", "hull", "dsna"}
        As :meth:`dsna.vision.edges.EdgeDetector.detect` takes it.

    Examples
    --------
    >>> METHODS["CS-SE+AH"]
    Method(forest='CS-SE', answer='hull')
    """

    forest: str
    answer: str


#: All methods; one fit answers those of the same forest.
METHODS: dict[str, Method] = {
    PLAIN: Method("SE", "se"),
    "WRF": Method("WRF", "se"),
    "CS-SE": Method("CS-SE", "se"),
    "CS-SE+AH": Method("CS-SE", "hull"),
    "CS-SE+kernel": Method("CS-SE", "kernel"),
    FULL: Method("CS-SE", "dsna"),
    "SE+DSNA": Method("SE-pool", "dsna"),
}
QUICK_METHODS = (PLAIN, "CS-SE", FULL)
CROSS_METHODS = (PLAIN, FULL)
_FORESTS: dict[str, dict[str, Any]] = {
    "SE": {"splits": "gini", "cost": 0.0, "n_pool": 0},  # only its leaves are asked
    "SE-pool": {"splits": "gini", "cost": 0.0},
    "WRF": {"splits": "gini", "cost": 1.0, "n_pool": 0},
    "CS-SE": {"splits": "svm", "cost": 0.5},
}
_QUICK = {"n_estimators": 2, "n_patches": 2000, "n_pool": 2000}


def detector_of(method: str, seed: int, patches: int | None = None, quick: bool = False) -> EdgeDetector:
    """The detector behind a method, not fitted; what is not said here is as EdgeDetector has it.

    Parameters
    ----------
    method : str
        One of ``METHODS``.
    seed : int
    patches : int or None, default=None
        Patches of each tree.
    quick : bool, default=False
        Whether few trees and patches are enough.

    Returns
    -------
    EdgeDetector

    Examples
    --------
    >>> detector_of("WRF", seed=1, patches=5000).get_params()["n_patches"]
    5000
    """
    forest = _FORESTS[METHODS[method].forest]
    few = {name: value for name, value in _QUICK.items() if forest.get(name) != 0} if quick else {}
    asked = {} if patches is None else {"n_patches": patches}
    return EdgeDetector(**{**forest, **few, **asked}, random_state=seed)


def selected(asked: Sequence[str], quick: bool = False) -> tuple[str, ...]:
    """The methods asked for, in the order of the tables; where none is named, all, or few if it is to be quick.

    Examples
    --------
    >>> selected(["CS-SE", "SE"])
    ('SE', 'CS-SE')
    >>> selected(["nonsense"])
    Traceback (most recent call last):
    dsna.studies.select_methods.MethodError: There is no method nonsense; there are SE, WRF, CS-SE, ...
    """
    check_names(asked, list(METHODS))
    wanted = asked or (QUICK_METHODS if quick else METHODS)
    return tuple(name for name in METHODS if name in wanted)
