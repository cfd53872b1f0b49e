"""``dsna info``, ``explain``, ``add``, ``evaluate`` and ``demo`` from end to end."""

import json

import numpy as np
import polars as pl
import pytest

pytest.importorskip("typer")

from tests.cli.tables.small_files import ask, done, model_file, refused, table, write

import dsna


def test_info(tmp_path):
    model = model_file(tmp_path)
    said = done(ask("info", model)).stdout
    for part in (
        "predicts: rare (classification)", "yes", "size: number", "town: category", "since: date", "left out: cost",
        "out of bag", "balanced accuracy", "holds the original values of the training rows", "named by: person",
    ):  # fmt: skip
        assert part in said, part
    found = json.loads(done(ask("info", model, "--json")).stdout)
    assert found["holds_training_rows"] is True
    assert found["training_rows"] == 120
    assert sum(found["classes"].values()) == 120
    cost = json.loads(done(ask("info", model_file(tmp_path, "cost"), "--json")).stdout)
    assert cost["task"] == "regression"
    assert cost["range"] == [table()["cost"].min(), table()["cost"].max()]


def test_info_says_when_a_file_holds_no_rows(tmp_path):
    dsna.save(dsna.load(model_file(tmp_path)), tmp_path / "bare.dsna", rows=False)
    assert "does not hold the original values of the training rows" in done(ask("info", tmp_path / "bare.dsna")).stdout
    assert json.loads(done(ask("info", tmp_path / "bare.dsna", "--json")).stdout)["holds_training_rows"] is False


@pytest.mark.parametrize("target", ["rare", "cost"])
def test_explain(tmp_path, target):
    model, new = model_file(tmp_path, target), write(tmp_path, "new.csv", table(30, 1))
    said = done(ask("explain", model, new, "--row", 17, "--largest", 3)).stdout
    why = dsna.inspection.explain(dsna.load(model), table(30, 1)[16:17])
    names = why.row_names(0, why.ordered()[0][0, :3])
    assert said.splitlines()[0].startswith("New row 17: predicted")
    assert said.splitlines()[2].split()[:4] == ["new", "row", "17", "row"]
    assert "query" not in said.lower()
    for part in ("person", *names, "town", "since", "weight"):
        assert part in said, part
    found = json.loads(done(ask("explain", model, new, "--row", 17, "--largest", 3, "--json")).stdout)
    assert [row["name"] for row in found["training_rows"]] == names
    assert found["prediction"] == why.predict_shown()[0]
    done(ask("explain", model, new, "--row", 17, "--plot", tmp_path / "why.png"))
    assert (tmp_path / "why.png").read_bytes().startswith(b"\x89PNG")


def test_explain_refuses_rows_that_are_not_there(tmp_path):
    model, new = model_file(tmp_path), write(tmp_path, "new.csv", table(5, 1))
    refused(ask("explain", model, new, "--row", 6), "there is no row 6", "from 1 to 5")
    refused(ask("explain", model, new, "--plot", tmp_path / "why.docx"), ".docx", ".png")
    assert not (tmp_path / "why.docx").exists()
    refused(ask("explain", model, new, "--plot", model), "would overwrite")


def test_added_rows_are_neighbours_and_have_names(tmp_path):
    model = model_file(tmp_path)
    new = table(6, 2).with_columns(rare=pl.lit("new"), size=pl.lit(9.0))
    more, grown = write(tmp_path, "more.csv", new), tmp_path / "grown.dsna"
    said = done(ask("add", model, more, "-o", grown)).stdout
    assert "6 rows were added; the model knows 126 now" in said
    assert "New classes: new" in said
    found = json.loads(done(ask("info", grown, "--json")).stdout)
    assert found["added_rows"] == 6
    assert found["classes"]["new"] == 6
    before, after = dsna.load(model), dsna.load(grown)
    assert len(before.steps[1][1].classes_) == 2
    assert (after.predict(new) == "new").sum() >= 4
    why = json.loads(done(ask("explain", grown, more, "--json")).stdout)
    assert {row["name"] for row in why["training_rows"]} & set(new["person"])


def test_rows_of_one_class_and_of_numbers_can_be_added(tmp_path):
    rare = write(tmp_path, "more.csv", table(30, 2).filter(pl.col("rare") == "yes"))
    done(ask("add", model_file(tmp_path), rare, "-o", tmp_path / "a.dsna"))
    done(ask("add", model_file(tmp_path, "cost"), rare, "-o", tmp_path / "b.dsna"))
    last = dsna.load(tmp_path / "b.dsna").steps[1][1]
    n = pl.read_csv(rare).height
    np.testing.assert_array_equal(last._index.label[-n:, 0], pl.read_csv(rare)["cost"])


def test_rows_without_their_target_cannot_be_added(tmp_path):
    model, more = model_file(tmp_path), write(tmp_path, "more.csv", table(9, 2).drop("rare"))
    refused(ask("add", model, more, "-o", tmp_path / "a.dsna"), "no column 'rare'")
    assert not (tmp_path / "a.dsna").exists()
    cost = model_file(tmp_path, "cost")
    refused(ask("add", cost, more, "-o", tmp_path / "a.dsna", "--target", "town"), "'town'", "text")


def test_evaluate_a_model_on_held_out_rows(tmp_path):
    model, held_out = model_file(tmp_path), write(tmp_path, "held_out.csv", table(80, 5))
    said = done(ask("evaluate", model, held_out)).stdout
    assert "recall by class" in said
    assert "sets contain the true value" in said
    found = json.loads(done(ask("evaluate", model, held_out, "--json")).stdout)["scores"]["overall"]["dsna"]
    own = dsna.load(model).predict(table(80, 5))
    assert found["accuracy"]["value"] == pytest.approx(float(np.mean(own == table(80, 5)["rare"].to_numpy())))
    assert found["recall of yes"]["cases"] == int((table(80, 5)["rare"] == "yes").sum())
    strange = write(tmp_path, "strange.csv", table(20, 5).with_columns(rare=pl.lit("perhaps")))
    refused(ask("evaluate", model, strange), "perhaps", "does not know")
    said = done(ask("evaluate", model_file(tmp_path, "cost"), held_out, "--report", tmp_path / "p.html")).stdout
    assert "intervals contain the true value" in said
    page = (tmp_path / "p.html").read_text("utf-8")
    assert "mean absolute error" in page.lower()
    assert "On 80 rows of" in page


@pytest.mark.parametrize("words", [["--target", "rare", "--drop", "cost"], ["--target", "cost", "--drop", "rare"]])
def test_evaluate_by_cross_validation(tmp_path, words):
    data = write(tmp_path)
    run = done(ask("evaluate", data, *words, "--folds", "3", "--json"))
    found = json.loads(run.stdout)
    assert set(found["scores"]["overall"]) == {"dsna", "random forest", "gradient boosting", "linear model"}
    parts = found["scores"]["parts"]["dsna"]
    assert sum(part["cases"] for part in parts.values()) == 120


def test_evaluate_with_a_chosen_decision_groups_and_a_page(tmp_path):
    data = write(tmp_path, frame=table().with_columns(pl.Series("family", np.arange(120) // 3)))
    page = tmp_path / "page.html"
    words = ("--target", "rare", "--drop", "cost", "--folds", "2", "--groups", "family", "--decision", "recall>=.8")
    said = done(ask("evaluate", data, *words, "--report", page)).stdout
    assert "linear model" in said
    assert "40 groups" in said
    assert "linear model" in page.read_text("utf-8")
    assert "Cross-validation: all methods answered each of 2 folds" in page.read_text("utf-8")


def test_evaluate_says_what_is_missing(tmp_path):
    data = write(tmp_path)
    refused(ask("evaluate", data), "--target")
    refused(ask("evaluate", data, data), "not a dsna model file")
    lonely = table().with_columns(pl.Series("rare", ["once", *table()["rare"][1:]]))
    refused(ask("evaluate", write(tmp_path, "lonely.csv", lonely), "--target", "rare"), "one row only", "'rare'")


def test_demo(tmp_path):
    out = tmp_path / "try"
    said = done(ask("demo", "--out", out)).stdout
    for part in ("$ dsna train", "$ dsna predict", "$ dsna explain", "$ dsna evaluate", "report.html in a browser"):
        assert part in said, part
    assert {path.name for path in out.iterdir()} == {
        "patients.csv", "new_patients.csv", "severe.dsna", "answers.csv", "report.html",
    }  # fmt: skip
    refused(ask("demo", "--out", out), "already exist", "--force")


def test_commands_teach_by_examples():
    for command in ("train", "predict", "evaluate", "explain", "add", "info", "demo"):
        said = done(ask(command, "--help")).stdout
        assert "For example" in said
        assert f"dsna {command} " in said
