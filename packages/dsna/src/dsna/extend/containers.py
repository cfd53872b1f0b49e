"""Checked containers of fitted attributes, with the invariants that kernels rely on."""

from .._utils.invariants import (
    POSITIVE,
    Array,
    Checked,
    InvariantError,
    Number,
    Part,
    Parts,
    Texts,
    check_leaves,
    check_links,
    require,
    tree_of_nodes,
)
from ..io.fitted import Attributes

__all__ = [
    "POSITIVE",
    "Array",
    "Attributes",
    "Checked",
    "InvariantError",
    "Number",
    "Part",
    "Parts",
    "Texts",
    "check_leaves",
    "check_links",
    "require",
    "tree_of_nodes",
]
