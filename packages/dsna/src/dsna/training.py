"""What a DSNA estimator learns from: its training rows, and the same rows as queries to what has not seen them."""

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
_SHOWN = 5  # classes that a warning lists


class Training(NamedTuple):
    """The training rows of a DSNA estimator, checked and encoded."""

    X: np.ndarray  # (n, d) as given
    label: np.ndarray  # (n, q) targets, or class numbers in one column
    values: np.ndarray  # (n_codes, k) what leaves average, of each class or distinct target
    targets: Targets
    weight: np.ndarray
    groups: np.ndarray | None

    @property
    def group_codes(self) -> np.ndarray:
        """(n,) number of each row's group, or of the row itself where there are no groups."""
        if self.groups is None:
            return np.arange(len(self.X))
        return np.asarray(np.unique(self.groups, return_inverse=True)[1].ravel())

    @property
    def strata(self) -> np.ndarray:
        """Class, or one of 20 target ranges, of each row."""
        rank = self.targets.rank
        if self.targets.n_classes:
            return rank
        width = np.ptp(rank)
        return np.asarray(np.floor(20 * (rank - rank.min()) / (width if width > 0 else 1.0) + _TIE))

    def folds(self, rng: np.random.RandomState) -> np.ndarray:
        """(n,) held-out fold of each row; where groups are copies of one row each, these are dealt as single rows."""
        if self.groups is None:
            return deal_folds(self.targets.rank, None, rng, self.weight)
        first, member = np.unique(self.group_codes, return_index=True, return_inverse=True)[1:]
        later = np.flatnonzero(first[member] != np.arange(len(member)))
        if len(first) > 1 and len(later) and self._same(later, first[member[later]]):
            weight = np.bincount(member, weights=self.weight)
            return deal_folds(self.targets.rank[first], None, rng, weight)[member]
        return deal_folds(self.targets.rank, self.groups, rng, self.weight)

    def _same(self, rows: np.ndarray, others: np.ndarray) -> bool:
        """Whether rows are equal to others, in features and in targets."""
        return np.array_equal(self.label[rows], self.label[others]) and np.array_equal(self.X[rows], self.X[others])

    def warn_of_scores(self, classes: np.ndarray | None = None) -> None:
        """Warn where out-of-bag scores mislead: of copies of rows that are not held out together, and of few rows."""
        if classes is not None:
            self._warn_of_few_rows(classes)
        self._warn_of_copies()

    def _warn_of_few_rows(self, classes: np.ndarray) -> None:
        kept = self.weight > 0
        code = self.targets.rank[kept].astype(np.int64)
        if self.groups is not None:
            code = np.unique(np.column_stack([code, self.groups[kept]]), axis=0)[:, 0]
        counts = np.bincount(code, minlength=len(classes)).tolist()
        few = [f"{name} ({n})" for name, n in zip(classes.tolist(), counts, strict=True) if 0 < n < FEWEST]
        if few:
            shown = ", ".join(few[:_SHOWN]) + (f" and {len(few) - _SHOWN} more" if len(few) > _SHOWN else "")
            unit = "rows" if self.groups is None else "groups of rows"
            warn_caller(
                f"There are fewer than {FEWEST} {unit} of {shown}: out-of-bag scores, such as balanced accuracy, say "
                "little of how well new rows of so rare a class are found. More of them are needed.",
                DSNAWarning,
            )

    def _warn_of_copies(self) -> None:
        kept = slice(None) if np.all(self.weight > 0) else np.flatnonzero(self.weight > 0)
        X, label, group = self.X[kept], self.label[kept], self.group_codes[kept]
        equal = EqualRows.of(X, label)
        if np.array_equal(group, group[equal.first[equal.member]]):
            return
        strata = self.targets.rank[kept] if self.targets.n_classes else np.zeros(len(X))
        if not equal.are_chance(strata, X, label):
            warn_caller(
                f"{equal.n_rows} of {len(X)} rows are equal to others in all features and in the target, which "
                "chance does not explain: out of bag they are predicted from their copies, so that scores are too "
                "good. Leave the copies out, or pass groups=dsna.model_selection.equal_rows(X, y) to fit, which holds "
                "them out together.",
                DSNAWarning,
            )


class AnsweredFold(NamedTuple):
    """Rows of one held-out fold, approximated by rows of the others."""

    rows: np.ndarray  # (n,) the rows
    near: Neighborhoods  # their neighbours, by the numbers of the training rows
    alpha: np.ndarray  # (n, M) coefficients


class OutOfBag(NamedTuple):
    """Training rows as queries to everything that has not seen them."""

    folds: list[AnsweredFold]
    rows: np.ndarray  # (n,) the rows, fold by fold
    weight: np.ndarray  # (n,) how many training rows each represents
