"""Engines that run the passes: this process, Dask or Ray."""
