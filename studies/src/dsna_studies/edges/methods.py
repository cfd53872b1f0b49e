"""The methods compared: forests, ways to combine votes, and second levels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dsna_vision.edges import EdgeDetector, TwoLevelDetector

from ..select_methods import check_names

#: Our method and its baseline.
FULL, PLAIN = "SE+DSNA", "SE"


@dataclass(frozen=True)
class EdgeMethod:
    """A method for detecting edges.

    Parameters
    ----------
    forest : {"SE", "SE-pool"}
        Forest without or with patches stored in the leaves.
    answer : {"se", "kernel", "hull", "dsna"}
        Method of :meth:`dsna_vision.edges.EdgeDetector.detect`; for a second level, that of its input maps.
    scales : {"", "two"}, default=""
        Sizes at which photos are analysed; empty: the sizes requested.
    rescorer : str, default=""
        Rescorer of :class:`dsna_vision.edges.TwoLevelDetector`; empty: no second level.

    Examples
    --------
    >>> METHODS["SE+AH"]
    EdgeMethod(forest='SE-pool', answer='hull', scales='', rescorer='')
    >>> METHODS["SE+DSNA@2+boosted"]
    EdgeMethod(forest='SE-pool', answer='dsna', scales='two', rescorer='boosted')
    """

    forest: str
    answer: str
    scales: str = ""
    rescorer: str = ""


#: Methods of one level; those of the same forest share a fit.
FIRST_LEVEL: dict[str, EdgeMethod] = {
    PLAIN: EdgeMethod("SE", "se"),
    "SE+AH": EdgeMethod("SE-pool", "hull"),
    "SE+kernel": EdgeMethod("SE-pool", "kernel"),
    FULL: EdgeMethod("SE-pool", "dsna"),
}
#: Rescorers of second levels, the best last.
RESCORERS = ("boosted", "perceptrons", "boosted+perceptrons")
BEST_RESCORER = RESCORERS[-1]
#: First levels at two sizes, and the second levels that learn from their maps.
SECOND_LEVEL: dict[str, EdgeMethod] = {
    f"{name}@2{'+' * bool(rescorer)}{rescorer}": EdgeMethod(*first, "two", rescorer)
    for name, first in {PLAIN: ("SE", "se"), FULL: ("SE-pool", "dsna")}.items()
    for rescorer in ("", *RESCORERS)
}
METHODS = FIRST_LEVEL | SECOND_LEVEL
#: Methods that run by default, by levels.
BY_LEVELS = {1: tuple(FIRST_LEVEL), 2: (PLAIN, FULL, *SECOND_LEVEL)}
QUICK_METHODS = (PLAIN, FULL)
_QUICK_BY_LEVELS = {1: QUICK_METHODS, 2: (PLAIN, "SE@2", "SE@2+boosted", "SE+DSNA@2+boosted")}
CROSS_METHODS = (PLAIN, FULL)
_FORESTS: dict[str, dict[str, Any]] = {
    "SE": {"n_pool": 0},  # only the masks of its leaves are used
    "SE-pool": {},
}
_QUICK = {"n_estimators": 2, "n_patches": 2000, "n_pool": 2000}
_QUICK_LEVEL: dict[str, Any] = {"n_estimators": 20, "n_candidates": 300}


def detector_of(method: str, seed: int, patches: int | None = None, quick_run: bool = False) -> EdgeDetector:
    """Create the detector of a method, not fitted, with the defaults of EdgeDetector unless specified.

    Parameters
    ----------
    method : str
        One of ``METHODS``.
    seed : int
    patches : int or None, default=None
        Number of patches per tree.
    quick_run : bool, default=False
        Whether to use few trees and patches.

    Returns
    -------
    EdgeDetector

    Examples
    --------
    >>> detector_of("SE+AH", seed=1, patches=5000).get_params()["n_patches"]
    5000
    """
    forest = _FORESTS[METHODS[method].forest]
    quick_settings = {name: value for name, value in _QUICK.items() if forest.get(name) != 0} if quick_run else {}
    requested_settings = {} if patches is None else {"n_patches": patches}
    return EdgeDetector(**{**forest, **quick_settings, **requested_settings}, random_state=seed)


def level_of(method: str, quick_run: bool = False) -> TwoLevelDetector | None:
    """Create the second level of a method, not fitted and without a first level, or None if the method has none.

    Parameters
    ----------
    method : str
        One of ``METHODS``.
    quick_run : bool, default=False
        Whether to use few trees and candidates.

    Returns
    -------
    TwoLevelDetector or None

    Examples
    --------
    >>> level_of("SE@2"), level_of("SE@2+boosted").rescorer
    (None, 'boosted')
    """
    rescorer = METHODS[method].rescorer
    quick_settings = _QUICK_LEVEL if quick_run else {}
    return TwoLevelDetector(rescorer=rescorer, **quick_settings) if rescorer else None


def methods_to_run(requested: Sequence[str], quick_run: bool = False, levels: int = 1) -> tuple[str, ...]:
    """Select the requested methods, in the order of the tables; by default all, or a few with ``quick_run``.

    Parameters
    ----------
    requested : sequence of str
    quick_run : bool, default=False
    levels : {1, 2}, default=1
        Default methods: those of one level, or those with a second level.

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> methods_to_run(["SE+DSNA", "SE"])
    ('SE', 'SE+DSNA')
    >>> methods_to_run([], quick_run=True, levels=2)
    ('SE', 'SE@2', 'SE@2+boosted', 'SE+DSNA@2+boosted')
    >>> methods_to_run(["nonsense"])
    Traceback (most recent call last):
    dsna_studies.select_methods.MethodError: There is no method nonsense; there are SE, SE+AH, SE+kernel, ...
    """
    check_names(requested, list(METHODS))
    names = requested or (_QUICK_BY_LEVELS if quick_run else BY_LEVELS)[levels]
    return tuple(name for name in METHODS if name in names)
