"""Requests that are too much, broken or of strangers are refused with one sentence."""

from __future__ import annotations

import gzip
import json

import polars as pl
import pytest

from .served import ARABIC, EMOJI, HOST, ODD, as_csv, client, form_of, objects, refused, sent, service, table

NEW = table(5, seed=3)
ROW = objects(NEW[:1])[0]
HTML = {"accept": "text/html"}


def predicted(row=None, asks=None, **more):
    body = json.dumps({"rows": [{**ROW, **(row or {})}], **more})
    return (asks or client()).post("/api/predict", content=body, headers={"content-type": "application/json"})


@pytest.mark.parametrize(
    "row, parts",
    [
        ({"size": "abc"}, ["row 1", "'size'", "not a number"]),
        ({"size": "inf"}, ["'size'", "not a number"]),
        ({"size": "1" * 400}, ["'size'", "not a number"]),
        ({"size": "-" + "9" * 5_000}, ["'size'", "not a number"]),
        ({"size": 10**400}, ["'size'", "not finite"]),
        ({"size": [1]}, ["'size'", "a list"]),
        ({"size": {"a": 1}}, ["'size'", "an object"]),
        ({"since": "2024-13-01"}, ["'since'", "not a date"]),
        ({"smokes": "maybe"}, ["'smokes'", "yes or no"]),
        ({"pain": "none"}, ["'pain'", "'low', 'medium', 'high'"]),
    ],
)
def test_cells_of_another_type_are_refused_by_name(row, parts):
    refused(predicted(row), 422, *parts)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_numbers_that_are_not_finite_are_refused(number):
    body = json.dumps({"rows": [{**ROW, "size": 12345.5}]}).replace("12345.5", number)
    answer = client().post("/api/predict", content=body, headers={"content-type": "application/json"})
    refused(answer, 422, "'size'", "not finite")


@pytest.mark.parametrize(
    "row", [{"size": None}, {"size": "NA"}, {"size": 3}, {"town": EMOJI}, {"town": 7}, {"smokes": 1}, {"since": None},
            {"since": "2022-03-01T10:30"}, {"person": ARABIC}, {"town": "\ud800"}, {"size": 1e300}, {"size": -0.0}]
)  # fmt: skip
def test_cells_that_are_odd_and_right_are_taken(row):
    assert predicted(row).status_code == 200


def test_missing_columns_are_refused_and_further_ones_noted():
    lacking = {name: cell for name, cell in ROW.items() if name != ODD}
    refused(client().post("/api/predict", json={"rows": [ROW, lacking]}), 422, "row 2 lacks", "quoted", "null")
    assert any("'more'" in note for note in predicted({"more": 1}).json()["notes"])
    answer = client().post("/table.csv", **sent(NEW.drop("size", ODD)))
    refused(answer, 422, "the file lacks the column 'size'", "quoted")
    page = client().post("/table", **sent(NEW.with_columns(more=pl.lit(1)))).text
    assert "columns that were not in the training data are ignored: &#39;more&#39;" in page
    assert predicted({"person": None}).status_code == 200


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[1]", b'{"rows": 1}', b'{"rows": [1]}', b'{"rows": []}', b'\xff\xfe{"rows": []}', b"null",
     b'{"rows": [' + b"[" * 100_000 + b"]" * 100_000 + b"]}", b'{"rows": [{"size": 1' + b"0" * 5000 + b"}]}",
     b'{"rows": [' + b'{"size":' * 50_000 + b"1" + b"}" * 50_000 + b"]}"],
)  # fmt: skip
def test_what_is_no_request_is_refused(body):
    answer = client().post("/api/predict", content=body, headers={"content-type": "application/json"})
    assert answer.status_code in (400, 422), answer.text
    assert 10 < len(answer.json()["error"]) < 400


def test_json_of_another_type_is_refused():
    answer = client().post("/api/predict", content=b"rows=1", headers={"content-type": "text/plain"})
    assert answer.status_code == 422
    refused(client().post("/table.csv", json={}), 415, "form")


def test_bytes_are_bounded_however_they_are_announced():
    asks = client(megabytes=0.01)
    body = json.dumps({"rows": [ROW] * 200}).encode()
    kind = {"content-type": "application/json"}
    assert len(body) > asks.app.limits.bytes
    refused(asks.post("/api/predict", content=body, headers=kind), 413, "0.01 MB")
    taken = []

    def pieces():
        for start in range(0, len(body), 1000):
            taken.append(start)
            yield body[start : start + 1000]

    refused(asks.post("/api/predict", content=pieces(), headers=kind), 413, "0.01 MB")
    refused(asks.post("/api/predict", content=body, headers={**kind, "content-length": "10"}), 413, "0.01 MB")
    refused(asks.post("/api/predict", content=b"{}", headers={**kind, "content-length": "9" * 30}), 413, "0.01 MB")
    refused(asks.post("/api/predict", content=b"{}", headers={**kind, "content-length": "-1"}), 400, "Content-Length")
    small = json.dumps({"rows": [ROW]}).encode()
    assert asks.post("/api/predict", content=iter([small[:50], small[50:]]), headers=kind).status_code == 200
    assert asks.post("/table", **sent(b"x" * 20_000), headers=HTML).status_code == 413


def test_a_cut_off_upload_is_refused():
    body = client().build_request("POST", "/table", **sent(NEW))
    whole, kind = body.read(), {"content-type": body.headers["content-type"]}
    for cut in (len(whole) // 2, len(whole) - 60, 10):
        answer = client().post("/table.csv", content=whole[:cut], headers=kind)
        refused(answer, 400, "cut off")
        short = client().post("/table.csv", content=whole[:cut], headers={**kind, "content-length": str(len(whole))})
        refused(short, 400, "cut off")
    page = client().post("/table", content=whole[:-60], headers={**kind, **HTML})
    assert page.status_code == 400
    assert "cut off" in page.text
    refused(client().post("/table.csv", content=b"x", headers={"content-type": "multipart/form-data"}), 400)
    refused(client().post("/table.csv", **sent(as_csv(NEW)[:-70])), 422, "fields are expected")


def test_rows_are_bounded():
    asks = client(rows=4)
    refused(asks.post("/api/predict", json={"rows": [ROW] * 5}), 413, "4 rows")
    refused(asks.post("/table.csv", **sent(NEW)), 413, "4 rows")
    assert asks.post("/table.csv", **sent(NEW[:4])).status_code == 200
    refused(client(explained=2).post("/api/explain", json={"rows": [ROW] * 3}), 413, "2 rows")


def test_columns_and_fields_are_bounded():
    wide = ",".join(f"c{i}" for i in range(5000)) + "\n" + ",".join(["1"] * 5000)
    refused(client().post("/table.csv", **sent(wide.encode())), 422, "5000 columns")
    assert client().post("/", data={f"x{i}": "1" for i in range(500)}).status_code == 413
    many = {f"x{i}": (None, b"1") for i in range(500)}
    refused(client().post("/table.csv", files=many), 413, "fields")
    assert predicted({f"x{i}": 1 for i in range(5000)}).status_code == 200


def test_time_is_bounded():
    asks = client(seconds=0.0)
    for answer in (predicted(asks=asks), asks.post("/table.csv", **sent(NEW))):
        assert answer.status_code in (408, 503)
        assert "0 seconds" in answer.json()["error"]


def test_the_work_itself_stops_when_time_is_up():
    from dsna.serve.limits import Limits, Refused, deadline
    from dsna.serve.service import Question, TableOptions

    made, late = service(), deadline(Limits(seconds=-1.0))
    with pytest.raises(Refused, match="given up"):
        made.table(as_csv(NEW), Question(), TableOptions(), late)
    with pytest.raises(Refused, match="given up"):
        made.case_of_form({}, Question(), 3, late)


def test_only_so_many_requests_are_under_way():
    asks = client()
    asks.app._under_way = asks.app.limits.requests
    answer = asks.get("/api/model")
    refused(answer, 503, "busy")
    assert answer.headers["retry-after"] == "2"
    asks.app._under_way = 0
    assert asks.get("/api/model").status_code == 200
    assert asks.app._under_way == 0


def test_compressed_requests_are_refused():
    body = gzip.compress(json.dumps({"rows": [ROW]}).encode())
    headers = {"content-type": "application/json", "content-encoding": "gzip"}
    refused(client().post("/api/predict", content=body, headers=headers), 415, "compressed")
    refused(client().post("/table.csv", **sent(gzip.compress(as_csv(NEW)))), 415, "compressed", "CSV")
    parquet = b"PAR1" + bytes(100)
    refused(client().post("/table.csv", **sent(parquet)), 415, "compressed")
    refused(client().post("/table.csv", **sent(b"PK\x03\x04" + bytes(50))), 422, "ZIP")
    refused(client().post("/table.csv", **sent(b"")), 422, "missing or empty")
    refused(client().post("/table.csv", data={"file": "text"}), 422, "missing or empty")


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8000", "127.0.0.1:9", "127.0.0.1.evil.example:8000", ""]
)
def test_other_hosts_are_refused(host):
    refused(client().get("/api/model", headers={"host": host}), 421, "host")
    assert client().get("/", headers={"host": host, **HTML}).status_code == 421


@pytest.mark.parametrize("host", ["127.0.0.1:8000", "localhost:8000", "[::1]:8000", "LOCALHOST:8000"])
def test_the_own_names_are_known(host):
    assert client().get("/api/model", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:9000"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_pages_of_other_sites_cannot_post(headers):
    refused(client().post("/api/predict", json={"rows": [ROW]}, headers=headers), 403, "another site")


def test_the_own_page_can_post():
    headers = {"origin": HOST, "sec-fetch-site": "same-origin"}
    assert client().post("/api/predict", json={"rows": [ROW]}, headers=headers).status_code == 200


def test_no_other_page_may_read_answers():
    """There is no CORS: a preflight gets no leave."""
    asked = {"origin": "http://evil.example", "access-control-request-method": "POST"}
    assert client().options("/api/predict", headers=asked).status_code in (403, 405)


@pytest.mark.parametrize(
    "path", ["/nothing", "/../etc/passwd", "/style.css/..%2f..%2fetc", "/docs", "/redoc", "/%00", "/api/"]
)
def test_other_addresses_are_not_there(path):
    answer = client().get(path)
    assert answer.status_code in (404, 307)
    assert "root:" not in answer.text


def test_errors_are_pages_for_people():
    page = client().get("/nothing", headers=HTML)
    assert page.status_code == 404
    assert "there is no such page" in page.text
    assert client().delete("/", headers=HTML).status_code == 405
    wrong = client().post("/", data={"c1": "<script>"}, headers=HTML)
    assert wrong.status_code == 422
    assert "&#39;&lt;script&gt;&#39; is not a number" in wrong.text
    assert 'role="alert"' in wrong.text


def test_an_error_of_the_server_tells_nothing(monkeypatch):
    from dsna.serve.service import Service

    def broken(*_):
        raise RuntimeError("the secret is 42")

    monkeypatch.setattr(Service, "answers", broken)
    answer = predicted()
    refused(answer, 500, "internal server error")
    assert "42" not in answer.text


def test_the_api_is_described_with_local_assets_only():
    asks = client()
    schema = asks.get("/openapi.json").json()
    assert set(schema["paths"]) == {"/api/model", "/api/predict", "/api/explain"}
    page = asks.get("/api").text
    for path in schema["paths"]:
        assert path in page
    assert "<script" not in page
    for source in (page, asks.get("/").text, asks.get("/table").text, asks.get("/style.css").text):
        assert "//" not in source.replace(HOST, "").replace("http://www.w3.org", "")
    assert "answers[].training_rows[].weight" in page
    assert "list of objects" in page


def test_forms_are_taken_as_files_and_as_text():
    made = service()
    values = form_of(made, NEW.row(0, named=True))
    as_text = client().post("/", data=values).text
    as_parts = client().post("/", files={key: (None, value) for key, value in values.items()}).text
    assert as_text == as_parts
    refused(client().post("/", json=values), 415, "form")


@pytest.mark.parametrize(
    "body",
    [
        {"rows": [1] * 500_000},
        {"rows": [ROW], "costs": [["a"] * 300_000]},
        {"rows": [ROW], **{f"x{i}": 1 for i in range(100_000)}},
        {"rows": {}, "balance": []},
    ],
)
def test_many_mistakes_get_one_short_answer(body):
    answer = client().post("/api/predict", json=body)
    assert answer.status_code in (413, 422)
    assert len(answer.text) < 500
