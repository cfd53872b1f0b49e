"""Faces approximated by other faces; these figures show persons and must not be published."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from dsna import DSNARegressor
from dsna_vision.features import AAM

from ..pictures.shared_fits import FULL, as_affine_hull
from ..pictures.splits import Split
from .figures import Convergence
from .rows import FaceRows

_NEIGHBOURS = 6
_ITERATIONS = 10


@dataclass(frozen=True)
class FittedSplit:
    """A model fitted on one split, with the data needed to show faces.

    Parameters
    ----------
    split : Split
    ages : array of shape (n,)
        Ages of all faces.
    aam : AAM
    train, test : arrays, rows of training and test faces
    model : DSNARegressor

    Examples
    --------
    See :func:`fit_split`.
    """

    split: Split
    ages: np.ndarray
    aam: AAM
    train: np.ndarray
    test: np.ndarray
    model: DSNARegressor

    @property
    def truth(self) -> np.ndarray:
        """Ages of the test faces."""
        return np.asarray(self.ages[self.split.test])


def fit_split(rows: FaceRows, split: Split, ages: np.ndarray, groups: np.ndarray, model: DSNARegressor) -> FittedSplit:
    """Fit an appearance model and DSNA to the training faces of a split.

    Parameters
    ----------
    rows : FaceRows
    split : Split
    ages, groups : arrays of shape (n,)
    model : DSNARegressor
        Not fitted.

    Returns
    -------
    FittedSplit

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from dsna.forest import CostSensitiveForestRegressor
    >>> from dsna_studies.age.protocols import leave_one_person_out
    >>> X, groups = np.random.default_rng(0).normal(size=(60, 2)), np.repeat(np.arange(6), 10)
    >>> rows = SimpleNamespace(model=lambda split: (None, X[split.train], X[split.test]))
    >>> ages = np.round(30 + 9 * X[:, 0])
    >>> model = DSNARegressor(CostSensitiveForestRegressor(5), random_state=0)
    >>> fitted = fit_split(rows, leave_one_person_out(groups)[0], ages, groups, model)
    >>> fitted.truth.shape
    (10,)
    """
    aam, train, test = rows.model(split)
    model.fit(train, ages[split.train], groups=groups[split.train])
    return FittedSplit(split, ages, aam, train, test, model)


def convergence(fitted: FittedSplit) -> dict[str, Convergence]:
    """Labels and objective at each iteration of Algorithm 1, for DSNA with label feedback and for the affine hull.

    Parameters
    ----------
    fitted : FittedSplit

    Returns
    -------
    mapping from methods to Convergence

    Examples
    --------
    >>> from dsna.forest import CostSensitiveForestRegressor
    >>> from dsna_studies.pictures.splits import Split
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> model = DSNARegressor(CostSensitiveForestRegressor(5), random_state=0).fit(X[:50], X[:50, 0])
    >>> split = Split("folds", "0", np.arange(50), np.arange(50, 60))
    >>> convergences = convergence(FittedSplit(split, X[:, 0], None, X[:50], X[50:], model))
    >>> {method: (run.labels.shape, run.objective.shape) for method, run in convergences.items()}
    {'CS-RF+AH': ((10, 11), (10, 10)), 'CS-RF+DSNA': ((10, 11), (10, 10))}
    """
    convergences = {}
    for name, base in (("CS-RF+AH", as_affine_hull(fitted.model)), (FULL, fitted.model)):
        longer = clone(base.approximation_).set_params(max_iter=_ITERATIONS)
        convergences[name] = Convergence.of(base.with_settings(approximation=longer).explain(fitted.test))
    return convergences


def plot_approximations(fitted: FittedSplit, rows: FaceRows, queries: Sequence[int]) -> Any:
    """Plot queries, their neighbours of largest coefficients, the approximation, and the plain mean (Fig. 3 and 7).

    Queries are indices of test faces.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from dsna.forest import CostSensitiveForestRegressor
    >>> from dsna_studies.pictures.splits import Split
    >>> from dsna_vision.features import Face
    >>> rng = np.random.default_rng(0)
    >>> grid = np.array([[x, y] for y in (20, 50, 80) for x in (20, 50, 80)])
    >>> faces = [Face(rng.uniform(0, 255, (100, 100)), grid + rng.normal(0, 3, (9, 2))) for _ in range(24)]
    >>> aam = AAM(n_components=4, radius=16)
    >>> train, ages = aam.fit_transform(faces[:20]), np.arange(24.0)
    >>> model = DSNARegressor(CostSensitiveForestRegressor(5), random_state=0).fit(train, ages[:20])
    >>> split = Split("folds", "0", np.arange(20), np.arange(20, 24))
    >>> fitted = FittedSplit(split, ages, aam, train, aam.transform(faces[20:]), model)
    >>> len(plot_approximations(fitted, SimpleNamespace(faces=faces), [0, 2]).axes)  # 6 neighbours and 3 more, twice
    18
    """
    from matplotlib.figure import Figure

    explanation = fitted.model.explain(fitted.test[list(queries)])
    forest = fitted.model.predict_forest(fitted.test[list(queries)])
    figure = Figure(figsize=(1.5 * (_NEIGHBOURS + 3), 1.9 * len(queries)), layout="constrained")
    panels = figure.subplots(len(queries), _NEIGHBOURS + 3, squeeze=False)
    for k, query in enumerate(queries):
        coefficient, neighbor_rows = (
            explanation.coefficient[k, : explanation.size[k]],
            explanation.rows[k, : explanation.size[k]],
        )
        order = np.argsort(-np.abs(coefficient), kind="stable")[:_NEIGHBOURS]
        shown_faces = [
            rows.faces[fitted.split.test[query]],
            *(rows.faces[fitted.split.train[i]] for i in neighbor_rows[order]),
        ]
        images = [
            *fitted.aam.warp(shown_faces),
            *fitted.aam.pictures(
                [
                    coefficient @ fitted.train[neighbor_rows],
                    explanation.proximity[k, : len(neighbor_rows)] @ fitted.train[neighbor_rows],
                ]
            ),
        ]
        titles = [f"query: {fitted.truth[query]:.0f} years"]
        titles += [
            f"{fitted.ages[fitted.split.train[neighbor_rows[i]]]:.0f} years\n{coefficient[i]:+.2f}" for i in order
        ]
        images[1 + len(order) : 1 + len(order)] = [np.full_like(images[0], np.nan)] * (_NEIGHBOURS - len(order))
        titles += [""] * (_NEIGHBOURS - len(order))
        titles += [f"DSNA: {explanation[k].predict()[0]:.0f}", f"mean of leaves: {forest[k]:.0f}"]
        for ax, picture, text in zip(panels[k], images, titles, strict=True):
            ax.imshow(picture, cmap="gray", vmin=0, vmax=255)
            ax.set_title(text, fontsize=8)
            ax.axis("off")
    return figure
