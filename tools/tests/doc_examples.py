"""Shell examples of the docs: their lines, why some are not run, the files that they speak of, and curl."""

import functools
import re
import shlex
import tempfile
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
from tests.cli.commands import invoke

from dsna.cli.tables.demo import _tables

from .test_docs import ROOT

#: What lines that are not run begin with, and why.
NOT_RUN = {
    "make ": "makes an environment, or runs all tests",
    "git clone ": "needs a network",
    ".venv/bin/python ": "needs the environment that `make test` makes, and runs other tests",
    "pip install ": "needs a package index",
    **{
        f"python -m dsna_studies {study} ": "needs pictures of others, and minutes; studies/tests run it on drawn ones"
        for study in ("age", "pose", "edges")
    },
    "python -m dsna_studies benchmark DIR --tuned ": "thirty settings of every method",
    "dsna edges explain photo.jpg --at 120,64 --data BSDS500 ": "needs the photos that the detector learned from",
    "dsna edges train ": "a quarter of a minute at the least; packages/dsna-vision/tests/edges run it with few trees",
}
_TOKEN = "sixteen-letters-or-more"
_ASSIGNMENT = re.compile(r"(\w+)=(\S*) ")
_OUTPUTS = {"-o", "--out", "--report", "--plot"}


def command_lines(page):
    """Commands of the shell blocks of a page; one whose quotes or backslashes go on in the next line is joined."""
    for block in re.findall(r"^```sh\n(.*?)^```", page.read_text(encoding="utf-8"), re.S | re.M):
        command = ""
        for line in block.replace("\\\n", " ").splitlines():
            command += line
            if command.strip() and _is_whole(command):
                yield command
                command = ""
        assert not command.strip(), f"a quote is open: {command}"


def _is_whole(command):
    try:
        words_of(command)
    except ValueError:
        return False
    return True


def name_of(page):
    return page.relative_to(ROOT).as_posix()


def split_assignment(line):
    """A line without the variable that it sets, and this variable; a token that is left out is made up."""
    line = line.replace("...", _TOKEN)
    found = _ASSIGNMENT.match(line)
    return (line[found.end() :], {found[1]: found[2]}) if found else (line, {})


def words_of(line):
    return shlex.split(line, comments=True)


def reason_not_to_run(line):
    return next((reason for begin, reason in NOT_RUN.items() if line.startswith(begin)), None)


def make_inputs(words, folder):
    """Make what a command reads, where no earlier command has left it."""
    for option, word in pairwise(words):
        name = re.sub(r"^\w+=@", "", word)
        path = folder / name
        if name in FILES and option not in _OUTPUTS and not path.exists():
            path.parent.mkdir(exist_ok=True)
            FILES[name](path)


def request_of(words):
    """What a curl command sends, as ``httpx.request`` takes it; an option that is not known here is an error."""
    sent = {"method": "GET", "headers": {}, "files": {}}
    words = iter(words[1:])
    for word in words:
        if not word.startswith("-"):
            sent["url"] = word
        elif word == "-H":
            name, value = next(words).split(": ", 1)
            sent["headers"][name] = value
        elif word == "-d":
            sent |= {"method": "POST", "content": next(words)}
        elif word == "-F":
            name, path = next(words).split("=@")
            sent |= {"method": "POST", "files": {**sent["files"], name: (path, Path(path).read_bytes())}}
        else:
            raise ValueError(f"curl {word} is not translated.")
    return sent


def payments(n, seed, frauds_alone=False):
    """Payments, of which those of large amounts from one country are frauds."""
    rng = np.random.default_rng(seed)
    amount = rng.lognormal(4.0, 1.0, n)
    country = rng.choice(["DE", "NO", "RO"], n)
    fraud = np.log(amount) + 1.5 * (country == "RO") + 0.5 * rng.normal(size=n) > 6.0
    frame = pl.DataFrame({"amount": np.round(amount, 2), "country": country, "fraud": np.where(fraud, "yes", "no")})
    return frame.filter(pl.col("fraud") == "yes") if frauds_alone else frame


@functools.cache
def model(target, content):
    """Content of a model file, trained once."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "data.csv").write_bytes(content)
        run = invoke("train", folder / "data.csv", "--target", target, "-o", folder / "model.dsna")
        assert run.exit_code == 0, run.output
        return (folder / "model.dsna").read_bytes()


def csv(frame):
    return frame.write_csv().encode()


def _photo(path):
    from tests.boundary_folders import scene, write_photo

    write_photo(path, scene((90, 150))[0])


def _photos(path):
    """Photos, and beside them drawings of the same names."""
    from tests.boundary_folders import between, scene, write_photo

    for number in range(2):
        photo, segments = scene((64, 80), number)
        write_photo(path.parent / "photos" / f"{number}00.png", photo)
        write_photo(path.parent / "drawings" / f"{number}00.png", 255 * between(segments))


def _bsds500(path):
    from tests.boundary_folders import write_bsds

    for split in ("train", "val", "test"):
        write_bsds(path, split, 2, (64, 80))


def _holiday(path):
    _bsds500(path)
    for photo in (path / "images" / "test").iterdir():
        photo.rename(path / photo.name)


def _detector(path):
    from dsna_vision.datasets import load_bsds500
    from dsna_vision.edges import EdgeDetector

    _bsds500(path.parent / "BSDS500")
    detector = EdgeDetector(n_estimators=2, n_patches=200, n_pool=200, random_state=0)
    detector.fit(load_bsds500(path.parent / "BSDS500", "train")).save(path)


def _tables_of_a_folder(path):
    path.mkdir()
    payments(80, 4).write_csv(path / "payments.csv")


#: How the files that examples read are made, by the name that the docs give them.
FILES = {
    "payments.csv": lambda path: payments(300, 0).write_csv(path),
    "payments_of_may.csv": lambda path: payments(90, 1).write_csv(path),
    "frauds_of_may.csv": lambda path: payments(90, 2, frauds_alone=True).write_csv(path),
    "new.csv": lambda path: payments(30, 3).drop("fraud").write_csv(path),
    "huge.parquet": lambda path: payments(300, 0).write_parquet(path),
    "new.parquet": lambda path: payments(30, 3).drop("fraud").write_parquet(path),
    "fraud.dsna": lambda path: path.write_bytes(model("fraud", csv(payments(300, 0)))),
    "dsna-demo/patients.csv": lambda path: path.write_bytes(_tables()[0]),
    "dsna-demo/new_patients.csv": lambda path: path.write_bytes(_tables()[1]),
    "dsna-demo/severe.dsna": lambda path: path.write_bytes(model("severe", _tables()[0])),
    "DIR": _tables_of_a_folder,
    "photo.jpg": _photo,
    "photos": _photos,
    "drawings": _photos,
    "holiday": _holiday,
    "BSDS500": _bsds500,
    "mine.dsna": _detector,
}
