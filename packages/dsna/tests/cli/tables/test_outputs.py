"""Outputs of the commands on tables: never over what is read, and refused before any work where none can be made."""

import os
from pathlib import Path

import polars as pl
import pytest

pytest.importorskip("typer")

from tests.cli.tables.small_files import ask, done, model_file, refused, table, write

from dsna.cli.tables.options import check_not_inputs


def test_inputs_are_not_written_over_even_by_force(tmp_path):
    data, model = write(tmp_path), model_file(tmp_path)
    (tmp_path / "link.csv").symlink_to(data)
    before = data.read_bytes(), model.read_bytes()
    runs = [
        ("train", data, "--target", "rare", "-o", data),
        ("train", data, "--target", "rare", "-o", tmp_path / "link.csv"),
        ("train", data, "--target", "rare", "-o", tmp_path / "new.dsna", "--report", data),
        ("evaluate", data, "--target", "rare", "--report", data),
        ("evaluate", model, data, "--report", data),
        ("evaluate", model, data, "--report", model),
        ("predict", model, data, "-o", tmp_path / "." / "data.csv"),
        ("predict", model, data, "-o", model),
        ("explain", model, data, "--plot", data),
        ("explain", model, data, "--plot", model),
        ("add", model, data, "-o", data),
    ]
    for words in runs:
        refused(
            ask(*words, "--force"),
            "is an input; writing the output there would overwrite it",
            "Remedy: choose another name",
        )
    assert (data.read_bytes(), model.read_bytes()) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data.csv", "link.csv", "rare.dsna"]


@pytest.mark.parametrize("place", [".", "there", "there/inside"])
def test_folders_in_the_place_of_files_are_called_so(tmp_path, monkeypatch, place):
    monkeypatch.chdir(tmp_path)
    Path("there/inside").mkdir(parents=True)
    model, data = model_file(tmp_path), write(tmp_path)
    for output in ("new", place, f"{place}/new"):
        runs = [
            ("train", place, "--target", "rare", "-o", output),
            ("train", place, "--target", "rare", "-o", output, "--out-of-core"),
            ("predict", model, place, "-o", output),
            ("predict", place, data, "-o", output),
            ("explain", model, place, "--plot", output),
            ("evaluate", place, "--target", "rare", "--report", output),
            ("add", model, place, "-o", output),
        ]
        for words in runs:
            refused(ask(*words, "--force"), f": {place}: a folder, not a file. Remedy: name the files in it")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data.csv", "rare.dsna", "there"]


def test_a_model_may_grow_where_it_is(tmp_path):
    model, more = model_file(tmp_path), write(tmp_path, "more.csv", table(6, 2))
    assert "knows 126 now" in done(ask("add", model, more, "-o", model, "--force")).stdout


def test_folders_of_models_are_not_written_into(tmp_path):
    (tmp_path / "m").mkdir()
    pl.DataFrame({"a": [1]}).write_parquet(tmp_path / "m" / "data.parquet")
    words = ("--target", "a", "-o", tmp_path / "m", "--out-of-core", "--force")
    refused(
        ask("train", tmp_path / "m" / "data.parquet", *words),
        "is an input; writing the output there would overwrite it",
    )
    with pytest.raises(Exception, match="would overwrite"):
        check_not_inputs([tmp_path / "m" / "manifest.json"], [tmp_path / "m"])
    check_not_inputs([tmp_path / "n", "a.csv"], [tmp_path / "m", "-", None])


@pytest.mark.skipif(
    not Path("/proc/self").exists(), reason="a folder that takes no files, also of root, is known on Linux only"
)
def test_folders_that_take_no_files_are_found_out_before_any_work(tmp_path, monkeypatch):
    monkeypatch.setattr("dsna.tables.files.table.source_of", lambda *_: pytest.fail("work was begun"))
    data = write(tmp_path)
    refused(ask("train", data, "--target", "rare", "-o", "/proc/o.dsna"), "/proc/o.dsna: in a folder that ", "Remedy")


def test_a_full_disk_is_found_out_before_any_work(tmp_path, monkeypatch):
    monkeypatch.setattr("dsna.tables.files.table.source_of", lambda *_: pytest.fail("work was begun"))
    data = write(tmp_path)

    def full(*_):
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr("dsna._utils.atomic.os.open", full)
    refused(ask("train", data, "--target", "rare", "-o", tmp_path / "m.dsna"), "m.dsna: the disk is full")
