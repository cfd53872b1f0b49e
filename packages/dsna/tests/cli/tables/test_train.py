"""``dsna train`` from end to end: what it says, what it writes, and what it refuses."""

import errno
import json
import os

import numpy as np
import polars as pl
import pytest

pytest.importorskip("typer")

from tests.cli.tables.small_files import ask, done, refused, table, write

import dsna
from dsna._utils import atomic

PEERS = ("dsna", "random forest", "gradient boosting")


def test_it_says_what_was_read_how_rare_the_rare_is_how_good_it_is_and_what_is_next(tmp_path):
    frame = table()
    data = write(tmp_path, frame=frame.with_columns(pl.Series("rare", [None, *frame["rare"][1:]])))
    out = done(ask("train", data, "--target", "rare", "-o", tmp_path / "m.dsna", "--drop", "cost")).stdout
    rare = int((frame["rare"][1:] == "yes").sum())
    for part in (
        "120 rows, 8 columns", "rows without a target", "column 'person' is left out: it identifies rows", *PEERS,
        f"{rare} of 119 rows are yes", "balanced accuracy", "recall of yes", "precision of yes", "recall by class",
        "used most by the splits: size", "not a measure of importance",
        "Decision (balanced): by probability, yes from 0.",
        "with the training rows inside", "dsna predict", "--row 1", "--report",
    ):  # fmt: skip
        assert part in out, part
    model = dsna.load(tmp_path / "m.dsna")
    encoder = model.steps[0][1]
    assert encoder.target == "rare"
    assert "cost" not in encoder.types_
    assert encoder.rows_.identifiers().tolist() == frame["person"].to_list()[1:]
    assert encoder.rows_.number.tolist() == list(range(2, 121))


def test_numbers_for_programs(tmp_path):
    data = write(tmp_path)
    words = ("train", data, "--target", "cost", "--drop", "rare", "-o", tmp_path / "m.dsna", "--json")
    found = json.loads(done(ask(*words)).stdout)
    assert found["task"] == "regression"
    assert set(found["scores"]["overall"]) == set(PEERS)
    figure = found["scores"]["overall"]["dsna"]["of rare targets"]
    assert figure["low"] <= figure["value"] <= figure["high"]
    assert figure["cases"] >= 10
    assert sum(found["importances"].values()) == pytest.approx(1.0)
    assert "person" not in found["importances"]
    assert (tmp_path / "m.dsna").exists()


def test_the_scores_are_those_of_the_model_out_of_bag(tmp_path):
    data = write(tmp_path)
    words = ("train", data, "--target", "rare", "--drop", "cost", "-o", tmp_path / "m.dsna", "--json")
    found = json.loads(done(ask(*words)).stdout)["scores"]["overall"]["dsna"]
    last = dsna.load(tmp_path / "m.dsna").steps[1][1]
    assert found["balanced accuracy"]["value"] == pytest.approx(last.oob_balanced_accuracy_)
    assert found["accuracy"]["value"] == pytest.approx(last.oob_score_)


def test_it_says_when_the_others_learn_from_fewer_rows(tmp_path, monkeypatch):
    for place in ("dsna.app.peers.MAX_ROWS", "dsna.app.train.MAX_ROWS"):
        monkeypatch.setattr(place, 60)
    words = ("train", write(tmp_path), "--target", "rare", "--drop", "cost", "-o", tmp_path / "m.dsna")
    assert "learn from 60 rows at most" in done(ask(*words)).stdout


def test_options_reach_the_model(tmp_path):
    frame = table().with_columns(pl.Series("family", np.arange(120) // 4))
    data = write(tmp_path, frame=frame)
    run = ask(
        "train", data, "--target", "rare", "-o", tmp_path / "m.dsna", "--drop", "cost", "--groups", "family", "--costs",
        "20:1", "--sample", "80", "--no-rows", "--seed", "3", "--jobs", "2", "--types", "visits=category", "--id",
        "person",
    )  # fmt: skip
    assert "30 groups" in done(run).stdout
    assert "80 of 120 rows are used" in run.stdout
    encoder, last = (step for _, step in dsna.load(tmp_path / "m.dsna").steps)
    assert encoder.rows_ is None
    assert encoder.types_["visits"] == "category"
    assert set(encoder.drop) == {"cost", "family", "person"}
    assert np.asarray(last.decision).tolist() == [[0.0, 1.0], [20.0, 0.0]]
    assert last.random_state == 3
    assert len(last._index.fold) == 80
    assert last._index.weight.sum() == pytest.approx(120)
    folds = [np.unique(last._index.fold[last._index.fold >= 0])]
    assert len(folds[0]) > 1


def test_kept_columns_are_used(tmp_path):
    frame = table().with_columns(pl.col("rare").replace({"yes": "ill", "no": "well"}).alias("state"))
    data = write(tmp_path, frame=frame)
    said = done(ask("train", data, "--target", "rare", "-o", tmp_path / "a.dsna")).stdout
    assert "column 'state' is left out: it gives the target away" in said
    done(ask("train", data, "--target", "rare", "-o", tmp_path / "b.dsna", "--keep", "state"))
    assert "state" not in dsna.load(tmp_path / "a.dsna").steps[0][1].types_
    assert "state" in dsna.load(tmp_path / "b.dsna").steps[0][1].types_


def test_the_same_seed_gives_the_same_file(tmp_path):
    data = write(tmp_path)
    for name, jobs in (("a", 1), ("b", 2)):
        words = ("train", data, "--target", "rare", "-o", tmp_path / f"{name}.dsna", "--drop", "cost", "--jobs", jobs)
        done(ask(*words))
    a, b = (dsna.load(tmp_path / f"{name}.dsna") for name in "ab")
    new = table(20, 1)
    np.testing.assert_array_equal(a.predict_proba(new), b.predict_proba(new))


def test_a_page_of_it(tmp_path):
    data = write(tmp_path)
    page = tmp_path / "page.html"
    done(ask("train", data, "--target", "rare", "-o", tmp_path / "m.dsna", "--drop", "cost", "--report", page))
    html = page.read_text("utf-8")
    assert "random forest" in html
    assert "All methods answered the same rows out of bag" in html
    assert "it identifies rows" in html
    assert "<script>alert" not in html


def test_files_that_are_there_stay_unless_forced(tmp_path):
    data, model = write(tmp_path), tmp_path / "m.dsna"
    model.write_text("mine")
    refused(ask("train", data, "--target", "rare", "-o", model), "m.dsna already exists", "--force")
    assert model.read_text() == "mine"
    (tmp_path / "page.html").write_text("mine")
    words = ("train", data, "--target", "rare", "-o", tmp_path / "n.dsna", "--report", tmp_path / "page.html")
    refused(ask(*words), "page.html already exists")
    done(ask("train", data, "--target", "rare", "-o", model, "--force", "--drop", "cost"))
    assert dsna.load(model).predict(table(3, 1)).shape == (3,)
    refused(ask("train", data, "--target", "rare", "-o", model, "--report", model, "--force"), "two outputs")


@pytest.mark.parametrize(
    "words, parts",
    [
        (["--target", "nothing"], ["no column 'nothing'", "'rare'"]),
        (["--target", "raree"], ["did you mean 'rare'"]),
        (["--target", "since"], ["'since'", "dates"]),
        (["--target", "town", "--task", "regression"], ["'town'", "--task classification"]),
        (["--target", "rare", "--drop", "cost,nothing"], ["--drop nothing", "no such column"]),
        (["--target", "rare", "--keep", "nothing"], ["--keep nothing", "no such column"]),
        (["--target", "rare", "--groups", "nothing"], ["--groups nothing", "no such column"]),
        (["--target", "rare", "--drop", "rare"], ["--drop rare", "this is the target"]),
        (["--target", "rare", "--drop", "person,size,town,visits,since,smokes,cost"], ["no column is left"]),
        (["--target", "rare", "--costs", "20"], ["--costs 20", "20:1"]),
        (["--target", "rare", "--costs", "a:b"], ["--costs a:b"]),
        (["--target", "rare", "--costs", "20:0"], ["20:0", "more than 0", "20:1"]),
        (["--target", "rare", "--costs", "-5:1"], ["-5:1", "more than 0"]),
        (["--target", "rare", "--costs", "nan:1"], ["nan:1", "more than 0"]),
        (["--target", "rare", "--costs", "[[0, NaN], [1, 0]]"], ["2 x 2 finite costs"]),
        (["--target", "rare", "--costs", "[[1, 1], [1, 1]]"], ["costs do not depend on the prediction"]),
        (["--target", "rare", "--costs", "[[0, 1]]"], ["2 x 2", "costs"]),
        (["--target", "visits", "--costs", "20:1"], ["two classes", "matrix"]),
        (["--target", "rare", "--costs", "20:1", "--decision", "f1"], ["--decision and --costs"]),
        (["--target", "rare", "--decision", "perfection"], ["perfection"]),
        (["--target", "rare", "--balance", "much"], ["--balance much", "0 to 1"]),
        (["--target", "rare", "--balance", "7"], ["--balance 7", "0 to 1"]),
        (["--target", "rare", "--balance", "nan"], ["--balance nan", "0 to 1"]),
        (
            ["--target", "rare", "--balance", "auto"],
            ["balance 'auto' applies to numeric targets only", "Remedy: give a number"],
        ),
        (
            ["--target", "rare", "--decision", "median"],
            ["'median' applies to numeric targets only", "Remedy: use balanced, f1"],
        ),
        (["--target", "cost", "--decision", "perfection"], ["perfection"]),
        (
            ["--target", "cost", "--decision", "f1"],
            ["'f1' does not apply to a numeric target", "use auto, mean, trimmed, median"],
        ),
        (["--target", "cost", "--costs", "20:1"], ["costs apply to classes", "Remedy: use --balance"]),
        (["--target", "rare", "--types", "size"], ["--types size", "zip=category"]),
        (["--target", "rare", "--types", "size=colour"], ["'colour'", "size"]),
        (["--target", "rare", "--types", "nothing=number"], ["nothing"]),
        (["--target", "rare", "--separator", "::"], ["separator"]),
        (["--target", "rare", "--encoding", "klingon"], ["klingon"]),
    ],
)
def test_what_a_user_can_mend_is_told_and_nothing_is_written(tmp_path, words, parts):
    data = write(tmp_path)
    refused(ask("train", data, "-o", tmp_path / "m.dsna", *words), *parts)
    assert [path.name for path in tmp_path.iterdir()] == ["data.csv"]


@pytest.mark.parametrize(
    "content, parts",
    [
        (b"", ["data.csv", "empty"]),
        (b"a,y\n", ["data.csv", "no row"]),
        (b"y\n1\n2\n", ["one column"]),
        (b"a,a,y\n1,2,x\n1,3,z\n", ["'a'", "columns 1 and 2"]),
        (b"a,b,y\n1,2,x\n1,3\n", ["line 3", "3 fields"]),
        (b"a,y\n" + b"1,x\n2,x\n" * 30, ["'y'", "one value only"]),
        (b"a,y\n" + b"1,\n2,\n" * 30, ["'y'", "no value"]),
        (b"PK\x03\x04" + bytes(50), ["data.csv", "CSV"]),
    ],
)
def test_files_that_cannot_be_learned_from(tmp_path, content, parts):
    (tmp_path / "data.csv").write_bytes(content)
    refused(ask("train", tmp_path / "data.csv", "--target", "y", "-o", tmp_path / "m.dsna"), *parts)
    assert [path.name for path in tmp_path.iterdir()] == ["data.csv"]


def test_places_that_cannot_be_written_are_told_before_any_work(tmp_path, monkeypatch):
    monkeypatch.setattr("dsna.tables.files.table.source_of", lambda *_: pytest.fail("work was begun"))
    data = write(tmp_path)
    refused(ask("train", data, "--target", "rare", "-o", tmp_path / "gone" / "m.dsna"), "there is no folder", "Remedy")
    refused(ask("train", data, "--target", "rare", "-o", tmp_path), "a folder, but a file is needed")
    words = ("train", data, "--target", "rare", "-o", tmp_path / "m.dsna", "--report", tmp_path / "gone" / "p.html")
    refused(ask(*words), "there is no folder")


def test_a_full_disk(tmp_path, monkeypatch):
    data = write(tmp_path)

    def full(_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(atomic.os, "fsync", full)
    words = ("train", data, "--target", "rare", "-o", tmp_path / "m.dsna", "--drop", "cost")
    refused(ask(*words), "m.dsna: the disk is full")
    assert [path.name for path in tmp_path.iterdir()] == ["data.csv"]
