"""Which photo is read, and where its map is written, settled before any work is done."""

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
_BESIDE = ".edges"  # before the ending of what is written beside a photo


class EdgesError(DSNAError):
    """Input or output that a command cannot work with; the message names problem and remedy."""


@dataclass(frozen=True)
class Job:
    """A photo, and the file that its map is written to."""

    photo: Path
    map: Path


def plan(
    photos: Sequence[Path],
    *,
    file: Path | None = None,
    out: Path | None = None,
    endings: tuple[str, ...] = _MAP_ENDINGS,
) -> tuple[list[Job], list[str]]:
    """Which photo is written where; places that cannot be written to are refused.

    Parameters
    ----------
    photos : sequence of Path
        Files, and folders that are searched for pictures, with their subfolders.
    file : Path or None, default=None
        File for the map of one photo.
    out : Path or None, default=None
        Folder for the maps of any number; they are named as the photos, and keep the subfolders they lie in. Without
        file and folder, the map of ``photo.jpg`` is ``photo.edges.png`` beside it.
    endings : tuple of str, default=(".png", ".npy")
        Endings that the files may have, the usual one first.

    Returns
    -------
    jobs : list of Job
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
        return _without_loss([Job(photos[0], file)], [])
    if out is None and file is None:
        return _beside(photos, endings[0])
    if out is None or file is not None:
        raise EdgesError("Name either a file for one map, as in -o edges.png, or a folder for maps, as in --out edges.")
    if out.suffix.lower() in (*_MAP_ENDINGS, *endings) and not out.exists():
        raise EdgesError(f"--out {out} is for a folder of maps. Remedy: name the file for one map with -o.")
    check_outputs(folders=[out])
    problems: list[str] = []
    found: dict[Path, Path] = {}
    for given in photos:
        if not os.path.isdir(given):  # unlike Path.is_dir, no error where a name is too long
            found.setdefault(given, Path(given.name))
            continue
        if _real(given) == _real(out):
            raise EdgesError(f"{out} holds the photos; maps need another folder. Remedy: name one, as in --out edges.")
        inside = [path for path in _pictures(given) if _real(out) not in _real(path).parents]
        if not inside:
            problems.append(f"{given}: no pictures in this folder. Remedy: name one with {', '.join(PHOTO_ENDINGS)}.")
        for path in inside:
            found.setdefault(path, path.relative_to(given))
    names = Counter(relative.with_suffix(endings[0]) for relative in found.values())
    jobs = [
        Job(photo, out / (short if names[short] == 1 else relative.with_name(f"{relative.name}{endings[0]}")))
        for photo, relative in found.items()
        for short in [relative.with_suffix(endings[0])]
    ]
    return _without_loss(jobs, problems)


def _beside(photos: Sequence[Path], ending: str) -> tuple[list[Job], list[str]]:
    """Maps beside their photos, named after them."""
    for given in photos:
        if os.path.isdir(given):
            raise EdgesError(f"{given} is a folder, and maps of folders need one. Remedy: name it, as in --out edges.")
    different = list(dict.fromkeys(photos))
    names = Counter(photo.with_suffix(f"{_BESIDE}{ending}") for photo in different)
    jobs = [
        Job(photo, short if names[short] == 1 else photo.with_name(f"{photo.name}{_BESIDE}{ending}"))
        for photo in different
        for short in [photo.with_suffix(f"{_BESIDE}{ending}")]
    ]
    check_outputs(files=[job.map for job in jobs if os.path.isfile(job.photo)])
    return _without_loss(jobs, [])


def _real(path: Path) -> Path:
    """Where a path leads; unlike Path.resolve, no error where a link leads back to itself."""
    return Path(os.path.realpath(path))


def _pictures(folder: Path) -> list[Path]:
    found = (path for path in folder.rglob("*") if path.suffix.lower() in PHOTO_ENDINGS)
    ours = tuple(f"{_BESIDE}{ending}" for ending in _MAP_ENDINGS)
    return sorted(path for path in found if not os.path.isdir(path) and not _is_hidden_or_ours(path.name, ours))


def _is_hidden_or_ours(name: str, ours: tuple[str, ...]) -> bool:
    return name.startswith(".") or name.endswith(ours)


def _without_loss(jobs: list[Job], problems: list[str]) -> tuple[list[Job], list[str]]:
    """Drop jobs that would overwrite a photo, or the map of another."""
    kept: dict[Path, Job] = {}
    sources = {_real(job.photo) for job in jobs}
    for job in jobs:
        if job.map in kept:
            problems.append(
                f"{job.photo}: its map would overwrite that of {kept[job.map].photo}. Remedy: give the folder that "
                "holds both, or use two commands."
            )
        elif _real(job.map) in sources:
            problems.append(f"{job.photo}: its map would overwrite {job.map}. Remedy: name another place with -o.")
        else:
            kept[job.map] = job
    return list(kept.values()), problems
