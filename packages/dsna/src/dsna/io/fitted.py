"""Invariants of the fitted attributes of each estimator, and between the containers among them.

Model files are checked against them when they are written and when they are read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from .._utils.invariants import (
    LARGEST,
    POSITIVE,
    Array,
    Checked,
    Choice,
    Classes,
    Count,
    Field,
    Number,
    Part,
    Parts,
    Template,
    Texts,
    check_fields,
    require,
)
from ..forest.adapters import FORESTS, NEIGHBORS, OURS
from ..forest.held_out import N_FOLDS
from ..prediction.decision import DECISIONS
from ..prediction.ends import N_ENDS
from ..tables.column_types import ColumnType
from ..tables.encoders import ENCODERS
from ..trend.classes import ClassTrend
from ..trend.trend import KINDS


class Attributes(NamedTuple):
    """Fitted attributes of an estimator: those that it has, those that it may have, and what holds between them."""

    needed: Mapping[str, Field]
    optional: Mapping[str, Field] = {}
    check_relations: Callable[[Any], None] | None = None


def check_model(model: Any) -> None:
    """Raise an InvariantError or another ValueError where a parameter or fitted attribute is invalid."""
    getattr(model, "check_parameters", model._validate_params)()
    fitted = fitted_attributes(model)
    if not fitted:
        return
    owner = type(model).__name__
    attributes = _attributes_of(type(model))
    assert attributes is not None
    unknown = fitted.keys() - attributes.needed.keys() - attributes.optional.keys()
    names = ", ".join(sorted(unknown))
    require(not unknown, f"{names}: not among the fitted attributes of {owner} in dsna.io.fitted.ATTRIBUTES")
    _check_fitted(model, attributes, fitted)


def _attributes_of(kind: type) -> Attributes | None:
    """Invariants of an estimator of ours, or of a package that states them; None of other classes."""
    stated = (ATTRIBUTES.get(base.__name__) or vars(base).get("FITTED") for base in kind.__mro__)
    return next(filter(None, stated), None)


def _check_fitted(model: Any, attributes: Attributes, fitted: dict[str, Any]) -> None:
    owner, (needed, optional, check_relations) = type(model).__name__, attributes
    missing = needed.keys() - fitted.keys()
    require(not missing, f"{owner} lacks {', '.join(sorted(missing))}")
    check_fields(owner, fitted, {name: field for name, field in {**needed, **optional}.items() if name in fitted})
    if check_relations is not None:
        check_relations(model)


def check_unpickled(model: Any) -> None:
    """Raise an InvariantError where a fitted attribute is invalid; what users and subclasses add is their own.

    An estimator whose ``fit`` has failed holds no containers, and can be unpickled.
    """
    attributes = _attributes_of(type(model))
    fitted = fitted_attributes(model)
    if attributes is not None and any(isinstance(value, Checked) for value in fitted.values()):
        _check_fitted(model, attributes, fitted)


def fitted_attributes(model: Any) -> dict[str, Any]:
    """All attributes but parameters and metadata requests."""
    others = {*model.get_params(deep=False), "_metadata_request", "_fitted_with"}
    return {name: value for name, value in vars(model).items() if name not in others}


def check_steps(steps: list[Any]) -> None:
    """Raise an InvariantError where the steps of a pipeline, an encoder of tables and a model, do not go together."""
    encoder, model = steps
    ready = [bool(fitted_attributes(step)) for step in steps]
    require(ready[0] == ready[1], "one step of the pipeline is fitted and the other is not")
    if not ready[0]:
        return
    n_columns = len(encoder.source_columns_)
    require(n_columns == model.n_features_in_, "the encoder makes another number of columns than the model takes")
    if encoder.rows_ is not None:
        fold = model._index.fold if hasattr(model, "_index") else model.fold_
        lengths = (len(fold), int(np.sum(fold >= 0)))
        require(len(encoder.rows_) in lengths, "the encoder keeps another number of rows than the model was fitted on")


def _forest(model: Any) -> None:
    model.trees_.check_rows(len(model.fold_))


def _forest_classifier(model: Any) -> None:
    _forest(model)
    require(abs(model.class_prior_.sum() - 1.0) < 1e-6, "class_prior_ does not add up to one")


def _dsna_classifier(model: Any) -> None:
    index, n_classes = model._index, len(model.classes_)
    require(np.all(np.isin(model.fitted_classes_, model.classes_)), "fitted_classes_ is not among classes_")
    code = index.label[:, 0]
    known = index.label.shape[1] == 1 and np.all((code >= 0) & (code < n_classes) & (code == np.floor(code)))
    require(known, "the index holds other numbers than those of the classes")
    sums = np.bincount(code.astype(np.int64), weights=index.weight, minlength=n_classes)
    require(np.allclose(sums, model._class_weight, 1e-6, 0.0), "_class_weight is not that of the rows")
    require(np.allclose(model._calibration.prior, model.class_prior_), "the calibration's prior is not class_prior_")
    trend = model._trend
    require(model.trend_ == (None if trend is None else trend.kind), "trend_ is not that of the trend")
    n_opinions = 2 if trend is None else 3
    require(len(model._calibration.slopes) == n_opinions, "the calibration has another number of opinions")
    require(model._oob_chosen.max(initial=-1) < len(model.fitted_classes_), "_oob_chosen holds numbers of no class")
    require(len(model._oob_votes) in (0, len(model.oob_rows_)), "_oob_votes has another number of rows than oob_rows_")
    for shares in (index.values, index.leaf_value):
        require(not shares.size or (shares.min() >= 0 and shares.max() <= _ONE), "the index averages no classes")


def _dsna_regressor(model: Any) -> None:
    require(len(model._grid) > 0, "the grid is empty")
    if DECISIONS[model.decision_].learns_ends:
        right = len(model._grid) == N_ENDS and np.all(model._grid[[3, 7]] > 0.0)
        require(right, "the ends of the decision are not those of a regression")
    require(len(model._regions) in (0, model.n_outputs_), "there are not as many regions as outputs")
    attributes = (model.blend_, model.decision_, model.balance_)
    rule = (model._rule.blend, model._rule.decision, model._rule.balance)
    require(attributes == rule, "blend_, decision_ or balance_ is not that of the rule")
    trend = model._trend
    require(model.trend_ == (None if trend is None else trend.kind), "trend_ is not that of the trend")
    carry = (model._rule.offset, model._rule.pull)
    require((model.trend_offset_, model.trend_pull_) == carry, "trend_offset_ or trend_pull_ is not that of the rule")
    held = 0 if trend is None else len(model._index.label)
    require(len(model._row_trend) == held, "_row_trend has another number of rows than the index")


def _encoder(model: Any) -> None:
    types = [ColumnType.of(spec, name) for name, spec in model.types_.items()]
    kinds = [kind.kind for kind in types]
    names = getattr(model, "feature_names_in_", np.array([*model.types_], dtype=object))
    require(names.tolist() == [*model.types_], "types_ is not that of the columns")
    right = all(type(one) is ENCODERS[kind] for one, kind in zip(model._columns, kinds, strict=True))
    require(right, "_columns is not made for these types")
    ways = [getattr(one, "decimal", getattr(one, "order", "")) for one in model._columns]
    require(ways == [kind.way for kind in types], "_columns reads numbers or dates otherwise than types_ says")
    made = np.repeat(np.arange(len(kinds)), [len(one.suffixes()) for one in model._columns])
    require(np.array_equal(model.source_columns_, made), "source_columns_ is not that of _columns")
    filled = np.searchsorted(made, [place for place, one in enumerate(model._columns) if one.filled])
    require(np.array_equal(model._filling.columns, filled), "_filling fills in other columns than those of numbers")


_ONE = 1.0 + 1e-9
_SHARE, _SCORE = Number(0.0, 1.0), Number(nan=True)
_NAMED: Mapping[str, Field] = {"feature_names_in_": Array("object", "features")}
_MAY_HAVE: Mapping[str, Field] = {**_NAMED, "kept_rows_": Array("int64", "kept", 0)}
_FOREST: Mapping[str, Field] = {
    "_scaling": Part("Scaling", "features"),
    "trees_": Part("Trees", "features leaves"),
    "n_features_in_": Count("features"),
    "fold_": Array("int64", "rows", 0, N_FOLDS - 1),
}
_DSNA: Mapping[str, Field] = {
    "forest_": Template(tuple(kind.__name__ for kind in (*OURS, *FORESTS, *NEIGHBORS))),
    "approximation_": Template(("Approximation",)),
    "n_features_in_": Count("features"),
    "oob_rows_": Array("int64", "answered", below="rows"),
    "_oob_weight": Array("float64", "answered", 0.0),
}
ATTRIBUTES = {
    "CostSensitiveForestClassifier": Attributes(
        {
            **_FOREST,
            "classes_": Classes("classes"),
            "n_classes_": Count("classes"),
            "class_prior_": Array("float64", "classes", 0.0, 1.0),
            "_leaf_value": Array("float64", "leaves, classes", 0.0, _ONE),
        },
        {
            **_NAMED,
            "oob_score_": _SCORE,
            "oob_balanced_accuracy_": _SCORE,
            "oob_decision_function_": Array("float64", "rows, classes", nan=True),
        },
        _forest_classifier,
    ),
    "CostSensitiveForestRegressor": Attributes(
        {
            **_FOREST,
            "_leaf_value": Array("float64", "leaves, outputs", -LARGEST, LARGEST),
            "n_outputs_": Count("outputs"),
        },
        {**_NAMED, "oob_score_": _SCORE, "oob_prediction_": Array("float64", "rows | rows, outputs", nan=True)},
        _forest,
    ),
    "DSNAClassifier": Attributes(
        {
            "_index": Part("NeighborIndex", "rows features averaged=classes"),
            **_DSNA,
            "classes_": Classes("classes"),
            "fitted_classes_": Classes("fitted"),
            "_class_weight": Array("float64", "classes", 0.0),
            "_calibration": Part("Calibration", "classes"),
            "_gain": Array("float64", "classes, classes", -1.0, 1.0),
            "_oob_chosen": Array("int64", "answered", 0),
            "_oob_votes": Array("float64", "voted, fitted", 0.0, _ONE),
            "oob_decision_score_": _SCORE,
            "oob_decision_score_std_": _SCORE,
            "_trend": Part("ClassTrend", "features classes=fitted", none=True),
            "trend_": Choice((ClassTrend.kind, None)),
            "oob_score_": _SCORE,
            "oob_balanced_accuracy_": _SCORE,
            "oob_decision_function_": Array("float64", "answered, fitted"),
        },
        _MAY_HAVE,
        _dsna_classifier,
    ),
    "DSNARegressor": Attributes(
        {
            "_index": Part("NeighborIndex", "rows features outputs averaged=outputs"),
            **_DSNA,
            "n_outputs_": Count("outputs"),
            "_density": Part("TargetDensity", "outputs"),
            "_rarity": Array("float64", "rows", POSITIVE, LARGEST),
            "_rule": Part("Rule"),
            "_rules": Parts("Rule", "rules"),
            "blend_": _SHARE,
            "decision_": Choice(tuple(DECISIONS)),
            "balance_": _SHARE,
            "_trend": Part("Trend", "features outputs", none=True),
            "_row_trend": Array("float64", "trended, outputs", -LARGEST, LARGEST),
            "trend_": Choice((*KINDS, None)),
            "trend_offset_": _SHARE,
            "trend_pull_": _SHARE,
            "_grid": Array("float64", "points, outputs", -LARGEST, LARGEST),
            "oob_score_": _SCORE,
            "oob_prediction_": Array("float64", "answered | answered, outputs"),
            "_regions": Parts("Regions", "regions"),
            "_ranks": Parts("Ranks", "regions"),
            "_continuation": Part("Continuation", "features outputs", none=True),
        },
        _MAY_HAVE,
        _dsna_regressor,
    ),
    "TableEncoder": Attributes(
        {
            "n_features_in_": Count("columns"),
            "types_": Texts("columns", named=True),
            "notes_": Texts("notes"),
            "_filling": Part("Filling"),
            "_columns": Parts(" ".join(sorted({kind.__name__ for kind in ENCODERS.values()})), "columns"),
            "source_columns_": Array("int64", "encoded", below="columns"),
            "unreadable_": Array("float64", "columns", 0.0, 1.0),
            "rows_": Part("KeptRows", none=True),
        },
        {"feature_names_in_": Array("object", "columns"), "label_spelling_": Choice(("merge", "keep"))},
        _encoder,
    ),
}
