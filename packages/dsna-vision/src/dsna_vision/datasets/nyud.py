"""NYU Depth V2, prepared for boundary detection."""

from __future__ import annotations

from pathlib import Path

import scipy.io

from ..photos import PHOTO_ENDINGS
from .boundaries import BoundarySet, check_split, files_with, pair_by_name, photo_root
from .pictures import UnusableFile


def load_nyud(
    folder: str | Path, split: str = "train", *, size: tuple[int, int] | None = (240, 320), check: str = "header"
) -> BoundarySet:
    """Read NYU Depth V2, prepared for boundary detection: indoor photos with one segmentation each.

    Parameters
    ----------
    folder : path
        Contains ``images/train/*.png`` and ``groundTruth/train/*.mat``, likewise ``val`` and ``test`` (the layout of
        BSDS500; Dollar and Zitnick keep it in ``BSR/NYUD/data``); or ``images/img_5001.png`` (or ``colorImage``) and
        ``benchmarkData/groundTruth/img_5001.mat``, as Gupta et al. distribute them, split by
        ``benchmarkData/metadata/nyusplits.mat``. Without that file the first 60 % of the photos in name order are for
        training, and the last third of these for validation, because successive photos show the same room.
    split : {"train", "val", "test"}, default="train"
        Part to read.
    size : (int, int) or None, default=(240, 320)
        Height and width to which photos and ground truth are reduced; None keeps their size.
    check : {"header", "full"}, default="header"
        As in :func:`load_bsds500`.

    Returns
    -------
    BoundarySet
        Files that are left out are named in ``problems``.

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
    photos, truth_folder = root / "images" / split, root / "groundTruth" / split
    split_names = None
    if not photos.is_dir():
        photos = next((root / name for name in ("images", "colorImage") if (root / name).is_dir()), root / "images")
        truth_folder = next(
            (root / name for name in ("groundTruth", "benchmarkData/groundTruth") if (root / name).is_dir()),
            truth_folder,
        )
        split_names = _nyud_names(root, split, [path.stem for path in files_with(photos, PHOTO_ENDINGS)])
    files = [path for path in files_with(photos, PHOTO_ENDINGS) if split_names is None or path.stem in split_names]
    truths = {
        path.stem: [path]
        for path in files_with(truth_folder, (".mat",))
        if split_names is None or path.stem in split_names
    }
    remedy = (
        f"No photos with ground truth of the split {split!r} in {root}: images/{split}/*.png and "
        f"groundTruth/{split}/*.mat, or images/img_5001.png and benchmarkData/groundTruth/img_5001.mat, are expected. "
        "The data is free for research: https://github.com/s-gupta/rgbd"
    )
    return pair_by_name(files, truths, check=check, remedy=remedy, size=size)


def _nyud_names(root: Path, split: str, names: list[str]) -> set[str]:
    """Return the names of the photos of a split, from the authors' list or by order."""
    for subfolder in ("benchmarkData/metadata", "metadata", ""):
        path = root / subfolder / "nyusplits.mat"
        if path.is_file():
            try:
                lists = scipy.io.loadmat(path)
                key = "tst" if split == "test" and "test" not in lists else split
                return {f"img_{number}" for number in lists[key].ravel()}
            except Exception as error:  # scipy raises many types of errors on damaged files
                raise UnusableFile(
                    f"{path} does not list the split {split!r} ({error!r}); download it again."
                ) from error
    share_range = {"train": (0.0, 0.4), "val": (0.4, 0.6), "test": (0.6, 1.0)}[split]
    start, stop = (round(share * len(names)) for share in share_range)
    return set(names[start:stop])
