"""The command as people start it, asked by a program and by a real browser."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import threading
import tomllib
from pathlib import Path
from urllib.request import Request, urlopen

import pytest
from tests.cli.commands import run_without
from tests.cli.tables.small_files import ask, done
from tests.cli.tables.small_files import refused as exits
from tests.report.browser import browser, complaints_of, requests_of

import dsna

from .served import SCRIPT, as_csv, model, objects, running, service, table

NEW = table(60, seed=3)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    service()  # skips where the packages are missing
    with running(tmp_path_factory.mktemp("served")) as (process, address, said):
        assert "holds training rows" in said
        yield address
        if os.name == "posix":
            process.send_signal(signal.SIGINT)
            assert process.wait(20) == 0
            assert "The server has ended." in process.stdout.read()


def test_the_command_answers(server):
    body = json.dumps({"rows": objects(NEW[:2])}).encode()
    with urlopen(Request(f"{server}/api/predict", body, {"content-type": "application/json"}), timeout=60) as answer:
        assert answer.headers["content-security-policy"].startswith("default-src 'none'")
        assert "server" not in answer.headers
        found = json.loads(answer.read())
    assert [one["prediction"] for one in found["answers"]] == model().predict(NEW[:2]).tolist()


def test_raw_requests_are_bounded(server):
    """Without a length, cut off, and of another host: the server goes on."""
    host, port = server.removeprefix("http://").split(":")
    for head, expected in [
        (f"GET / HTTP/1.1\r\nHost: evil.example:{port}\r\n\r\n", b"421"),
        (f"POST /table.csv HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Length: 99999999\r\n\r\n", b"413"),
        (
            f"POST /table.csv HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Length: 5\r\nContent-Encoding: br\r\n\r\n",
            b"415",
        ),
    ]:
        with socket.create_connection((host, int(port)), timeout=30) as connection:
            connection.sendall(head.encode())
            assert connection.recv(4096).split(b" ")[1] == expected
    with socket.create_connection((host, int(port)), timeout=30) as connection:
        connection.sendall(f"POST / HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Length: 50\r\n\r\nc0=".encode())
    with urlopen(f"{server}/api/model", timeout=60) as answer:
        assert json.loads(answer.read())["target"] == "rare"


def test_a_browser_meets_no_error(server, tmp_path):
    (tmp_path / "new.csv").write_bytes(as_csv(NEW))
    with browser(tmp_path / "profile") as driver:
        driver.implicitly_wait(20)
        driver.get("about:blank")
        requests_of(driver)
        driver.get(f"{server}/?fill=typical")
        driver.find_element("css selector", "button.main").click()
        assert driver.find_element("css selector", "#answer .big").text in ("yes", "no")
        assert SCRIPT in driver.find_element("css selector", "main").text
        driver.get(f"{server}/table")
        driver.find_element("id", "file").send_keys(str(tmp_path / "new.csv"))
        driver.find_element("css selector", "button.main").click()
        assert "60 rows" in driver.find_element("id", "answer-title").text
        driver.find_element("css selector", "#answers button").click()
        assert len(driver.find_elements("css selector", ".beside th[scope=col]")) == 8
        for path in ("/api", "/openapi.json", "/nothing"):
            driver.get(server + path)
        for width in (400, 1200):
            driver.set_window_size(width, 900)
            for path in ("/", "/table", "/api"):
                driver.get(server + path)
                wide = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
                assert driver.execute_script(wide) <= 0
        asked = [one for one in requests_of(driver) if not one.startswith(("about:", "data:", "chrome"))]
        assert len(asked) > 10
        assert [one for one in asked if not one.startswith(server)] == []
        assert [one for one in complaints_of(driver) if "404" not in one] == []
        assert driver.execute_script("return window.hacked") is None


@pytest.mark.parametrize(
    "options, parts",
    [
        (["--host", "0.0.0.0"], ["token is needed", "--token auto"]),
        (["--host", "0.0.0.0", "--token", "short"], ["16 or more"]),
        (["--host", "no.such.host.invalid"], ["no such address"]),
    ],
)
def test_addresses_that_cannot_be_served_are_refused(options, parts, tmp_path, monkeypatch):
    pytest.importorskip("fastapi")
    monkeypatch.delenv("DSNA_TOKEN", raising=False)
    (tmp_path / "m.dsna").write_bytes(b"")
    exits(ask("serve", tmp_path / "m.dsna", "--port", "0", *options), *parts)


def test_a_port_that_is_taken_is_refused(tmp_path):
    pytest.importorskip("fastapi")
    (tmp_path / "m.dsna").write_bytes(b"")
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        exits(ask("serve", tmp_path / "m.dsna", "--port", port), str(port), "--port")


def test_models_that_cannot_be_served_are_refused(tmp_path):
    pytest.importorskip("fastapi")
    exits(ask("serve", tmp_path / "none.dsna", "--port", "0"), "none.dsna")
    dsna.save(model().steps[1][1], tmp_path / "bare.dsna")
    exits(ask("serve", tmp_path / "bare.dsna", "--port", "0"), "without the columns of a table", "dsna train")


def test_without_its_packages_the_command_names_them(tmp_path):
    (tmp_path / "m.dsna").write_bytes(b"")
    run = run_without(["fastapi"], "serve", tmp_path / "m.dsna", "--port", "0")
    assert run.returncode == 2
    assert "fastapi" in run.stderr
    assert "pip install 'dsna[serve]'" in run.stderr


def test_the_command_says_where_it_is_and_who_may_ask(tmp_path, monkeypatch):
    """A token that it makes is printed, one that it was given is not."""
    uvicorn = pytest.importorskip("uvicorn")
    service()
    dsna.save(model(keep_rows=False), tmp_path / "m.dsna")
    opened, served = threading.Event(), []
    monkeypatch.setattr("webbrowser.open", lambda address: opened.set())
    monkeypatch.setattr(uvicorn.Server, "run", lambda self, sockets: served.append(self.config.app))
    monkeypatch.delenv("DSNA_TOKEN", raising=False)
    run = done(ask("serve", tmp_path / "m.dsna", "--port", "0", "--host", "0.0.0.0", "--token", "auto", "--open"))
    token = re.search("Token: (.+)", run.output)[1]
    assert served[0].access.is_token(token)
    assert "Other machines" in run.output
    assert "not encrypted" in run.output
    assert "holds training rows" not in run.output
    assert opened.wait(20)
    given = "0123456789abcdefghij"
    run = done(ask("serve", tmp_path / "m.dsna", "--port", "0", "--max-rows", "7", env={"DSNA_TOKEN": given}))
    assert given not in run.output
    assert served[1].access.token == given
    assert served[1].limits.rows == 7
    assert re.search(r"http://127\.0\.0\.1:\d+/", run.output)


def test_lowest_versions_have_no_known_denial_of_service():
    """What faces the network; docs/dependencies.md names the advisories."""
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))["project"]
    lowest = dict(one.split(">=") for one in project["optional-dependencies"]["serve"])
    safe = {"starlette": (1, 3, 1), "h11": (0, 16), "jinja2": (3, 1, 6), "uvicorn": (0, 11, 7)}
    for name, version in safe.items():
        assert tuple(map(int, lowest[name].split("."))) >= version
    assert "python-multipart" not in lowest
