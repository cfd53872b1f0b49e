"""Output of edge maps: a grey map, lines over the photo, or vectors."""

from __future__ import annotations

import io
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.ndimage import maximum_filter

from dsna.extend.files import write_atomically

from ...photos import write_map
from .lines import open_contours
from .svg import as_svg

ENDINGS = {"map": (".png", ".npy"), "overlay": (".png",), "svg": (".svg",)}
_COLOURS = np.array([[255, 30, 0], [0, 255, 255]])  # at least one of them stands out on any photo
_HALO = 0.6  # how much the photo is darkened beside a line, to set off lines of a similar colour
_FAINT = 0.1  # weaker edges are not drawn unless a threshold is given
CRUMB = 10  # contours of fewer pixels are removed


@dataclass(frozen=True)
class Product:
    """Kind of output and its settings.

    Parameters
    ----------
    kind : {"map", "overlay", "svg"}
    threshold : float or None
        Edges of at least this strength are drawn in full; None draws edges in proportion to their strength.
    min_length : int
        Contours of fewer pixels are lowered to the level at which they have this many; 1 changes nothing.
    invert : bool
        Whether to draw dark edges on white; for maps only.

    Examples
    --------
    >>> import numpy as np
    >>> edges = np.array([[0.9, 0.6, 0.9, 0.0, 0.7, 0.05]], dtype=np.float32)
    >>> Product(threshold=0.5, min_length=2).lines(edges)
    array([[1., 1., 1., 0., 0., 0.]], dtype=float32)
    """

    kind: str = "map"
    threshold: float | None = None
    min_length: int = CRUMB
    invert: bool = False

    @property
    def endings(self) -> tuple[str, ...]:
        """Possible file endings, the default first."""
        return ENDINGS[self.kind]

    def lines(self, edges: np.ndarray) -> np.ndarray:
        """Remove short and weak edges from a map."""
        lines = edges if self.min_length <= 1 else open_contours(edges, self.min_length)
        if self.threshold is not None:
            return ((lines >= self.threshold) & (lines > 0)).astype(edges.dtype)
        return lines if self.kind == "map" else np.where(lines >= _FAINT, lines, edges.dtype.type(0))

    def write(self, edges: np.ndarray, photo: np.ndarray, path: Path) -> None:
        """Write the edges of a photo to a file atomically.

        Parameters
        ----------
        edges : array of shape (H, W), float32
        photo : array of shape (H, W, 3), uint8
        path : Path
            Must have one of the ``endings``.
        """
        lines = self.lines(edges)
        if not lines.any():
            warnings.warn(f"{path}: {self._explain_blank(edges)}.", stacklevel=2)
        if self.kind == "map":
            write_map(1 - lines if self.invert else lines, path)
        elif self.kind == "svg":
            write_atomically(path, as_svg(lines, self.min_length).encode())
        else:
            content = io.BytesIO()
            from PIL import Image

            Image.fromarray(overlay_lines(photo, lines)).save(content, format="PNG")
            write_atomically(path, content.getvalue())

    def _explain_blank(self, edges: np.ndarray) -> str:
        """Explain why nothing is drawn."""
        strongest = open_contours(edges, self.min_length).max(initial=0)
        if not strongest:
            return f"there is no edge of {self.min_length} pixels or more" if edges.any() else "there is no edge"
        return f"no edge reaches {self.threshold or _FAINT:g}: the strongest is {strongest:.2f}"


def overlay_lines(photo: np.ndarray, lines: np.ndarray) -> np.ndarray:
    """Draw lines with a dark halo over a photo, in red or cyan, whichever contrasts more.

    Parameters
    ----------
    photo : array of shape (H, W, 3), uint8
    lines : array of shape (H, W)
        Opacity from 0, where the photo shows, to 1.

    Returns
    -------
    array of shape (H, W, 3), uint8

    Examples
    --------
    >>> import numpy as np
    >>> overlay_lines(np.full((1, 3, 3), 100, dtype=np.uint8), np.array([[0.0, 0.0, 1.0]])).tolist()
    [[[100, 100, 100], [40, 40, 40], [0, 255, 255]]]
    """
    share = np.clip(lines, 0, 1)[:, :, None]
    covered = (photo * share).sum(axis=(0, 1)) / max(share.sum(), 1e-9)
    colour = _COLOURS[np.square(_COLOURS - covered).sum(axis=1).argmax()]
    halo = np.maximum(maximum_filter(share, (3, 3, 1)) - share, 0)
    mixed: np.ndarray = np.rint(photo * (1 - _HALO * halo) * (1 - share) + colour * share)
    return mixed.astype(np.uint8)
