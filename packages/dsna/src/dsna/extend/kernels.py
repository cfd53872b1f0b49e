"""Compiled kernels: how one is compiled, random numbers and sorting within, and the pieces that other kernels call."""

from .._kernels.approximation.neighbors import gather
from .._kernels.forest.splits import HINGE, newton_split
from .._kernels.jit import TIE, kernel, random_below
from .._kernels.sorting import order_of
from .._utils.sums import rowwise_product

__all__ = ["HINGE", "TIE", "gather", "kernel", "newton_split", "order_of", "random_below", "rowwise_product"]
