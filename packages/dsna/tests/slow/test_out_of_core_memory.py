"""``dsna train --out-of-core`` on a file of three times the anonymous memory that the process ever holds."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="anonymous memory is read from /proc"),
]

COLUMNS = 30
#: Runs commands in this process, and looks at its anonymous memory all the while. Mapped files do not count: the system
#: takes their pages back whenever it needs them.
PROGRAM = """
import json, sys, threading, time
from typer.testing import CliRunner
from dsna.cli.app import app

peak, over = 0, False
def look():
    global peak
    while not over:
        with open("/proc/self/status") as lines:
            anonymous = next(int(line.split()[1]) for line in lines if line.startswith("RssAnon"))
        peak = max(peak, 1024 * anonymous)
        time.sleep(0.02)

watch = threading.Thread(target=look, daemon=True)
watch.start()
data, model, answers = sys.argv[1:]
commands = (
    ["train", data, "--target", "y", "-o", model, "--out-of-core"], ["predict", model, data + ".new", "-o", answers]
)
codes = []
for command in commands:
    run = CliRunner().invoke(app, command)
    codes.append(run.exit_code)
    print(run.output, run.exception, file=sys.stderr)
over = True
watch.join()
print(json.dumps({"peak": peak, "codes": codes, "cpu": time.process_time()}))
"""


def write(path, rows, seed):
    rng = np.random.default_rng(seed)
    names = [f"x{j}" for j in range(COLUMNS)]
    writer = None
    for begin in range(0, rows, 50_000):
        n = min(50_000, rows - begin)
        X = rng.normal(size=(n, COLUMNS))
        rare = X[:, 0] + X[:, 1] + 0.5 * rng.normal(size=n) > 3.9
        part = pa.table({**dict(zip(names, X.T, strict=True)), "y": np.where(rare, "yes", "no")})
        writer = writer or pq.ParquetWriter(path, part.schema, compression="none", use_dictionary=["y"])
        writer.write_table(part)
    writer.close()


def trained(folder, rows):
    """Size of the file, and what the commands came to."""
    data = folder / "huge.parquet"
    write(data, rows, 0)
    write(folder / "huge.parquet.new", 20_000, 1)
    arguments = [sys.executable, "-c", PROGRAM, data, folder / "model", folder / "answers.csv"]
    run = subprocess.run(list(map(str, arguments)), capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout.splitlines()[-1])
    assert found["codes"] == [0, 0], run.stderr
    return data.stat().st_size, found


def test_a_file_of_three_times_the_memory(tmp_path):
    size, found = trained(tmp_path, 6_000_000)
    assert size > 3 * found["peak"], (size, found)
    assert (tmp_path / "answers.csv").exists()
