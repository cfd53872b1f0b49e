"""All methods of the benchmark by name."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from ..select_methods import check_names
from .ablation import ablation
from .peers import PEERS, Maker

DEFAULT = "CS-RF+DSNA"  # compared with each peer
_QUICK = {
    "classification": ("RF", "RF/priors", "BalancedRF", "LightGBM", "CS-RF", DEFAULT),
    "regression": ("RF", "ExtraTrees", "LightGBM", "RF-density", "CS-RF", DEFAULT),
}


def _ours(name: str, preset: tuple[str, ...] = (), **params: Any) -> Maker:
    """Return the maker of `dsna.<name>`, optionally with a preset, given by its name and arguments."""

    def make(seed: int) -> Any:
        dsna = import_module("dsna")
        values = getattr(dsna.presets, preset[0])(*preset[1:]) if preset else {}
        return getattr(dsna, name)(**{**values, **params}, random_state=seed)

    return make


# Untuned, like all methods here, and bounded: neighbourhoods of a thousand rows take minutes per fold.
_PAPER_CHANGES = {"tune": None, "max_neighbors": 100}

OURS: dict[str, dict[str, Maker]] = {
    "classification": {
        "CS-RF": _ours("CostSensitiveForestClassifier"),
        "CS-RF+AH": _ours("DSNAClassifier", ("affine_hull",)),
        "DSNA-paper": _ours("DSNAClassifier", ("paper", "classification"), **_PAPER_CHANGES),
        "DSNA-balance-0": _ours("DSNAClassifier", balance=0.0),
        DEFAULT: _ours("DSNAClassifier"),
    },
    "regression": {
        "CS-RF": _ours("CostSensitiveForestRegressor"),
        "CS-RF+AH": _ours("DSNARegressor", ("affine_hull",)),
        "DSNA-paper": _ours("DSNARegressor", ("paper", "regression"), **_PAPER_CHANGES),
        "DSNA-balance-0": _ours("DSNARegressor", balance=0.0),
        "DSNA-balance-1": _ours("DSNARegressor", balance=1.0),
        DEFAULT: _ours("DSNARegressor"),
    },
}
METHODS: dict[str, dict[str, Maker]] = {task: {**PEERS[task], **OURS[task]} for task in PEERS}


def maker(task: str, method: str, relevance: str = "auto") -> Maker:
    """Return the maker of a method of the benchmark or a stage of the ablation.

    Parameters
    ----------
    task, method : str
    relevance : {"auto", "high", "low"}, default="auto"
        Which targets matter; ignored by methods without this parameter.

    Returns
    -------
    function from a seed to an estimator

    Examples
    --------
    >>> maker("regression", "ExtraTrees", "high")(7)
    ExtraTreesRegressor(random_state=7)
    >>> maker("regression", "CS-RF+DSNA", "high")(7)
    DSNARegressor(random_state=7, relevance='high')
    """
    make = METHODS[task][method] if method in METHODS[task] else ablation(task)[method]

    def make_relevant(seed: int) -> Any:
        model = make(seed)
        return model.set_params(relevance=relevance) if "relevance" in model.get_params(deep=False) else model

    return make if relevance == "auto" else make_relevant


def ablation_rows(task: str) -> list[str]:
    """List the methods of the ablation table, in order.

    Examples
    --------
    >>> ablation_rows("classification")[0], ablation_rows("classification")[-1]
    ('RF', 'CS-RF+DSNA')
    """
    return ["RF", *ablation(task), DEFAULT]


def methods_of(task: str, requested: Sequence[str] = (), quick: bool = False) -> list[str]:
    """List the methods to run for a task, in the order of the tables.

    Parameters
    ----------
    task : {"classification", "regression"}
    requested : sequence of str, default=()
        Names, in any case; methods of the other task are ignored. Empty: all, or a few if `quick`.
    quick : bool, default=False
        Whether to select a few methods if none is requested.

    Returns
    -------
    list of str

    Examples
    --------
    >>> methods_of("classification", ["rf", "cs-rf+dsna", "ExtraTrees"])
    ['RF', 'CS-RF+DSNA']
    """
    all_names = list(dict.fromkeys(name for names in METHODS.values() for name in names))
    check_names(requested, all_names, [name for name in requested if name.lower() in map(str.lower, all_names)])
    selected = {name.lower() for name in requested or (_QUICK[task] if quick else METHODS[task])}
    return [name for name in METHODS[task] if name.lower() in selected]
