"""From a typed table to a fitted pipeline, with its scores beside those of other methods."""

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
from .peers import MOST_ROWS, Fitted, out_of_bag_scores
from .scores import Scores
from .target import Target, read_target

_RANGES = 20  # of targets, along which a sample is drawn
_OF_NUMBERS = ("auto", *DECISIONS, "paper")


@dataclass(frozen=True, kw_only=True)
class TrainOptions:
    """How a model is trained on a table.

    Parameters
    ----------
    target : name of the target column.
    task : {"classification", "regression"} or None, which guesses it.
    balance, decision : as in :class:`dsna.DSNAClassifier` and :class:`dsna.DSNARegressor`, None for their defaults; of
        two classes the decision may be a pair, the costs of missing the rarer class and of a false alarm.
    groups : column whose values name rows that belong together (a person, a day), or None.
    drop, keep : columns that are not used, and columns that are used even if they seem to give the answer away.
    id : column that says what rows are called, for explanations; None: one that identifies rows, or their numbers.
    sample : how many rows to learn from at most, rare ones first, or None.
    keep_rows : whether the model keeps the training rows in their own values, for explanations.
    labels : {"merge", "keep"} or None: what becomes of classes that differ in case, blanks or accents alone; None
        refuses them.
    seed, jobs, verbose : random seed, threads, and whether progress is shown.
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
class Rows:
    """The rows that a model is trained on.

    Parameters
    ----------
    frame : polars.DataFrame, with all columns of the table.
    target : their target.
    weight : (n,) rows of the table that each stands for, or None.
    groups : (n,) what is held out together, or None.
    asked_groups : (n,) what is held out together as the user says: ``groups``, unless copies of rows are in one, too.
    left_out : columns that are not used, and why.
    id : column that says what rows are called, or None.
    notes : what was left out, and why.
    """

    frame: Any
    target: Target
    weight: np.ndarray | None
    groups: np.ndarray | None
    asked_groups: np.ndarray | None
    left_out: dict[str, str]
    id: str | None
    notes: list[str]


@dataclass(frozen=True, eq=False, kw_only=True)
class Trained:
    """A fitted pipeline, the rows that it was fitted on, and its out-of-bag scores (None where there are none).

    ``apart`` are the scores that its method would have if copies of rows were not held out together; None where they
    are not.
    """

    model: Pipeline
    rows: Rows
    scores: Scores | None
    apart: Scores | None
    notes: list[str]


def choose_rows(table: FileTable, options: TrainOptions) -> Rows:
    """Rows with a target, and the columns that are fit to learn from.

    Examples
    --------
    >>> import polars
    >>> from dsna.tables import FileTable
    >>> frame = polars.DataFrame({"size": [1, 2, 3, 4] * 5, "copy": ["u", "v"] * 10, "y": ["a", "b"] * 10})
    >>> rows = choose_rows(FileTable(name="t.csv", frame=frame, types={}, notes=[]), TrainOptions(target="y"))
    >>> list(rows.left_out)
    ['copy']
    """
    _check_columns(table.frame, options)
    target = read_target(table, options.target, options.task, labels=options.labels)
    notes = list(target.notes)
    frame = table.frame[target.rows]
    groups = None
    if options.groups is not None:
        groups = np.unique(frame[options.groups].cast(str).fill_null("").to_numpy(), return_inverse=True)[1]
        notes.append(f"column {options.groups!r} names {groups.max() + 1} groups: held out together, and not used")
    why = {"it names the rows": [options.id], "it names the groups": [options.groups], "as asked": options.drop}
    unused = {name: reason for reason, given in why.items() for name in given if name}
    used = frame.drop(options.target, *unused)
    if not used.width:
        raise DSNAError(f"{table.name}: no column is left to learn from beside the target. Remedy: --drop fewer.")
    leaks = _leaks(used, target, [name for name in options.keep if name in used.columns])
    notes += [left_out_note(table, name, reason) for name, reason in leaks.items()]
    left_out = {**unused, **leaks}
    names = (name for name, reason in leaks.items() if "identifies rows" in reason)
    if used.width == len(leaks):
        raise DSNAError(
            f"{table.name}: no column is left to learn from beside the target. Remedy: --keep a column that was left "
            f"out ({', '.join(leaks)})."
        )
    asked_groups, weight = groups, None
    groups, remarks = _with_copies(frame.drop(options.target, *left_out), target, groups)
    notes += remarks
    if options.sample is not None and options.sample < frame.height:
        some, weight = _sampled(target, options.sample, options.seed)
        notes.append(
            f"{len(some)} of {frame.height} rows are used, rare ones first, each weighted by those it stands for"
        )
        held, asked = (None if one is None else one[some] for one in (groups, asked_groups))
        frame, groups, asked_groups = frame[some], held, held if asked_groups is groups else asked
        target = Target(target.name, target.task, target.values[some], target.rows[some], target.notes)
    called = options.id or next(names, None)
    return Rows(
        frame=frame,
        target=target,
        weight=weight,
        groups=groups,
        asked_groups=asked_groups,
        left_out=left_out,
        id=called,
        notes=notes,
    )


def _equal_rows(frame: Any, target: Target) -> tuple[EqualRows, bool]:
    """Rows that are equal in all columns and in the target, and whether they are more than chance explains."""
    codes = [column.rank("dense").fill_null(0).to_numpy().astype(np.float64) for column in frame.iter_columns()]
    code = np.unique(target.values, return_inverse=True)[1].astype(np.float64)
    values = np.column_stack([*codes, code])
    equal = EqualRows.of(values)
    strata = code if target.task == "classification" else np.zeros(len(code))
    return equal, bool(equal.n_repeated) and not equal.are_chance(strata, values)


def _leaks(frame: Any, target: Target, keep: list[str]) -> dict[str, str]:
    """Columns to leave out, and why; of copied rows one each is looked at, for what all copies share is no evidence."""
    found = dict(find_leaks(frame, target.values, keep))
    saying_nothing = {name: reason for name, reason in found.items() if "gives the target away" not in reason}
    if len(saying_nothing) == frame.width:
        return found
    equal, copied = _equal_rows(frame.drop(*saying_nothing), target)
    if not copied:
        return found
    first = np.sort(equal.first)
    return {**saying_nothing, **dict(find_leaks(frame[first], target.values[first], keep))}


def _with_copies(frame: Any, target: Target, groups: np.ndarray | None) -> tuple[np.ndarray | None, list[str]]:
    """Groups in which equal rows are, too, where chance does not explain them; and what to say of equal rows."""
    equal, copied = _equal_rows(frame, target)
    if not equal.n_repeated:
        return groups, []
    note = (
        f"{equal.n_rows} of {frame.height} rows are equal to another one in all columns that are used and in the "
        f"target ({equal.n_repeated} different rows)"
    )
    if not copied:
        return groups, [f"{note}: no more than chance may bring about, so they are taken for different cases"]
    note += ", more than chance explains: they are held out together; leave out those that are one case entered twice"
    if groups is None:
        return equal.member, [note]
    links = csr_array((np.ones(frame.height), (groups, equal.member)))
    both = block_array([[None, links], [links.T, None]])
    return connected_components(both, directed=False)[1][groups], [note]


def _check_columns(frame: Any, options: TrainOptions) -> None:
    """Refuse names of columns that are not there."""
    asked = {"--drop": options.drop, "--keep": options.keep, "--groups": (options.groups,), "--id": (options.id,)}
    for option, given in asked.items():
        for name in filter(None, given):
            check_option(option, name, frame.columns)
            if name == options.target:
                raise DSNAError(f"{option} {name}: this is the target. Remedy: name another column.")


def _sampled(target: Target, most: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of a sample, rare ones first, and how many rows each stands for."""
    y = target.values
    if target.task == "regression":
        edges = np.linspace(y.min(), y.max(), _RANGES + 1)[1:-1]
        y = np.searchsorted(edges, y)
    return stratified_sample(y, most, np.random.RandomState(seed))


def costs_of(decision: Any, y: np.ndarray) -> Any:
    """A decision with costs of two classes, (miss, alarm), as a matrix; any other as it is.

    Examples
    --------
    >>> import numpy as np
    >>> costs_of((20.0, 1.0), np.array(["no", "no", "yes"]))
    [[0.0, 1.0], [20.0, 0.0]]
    """
    if not isinstance(decision, tuple):
        return decision
    if not all(np.isfinite(cost) and cost > 0.0 for cost in decision):
        raise DSNAError(
            f"costs of {decision[0]:g}:{decision[1]:g}: a miss and an alarm each cost more than 0. Remedy: give two "
            "positive numbers, such as 20:1, or a matrix of costs."
        )
    classes, counts = np.unique(y, return_counts=True)
    if len(classes) != 2:
        raise DSNAError(
            f"costs of a miss and an alarm are for two classes, and there are {len(classes)}. Remedy: give a matrix of "
            "costs, with a row for each true and a column for each predicted class."
        )
    rare = int(np.argmin(counts))
    costs = [[0.0, 0.0], [0.0, 0.0]]
    costs[rare][1 - rare], costs[1 - rare][rare] = decision
    return costs


def check_settings(task: str, decision: Any, balance: Any) -> None:
    """Refuse a decision or a balance that does not go with classes or with numbers, in the words of the options.

    Examples
    --------
    >>> check_settings("regression", "f1", None)
    Traceback (most recent call last):
    dsna._utils.errors.DSNAError: the decision 'f1' does not go with numbers. Remedy: use auto, mean, trimmed, ...
    """
    if balance == "auto" and task == "classification":
        raise DSNAError(
            "the balance auto is for numbers, and the target is classes. Remedy: give a number from 0 to 1."
        )
    if balance not in (None, "auto") and not 0.0 <= balance <= 1.0:
        raise DSNAError(f"the balance {balance:g} is no share. Remedy: give a number from 0 to 1.")
    if task == "regression" and not isinstance(decision, str | None):
        raise DSNAError("costs decide between classes, and the target is numbers. Remedy: use --balance.")
    if task == "regression" and decision not in (None, *_OF_NUMBERS):
        raise DSNAError(f"the decision {decision!r} does not go with numbers. Remedy: use {', '.join(_OF_NUMBERS)}.")
    if task == "classification" and isinstance(decision, str) and decision != "paper" and decision in _OF_NUMBERS:
        raise DSNAError(
            f"the decision {decision!r} is for numbers, and the target is classes. Remedy: use balanced, f1, mcc, "
            "gmean, 'recall>=.9', 'precision>=.5' or a scorer of scikit-learn."
        )


def build(rows: Rows, options: TrainOptions, types: dict[str, Any] | None = None) -> Pipeline:
    """The pipeline, not fitted yet."""
    check_settings(rows.target.task, options.decision, options.balance)
    model: Any
    given: dict[str, Any] = {"n_jobs": options.jobs, "random_state": options.seed, "verbose": options.verbose}
    given |= {} if options.balance is None else {"balance": options.balance}
    if rows.target.task == "classification":
        decision = {} if options.decision is None else {"decision": costs_of(options.decision, rows.target.values)}
        model = DSNAClassifier(**given, **decision)
    else:
        decision = {} if options.decision is None else {"decision": options.decision}
        model = DSNARegressor(**given, **decision)
    model.check_parameters()
    drop = [*rows.left_out]
    known = {name: kind for name, kind in (types or {}).items() if name not in (*drop, options.target)}
    encoder = TableEncoder(known, target=options.target, drop=drop, keep_rows=options.keep_rows)
    return Pipeline([("columns", encoder), ("model", model)])


def train(table: FileTable, options: TrainOptions, *, compare: bool = True) -> Trained:
    """Fit a pipeline of :class:`dsna.tables.TableEncoder` and a DSNA estimator to a table.

    Parameters
    ----------
    table : the table, as :func:`dsna.tables.read_file` gives it.
    options : how to train.
    compare : whether to score the model out of bag beside other methods.

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
    given = {"model__sample_weight": rows.weight, "model__groups": rows.groups}
    y = rows.target.values
    model.fit(rows.frame, y, **{name: value for name, value in given.items() if value is not None})
    encoder, last = model.steps[0][1], model.steps[1][1]
    remember_unreadable(encoder, table)
    if encoder.rows_ is not None:
        encoder.rows_ = encoder.rows_.identified_by(rows.id).numbered(rows.target.rows + 1)
    if options.labels is not None:
        encoder.label_spelling_ = options.labels
    scores, apart, notes = None, None, [*rows.notes, *encoder.notes_]
    if compare and len(last.oob_rows_):
        fitted = Fitted(encoder.transform(rows.frame), y, rows.weight, rows.groups)
        scores = out_of_bag_scores(last, fitted, options.seed)
        apart = _scores_apart(last, fitted, rows.asked_groups)
        if len(y) > MOST_ROWS:
            notes.append(f"the methods beside dsna learn from {MOST_ROWS:,} rows at most, rare classes first")
    return Trained(model=model, rows=rows, scores=scores, apart=apart, notes=notes)


def _scores_apart(last: Any, training: Fitted, groups: np.ndarray | None) -> Scores | None:
    """Out-of-bag scores of the same method with other groups; None where they are the same."""
    if groups is training.groups:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DSNAWarning)  # of equal rows, which are noted
        model = clone(last).fit(training.X, training.y, sample_weight=training.weight, groups=groups)
    return out_of_bag_scores(model, training._replace(groups=groups), others=False)
