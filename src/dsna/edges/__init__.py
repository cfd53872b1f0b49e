"""Edges in photos: a detector that learns from what people drew, and the scores of BSDS500."""

from .boundary_scores import BoundaryScores
from .detector import EdgeDetector, load_detector, pretrained
from .evaluation import evaluate, human_consistency
from .photos import read_photo, write_map

__all__ = [
    "BoundaryScores",
    "EdgeDetector",
    "evaluate",
    "human_consistency",
    "load_detector",
    "pretrained",
    "read_photo",
    "write_map",
]
