"""The entry points of the command line."""

import subprocess
import sys

import pytest

pytest.importorskip("typer")


def test_python_m_dsna_is_the_command_line():
    run = subprocess.run([sys.executable, "-m", "dsna", "train", "--help"], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert "dsna train" in run.stdout
