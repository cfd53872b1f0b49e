"""Invariants of fitted attributes: declared by each container, checked when it is made, loaded or unpickled.

Kernels do not check bounds, so every array that reaches one is described here: its dtype, the lengths of its axes and
the range of its values. Every check takes time linear in the array, and none loops over nodes or rows in Python.
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
LARGEST = 1e100  # bound of values whose squares are summed
STEEPEST = 1e150  # bound of factors of such values


class InvariantError(ValueError):
    """An attribute with a value that no fitted model has; ``remedy`` is a sentence, or empty for the usual remedy."""

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.remedy = remedy


def require(condition: Any, message: str, remedy: str = "") -> None:
    """Raise an InvariantError with ``message`` unless the condition holds."""
    if not condition:
        raise InvariantError(message, remedy)


#: Errors raised when damaged data is read.
DAMAGE = (ValueError, LookupError, TypeError, AttributeError, OverflowError, RuntimeError)


@contextmanager
def damage_refused(subject: str, remedy: str, error_class: type[DSNAError] = DSNAError) -> Iterator[None]:
    """Turn errors of checks and readers into a ``DSNAError`` which says that the data is damaged."""
    try:
        yield
    except DSNAError:
        raise
    except InvariantError as error:
        raise error_class(f"{subject}: {error}. {error.remedy or remedy}") from error
    except DAMAGE as error:
        raise error_class(f"{subject}: damaged ({type(error).__name__}: {error}). {remedy}") from error


def _fits(axis: str, length: int, sizes: dict[str, int]) -> bool:
    """Whether an axis has the required length; a name not yet in ``sizes`` is added to it."""
    size, _, increment = axis.partition("+")
    base_length = length - int(increment or 0)
    return base_length >= 0 and base_length == (int(size) if size.isdigit() else sizes.setdefault(size, base_length))


@dataclass(frozen=True)
class Array:
    """An array.

    Parameters
    ----------
    dtype : allowed dtypes, separated by spaces; "object" is one of strings.
    shape : lengths of the axes, separated by commas: numbers, or names that have one value throughout a container.
        "name+1" is one more; "|" separates alternative shapes.
    low, high : smallest and largest value allowed; floats are finite in any case.
    below : name of a length; the values are whole numbers from 0 to below it.
    into : name of a length; the array holds non-decreasing pointers from 0 to that length.
    nan, none : whether NaN is allowed for unknown values, and None in place of the array.
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
        """Check type and shape; lengths not yet in ``sizes`` are added to it."""
        if value is None and self.none:
            return
        require(isinstance(value, np.ndarray), f"{name} is a {type(value).__name__}, not an array")
        require(
            any(value.dtype == np.dtype(dtype) for dtype in self.dtype.split()),
            f"{name} has dtype {value.dtype}, not {self.dtype.replace(' ', ' or ')}",
        )
        shapes = [[axis.strip() for axis in shape.split(",")] for shape in self.shape.split("|")]
        axes = next((shape for shape in shapes if len(shape) == value.ndim), None)
        fits = axes is not None and all(
            _fits(axis, length, sizes) for axis, length in zip(axes, value.shape, strict=True)
        )
        sizes_text = ", ".join(f"{size}={length}" for size, length in sizes.items() if size in self.shape)
        require(fits, f"{name} has shape {value.shape}, not ({self.shape}){' with ' * bool(sizes_text)}{sizes_text}")

    def check(self, name: str, value: Any, sizes: dict[str, int]) -> None:
        """Check the values."""
        if value is None:
            return
        if value.dtype == object:
            require(all(type(item) is str for item in value.flat), f"{name} holds values other than strings")
            return
        if self.into:
            is_pointer_array = value[0] == 0 and value[-1] == sizes[self.into] and not np.any(value[1:] < value[:-1])
            require(is_pointer_array, f"{name} does not rise from 0 to {sizes[self.into]}")
            return
        if self.nan:
            value = value[~np.isnan(value)]
        if value.dtype == bool or not value.size:
            return
        low, high = (0, sizes[self.below] - 1) if self.below else (self.low, self.high)
        smallest, largest = value.min().item(), value.max().item()
        in_range = low <= smallest and largest <= high
        require(in_range, f"{name} ranges from {smallest} to {largest}, not within {low} and {high}")


@dataclass(frozen=True)
class Number:
    """A number within bounds, not a bool; ``none`` and ``nan`` allow None and NaN, too."""

    low: float = -FINITE
    high: float = FINITE
    whole: bool = False
    none: bool = False
    nan: bool = False

    def measure(self, name: str, value: Any, sizes: dict[str, int]) -> None:
        """Check the type."""
        kinds = (int, np.integer) if self.whole else (int, float, np.integer, np.floating)
        valid = isinstance(value, kinds) and not isinstance(value, bool)
        require(valid or (value is None and self.none), f"{name} is a {type(value).__name__}, not a number")

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
    """Two or more classes in ascending order; ``size`` names their number."""

    size: str

    def measure(self, name: str, value: Any, sizes: dict[str, int]) -> None:
        """Check type and shape."""
        require(isinstance(value, np.ndarray) and value.dtype.kind in "biufUSmMO", f"{name} does not hold classes")
        fits = value.ndim == 1 and len(value) > 1 and _fits(self.size, len(value), sizes)
        require(fits, f"{name} has shape {value.shape}")

    def check(self, name: str, value: Any, sizes: dict[str, int]) -> None:
        """Check the values."""
        valid = value.dtype != object or all(type(label) is str for label in value)
        require(valid, f"{name} holds values other than strings")
        require(value.dtype.kind != "f" or np.all(np.isfinite(value)), f"{name} is not finite")
        require(np.all(value[:-1] < value[1:]), f"{name} is not in ascending order")


@dataclass(frozen=True)
class Part:
    """A container, which checks its own attributes.

    Parameters
    ----------
    of : name of its class.
    lengths : lengths that it shares with its owner, separated by spaces; "part=owner" where the names differ.
    none : whether None is allowed in its place.
    """

    of: str
    lengths: str = ""
    none: bool = False

    def measure(self, name: str, value: Any, sizes: dict[str, int]) -> None:
        """Check the type and the lengths that the container shares with its owner."""
        if value is None and self.none:
            return
        valid = isinstance(value, Checked) and type(value).__name__ == self.of
        require(valid, f"{name} is a {type(value).__name__}, not a {self.of}")
        part_sizes = value.sizes
        for length in self.lengths.split():
            axis, _, owner_axis = length.partition("=")
            fits = _fits(owner_axis or axis, part_sizes[axis], sizes)
            require(fits, f"{name} has {part_sizes[axis]} {axis}, not {sizes[owner_axis or axis]}")

    def check(self, name: str, value: Any, sizes: dict[str, int]) -> None:
        """Nothing else to check."""


@dataclass(frozen=True)
class Parts:
    """A list of ``size`` containers; ``of`` names the allowed classes, separated by spaces."""

    of: str
    size: str

    def measure(self, name: str, value: Any, sizes: dict[str, int]) -> None:
        """Check type and length."""
        require(isinstance(value, list) and _fits(self.size, len(value), sizes), f"{name} is not a list of {self.size}")
        allowed = self.of.split()
        for container in value:
            kind = type(container).__name__
            require(isinstance(container, Checked) and kind in allowed, f"{name} holds a {kind}, not a {self.of}")

    def check(self, name: str, value: Any, sizes: dict[str, int]) -> None:
        """Nothing else to check."""


@dataclass(frozen=True)
class Texts:
    """A list of ``size`` strings, or a dict of ``size`` names to strings or lists of strings."""

    size: str
    named: bool = False

    def measure(self, name: str, value: Any, sizes: dict[str, int]) -> None:
        """Check type and length."""
        type_name = "dict" if self.named else "list"
        valid = type(value).__name__ == type_name and _fits(self.size, len(value), sizes)
        require(valid, f"{name} is not a {type_name} of strings")

    def check(self, name: str, value: Any, sizes: dict[str, int]) -> None:
        """Check that all values are strings."""
        items = [*value, *(value.values() if self.named else ())]
        texts = [text for item in items for text in (item if type(item) is list and self.named else [item])]
        require(all(type(text) is str for text in texts), f"{name} holds values other than strings")


@dataclass(frozen=True)
class Template:
    """An unfitted estimator or another object that holds only parameters; ``of`` names the allowed classes."""

    of: tuple[str, ...]

    def measure(self, name: str, value: Any, sizes: dict[str, int]) -> None:
        """Check the type."""
        require(type(value).__name__ in self.of, f"{name} is a {type(value).__name__}, not one of {self.of}")

    def check(self, name: str, value: Any, sizes: dict[str, int]) -> None:
        """Check the parameters, and that there are no fitted attributes."""
        value._validate_params()
        fitted = [attribute for attribute in vars(value) if attribute.endswith("_")]
        require(not fitted, f"{name} holds more than parameters")


Field = Array | Number | Choice | Count | Classes | Part | Parts | Texts | Template


def check_fields(owner: str, values: Mapping[str, Any], fields: Mapping[str, Field]) -> dict[str, int]:
    """Check named values and return the lengths by name."""
    sizes: dict[str, int] = {}
    for name, field in fields.items():
        field.measure(f"{owner}.{name}", values[name], sizes)
    for name, field in fields.items():
        field.check(f"{owner}.{name}", values[name], sizes)
    return sizes


class CheckedUnpickled:
    """Base class of objects that check themselves after unpickling, in a worker of a cluster or from a file."""

    def __setstate__(self, state: dict[str, Any]) -> None:
        restore: Callable[..., Any] = getattr(super(), "__setstate__", vars(self).update)
        with damage_refused(f"an unpickled {type(self).__name__}", "Fit the model again, or load a file of dsna.save."):
            restore(state)
            self._check_unpickled()

    def __copy__(self) -> Self:
        """Return a shallow copy, which needs no check."""
        duplicate = type(self).__new__(type(self))
        vars(duplicate).update(vars(self))
        return duplicate

    def _check_unpickled(self) -> None:
        """Raise an InvariantError unless all that must hold for the attributes does."""


class Checked(CheckedUnpickled):
    """Base class of containers of arrays with declared invariants."""

    FIELDS: ClassVar[Mapping[str, Field]]
    NOT_EMPTY: ClassVar[tuple[str, ...]] = ()  # names of lengths that must be at least 1

    @property
    def state(self) -> dict[str, Any]:
        """Attributes by name, without cached values."""
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
        """Return a container with the given attributes."""
        require(state.keys() == cls.FIELDS.keys(), f"{cls.__name__} has the attributes {', '.join(state)}")
        container = cls.__new__(cls)
        vars(container).update(state)
        container.check()
        return container

    def check(self) -> None:
        """Raise an InvariantError unless all that must hold for the attributes does."""
        owner = type(self).__name__
        sizes = check_fields(owner, self.state, self.FIELDS)
        for name in self.NOT_EMPTY:
            require(sizes[name] > 0, f"{owner} has no {name}")
        self._check_relations(sizes)

    def __post_init__(self) -> None:  # called where the subclass is a dataclass
        self.check()

    def _check_unpickled(self) -> None:
        self.check()

    def _check_relations(self, sizes: dict[str, int]) -> None:
        """Check the relations between attributes."""


def tree_of_nodes(owner: str, first: np.ndarray, tree: np.ndarray, n_nodes: int) -> np.ndarray:
    """Return the tree of each node, for trees that start at the nodes ``first`` and are stored one after another."""
    sizes = np.diff(first, append=n_nodes)
    require(n_nodes == 0 or len(first), f"{owner}: nodes belong to no tree")
    require(len(first) == 0 or (first[0] == 0 and sizes.min() > 0), f"{owner}: roots do not ascend from 0")
    return np.repeat(tree, sizes)


def check_links(owner: str, tree: np.ndarray, first: np.ndarray, parent: np.ndarray, child: np.ndarray) -> None:
    """Check that the nodes form trees: ``child[i]`` follows ``parent[i]`` in its tree and has no other parent.

    So following children always ends.

    Parameters
    ----------
    tree : tree of each node.
    first : nodes without parents.
    """
    valid = len(child) == 0 or (np.all(child > parent) and child.max() < len(tree))
    require(valid, f"{owner}: a child comes before its parent or is not a node")
    require(np.array_equal(tree[child], tree[parent]), f"{owner}: a child belongs to another tree than its parent")
    parents = np.bincount(child, minlength=len(tree))
    parents[first] += 1
    require(np.all(parents == 1), f"{owner}: a node has no parent or several")


def check_leaves(owner: str, leaf: np.ndarray, tree: np.ndarray, leaf_tree: np.ndarray) -> None:
    """Check that each leaf ends exactly one branch, in its own tree.

    Parameters
    ----------
    leaf, tree : leaf at the end of each branch, and the tree of the branch.
    leaf_tree : tree of each leaf.
    """
    require(leaf.min() >= 0 and leaf.max() < len(leaf_tree), f"{owner}: a branch does not end in a leaf")
    ends = np.bincount(leaf, minlength=len(leaf_tree))
    require(np.all(ends == 1), f"{owner}: a leaf ends no branch or several")
    require(np.array_equal(leaf_tree[leaf], tree), f"{owner}: a branch ends in a leaf of another tree")
