"""What is imported when: heavy libraries only where they are needed."""

import os
import subprocess
import sys

import pytest

import dsna

HEAVY = ("sklearn", "numba", "scipy", "pandas", "matplotlib", "joblib")


def _run(code, *arguments):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, env=environment, check=True
    ).stdout.splitlines()


def test_importing_dsna_imports_nothing_heavy():
    code = "import sys, dsna; dir(dsna); dsna.__version__; print(*sys.modules)"
    loaded = _run(code)[-1].split()
    assert "dsna" in loaded
    assert not set(HEAVY) & set(loaded)


def test_importing_an_estimator_imports_no_reader_of_files():
    loaded = _run("import sys, dsna; dsna.DSNAClassifier; print(*sys.modules)")[-1].split()
    assert "dsna.classifier" in loaded
    assert not [name for name in loaded if name.startswith(("dsna.tables", "dsna.distributed", "dsna.io", "polars"))]


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["train", "--help"], ["edges", "--help"]])
def test_help_and_version_import_nothing_heavy(arguments):
    code = """
import sys
from dsna.cli.main import main
sys.argv[0] = "dsna"
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
print(*sys.modules)
"""
    lines = _run(code, *arguments)
    assert len(lines) > 1  # the help or the version, too
    assert not set(HEAVY) & set(lines[-1].split())


def test_public_names_are_found_listed_and_starred():
    starred = {}
    exec("from dsna import *", starred)
    for name in dsna.__all__:
        assert name in dir(dsna)
        assert getattr(dsna, name) is starred[name]
    assert set(dsna.__all__) == set(dsna._MODULES)


def test_unknown_names_are_errors():
    with pytest.raises(AttributeError, match="no attribute 'DSNAClasifier'"):
        dsna.DSNAClasifier  # noqa: B018
