"""Numba kernels of the edge detector and of its evaluation."""
