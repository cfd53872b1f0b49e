"""Which parts of the appearance model help to tell an age? One part changed at a time, on FG-NET.

    python benchmarks/face_features.py DIR [--dsna] [--folds 5] [--seed 0]

DIR is a folder as `load_fgnet` of `dsna_vision.datasets` reads it. Folds are person-disjoint, and appearance model,
scale and machine are learned on training persons only; the kernel machines choose their parameters by folds of these.
Mean absolute errors in years: RBF kernel ridge, the same on whitened parameters, RBF support vector regression, with
--dsna also DSNARegressor (minutes more); and the seconds that an appearance model takes to fit and transform.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.svm import SVR
from threadpoolctl import threadpool_limits

from dsna import CostSensitiveForestRegressor, DSNARegressor
from dsna_vision.datasets import PictureSet, load_fgnet
from dsna_vision.features import AAM

VARIANTS: dict[str, dict[str, Any]] = {
    "default": {},
    "symmetric=False": {"symmetric": False},
    "texture='gradient'": {"texture": "gradient"},
    "texture='grey'": {"texture": "grey"},
    "shape_weight=0": {"shape_weight": 0.0},
    "shape_weight=0.4": {"shape_weight": 0.4},
    "shape_weight=0.8": {"shape_weight": 0.8},
    "grey_weight=0.6": {"grey_weight": 0.6},
    "softness=0.25": {"softness": 0.25},
    "softness=1": {"softness": 1.0},
    "radius=20": {"radius": 20},
    "radius=25": {"radius": 25},
    "radius=40": {"radius": 40},
    "n_components=0.8": {"n_components": 0.8},
    "n_components=0.85": {"n_components": 0.85},
    "n_components=0.95": {"n_components": 0.95},
}
WIDTHS = np.array([0.1, 0.2, 0.4, 0.8, 1.6])


def searched(model: Any, grid: dict[str, Any], X: np.ndarray, y: np.ndarray, person: np.ndarray) -> Any:
    """A kernel machine with parameters of least absolute error on folds of the training persons."""
    # gamma in units of the mean squared distance between rows, which is twice the total variance.
    gamma = WIDTHS / (2 * X.var(axis=0).sum())
    folds = GroupKFold(4)
    search = GridSearchCV(model, {"gamma": gamma, **grid}, cv=folds, scoring="neg_mean_absolute_error")
    return search.fit(X, y, groups=person)


def predictions(
    X: np.ndarray, y: np.ndarray, person: np.ndarray, new: np.ndarray, dsna: bool, seed: int
) -> dict[str, np.ndarray]:
    """What each method says of new rows."""
    middle = y.mean()
    ridge = {"alpha": [0.01, 0.03, 0.1]}
    spread = X.std(axis=0)
    answers = {
        "kernel ridge": searched(KernelRidge(kernel="rbf"), ridge, X, y - middle, person).predict(new) + middle,
        "whitened": searched(KernelRidge(kernel="rbf"), ridge, X / spread, y - middle, person).predict(new / spread)
        + middle,
        "SVR": searched(SVR(epsilon=1.0), {"C": [30.0, 100.0]}, X, y, person).predict(new),
    }
    if dsna:
        # Every parameter says a little, and their relative scale carries meaning.
        forest = CostSensitiveForestRegressor(40, max_features=None, metric_rounds=2)
        answers["DSNA"] = (
            DSNARegressor(forest, scaling="global", random_state=seed).fit(X, y, groups=person).predict(new)
        )
    return answers


def measure(pictures: PictureSet, parameters: dict[str, Any], folds: int, seed: int, dsna: bool) -> dict[str, float]:
    """Errors of all methods on the parameters of one variant, their number, and seconds per fold."""
    model = AAM(**parameters)
    faces = pictures.faces(model.radius)
    errors: dict[str, list[np.ndarray]] = {}
    seconds, columns = [], []
    split = GroupKFold(folds, shuffle=True, random_state=seed)
    for train, test in split.split(faces, groups=pictures.groups):
        started = time.perf_counter()
        X = model.fit_transform([faces[i] for i in train])
        new = model.transform([faces[i] for i in test])
        seconds.append(time.perf_counter() - started)
        columns.append(X.shape[1])
        y, person = pictures.labels[train], pictures.groups[train]
        for name, answer in predictions(X, y, person, new, dsna, seed).items():
            errors.setdefault(name, []).append(np.abs(answer - pictures.labels[test]))
    means = {name: float(np.concatenate(parts).mean()) for name, parts in errors.items()}
    return {"parameters": float(np.mean(columns)), **means, "seconds": float(np.median(seconds))}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="DIR", help="FG-NET: images/ and points/")
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0, help="of the folds and of DSNARegressor")
    parser.add_argument("--dsna", action="store_true", help="DSNARegressor too")
    parser.add_argument("--only", nargs="+", choices=VARIANTS, metavar="NAME", help=f"some of: {', '.join(VARIANTS)}")
    options = parser.parse_args()
    pictures = load_fgnet(options.folder)
    print(pictures, *pictures.problems, sep="\n")
    for number, variant in enumerate(options.only or VARIANTS):
        with threadpool_limits(1):
            row = measure(pictures, VARIANTS[variant], options.folds, options.seed, options.dsna)
        if not number:
            print(f"\n| appearance model | {' | '.join(row)} |\n|---|{'---|' * len(row)}")
        print(f"| {variant} | {' | '.join(f'{v:.0f}' if k == 'parameters' else f'{v:.2f}' for k, v in row.items())} |")


if __name__ == "__main__":
    main()
