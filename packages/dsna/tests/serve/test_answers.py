"""Forms, uploads and JSON get the answers of ``dsna.app.predict``, and leave model and disk as they are."""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import polars as pl
import pytest
from sklearn.pipeline import make_pipeline
from tests.cli.tables.small_files import ask, done

import dsna
from dsna import CostSensitiveForestClassifier, DSNAClassifier, DSNAError
from dsna.app.predict import Answerer, PredictOptions, decide_anew
from dsna.inspection import explain
from dsna.serve.rows import parse_form, parse_objects
from dsna.serve.service import Question, Service, TableOptions
from dsna.serve.service import as_csv as safe_csv
from dsna.tables import TableEncoder

from .served import (
    FORMULA,
    HOSTILE,
    ODD,
    SCRIPT,
    as_csv,
    client,
    form_of,
    model,
    objects,
    refused,
    sent,
    service,
    table,
)

TASKS = ("classification", "regression")
each_task = pytest.mark.parametrize("task", TASKS)
NEW = table(30, seed=3)


def wanted(task, frame=NEW, decision=None, **options):
    return Answerer(decide_anew(model(task), decision), PredictOptions(**options)).answer(frame)


@each_task
def test_json_answers_are_those_of_the_model(task):
    found = client(task).post("/api/predict", json={"rows": objects(NEW)}).json()
    expected = wanted(task)
    predicted = [one["prediction"] for one in found["answers"]]
    if task == "classification":
        assert predicted == expected["prediction"].to_list()
        proba = np.array([list(one["probabilities"].values()) for one in found["answers"]])
        np.testing.assert_allclose(proba, model(task).predict_proba(NEW), rtol=1e-12)
        assert [" | ".join(one["set"]) for one in found["answers"]] == expected["set"].to_list()
    else:
        np.testing.assert_allclose(predicted, expected["prediction"].to_numpy(), rtol=1e-12)
        ends = np.array([one["interval"] for one in found["answers"]])
        np.testing.assert_allclose(ends, expected.select("low", "high").to_numpy(), rtol=1e-12)
    assert any("ignored" in note for note in found["notes"])


@each_task
def test_the_file_of_answers_is_that_of_dsna_predict(task, tmp_path):
    """Byte by byte, formulas made harmless alike."""
    frame = NEW.with_columns(pl.Series("person", [FORMULA, "-x", *NEW["person"][2:]]))
    (tmp_path / "new.csv").write_bytes(as_csv(frame))
    dsna.save(model(task), tmp_path / "m.dsna")
    done(ask("predict", tmp_path / "m.dsna", tmp_path / "new.csv", "-o", tmp_path / "answers.csv", "--explain"))
    made = client(task).post("/table.csv", **sent(frame, explain="1"))
    assert made.status_code == 200
    assert made.headers["content-type"].startswith("text/csv")
    assert made.headers["content-disposition"] == 'attachment; filename="answers.csv"'
    assert made.content == (tmp_path / "answers.csv").read_bytes()
    assert f"'{FORMULA}" in made.text


@each_task
def test_explanations_are_those_of_the_library(task):
    found = client(task).post("/api/explain", json={"rows": objects(NEW[:3]), "largest": 4}).json()["answers"]
    why = explain(model(task), NEW[:3].drop("rare" if task == "regression" else "cost"))
    for i, one in enumerate(found):
        order = why.rows[i, why.ordered()[0][i, :4]]
        frame = why.frame(query=i).set_index("row", drop=False).loc[order]
        assert [row["row"] for row in one["training_rows"]] == frame["row"].tolist()
        np.testing.assert_allclose([row["weight"] for row in one["training_rows"]], frame["weight"], rtol=1e-12)
        assert [row["name"] for row in one["training_rows"]] == [str(name) for name in frame["id"]]
        marks = why.compare(i, largest=4)["differs"].dropna()
        counted = {name: sum(name in row["differs"] for row in one["training_rows"]) for name in marks.index}
        assert counted == marks.astype(int).to_dict()
        first = one["training_rows"][0]
        kept = table().row(first["row"], named=True)
        assert first["values"]["town"] == kept["town"]
        assert first["values"][ODD] == kept[ODD]
        assert one["rows_behind"] >= len(one["training_rows"])


def test_plain_averaging_is_that_of_the_neighbours():
    one = client().post("/api/explain", json={"rows": objects(NEW[:1])}).json()["answers"][0]
    why = model().steps[1][1].explain(model().steps[0][1].transform(NEW[:1]))
    shares = {c: float(why.proximity[0][why.label[0] == c].sum() / why.proximity[0].sum()) for c in why.classes}
    best = max(shares, key=shares.get)
    assert one["plain_average"]["prediction"] == best
    assert one["plain_average"]["share"] == pytest.approx(shares[best])


@each_task
def test_the_form_answers_and_shows_the_rows_behind(task):
    made, asks = service(task), client(task)
    page = asks.post("/", data=form_of(made, NEW.row(0, named=True)))
    assert page.status_code == 200
    expected = wanted(task)["prediction"][0]
    shown = re.search(r'<p class="big" dir="auto">(.*?)</p>', page.text)[1]
    if task == "classification":
        assert re.sub("<.*?>", "", shown) == expected
        assert "of their votes" in page.text
    else:
        assert float(shown.replace("−", "-").replace(",", "")) == pytest.approx(expected, rel=1e-3)
        assert re.search(r"The true value lies between <b>[\d.,]+</b> and <b>[\d.,]+</b> in", page.text)
    assert "Plain averaging of all neighbours predicts" in page.text
    assert 'class="differs"' in page.text
    assert "holds the original values of the training rows" in page.text
    assert f'value="{NEW["size"][0]}"' in page.text  # to be changed and sent again


def test_forms_have_a_field_for_each_kind_of_column():
    page = client().get("/").text
    assert page.count('type="number" step="any" id="c') == 2
    assert re.search(r'<select id="c\d+".*?<option value="low">low</option>.*?medium.*?high', page, re.S)
    assert 'type="date"' in page
    assert "<textarea" in page
    assert '<option value="true">yes</option>' in page
    assert "another, not seen in training" in page
    assert "identifies rows; not used" in page
    filled = client().get("/?fill=typical").text
    assert re.search(r'type="number" step="any" id="c1" name="c1" value="-?[\d.]+"', filled)


def test_an_empty_form_is_a_case_of_which_nothing_is_known():
    page = client().post("/", data={"c1": ""})
    assert page.status_code == 200
    assert page.text.count('<td class="own missing">missing</td>') >= 5


@pytest.mark.parametrize(
    "question, decision",
    [
        ({"costs": "20:1"}, (20.0, 1.0)),
        ({"costs": [[0, 1], [20, 0]]}, [[0, 1], [20, 0]]),
        ({"decision": "f1"}, "f1"),
        ({"decision": "recall>=.9"}, "recall>=.9"),
    ],
)
def test_another_decision_is_taken_without_another_training(question, decision):
    found = client().post("/api/predict", json={"rows": objects(NEW), **question}).json()
    assert [one["prediction"] for one in found["answers"]] == wanted("classification", decision=decision)[
        "prediction"
    ].to_list()
    if isinstance(question.get("costs", ""), str):
        made = client().post("/table.csv", **sent(NEW, **question))
        assert made.content == safe_csv([wanted("classification", decision=decision)])


@pytest.mark.parametrize(
    "question, parts",
    [
        ({"decision": "nonsense"}, ["nonsense", "unknown"]),
        ({"costs": "20"}, ["20:1"]),
        ({"costs": "[" * 1500}, ["20:1"]),
        ({"costs": "[[1]]"}, ["2 x 2"]),
        ({"costs": '[["a", "b"], [1, 2]]'}, []),
        ({"costs": "20:1", "decision": "f1"}, ["exclude each other"]),
        ({"decision": "f1", "balance": 0.5}, ["balance"]),
        ({"balance": 2}, ["balance"]),
        ({"coverage": 1.5}, ["coverage"]),
        ({"decision": "r2"}, []),
        ({"decision": "x" * 5000}, ["decision"]),
        ({"surprise": 1}, ["surprise"]),
    ],
)
def test_decisions_that_are_none_are_refused(question, parts):
    refused(client().post("/api/predict", json={"rows": objects(NEW[:1]), **question}), 422, *parts)


def test_numbers_take_no_costs():
    refused(client("regression").post("/api/predict", json={"rows": objects(NEW[:1]), "costs": "20:1"}), 422, "classes")
    page = client("regression").post("/", data={"balance": "much"})
    assert page.status_code == 422
    assert "balance is not a number" in page.text


def test_a_table_shows_its_first_answers_and_asks_why():
    page = client().post("/table", **sent(NEW, repeat="1")).text
    assert "Answers to 30 rows" in page
    assert page.count(">Why?</button>") == 30
    assert f'"{SCRIPT}"' not in page
    hidden = dict(re.findall(r'type="hidden" name="(c\d+)" value="([^"]*)"', page.split("Why?")[0]))
    made = service()
    assert hidden["c1"] == form_of(made, NEW.row(0, named=True))["c1"]
    link = re.search(r'href="data:text/csv;base64,([^"]*)" download="answers.csv"', page)
    import base64

    assert base64.b64decode(link[1]) == client().post("/table.csv", **sent(NEW, repeat="1")).content


def test_files_of_other_dialects_are_read_as_predict_reads_them():
    lines = as_csv(NEW).decode().replace(",", "\t")
    made = client().post("/table.csv", files={"file": ("new.TSV", lines.encode("utf-16"))})
    assert made.content == client().post("/table.csv", **sent(NEW)).content


@pytest.mark.parametrize("value", HOSTILE)
def test_hostile_values_are_shown_as_text(value):
    made = service()
    towns = {field.name: field.key for field in made.fields}
    values = form_of(made, NEW.row(0, named=True)) | {
        towns["town"]: value,
        towns["story"]: value,
        towns["person"]: value,
    }
    page = client().post("/", data=values)
    assert page.status_code == 200
    assert "<script" not in page.text
    assert "<b>&amp;" not in page.text
    assert "49" not in re.search(r'<p class="big".*?</p>', page.text)[0]
    frame = NEW[:2].with_columns(town=pl.lit(value.replace("\x00", "")), person=pl.lit("=1+1"))
    shown = client().post("/table", **sent(frame, repeat="1"))
    assert shown.status_code == 200, shown.text
    assert "<script" not in shown.text
    row = {**objects(NEW[:1])[0], "town": value}
    assert client().post("/api/explain", json={"rows": [row]}).status_code == 200


def test_nothing_is_written_and_the_model_stays_the_same(tmp_path, monkeypatch):
    """Also where an upload is larger than what servers usually keep in memory."""
    dsna.save(model(), tmp_path / "before.dsna")
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setattr(tempfile, "TemporaryFile", None)
    monkeypatch.setattr(tempfile, "SpooledTemporaryFile", None)
    asks = client()
    big = NEW[:2].with_columns(story=pl.lit("word " * 25_000))
    parts = [pl.concat([big] * 8)]
    assert asks.post("/table", **sent(parts[0])).status_code == 200
    assert len(as_csv(parts[0])) > 1 << 20
    assert asks.post("/api/explain", json={"rows": objects(NEW), "costs": "20:1"}).status_code == 200
    assert asks.post("/", data={"c0": "../../etc/passwd", "c1": "1"}).status_code == 200
    assert os.listdir(folder) == []
    dsna.save(model(), tmp_path / "after.dsna")
    before, after = (hashlib.sha256((tmp_path / f"{name}.dsna").read_bytes()) for name in ("before", "after"))
    assert before.digest() == after.digest()


def test_eight_threads_share_the_model():
    asks = client(threads=8)
    bodies = [{"rows": objects(NEW[i : i + 3]), "costs": f"{1 + i % 3}:1"} for i in range(16)]
    alone = [asks.post("/api/predict", json=body).json() for body in bodies]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda body: asks.post("/api/predict", json=body).json(), bodies))
    assert together == alone


def test_a_model_without_its_rows_names_them_by_number():
    asks = client(keep_rows=False)
    page = asks.post("/", data={"c1": ""}).text
    assert "does not hold the original values of the training rows" in page
    assert "The model file does not hold their values" in page
    one = asks.post("/api/explain", json={"rows": objects(NEW[:1])}).json()["answers"][0]["training_rows"][0]
    assert "values" not in one
    assert one["name"] == str(one["row"] + 1)
    about = asks.get("/api/model").json()
    assert about["holds_training_rows"] is False
    assert client().get("/api/model").json()["holds_training_rows"] is True


def test_a_case_differs_in_no_way_from_its_own_training_row():
    """Values of a form and of JSON mean what they meant in the table: words of truth, dates, orders, text."""
    frame = table().with_columns(
        smokes=pl.when(pl.col("smokes")).then(pl.lit("Yes")).otherwise(pl.lit("No")),
        since=pl.col("since").cast(pl.Datetime("us")) + pl.duration(hours=pl.col("visits"), seconds=7),
    )
    encoder = TableEncoder({"story": "text", "person": "identifier"}, target="rare", drop=["cost"], keep_rows=True)
    last = DSNAClassifier(CostSensitiveForestClassifier(5), random_state=0)
    made = Service(make_pipeline(encoder, last).fit(frame, frame["rare"].to_numpy()))
    row = frame.row(3, named=True)
    sent_back = [parse_form(made.fields, form_of(made, row))]
    plain = {**row, "smokes": row["smokes"] == "Yes", "since": row["since"].isoformat()}
    sent_back.append(parse_objects(made.fields, [plain], made.limits))
    for rows in sent_back:
        case = made.cases(rows, Question(), 50, lambda: None)[0]
        itself = next(k for k, one in enumerate(case.neighbors) if one.row == 3)
        assert [line.name for line in case.lines if line.differs[itself]] == []
        assert [line.name for line in case.lines if line.values[itself] is not None] != []
        encoded = encoder.transform_with_notes(rows.frame)[0]
        np.testing.assert_array_equal(encoded, encoder.transform(frame[3:4]))


@each_task
def test_answers_do_not_depend_on_pauses(task):
    calls = []
    frame = table(600, seed=5)
    answerer = Answerer(model(task), PredictOptions(explain=True), pause=lambda: calls.append(1))
    paused = answerer.answer(frame)
    assert len(calls) == 3
    assert paused.equals(wanted(task, frame, explain=True))


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_numbers_outside_the_training_range_are_noted(task):
    asks, made = client(task), service(task)
    low, high = model(task).steps[0][1]._filling.low[0], model(task).steps[0][1]._filling.high[0]
    row = {**objects(NEW[:1])[0], "size": 0.0}
    for path in ("/api/predict", "/api/explain"):
        body = {"rows": [{**row, "size": 1e308}, row]}
        (note,) = (one for one in asks.post(path, json=body).json()["notes"] if "'size'" in one)
        assert note.startswith(
            f"column 'size': 1 of 2 rows lies outside the training range {low:.6g} to {high:.6g}: 1e+308 in row 1, by "
        )
    page = asks.post("/", data={**form_of(made, NEW.row(0, named=True)), "c1": "1e308"}).text
    assert "1e+308 lies outside the training range" in page
    table = NEW.with_columns(size=pl.lit(-1e9))
    for path in ("/table", "/table.csv"):
        answer = asks.post(path, **sent(table))
        assert answer.status_code == 200
        assert ("rows lie outside the training range" in answer.text) == (path == "/table")


def test_the_words_of_the_set_are_not_those_of_classes():
    page = client().post("/", data=form_of(service(), NEW.row(0, named=True))).text
    rows = re.findall(r"<tr><th scope=\"row\" dir=\"auto\">(yes|no)</th>.*?</tr>", page, re.DOTALL)
    assert sorted(rows) == ["no", "yes"]
    cells = re.findall(r"<td>(.*?)</td></tr>", page)
    assert {"yes", "no"} & set(cells) == set()
    assert {"in the set", "not in the set"} & set(cells)


def test_files_are_read_as_training_was_or_refused():
    frame = (
        table()
        .with_columns(
            size=pl.Series([f"{one:.3f}".replace(".", ",") for one in table()["visits"] * 1.5 + 0.25]),
            visits=pl.Series([f"{1 + one}.{one}00" for one in table()["visits"]]),
            since=table()["since"].dt.strftime("%d.%m.%Y"),
        )
        .drop("cost")
    )
    encoder = TableEncoder({"person": "identifier"}, target="rare")
    last = DSNAClassifier(CostSensitiveForestClassifier(5), random_state=0)
    made = Service(make_pipeline(encoder, last).fit(frame, frame["rare"].to_numpy()))
    assert made.encoder.types_["visits"] == "number:comma"
    content = frame.drop("rare").write_csv(separator=";").encode()
    parts, _, _ = made.table(content, Question(), TableOptions(), lambda: None)
    assert parts[0].frame["visits"][0] == 1000 * (1 + table()["visits"][0]) + 100 * table()["visits"][0]
    key = next(field.key for field in made.fields if field.name == "visits")
    for typed, value in (("2,5", 2.5), ("2.5", 2.5), ("1.243", 1.243)):  # browsers write points
        assert parse_form(made.fields, {key: typed}).frame["visits"][0] == value
    one = objects(frame[:1])[0]
    for sent_cell, value in (("2,5", 2.5), (1.243, 1.243), ("1.243", 1243), (1e-7, 1e-7), (2.0**70, 2.0**70)):
        found = parse_objects(made.fields, [{**one, "visits": sent_cell, "size": 0.5}], made.limits)
        assert found.frame["visits"][0] == value
    neither = frame.with_columns(size=pl.lit("1.5"), new=pl.lit("2,5")).drop("rare").write_csv(separator=";").encode()
    with pytest.raises(DSNAError, match=r"column 'visits' can be read in two ways.* Remedy: write it as \d+ or"):
        made.table(neither, Question(), TableOptions(), lambda: None)
    iso = frame.with_columns(since=table()["since"].cast(str)).drop("rare").write_csv(separator=";").encode()
    with pytest.raises(
        DSNAError, match=r"the file: column 'since': 120 of 120 cells .* Remedy: write them as"
    ) as error:
        made.table(iso, Question(), TableOptions(), lambda: None)
    assert "--" not in str(error.value)
    some = frame[:3].with_columns(since=table()["since"][:3].cast(str)).drop("rare").write_csv(separator=";").encode()
    notes = made.table(some, Question(), TableOptions(), lambda: None)[2]
    assert "3 of 3 cells cannot be read as dates" in " ".join(notes)
