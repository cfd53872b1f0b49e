"""Numba kernels of Algorithm 1: union of leaves, clusters, hulls, sparse coefficients."""
