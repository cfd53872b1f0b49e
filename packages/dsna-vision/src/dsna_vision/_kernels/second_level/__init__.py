"""Kernels of the second level: description and rescoring of candidates."""
