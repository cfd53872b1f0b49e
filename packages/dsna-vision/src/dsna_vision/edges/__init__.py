"""Edges in photos: detectors trained on boundaries that people drew, and the scores of BSDS500."""

from ..photos import read_photo, write_map
from .detector import EdgeDetector
from .pool import default_approximation
from .scoring.evaluation import evaluate, human_consistency
from .scoring.scores import BoundaryScores
from .second_level.detector import TwoLevelDetector, load_detector, pretrained

__all__ = [
    "BoundaryScores",
    "EdgeDetector",
    "TwoLevelDetector",
    "default_approximation",
    "evaluate",
    "human_consistency",
    "load_detector",
    "pretrained",
    "read_photo",
    "write_map",
]
