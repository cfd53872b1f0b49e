"""Boundaries in photos."""

from .boundary_scores import BoundaryScores
from .evaluation import evaluate, human_consistency

__all__ = ["BoundaryScores", "evaluate", "human_consistency"]
