"""Numba kernels: pure functions over C-contiguous float64 / int64 arrays; no estimator, no I/O."""
