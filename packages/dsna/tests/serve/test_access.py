"""Tokens: who needs one, how it is given, and what is seen without it."""

from __future__ import annotations

import pytest

from dsna import DSNAError
from dsna.serve.access import COOKIE, Access, is_loopback, new_token

from .served import HOST, client, refused

TOKEN = "a token of 16 or more"
HTML = {"accept": "text/html"}


def guarded(**more):
    return client(access=Access(token=TOKEN, **more))


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.0.7", "models.example"])
def test_addresses_that_others_reach_need_a_token(host):
    assert not is_loopback(host)
    with pytest.raises(DSNAError, match="token is needed"):
        Access(host=host)
    assert Access(host=host, token=new_token()).token


@pytest.mark.parametrize("token", ["", "short", "é" * 20])
def test_tokens_that_are_none_are_refused(token):
    with pytest.raises(DSNAError, match="16"):
        Access(token=token)


@pytest.mark.parametrize(
    "given", [None, "", "Bearer", "Bearer wrong", f"Basic {TOKEN}", f"Bearer {TOKEN}x", "Bearer é"]
)
@pytest.mark.parametrize("path", ["/", "/table", "/api", "/api/model", "/openapi.json"])
def test_without_the_token_nothing_is_seen(given, path):
    headers = {} if given is None else {"authorization": given.encode()}
    answer = guarded().get(path, headers=headers)
    refused(answer, 401, "token")
    assert answer.headers["www-authenticate"] == "Bearer"
    assert "rare" not in answer.text


def test_programs_send_the_token_as_a_header():
    answer = guarded().get("/api/model", headers={"authorization": f"Bearer {TOKEN}"})
    assert answer.json()["target"] == "rare"


def test_people_log_in():
    asks = guarded()
    first = asks.get("/", headers=HTML)
    assert (first.status_code, first.headers["location"]) == (303, "/login")
    page = asks.get("/login", headers=HTML).text
    assert "Token" in page
    assert "rare" not in page
    wrong = asks.post("/login", data={"token": "wrong"})
    assert wrong.status_code == 401
    assert "set-cookie" not in wrong.headers
    right = asks.post("/login", data={"token": TOKEN})
    assert (right.status_code, right.headers["location"]) == (303, "/")
    cookie = right.headers["set-cookie"].lower()
    assert {"httponly", "samesite=strict", "path=/"} <= set(cookie.split("; "))
    assert TOKEN not in cookie
    assert asks.get("/", headers=HTML).status_code == 200
    assert "Authorization: Bearer TOKEN" in asks.get("/api").text


def test_cookies_of_another_server_are_worth_nothing():
    asks = guarded()
    for value in ("", "x", Access(token=TOKEN).session(), TOKEN):
        asks.cookies.set(COOKIE, value.replace(" ", "_"))
        refused(asks.get("/api/model"), 401, "token")
        asks.cookies.clear()
    refused(asks.get("/api/model", headers={"cookie": "=;=;;\x07"}), 401, "token")


def test_posts_without_a_token_are_pages_for_people():
    page = guarded().post("/", data={}, headers=HTML)
    assert page.status_code == 401
    assert "token is needed" in page.text
    assert "rare" not in page.text


def test_without_tokens_there_is_no_login():
    assert client().get("/login").headers["location"] == "/"
    assert client().post("/login", data={"token": ""}).status_code == 401


def test_names_of_the_host():
    everywhere = Access(host="0.0.0.0", port=8000, token=TOKEN, names=("models.example", "proxy.example:443"))
    for known in ("10.1.2.3:8000", "[fe80::1]:8000", "models.example", "models.example:8000", "proxy.example:443"):
        assert everywhere.is_own_host(known), known
    for unknown in (
        "evil.example:8000",
        "10.1.2.3:80",
        "proxy.example",
        "10.1.2.3.evil.example:8000",
        "[]:8000",
        ":8000",
    ):
        assert not everywhere.is_own_host(unknown), unknown
    local = Access(port=80)
    assert local.is_own_host("localhost")
    assert not local.is_own_host("10.1.2.3:80")
    assert Access(host="::1", port=8000).address() == "http://[::1]:8000/"
    assert everywhere.address() == HOST + "/"
