"""Clients that hold connections, send slowly or send what is hard to read: others are served, and Ctrl-C ends it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import threading
from contextlib import ExitStack, contextmanager
from http.client import HTTPResponse
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import pytest

from dsna import DSNAError
from dsna.serve.uploads import read_form

from .served import running, service

TOKEN = "0123456789abcdefghij"
BEARER = {"authorization": f"Bearer {TOKEN}"}
PART = b'--x\r\nContent-Disposition: form-data; name="c0"\r\n\r\n1,5\r\n--x--\r\n'
SEMICOLONS = b"--x\r\nContent-Disposition: " + b";" * 4_900_000 + b"\r\n\r\n\r\n--x--\r\n"
posix = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")


def opened(address):
    parts = urlsplit(address)
    return socket.create_connection((parts.hostname, parts.port), timeout=60)


def head(address, path, kind, length, **headers):
    """The head of a request with a body."""
    lines = {"host": urlsplit(address).netloc, "content-type": kind, "content-length": length, **headers}
    return "\r\n".join(
        [f"POST {path} HTTP/1.1", *(f"{name}: {value}" for name, value in lines.items()), "", ""]
    ).encode()


def answer(connection):
    """The status of an answer."""
    with HTTPResponse(connection) as response:
        response.begin()
        response.read()
        return response.status


@posix
def test_others_are_served_while_hostile_clients_hold_on(tmp_path):
    """300 connections that ask nothing, 50 bodies that do not end, uploads that are slow to read; then Ctrl-C."""
    service()
    with running(tmp_path, "--token", TOKEN) as (process, address, _), ExitStack() as held:
        for _ in range(300):
            held.enter_context(opened(address))
        for _ in range(50):
            slow = held.enter_context(opened(address))
            slow.sendall(head(address, "/table", "multipart/form-data; boundary=x", 4_000_000, **BEARER) + b"--x")
        uploads = []
        for path, headers in [("/login", {})] * 4 + [("/table", BEARER)] * 4:
            upload = held.enter_context(opened(address))
            upload.sendall(head(address, path, "multipart/form-data; boundary=x", len(SEMICOLONS), **headers))
            sender = threading.Thread(target=upload.sendall, args=(SEMICOLONS,))
            sender.start()
            uploads.append((upload, sender))
        for _ in range(20):
            with urlopen(Request(f"{address}/api/model", headers=BEARER), timeout=60) as page:
                assert json.loads(page.read())["target"] == "rare"
        statuses = []
        for upload, sender in uploads:
            sender.join(60)
            statuses.append(answer(upload))
        assert statuses == [415] * 4 + [400] * 4
        process.send_signal(signal.SIGINT)
        assert process.wait(15) == 0
        assert "Traceback" not in process.stdout.read()


@posix
def test_a_server_whose_threads_hang_ends_when_it_is_told_to(tmp_path):
    service()
    hang = "import time, dsna.serve.service as s; s.Service.table = lambda *_, **__: time.sleep(90)"
    with running(tmp_path, before=hang) as (process, address, _), ExitStack() as held:
        for _ in range(8):
            upload = held.enter_context(opened(address))
            upload.sendall(head(address, "/table", "multipart/form-data; boundary=x", len(PART)) + PART)
        with urlopen(f"{address}/api/model", timeout=60) as page:
            assert page.status == 200
        process.send_signal(signal.SIGTERM)
        assert process.wait(15) == 0
        assert process.stdout.read() == "The server has ended.\n"


@contextmanager
def serving(application, **settings):
    """An application behind our connections, in a thread: its address, and the connections that it holds."""
    uvicorn = pytest.importorskip("uvicorn")
    from dsna.serve.network.connections import Connection

    config = uvicorn.Config(application, http=Connection, ws="none", lifespan="off", log_level="error", **settings)
    server = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}", server.server_state.connections
        finally:
            server.should_exit = True
            thread.join(60)


def replying(body=b"well", status=200, reads=True, headers=()):
    """An application that gives one answer."""

    async def application(scope, receive, send):
        while reads and (await receive()).get("more_body", False):
            pass
        length = (b"content-length", str(len(body)).encode())
        await send({"type": "http.response.start", "status": status, "headers": [length, *headers]})
        await send({"type": "http.response.body", "body": body})

    return application


def is_closed(connection):
    """Whether the server ends a connection without an answer."""
    try:
        return connection.recv(100) == b""
    except ConnectionResetError:
        return True


GET = b"GET / HTTP/1.1\r\nhost: a\r\n\r\n"


@pytest.mark.parametrize("sent", [b"", b"G", b"GET / HTTP/1.1\r\nhost: ", b"GET / HTTP/1.1\r\nhost: a\r\nx: y\r\n"])
def test_connections_that_do_not_ask_are_closed(sent):
    with serving(replying(), timeout_keep_alive=0.3) as (address, _), opened(address) as connection:
        connection.sendall(sent)
        assert is_closed(connection)


@pytest.mark.parametrize("line", [b"a:\r\n", b"a: " + b"b" * 200_000 + b"\r\n"])
def test_long_heads_are_refused(line):
    with serving(replying()) as (address, _), opened(address) as connection:
        connection.sendall(GET[:-2] + line * (250_000 // len(line)) + b"\r\n")
        assert answer(connection) == 400


def test_the_second_request_has_a_deadline_too():
    with serving(replying(), timeout_keep_alive=0.3) as (address, _), opened(address) as connection:
        connection.sendall(GET)
        assert answer(connection) == 200
        connection.sendall(GET[:10])
        assert is_closed(connection)


def test_the_connection_that_has_asked_nothing_for_longest_gives_way():
    settings = {"limit_concurrency": 3, "timeout_keep_alive": 60}
    with serving(replying(), **settings) as (address, connections), ExitStack() as held:
        first, second, third, fourth = (held.enter_context(opened(address)) for _ in range(4))
        assert is_closed(first)
        for connection in (second, third, fourth):
            connection.sendall(GET)
            assert answer(connection) == 200
        assert len(connections) == 3
        held.enter_context(opened(address)).sendall(GET)
        assert is_closed(second)


def test_a_connection_that_waits_for_its_answer_does_not_give_way():
    begun, go_on = threading.Event(), threading.Event()

    async def application(scope, receive, send):
        begun.set()
        await asyncio.get_running_loop().run_in_executor(None, go_on.wait, 60)
        await replying()(scope, receive, send)

    settings = {"limit_concurrency": 3, "timeout_keep_alive": 60}
    with serving(application, **settings) as (address, _), ExitStack() as held:
        patient = held.enter_context(opened(address))
        patient.sendall(GET)
        assert begun.wait(60)
        idle = [held.enter_context(opened(address)) for _ in range(6)]
        assert [is_closed(one) for one in idle[:4]] == [True] * 4
        go_on.set()
        assert answer(patient) == 200


def test_a_client_that_is_refused_while_it_sends_sees_the_answer():
    refused = replying(b"too large", 413, reads=False, headers=[(b"connection", b"close")])
    with serving(refused, timeout_keep_alive=5) as (address, _), opened(address) as connection:
        connection.sendall(head(address, "/", "text/csv", 4_000_000) + b"x" * 1_000_000)
        connection.sendall(b"x" * 3_000_000)
        assert answer(connection) == 413


def test_an_answer_that_nobody_reads_is_given_up():
    with serving(replying(b"x" * 30_000_000), timeout_keep_alive=0.3) as (address, connections):
        with opened(address) as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.sendall(GET)
            assert connection.recv(10).startswith(b"HTTP")
            wait_until(lambda: not connections)
        with opened(address) as connection:
            connection.sendall(GET)
            assert answer(connection) == 200


def wait_until(holds):
    pause = threading.Event()
    for _ in range(600):
        if holds():
            return
        pause.wait(0.1)
    raise AssertionError("not within a minute")


def test_a_form_that_is_whole_is_read():
    assert read_form("multipart/form-data; boundary=x", PART, 5).values == {"c0": "1,5"}
    assert read_form('Multipart/Form-Data ; charset=utf-8; BOUNDARY="x"', b"before\r\n" + PART, 5).values == {
        "c0": "1,5"
    }
    named = PART.replace(b"c0", b'a \\"b\\" c').replace(b"\r\n\r\n", b'; filename="t;1.csv"\r\nX: y\r\n\r\n', 1)
    form = read_form("multipart/form-data; boundary=x", named, 5)
    assert (form.files, form.names) == ({'a "b" c': b"1,5"}, {'a "b" c': "t;1.csv"})


@pytest.mark.parametrize(
    "body, part",
    [
        (SEMICOLONS, "damaged"),
        (SEMICOLONS.replace(b";", b"\r\n"), "damaged"),
        (SEMICOLONS.replace(b";", b'"'), "damaged"),
        (b"\r\n--" * 1_000_000, "cut off"),
        (b"--x\r\n" * 1_000_000, "damaged"),
        (PART[:-4].replace(b"\r\n--x", b"\r\n--x" * 900_000), "damaged"),
        (PART.replace(b"Content-Disposition", b"Content-Type"), "damaged"),
        (PART.replace(b"--x\r\n", b"--xy\r\n"), "damaged"),
        (PART.replace(b"\r\n\r\n", b"\r\n"), "damaged"),
        (PART[:-8], "cut off"),
        (PART[:30], "cut off"),
        (PART.replace(b"--x--\r\n", b"") * 6 + PART, "over 5 fields"),
        (PART.replace(b"name", b"n" * 5_000), "damaged"),
        (b"", "cut off"),
    ],
)
def test_uploads_that_are_hard_to_read_are_refused_at_once(body, part):
    with pytest.raises(DSNAError, match=part):
        read_form("multipart/form-data; boundary=x", body, 5)


@pytest.mark.parametrize("boundary", ["", "=", '=""', "=é", "=" + "x" * 71, "=" + ";" * 15_000, '="' + '\\"' * 7_000])
def test_boundaries_that_are_none_are_refused(boundary):
    with pytest.raises(DSNAError, match="damaged"):
        read_form(f"multipart/form-data; boundary{boundary}", PART, 5)
