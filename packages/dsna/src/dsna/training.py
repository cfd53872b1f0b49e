"""Training rows of a DSNA estimator, and their out-of-bag neighbourhoods."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ._utils.errors import DSNAWarning, warn_caller
from .forest.held_out import deal_folds
from .forest.targets import Targets
from .inspection.figures import FEWEST
from .model_selection.copies import EqualRows
from .neighbors.neighborhoods import Neighborhoods

_TIE = 1e-9
_LISTED_CLASSES = 5  # classes that a warning lists


class Training(NamedTuple):
    """Validated and encoded training rows of a DSNA estimator."""

    X: np.ndarray  # (n, d)
    label: np.ndarray  # (n, q) targets, or class numbers in one column
    values: np.ndarray  # (n_codes, k) values of each class or distinct target, which leaves average
    targets: Targets
    weight: np.ndarray
    groups: np.ndarray | None

    @property
    def group_codes(self) -> np.ndarray:
        """(n,) number of each row's group; without groups, of the row itself."""
        if self.groups is None:
            return np.arange(len(self.X))
        return np.asarray(np.unique(self.groups, return_inverse=True)[1].ravel())

    @property
    def strata(self) -> np.ndarray:
        """(n,) class, or one of 20 target ranges, of each row."""
        rank = self.targets.rank
        if self.targets.n_classes:
            return rank
        width = np.ptp(rank)
        return np.asarray(np.floor(20 * (rank - rank.min()) / (width if width > 0 else 1.0) + _TIE))

    def folds(self, rng: np.random.RandomState) -> np.ndarray:
        """(n,) held-out fold of each row; groups of copies of a single row are assigned like single rows."""
        if self.groups is None:
            return deal_folds(self.targets.rank, None, rng, self.weight)
        first, member = np.unique(self.group_codes, return_index=True, return_inverse=True)[1:]
        copies = np.flatnonzero(first[member] != np.arange(len(member)))
        if len(first) > 1 and len(copies) and self._are_equal(copies, first[member[copies]]):
            weight = np.bincount(member, weights=self.weight)
            return deal_folds(self.targets.rank[first], None, rng, weight)[member]
        return deal_folds(self.targets.rank, self.groups, rng, self.weight)

    def _are_equal(self, rows: np.ndarray, other_rows: np.ndarray) -> bool:
        """Whether rows are equal to other rows in features and targets."""
        return np.array_equal(self.label[rows], self.label[other_rows]) and np.array_equal(
            self.X[rows], self.X[other_rows]
        )

    def warn_of_scores(self, classes: np.ndarray | None = None) -> None:
        """Warn about misleading out-of-bag scores: copies of rows in different folds, and classes with few rows."""
        if classes is not None:
            self._warn_of_few_rows(classes)
        self._warn_of_copies()

    def _warn_of_few_rows(self, classes: np.ndarray) -> None:
        positive = self.weight > 0
        code = self.targets.rank[positive].astype(np.int64)
        if self.groups is not None:
            code = np.unique(np.column_stack([code, self.groups[positive]]), axis=0)[:, 0]
        counts = np.bincount(code, minlength=len(classes)).tolist()
        rare_classes = [f"{name} ({n})" for name, n in zip(classes.tolist(), counts, strict=True) if 0 < n < FEWEST]
        if rare_classes:
            class_list = ", ".join(rare_classes[:_LISTED_CLASSES]) + (
                f" and {len(rare_classes) - _LISTED_CLASSES} more" if len(rare_classes) > _LISTED_CLASSES else ""
            )
            unit = "rows" if self.groups is None else "groups of rows"
            warn_caller(
                f"There are fewer than {FEWEST} {unit} of {class_list}: out-of-bag scores, such as balanced accuracy, "
                "are unreliable for so rare a class. More of its rows are needed.",
                DSNAWarning,
            )

    def _warn_of_copies(self) -> None:
        positive = slice(None) if np.all(self.weight > 0) else np.flatnonzero(self.weight > 0)
        X, label, group = self.X[positive], self.label[positive], self.group_codes[positive]
        equal = EqualRows.of(X, label)
        if np.array_equal(group, group[equal.first[equal.member]]):
            return
        strata = self.targets.rank[positive] if self.targets.n_classes else np.zeros(len(X))
        if not equal.are_chance(strata, X, label):
            warn_caller(
                f"{equal.n_rows} of {len(X)} rows are equal to others in all features and in the target, which "
                "chance does not explain: out of bag they are predicted from their copies, so that scores are too "
                "good. Leave the copies out, or pass groups=dsna.model_selection.equal_rows(X, y) to fit, which holds "
                "them out together.",
                DSNAWarning,
            )


class AnsweredFold(NamedTuple):
    """Rows of one held-out fold, approximated by rows of the other folds."""

    rows: np.ndarray  # (n,) the rows
    near: Neighborhoods  # their neighbours, as numbers of training rows
    alpha: np.ndarray  # (n, M) coefficients


class OutOfBag(NamedTuple):
    """Out-of-bag neighbours and coefficients of training rows."""

    folds: list[AnsweredFold]
    rows: np.ndarray  # (n,) numbers of the rows, fold by fold
    weight: np.ndarray  # (n,) number of training rows that each represents
