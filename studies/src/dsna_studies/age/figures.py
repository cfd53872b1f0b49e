"""Plots of ages, errors and convergence; they show no faces."""

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
    """Plot the number of pictures of each age, in a panel for each collection (the paper's Fig. 1).

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
    """Plot faces in the plane, by principal components and by Fisher's discriminants of decades (Fig. 2).

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
        # With two decades there is only one discriminant.
        dots = ax.scatter(plane[:, 0], plane[:, -1], 8, c=ages, cmap="viridis")
        ax.set(title=name, xticks=[], yticks=[])
    figure.colorbar(dots, ax=list(panels), label="age")
    return figure


def plot_decades(table: pd.DataFrame, methods: Sequence[str], ages: np.ndarray) -> Any:
    """Plot errors by decade of age (Fig. 8).

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> table = pd.DataFrame({"0-9": [2.0], "10-19": [3.0]}, index=["RF"])
    >>> len(plot_decades(table, ["RF"], np.array([5, 15])).axes)
    1
    """
    figure, (ax,) = _figure(1, width=7)
    shown_methods = [method for method in methods if method in table.index]
    decades = [name for name in decade_names(ages) if name in table]
    positions, width = np.arange(len(decades)), 0.8 / max(len(shown_methods), 1)
    for number, method in enumerate(shown_methods):
        ax.bar(positions + (number + 0.5) * width - 0.4, table.loc[method, decades], width, label=method)
    ax.set_xticks(positions, decades)
    ax.set(xlabel="age", ylabel="mean absolute error, years")
    if shown_methods:
        ax.legend(frameon=False)
    return figure


@dataclass(frozen=True)
class Convergence:
    """Progress of n queries in Algorithm 1; converged queries keep their values.

    Parameters
    ----------
    labels : array of shape (n, iterations + 1)
        The label before the first iteration and after each.
    objective : array of shape (n, iterations)
        The joint objective of the best cluster at each iteration.

    Examples
    --------
    See :meth:`of`.
    """

    labels: np.ndarray
    objective: np.ndarray

    @classmethod
    def of(cls, explanation: Explanation) -> Convergence:
        """Create from the explanation of a single-output regression with label feedback.

        Examples
        --------
        >>> import numpy as np
        >>> from types import SimpleNamespace
        >>> labels, history = np.array([[[30.0], [34.0], [0.0]]]), np.array([[0.3, 0.0, 0.0]])
        >>> convergence = Convergence.of(SimpleNamespace(settled=labels, history=history, steps=np.array([2])))
        >>> convergence.labels.tolist(), convergence.objective.tolist()
        ([[30.0, 34.0, 34.0]], [[0.3, 0.3]])
        """
        labels, last_step = explanation.settled[:, :, 0], explanation.steps[:, None] - 1
        steps = np.arange(labels.shape[1])
        return cls(
            np.take_along_axis(labels, np.minimum(steps, last_step), axis=1),
            np.take_along_axis(explanation.history, np.minimum(steps[:-1], last_step - 1), axis=1),
        )


def plot_convergence(convergences: Mapping[str, Convergence], truth: np.ndarray) -> Any:
    """Plot the objective and the distance of labels from their final value and from the truth, by iteration (Fig. 5).

    Examples
    --------
    >>> import numpy as np
    >>> convergence = Convergence(np.array([[30.0, 34.0, 35.0]]), np.array([[0.31, 0.3]]))
    >>> figure = plot_convergence({"DSNA": convergence}, np.array([36.0]))
    >>> [len(ax.lines) for ax in figure.axes]
    [1, 1, 1]
    """
    figure, (objective_axes, distance_axes, error_axes) = _figure(3)
    for method, convergence in convergences.items():
        steps = np.arange(convergence.labels.shape[1])
        objective_axes.plot(steps[1:], convergence.objective.mean(axis=0), "o-", label=method)
        distance_axes.plot(
            steps, np.abs(convergence.labels - convergence.labels[:, -1:]).mean(axis=0), "o-", label=method
        )
        error_axes.plot(steps, np.abs(convergence.labels - truth[:, None]).mean(axis=0), "o-", label=method)
    objective_axes.set(ylabel="objective, mean", ylim=(0, None))
    distance_axes.set(ylabel="mean distance from final label, years")
    error_axes.set(ylabel="mean absolute error, years")
    for ax in (objective_axes, distance_axes, error_axes):
        ax.set(xlabel="iteration")
    objective_axes.legend(frameon=False)
    return figure
