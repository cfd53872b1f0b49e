"""Estimators, and pipelines of an encoder of tables and one of them, as model files hold them, and back."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any

import numpy as np
import sklearn
from sklearn.base import is_classifier
from sklearn.pipeline import Pipeline

from .._utils.invariants import InvariantError
from ..neighbors.condense import condensed_index
from .encoding import Decoder, Encoder, class_of
from .fitted import check_model, check_steps, fitted_attributes

ESTIMATORS = {
    "CostSensitiveForestClassifier": "forest.classifier",
    "CostSensitiveForestRegressor": "forest.regressor",
    "DSNAClassifier": "classifier",
    "DSNARegressor": "regressor",
    "TableEncoder": "tables.encoder",
}
_PIPELINE = "Pipeline"
_ENCODER = "TableEncoder"
_PREDICTORS = tuple(name for name in ESTIMATORS if name != _ENCODER)
_ROUTED = ("fit", "score")


def described(model: Any, encoder: Encoder) -> dict[str, Any]:
    """Class and state of an estimator, or of the steps of a pipeline; refuses anything else."""
    name = type(model).__name__
    if type(model) is Pipeline:
        _check_pipeline(model)
        steps = [[step, described(one, encoder)] for step, one in model.steps]
        _checked(check_steps, [one for _, one in model.steps], _PIPELINE)
        return {"estimator": _PIPELINE, "steps": steps}
    if type(model) is not _estimator(name):
        raise TypeError(
            f"save takes one of {', '.join(ESTIMATORS)}, or a Pipeline of TableEncoder and one of these, not {name}. "
            "Save that step of a pipeline or search, or store the whole by skops.io.dump or joblib.dump."
        )
    state = {
        "params": model.get_params(deep=False),
        "fitted": fitted_attributes(model),
        "requests": _requests(model),
    }
    tree = {part: encoder.attributes(values) for part, values in state.items()}
    _checked(check_model, model, name)
    return {"estimator": name, "state": tree}


def _estimator(name: Any) -> Any:
    """Class of an estimator of ours, or of a package that declares it; None of any other name."""
    kind = class_of(name, ESTIMATORS)
    return kind if name in ESTIMATORS or hasattr(kind, "FITTED") else None


def _checked(check: Callable[[Any], None], what: Any, name: str) -> None:
    """Refuse to save what ``load`` would refuse."""
    try:
        check(what)
    except InvariantError as error:
        remedy = "Delete attributes that were added to it, or fit it again."
        raise ValueError(f"This {name} cannot be saved, for load would refuse it: {error}. {remedy}") from error


def _check_pipeline(model: Pipeline) -> None:
    """Refuse pipelines of anything but an encoder of tables and one of our estimators."""
    kinds = [type(step).__name__ for _, step in model.steps]
    if len(kinds) != 2 or kinds[0] != _ENCODER or kinds[1] not in _PREDICTORS:
        raise TypeError(
            f"save takes a Pipeline of TableEncoder and one of {', '.join(_PREDICTORS)}, and this one holds "
            f"{', '.join(kinds)}. Save one step, or store the whole by skops.io.dump or joblib.dump."
        )


def without_rows(model: Any) -> Any:
    """The same model without the training rows that its encoder keeps."""
    if type(model) is not Pipeline:
        return model
    view = copy(model)
    view.steps = [(name, copy(step)) for name, step in model.steps]
    for _, step in view.steps:
        if getattr(step, "rows_", None) is not None:
            step.rows_ = None
    return view


def condensed(model: Any) -> Any:
    """The same model with fewer training rows: those that have had weight out of bag, and rare ones."""
    if type(model) is not Pipeline:
        return _condensed(model)[0]
    view = copy(model)
    view.steps = [(name, copy(step)) for name, step in model.steps]
    last, rows = _condensed(view.steps[-1][1])
    view.steps[-1] = (view.steps[-1][0], last)
    for _, step in view.steps:
        if getattr(step, "rows_", None) is not None:
            step.rows_ = step.rows_.only(rows[rows < len(step.rows_)])
    return view


def _condensed(model: Any) -> tuple[Any, np.ndarray]:
    """A DSNA estimator of fewer rows, and the numbers of the rows in the one given."""
    if not hasattr(model, "_index"):
        raise TypeError(
            f"condense=True takes a fitted DSNAClassifier or DSNARegressor, or a Pipeline of TableEncoder and one of "
            f"these, not a {type(model).__name__} without training rows. Save it as it is."
        )
    less = copy(model)
    code = model._index.label[:, 0].astype(np.int64) if is_classifier(model) else None
    less._index, rows = condensed_index(model._index, model.oob_rows_, code)
    less.kept_rows_ = rows if not hasattr(model, "kept_rows_") else model.kept_rows_[rows[rows < len(model.kept_rows_)]]
    less.oob_rows_ = np.searchsorted(rows, model.oob_rows_)
    if code is None:
        less._rarity = model._rarity[rows]
        less._row_trend = model._row_trend[rows] if len(model._row_trend) else model._row_trend
    return less, rows


def rebuilt(tree: dict[str, Any], decoder: Decoder) -> Any:
    """An estimator of what a file says of it."""
    name = tree["estimator"]
    if name == _PIPELINE:
        names, steps = zip(*tree["steps"], strict=True)
        kinds = [step["estimator"] for step in steps]
        if len(kinds) != 2 or kinds[0] != _ENCODER or kinds[1] not in _PREDICTORS or len(set(names)) != 2:
            raise decoder.unknown(f"a pipeline of {kinds!r}")
        if not all(type(step) is str and step and "__" not in step for step in names):
            raise ValueError(f"steps of a pipeline are called {names!r}")
        made = [rebuilt(step, decoder) for step in steps]
        check_steps(made)
        return Pipeline(list(zip(names, made, strict=True)))
    kind = _estimator(name)
    if kind is None:
        raise decoder.unknown(f"the estimator {name!r}")
    state = tree["state"]
    model = decoder.built(kind, state["params"])
    fitted = decoder.attributes(state["fitted"])
    for stranger in fitted.keys() & {*vars(model), "_metadata_request"}:
        raise decoder.unknown(f"the fitted attribute {stranger!r} of {name}")
    vars(model).update(fitted)
    check_model(model)
    if fitted and hasattr(model, "restored"):
        model.restored()
    _set_requests(model, decoder.attributes(state["requests"]))
    return model


def _requests(model: Any) -> dict[str, Any]:
    """Metadata requests (``set_fit_request`` and the like), by method."""
    if "_metadata_request" not in vars(model):
        return {}
    routing = model.get_metadata_routing()
    return {method: dict(getattr(routing, method).requests) for method in _ROUTED}


def _set_requests(model: Any, requests: dict[str, Any]) -> None:
    with sklearn.config_context(enable_metadata_routing=True):
        for method in requests:
            if method not in _ROUTED:
                raise ValueError(f"there is no metadata request of {method!r}")
            getattr(model, f"set_{method}_request")(**requests[method])
