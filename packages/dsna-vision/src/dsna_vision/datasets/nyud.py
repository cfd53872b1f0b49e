"""NYU Depth V2, as it is prepared for boundary detection."""

from __future__ import annotations

from pathlib import Path

import scipy.io

from ..photos import PHOTO_ENDINGS
from .boundaries import BoundarySet, check_split, files_with, pair, photo_root
from .pictures import UnusableFile


def load_nyud(
    folder: str | Path, split: str = "train", *, size: tuple[int, int] | None = (240, 320), check: str = "header"
) -> BoundarySet:
    """Read NYU Depth V2 as it is prepared for boundary detection: indoor photos, one segmentation each.

    Parameters
    ----------
    folder : path
        Holds ``images/train/*.png`` and ``groundTruth/train/*.mat``, likewise ``val`` and ``test`` (the layout of
        BSDS500; Dollar and Zitnick keep it in ``BSR/NYUD/data``); or ``images/img_5001.png`` (or ``colorImage``) and
        ``benchmarkData/groundTruth/img_5001.mat``, as Gupta et al. give them away, split by
        ``benchmarkData/metadata/nyusplits.mat``. Without that file the first 60 % of the photos, in the order of their
        names, are for training, and the last third of these for validation: neighbours show the same rooms.
    split : {"train", "val", "test"}, default="train"
        Part to read.
    size : (int, int) or None, default=(240, 320)
        Height and width to which photos and ground truth are reduced; None leaves them as they are.
    check : {"header", "full"}, default="header"
        As in :func:`load_bsds500`.

    Returns
    -------
    BoundarySet
        What is left out is named in ``problems``.

    Notes
    -----
    N. Silberman, D. Hoiem, P. Kohli and R. Fergus, "Indoor segmentation and support inference from RGBD images", ECCV
    2012; S. Gupta, P. Arbelaez and J. Malik, "Perceptual organization and recognition of indoor scenes from RGB-D
    images", CVPR 2013, https://github.com/s-gupta/rgbd. For research. Boundaries are usually scored with
    ``max_distance=0.011``.

    Examples
    --------
    >>> from dsna_vision.datasets import load_nyud
    >>> load_nyud("nowhere", "test")
    Traceback (most recent call last):
    dsna_vision.datasets.pictures.MissingPictures: nowhere is not a folder; give the folder that holds images/ ...
    """
    check_split(split)
    root = photo_root(folder, ("", "data", "NYUD/data", "BSR/NYUD/data"))
    photos, drawn = root / "images" / split, root / "groundTruth" / split
    chosen = None
    if not photos.is_dir():
        photos = next((root / name for name in ("images", "colorImage") if (root / name).is_dir()), root / "images")
        drawn = next(
            (root / name for name in ("groundTruth", "benchmarkData/groundTruth") if (root / name).is_dir()), drawn
        )
        chosen = _nyud_names(root, split, [path.stem for path in files_with(photos, PHOTO_ENDINGS)])
    files = [path for path in files_with(photos, PHOTO_ENDINGS) if chosen is None or path.stem in chosen]
    truths = {path.stem: [path] for path in files_with(drawn, (".mat",)) if chosen is None or path.stem in chosen}
    remedy = (
        f"No photos with ground truth of the split {split!r} in {root}: images/{split}/*.png and "
        f"groundTruth/{split}/*.mat, or images/img_5001.png and benchmarkData/groundTruth/img_5001.mat, are expected. "
        "The data is free for research: https://github.com/s-gupta/rgbd"
    )
    return pair(files, truths, check=check, remedy=remedy, size=size)


def _nyud_names(root: Path, split: str, names: list[str]) -> set[str]:
    """Names of the photos of a split, by the owners' list or else by order."""
    for place in ("benchmarkData/metadata", "metadata", ""):
        path = root / place / "nyusplits.mat"
        if path.is_file():
            try:
                lists = scipy.io.loadmat(path)
                key = "tst" if split == "test" and "test" not in lists else split
                return {f"img_{number}" for number in lists[key].ravel()}
            except Exception as error:  # scipy raises many kinds on damaged files
                raise UnusableFile(f"{path} does not list the split {split!r} ({error!r}); fetch it anew.") from error
    ends = {"train": (0.0, 0.4), "val": (0.4, 0.6), "test": (0.6, 1.0)}[split]
    begin, end = (round(share * len(names)) for share in ends)
    return set(names[begin:end])
