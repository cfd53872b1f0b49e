"""The guard by itself, before an application that is slow, and models that no server takes."""

from __future__ import annotations

import asyncio
import json

import numpy as np
import polars as pl
import pytest
from sklearn.pipeline import make_pipeline

from dsna import CostSensitiveForestClassifier, CostSensitiveForestRegressor, DSNAClassifier, DSNAError, DSNARegressor
from dsna.serve.access import Access
from dsna.serve.fields import form_fields
from dsna.serve.guard import HEADERS, Guard
from dsna.serve.limits import Limits
from dsna.serve.rows import parse_objects
from dsna.serve.service import Question, Service
from dsna.tables import TableEncoder

HOST = (b"host", b"127.0.0.1:8000")


def refuse(scope, why):
    async def answer(scope, receive, send):
        await send({"type": "http.response.start", "status": why.status, "headers": []})
        await send({"type": "http.response.body", "body": json.dumps({"error": str(why)}).encode()})

    return answer


async def forever(*_):
    await asyncio.Event().wait()


def through(application, receive, headers=(HOST,), kind="http", seconds=0.05, path="/"):
    """Messages that a guard sends for one request."""
    sent = []

    async def send(message):
        sent.append(message)

    scope = {"type": kind, "method": "POST", "path": path, "headers": list(headers)}
    guard = Guard(application, Access(), Limits(seconds=seconds), refuse)
    asyncio.run(guard(scope, receive, send))
    assert guard._under_way == 0
    return sent


def arrived(body=b"", kind="http.request"):
    async def receive():
        return {"type": kind, "body": body, "more_body": False}

    return receive


def test_a_body_that_never_arrives_is_given_up():
    sent = through(forever, forever)
    assert sent[0]["status"] == 408
    assert b"did not arrive" in sent[1]["body"]
    assert HEADERS.keys() <= {name.decode() for name, _ in sent[0]["headers"]}


def test_an_answer_that_never_comes_is_given_up():
    sent = through(forever, arrived())
    assert sent[0]["status"] == 503
    assert b"given up" in sent[1]["body"]


def test_an_answer_that_has_begun_is_not_begun_again():
    async def begun(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await forever()

    with pytest.raises(TimeoutError):
        through(begun, arrived())


def test_a_client_that_has_left_costs_nothing():
    called = []

    async def application(*_):
        called.append(1)

    assert through(application, arrived(kind="http.disconnect")) == []
    assert called == []


def test_sockets_are_closed():
    assert through(forever, arrived(), kind="websocket")[0]["type"] == "websocket.close"


def test_headers_that_come_twice_are_refused():
    assert through(forever, arrived(), headers=(HOST, HOST))[0]["status"] == 400


def test_many_headers_are_refused():
    assert through(forever, nothing_is_read, headers=[HOST] + [(b"a", b"b")] * 100)[0]["status"] == 431


def test_the_body_reaches_the_application_whole():
    pieces = [{"type": "http.request", "body": part, "more_body": part != b"c"} for part in (b"a", b"b", b"c")]
    found = []

    async def receive():
        return pieces.pop(0)

    async def application(scope, receive, send):
        found.append(await receive())
        scope["dsna.pause"]()

    through(application, receive, seconds=60.0)
    assert found == [{"type": "http.request", "body": b"abc", "more_body": False}]


def test_models_without_names_or_with_several_targets_are_refused():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    nameless = make_pipeline(TableEncoder(), DSNAClassifier(CostSensitiveForestClassifier(3), random_state=0))
    with pytest.raises(DSNAError, match="without column names"):
        Service(nameless.fit(X, X[:, 0] > 0))
    frame = pl.DataFrame({"a": X[:, 0], "b": X[:, 1]})
    double = make_pipeline(TableEncoder(), DSNARegressor(CostSensitiveForestRegressor(3), random_state=0))
    with pytest.raises(DSNAError, match="2 targets"):
        Service(double.fit(frame, X))


def test_targets_that_a_trend_carries_over_are_shown_so():
    x = np.linspace(0.0, 10.0, 120)
    frame = pl.DataFrame({"x": x, "town": [f"town {i % 40}" for i in range(120)]})
    last = DSNARegressor(CostSensitiveForestRegressor(5), trend="linear", random_state=0)
    made = Service(make_pipeline(TableEncoder(keep_rows=True), last).fit(frame, 3.0 * x))
    assert [field.kind for field in made.fields] == ["number", "suggestions"]
    rows = parse_objects(made.fields, [{"x": 14.0, "town": "town 1"}], made.limits)
    found = made.cases(rows, Question(), 3, lambda: None)[0].as_json()
    why = last.explain(made.encoder.transform(rows.frame))
    carried = why.frame(largest=3)["carried"].tolist()
    assert [one["carried"] for one in found["training_rows"]] == pytest.approx(carried, rel=1e-5)  # six digits
    assert found["extrapolated"] is True
    assert found["prediction"] == pytest.approx(why.predict()[0], rel=1e-5)


def test_fields_tell_what_training_had():
    when = np.datetime64("2024-01-01T12:00") + np.arange(40) * np.timedelta64(1, "D")
    frame = pl.DataFrame({"when": when.astype("datetime64[us]"), "one": ["same"] * 40, "(": ["(another)", "b"] * 20})
    time, constant, category = form_fields(TableEncoder().fit(frame))
    assert (time.kind, time.typical) == ("time", "2024-01-21T12:00")
    assert not constant.used
    assert category.choices == (("(another)", "(another)"), ("b", "b"))


async def nothing_is_read():
    raise AssertionError("the body is read")


@pytest.mark.parametrize(
    "kind", [b"multipart/form-data; boundary=x", b"application/json", b"text/plain", b"", b";" * 9_000, None]
)
def test_only_a_plain_form_logs_in(kind):
    headers = [HOST, (b"content-length", b"30")] + ([] if kind is None else [(b"content-type", kind)])
    sent = through(forever, nothing_is_read, headers, path="/login")
    assert sent[0]["status"] == 415
    assert (b"connection", b"close") in sent[0]["headers"]


@pytest.mark.parametrize("path", ["/login", "/style.css"])
@pytest.mark.parametrize("announced", [True, False])
def test_little_is_read_of_who_may_have_no_token(announced, path):
    headers = [HOST, (b"content-type", b"application/x-www-form-urlencoded")]
    if announced:
        sent = through(forever, nothing_is_read, [*headers, (b"content-length", b"4001")], path=path)
    else:
        sent = through(forever, arrived(b"token=" + b"x" * 4_000), headers, path=path)
    assert sent[0]["status"] == 413
    assert b"4,000 bytes" in sent[1]["body"]


def test_bodies_that_arrive_share_memory_and_the_first_gives_way():
    limits = Limits(megabytes=0.001, requests=3, seconds=60.0)

    def slow(ended):
        pieces = [{"type": "http.request", "body": b"x" * 900, "more_body": True}]

        async def receive():
            if not pieces:
                await ended.wait()
            return pieces.pop() if pieces else {"type": "http.request", "body": b"", "more_body": False}

        return receive

    async def well(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def run():
        guard = Guard(well, Access(), limits, refuse)
        ended, statuses = asyncio.Event(), []

        async def ask(number):
            async def send(message):
                if "status" in message:
                    statuses.append((number, message["status"]))

            await guard({"type": "http", "method": "POST", "path": "/", "headers": [HOST]}, slow(ended), send)

        tasks = []
        for number in range(5):
            tasks.append(asyncio.create_task(ask(number)))
            await asyncio.sleep(0)
        while len(statuses) < 2:
            await asyncio.sleep(0.01)
        assert statuses == [(0, 503), (1, 503)]
        ended.set()
        await asyncio.gather(*tasks)
        assert guard._arriving == {}
        return statuses[2:]

    assert asyncio.run(asyncio.wait_for(run(), 60)) == [(2, 200), (3, 200), (4, 200)]


def test_slow_bodies_take_no_place_of_those_that_have_arrived():
    async def run():
        guard = Guard(answer_well, Access(), Limits(requests=1, seconds=60.0), refuse)
        scope = {"type": "http", "method": "POST", "path": "/", "headers": [HOST]}
        sent = []

        async def send(message):
            sent.append(message)

        slow = [asyncio.create_task(guard(scope, forever, send)) for _ in range(40)]
        await asyncio.sleep(0)
        await guard(scope, arrived(), send)
        for task in slow:
            task.cancel()
        await asyncio.gather(*slow, return_exceptions=True)
        return sent[0]["status"]

    async def answer_well(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})

    assert asyncio.run(asyncio.wait_for(run(), 60)) == 200
