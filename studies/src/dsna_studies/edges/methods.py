"""The methods compared: forests, the ways to answer of each, and second levels on top of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dsna_vision.edges import EdgeDetector, TwoLevelDetector

from ..select_methods import check_names

#: Our method, and what it is measured against.
FULL, PLAIN = "SE+DSNA", "SE"


@dataclass(frozen=True)
class Method:
    """An answer of a forest.

    Parameters
    ----------
    forest : {"SE", "SE-pool"}
        Whether the leaves remember patches.
    answer : {"se", "kernel", "hull", "dsna"}
        As :meth:`dsna_vision.edges.EdgeDetector.detect` takes it; of a second level, the maps that it sees.
    scales : {"", "two"}, default=""
        Sizes at which photos are looked at; empty: those asked for.
    rescorer : str, default=""
        Of the second level, as :class:`dsna_vision.edges.TwoLevelDetector` takes it; empty: there is none.

    Examples
    --------
    >>> METHODS["SE+AH"]
    Method(forest='SE-pool', answer='hull', scales='', rescorer='')
    >>> METHODS["SE+DSNA@2+boosted"]
    Method(forest='SE-pool', answer='dsna', scales='two', rescorer='boosted')
    """

    forest: str
    answer: str
    scales: str = ""
    rescorer: str = ""


#: Methods of one level; one fit answers those of the same forest.
FIRST_LEVEL: dict[str, Method] = {
    PLAIN: Method("SE", "se"),
    "SE+AH": Method("SE-pool", "hull"),
    "SE+kernel": Method("SE-pool", "kernel"),
    FULL: Method("SE-pool", "dsna"),
}
#: Rescorers of second levels, the best last.
RESCORERS = ("boosted", "perceptrons", "boosted+perceptrons")
BEST_RESCORER = RESCORERS[-1]
#: First levels at two sizes, and the second levels that learn from their maps.
SECOND_LEVEL: dict[str, Method] = {
    f"{name}@2{'+' * bool(rescorer)}{rescorer}": Method(*first, "two", rescorer)
    for name, first in {PLAIN: ("SE", "se"), FULL: ("SE-pool", "dsna")}.items()
    for rescorer in ("", *RESCORERS)
}
METHODS = FIRST_LEVEL | SECOND_LEVEL
#: What is run where no method is named, by levels.
BY_LEVELS = {1: tuple(FIRST_LEVEL), 2: (PLAIN, FULL, *SECOND_LEVEL)}
QUICK_METHODS = (PLAIN, FULL)
_QUICK_BY_LEVELS = {1: QUICK_METHODS, 2: (PLAIN, "SE@2", "SE@2+boosted", "SE+DSNA@2+boosted")}
CROSS_METHODS = (PLAIN, FULL)
_FORESTS: dict[str, dict[str, Any]] = {
    "SE": {"n_pool": 0},  # only its leaves are asked
    "SE-pool": {},
}
_QUICK = {"n_estimators": 2, "n_patches": 2000, "n_pool": 2000}
_QUICK_LEVEL: dict[str, Any] = {"n_estimators": 20, "n_candidates": 300}


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
    >>> detector_of("SE+AH", seed=1, patches=5000).get_params()["n_patches"]
    5000
    """
    forest = _FORESTS[METHODS[method].forest]
    few = {name: value for name, value in _QUICK.items() if forest.get(name) != 0} if quick else {}
    asked = {} if patches is None else {"n_patches": patches}
    return EdgeDetector(**{**forest, **few, **asked}, random_state=seed)


def level_of(method: str, quick: bool = False) -> TwoLevelDetector | None:
    """The second level of a method, not fitted and without a first; None where the method has none.

    Parameters
    ----------
    method : str
        One of ``METHODS``.
    quick : bool, default=False
        Whether few trees and candidates are enough.

    Returns
    -------
    TwoLevelDetector or None

    Examples
    --------
    >>> level_of("SE@2"), level_of("SE@2+boosted").rescorer
    (None, 'boosted')
    """
    rescorer = METHODS[method].rescorer
    few = _QUICK_LEVEL if quick else {}
    return TwoLevelDetector(rescorer=rescorer, **few) if rescorer else None


def selected(asked: Sequence[str], quick: bool = False, levels: int = 1) -> tuple[str, ...]:
    """The methods asked for, in the order of the tables; where none is named, all, or few if it is to be quick.

    Parameters
    ----------
    asked : sequence of str
    quick : bool, default=False
    levels : {1, 2}, default=1
        Whether methods of one level, or those with a second, are meant where none is named.

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> selected(["SE+DSNA", "SE"])
    ('SE', 'SE+DSNA')
    >>> selected([], quick=True, levels=2)
    ('SE', 'SE@2', 'SE@2+boosted', 'SE+DSNA@2+boosted')
    >>> selected(["nonsense"])
    Traceback (most recent call last):
    dsna_studies.select_methods.MethodError: There is no method nonsense; there are SE, SE+AH, SE+kernel, ...
    """
    check_names(asked, list(METHODS))
    wanted = asked or (_QUICK_BY_LEVELS if quick else BY_LEVELS)[levels]
    return tuple(name for name in METHODS if name in wanted)
