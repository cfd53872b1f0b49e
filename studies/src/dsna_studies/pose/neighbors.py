"""Heads approximated by other heads; these figures show persons and must not be published."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dsna import DSNARegressor
from dsna_vision.datasets import PictureSet

from ..pictures.splits import Split

_N_NEIGHBORS = 7


def rare_and_common(labels: np.ndarray) -> list[int]:
    """Choose rows to show: extreme pitch angles, extreme yaw angles at level pitch, and a frontal head.

    Examples
    --------
    >>> import numpy as np
    >>> rare_and_common(np.array([[0.0, 90.0], [0.0, 0.0], [-90.0, 0.0]]))
    [2, 0, 1]
    """
    poses = ((-90, 0), (90, 0), (0, -90), (0, 90), (0, 0))
    rows_of_poses = [np.flatnonzero((labels == pose).all(axis=1)) for pose in poses]
    return [int(rows[0]) for rows in rows_of_poses if len(rows)]


def plot_neighbors(
    model: DSNARegressor, heads: PictureSet, split: Split, test: np.ndarray, queries: Sequence[int]
) -> Any:
    """Plot queries with their predictions by DSNA and the forest, and neighbours of largest coefficients (Fig. 7).

    Parameters
    ----------
    model : DSNARegressor
        Fitted on the training rows of the split.
    heads : PictureSet
    split : Split
    test : array of shape (n_test, n_features)
    queries : sequence of int
        Indices of test rows.

    Returns
    -------
    matplotlib Figure

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from PIL import Image
    >>> from dsna.forest import CostSensitiveForestRegressor
    >>> rng = np.random.default_rng(0)
    >>> X, poses = rng.normal(size=(42, 3)), rng.choice([-15.0, 0.0, 15.0], (42, 2))
    >>> path = Path(tempfile.mkdtemp()) / "head.jpg"
    >>> Image.fromarray(np.zeros((72, 96), dtype=np.uint8)).save(path)
    >>> heads = PictureSet([path] * 42, poses, boxes=np.tile([48.0, 36.0, 40.0, 40.0], (42, 1)))
    >>> split = Split("folds", "0", np.arange(40), np.arange(40, 42))
    >>> model = DSNARegressor(CostSensitiveForestRegressor(5), random_state=0).fit(X[:40], poses[:40])
    >>> len(plot_neighbors(model, heads, split, X[40:], [0, 1]).axes)
    16
    """
    from matplotlib.figure import Figure

    rows = test[list(queries)]
    explanation, predicted, forest = model.explain(rows), model.predict(rows), model.predict_forest(rows)
    figure = Figure(figsize=(1.5 * (_N_NEIGHBORS + 1), 2.1 * len(queries)), layout="constrained")
    panels = figure.subplots(len(queries), _N_NEIGHBORS + 1, squeeze=False)
    for ax in panels.ravel():
        ax.axis("off")
    for k, query in enumerate(queries):
        coefficient, neighbor_rows = (
            explanation.coefficient[k, : explanation.size[k]],
            explanation.rows[k, : explanation.size[k]],
        )
        order = np.argsort(-np.abs(coefficient), kind="stable")[:_N_NEIGHBORS]
        picture_numbers = [int(split.test[query]), *(int(split.train[neighbor_rows[i]]) for i in order)]
        answer = f"DSNA {_pose(predicted[k])}\nforest {_pose(forest[k])}"
        titles = [f"{_pose(heads.labels[picture_numbers[0]])}\n{answer}"]
        titles += [
            f"{_pose(heads.labels[row])}\n{coefficient[i]:+.2f}"
            for row, i in zip(picture_numbers[1:], order, strict=True)
        ]
        for ax, row, title in zip(panels[k], picture_numbers, titles, strict=False):
            ax.imshow(heads.crop(row), cmap="gray")
            ax.set_title(title, fontsize=7)
    figure.suptitle("query and neighbours: pitch, yaw; coefficients", fontsize=9)
    return figure


def _pose(label: np.ndarray) -> str:
    return f"{label[0]:+.0f}, {label[1]:+.0f}"
