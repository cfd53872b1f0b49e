"""Copies of rows, and rows whose labels hardly fit: what ``dsna train`` and ``dsna evaluate`` say of them."""

import json

import numpy as np
import polars as pl
import pytest

pytest.importorskip("typer")

from tests.cli.tables.small_files import ask, done, refused, write

import dsna


@pytest.fixture(autouse=True)
def alone(monkeypatch):
    """No other methods, which take most of the time."""
    for module in ("evaluate", "peers"):  # which takes the name from the other
        monkeypatch.setattr(f"dsna.app.{module}.peers", lambda *_: {})


def persons(n=150, seed=0):
    """A class that the columns say little of; every person has a name."""
    rng = np.random.default_rng(seed)
    size, town = rng.normal(size=n), rng.choice(["Ulm", "Bonn"], n)
    ill = np.where(size + 2.0 * rng.normal(size=n) > 2.0, "yes", "no")
    cost = size + rng.normal(size=n)
    return pl.DataFrame({"size": size, "town": town, "age": rng.normal(50, 9, n), "ill": ill, "cost": cost})


def codes(n=400, seed=0):
    """Rows of three columns of few values, many of them equal by chance."""
    rng = np.random.default_rng(seed)
    a, b, c = rng.integers(3, size=(3, n))
    return pl.DataFrame({"a": a, "b": b, "c": c, "ill": np.where(rng.random(n) < 0.1 + 0.2 * (a == b), "yes", "no")})


def numbered(frames):
    """Frames below each other, with a column that numbers the rows."""
    return pl.concat(frames).with_row_index("id", 1)


def train(folder, frame, *words):
    """What ``dsna train --json`` says, and the model."""
    data = write(folder, frame=frame)
    run = done(ask("train", data, "-o", folder / "m.dsna", "--force", "--json", *words))
    return json.loads(run.stdout), dsna.load(folder / "m.dsna").steps[1][1]


def note_of(found):
    return next((note for note in found["notes"] if "equal another row" in note), None)


@pytest.mark.parametrize("target, other", [("ill", "cost"), ("cost", "ill")])
def test_copies_are_held_out_together_and_both_scores_are_told(tmp_path, target, other):
    rows = persons()
    words = ("--target", target, "--drop", other)
    once, _ = train(tmp_path, rows, *words)
    found, model = train(tmp_path, numbered([rows] * 3), *words)
    assert note_of(once) is None
    assert "equal_rows_apart" not in once
    assert "450 of 450 rows equal another row" in note_of(found)
    assert "(150 distinct rows), too many for a coincidence: they are held out together" in note_of(found)
    fold = model._index.fold.reshape(3, 150)
    assert np.array_equal(fold[0], fold[1])
    assert np.array_equal(fold[0], fold[2])
    measure = "balanced accuracy" if target == "ill" else "mean absolute error"
    first, together = (one["scores"]["overall"]["dsna"][measure]["value"] for one in (once, found))
    apart = found["equal_rows_apart"]["dsna"][measure]["value"]
    assert abs(apart - first) > 0.1
    assert abs(together - first) < 0.5 * abs(apart - first)


def test_the_difference_is_said_in_a_sentence(tmp_path):
    data = write(tmp_path, frame=numbered([persons()] * 3))
    for words in (("train", "-o", tmp_path / "m.dsna"), ("evaluate", "--folds", "3")):
        said = done(ask(words[0], data, "--target", "ill", "--drop", "cost", *words[1:])).stdout
        assert "With equal rows held out together, as above, the balanced accuracy of dsna is 0." in said
        assert "with equal rows in different folds it would be" in said


def test_equal_rows_of_few_codes_are_counted_and_change_nothing(tmp_path):
    found, model = train(tmp_path, numbered([codes()]), "--target", "ill")
    assert "this may be a coincidence" in note_of(found)
    assert "equal_rows_apart" not in found
    columns = [one for one in found["notes"] if "identifies" in one or "numbers the rows" in one]
    assert len(columns) == 1
    encoder = dsna.load(tmp_path / "m.dsna").steps[0][1]
    plain = dsna.DSNAClassifier(random_state=0).fit(encoder.transform(codes()), codes()["ill"].to_numpy())
    np.testing.assert_array_equal(plain.oob_decision_function_, model.oob_decision_function_)


def test_a_table_of_few_codes_copied_as_a_whole_is_no_chance(tmp_path):
    found, _ = train(tmp_path, numbered([codes()] * 3), "--target", "ill")
    assert "1200 of 1200 rows" in note_of(found)
    assert "held out together" in note_of(found)


def test_rows_that_differ_in_a_column_in_use_are_not_equal(tmp_path):
    rows = pl.concat([persons(), persons()]).with_columns(pl.Series("dose", np.arange(300) / 7.0))
    assert note_of(train(tmp_path, rows, "--target", "ill", "--drop", "cost")[0]) is None
    assert "300 of 300" in note_of(train(tmp_path, rows, "--target", "ill", "--drop", "cost,dose")[0])


def test_gaps_are_equal_to_gaps(tmp_path):
    rows = persons().with_columns(pl.when(pl.col("size") > 0).then(pl.col("size")).alias("size"))
    found, _ = train(tmp_path, pl.concat([rows, rows[:20]]), "--target", "ill", "--drop", "cost")
    assert "40 of 170 rows" in note_of(found)


def test_copies_join_the_groups_that_a_user_names(tmp_path):
    rows = persons(150)
    ward = np.r_[np.arange(150) // 3, 50 + np.arange(150) // 5]
    twice = pl.concat([rows, rows]).with_columns(pl.Series("ward", ward))
    found, model = train(tmp_path, twice, "--target", "ill", "--drop", "cost", "--groups", "ward")
    fold = model._index.fold
    assert np.array_equal(fold[:150], fold[150:])
    assert all(len(np.unique(fold[ward == one])) == 1 for one in range(80))
    assert "equal_rows_apart" in found


def test_a_sample_of_copies(tmp_path):
    rows = numbered([persons(150)] * 3)
    found, model = train(tmp_path, rows, "--target", "ill", "--drop", "cost", "--sample", "200")
    assert "450 of 450 rows" in note_of(found)
    assert "equal_rows_apart" in found
    assert len(model._index.fold) == 200


def test_few_rare_rows_are_said(tmp_path):
    rows = persons(448).with_columns(pl.Series("ill", ["yes"] * 3 + ["no"] * 445))
    data = write(tmp_path, frame=rows)
    said = done(ask("train", data, "--target", "ill", "--drop", "cost", "-o", tmp_path / "m.dsna")).stdout
    assert "fewer than 10 rows of yes (3)" in said


def mislabelled(n=400, wrong=(17, 80, 333)):
    """Classes that the columns say everything of, but for a few rows; rows have names."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    ill = X[:, 0] > 0.8
    ill[list(wrong)] = ~ill[list(wrong)]
    frame = pl.DataFrame(X, schema=["a", "b", "c"]).with_columns(pl.Series("ill", np.where(ill, "yes", "no")))
    return frame.with_columns(pl.Series("person", [f"P{i:03d}" for i in range(n)]))


def test_suspects_are_printed_by_number_and_name(tmp_path):
    found, _ = train(tmp_path, mislabelled(), "--target", "ill", "--suspects")
    suspects = found["suspects"]
    assert suspects["looked_at"] == "all 400 rows"
    assert {18, 81, 334} & {one["row"] for one in suspects["worst"]}
    assert all(one["id"] == f"P{one['row'] - 1:03d}" for one in suspects["worst"])
    assert len(suspects["worst"]) == min(10, suspects["number"])
    words = ("train", tmp_path / "data.csv", "--target", "ill", "-o", tmp_path / "m.dsna", "--force")
    worst = suspects["worst"][0]
    line = f"row {worst['row']} ({worst['id']}): {worst['label']}, neighbours say"
    assert line in done(ask(*words, "--suspects")).stdout
    assert line in done(ask(*words, "--report", tmp_path / "page.html")).stdout
    assert line not in done(ask(*words)).stdout


def test_suspects_of_numbers(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    cost = 3.0 * x + 0.1 * rng.normal(size=300)
    cost[42] = 40.0
    found, _ = train(
        tmp_path, pl.DataFrame({"x": x, "z": rng.normal(size=300), "cost": cost}), "--target", "cost", "--suspects"
    )
    assert found["suspects"]["worst"][0]["row"] == 43
    assert found["suspects"]["worst"][0]["id"] is None
    assert found["suspects"]["worst"][0]["neighbours_say"].startswith("about ")


def test_a_table_without_suspects_says_so(tmp_path):
    x = np.arange(200.0)
    data = write(tmp_path, frame=pl.DataFrame({"x": np.sin(x), "y": np.where(np.sin(x) > 0.0, "up", "down")}))
    said = done(ask("train", data, "--target", "y", "-o", tmp_path / "m.dsna", "--suspects")).stdout
    assert "none clearly contradicts them" in said or "hardly fit" in said


def test_rows_without_a_target_keep_the_numbers_of_the_file(tmp_path):
    rows = mislabelled()
    gaps = pl.concat([rows[:1].with_columns(pl.lit(None, dtype=str).alias("ill")), rows])
    found, _ = train(tmp_path, gaps, "--target", "ill", "--suspects")
    assert all(one["id"] == f"P{one['row'] - 2:03d}" for one in found["suspects"]["worst"])


def test_suspects_need_all_rows_in_memory(tmp_path):
    data = tmp_path / "data.parquet"
    mislabelled().write_parquet(data)
    run = ask("train", data, "--target", "ill", "-o", tmp_path / "m", "--out-of-core", "--suspects")
    refused(run, "--suspects needs all rows in memory", "--sample")
    assert not (tmp_path / "m").exists()


def test_suspects_of_too_few_rows_are_none(tmp_path):
    data = write(tmp_path, frame=mislabelled(9, wrong=()).with_columns(pl.Series("ill", ["yes", "no", "no"] * 3)))
    said = done(ask("train", data, "--target", "ill", "-o", tmp_path / "m.dsna", "--suspects")).stdout
    assert "There are too few rows for scores" in said
