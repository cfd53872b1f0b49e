"""Compiled kernels: the decorator, random numbers, and functions that other kernels call."""

from .._kernels.approximation.neighbors import gather
from .._kernels.jit import TIE, kernel, random_below
from .._utils.sums import rowwise_product

__all__ = ["TIE", "gather", "kernel", "random_below", "rowwise_product"]
