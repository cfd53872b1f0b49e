"""Plan of the photos to read and the maps to write, made before any work is done."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dsna import DSNAError
from dsna.extend.files import check_outputs

from ..photos import PHOTO_ENDINGS

_MAP_ENDINGS = (".png", ".npy")
_EDGES_SUFFIX = ".edges"  # precedes the ending of a map written beside its photo


class EdgesError(DSNAError):
    """Invalid input or output of a command; the message names problem and remedy."""


@dataclass(frozen=True)
class PhotoJob:
    """A photo and the file to write its map to."""

    photo: Path
    map: Path


def plan(
    photos: Sequence[Path],
    *,
    file: Path | None = None,
    out: Path | None = None,
    endings: tuple[str, ...] = _MAP_ENDINGS,
) -> tuple[list[PhotoJob], list[str]]:
    """Choose the output file of each photo, and check that outputs can be written.

    Parameters
    ----------
    photos : sequence of Path
        Files, and folders to search for pictures, including subfolders.
    file : Path or None, default=None
        Output file for the map of a single photo.
    out : Path or None, default=None
        Output folder for any number of maps, which keep the names and subfolders of the photos. Without file and
        folder, the map of ``photo.jpg`` is ``photo.edges.png`` beside it.
    endings : tuple of str, default=(".png", ".npy")
        Allowed file endings, the default first.

    Returns
    -------
    jobs : list of PhotoJob
    problems : list of str
        Photos and folders that cannot be used, and why.

    Examples
    --------
    >>> from pathlib import Path
    >>> from dsna_vision.edges.planning import plan
    >>> jobs, problems = plan([Path("a.jpg"), Path("b.jpg")], out=Path("edges"))
    >>> [job.map.as_posix() for job in jobs]
    ['edges/a.png', 'edges/b.png']
    """
    if file is not None and out is None:
        if len(photos) > 1 or os.path.isdir(photos[0]):
            raise EdgesError(f"-o {file} is for the map of one photo. Remedy: name a folder, as in --out edges.")
        check_outputs(files=[file])
        if file.suffix.lower() not in endings:
            ending = file.suffix or "files without ending"
            remedy = ".png, .npy or .svg" if endings == _MAP_ENDINGS else endings[0]
            raise EdgesError(f"{file}: maps are not written as {ending}. Remedy: use {remedy}.")
        return _drop_overwriting([PhotoJob(photos[0], file)], [])
    if out is None and file is None:
        return _jobs_beside_photos(photos, endings[0])
    if out is None or file is not None:
        raise EdgesError("Name either a file for one map, as in -o edges.png, or a folder for maps, as in --out edges.")
    if out.suffix.lower() in (*_MAP_ENDINGS, *endings) and not out.exists():
        raise EdgesError(f"--out {out} is for a folder of maps. Remedy: name the file for one map with -o.")
    check_outputs(folders=[out])
    problems: list[str] = []
    relative_paths: dict[Path, Path] = {}
    for photo_path in photos:
        if not os.path.isdir(photo_path):  # unlike Path.is_dir, raises no error if a name is too long
            relative_paths.setdefault(photo_path, Path(photo_path.name))
            continue
        if _real_path(photo_path) == _real_path(out):
            raise EdgesError(f"{out} holds the photos; maps need another folder. Remedy: name one, as in --out edges.")
        pictures = [path for path in _find_pictures(photo_path) if _real_path(out) not in _real_path(path).parents]
        if not pictures:
            problems.append(
                f"{photo_path}: no pictures in this folder. Remedy: name one with {', '.join(PHOTO_ENDINGS)}."
            )
        for path in pictures:
            relative_paths.setdefault(path, path.relative_to(photo_path))
    names = Counter(relative_path.with_suffix(endings[0]) for relative_path in relative_paths.values())
    jobs = [
        PhotoJob(
            photo,
            out / (map_path if names[map_path] == 1 else relative_path.with_name(f"{relative_path.name}{endings[0]}")),
        )
        for photo, relative_path in relative_paths.items()
        for map_path in [relative_path.with_suffix(endings[0])]
    ]
    return _drop_overwriting(jobs, problems)


def _jobs_beside_photos(photos: Sequence[Path], ending: str) -> tuple[list[PhotoJob], list[str]]:
    """Jobs that write each map beside its photo."""
    for photo_path in photos:
        if os.path.isdir(photo_path):
            raise EdgesError(
                f"{photo_path} is a folder, and maps of folders need one. Remedy: name it, as in --out edges."
            )
    unique_photos = list(dict.fromkeys(photos))
    names = Counter(photo.with_suffix(f"{_EDGES_SUFFIX}{ending}") for photo in unique_photos)
    jobs = [
        PhotoJob(photo, map_path if names[map_path] == 1 else photo.with_name(f"{photo.name}{_EDGES_SUFFIX}{ending}"))
        for photo in unique_photos
        for map_path in [photo.with_suffix(f"{_EDGES_SUFFIX}{ending}")]
    ]
    check_outputs(files=[job.map for job in jobs if os.path.isfile(job.photo)])
    return _drop_overwriting(jobs, [])


def _real_path(path: Path) -> Path:
    """Resolve a path; unlike Path.resolve, raises no error for circular links."""
    return Path(os.path.realpath(path))


def _find_pictures(folder: Path) -> list[Path]:
    candidates = (path for path in folder.rglob("*") if path.suffix.lower() in PHOTO_ENDINGS)
    map_endings = tuple(f"{_EDGES_SUFFIX}{ending}" for ending in _MAP_ENDINGS)
    return sorted(
        path for path in candidates if not os.path.isdir(path) and not _is_hidden_or_map(path.name, map_endings)
    )


def _is_hidden_or_map(name: str, map_endings: tuple[str, ...]) -> bool:
    return name.startswith(".") or name.endswith(map_endings)


def _drop_overwriting(jobs: list[PhotoJob], problems: list[str]) -> tuple[list[PhotoJob], list[str]]:
    """Drop jobs that would overwrite a photo or the map of another photo."""
    planned: dict[Path, PhotoJob] = {}
    sources = {_real_path(job.photo) for job in jobs}
    for job in jobs:
        if job.map in planned:
            problems.append(
                f"{job.photo}: its map would overwrite that of {planned[job.map].photo}. Remedy: give the folder that "
                "holds both, or use two commands."
            )
        elif _real_path(job.map) in sources:
            problems.append(f"{job.photo}: its map would overwrite {job.map}. Remedy: name another place with -o.")
        else:
            planned[job.map] = job
    return list(planned.values()), problems
