"""MORPH album 2."""

from __future__ import annotations

import csv
import re
from pathlib import Path

from dsna.extend.files import reading_problem

from .landmarks import read_pts_of
from .pictures import PictureSet, Record, UnusableFile, collect, files_of

_NAME = re.compile(r"(\d+)_(\d+)([MF])(\d{1,3})\.jpg", re.IGNORECASE)


def load_morph(folder: str | Path, *, check: str = "header") -> PictureSet:
    r"""Read MORPH album 2.

    Parameters
    ----------
    folder : path
        Contains pictures named ``009055_1M54.JPG`` (person, number of the picture, gender, age), also in subfolders.
        A CSV file with the columns ``photo`` and ``age`` overrides the ages; its missing pictures are named in
        ``problems``. Landmarks are read from ``.pts`` files of the same name next to the pictures, if there are any.
    check : {"header", "full"}, default="header"
        Look at the beginning of each picture, or decode all of it, to find damaged ones.

    Returns
    -------
    PictureSet
        Labels are ages, groups are persons.

    Notes
    -----
    MORPH is licensed by the University of North Carolina Wilmington, https://uncw.edu, to research groups and
    companies; it may not be redistributed.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from PIL import Image
    >>> from dsna_vision.datasets import load_morph
    >>> folder = mkdtemp()
    >>> Image.new("L", (40, 48)).save(f"{folder}/009055_1M54.JPG")
    >>> with open(f"{folder}/morph.csv", "w") as table:
    ...     _ = table.write("id_num,age,photo\n9055,54,009055_1M54.JPG\n9055,55,009055_2M55.JPG\n")
    >>> pictures = load_morph(folder)
    >>> pictures.labels, pictures.groups, pictures.problems
    (array([54.]), array(['009055'], ...), ['009055_2M55.JPG: named in the CSV, but not there'])
    """
    pictures = files_of(folder, ".jpg")
    ages, problems = _read_tables(files_of(folder, ".csv"))
    present_names = {path.name.lower() for path in pictures}
    problems += [f"{ages[name][0]}: named in the CSV, but not there" for name in sorted(ages.keys() - present_names)]

    def describe(path: Path) -> Record:
        name = _NAME.fullmatch(path.name)
        if name is None:
            raise UnusableFile("the name does not follow 009055_1M54.JPG (person, number, gender, age)")
        age = ages[path.name.lower()][1] if path.name.lower() in ages else float(name[4])
        return Record(path, age, name[1], read_pts_of(path))

    return collect(
        pictures,
        describe,
        check=check,
        problems=problems,
        remedy=f"No MORPH pictures in {folder}: names like 009055_1M54.JPG are expected. MORPH is licensed by the "
        "University of North Carolina Wilmington (https://uncw.edu) and may not be redistributed.",
    )


def _read_tables(tables: list[Path]) -> tuple[dict[str, tuple[str, float]], list[str]]:
    """Return name and age of each picture in the CSV files, by lower-case name, and the problems of the files."""
    ages: dict[str, tuple[str, float]] = {}
    problems = []
    for table in sorted(tables):
        problem = reading_problem(table)
        if problem:
            problems.append(f"{table.name}: {problem[0]}, so it was not used")
            continue
        with table.open(newline="", encoding="utf-8-sig", errors="replace") as lines:
            for row in csv.DictReader(lines, skipinitialspace=True):
                if not {"photo", "age"} <= row.keys():
                    problems.append(f"{table.name}: has no columns photo and age, so it was not used")
                    break
                try:
                    name = Path(row["photo"].replace("\\", "/")).name
                    ages[name.lower()] = (name, float(row["age"]))
                except (AttributeError, TypeError, ValueError):
                    problems.append(f"{table.name}: no age or photo in {','.join(map(str, row.values()))}")
    return ages, problems
