"""Small files, models of them that are trained once, and how the commands are asked."""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path

import numpy as np
import polars as pl
from tests.cli.commands import invoke, without_bugs

N = 120


def table(n=N, seed=0):
    """People, with a rare class and a skewed number that depend on some columns; some text is hostile."""
    rng = np.random.default_rng(seed)
    size = rng.normal(size=n)
    return pl.DataFrame(
        {
            "person": [f"P{seed}{i:03d}" for i in range(n)],
            "size": [None if i % 17 == 5 else round(float(one), 4) for i, one in enumerate(size)],
            "town": rng.choice(["=A1+1", "Oslo", "-x", "<script>"], n),
            "visits": rng.integers(0, 9, n),
            "since": np.datetime64("2021-01-01") + rng.integers(0, 900, n),
            "smokes": rng.random(n) < 0.4,
            "rare": np.where(size + 0.2 * rng.normal(size=n) > 1.1, "yes", "no"),
            "cost": np.round(np.exp(size), 3),
        }
    )


def new_rows(n=40):
    """Others of them, whose class and number are not known."""
    return table(n, 1).drop("rare", "cost")


def answers(path):
    return pl.read_csv(path, infer_schema_length=None)


def write(folder, name="data.csv", frame=None):
    path = Path(folder) / name
    (table() if frame is None else frame).write_csv(path)
    return path


def ask(*arguments, **how):
    """Run a command, which must end by itself or by an exit code."""
    return without_bugs(invoke(*arguments, **how))


def done(run):
    """A run that ended well."""
    assert run.exit_code == 0, run.output
    return run


def refused(run, *parts):
    """A run that ended with exit code 2 and a sentence that holds these parts."""
    assert run.exit_code == 2, run.output
    assert [part for part in parts if part not in run.stderr] == [], run.stderr
    assert "Traceback" not in run.output
    assert len(run.stderr) < 1500


@functools.cache
def trained(target="rare"):
    """Content of a model file, trained once."""
    with tempfile.TemporaryDirectory() as folder:
        data = write(folder)
        other = "cost" if target == "rare" else "rare"
        done(ask("train", data, "--target", target, "-o", Path(folder) / "m.dsna", "--drop", other))
        return (Path(folder) / "m.dsna").read_bytes()


def model_file(folder, target="rare"):
    path = Path(folder) / f"{target}.dsna"
    path.write_bytes(trained(target))
    return path
