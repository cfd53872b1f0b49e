"""Estimators for tables in partitions, on one disk or on a cluster."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from .._utils.errors import DSNAError
from ..classifier import DSNAClassifier
from ..inspection.explanation import Explanation
from ..regressor import DSNARegressor
from .asking.core import BATCH, Core, answer, prepare, shard_answer
from .learning import fit_on_all_rows
from .placed import AllRows, Passes, PlacedRows
from .tables import OpenedTable, open_table


class _Distributed(BaseEstimator):
    """Base class of the classifier and the regressor."""

    estimator: Any
    sample_size: int
    shard_rows: int
    store: Any
    verbose: int
    _ordinary: type

    def __init__(
        self,
        estimator: Any = None,
        *,
        sample_size: int = 50_000,
        shard_rows: int = 250_000,
        store: str | os.PathLike[str] | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.sample_size = sample_size
        self.shard_rows = shard_rows
        self.store = store
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None, key: Any = None) -> Any:
        """Count the rows, grow trees on a sample, put all rows on shards, and learn the decision out of bag.

        Parameters
        ----------
        X : dask DataFrame or Array, ray Dataset, or sequence of partitions
            A partition is a data frame, a tuple ``(X, y, sample_weight, groups)`` of arrays, or an object whose
            ``read()`` gives one, so that partitions need not be in memory.
        y : column name, list of names, dask Series or Array, or None
            The target: the name of a column, or the names of several outputs; None if partitions are tuples.
        sample_weight, groups : as y, optional
            Rows of one group are held out together.
        key : column name, optional
            Identifies a row. Samples then depend on these values, not on the position of a row in the table.

        Returns
        -------
        self
        """
        template = self._template()
        table = open_table(X, y, sample_weight, groups, key, self.store)
        try:
            self._set_fitted(*self._fitted(template, table))
        except BaseException:
            table.engine.abandon()
            raise
        return self

    def _fitted(self, template: Any, table: OpenedTable) -> tuple[Core, PlacedRows]:
        """Fit the core and put the rows on shards."""
        classification = isinstance(template, DSNAClassifier)
        seed = int(check_random_state(template.random_state).randint(2**31 - 1))
        passes = Passes(table.engine, table.partitions, seed, self.sample_size, self.shard_rows, self.verbose)
        totals, targets = passes.count(table.roles, classification, template.scaling)
        sample, rule = passes.sample(totals)
        model, placed_rows = fit_on_all_rows(template, sample, AllRows(passes, totals, rule, targets))
        placed_rows = placed_rows.finished(
            model._index.space, getattr(model, "_trend", None) if not classification else None
        )
        forest = replace(placed_rows.forest, trees=model._index.trees)
        core = Core(totals.scaling, model, forest, totals.names, int(totals.offsets[-1]))
        return core, PlacedRows(placed_rows.engine, placed_rows.shards, forest)

    def _template(self) -> Any:
        """Return a copy of ``estimator`` with checked parameters."""
        template = self._ordinary() if self.estimator is None else self.estimator
        if type(template) is not self._ordinary:
            raise DSNAError(f"estimator={template!r} must be a {self._ordinary.__name__} or None.")
        template = clone(template)
        for name, minimum in (("sample_size", 100), ("shard_rows", 1)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < minimum:
                raise DSNAError(f"{name}={value!r} must be an integer of at least {minimum}.")
        template.check_parameters()
        return template

    def _set_fitted(self, core: Core, placed_rows: PlacedRows) -> None:
        self._core, self._placed = core, placed_rows
        self.n_rows_ = core.n_rows
        self.n_features_in_ = len(core.scaling.offset)
        if core.features is not None:
            self.feature_names_in_ = np.array(core.features, dtype=object)

    def _call(self, X: Any, method: str, **options: Any) -> Any:
        """Call a method of the model of the sample for queries, partition by partition."""
        check_is_fitted(self)
        table = open_table(X, None, None, None, None, None, self._placed.engine)
        return table.result(self._answers(table, method, options))

    def _answers(self, table: OpenedTable, method: str, options: dict[str, Any]) -> list[list[Any]]:
        """Handles of the answers to each batch of each partition."""
        engine, shards = table.engine, self._placed.shards
        core = engine.broadcast(self._core)
        n_partitions = len(table.partitions)
        sources = [f"partition {k}" if n_partitions > 1 else "X" for k in range(n_partitions)]
        lengths = [
            engine.submit(_length, core, data, source) for data, source in zip(table.partitions, sources, strict=True)
        ]
        answers = []
        for data, n_rows, source in zip(table.partitions, engine.gather(lengths), sources, strict=True):
            batches = []
            for k in range(max(1, -(-n_rows // BATCH))):
                query_batch = engine.submit(prepare, core, data, k, source)
                shard_answers = [engine.submit(shard_answer, query_batch, shard) for shard in shards]
                batches.append(engine.submit(answer, core, query_batch, method, options, *shard_answers))
            answers.append(batches)
        return answers

    def predict(self, X: Any) -> Any:
        """Predict the target; see the method of the estimator in memory.

        Parameters
        ----------
        X : array, data frame, dask DataFrame or Array, or ray Dataset

        Returns
        -------
        array, or the same kind of collection as X
        """
        return self._call(X, "predict")

    def explain(self, X: Any) -> Explanation:
        """Explain predictions by the rows of the table; see ``DSNAClassifier.explain``.

        Parameters
        ----------
        X : array or data frame of at most 2,048 rows

        Returns
        -------
        Explanation
            ``rows`` are row numbers in the table, counted across partitions.
        """
        check_is_fitted(self)
        table = open_table(X, None, None, None, None, None, self._placed.engine)
        batches = self._answers(table, "explain", {})
        if len(batches) != 1 or len(batches[0]) != 1:
            raise DSNAError(f"explain takes an array or data frame of at most {BATCH} rows at once.")
        explanation: Explanation = table.engine.gather(batches[0])[0]
        return explanation

    @property
    def model_(self) -> Any:
        """The estimator fitted to the sample."""
        return self._core.model

    def save(self, folder: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the model to a folder: one file for each shard, the model of the sample, and a manifest.

        Parameters
        ----------
        folder : path of a folder that does not exist yet.
        overwrite : bool, default=False
            Whether to replace a model in this folder; a folder with other files is refused.
        """
        from .store import save

        check_is_fitted(self)
        save(self, folder, overwrite)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_core")


def _length(core: Core, data: Any, source: str) -> int:
    return len(core.scaled(data, source))


class DistributedDSNAClassifier(ClassifierMixin, _Distributed):
    """A :class:`dsna.DSNAClassifier` of all rows of a table that does not fit into memory, or is on a cluster.

    There are four passes over the partitions: rows are counted, a bounded sample is drawn to grow the trees, rows are
    counted in the leaves of these trees, and the rows that leaves keep are put on shards, each on one. Every shard
    answers every query. Neighbours, vote and predictions are those of one model in memory with the same trees and all
    rows.

    Parameters
    ----------
    estimator : DSNAClassifier or None, default=None
        Estimator with the parameters to use; None: ``DSNAClassifier()``.
    sample_size : int, default=50000
        Rows that trees are grown on: all rows of rare classes if they fit, and each row weighted by the number of rows
        that it represents.
    shard_rows : int, default=250000
        Approximate number of rows of a shard. Only rows that leaves keep are on shards.
    store : path or None, default=None
        Folder for shards on one machine, which are read as memory maps; None keeps them in memory. On a cluster they
        are in the memory of the workers.
    verbose : int, default=0
        1 shows progress.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    class_prior_ : array of shape (n_classes,)
        Share of each class in all rows.
    n_rows_ : int
        Number of rows of the table.
    model_ : DSNAClassifier
        The estimator fitted to the sample, with decision and calibration learned out of bag among all rows.
    n_features_in_, feature_names_in_
        Number and names of the features, as in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from dsna import CostSensitiveForestClassifier, DSNAClassifier
    >>> from dsna.distributed import DistributedDSNAClassifier
    >>> X, y = make_classification(600, weights=[0.9], class_sep=2.0, random_state=0)
    >>> partitions = [(X[:100], y[:100]), (X[100:500], y[100:500])]
    >>> ordinary = DSNAClassifier(CostSensitiveForestClassifier(10), random_state=0)
    >>> model = DistributedDSNAClassifier(ordinary).fit(partitions, None)
    >>> float((model.predict(X[500:]) == y[500:]).mean()) > 0.9
    True
    """

    _ordinary = DSNAClassifier

    @property
    def classes_(self) -> np.ndarray:
        """Class labels."""
        return np.asarray(self._core.model.classes_)

    @property
    def class_prior_(self) -> np.ndarray:
        """Share of each class in all rows."""
        return np.asarray(self._core.model.class_prior_)

    def predict_proba(self, X: Any) -> Any:
        """Class probabilities, in the order of ``classes_``.

        Parameters
        ----------
        X : array, data frame, dask DataFrame or Array, or ray Dataset

        Returns
        -------
        array of shape (n, n_classes), or the same kind of collection as X
        """
        return self._call(X, "predict_proba")

    def predict_set(self, X: Any, coverage: float = 0.9) -> Any:
        """Predict sets of probable classes; see ``DSNAClassifier.predict_set``.

        Parameters
        ----------
        X : array, data frame, dask DataFrame or Array, or ray Dataset
        coverage : float, above 0 and below 1, default=0.9

        Returns
        -------
        array of shape (n, n_classes), bool, or the same kind of collection as X
        """
        return self._call(X, "predict_set", coverage=coverage)


class DistributedDSNARegressor(RegressorMixin, _Distributed):
    """A :class:`dsna.DSNARegressor` of all rows of a table that does not fit into memory, or is on a cluster.

    It works like :class:`DistributedDSNAClassifier`, with ten ranges of the target in place of classes: the sample has
    all rows of rare ranges if they fit. The range of a row with several outputs is that of the mean of their relative
    positions. The density of the target and the slopes of the trend are estimated from all rows; the kind and penalty
    of the trend and the box plot of a relevance are estimated from the sample.

    Parameters
    ----------
    estimator : DSNARegressor or None, default=None
        Estimator with the parameters to use; None: ``DSNARegressor()``.
    sample_size, shard_rows, store, verbose
        As in :class:`DistributedDSNAClassifier`.

    Attributes
    ----------
    n_rows_ : int
        Number of rows of the table.
    model_ : DSNARegressor
        The estimator fitted to the sample, with decision and calibration learned out of bag among all rows.
    n_features_in_, feature_names_in_
        Number and names of the features, as in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from dsna import CostSensitiveForestRegressor, DSNARegressor
    >>> from dsna.distributed import DistributedDSNARegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> ordinary = DSNARegressor(CostSensitiveForestRegressor(10), random_state=0)
    >>> model = DistributedDSNARegressor(ordinary).fit([(X[:200], y[:200]), (X[200:400], y[200:400])], None)
    >>> model.predict(X[400:]).shape
    (42,)
    """

    _ordinary = DSNARegressor

    def predict_interval(self, X: Any, coverage: float = 0.9) -> Any:
        """Predict intervals of the target; see ``DSNARegressor.predict_interval``.

        Parameters
        ----------
        X : array, data frame, dask DataFrame or Array, or ray Dataset
        coverage : float in (0, 1), default=0.9

        Returns
        -------
        array of shape (n, 2), or the same kind of collection as X
        """
        return self._call(X, "predict_interval", coverage=coverage)

    def predict_quantiles(self, X: Any, quantiles: Any = (0.05, 0.5, 0.95)) -> Any:
        """Predict quantiles of the target; see ``DSNARegressor.predict_quantiles``.

        Parameters
        ----------
        X : array, data frame, dask DataFrame or Array, or ray Dataset
        quantiles : array-like, default=(0.05, 0.5, 0.95)

        Returns
        -------
        array of shape (n, n_quantiles), or the same kind of collection as X
        """
        return self._call(X, "predict_quantiles", quantiles=quantiles)
