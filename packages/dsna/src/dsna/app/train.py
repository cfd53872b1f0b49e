"""Training on a table: a fitted pipeline, scored beside other methods."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import block_array, csr_array
from scipy.sparse.csgraph import connected_components
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from .._utils.errors import DSNAError, DSNAWarning
from .._utils.sampling import stratified_sample
from ..classifier import DSNAClassifier
from ..model_selection.copies import EqualRows
from ..prediction.decision import DECISIONS
from ..regressor import DSNARegressor
from ..tables import FileTable, TableEncoder, find_leaks
from .columns import check_option, left_out_note, remember_unreadable
from .peers import MAX_ROWS, Fitted, out_of_bag_scores
from .scores import Scores
from .target import Target, read_target

_N_RANGES = 20  # of targets, by which a sample is stratified
_REGRESSION_DECISIONS = ("auto", *DECISIONS, "paper")


@dataclass(frozen=True, kw_only=True)
class TrainOptions:
    """Options for training on a table.

    Parameters
    ----------
    target : name of the target column.
    task : {"classification", "regression"} or None, which guesses it.
    balance, decision : as in :class:`dsna.DSNAClassifier` and :class:`dsna.DSNARegressor`, None for their defaults;
        for two classes the decision may be a pair of costs (miss of the rarer class, false alarm).
    groups : column of group names (a person, a day); rows of a group are held out together. Or None.
    drop, keep : columns to leave out, and columns to use even if they seem to give the target away.
    id : column of row names for explanations; None: a column that identifies rows, or row numbers.
    sample : maximum number of training rows, rare ones first, or None.
    keep_rows : whether the model keeps the original values of the training rows, for explanations.
    labels : {"merge", "keep"} or None: whether classes that differ only in case, blanks or accents are merged or
        kept; None raises an error.
    seed, jobs, verbose : random seed, number of threads, and whether progress is shown.
    """

    target: str
    task: str | None = None
    balance: float | None = None
    decision: Any = None
    groups: str | None = None
    drop: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    id: str | None = None
    sample: int | None = None
    keep_rows: bool = True
    labels: str | None = None
    seed: int = 0
    jobs: int = 1
    verbose: int = 0


@dataclass(frozen=True, eq=False, kw_only=True)
class TrainingTable:
    """The rows and columns that a model is trained on.

    Parameters
    ----------
    frame : polars.DataFrame, with all columns of the table.
    target : target of the rows.
    weight : (n,) number of table rows that each row represents, or None.
    groups : (n,) groups held out together, or None.
    user_groups : (n,) the groups that the user named; differs from ``groups`` if copies of rows are grouped, too.
    unused_columns : unused columns and the reason for each.
    id : column of row names, or None.
    notes : notes on what was left out.
    """

    frame: Any
    target: Target
    weight: np.ndarray | None
    groups: np.ndarray | None
    user_groups: np.ndarray | None
    unused_columns: dict[str, str]
    id: str | None
    notes: list[str]


@dataclass(frozen=True, eq=False, kw_only=True)
class Trained:
    """A fitted pipeline, its training rows, and its out-of-bag scores or None.

    ``apart`` are the scores with copies of rows in different folds; None unless copies are held out
    together.
    """

    model: Pipeline
    rows: TrainingTable
    scores: Scores | None
    apart: Scores | None
    notes: list[str]


def choose_rows(table: FileTable, options: TrainOptions) -> TrainingTable:
    """Select the rows with a target and the columns to learn from.

    Examples
    --------
    >>> import polars
    >>> from dsna.tables import FileTable
    >>> frame = polars.DataFrame({"size": [1, 2, 3, 4] * 5, "copy": ["u", "v"] * 10, "y": ["a", "b"] * 10})
    >>> rows = choose_rows(FileTable(name="t.csv", frame=frame, types={}, notes=[]), TrainOptions(target="y"))
    >>> list(rows.unused_columns)
    ['copy']
    """
    _check_columns(table.frame, options)
    target = read_target(table, options.target, options.task, labels=options.labels)
    notes = list(target.notes)
    frame = table.frame[target.rows]
    groups = None
    if options.groups is not None:
        groups = np.unique(frame[options.groups].cast(str).fill_null("").to_numpy(), return_inverse=True)[1]
        notes.append(
            f"column {options.groups!r} names {groups.max() + 1} groups: held out together, not used to predict"
        )
    reasons = {"it names the rows": [options.id], "it names the groups": [options.groups], "as asked": options.drop}
    unused = {name: reason for reason, columns in reasons.items() for name in columns if name}
    features = frame.drop(options.target, *unused)
    if not features.width:
        raise DSNAError(f"{table.name}: no column is left to learn from. Remedy: --drop fewer columns.")
    leaks = _leaks(features, target, [name for name in options.keep if name in features.columns])
    notes += [left_out_note(table, name, reason) for name, reason in leaks.items()]
    unused_columns = {**unused, **leaks}
    id_columns = (name for name, reason in leaks.items() if "identifies rows" in reason)
    if features.width == len(leaks):
        raise DSNAError(
            f"{table.name}: no column is left to learn from. Remedy: --keep a column that was left out "
            f"({', '.join(leaks)})."
        )
    user_groups, weight = groups, None
    groups, copy_notes = _grouped_copies(frame.drop(options.target, *unused_columns), target, groups)
    notes += copy_notes
    if options.sample is not None and options.sample < frame.height:
        indices, weight = _draw_sample(target, options.sample, options.seed)
        notes.append(
            f"{len(indices)} of {frame.height} rows are used, rare ones first, each weighted by the rows it represents"
        )
        has_copies = user_groups is not groups
        frame, groups = frame[indices], None if groups is None else groups[indices]
        if not has_copies:
            user_groups = groups
        elif user_groups is not None:
            user_groups = user_groups[indices]
        target = Target(target.name, target.task, target.values[indices], target.rows[indices], target.notes)
    id_column = options.id or next(id_columns, None)
    return TrainingTable(
        frame=frame,
        target=target,
        weight=weight,
        groups=groups,
        user_groups=user_groups,
        unused_columns=unused_columns,
        id=id_column,
        notes=notes,
    )


def _equal_rows(frame: Any, target: Target) -> tuple[EqualRows, bool]:
    """Rows with equal features and target, and whether they are too many to be a coincidence."""
    codes = [column.rank("dense").fill_null(0).to_numpy().astype(np.float64) for column in frame.iter_columns()]
    code = np.unique(target.values, return_inverse=True)[1].astype(np.float64)
    values = np.column_stack([*codes, code])
    equal = EqualRows.of(values)
    strata = code if target.task == "classification" else np.zeros(len(code))
    return equal, bool(equal.n_repeated) and not equal.are_chance(strata, values)


def _leaks(frame: Any, target: Target, keep: list[str]) -> dict[str, str]:
    """Columns to leave out, with reasons; copied rows are counted once, as their agreement is no evidence."""
    leaks = dict(find_leaks(frame, target.values, keep))
    uninformative = {name: reason for name, reason in leaks.items() if "gives the target away" not in reason}
    if len(uninformative) == frame.width:
        return leaks
    equal, copied = _equal_rows(frame.drop(*uninformative), target)
    if not copied:
        return leaks
    first_rows = np.sort(equal.first)
    return {**uninformative, **dict(find_leaks(frame[first_rows], target.values[first_rows], keep))}


def _grouped_copies(frame: Any, target: Target, groups: np.ndarray | None) -> tuple[np.ndarray | None, list[str]]:
    """Groups extended by copied rows, unless these may be a coincidence, and notes on them."""
    equal, copied = _equal_rows(frame, target)
    if not equal.n_repeated:
        return groups, []
    note = (
        f"{equal.n_rows} of {frame.height} rows equal another row in all used columns and the target "
        f"({equal.n_repeated} distinct rows)"
    )
    if not copied:
        return groups, [f"{note}: this may be a coincidence, so they are treated as different cases"]
    note += ", too many for a coincidence: they are held out together; remove rows that repeat the same case"
    if groups is None:
        return equal.member, [note]
    links = csr_array((np.ones(frame.height), (groups, equal.member)))
    graph = block_array([[None, links], [links.T, None]])
    return connected_components(graph, directed=False)[1][groups], [note]


def _check_columns(frame: Any, options: TrainOptions) -> None:
    """Raise an error if an option names a missing column or the target."""
    column_options = {
        "--drop": options.drop,
        "--keep": options.keep,
        "--groups": (options.groups,),
        "--id": (options.id,),
    }
    for option, columns in column_options.items():
        for name in filter(None, columns):
            check_option(option, name, frame.columns)
            if name == options.target:
                raise DSNAError(f"{option} {name}: this is the target. Remedy: name another column.")


def _draw_sample(target: Target, n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Indices of a sample, rare rows first, and how many rows each represents."""
    y = target.values
    if target.task == "regression":
        edges = np.linspace(y.min(), y.max(), _N_RANGES + 1)[1:-1]
        y = np.searchsorted(edges, y)
    return stratified_sample(y, n_rows, np.random.RandomState(seed))


def cost_matrix(decision: Any, y: np.ndarray) -> Any:
    """Convert a pair of costs (miss, false alarm) to a cost matrix; return other decisions unchanged.

    Examples
    --------
    >>> import numpy as np
    >>> cost_matrix((20.0, 1.0), np.array(["no", "no", "yes"]))
    [[0.0, 1.0], [20.0, 0.0]]
    """
    if not isinstance(decision, tuple):
        return decision
    if not all(np.isfinite(cost) and cost > 0.0 for cost in decision):
        raise DSNAError(
            f"costs of {decision[0]:g}:{decision[1]:g}: both costs must be more than 0. Remedy: give two positive "
            "numbers, such as 20:1, or a cost matrix."
        )
    classes, counts = np.unique(y, return_counts=True)
    if len(classes) != 2:
        raise DSNAError(
            f"costs of a miss and a false alarm require two classes, but there are {len(classes)}. Remedy: give a "
            "cost matrix, with a row for each true and a column for each predicted class."
        )
    rare = int(np.argmin(counts))
    costs = [[0.0, 0.0], [0.0, 0.0]]
    costs[rare][1 - rare], costs[1 - rare][rare] = decision
    return costs


def check_settings(task: str, decision: Any, balance: Any) -> None:
    """Validate ``decision`` and ``balance`` for the task; messages use the words of the command-line options.

    Examples
    --------
    >>> check_settings("regression", "f1", None)
    Traceback (most recent call last):
    dsna._utils.errors.DSNAError: the decision 'f1' does not apply to a numeric target. Remedy: use auto, mean, ...
    """
    if balance == "auto" and task == "classification":
        raise DSNAError("balance 'auto' applies to numeric targets only. Remedy: give a number from 0 to 1.")
    if balance not in (None, "auto") and not 0.0 <= balance <= 1.0:
        raise DSNAError(f"balance must be a number from 0 to 1, not {balance:g}. Remedy: give such a number.")
    if task == "regression" and not isinstance(decision, str | None):
        raise DSNAError("costs apply to classes, but the target is numeric. Remedy: use --balance.")
    if task == "regression" and decision not in (None, *_REGRESSION_DECISIONS):
        raise DSNAError(
            f"the decision {decision!r} does not apply to a numeric target. Remedy: use "
            f"{', '.join(_REGRESSION_DECISIONS)}."
        )
    numeric_only = isinstance(decision, str) and decision != "paper" and decision in _REGRESSION_DECISIONS
    if task == "classification" and numeric_only:
        raise DSNAError(
            f"the decision {decision!r} applies to numeric targets only. Remedy: use balanced, f1, mcc, gmean, "
            "'recall>=.9', 'precision>=.5' or a scikit-learn scorer."
        )


def build(rows: TrainingTable, options: TrainOptions, types: dict[str, Any] | None = None) -> Pipeline:
    """Build the unfitted pipeline."""
    check_settings(rows.target.task, options.decision, options.balance)
    model: Any
    params: dict[str, Any] = {"n_jobs": options.jobs, "random_state": options.seed, "verbose": options.verbose}
    params |= {} if options.balance is None else {"balance": options.balance}
    if rows.target.task == "classification":
        decision = {} if options.decision is None else {"decision": cost_matrix(options.decision, rows.target.values)}
        model = DSNAClassifier(**params, **decision)
    else:
        decision = {} if options.decision is None else {"decision": options.decision}
        model = DSNARegressor(**params, **decision)
    model.check_parameters()
    drop = [*rows.unused_columns]
    feature_types = {name: kind for name, kind in (types or {}).items() if name not in (*drop, options.target)}
    encoder = TableEncoder(feature_types, target=options.target, drop=drop, keep_rows=options.keep_rows)
    return Pipeline([("columns", encoder), ("model", model)])


def train(table: FileTable, options: TrainOptions, *, compare: bool = True) -> Trained:
    """Fit a pipeline of :class:`dsna.tables.TableEncoder` and a DSNA estimator to a table.

    Parameters
    ----------
    table : the table, as :func:`dsna.tables.read_file` gives it.
    options : training options.
    compare : whether to compute out-of-bag scores of the model and other methods.

    Returns
    -------
    Trained

    Examples
    --------
    >>> import numpy as np
    >>> import polars
    >>> from dsna.app.train import TrainOptions, train
    >>> from dsna.tables import FileTable
    >>> size = np.random.default_rng(0).normal(size=120)
    >>> frame = polars.DataFrame({"size": size, "town": ["A", "B", "C"] * 40, "rare": size > 1.2})
    >>> trained = train(FileTable(name="t.csv", frame=frame, types={}, notes=[]), TrainOptions(target="rare"))
    >>> trained.model.predict(frame[:2]).tolist()
    [False, False]
    """
    rows = choose_rows(table, options)
    types = {name: kind.spec for name, kind in table.types.items()}
    model = build(rows, options, types)
    fit_params = {"model__sample_weight": rows.weight, "model__groups": rows.groups}
    y = rows.target.values
    model.fit(rows.frame, y, **{name: value for name, value in fit_params.items() if value is not None})
    encoder, estimator = model.steps[0][1], model.steps[1][1]
    remember_unreadable(encoder, table)
    if encoder.rows_ is not None:
        encoder.rows_ = encoder.rows_.identified_by(rows.id).numbered(rows.target.rows + 1)
    if options.labels is not None:
        encoder.label_spelling_ = options.labels
    scores, copies_apart_scores, notes = None, None, [*rows.notes, *encoder.notes_]
    if compare and len(estimator.oob_rows_):
        fitted = Fitted(encoder.transform(rows.frame), y, rows.weight, rows.groups)
        scores = out_of_bag_scores(estimator, fitted, options.seed)
        copies_apart_scores = _copies_apart_scores(estimator, fitted, rows.user_groups)
        if len(y) > MAX_ROWS:
            notes.append(f"the other methods learn from {MAX_ROWS:,} rows at most, rare classes first")
    return Trained(model=model, rows=rows, scores=scores, apart=copies_apart_scores, notes=notes)


def _copies_apart_scores(estimator: Any, training: Fitted, groups: np.ndarray | None) -> Scores | None:
    """Out-of-bag scores of the same method with other groups; None if the groups are the same."""
    if groups is training.groups:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DSNAWarning)  # of equal rows, which are noted
        model = clone(estimator).fit(training.X, training.y, sample_weight=training.weight, groups=groups)
    return out_of_bag_scores(model, training._replace(groups=groups), with_peers=False)
