"""Growth of a forest: one job for each tree, one round of trees after another."""

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
from .trees import GrownTree, GrowthJob, Leaves, Trees, grow_trees, in_input_units

_SEEDS = np.iinfo(np.int32).max
_CHUNK_ROWS = 4096
SPLITS = ("both", "oblique", "axis")
_ROWS_PER_FEATURE = 4  # minimum for a linear split with max_features="auto"; with fewer rows it would fit noise


def draw_sizes(max_features: Any, n_draws: int, n_features: int) -> np.ndarray:
    """Return the number of features of each random subset that a node tries."""
    root = max(1, int(np.ceil(np.sqrt(n_features))))
    if isinstance(max_features, str):
        if max_features == "auto":
            # Single features, pairs and larger subsets compete by gain.
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
    """Training rows of a forest; n rows."""

    X: np.ndarray  # (n, d) unscaled inputs
    scaling: Scaling  # to the common scale
    targets: Targets
    weight: np.ndarray  # (n,) sample weights
    fold: np.ndarray  # (n,) held-out fold
    leaves: Leaves  # contents of the leaves

    def scaled(self, rows: Any = slice(None)) -> np.ndarray:
        """Return given rows, or all, on the common scale."""
        return self.scaling.transform(self.X[rows])

    def mapped(self, space: np.ndarray | None, rows: np.ndarray | None = None) -> np.ndarray:
        """Return given rows, or all, on the common scale and mapped by ``space`` (d, D); None is the identity."""
        if space is None:
            return self.scaled(slice(None) if rows is None else rows)
        n_rows = len(self.X) if rows is None else len(rows)
        mapped = np.empty((n_rows, space.shape[1]))
        for chunk in chunks(n_rows, _CHUNK_ROWS):
            mapped[chunk] = rowwise_product(self.scaled(chunk if rows is None else rows[chunk]), space)
        return mapped


def _columns(rows: TrainingRows, space: np.ndarray | None, order: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(D, n) columns of the mapped rows in a given order, and their shares, weights and gains (3, n).

    Rows are converted in chunks to limit temporary copies, and the result is one block of memory, which is returned to
    the system as a whole. The shares of classes are never read, so they are not filled and take no memory.
    """
    n_columns = rows.X.shape[1] if space is None else space.shape[1]
    columns = np.empty((n_columns + 3, len(order)))
    table_rows = zip(columns[n_columns:], (rows.targets.share, rows.weight, rows.targets.gain), strict=True)
    filled_rows = [(table_row, values) for table_row, values in table_rows if len(values)]
    for chunk in chunks(len(order), _CHUNK_ROWS):
        scaled = rows.scaled(order[chunk])
        columns[:n_columns, chunk] = (scaled if space is None else scaled @ space).T
        for table_row, values in filled_rows:
            table_row[chunk] = values[order[chunk]]
    return columns[:n_columns], columns[n_columns:]


def min_leaf_rows(min_samples_leaf: int | str, rarest: int) -> int:
    """Minimum number of rows on each side of a split; "auto": the size of the rarest class, between 2 and 4."""
    return int(np.clip(rarest, 2, 4)) if isinstance(min_samples_leaf, str) else int(min_samples_leaf)


def grow_forest(
    training: TrainingRows, forest: Any, rng: np.random.RandomState, verbose: int = 0
) -> tuple[Trees, np.ndarray]:
    """Grow the trees of a forest; return them and the means of their leaves.

    Parameters
    ----------
    training : TrainingRows
    forest : CostSensitiveForestClassifier or CostSensitiveForestRegressor
        Growth parameters; ``scaling`` and ``random_state`` are not used.
    """
    targets, weight, fold = training.targets, training.weight, training.fold
    left_out_mask = left_out_folds(forest.n_estimators, fold, weight)
    cost, cost_table = cost_code(forest.cost)
    growth = {
        "n_classes": targets.n_classes,
        "n_codes": int(targets.code.max()) + 1,
        "max_depth": int(forest.max_depth) if forest.max_depth is not None else 10_000,
        "min_leaf": min_leaf_rows(forest.min_samples_leaf, targets.rarest),
        "max_split": int(forest.max_split_samples),
        "group_features": int(getattr(forest, "split_groups", "targets") == "features"),
        "free_cut": int(forest.threshold == "gain"),
        "cost": cost,
        "density": targets.density,
        "axis": int(forest.splits != "oblique"),
        "rows_per_feature": _ROWS_PER_FEATURE if (forest.splits, forest.max_features) == ("both", "auto") else 0,
        "C": float(forest.C),
        "epsilon": float(getattr(forest, "svr_epsilon", 0.0)),
    }
    # Rows sorted by class or target, and at random within each, so that the nodes of a tree read columns sequentially.
    order = np.lexsort((rng.rand(len(fold)), targets.rank))
    order = order[weight[order] > 0].astype(np.int32)
    code = targets.code[order]
    # Classes have no targets: the zeros are never read and take no memory.
    label = targets.label[order] if not targets.n_classes else np.zeros((len(order), 1))
    ordered_fold = fold[order].astype(np.int8)
    bootstrap_seeds = [int(rng.randint(_SEEDS)) if forest.bootstrap else None for _ in left_out_mask]
    jobs = [
        GrowthJob(ordered_fold, left_out_mask[tree_number], bootstrap_seed, int(rng.randint(_SEEDS)))
        for tree_number, bootstrap_seed in enumerate(bootstrap_seeds)
    ]

    def grow(space: np.ndarray | None, tree_numbers: np.ndarray, common_scale: bool) -> list[GrownTree]:
        columns, (share, mass, gain) = _columns(training, space, order)
        leaves = training.leaves.ordered(order, {id(targets.code): code, id(weight): mass})
        max_features = 1 if forest.splits == "axis" else forest.max_features
        subset_sizes = draw_sizes(max_features, forest.n_draws, len(columns))
        settings = {**growth, "common_scale": int(common_scale)}
        table = (columns, label, code, share, mass, gain, cost_table)
        tree_jobs = [jobs[tree_number] for tree_number in tree_numbers]
        grown = grow_trees(table, leaves, settings, subset_sizes, tree_jobs, forest.n_jobs, verbose)
        return [(*arrays, order[rows], means) for *arrays, rows, means in grown]

    all_trees = np.arange(len(left_out_mask))
    trees, leaf_value = Trees.join(grow(None, all_trees, False), left_out_mask)
    for _ in range(1, forest.metric_rounds):
        # The next forest grows in the metric of this one. Trees that leave out the same folds share a metric, learned
        # from trees that leave them out, too; otherwise out-of-bag rows would have influenced it.
        grown: list[GrownTree] = [()] * len(left_out_mask)
        for pair in range(min(len(PAIRS), len(left_out_mask))):
            tree_numbers = all_trees[pair :: len(PAIRS)]
            space = metric_map(trees, np.isin(all_trees, tree_numbers), training.X.shape[1])
            pair_trees = grow(space, tree_numbers, True)
            pair_trees = pair_trees if space is None else in_input_units(pair_trees, space)
            for tree_number, tree in zip(tree_numbers, pair_trees, strict=True):
                grown[tree_number] = tree
        trees, leaf_value = Trees.join(grown, left_out_mask)
    return trees, leaf_value
