"""Jobs that evaluate methods on a split: features are computed once, with one result per method."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from threadpoolctl import threadpool_limits

from ..models import fit_apart, warm_up, with_trees
from ..results_file import Layout
from ..running import Row, failure
from .shared_fits import QUICK_TREES, SharedFit
from .splits import Split

#: True and predicted labels of a fold, the error and the times.
LAYOUT = Layout(
    key=("collection", "checksum", "scale", "protocol", "fold", "method"),
    texts=("truth", "predicted"),
    values=("n", "mae", "rows_seconds", "fit_seconds", "predict_seconds"),
)


class SplitRows(Protocol):
    """Source of the features of a split."""

    def of(self, split: Split) -> tuple[np.ndarray, np.ndarray]:
        """Features of the training and the test pictures."""
        ...


@dataclass(frozen=True)
class LabelledRows:
    """Features of all pictures of a collection, with their labels.

    Parameters
    ----------
    rows : SplitRows
    labels : array of shape (n,) or (n, n_outputs)
    groups : array of shape (n,) or None, default=None
        Persons, whose pictures are held out together when a model is fitted.

    Examples
    --------
    >>> import numpy as np
    >>> from dsna_studies.pictures.crops import CropRows
    >>> LabelledRows(CropRows(np.eye(3)), np.arange(3.0)).labels
    array([0., 1., 2.])
    """

    rows: SplitRows
    labels: np.ndarray
    groups: np.ndarray | None = None


@dataclass(frozen=True)
class SplitJob:
    """Evaluation of methods on one split of a collection.

    Parameters
    ----------
    key : tuple of str
        Key of results without the method.
    data : LabelledRows
    split : Split
    methods : tuple of str
    quick_run : bool
        Whether to use few trees.
    fits_of : callable
        Returns the distinct fits that methods need.

    Examples
    --------
    >>> import numpy as np
    >>> from dsna_studies.age.methods import fits_of
    >>> from dsna_studies.age.protocols import three_subsets
    >>> from dsna_studies.pictures.crops import CropRows
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> key, data = ("UTKFace", "00", "quick", "S1, S2, S3", "S1"), LabelledRows(CropRows(X), X[:, 0])
    >>> job = SplitJob(key, data, three_subsets(60)[0], ("RF",), quick_run=True, fits_of=fits_of)
    >>> [(row["method"], row["n"]) for row in job()]
    [('RF', 40)]
    """

    key: tuple[str, ...]
    data: LabelledRows
    split: Split
    methods: tuple[str, ...]
    quick_run: bool
    fits_of: Callable[[Iterable[str]], list[SharedFit]]

    def __call__(self) -> list[Row]:
        """Evaluate all methods on one thread; methods that fail have an ``error`` instead of values."""
        with warnings.catch_warnings(), threadpool_limits(1):
            warnings.simplefilter("ignore")
            try:
                start = time.perf_counter()
                train, test = self.data.rows.of(self.split)
                seconds = time.perf_counter() - start
            except Exception as error:  # no method can run on this split
                return self._error_rows(self.methods, error)
            fits = self.fits_of(self.methods)
            return [row | {"rows_seconds": seconds} for fit in fits for row in self._evaluate(fit, train, test)]

    def _evaluate(self, fit: SharedFit, train: np.ndarray, test: np.ndarray) -> list[Row]:
        methods = [method for method in fit.names if method in self.methods]
        labels, groups, split = self.data.labels, self.data.groups, self.split
        truth = labels[split.test]
        try:
            model = fit.make(0)
            if self.quick_run:
                model = with_trees(model, QUICK_TREES)
            warm_up(model, train.shape[1], regression=True)
            start = time.perf_counter()
            fit_apart(model, train, labels[split.train], None if groups is None else groups[split.train])
            fitted = time.perf_counter()
            model.predict(test)
            times = {"fit_seconds": fitted - start, "predict_seconds": time.perf_counter() - fitted}
            answers = fit.answer(model, test)
        except Exception as error:  # any failure of one method must leave the others running
            return self._error_rows(methods, error)
        return [
            self._key_columns(method)
            | {"n": len(truth), "mae": np.abs(answers[method] - truth).mean()}
            | {"truth": _label_text(truth), "predicted": _label_text(answers[method])}
            | times
            for method in methods
        ]

    def _key_columns(self, method: str) -> Row:
        return dict(zip(LAYOUT.key, (*self.key, method), strict=True))

    def _error_rows(self, methods: Iterable[str], error: Exception) -> list[Row]:
        message = failure(error)
        return [self._key_columns(method) | {"error": message} for method in methods]


def _label_text(labels: np.ndarray) -> str:
    return " ".join(f"{label:.4g}" for label in labels.ravel())


def parse_labels(text: str) -> np.ndarray:
    """Parse the labels in a column of a results file.

    Examples
    --------
    >>> parse_labels("3 41.5")
    array([ 3. , 41.5])
    """
    return np.array(text.split(), dtype=np.float64)
