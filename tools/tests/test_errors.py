"""Errors of all packages have one root, and a bug is never shown as a sentence."""

from importlib import import_module
from pkgutil import walk_packages

import pytest

pytest.importorskip("typer")
from tests.commands import invoke_study

import dsna
import dsna_studies
import dsna_vision
from dsna import DSNAError

#: Exceptions that are not for users: a fitted model that contradicts itself.
INTERNAL = {"InvariantError"}


def test_a_bug_in_a_command_is_not_hidden(tmp_path, monkeypatch):
    def broken(*_, **__):
        raise ValueError("a bug")

    monkeypatch.setattr("dsna_studies.tabular.benchmark.find_tables", broken)
    run = invoke_study("benchmark", tmp_path, "--out", tmp_path / "out")
    assert run.exit_code == 1
    assert isinstance(run.exception, ValueError)


def test_all_errors_of_the_packages_have_one_root():
    for package in (dsna, dsna_vision, dsna_studies):
        for module in walk_packages(package.__path__, f"{package.__name__}."):
            if "_kernels" not in module.name and not module.name.endswith("__main__"):
                import_module(module.name)

    def below(kind):
        return {kind, *(found for sub in kind.__subclasses__() for found in below(sub))}

    ours = {kind for kind in below(Exception) if kind.__module__.startswith("dsna")}
    stray = {kind.__name__ for kind in ours if not issubclass(kind, DSNAError | Warning)}
    assert stray <= INTERNAL
    assert {kind.__name__ for kind in ours} >= {
        "TableError", "DataError", "EdgesError", "PhotoError", "ModelFileError", "UnusableFile",
        "FileError", "MethodError", "ResultsError",
    }  # fmt: skip
