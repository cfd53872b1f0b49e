"""SIGINT, SIGTERM and SIGHUP end a command with the exit code of the signal, and leave nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import numpy as np
import polars as pl
import pytest

pytest.importorskip("typer")

from tests.cli.tables.small_files import ask, done

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")

# A command that waits, once it has come to a function; the file READY then says so.
WAITING = """
import importlib, pathlib, signal, time
import dsna.cli.main
for number in (signal.SIGINT, signal.SIGHUP):  # whoever runs the tests may have turned them off
    signal.signal(number, signal.SIG_DFL if number == signal.SIGHUP else signal.default_int_handler)
if {ignored}:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
module, _, path = "{function}".partition(":")
*holders, name = path.split(".")
owner = importlib.import_module(module)
for holder in holders:
    owner = getattr(owner, holder)
before = getattr(owner, name)
def waiting(*given, **more):
    {first}
    pathlib.Path("{ready}").touch()
    while {wait}:
        time.sleep(0.01)
    return before(*given, **more)
setattr(owner, name, waiting)
dsna.cli.main.main()
"""


@pytest.fixture
def data(tmp_path):
    rng = np.random.default_rng(0)
    size = rng.normal(size=300)
    path = tmp_path / "data.parquet"
    pl.DataFrame(
        {"size": size, "noise": rng.normal(size=300), "rare": np.where(size > 1.2, "yes", "no")}
    ).write_parquet(path)
    return path


def started(data, function, *command, ignored=False, first="", wait="True"):
    """A process that waits in a function of the command."""
    ready = data.parent / "ready"
    parts = {"function": function, "ready": ready, "ignored": ignored, "first": first, "wait": wait}
    code = WAITING.format(**parts)
    process = subprocess.Popen(
        [sys.executable, "-c", code, *map(str, command)],
        cwd=data.parent,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    end = time.monotonic() + 100
    while not ready.exists() and process.poll() is None and time.monotonic() < end:
        time.sleep(0.02)
    assert ready.exists(), process.communicate()
    ready.unlink()
    return process


def stopped(process, *signals):
    """What the command says, once it is stopped by signals one right after another."""
    for number in signals:
        process.send_signal(number)
    said = process.communicate(timeout=60)[1]
    assert process.returncode == 128 + signals[0], said
    assert "Traceback" not in said
    assert "Stopped." in said
    return said


OUT_OF_CORE = ("train", "data.parquet", "--target", "rare", "--out-of-core")


@pytest.mark.parametrize(
    "signals", [("SIGINT",), ("SIGTERM",), ("SIGHUP",), ("SIGHUP", "SIGHUP", "SIGTERM")], ids=" ".join
)
def test_training_out_of_core(data, signals):
    process = started(data, "dsna.distributed.placed:Passes._groups", *OUT_OF_CORE, "-o", "model")
    assert any(name.startswith(".dsna-") for name in os.listdir(data.parent))  # rows wait here
    stopped(process, *(getattr(signal, name) for name in signals))
    assert os.listdir(data.parent) == ["data.parquet"]


def test_a_model_that_was_there_stays(data):
    """The signal comes when the old folder has been moved, and the new one is not in its place yet."""
    model = data.parent / "model"
    done(ask("train", data, *OUT_OF_CORE[2:], "-o", model))
    before = (model / "manifest.json").read_bytes()
    moved = f"not pathlib.Path({str(model)!r}).exists()"
    process = started(
        data,
        "dsna.distributed.store:os.replace",
        *(*OUT_OF_CORE, "-o", "model", "--force"),
        wait=f"str(given[0]).endswith('.part') and pathlib.Path(given[0]).is_dir() and {moved}",
        first="if not (str(given[0]).endswith('.part') and pathlib.Path(given[0]).is_dir()): "
        "return before(*given, **more)",
    )
    stopped(process, signal.SIGTERM)
    assert sorted(os.listdir(data.parent)) == ["data.parquet", "model"]
    assert (model / "manifest.json").read_bytes() == before


def test_training_in_memory(data):
    train = ("train", "data.parquet", "--target", "rare", "-o", "model.dsna")
    stopped(started(data, "dsna.io.model_file:write", *train), signal.SIGTERM)  # while the file is open
    assert os.listdir(data.parent) == ["data.parquet"]


def test_prediction(data):
    done(ask("train", data, "--target", "rare", "-o", data.parent / "model.dsna"))
    predict = ("predict", "model.dsna", "data.parquet", "-o", "answers.csv")
    stopped(started(data, "dsna.classifier:DSNAClassifier.predict_proba", *predict), signal.SIGHUP)
    assert sorted(os.listdir(data.parent)) == ["data.parquet", "model.dsna"]


def test_nohup_goes_on(data):
    process = started(
        data, "dsna.io.model_file:write", "train", "data.parquet", "--target", "rare", "-o", "m.dsna", ignored=True
    )
    process.send_signal(signal.SIGHUP)
    time.sleep(0.2)
    assert process.poll() is None
    stopped(process, signal.SIGTERM)
