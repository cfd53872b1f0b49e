"""Conversion of estimators and pipelines to the form of model files, and back."""

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


def describe(model: Any, encoder: Encoder) -> dict[str, Any]:
    """Return class and state of an estimator, or of the steps of a pipeline; refuse anything else."""
    name = type(model).__name__
    if type(model) is Pipeline:
        _check_pipeline(model)
        steps = [[step, describe(estimator, encoder)] for step, estimator in model.steps]
        _refuse_invalid(check_steps, [estimator for _, estimator in model.steps], _PIPELINE)
        return {"estimator": _PIPELINE, "steps": steps}
    if type(model) is not _estimator(name):
        raise TypeError(
            f"save takes one of {', '.join(ESTIMATORS)}, or a Pipeline of TableEncoder and one of these, not {name}. "
            "Save the step that holds one, or store the object with skops.io.dump or joblib.dump."
        )
    state = {
        "params": model.get_params(deep=False),
        "fitted": fitted_attributes(model),
        "requests": _requests(model),
    }
    tree = {attribute_kind: encoder.attributes(values) for attribute_kind, values in state.items()}
    _refuse_invalid(check_model, model, name)
    return {"estimator": name, "state": tree}


def _estimator(name: Any) -> Any:
    """Return the class of an estimator of this package or of a plugin; None if the name is unknown."""
    estimator_class = class_of(name, ESTIMATORS)
    return estimator_class if name in ESTIMATORS or hasattr(estimator_class, "FITTED") else None


def _refuse_invalid(check: Callable[[Any], None], value: Any, name: str) -> None:
    """Raise an error where ``load`` would refuse the object."""
    try:
        check(value)
    except InvariantError as error:
        remedy = "Delete attributes that were added to it, or fit it again."
        raise ValueError(f"This {name} cannot be saved because load would refuse it: {error}. {remedy}") from error


def _check_pipeline(model: Pipeline) -> None:
    """Check that a pipeline holds a TableEncoder and one of our estimators."""
    class_names = [type(step).__name__ for _, step in model.steps]
    if len(class_names) != 2 or class_names[0] != _ENCODER or class_names[1] not in _PREDICTORS:
        raise TypeError(
            f"save takes a Pipeline of TableEncoder and one of {', '.join(_PREDICTORS)}, and this one holds "
            f"{', '.join(class_names)}. Save one step, or store the pipeline with skops.io.dump or joblib.dump."
        )


def without_rows(model: Any) -> Any:
    """Return the model without the training rows that its encoder keeps."""
    if type(model) is not Pipeline:
        return model
    view = copy(model)
    view.steps = [(name, copy(step)) for name, step in model.steps]
    for _, step in view.steps:
        if getattr(step, "rows_", None) is not None:
            step.rows_ = None
    return view


def condensed(model: Any) -> Any:
    """Return the model with fewer training rows: those that had weight out of bag, and rare ones."""
    if type(model) is not Pipeline:
        return _condense_estimator(model)[0]
    view = copy(model)
    view.steps = [(name, copy(step)) for name, step in model.steps]
    last, rows = _condense_estimator(view.steps[-1][1])
    view.steps[-1] = (view.steps[-1][0], last)
    for _, step in view.steps:
        if getattr(step, "rows_", None) is not None:
            step.rows_ = step.rows_.only(rows[rows < len(step.rows_)])
    return view


def _condense_estimator(model: Any) -> tuple[Any, np.ndarray]:
    """Return a DSNA estimator with fewer rows, and their row numbers in ``model``."""
    if not hasattr(model, "_index"):
        raise TypeError(
            f"condense=True takes a fitted DSNAClassifier or DSNARegressor, or a Pipeline of TableEncoder and one of "
            f"these, not a {type(model).__name__} without training rows. Save it without condense."
        )
    smaller = copy(model)
    codes = model._index.label[:, 0].astype(np.int64) if is_classifier(model) else None
    smaller._index, rows = condensed_index(model._index, model.oob_rows_, codes)
    smaller.kept_rows_ = (
        rows if not hasattr(model, "kept_rows_") else model.kept_rows_[rows[rows < len(model.kept_rows_)]]
    )
    smaller.oob_rows_ = np.searchsorted(rows, model.oob_rows_)
    if codes is None:
        smaller._rarity = model._rarity[rows]
        smaller._row_trend = model._row_trend[rows] if len(model._row_trend) else model._row_trend
    return smaller, rows


def rebuild(tree: dict[str, Any], decoder: Decoder) -> Any:
    """Rebuild an estimator from the header of a model file."""
    name = tree["estimator"]
    if name == _PIPELINE:
        names, steps = zip(*tree["steps"], strict=True)
        kinds = [step["estimator"] for step in steps]
        if len(kinds) != 2 or kinds[0] != _ENCODER or kinds[1] not in _PREDICTORS or len(set(names)) != 2:
            raise decoder.unknown_name_error(f"a pipeline of {kinds!r}")
        if not all(type(step) is str and step and "__" not in step for step in names):
            raise ValueError(f"steps of a pipeline are called {names!r}")
        estimators = [rebuild(step, decoder) for step in steps]
        check_steps(estimators)
        return Pipeline(list(zip(names, estimators, strict=True)))
    estimator_class = _estimator(name)
    if estimator_class is None:
        raise decoder.unknown_name_error(f"the estimator {name!r}")
    state = tree["state"]
    model = decoder.build_estimator(estimator_class, state["params"])
    fitted = decoder.attributes(state["fitted"])
    for unknown_name in fitted.keys() & {*vars(model), "_metadata_request"}:
        raise decoder.unknown_name_error(f"the fitted attribute {unknown_name!r} of {name}")
    vars(model).update(fitted)
    check_model(model)
    if fitted and hasattr(model, "restored"):
        model.restored()
    _set_requests(model, decoder.attributes(state["requests"]))
    return model


def _requests(model: Any) -> dict[str, Any]:
    """Return the metadata requests (``set_fit_request``, ``set_score_request``), by method."""
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
