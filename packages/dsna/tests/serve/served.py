"""Small models behind a server, and how tests ask it."""

from __future__ import annotations

import functools
import io
import os
import re
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sklearn.pipeline import make_pipeline
from tests.cli.tables.small_files import table as people

import dsna
from dsna import CostSensitiveForestClassifier, CostSensitiveForestRegressor, DSNAClassifier, DSNARegressor
from dsna.tables import TableEncoder

SCRIPT = "<script>window.hacked = 1</script>"
FORMULA = "=HYPERLINK(1)"
ARABIC = "العربية"
EMOJI = "😀👩‍👩‍👧"
ODD = 'a "quoted" <b>&amp; name'
HOST = "http://127.0.0.1:8000"
HOSTILE = (SCRIPT, FORMULA, ARABIC, EMOJI, "'; DROP TABLE x; --", "\u202eevil", "x" * 10_000, "{{ 7 * 7 }}", "\x00\x07")


def table(n=120, seed=0):
    """The people of other tests, with further kinds of columns; some names are hostile."""
    frame = people(n, seed)
    rng = np.random.default_rng(seed)
    return frame.with_columns(
        pl.Series("pain", rng.choice(["low", "medium", "high"], n)),
        pl.Series("story", [f"came in {word} and left the next day" for word in rng.choice(["May", "June"], n)]),
        pl.Series(ODD, rng.choice([SCRIPT, ARABIC, "plain"], n)),
    )


@functools.cache
def model(task="classification", keep_rows=True):
    """A pipeline of few trees that is fitted once."""
    frame = table()
    target, other = ("rare", "cost") if task == "classification" else ("cost", "rare")
    types = {"story": "text", "person": "identifier"}
    encoder = TableEncoder(types, target=target, drop=[other], keep_rows=keep_rows)
    if task == "classification":
        last = DSNAClassifier(CostSensitiveForestClassifier(12), random_state=0)
    else:
        last = DSNARegressor(CostSensitiveForestRegressor(12), random_state=0)
    return make_pipeline(encoder, last).fit(frame, frame[target].to_numpy())


def service(task="classification", keep_rows=True, **limits):
    pytest.importorskip("fastapi")
    from dsna.serve.limits import Limits
    from dsna.serve.service import Service

    return Service(model(task, keep_rows), Limits(**limits))


def client(task="classification", keep_rows=True, access=None, host=HOST, **limits):
    """A client of a server in this process; every answer is checked for the headers that all must have."""
    testing = pytest.importorskip("fastapi.testclient")
    from dsna.serve.application import create_app

    made = testing.TestClient(
        create_app(service(task, keep_rows, **limits), access),
        base_url=host,
        raise_server_exceptions=False,
        follow_redirects=False,
    )
    made.event_hooks["response"] = [check_headers]
    return made


def check_headers(response):
    policy = response.headers["content-security-policy"].split("; ")
    assert policy[0] == "default-src 'none'"
    assert not [
        part for part in policy if "unsafe" in part or "*" in part or "http" in part or part.startswith("script")
    ]
    assert response.headers["x-content-type-options"] == "nosniff"
    assert response.headers["cache-control"] == "no-store"
    assert response.headers["x-frame-options"] == "DENY"
    assert not [name for name in response.headers if name.startswith("access-control")]
    assert "server" not in response.headers


def as_csv(frame):
    stream = io.BytesIO()
    frame.write_csv(stream)
    return stream.getvalue()


def sent(frame, **more):
    """What a form with this table as its file sends."""
    content = frame if isinstance(frame, bytes) else as_csv(frame)
    return {"files": {"file": ("new.csv", content, "text/csv")}, "data": more}


def objects(frame):
    """Rows as JSON has them."""
    return [
        {name: str(cell) if hasattr(cell, "isoformat") else cell for name, cell in row.items()}
        for row in frame.to_dicts()
    ]


def form_of(made, row):
    """Values of a form, by its keys, of a row of the table."""
    from dsna.serve.fields import as_value

    return {field.key: as_value(field, row[field.name]) for field in made.fields}


def refused(response, status, *parts):
    """An answer of this status whose one sentence holds these parts."""
    assert response.status_code == status, response.text
    error = response.json()["error"]
    assert [part for part in parts if part not in error] == [], error
    assert "Traceback" not in response.text
    assert len(error) < 2200


@contextmanager
def running(folder, *options, before="pass"):
    """A server in a process of its own, in which a statement is run first, and its address."""
    path = folder / "m.dsna"
    dsna.save(model(), path)
    source = Path(dsna.__file__).parents[1]
    paths = os.pathsep.join([str(source), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": paths, "PYTHONUNBUFFERED": "1"}
    start = f"{before}; import sys; sys.argv[0] = 'dsna'; from dsna.cli.main import main; main()"
    command = [sys.executable, "-c", start, "serve", str(path), "--port", "0", *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)
    stop = threading.Timer(120, process.kill)
    stop.start()
    try:
        said = ""
        while "Ctrl-C" not in said:
            line = process.stdout.readline()
            assert line, said
            said += line
        yield process, re.search(r"http://[\d.]+:\d+", said)[0], said
    finally:
        process.kill()
        process.communicate()
        stop.cancel()
