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
    """Fitted attributes of an estimator: the required ones, the optional ones, and the relations between them."""

    needed: Mapping[str, Field]
    optional: Mapping[str, Field] = {}
    check_relations: Callable[[Any], None] | None = None


def check_model(model: Any) -> None:
    """Raise an InvariantError or another ValueError if a parameter or fitted attribute is invalid."""
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
    """Return the invariants of an estimator of this package or of a plugin; None for other classes."""
    candidates = (ATTRIBUTES.get(parent.__name__) or vars(parent).get("FITTED") for parent in kind.__mro__)
    return next(filter(None, candidates), None)


def _check_fitted(model: Any, attributes: Attributes, fitted: dict[str, Any]) -> None:
    owner, (needed, optional, check_relations) = type(model).__name__, attributes
    missing = needed.keys() - fitted.keys()
    require(not missing, f"{owner} lacks {', '.join(sorted(missing))}")
    check_fields(owner, fitted, {name: field for name, field in {**needed, **optional}.items() if name in fitted})
    if check_relations is not None:
        check_relations(model)


def check_unpickled(model: Any) -> None:
    """Raise an InvariantError if a fitted attribute is invalid; attributes of users and subclasses are not checked.

    An estimator whose ``fit`` failed holds no containers and can be unpickled.
    """
    attributes = _attributes_of(type(model))
    fitted = fitted_attributes(model)
    if attributes is not None and any(isinstance(value, Checked) for value in fitted.values()):
        _check_fitted(model, attributes, fitted)


def fitted_attributes(model: Any) -> dict[str, Any]:
    """Return all attributes except parameters and metadata requests."""
    parameter_names = {*model.get_params(deep=False), "_metadata_request", "_fitted_with"}
    return {name: value for name, value in vars(model).items() if name not in parameter_names}


def check_steps(steps: list[Any]) -> None:
    """Raise an InvariantError if the encoder and the model of a pipeline do not fit together."""
    encoder, model = steps
    is_fitted = [bool(fitted_attributes(step)) for step in steps]
    require(is_fitted[0] == is_fitted[1], "one step of the pipeline is fitted and the other is not")
    if not is_fitted[0]:
        return
    n_columns = len(encoder.source_columns_)
    require(n_columns == model.n_features_in_, "the encoder and the model differ in their numbers of columns")
    if encoder.rows_ is not None:
        fold = model._index.fold if hasattr(model, "_index") else model.fold_
        lengths = (len(fold), int(np.sum(fold >= 0)))
        require(
            len(encoder.rows_) in lengths,
            "the encoder keeps a wrong number of training rows",
        )


def _forest(model: Any) -> None:
    model.trees_.check_rows(len(model.fold_))


def _forest_classifier(model: Any) -> None:
    _forest(model)
    require(abs(model.class_prior_.sum() - 1.0) < 1e-6, "class_prior_ does not add up to one")


def _dsna_classifier(model: Any) -> None:
    index, n_classes = model._index, len(model.classes_)
    require(np.all(np.isin(model.fitted_classes_, model.classes_)), "fitted_classes_ is not among classes_")
    codes = index.label[:, 0]
    valid = index.label.shape[1] == 1 and np.all((codes >= 0) & (codes < n_classes) & (codes == np.floor(codes)))
    require(valid, "the index holds numbers that are not class numbers")
    sums = np.bincount(codes.astype(np.int64), weights=index.weight, minlength=n_classes)
    require(np.allclose(sums, model._class_weight, 1e-6, 0.0), "_class_weight does not match the weights of the rows")
    require(np.allclose(model._calibration.prior, model.class_prior_), "the calibration's prior is not class_prior_")
    trend = model._trend
    require(model.trend_ == (None if trend is None else trend.kind), "trend_ does not match the trend")
    n_opinions = 2 if trend is None else 3
    require(len(model._calibration.slopes) == n_opinions, "the calibration has the wrong number of opinions")
    require(
        model._oob_chosen.max(initial=-1) < len(model.fitted_classes_),
        "_oob_chosen holds invalid class numbers",
    )
    require(
        len(model._oob_votes) in (0, len(model.oob_rows_)), "_oob_votes and oob_rows_ differ in their numbers of rows"
    )
    for shares in (index.values, index.leaf_value):
        require(
            not shares.size or (shares.min() >= 0 and shares.max() <= _ONE),
            "the averages of the index are not class shares",
        )


def _dsna_regressor(model: Any) -> None:
    require(len(model._grid) > 0, "the grid is empty")
    if DECISIONS[model.decision_].learns_ends:
        valid = len(model._grid) == N_ENDS and np.all(model._grid[[3, 7]] > 0.0)
        require(valid, "the ends of the decision do not fit a regression")
    require(len(model._regions) in (0, model.n_outputs_), "the number of regions is not the number of outputs")
    attributes = (model.blend_, model.decision_, model.balance_)
    rule_attributes = (model._rule.blend, model._rule.decision, model._rule.balance)
    require(attributes == rule_attributes, "blend_, decision_ or balance_ does not match the rule")
    trend = model._trend
    require(model.trend_ == (None if trend is None else trend.kind), "trend_ does not match the trend")
    rule_carry = (model._rule.offset, model._rule.pull)
    require(
        (model.trend_offset_, model.trend_pull_) == rule_carry, "trend_offset_ or trend_pull_ does not match the rule"
    )
    n_trended = 0 if trend is None else len(model._index.label)
    require(len(model._row_trend) == n_trended, "_row_trend and the index differ in their numbers of rows")


def _encoder(model: Any) -> None:
    types = [ColumnType.of(spec, name) for name, spec in model.types_.items()]
    kinds = [column_type.kind for column_type in types]
    names = getattr(model, "feature_names_in_", np.array([*model.types_], dtype=object))
    require(names.tolist() == [*model.types_], "types_ does not match the columns")
    valid = all(type(column) is ENCODERS[kind] for column, kind in zip(model._columns, kinds, strict=True))
    require(valid, "_columns does not match types_")
    reading_rules = [getattr(column, "decimal", getattr(column, "order", "")) for column in model._columns]
    require(
        reading_rules == [column_type.way for column_type in types],
        "_columns and types_ differ in how numbers or dates are read",
    )
    source_columns = np.repeat(np.arange(len(kinds)), [len(column.suffixes()) for column in model._columns])
    require(np.array_equal(model.source_columns_, source_columns), "source_columns_ does not match _columns")
    filled_columns = np.searchsorted(
        source_columns, [position for position, column in enumerate(model._columns) if column.filled]
    )
    require(np.array_equal(model._filling.columns, filled_columns), "_filling must fill in the numeric columns")


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
