"""Methods on a split: rows made once, one result for each method."""

from __future__ import annotations

import inspect
import time
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from threadpoolctl import threadpool_limits

from ..cli.main import VISION_REMEDY
from .results_file import Layout
from .running import Row, warm_up
from .shared_fits import QUICK_TREES, Family, with_trees
from .splits import Split

#: Results of the task: what was asked, the true and the predicted labels, errors and times.
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
class Job:
    """Methods on one split of a collection.

    Parameters
    ----------
    filed : tuple of str
        What results are filed under, but for the method.
    labels : array of shape (n,) or (n, n_outputs)
    groups : array of shape (n,) or None
    rows : Rows
    split : Split
    methods : tuple of str
    quick : bool
    families : callable
        From names of methods to the families that answer them.

    Examples
    --------
    >>> import numpy as np
    >>> from dsna.studies.age.methods import families_of
    >>> from dsna.studies.age.protocols import three_subsets
    >>> from dsna.studies.crops import CropRows
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> filed = "UTKFace", "00", "quick", "S1, S2, S3", "S1"
    >>> job = Job(filed, X[:, 0], None, CropRows(X), three_subsets(60)[0], ("RF",), True, families_of)
    >>> [(row["method"], row["n"]) for row in job()]
    [('RF', 40)]
    """

    filed: tuple[str, ...]
    labels: np.ndarray
    groups: np.ndarray | None
    rows: Rows
    split: Split
    methods: tuple[str, ...]
    quick: bool
    families: Callable[[Iterable[str]], list[Family]]

    def __call__(self) -> list[Row]:
        """Results of all methods, on one thread; of those that fail, an ``error``."""
        with warnings.catch_warnings(), threadpool_limits(1):
            warnings.simplefilter("ignore")
            try:
                start = time.perf_counter()
                train, test = self.rows.of(self.split)
                seconds = time.perf_counter() - start
            except Exception as error:  # no method can run; the other splits may
                return [self._failed(method, error) for method in self.methods]
            return [
                row for family in self.families(self.methods) for row in self._answers(family, train, test, seconds)
            ]

    def _answers(self, family: Family, train: np.ndarray, test: np.ndarray, seconds: float) -> list[Row]:
        wanted = [method for method in family.names if method in self.methods]
        truth = self.labels[self.split.test]
        try:
            model = family.make(0)
            if self.quick:
                model = with_trees(model, QUICK_TREES)
            warm_up(model, train.shape[1], regression=True)
            start = time.perf_counter()
            persons = None if self.groups is None else self.groups[self.split.train]
            fit_apart(model, train, self.labels[self.split.train], persons)
            fitted = time.perf_counter()
            model.predict(test)
            times = {"fit_seconds": fitted - start, "predict_seconds": time.perf_counter() - fitted}
            answers = family.answer(model, test)
        except Exception as error:  # any failure of one method must leave the others running
            return [self._failed(method, error) for method in wanted]
        return [
            self._head(method)
            | {"n": len(truth), "mae": np.abs(answers[method] - truth).mean(), "rows_seconds": seconds}
            | {"truth": _joined(truth), "predicted": _joined(answers[method])}
            | times
            for method in wanted
        ]

    def _head(self, method: str) -> Row:
        return dict(zip(LAYOUT.key, (*self.filed, method), strict=True))

    def _failed(self, method: str, error: Exception) -> Row:
        said = f"{type(error).__name__}: {error}"
        return self._head(method) | {"error": f"{error}; {VISION_REMEDY}" if isinstance(error, ImportError) else said}


def fit_apart(model: Any, X: np.ndarray, y: np.ndarray, groups: np.ndarray | None) -> Any:
    """Fit a model, with rows of one group held out together where the model can do so.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import Ridge
    >>> fit_apart(Ridge(), np.eye(3), np.arange(3), groups=np.zeros(3)).coef_.shape  # knows no groups
    (3,)
    """
    if groups is None or "groups" not in inspect.signature(model.fit).parameters:
        return model.fit(X, y)
    return model.fit(X, y, groups=groups)


def _joined(labels: np.ndarray) -> str:
    return " ".join(f"{label:.4g}" for label in labels.ravel())


def parsed(text: str) -> np.ndarray:
    """Labels that a result file holds in one column.

    Examples
    --------
    >>> parsed("3 41.5")
    array([ 3. , 41.5])
    """
    return np.array(text.split(), dtype=np.float64)
