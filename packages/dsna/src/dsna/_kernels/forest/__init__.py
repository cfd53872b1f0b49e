"""Numba kernels of CS-RF: node targets, linear splits, growing and routing."""
