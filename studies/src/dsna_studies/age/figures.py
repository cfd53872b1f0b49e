"""Plots of ages, errors and convergence; no face is shown here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from dsna.inspection import Explanation

from .scores import decade_names


def _figure(columns: int, width: float = 4.6, height: float = 3.4) -> tuple[Any, Sequence[Any]]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width * columns, height), layout="constrained")
    return figure, figure.subplots(1, columns, squeeze=False)[0]


def plot_ages(ages: Mapping[str, np.ndarray]) -> Any:
    """How many pictures there are of each age, a panel for each collection (the paper's Fig. 1).

    Examples
    --------
    >>> import numpy as np
    >>> len(plot_ages({"FG-NET": np.array([3, 4, 4, 60])}).axes)
    1
    """
    figure, panels = _figure(len(ages))
    for ax, (name, values) in zip(panels, ages.items(), strict=True):
        ax.hist(values, bins=np.arange(0, values.max() + 2), color="0.4")
        ax.set(title=f"{name}: {len(values)} pictures", xlabel="age", ylabel="pictures")
    return figure


def plot_embeddings(rows: np.ndarray, ages: np.ndarray) -> Any:
    """Faces in the plane, by principal components and by Fisher's discriminants of decades (Fig. 2).

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.random.default_rng(0).normal(size=(60, 5))
    >>> len(plot_embeddings(rows, np.arange(60)).axes)
    3
    """
    from sklearn.decomposition import PCA
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    fisher = LinearDiscriminantAnalysis()
    planes = {
        "PCA": PCA(2, random_state=0).fit_transform(rows),
        "LDA of decades": fisher.fit(rows, ages // 10).transform(rows)[:, :2],
    }
    figure, panels = _figure(2)
    for ax, (name, plane) in zip(panels, planes.items(), strict=True):
        # Few decades span a line only.
        dots = ax.scatter(plane[:, 0], plane[:, -1], 8, c=ages, cmap="viridis")
        ax.set(title=name, xticks=[], yticks=[])
    figure.colorbar(dots, ax=list(panels), label="age")
    return figure


def plot_decades(table: pd.DataFrame, methods: Sequence[str], ages: np.ndarray) -> Any:
    """Errors by decade of age (Fig. 8).

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> table = pd.DataFrame({"0-9": [2.0], "10-19": [3.0]}, index=["RF"])
    >>> len(plot_decades(table, ["RF"], np.array([5, 15])).axes)
    1
    """
    figure, (ax,) = _figure(1, width=7)
    shown = [method for method in methods if method in table.index]
    decades = [name for name in decade_names(ages) if name in table]
    place, width = np.arange(len(decades)), 0.8 / max(len(shown), 1)
    for number, method in enumerate(shown):
        ax.bar(place + (number + 0.5) * width - 0.4, table.loc[method, decades], width, label=method)
    ax.set_xticks(place, decades)
    ax.set(xlabel="age", ylabel="mean absolute error, years")
    if shown:
        ax.legend(frameon=False)
    return figure


@dataclass(frozen=True)
class Settling:
    """How n queries went through Algorithm 1; who has settled stays where he is.

    Parameters
    ----------
    labels : array of shape (n, iterations + 1)
        The label before the first iteration and after each.
    objective : array of shape (n, iterations)
        The joint objective of the best cluster at each.

    Examples
    --------
    See :meth:`of`.
    """

    labels: np.ndarray
    objective: np.ndarray

    @classmethod
    def of(cls, why: Explanation) -> Settling:
        """From the explanation of a regression of one output, with label feedback on.

        Examples
        --------
        >>> import numpy as np
        >>> from types import SimpleNamespace
        >>> labels, history = np.array([[[30.0], [34.0], [0.0]]]), np.array([[0.3, 0.0, 0.0]])
        >>> way = Settling.of(SimpleNamespace(settled=labels, history=history, steps=np.array([2])))
        >>> way.labels.tolist(), way.objective.tolist()
        ([[30.0, 34.0, 34.0]], [[0.3, 0.3]])
        """
        labels, last = why.settled[:, :, 0], why.steps[:, None] - 1
        at = np.arange(labels.shape[1])
        return cls(
            np.take_along_axis(labels, np.minimum(at, last), axis=1),
            np.take_along_axis(why.history, np.minimum(at[:-1], last - 1), axis=1),
        )


def plot_settling(ways: Mapping[str, Settling], truth: np.ndarray) -> Any:
    """The objective, and how far the label is from where it settles and from the truth, step by step (Fig. 5).

    Examples
    --------
    >>> import numpy as np
    >>> way = Settling(np.array([[30.0, 34.0, 35.0]]), np.array([[0.31, 0.3]]))
    >>> figure = plot_settling({"DSNA": way}, np.array([36.0]))
    >>> [len(ax.lines) for ax in figure.axes]
    [1, 1, 1]
    """
    figure, (objective, moved, error) = _figure(3)
    for method, way in ways.items():
        at = np.arange(way.labels.shape[1])
        objective.plot(at[1:], way.objective.mean(axis=0), "o-", label=method)
        moved.plot(at, np.abs(way.labels - way.labels[:, -1:]).mean(axis=0), "o-", label=method)
        error.plot(at, np.abs(way.labels - truth[:, None]).mean(axis=0), "o-", label=method)
    objective.set(ylabel="objective, mean", ylim=(0, None))
    moved.set(ylabel="years from where the label settles, mean")
    error.set(ylabel="mean absolute error, years")
    for ax in (objective, moved, error):
        ax.set(xlabel="iteration")
    objective.legend(frameon=False)
    return figure
