"""Stages of Algorithm 1: neighbours, approximation of a query by them, and decision rule."""

from ..forest.density import TargetDensity
from ..metrics.relevance import RelevantDensity, TargetRelevance
from ..neighbors.distance_kernel import distance_kernel
from ..neighbors.neighborhoods import Neighborhoods
from ..neighbors.solve import solve

__all__ = [
    "Neighborhoods",
    "RelevantDensity",
    "TargetDensity",
    "TargetRelevance",
    "distance_kernel",
    "solve",
]
