"""A detector, photos and scores that take no time, and how commands are asked."""

from pathlib import Path

import numpy as np
from tests.cli.commands import invoke
from tests.odd_pictures import scene

from dsna import DSNAError


class Quick:
    """Differences of neighbouring pixels; remembers what it was asked."""

    pool_ = "patches"

    def __init__(self, **parameters):
        self.parameters = parameters
        self.asked = []
        self.n_jobs = None

    def detect(self, photo, scales=(1.0,), method="dsna", suppress=True):
        self.asked.append((scales, method, suppress, self.n_jobs))
        if photo.shape[:2] == (13, 13):
            raise RuntimeError("thirteen")
        if photo.shape[:2] == (14, 14):
            raise MemoryError
        grey = photo.mean(axis=2) / 255
        return np.abs(np.diff(grey, axis=1, append=grey[:, -1:])).astype(np.float32)

    def fit(self, photos):
        if self.parameters["n_patches"] == 101:
            raise DSNAError("101 patches are odd; use 100.")
        self.photos = photos
        return self

    def save(self, path):
        Path(path).write_bytes(b"model of %d trees" % self.parameters["n_estimators"])


class Annotated:
    """What the commands use of a BoundarySet."""

    def __init__(self, names=("pond", "tree"), problems=()):
        self.names = list(names)
        self.problems = list(problems)

    def __len__(self):
        return len(self.names)

    def image(self, row):
        return scene()


class Scores:
    ods, ois, ap, r50 = 0.71, 0.72, 0.73, 0.74

    def __init__(self, names, problems):
        self.table = [{"name": name, "f": 0.5, "threshold": 0.3} for name in names]
        self.problems = problems

    def __str__(self):
        return "ODS 0.710   OIS 0.720   AP 0.730   R50 0.740"

    def plot(self):
        from matplotlib.figure import Figure

        return Figure().subplots()


def ask(*options):
    return invoke("edges", *options)


def expect_exit(run, code):
    assert run.exit_code == code, run.output + repr(run.exception)
    assert "Traceback" not in run.output
    # Where nothing has been compiled before, the first test to need a kernel is told so.
    return "".join(line for line in run.stderr.splitlines(keepends=True) if not line.startswith("dsna: compiling"))


def files(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
