"""Growing a forest: one job for each tree, one round of trees after another."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._utils.errors import DSNAError
from .._utils.parallel import chunks
from .._utils.parameters import is_number
from .._utils.sums import rowwise_product
from .held_out import PAIRS, left_out_folds
from .learned_metric import metric_map
from .scaling import Scaling
from .targets import Targets, cost_code
from .trees import GrownTree, Job, Leaves, Trees, grow_trees, in_input_units

_SEEDS = np.iinfo(np.int32).max
_AT_ONCE = 4096
SPLITS = ("both", "oblique", "axis")
_ROWS_PER_FEATURE = 4  # that a linear split needs where max_features="auto": of fewer rows it would learn the noise


def draw_sizes(max_features: Any, n_draws: int, n_features: int) -> np.ndarray:
    """Number of features of each random subset that a node tries."""
    root = max(1, int(np.ceil(np.sqrt(n_features))))
    if isinstance(max_features, str):
        if max_features == "auto":
            # Single features, pairs and larger sets compete; the gain decides.
            sizes = np.array((1, root, 2, 1, root, 2, 1, root, 2, root))[np.arange(n_draws) % 10]
            return np.sort(np.minimum(sizes, n_features))
        if max_features != "sqrt":
            raise DSNAError(f"max_features={max_features!r} is unknown: use 'auto', 'sqrt', a number or None.")
        size = root
    elif max_features is None:
        size = n_features
    elif is_number(max_features) and max_features == int(max_features) and max_features > 1:
        size = min(int(max_features), n_features)
    elif isinstance(max_features, int | np.integer) and not isinstance(max_features, bool) and max_features == 1:
        size = 1
    elif is_number(max_features) and 0.0 < max_features <= 1.0:
        size = max(1, round(max_features * n_features))
    else:
        raise DSNAError(f"max_features={max_features!r} must be 'auto', 'sqrt', None, a whole number or a share.")
    return np.full(1 if size == n_features else n_draws, size, dtype=np.int64)


class TrainingRows(NamedTuple):
    """What a forest is grown on; n rows."""

    X: np.ndarray  # (n, d) as given
    scaling: Scaling  # to the common scale
    targets: Targets
    weight: np.ndarray  # (n,) sample weights
    fold: np.ndarray  # (n,) held-out fold
    leaves: Leaves  # what leaves hold of the rows

    def scaled(self, some: Any = slice(None)) -> np.ndarray:
        """Some rows on the common scale, or all."""
        return self.scaling.transform(self.X[some])

    def placed(self, space: np.ndarray | None, some: np.ndarray | None = None) -> np.ndarray:
        """Some rows, or all, on the common scale, then mapped into a space (d, D); None is the identity."""
        if space is None:
            return self.scaled(slice(None) if some is None else some)
        n = len(self.X) if some is None else len(some)
        placed = np.empty((n, space.shape[1]))
        for part in chunks(n, _AT_ONCE):
            placed[part] = rowwise_product(self.scaled(part if some is None else some[part]), space)
        return placed


def _columns(rows: TrainingRows, space: np.ndarray | None, order: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(D, n) columns of the rows in a space, and their shares, weights and gains (3, n); rows in the order given.

    Only a few rows are copied more than once. All is one block of memory, which goes back to the system as a whole. The
    shares of classes, which nothing reads, are not filled and take no memory.
    """
    D = rows.X.shape[1] if space is None else space.shape[1]
    columns = np.empty((D + 3, len(order)))
    of_rows = zip(columns[D:], (rows.targets.share, rows.weight, rows.targets.gain), strict=True)
    filled = [(row, values) for row, values in of_rows if len(values)]
    for part in chunks(len(order), _AT_ONCE):
        some = rows.scaled(order[part])
        columns[:D, part] = (some if space is None else some @ space).T
        for row, values in filled:
            row[part] = values[order[part]]
    return columns[:D], columns[D:]


def leaf_rows(min_samples_leaf: int | str, rarest: int) -> int:
    """Rows that each side of a split must hold; "auto" is 2 to 4, as the rarest class has (0 in regression)."""
    return int(np.clip(rarest, 2, 4)) if isinstance(min_samples_leaf, str) else int(min_samples_leaf)


def grow_forest(
    rows_of: TrainingRows, setting: Any, rng: np.random.RandomState, verbose: int = 0
) -> tuple[Trees, np.ndarray]:
    """Grow the trees of a forest; returns them and the means of their leaves.

    Parameters
    ----------
    rows_of : TrainingRows
    setting : CostSensitiveForestClassifier or CostSensitiveForestRegressor
        Parameters of growth; its ``scaling`` and ``random_state`` are not used.
    """
    targets, weight, fold = rows_of.targets, rows_of.weight, rows_of.fold
    left_out = left_out_folds(setting.n_estimators, fold, weight)
    cost, cost_table = cost_code(setting.cost)
    growth = {
        "n_classes": targets.n_classes,
        "n_codes": int(targets.code.max()) + 1,
        "max_depth": int(setting.max_depth) if setting.max_depth is not None else 10_000,
        "min_leaf": leaf_rows(setting.min_samples_leaf, targets.rarest),
        "max_split": int(setting.max_split_samples),
        "group_features": int(getattr(setting, "split_groups", "targets") == "features"),
        "free_cut": int(setting.threshold == "gain"),
        "cost": cost,
        "density": targets.density,
        "axis": int(setting.splits != "oblique"),
        "rows_per_feature": _ROWS_PER_FEATURE if (setting.splits, setting.max_features) == ("both", "auto") else 0,
        "C": float(setting.C),
        "epsilon": float(getattr(setting, "svr_epsilon", 0.0)),
    }
    # Rows in the order in which trees walk them: by class or target, those of one at random. Every node of a tree then
    # reads its part of a column from front to back.
    order = np.lexsort((rng.rand(len(fold)), targets.rank))
    order = order[weight[order] > 0].astype(np.int32)
    code = targets.code[order]
    # Classes have no targets: zeros that nothing reads take no memory.
    label = targets.label[order] if not targets.n_classes else np.zeros((len(order), 1))
    of_order = fold[order].astype(np.int8)
    draws = [int(rng.randint(_SEEDS)) if setting.bootstrap else None for _ in left_out]
    jobs = [Job(of_order, left_out[t], draw, int(rng.randint(_SEEDS))) for t, draw in enumerate(draws)]

    def grow(space: np.ndarray | None, some: np.ndarray, common_scale: bool) -> list[GrownTree]:
        columns, (share, mass, gain) = _columns(rows_of, space, order)
        leaves = rows_of.leaves.ordered(order, {id(targets.code): code, id(weight): mass})
        max_features = 1 if setting.splits == "axis" else setting.max_features
        sizes = draw_sizes(max_features, setting.n_draws, len(columns))
        how = {**growth, "common_scale": int(common_scale)}
        table = (columns, label, code, share, mass, gain, cost_table)
        grown = grow_trees(table, leaves, how, sizes, [jobs[t] for t in some], setting.n_jobs, verbose)
        for t, (*arrays, rows, means) in enumerate(grown):
            grown[t] = (*arrays, order[rows], means)
        return grown

    everyone = np.arange(len(left_out))
    trees, leaf_value = Trees.join(grow(None, everyone, False), left_out)
    for _ in range(1, setting.metric_rounds):
        # The next forest grows in the metric of this one. Trees that leave out the same folds share a metric, which
        # is made by trees that leave them out too; otherwise out-of-bag rows would have influenced it.
        grown: list[GrownTree] = [()] * len(left_out)
        for pair in range(min(len(PAIRS), len(left_out))):
            some = everyone[pair :: len(PAIRS)]
            space = metric_map(trees, np.isin(everyone, some), rows_of.X.shape[1])
            again = grow(space, some, True)
            again = again if space is None else in_input_units(again, space)
            for t, tree in zip(some, again, strict=True):
                grown[t] = tree
        trees, leaf_value = Trees.join(grown, left_out)
    return trees, leaf_value
