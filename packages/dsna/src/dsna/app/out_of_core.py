"""Training on a Parquet file that does not fit into memory, and prediction from the resulting folder."""

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
from .columns import remember_unreadable, with_training_types
from .target import merge_spellings, read_target
from .train import TrainingTable, TrainOptions, build, choose_rows

SAMPLED_ROWS = 50_000  # from which column types, categories and fill values are learned
_PEAK_COPIES = 12  # of the encoded table that training in memory holds
_MEMORY_LIMIT_FILES = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


class Reading(NamedTuple):
    """How slices of a file are read."""

    options: ReadOptions  # column types, as in the sample
    merged: dict[str, str]  # maps spellings of a class to the most frequent one
    groups: str | None  # column of groups held out together
    with_copies: bool  # whether rows of equal inputs are held out together, if there is no such column

    def merge_classes(self, table: FileTable, target: str) -> FileTable:
        """The same rows with merged spellings of classes."""
        if not self.merged:
            return table
        return replace(table, frame=table.frame.with_columns(table.frame[target].replace(self.merged)))


class Slice:
    """A slice of a file, read and encoded on each use."""

    def __init__(self, file: ParquetFile, start: int, rows: TrainingTable, encoder: Any, reading: Reading):
        self.file, self.start, self.encoder, self.reading = file, start, encoder, reading
        self.target, self.task = rows.target.name, rows.target.task
        self.rows_without_target = np.empty(0, dtype=np.int64)  # rows of the file without a target, once it was read

    def read(self) -> tuple[Any, ...]:
        """Read features, targets, weights (None) and groups."""
        table = self.file.slice(self.start, self.file.slice_rows, self.reading.options)
        check_as_sampled(table, self.reading.options)
        table = self.reading.merge_classes(table, self.target)
        missing = np.flatnonzero(table.frame[self.target].is_null())
        self.rows_without_target = self.start + missing
        if len(missing) == table.frame.height:
            return np.empty((0, len(self.encoder.get_feature_names_out()))), np.empty(0), None, None
        target = read_target(table, self.target, self.task, for_training=False)
        frame = table.frame[target.rows]
        X = self.encoder.transform(frame)
        if self.reading.groups is not None:
            return X, target.values, None, frame[self.reading.groups].cast(str).fill_null("").to_numpy()
        return X, target.values, None, row_hashes(X) if self.reading.with_copies else None


def check_as_sampled(table: FileTable, options: ReadOptions) -> None:
    """Raise an error if a column is written differently from the sample that column types were learned from.

    Examples
    --------
    >>> import polars
    >>> table = FileTable(name="t", frame=polars.DataFrame(), types={"a": ColumnType("number", decimal=",")}, notes=[])
    >>> check_as_sampled(table, ReadOptions(model_types={"a": "number:point"}))
    Traceback (most recent call last):
    dsna.tables.files.source.TableError: t: column 'a' is number:point in a sample of the rows, and number:comma ...
    """
    for name, spec in options.model_types.items():
        sampled_type, slice_type = ColumnType.of(spec, name), table.types.get(name)
        if (
            slice_type is not None
            and sampled_type.kind == slice_type.kind
            and sampled_type.way
            and slice_type.way not in ("", sampled_type.way)
        ):
            raise TableError(
                f"{table.name}: column {name!r} is {sampled_type.spec} in a sample of the rows, and {slice_type.spec} "
                f"from {table.place(0)} on. Remedy: write it in one way."
            )


class TrainedOnDisk(NamedTuple):
    """A model of all rows of a file, its encoder, and notes."""

    model: Any
    encoder: Any
    rows: TrainingTable  # the sample that columns were learned from
    notes: list[str]


def memory_allowed() -> int:
    """Bytes that this process may use: the machine's memory or the limit of its control group.

    Examples
    --------
    >>> memory_allowed() > 0
    True
    """
    allowed = 1 << 62
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        allowed = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    for path in _MEMORY_LIMIT_FILES:
        try:
            text = Path(path).read_text("utf-8").strip()
        except OSError:
            continue
        allowed = min(allowed, int(text)) if text.isdigit() else allowed
    return allowed


def is_too_large(path: str | os.PathLike[str]) -> bool:
    """Whether training on a Parquet file would exceed the memory; always False for other formats."""
    if not str(path).endswith((".parquet", ".pq")):
        return False
    file = ParquetFile.open(path)
    return _PEAK_COPIES * 8 * file.rows * file.columns > memory_allowed()


def train_on_disk(
    path: str | os.PathLike[str],
    options: TrainOptions,
    read_options: ReadOptions,
    store: Path,
    *,
    sample_size: int = 50_000,
) -> TrainedOnDisk:
    """Train on a Parquet file slice by slice, with the rows of leaves stored in a folder.

    Parameters
    ----------
    path : the file.
    options : training options; ``sample`` and ``keep_rows`` are not used.
    read : reading options, such as column types.
    store : folder for the rows; it must exist until the model is saved.
    sample_size : number of rows that trees are grown on.
    """
    file = ParquetFile.open(path)
    table = file.sample(SAMPLED_ROWS, options.seed, read_options)
    merged, spelling_notes = _merged_spellings(file, table, options)
    reading = Reading(read_options, merged, options.groups, False)
    rows = choose_rows(reading.merge_classes(_drop_missing_targets(table, options.target), options.target), options)
    reading = reading._replace(with_copies=rows.groups is not rows.user_groups)
    pipeline = build(rows, options, {name: column_type.spec for name, column_type in table.types.items()})
    encoder, template = pipeline.steps[0][1].set_params(keep_rows=False), pipeline.steps[1][1]
    encoder.fit(rows.frame)
    if options.labels is not None:
        encoder.label_spelling_ = options.labels
    distributed_class = DistributedDSNAClassifier if rows.target.task == "classification" else DistributedDSNARegressor
    model = distributed_class(template, sample_size=sample_size, store=store, verbose=options.verbose)
    remember_unreadable(encoder, table)
    sampled = with_training_types(replace(read_options, types={}), encoder)
    types = {**sampled.model_types, options.target: table.types[options.target].spec}
    reading = reading._replace(options=replace(sampled, model_types=types))
    slices = [Slice(file, start, rows, encoder, reading) for start in file.starts()]
    model.fit(slices, None)
    rows_without_target = np.concatenate([slice_.rows_without_target for slice_ in slices])
    notes = [
        *table.notes,
        *([without_target(table, options.target, rows_without_target)] if len(rows_without_target) else []),
    ]
    notes += [*rows.notes, *spelling_notes, *encoder.notes_]
    if reading.with_copies and reading.groups is not None:
        notes.append(f"out of core, only column {reading.groups!r} defines groups: copies may be in different folds")
    notes.append(
        f"columns were learned from {rows.frame.height:,} rows, trees were grown on {sample_size:,} at most, rare "
        f"ones first; all {model.n_rows_:,} rows with a target are in the leaves"
    )
    return TrainedOnDisk(model, encoder, rows, notes)


def _merged_spellings(file: ParquetFile, table: FileTable, options: TrainOptions) -> tuple[dict[str, str], list[str]]:
    """Spellings of classes to merge, counted in the whole file, and notes; see ``merge_spellings``."""
    name = options.target
    if options.task == "regression" or name not in table.types or table.frame[name].to_numpy().dtype != object:
        return {}, []
    counts: Counter[str] = Counter()
    for start in file.starts():
        read_options = ReadOptions(types={name: table.types[name].spec})
        cells = file.slice(start, file.slice_rows, read_options, [name]).frame[name]
        counts.update(cells.drop_nulls().to_list())
    merged, notes = merge_spellings(file.path, name, counts, options.labels)
    return merged, notes if merged else []


def _drop_missing_targets(table: FileTable, target: str) -> FileTable:
    """Sampled rows with a target; rows without one are counted in the whole file instead."""
    return replace(table, frame=table.frame.drop_nulls(target)) if target in table.frame.columns else table


def train_to_folder(
    path: str | os.PathLike[str], options: TrainOptions, read_options: ReadOptions, folder: Path, overwrite: bool
) -> TrainedOnDisk:
    """Train slice by slice and save the model to a folder; rows are stored next to it meanwhile."""
    parent = check_place(folder, overwrite).parent  # before the training, not after it
    with tempfile.TemporaryDirectory(prefix=".dsna-", dir=parent, ignore_cleanup_errors=True) as rows_folder:
        trained = train_on_disk(path, options, read_options, Path(rows_folder))
        save(trained.model, folder, overwrite, trained.encoder)
    return trained


#: Attributes taken from the in-memory estimator of the sample, as they do not depend on where the rows are.
_SAMPLE_ATTRIBUTES = (
    *("_by_votes", "_gain", "_class_weight", "in_set", "oob_balanced_accuracy_", "_regions", "decision_", "balance_"),
    *("decision", "decision_threshold_", "trend_", "oob_rows_", "oob_score_", "feature_importances_", "n_outputs_"),
)


class OnDisk(BaseEstimator):
    """Adapter that gives a distributed model the interface of an in-memory one."""

    def __init__(self, model: Any):
        self.model = model
        self._ordinary = model.model_
        self._index = _representative(self._ordinary._index)
        if hasattr(model, "classes_"):
            self.classes_, self.class_prior_ = model.classes_, model.class_prior_
            self.predict_proba = model.predict_proba
            counts = np.ceil(1e6 * model.class_prior_).astype(np.int64)
            self._code = np.repeat(np.arange(len(counts)), counts)  # in proportion to the class frequencies
        self.predict, self.explain = model.predict, model.explain

    def __getattr__(self, name: str) -> Any:
        if name not in _SAMPLE_ATTRIBUTES:
            raise AttributeError(name)
        return getattr(self._ordinary, name)

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def fit(self, X: Any, y: Any) -> OnDisk:
        """Raise an error: the rows are in files of a folder."""
        raise DSNAError("a model in a folder cannot be refitted. Remedy: use `dsna train --out-of-core`.")

    def add_samples(self, X: Any, y: Any) -> None:
        """Raise an error: the rows are in files of a folder."""
        raise DSNAError(
            "rows cannot be added to a model of `dsna train --out-of-core`. Remedy: train again, with these rows in "
            "the file, or without --out-of-core."
        )

    def set_params(self, n_jobs: int) -> OnDisk:
        """Set the number of threads for approximations."""
        self._ordinary.set_params(n_jobs=n_jobs)
        return self

    def predict_interval(self, X: np.ndarray, coverage: float = 0.9, return_prediction: bool = False) -> Any:
        """Prediction intervals and, with ``return_prediction``, predictions."""
        bounds = self.model.predict_interval(X, coverage)
        return (bounds, self.model.predict(X)) if return_prediction else bounds

    def is_extrapolated(self, X: np.ndarray) -> np.ndarray:
        """Mask of queries that lie beyond the training rows along the trend."""
        return np.asarray(self._ordinary.is_extrapolated(self.model._core.scaling.transform(X)))

    def with_decision(self, decision: Any = None, *, balance: float | None = None) -> OnDisk:
        """The same model with another decision."""
        return self._view(self._ordinary.with_decision(decision, balance=balance))

    def with_settings(self, **settings: Any) -> OnDisk:
        """The same model with other settings."""
        return self._view(self._ordinary.with_settings(**settings))

    def _view(self, in_memory: Any) -> OnDisk:
        distributed = copy(self.model)
        distributed._core = replace(distributed._core, model=in_memory)
        return OnDisk(distributed)


def _representative(index: Any) -> Any:
    """The sample's index with classes or targets as frequent as in the table; the sample has more rare ones."""
    total = np.cumsum(index.weight / index.weight.sum())
    quantiles = (np.arange(len(total)) + 0.5) / len(total)
    result = copy(index)
    result.label = index.label[np.minimum(np.searchsorted(total, quantiles), len(total) - 1)]
    return result


def load_folder(path: str | os.PathLike[str]) -> Pipeline:
    """Load a pipeline that reads tables from the folder of a model trained out of core."""
    model, encoder = load_with_encoder(path)
    if encoder is None:
        raise DSNAError(
            f"{os.fspath(path)}: holds a {type(model).__name__} without the columns of a table. Remedy: use a model of "
            "`dsna train`, or dsna.distributed.load in Python."
        )
    return Pipeline([("columns", encoder), ("model", OnDisk(model))])
