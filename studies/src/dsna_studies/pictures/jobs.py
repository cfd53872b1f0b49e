"""Methods on a split: rows made once, one result for each method."""

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


class Rows(Protocol):
    """Where the rows of a split come from."""

    def of(self, split: Split) -> tuple[np.ndarray, np.ndarray]:
        """Rows of the training and of the test pictures."""
        ...


@dataclass(frozen=True)
class LabelledRows:
    """Rows of all pictures of a collection, with their labels.

    Parameters
    ----------
    rows : Rows
    labels : array of shape (n,) or (n, n_outputs)
    groups : array of shape (n,) or None, default=None
        Persons whose pictures are held out together while a model is fitted.

    Examples
    --------
    >>> import numpy as np
    >>> from dsna_studies.pictures.crops import CropRows
    >>> LabelledRows(CropRows(np.eye(3)), np.arange(3.0)).labels
    array([0., 1., 2.])
    """

    rows: Rows
    labels: np.ndarray
    groups: np.ndarray | None = None


@dataclass(frozen=True)
class Job:
    """Methods on one split of a collection.

    Parameters
    ----------
    key : tuple of str
        What results are stored under, but for the method.
    data : LabelledRows
    split : Split
    methods : tuple of str
    quick : bool
        Whether few trees are enough.
    fits_of : callable
        From names of methods to the fits that they share.

    Examples
    --------
    >>> import numpy as np
    >>> from dsna_studies.age.methods import fits_of
    >>> from dsna_studies.age.protocols import three_subsets
    >>> from dsna_studies.pictures.crops import CropRows
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> key, data = ("UTKFace", "00", "quick", "S1, S2, S3", "S1"), LabelledRows(CropRows(X), X[:, 0])
    >>> job = Job(key, data, three_subsets(60)[0], ("RF",), quick=True, fits_of=fits_of)
    >>> [(row["method"], row["n"]) for row in job()]
    [('RF', 40)]
    """

    key: tuple[str, ...]
    data: LabelledRows
    split: Split
    methods: tuple[str, ...]
    quick: bool
    fits_of: Callable[[Iterable[str]], list[SharedFit]]

    def __call__(self) -> list[Row]:
        """Results of all methods, on one thread; an ``error`` in place of the values of those that fail."""
        with warnings.catch_warnings(), threadpool_limits(1):
            warnings.simplefilter("ignore")
            try:
                start = time.perf_counter()
                train, test = self.data.rows.of(self.split)
                seconds = time.perf_counter() - start
            except Exception as error:  # no method can run; the other splits may
                return self._failed(self.methods, error)
            fits = self.fits_of(self.methods)
            return [row | {"rows_seconds": seconds} for fit in fits for row in self._evaluate(fit, train, test)]

    def _evaluate(self, fit: SharedFit, train: np.ndarray, test: np.ndarray) -> list[Row]:
        wanted = [method for method in fit.names if method in self.methods]
        labels, groups, split = self.data.labels, self.data.groups, self.split
        truth = labels[split.test]
        try:
            model = fit.make(0)
            if self.quick:
                model = with_trees(model, QUICK_TREES)
            warm_up(model, train.shape[1], regression=True)
            start = time.perf_counter()
            fit_apart(model, train, labels[split.train], None if groups is None else groups[split.train])
            fitted = time.perf_counter()
            model.predict(test)
            times = {"fit_seconds": fitted - start, "predict_seconds": time.perf_counter() - fitted}
            answers = fit.answer(model, test)
        except Exception as error:  # any failure of one method must leave the others running
            return self._failed(wanted, error)
        return [
            self._head(method)
            | {"n": len(truth), "mae": np.abs(answers[method] - truth).mean()}
            | {"truth": _joined(truth), "predicted": _joined(answers[method])}
            | times
            for method in wanted
        ]

    def _head(self, method: str) -> Row:
        return dict(zip(LAYOUT.key, (*self.key, method), strict=True))

    def _failed(self, methods: Iterable[str], error: Exception) -> list[Row]:
        said = failure(error)
        return [self._head(method) | {"error": said} for method in methods]


def _joined(labels: np.ndarray) -> str:
    return " ".join(f"{label:.4g}" for label in labels.ravel())


def parsed(text: str) -> np.ndarray:
    """Labels that a results file holds in one column.

    Examples
    --------
    >>> parsed("3 41.5")
    array([ 3. , 41.5])
    """
    return np.array(text.split(), dtype=np.float64)
