"""What the commands on tables say: files by their names, remedies as one types them, warnings as notes."""

import polars as pl
import pytest

pytest.importorskip("typer")

from tests.cli.tables.small_files import ask, done, model_file, refused, table, write


@pytest.mark.parametrize("command", ["predict", "explain", "evaluate", "add"])
def test_files_that_lack_a_column_are_named(tmp_path, command):
    model, out = model_file(tmp_path), tmp_path / "out"
    more = ["-o", out] if command in ("predict", "add") else []
    new = write(tmp_path, "new.csv", table(30, 1).rename({"visits": "visit"}))
    run = ask(command, model, new, *more)
    refused(run, "new.csv: lacks 'visits' (did you mean 'visit'?)", "there are 'person', 'size'", "Remedy: add")
    assert "fit" not in run.stderr
    assert not out.exists()
    refused(ask(command, model, write(tmp_path, "new.csv", table(30, 1).drop("size", "town")), *more), "'size', 'town'")


def test_further_columns_are_noted_without_the_words_of_programs(tmp_path):
    new = write(tmp_path, "new.csv", table(30, 1).with_columns(colour=pl.lit("red")))
    run = done(ask("predict", model_file(tmp_path), new, "-o", tmp_path / "a.csv"))
    assert "there are the columns 'colour', which training had not: ignored" in run.stdout
