"""Training on a Parquet file that does not fit into memory, and asking the folder that this makes."""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

from .._utils.errors import DSNAError
from ..distributed import DistributedDSNAClassifier, DistributedDSNARegressor
from ..distributed.store import check_place, load_with_encoder, save
from ..model_selection.copies import row_hashes
from ..tables import ColumnType, FileTable, ReadOptions, TableError
from ..tables.files.parquet import ParquetFile
from ..tables.target import without_target
from .columns import as_trained, remember_unreadable
from .target import read_target, settle_spelling
from .train import Rows, TrainOptions, build, choose_rows

LOOKED_AT = 50_000  # rows from which types, categories and fills are learned
_COPIES = 12  # of the table as numbers, that training in memory takes at its peak
_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


class Reading(NamedTuple):
    """How slices of a file are read, beside what their encoder knows."""

    options: ReadOptions  # what text holds, as in the sample
    merged: dict[str, str]  # spellings of classes, and what they are taken for
    groups: str | None  # column that names what is held out together
    with_copies: bool  # whether rows of equal inputs are held out together, where there is no such column

    def settled(self, table: FileTable, target: str) -> FileTable:
        """The same rows with merged classes."""
        if not self.merged:
            return table
        return replace(table, frame=table.frame.with_columns(table.frame[target].replace(self.merged)))


class Slice:
    """Some rows of a file, read and encoded whenever they are needed."""

    def __init__(self, file: ParquetFile, begin: int, rows: Rows, encoder: Any, how: Reading):
        self.file, self.begin, self.encoder, self.how = file, begin, encoder, how
        self.target, self.task = rows.target.name, rows.target.task
        self.without = np.empty(0, dtype=np.int64)  # rows of the file without a target, once it was read

    def read(self) -> tuple[Any, ...]:
        """Features, targets, no weights, and groups."""
        table = self.file.slice(self.begin, self.file.slice_rows, self.how.options)
        check_as_sampled(table, self.how.options)
        table = self.how.settled(table, self.target)
        missing = np.flatnonzero(table.frame[self.target].is_null())
        self.without = self.begin + missing
        if len(missing) == table.frame.height:
            return np.empty((0, len(self.encoder.get_feature_names_out()))), np.empty(0), None, None
        target = read_target(table, self.target, self.task, several=False)
        frame = table.frame[target.rows]
        X = self.encoder.transform(frame)
        if self.how.groups is not None:
            return X, target.values, None, frame[self.how.groups].cast(str).fill_null("").to_numpy()
        return X, target.values, None, row_hashes(X) if self.how.with_copies else None


def check_as_sampled(table: FileTable, options: ReadOptions) -> None:
    """Refuse rows whose text is written otherwise than in the sample that the types of columns were learned from.

    Examples
    --------
    >>> import polars
    >>> table = FileTable(name="t", frame=polars.DataFrame(), types={"a": ColumnType("number", decimal=",")}, notes=[])
    >>> check_as_sampled(table, ReadOptions(model_types={"a": "number:point"}))
    Traceback (most recent call last):
    dsna.tables.files.source.TableError: t: column 'a' is number:point in a sample of the rows, and number:comma ...
    """
    for name, spec in options.model_types.items():
        known, kind = ColumnType.of(spec, name), table.types.get(name)
        if kind is not None and known.kind == kind.kind and known.way and kind.way not in ("", known.way):
            raise TableError(
                f"{table.name}: column {name!r} is {known.spec} in a sample of the rows, and {kind.spec} from "
                f"{table.place(0)} on. Remedy: write it in one way."
            )


class TrainedOnDisk(NamedTuple):
    """A model of all rows of a file, what reads its columns, and what was noted."""

    model: Any
    encoder: Any
    rows: Rows  # the sample that columns were learned from
    notes: list[str]


def memory_allowed() -> int:
    """Bytes that this process may use: the memory of the machine, or what its control group leaves.

    Examples
    --------
    >>> memory_allowed() > 0
    True
    """
    allowed = 1 << 62
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        allowed = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    for path in _LIMITS:
        try:
            text = Path(path).read_text("utf-8").strip()
        except OSError:
            continue
        allowed = min(allowed, int(text)) if text.isdigit() else allowed
    return allowed


def is_too_large(path: str | os.PathLike[str]) -> bool:
    """Whether a Parquet file would take more memory in training than there is; other files are never too large here."""
    if not str(path).endswith((".parquet", ".pq")):
        return False
    file = ParquetFile.open(path)
    return _COPIES * 8 * file.rows * file.columns > memory_allowed()


def train_on_disk(
    path: str | os.PathLike[str], options: TrainOptions, read: ReadOptions, store: Path, *, sample_size: int = 50_000
) -> TrainedOnDisk:
    """Train on a Parquet file by slices, with the rows of leaves in files of a folder.

    Parameters
    ----------
    path : the file.
    options : how to train; ``sample`` and ``keep_rows`` are not used.
    read : types of columns, where these are named.
    store : folder for the rows, which must stay until the model is saved.
    sample_size : rows that trees are grown on.
    """
    file = ParquetFile.open(path)
    table = file.sample(LOOKED_AT, options.seed, read)
    merged, remarks = _settled_classes(file, table, options)
    how = Reading(read, merged, options.groups, False)
    rows = choose_rows(how.settled(_with_target(table, options.target), options.target), options)
    how = how._replace(with_copies=rows.groups is not rows.asked_groups)
    pipeline = build(rows, options, {name: kind.spec for name, kind in table.types.items()})
    encoder, template = pipeline.steps[0][1].set_params(keep_rows=False), pipeline.steps[1][1]
    encoder.fit(rows.frame)
    if options.labels is not None:
        encoder.label_spelling_ = options.labels
    kind = DistributedDSNAClassifier if rows.target.task == "classification" else DistributedDSNARegressor
    model = kind(template, sample_size=sample_size, store=store, verbose=options.verbose)
    remember_unreadable(encoder, table)
    sampled = as_trained(replace(read, types={}), encoder)
    types = {**sampled.model_types, options.target: table.types[options.target].spec}
    how = how._replace(options=replace(sampled, model_types=types))
    slices = [Slice(file, begin, rows, encoder, how) for begin in file.starts()]
    model.fit(slices, None)
    without = np.concatenate([one.without for one in slices])
    notes = [*table.notes, *([without_target(table, options.target, without)] if len(without) else [])]
    notes += [*rows.notes, *remarks, *encoder.notes_]
    if how.with_copies and how.groups is not None:
        notes.append(f"out of core, column {how.groups!r} alone says what is held out together: copies may be apart")
    notes.append(
        f"columns were learned from {rows.frame.height:,} rows, trees were grown on {sample_size:,} at most, rare "
        f"ones first; all {model.n_rows_:,} rows with a target are in the leaves"
    )
    return TrainedOnDisk(model, encoder, rows, notes)


def _settled_classes(file: ParquetFile, table: FileTable, options: TrainOptions) -> tuple[dict[str, str], list[str]]:
    """Spellings of classes in the whole file that are merged, and what to say of it; see ``settle_spelling``."""
    name = options.target
    if options.task == "regression" or name not in table.types or table.frame[name].to_numpy().dtype != object:
        return {}, []
    counts: Counter[str] = Counter()
    for begin in file.starts():
        read = ReadOptions(types={name: table.types[name].spec})
        cells = file.slice(begin, file.slice_rows, read, [name]).frame[name]
        counts.update(cells.drop_nulls().to_list())
    merged, remarks = settle_spelling(file.path, name, counts, options.labels)
    return merged, remarks if merged else []


def _with_target(table: FileTable, target: str) -> FileTable:
    """Sampled rows that have a target: those that have none are counted in the file, not in the sample."""
    return replace(table, frame=table.frame.drop_nulls(target)) if target in table.frame.columns else table


def train_to_folder(
    path: str | os.PathLike[str], options: TrainOptions, read: ReadOptions, folder: Path, overwrite: bool
) -> TrainedOnDisk:
    """Train by slices, and save the model to a folder; rows wait beside it meanwhile."""
    beside = check_place(folder, overwrite).parent  # before the training, not after it
    with tempfile.TemporaryDirectory(prefix=".dsna-", dir=beside, ignore_cleanup_errors=True) as rows:
        trained = train_on_disk(path, options, read, Path(rows))
        save(trained.model, folder, overwrite, trained.encoder)
    return trained


#: What does not depend on where the rows are: the ordinary estimator of the sample knows it.
_OF_SAMPLE = (
    *("_by_votes", "_gain", "_class_weight", "in_set", "oob_balanced_accuracy_", "_regions", "decision_", "balance_"),
    *("decision", "decision_threshold_", "trend_", "oob_rows_", "oob_score_", "feature_importances_", "n_outputs_"),
)


class OnDisk(BaseEstimator):
    """A distributed model with the names that the commands ask an ordinary one by."""

    def __init__(self, model: Any):
        self.model = model
        self._ordinary = model.model_
        self._index = _representative(self._ordinary._index)
        if hasattr(model, "classes_"):
            self.classes_, self.class_prior_ = model.classes_, model.class_prior_
            self.predict_proba = model.predict_proba
            counts = np.ceil(1e6 * model.class_prior_).astype(np.int64)
            self._code = np.repeat(np.arange(len(counts)), counts)  # which class is rare, to those who count
        self.predict, self.explain = model.predict, model.explain

    def __getattr__(self, name: str) -> Any:
        if name not in _OF_SAMPLE:
            raise AttributeError(name)
        return getattr(self._ordinary, name)

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def fit(self, X: Any, y: Any) -> OnDisk:
        """Refuse: the rows are in the files of a folder."""
        raise DSNAError("a model in a folder is not fitted again. Remedy: `dsna train --out-of-core`.")

    def add_samples(self, X: Any, y: Any) -> None:
        """Refuse: the rows are in the files of a folder."""
        raise DSNAError(
            "a model of `dsna train --out-of-core` takes no further rows. Remedy: train again, with these rows in the "
            "file, or without --out-of-core."
        )

    def set_params(self, n_jobs: int) -> OnDisk:
        """Threads for the approximations."""
        self._ordinary.set_params(n_jobs=n_jobs)
        return self

    def predict_interval(self, X: np.ndarray, coverage: float = 0.9, return_prediction: bool = False) -> Any:
        """Intervals, and predictions where they are asked for."""
        bounds = self.model.predict_interval(X, coverage)
        return (bounds, self.model.predict(X)) if return_prediction else bounds

    def is_extrapolated(self, X: np.ndarray) -> np.ndarray:
        """Which queries lie past the training rows along the trend."""
        return np.asarray(self._ordinary.is_extrapolated(self.model._core.scaling.transform(X)))

    def with_decision(self, decision: Any = None, *, balance: float | None = None) -> OnDisk:
        """The same model with another decision."""
        return self._view(self._ordinary.with_decision(decision, balance=balance))

    def with_settings(self, **settings: Any) -> OnDisk:
        """The same model under other settings."""
        return self._view(self._ordinary.with_settings(**settings))

    def _view(self, ordinary: Any) -> OnDisk:
        view = copy(self.model)
        view._core = replace(view._core, model=ordinary)
        return OnDisk(view)


def _representative(index: Any) -> Any:
    """The index of the sample, with classes or targets as often as in the table, which rare ones in it are not."""
    total = np.cumsum(index.weight / index.weight.sum())
    places = (np.arange(len(total)) + 0.5) / len(total)
    known = copy(index)
    known.label = index.label[np.minimum(np.searchsorted(total, places), len(total) - 1)]
    return known


def load_folder(path: str | os.PathLike[str]) -> Pipeline:
    """A pipeline that reads tables, from the folder of a model that was trained out of core."""
    model, encoder = load_with_encoder(path)
    if encoder is None:
        raise DSNAError(
            f"{os.fspath(path)}: holds a {type(model).__name__} without the columns of a table. Remedy: use a model of "
            "`dsna train`, or dsna.distributed.load in Python."
        )
    return Pipeline([("columns", encoder), ("model", OnDisk(model))])
