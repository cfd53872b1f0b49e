"""What stands before every request: its host, its site, its token, its size, its time; and headers of every answer."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from typing import Any

from .access import Access
from .limits import Limits, Refused, busy, deadline
from .uploads import check_urlencoded, cut_off

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Message, Receive, Send], Awaitable[None]]

POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
#: Addresses that need no token.
OPEN = ("/login", "/style.css", "/icon.svg")
PAUSE = "dsna.pause"  # where a request finds the function that ends it when its time is up
_LOGIN = "/login"
_MOST_HEADERS = 100
_OPEN_BYTES = 4_000  # of a body from somebody who may have no token
_ONCE = ("host", "origin", "content-length", "content-type", "authorization")


class Guard:
    """An ASGI application before another one; bodies reach it whole, or not at all.

    Parameters
    ----------
    application : what answers requests that are let through.
    access : who is let in.
    limits : of every request.
    refuse : makes the answer to a request that is not: of its scope and why, an application.

    Examples
    --------
    >>> Guard(None, Access(), Limits(), None).limits.requests
    32
    """

    def __init__(
        self,
        application: Application,
        access: Access,
        limits: Limits,
        refuse: Callable[[Message, Refused], Application],
    ) -> None:
        self.application, self.access, self.limits, self.refuse = application, access, limits, refuse
        self._under_way = 0
        self._arriving: dict[asyncio.Timeout, int] = {}  # bytes of each body so far, the one that began first at first

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Let a request through, or refuse it."""
        if scope["type"] == "lifespan":
            await self.application(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        answer = _Headed(send)
        try:
            headers = self._checked(scope)
            body = await self._body(scope, headers, receive)
        except Refused as why:
            answer.closes = any(name in ("content-length", "transfer-encoding") for name, _ in _pairs(scope))
            await self.refuse(scope, why)(scope, receive, answer)
            return
        if body is None:  # the client has left
            return
        if self._under_way >= self.limits.requests:
            await self.refuse(scope, busy())(scope, receive, answer)
            return
        self._under_way += 1
        try:
            await self._answer({**scope, PAUSE: deadline(self.limits)}, _replayed(body, receive), answer)
        finally:
            self._under_way -= 1

    async def _answer(self, scope: Message, receive: Receive, answer: _Headed) -> None:
        """Answer within the time of a request."""
        try:
            async with asyncio.timeout(self.limits.seconds):
                await self.application(scope, receive, answer)
        except TimeoutError:
            if answer.begun:
                raise
            await self.refuse(scope, self.limits.too_long())(scope, receive, answer)

    def _checked(self, scope: Message) -> dict[str, str]:
        """The headers of a request that may be read further."""
        if len(scope["headers"]) > _MOST_HEADERS:
            raise Refused(f"the request has over {_MOST_HEADERS} headers. Remedy: send fewer.", 431)
        headers: dict[str, str] = {}
        for key, text in _pairs(scope):
            if key in headers and key in _ONCE:
                raise Refused(f"the request has two headers {key}. Remedy: send one.", 400)
            headers[key] = f"{headers[key]}, {text}" if key in headers else text
        if not self.access.knows(headers.get("host", "")):
            raise Refused("the request names another host than this server. Remedy: use its address, or --name.", 421)
        if scope["method"] not in ("GET", "HEAD") and self.access.is_foreign(headers):
            raise Refused("the request comes from a page of another site. Remedy: use the form of this server.", 403)
        if scope["path"] not in OPEN and not self.access.admits(headers):
            raise Refused("a token is needed. Remedy: log in, or send the header Authorization: Bearer TOKEN.", 401)
        if headers.get("content-encoding", "identity").lower() != "identity":
            raise Refused("compressed requests are not taken. Remedy: send it without Content-Encoding.", 415)
        if scope["path"] in OPEN and scope["method"] == "POST":
            check_urlencoded(headers.get("content-type", ""))
        return headers

    async def _body(self, scope: Message, headers: dict[str, str], receive: Receive) -> bytes | None:
        """The whole body, or None where the client has left; more bytes than are taken, or announced, are refused."""
        most, too_large = self.limits.bytes, self.limits.too_large()
        if scope["path"] in OPEN:
            most = _OPEN_BYTES
            too_large = Refused(f"{scope['path']} takes at most {most:,} bytes. Remedy: send the token alone.", 413)
        announced = headers.get("content-length")
        if announced is not None and not (announced.isascii() and announced.isdigit()):
            raise Refused("Content-Length is no number. Remedy: leave it to your program.", 400)
        length = None if announced is None or len(announced) > 18 else int(announced)
        if announced is not None and (length is None or length > most):
            raise too_large
        clock = asyncio.timeout(self.limits.seconds)
        self._arriving[clock] = 0
        try:
            async with clock:
                body = await self._read(clock, receive, most)
        except TimeoutError:
            raise (self.limits.too_slow() if clock in self._arriving else busy()) from None
        finally:
            self._arriving.pop(clock, None)
        if body is not None and len(body) > most:
            raise too_large
        if body is not None and length is not None and len(body) != length:
            raise cut_off()
        return body

    async def _read(self, clock: asyncio.Timeout, receive: Receive, most: int) -> bytes | None:
        """A body up to its end, or until it holds over ``most`` bytes; None where the client has left.

        All bodies that arrive share some memory. If they need more, the one that began first is given up.
        """
        body = bytearray()
        more = True
        while more and len(body) <= most:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            body += message.get("body", b"")
            more = message.get("more_body", False)
            if clock in self._arriving:
                self._arriving[clock] = len(body)
            while sum(self._arriving.values()) > self.limits.arriving:
                first = next(iter(self._arriving))
                first.reschedule(0.0)
                del self._arriving[first]
        return bytes(body)


class _Headed:
    """Sends messages with the headers that every answer has; ``closes`` ends the connection after it."""

    def __init__(self, send: Send) -> None:
        self._send, self.begun, self.closes = send, False, False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.begun = True
            own = [(name, value) for name, value in message["headers"] if name.decode("latin-1").lower() not in HEADERS]
            fixed = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
            if self.closes:
                fixed.append((b"connection", b"close"))
            message = {**message, "headers": [*own, *fixed]}
        await self._send(message)


def _pairs(scope: Message) -> Iterator[tuple[str, str]]:
    """Names of headers in small letters, and their values."""
    return ((name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in scope["headers"])


def _replayed(body: bytes, receive: Receive) -> Receive:
    """A receiver of the body that has been read, then of what comes after it."""
    left = [{"type": "http.request", "body": body, "more_body": False}]

    async def next_message() -> Message:
        return left.pop() if left else await receive()

    return next_message


def login_for(scope: Message, why: Refused) -> str | None:
    """Where somebody is sent who asks for a page and has given no token yet.

    Examples
    --------
    >>> login_for({"method": "GET"}, Refused("a token is needed", 401))
    '/login'
    """
    return _LOGIN if why.status == 401 and scope["method"] == "GET" else None
