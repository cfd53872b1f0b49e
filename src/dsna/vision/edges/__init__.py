"""Edges in photos: a detector that learns from what people drew, and the scores of BSDS500."""

from ..photos import read_photo, write_map
from .detector import EdgeDetector, load_detector, pretrained
from .pool import default_approximation
from .scoring.evaluation import evaluate, human_consistency
from .scoring.scores import BoundaryScores

__all__ = [
    "BoundaryScores",
    "EdgeDetector",
    "default_approximation",
    "evaluate",
    "human_consistency",
    "load_detector",
    "pretrained",
    "read_photo",
    "write_map",
]
