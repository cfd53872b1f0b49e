"""Estimators for tables that lie in partitions, on one disk or on a cluster."""

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
from .asking.core import BATCH, Core, answer, asked_of, prepare
from .learning import learned
from .placed import AllRows, Passes, PlacedRows
from .tables import Opened, open_table


class _Distributed(BaseEstimator):
    """Base class of the two estimators."""

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
        """Count, sample and grow, place all rows, and learn the decision out of bag.

        Parameters
        ----------
        X : dask DataFrame or Array, ray Dataset, or sequence of partitions
            A partition is a data frame, a tuple ``(X, y, sample_weight, groups)`` of arrays, or an object whose
            ``read()`` gives one, so that partitions need not be in memory.
        y : column name, list of names, dask Series or Array, or None
            The target; a name where X has columns, or those of several outputs; None where partitions are tuples.
        sample_weight, groups : as y, optional
            Rows of one group are held out together.
        key : column name, optional
            What identifies a row. Samples then depend on these values, not on where in the table a row stands.

        Returns
        -------
        self
        """
        template = self._template()
        opened = open_table(X, y, sample_weight, groups, key, self.store)
        try:
            self._take(*self._fitted(template, opened))
        except BaseException:
            opened.engine.abandon()
            raise
        return self

    def _fitted(self, template: Any, opened: Opened) -> tuple[Core, PlacedRows]:
        """What answers queries, and the rows that it is asked about."""
        classification = isinstance(template, DSNAClassifier)
        seed = int(check_random_state(template.random_state).randint(2**31 - 1))
        passes = Passes(opened.engine, opened.partitions, seed, self.sample_size, self.shard_rows, self.verbose)
        totals, targets = passes.count(opened.roles, classification, template.scaling)
        sample, rule = passes.sample(totals)
        model, placed = learned(template, sample, AllRows(passes, totals, rule, targets))
        placed = placed.settled(model._index.space, getattr(model, "_trend", None) if not classification else None)
        forest = replace(placed.forest, trees=model._index.trees)
        core = Core(totals.scaling, model, forest, totals.names, int(totals.offsets[-1]))
        return core, PlacedRows(placed.engine, placed.shards, forest)

    def _template(self) -> Any:
        """A copy of the estimator whose parameters are used, checked."""
        template = self._ordinary() if self.estimator is None else self.estimator
        if type(template) is not self._ordinary:
            raise DSNAError(f"estimator={template!r} must be a {self._ordinary.__name__} or None.")
        template = clone(template)
        for name, least in (("sample_size", 100), ("shard_rows", 1)):
            given = getattr(self, name)
            if isinstance(given, bool) or not isinstance(given, int | np.integer) or given < least:
                raise DSNAError(f"{name}={given!r} must be a whole number from {least} on.")
        template.check_parameters()
        return template

    def _take(self, core: Core, placed: PlacedRows) -> None:
        self._core, self._placed = core, placed
        self.n_rows_ = core.n_rows
        self.n_features_in_ = len(core.scaling.offset)
        if core.features is not None:
            self.feature_names_in_ = np.array(core.features, dtype=object)

    def _asked(self, X: Any, method: str, **options: Any) -> Any:
        """What a method of the ordinary estimator says of queries, partition by partition."""
        check_is_fitted(self)
        opened = open_table(X, None, None, None, None, None, self._placed.engine)
        return opened.result(self._answers(opened, method, options))

    def _answers(self, opened: Opened, method: str, options: dict[str, Any]) -> list[list[Any]]:
        """Handles of the answers of each partition, batch by batch."""
        engine, shards = opened.engine, self._placed.shards
        core = engine.broadcast(self._core)
        names = [f"partition {k}" if len(opened.partitions) > 1 else "X" for k in range(len(opened.partitions))]
        lengths = [
            engine.submit(_length, core, part, name) for part, name in zip(opened.partitions, names, strict=True)
        ]
        found = []
        for part, n, name in zip(opened.partitions, engine.gather(lengths), names, strict=True):
            batches = []
            for k in range(max(1, -(-n // BATCH))):
                asked = engine.submit(prepare, core, part, k, name)
                answers = [engine.submit(asked_of, asked, shard) for shard in shards]
                batches.append(engine.submit(answer, core, asked, method, options, *answers))
            found.append(batches)
        return found

    def predict(self, X: Any) -> Any:
        """Predictions, as those of the ordinary estimator.

        Parameters
        ----------
        X : array, data frame, dask DataFrame or Array, or ray Dataset

        Returns
        -------
        array, or the same kind of collection as X
        """
        return self._asked(X, "predict")

    def explain(self, X: Any) -> Explanation:
        """Which rows of the table made each prediction; see ``DSNAClassifier.explain``.

        Parameters
        ----------
        X : array or data frame of at most 2,048 rows

        Returns
        -------
        Explanation
            ``rows`` are numbers in the table, partition after partition.
        """
        check_is_fitted(self)
        opened = open_table(X, None, None, None, None, None, self._placed.engine)
        batches = self._answers(opened, "explain", {})
        if len(batches) != 1 or len(batches[0]) != 1:
            raise DSNAError(f"explain takes an array or data frame of at most {BATCH} rows at once.")
        why: Explanation = opened.engine.gather(batches[0])[0]
        return why

    @property
    def model_(self) -> Any:
        """The ordinary estimator of the sample."""
        return self._core.model

    def save(self, folder: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the model as a folder: one file for each shard, the ordinary estimator, and a manifest.

        Parameters
        ----------
        folder : path of a folder that is not there yet.
        overwrite : bool, default=False
            Whether a model in this folder is replaced; a folder that holds other files, too, is refused.
        """
        from .store import save

        check_is_fitted(self)
        save(self, folder, overwrite)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_core")


def _length(core: Core, data: Any, where: str) -> int:
    return len(core.rows(data, where))


class DistributedDSNAClassifier(ClassifierMixin, _Distributed):
    """A :class:`dsna.DSNAClassifier` of all rows of a table that does not fit into memory, or lies on a cluster.

    Partitions are passed over four times: they are counted, a bounded sample of all of them is drawn to grow the trees,
    rows are counted in the leaves of these trees, and those that leaves keep are placed, each on one shard. A query is
    answered by all shards. Neighbours, vote and answers are those of one ordinary model with the same trees and all
    rows.

    Parameters
    ----------
    estimator : DSNAClassifier or None, default=None
        Whose parameters are used; None: those of ``DSNAClassifier()``.
    sample_size : int, default=50000
        Rows that trees are grown on, rare classes whole where they fit, each row weighted by those it stands for.
    shard_rows : int, default=250000
        Rows of a shard, about. Only rows that leaves keep are on shards.
    store : path or None, default=None
        Folder for shards on one machine, which are read as mapped files; None keeps them in memory. On a cluster they
        are in the memory of the workers.
    verbose : int, default=0
        1 shows progress.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    class_prior_ : array of shape (n_classes,)
        Share of each class in all rows.
    n_rows_ : int
        Rows of the table.
    model_ : DSNAClassifier
        The ordinary estimator of the sample, with what was learned out of bag among all rows.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

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
        """All classes."""
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
        return self._asked(X, "predict_proba")

    def predict_set(self, X: Any, coverage: float = 0.9) -> Any:
        """All classes that a row may well have; see ``DSNAClassifier.predict_set``.

        Parameters
        ----------
        X : array, data frame, dask DataFrame or Array, or ray Dataset
        coverage : float, above 0 and below 1, default=0.9

        Returns
        -------
        array of shape (n, n_classes), bool, or the same kind of collection as X
        """
        return self._asked(X, "predict_set", coverage=coverage)


class DistributedDSNARegressor(RegressorMixin, _Distributed):
    """A :class:`dsna.DSNARegressor` of all rows of a table that does not fit into memory, or lies on a cluster.

    As :class:`DistributedDSNAClassifier`; trees are grown on a sample that is drawn along ten ranges of the target,
    rare ones whole where they fit; several outputs have their place among the ranges halfway between their own. The
    density of the target and the slopes of the trend come from all rows, the kind and penalty of the trend and the box
    plot of a relevance from the sample.

    Parameters
    ----------
    estimator : DSNARegressor or None, default=None
        Whose parameters are used; None: those of ``DSNARegressor()``.
    sample_size, shard_rows, store, verbose
        As in :class:`DistributedDSNAClassifier`.

    Attributes
    ----------
    n_rows_ : int
        Rows of the table.
    model_ : DSNARegressor
        The ordinary estimator of the sample, with what was learned out of bag among all rows.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

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
        """Intervals that hold the target; see ``DSNARegressor.predict_interval``.

        Parameters
        ----------
        X : array, data frame, dask DataFrame or Array, or ray Dataset
        coverage : float in (0, 1), default=0.9

        Returns
        -------
        array of shape (n, 2), or the same kind of collection as X
        """
        return self._asked(X, "predict_interval", coverage=coverage)

    def predict_quantiles(self, X: Any, quantiles: Any = (0.05, 0.5, 0.95)) -> Any:
        """Quantiles of the target; see ``DSNARegressor.predict_quantiles``.

        Parameters
        ----------
        X : array, data frame, dask DataFrame or Array, or ray Dataset
        quantiles : array-like, default=(0.05, 0.5, 0.95)

        Returns
        -------
        array of shape (n, n_quantiles), or the same kind of collection as X
        """
        return self._asked(X, "predict_quantiles", quantiles=quantiles)
