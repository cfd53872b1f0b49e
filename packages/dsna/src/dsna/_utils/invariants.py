"""Invariants of the attributes of a fitted model: stated by each container, checked when made, loaded and unpickled.

Kernels do not check bounds, so every array that reaches one is described here: its dtype, the lengths of its axes, the
range of its values. Every check takes time linear in the array, and none loops over nodes or rows in Python.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from .errors import DSNAError

FINITE = float(np.finfo(np.float64).max)
POSITIVE = 5e-324
LARGEST = 1e100  # of values whose squares are summed
STEEPEST = 1e150  # of factors of such values


class InvariantError(ValueError):
    """An attribute that no fitted model can have; ``remedy`` is a sentence where there is a special one."""

    def __init__(self, what: str, remedy: str = "") -> None:
        super().__init__(what)
        self.remedy = remedy


def require(holds: Any, what: str, remedy: str = "") -> None:
    """Raise an InvariantError that says which condition is violated."""
    if not holds:
        raise InvariantError(what, remedy)


#: What damaged data raises where it is read.
DAMAGE = (ValueError, LookupError, TypeError, AttributeError, OverflowError, RuntimeError)


@contextmanager
def damage_refused(what: str, remedy: str, kind: type[DSNAError] = DSNAError) -> Iterator[None]:
    """Say in a sentence that data cannot be what this package has made, wherever a check or a reader fails."""
    try:
        yield
    except DSNAError:
        raise
    except InvariantError as error:
        raise kind(f"{what}: {error}. {error.remedy or remedy}") from error
    except DAMAGE as error:
        raise kind(f"{what}: damaged ({type(error).__name__}: {error}). {remedy}") from error


def _fits(axis: str, length: int, sizes: dict[str, int]) -> bool:
    """Whether an axis is as long as it must be; a name met for the first time is added to ``sizes``."""
    size, _, more = axis.partition("+")
    own = length - int(more or 0)
    return own >= 0 and own == (int(size) if size.isdigit() else sizes.setdefault(size, own))


@dataclass(frozen=True)
class Array:
    """An array.

    Parameters
    ----------
    dtype : allowed dtypes, separated by spaces; "object" is one of strings.
    shape : lengths of the axes, separated by commas: numbers, or names that stand for one length throughout a
        container.  "name+1" is one more; "|" stands between shapes that are allowed.
    low, high : smallest and largest value allowed; floats are finite in any case.
    below : name of a length that whole numbers from 0 on stay below.
    into : name of a length; the array holds pointers from 0 to there that never fall.
    nan, none : whether NaN stands for what is not known, and whether None may stand for the array.
    """

    dtype: str
    shape: str
    low: float = -FINITE
    high: float = FINITE
    below: str = ""
    into: str = ""
    nan: bool = False
    none: bool = False

    def measure(self, name: str, value: Any, sizes: dict[str, int]) -> None:
        """Check type and shape; lengths met for the first time are added to ``sizes``."""
        if value is None and self.none:
            return
        require(isinstance(value, np.ndarray), f"{name} is a {type(value).__name__}, not an array")
        require(
            any(value.dtype == np.dtype(one) for one in self.dtype.split()),
            f"{name} has dtype {value.dtype}, not {self.dtype.replace(' ', ' or ')}",
        )
        shapes = [[axis.strip() for axis in shape.split(",")] for shape in self.shape.split("|")]
        axes = next((one for one in shapes if len(one) == value.ndim), None)
        fits = axes is not None and all(
            _fits(one, length, sizes) for one, length in zip(axes, value.shape, strict=True)
        )
        known = ", ".join(f"{size}={length}" for size, length in sizes.items() if size in self.shape)
        require(fits, f"{name} has shape {value.shape}, not ({self.shape}){' with ' * bool(known)}{known}")

    def check(self, name: str, value: Any, sizes: dict[str, int]) -> None:
        """Check the values."""
        if value is None:
            return
        if value.dtype == object:
            require(all(type(one) is str for one in value.flat), f"{name} holds other things than strings")
            return
        if self.into:
            good = value[0] == 0 and value[-1] == sizes[self.into] and not np.any(value[1:] < value[:-1])
            require(good, f"{name} does not rise from 0 to {sizes[self.into]}")
            return
        if self.nan:
            value = value[~np.isnan(value)]
        if value.dtype == bool or not value.size:
            return
        low, high = (0, sizes[self.below] - 1) if self.below else (self.low, self.high)
        least, most = value.min().item(), value.max().item()
        require(low <= least and most <= high, f"{name} ranges from {least} to {most}, not within {low} and {high}")


@dataclass(frozen=True)
class Number:
    """A number within bounds, not True or False; ``none`` and ``nan`` say whether None and NaN are allowed, too."""

    low: float = -FINITE
    high: float = FINITE
    whole: bool = False
    none: bool = False
    nan: bool = False

    def measure(self, name: str, value: Any, sizes: dict[str, int]) -> None:
        """Check the type."""
        kinds = (int, np.integer) if self.whole else (int, float, np.integer, np.floating)
        right = isinstance(value, kinds) and not isinstance(value, bool)
        require(right or (value is None and self.none), f"{name} is a {type(value).__name__}, not a number")

    def check(self, name: str, value: Any, sizes: dict[str, int]) -> None:
        """Check the range."""
        if value is None or (self.nan and value != value):
            return
        require(self.low <= value <= self.high, f"{name} is {value}, not within {self.low} and {self.high}")


@dataclass(frozen=True)
class Choice:
    """One of some values."""

    values: tuple[Any, ...]

    def measure(self, name: str, value: Any, sizes: dict[str, int]) -> None:
        """Check the type."""
        require(type(value) in map(type, self.values), f"{name} is a {type(value).__name__}")

    def check(self, name: str, value: Any, sizes: dict[str, int]) -> None:
        """Check the value."""
        require(value in self.values, f"{name} is {value!r}, not one of {self.values}")


@dataclass(frozen=True)
class Count:
    """A whole number that is one of the lengths."""

    size: str

    def measure(self, name: str, value: Any, sizes: dict[str, int]) -> None:
        """Check the type."""
        Number(1, whole=True).measure(name, value, sizes)

    def check(self, name: str, value: Any, sizes: dict[str, int]) -> None:
        """Check the value."""
        require(value == sizes[self.size], f"{name} is {value}, not {sizes[self.size]}")


@dataclass(frozen=True)
class Classes:
    """Two classes or more, in rising order; ``size`` names their number."""

    size: str

    def measure(self, name: str, value: Any, sizes: dict[str, int]) -> None:
        """Check type and shape."""
        require(isinstance(value, np.ndarray) and value.dtype.kind in "biufUSmMO", f"{name} holds no classes")
        fits = value.ndim == 1 and len(value) > 1 and _fits(self.size, len(value), sizes)
        require(fits, f"{name} has shape {value.shape}")

    def check(self, name: str, value: Any, sizes: dict[str, int]) -> None:
        """Check the values."""
        require(value.dtype != object or all(type(one) is str for one in value), f"{name} holds more than strings")
        require(value.dtype.kind != "f" or np.all(np.isfinite(value)), f"{name} is not finite")
        require(np.all(value[:-1] < value[1:]), f"{name} does not rise")


@dataclass(frozen=True)
class Part:
    """A container, which has checked itself.

    Parameters
    ----------
    of : name of its class.
    lengths : lengths that it shares with its owner, separated by spaces; "its=ours" where the names differ.
    none : whether None may stand for it.
    """

    of: str
    lengths: str = ""
    none: bool = False

    def measure(self, name: str, value: Any, sizes: dict[str, int]) -> None:
        """Check the type, and the lengths that owner and part share."""
        if value is None and self.none:
            return
        right = isinstance(value, Checked) and type(value).__name__ == self.of
        require(right, f"{name} is a {type(value).__name__}, not a {self.of}")
        its = value.sizes
        for length in self.lengths.split():
            one, _, ours = length.partition("=")
            require(_fits(ours or one, its[one], sizes), f"{name} has {its[one]} {one}, not {sizes[ours or one]}")

    def check(self, name: str, value: Any, sizes: dict[str, int]) -> None:
        """Nothing else to check."""


@dataclass(frozen=True)
class Parts:
    """A list of containers, as many as ``size`` says; ``of`` names their class, or several, separated by spaces."""

    of: str
    size: str

    def measure(self, name: str, value: Any, sizes: dict[str, int]) -> None:
        """Check type and length."""
        require(isinstance(value, list) and _fits(self.size, len(value), sizes), f"{name} is no list of {self.size}")
        allowed = self.of.split()
        for one in value:
            kind = type(one).__name__
            require(isinstance(one, Checked) and kind in allowed, f"{name} holds a {kind}, not a {self.of}")

    def check(self, name: str, value: Any, sizes: dict[str, int]) -> None:
        """Nothing else to check."""


@dataclass(frozen=True)
class Texts:
    """A list of strings, as many as ``size`` says, or a dict of as many names to strings or lists of strings."""

    size: str
    named: bool = False

    def measure(self, name: str, value: Any, sizes: dict[str, int]) -> None:
        """Check type and length."""
        what = "dict" if self.named else "list"
        require(type(value).__name__ == what and _fits(self.size, len(value), sizes), f"{name} is no {what} of strings")

    def check(self, name: str, value: Any, sizes: dict[str, int]) -> None:
        """Check that there is nothing but strings."""
        cells = [*value, *(value.values() if self.named else ())]
        flat = [one for cell in cells for one in (cell if type(cell) is list and self.named else [cell])]
        require(all(type(one) is str for one in flat), f"{name} holds more than strings")


@dataclass(frozen=True)
class Template:
    """An unfitted estimator or another object that holds parameters only; ``of`` names the classes allowed."""

    of: tuple[str, ...]

    def measure(self, name: str, value: Any, sizes: dict[str, int]) -> None:
        """Check the type."""
        require(type(value).__name__ in self.of, f"{name} is a {type(value).__name__}, not one of {self.of}")

    def check(self, name: str, value: Any, sizes: dict[str, int]) -> None:
        """Check the values, and that there is nothing else."""
        value._validate_params()
        require(not [one for one in vars(value) if one.endswith("_")], f"{name} holds more than parameters")


Field = Array | Number | Choice | Count | Classes | Part | Parts | Texts | Template


def check_fields(owner: str, values: Mapping[str, Any], fields: Mapping[str, Field]) -> dict[str, int]:
    """Check named values and return the lengths found."""
    sizes: dict[str, int] = {}
    for name, field in fields.items():
        field.measure(f"{owner}.{name}", values[name], sizes)
    for name, field in fields.items():
        field.check(f"{owner}.{name}", values[name], sizes)
    return sizes


class CheckedUnpickled:
    """Base class of what checks itself after it was unpickled, by a worker of a cluster or from a file."""

    def __setstate__(self, state: dict[str, Any]) -> None:
        restore: Callable[..., Any] = getattr(super(), "__setstate__", vars(self).update)
        with damage_refused(f"an unpickled {type(self).__name__}", "Fit the model again, or load a file of dsna.save."):
            restore(state)
            self._check_unpickled()

    def __copy__(self) -> Self:
        """A copy that shares all attributes, which need no check."""
        made = type(self).__new__(type(self))
        vars(made).update(vars(self))
        return made

    def _check_unpickled(self) -> None:
        """Raise an InvariantError unless all that must hold for the attributes does."""


class Checked(CheckedUnpickled):
    """A container of arrays that states their invariants."""

    FIELDS: ClassVar[Mapping[str, Field]]
    NOT_EMPTY: ClassVar[tuple[str, ...]] = ()  # lengths of at least one

    @property
    def state(self) -> dict[str, Any]:
        """The attributes, without cached values."""
        return {name: getattr(self, name) for name in self.FIELDS}

    @property
    def sizes(self) -> dict[str, int]:
        """Lengths by name."""
        sizes: dict[str, int] = {}
        for name, field in self.FIELDS.items():
            field.measure(name, getattr(self, name), sizes)
        return sizes

    @classmethod
    def restored(cls, state: dict[str, Any]) -> Self:
        """A container of given attributes."""
        require(state.keys() == cls.FIELDS.keys(), f"{cls.__name__} has the attributes {', '.join(state)}")
        made = cls.__new__(cls)
        vars(made).update(state)
        made.check()
        return made

    def check(self) -> None:
        """Raise an InvariantError unless all that must hold for the attributes does."""
        owner = type(self).__name__
        sizes = check_fields(owner, self.state, self.FIELDS)
        for name in self.NOT_EMPTY:
            require(sizes[name] > 0, f"{owner} has no {name}")
        self._check_relations(sizes)

    def __post_init__(self) -> None:  # of those that are dataclasses
        self.check()

    def _check_unpickled(self) -> None:
        self.check()

    def _check_relations(self, sizes: dict[str, int]) -> None:
        """What must hold between attributes."""


def tree_of_nodes(owner: str, first: np.ndarray, tree: np.ndarray, n_nodes: int) -> np.ndarray:
    """Tree of each node, of trees that start at the nodes ``first`` and lie one after another."""
    sizes = np.diff(first, append=n_nodes)
    require(n_nodes == 0 or len(first), f"{owner}: nodes belong to no tree")
    require(len(first) == 0 or (first[0] == 0 and sizes.min() > 0), f"{owner}: roots do not rise from 0")
    return np.repeat(tree, sizes)


def check_links(owner: str, tree: np.ndarray, first: np.ndarray, parent: np.ndarray, child: np.ndarray) -> None:
    """Check that the nodes form trees: ``child[i]`` follows ``parent[i]`` in its tree and has no other parent.

    Following children therefore never comes back.

    Parameters
    ----------
    tree : tree of each node.
    first : nodes without parents.
    """
    within = len(child) == 0 or (np.all(child > parent) and child.max() < len(tree))
    require(within, f"{owner}: a child comes before its parent or is no node")
    require(np.array_equal(tree[child], tree[parent]), f"{owner}: a child belongs to another tree than its parent")
    parents = np.bincount(child, minlength=len(tree))
    parents[first] += 1
    require(np.all(parents == 1), f"{owner}: a node has no parent, or two")


def check_leaves(owner: str, leaf: np.ndarray, tree: np.ndarray, leaf_tree: np.ndarray) -> None:
    """Check that each leaf ends one branch, of its own tree.

    Parameters
    ----------
    leaf, tree : leaf at the end of each branch, and the tree that the branch is of.
    leaf_tree : tree of each leaf.
    """
    require(leaf.min() >= 0 and leaf.max() < len(leaf_tree), f"{owner}: a branch ends in no leaf")
    ends = np.bincount(leaf, minlength=len(leaf_tree))
    require(np.all(ends == 1), f"{owner}: a leaf ends no branch, or two")
    require(np.array_equal(leaf_tree[leaf], tree), f"{owner}: a branch ends in a leaf of another tree")
