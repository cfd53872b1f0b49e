"""Models of tables larger than memory, on one disk or on a cluster of Dask or Ray."""

from .estimators import DistributedDSNAClassifier, DistributedDSNARegressor
from .store import load

__all__ = ["DistributedDSNAClassifier", "DistributedDSNARegressor", "load"]
