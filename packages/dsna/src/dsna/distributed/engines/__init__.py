"""Where the passes are run: this process, Dask or Ray."""
