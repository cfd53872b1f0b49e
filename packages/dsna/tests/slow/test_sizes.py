"""The benchmark of sizes on tiny tables: one line for each fit, none twice, and what does not fit is said so."""

import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

COMMAND = Path(__file__).parents[4] / "benchmarks" / "sizes.py"
pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")]


def run(out, *words):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    command = [sys.executable, str(COMMAND), "--out", str(out), *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=True)


def test_runs_resume_and_fits_are_bounded(tmp_path):
    out = tmp_path / "sizes.csv"
    run(out, "--rows", 500, "--methods", "RandomForest", "--trees", 5)
    before = out.read_text()
    again = run(out, "--rows", 500, 1000, "--methods", "DSNA", "RandomForest", "--trees", 5)
    assert out.read_text().startswith(before)
    assert "RandomForest: between the last two sizes" in again.stdout
    run(out, "--rows", 200_000, "--methods", "RandomForest", "--limit", 0.01)
    found = pd.read_csv(out)
    assert found.groupby(["rows", "method"]).size().to_dict() == {
        (500, "DSNA"): 1, (500, "RandomForest"): 1, (1000, "DSNA"): 1, (1000, "RandomForest"): 1,
        (200_000, "RandomForest"): 1,
    }  # fmt: skip
    assert found.outcome.tolist() == ["fitted"] * 4 + ["out of memory"]
    assert (found.peak_bytes[:4] > 0).all()
    assert found.balanced_accuracy[:4].between(0.4, 1.0).all()
