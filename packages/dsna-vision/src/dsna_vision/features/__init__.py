"""Features of pictures: active appearance models of faces, oriented gradients of crops."""

from .aam import AAM
from .face import Face
from .hog import HOG

__all__ = ["AAM", "HOG", "Face"]
