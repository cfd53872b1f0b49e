"""Clusters of worker processes on this machine that leave no trace, for the tests of Dask and Ray."""

from __future__ import annotations

import contextlib
import logging
import os
import sys

import pytest


@contextlib.contextmanager
def dask_client(n_workers, folder):
    """A client of so many worker processes of Dask; the dashboard is off, logs stay quiet."""
    import distributed

    with (
        distributed.LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            silence_logs=logging.CRITICAL,
            local_directory=str(folder),
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@contextlib.contextmanager
def local_ray(token):
    """A Ray of two processors, whose workers import what this process can import."""
    import ray

    with pytest.MonkeyPatch.context() as patch:
        # A token for this cluster only; Ray would else write one into the home folder, which need not be writable.
        patch.setenv("RAY_AUTH_TOKEN", token)
        patch.setenv("RAY_worker_niceness", "0")  # else workers wait for whatever else the machine does
        ray.init(
            num_cpus=2,
            include_dashboard=False,
            log_to_driver=False,
            logging_level="ERROR",
            configure_logging=False,
            runtime_env={"env_vars": {"PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}},
        )
        yield
        ray.shutdown()
