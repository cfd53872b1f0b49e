"""Checks of every request (host, origin, token, size, time) and headers of every response."""

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
PAUSE = "dsna.pause"  # key in the scope of the function that raises when the request's time is up
_LOGIN = "/login"
_MAX_HEADERS = 100
_OPEN_BYTES = 4_000  # of a body sent to an address that needs no token
_SINGLE_HEADERS = ("host", "origin", "content-length", "content-type", "authorization")


class Guard:
    """ASGI middleware that checks requests; the application receives complete bodies only.

    Parameters
    ----------
    application : the ASGI application to protect.
    access : access rules.
    limits : limits of every request.
    refuse : called with the scope and the error of a refused request; returns an application that responds.

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
        self._arriving: dict[asyncio.Timeout, int] = {}  # bytes received of each body, oldest first

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] == "lifespan":
            await self.application(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        answer = _HeaderSender(send)
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
            await self._answer({**scope, PAUSE: deadline(self.limits)}, _replay_body(body, receive), answer)
        finally:
            self._under_way -= 1

    async def _answer(self, scope: Message, receive: Receive, answer: _HeaderSender) -> None:
        """Answer within the time limit."""
        try:
            async with asyncio.timeout(self.limits.seconds):
                await self.application(scope, receive, answer)
        except TimeoutError:
            if answer.begun:
                raise
            await self.refuse(scope, self.limits.too_long())(scope, receive, answer)

    def _checked(self, scope: Message) -> dict[str, str]:
        """Validate the headers of a request and return them."""
        if len(scope["headers"]) > _MAX_HEADERS:
            raise Refused(f"the request has over {_MAX_HEADERS} headers. Remedy: send fewer.", 431)
        headers: dict[str, str] = {}
        for key, text in _pairs(scope):
            if key in headers and key in _SINGLE_HEADERS:
                raise Refused(f"the request has two headers {key}. Remedy: send one.", 400)
            headers[key] = f"{headers[key]}, {text}" if key in headers else text
        if not self.access.is_own_host(headers.get("host", "")):
            raise Refused("the request names another host than this server. Remedy: use its address, or --name.", 421)
        if scope["method"] not in ("GET", "HEAD") and self.access.is_foreign(headers):
            raise Refused("the request comes from a page of another site. Remedy: use the form of this server.", 403)
        if scope["path"] not in OPEN and not self.access.is_authorized(headers):
            raise Refused("a token is needed. Remedy: log in, or send the header Authorization: Bearer TOKEN.", 401)
        if headers.get("content-encoding", "identity").lower() != "identity":
            raise Refused("compressed requests are not supported. Remedy: send it without Content-Encoding.", 415)
        if scope["path"] in OPEN and scope["method"] == "POST":
            check_urlencoded(headers.get("content-type", ""))
        return headers

    async def _body(self, scope: Message, headers: dict[str, str], receive: Receive) -> bytes | None:
        """Receive the complete body, or None if the client disconnects; raise Refused if its size is wrong."""
        max_bytes, too_large = self.limits.bytes, self.limits.too_large()
        if scope["path"] in OPEN:
            max_bytes = _OPEN_BYTES
            too_large = Refused(
                f"{scope['path']} takes at most {max_bytes:,} bytes. Remedy: send the token alone.", 413
            )
        announced = headers.get("content-length")
        if announced is not None and not (announced.isascii() and announced.isdigit()):
            raise Refused("Content-Length is not a number. Remedy: let your HTTP client set it.", 400)
        length = None if announced is None or len(announced) > 18 else int(announced)
        if announced is not None and (length is None or length > max_bytes):
            raise too_large
        clock = asyncio.timeout(self.limits.seconds)
        self._arriving[clock] = 0
        try:
            async with clock:
                body = await self._read(clock, receive, max_bytes)
        except TimeoutError:
            raise (self.limits.too_slow() if clock in self._arriving else busy()) from None
        finally:
            self._arriving.pop(clock, None)
        if body is not None and len(body) > max_bytes:
            raise too_large
        if body is not None and length is not None and len(body) != length:
            raise cut_off()
        return body

    async def _read(self, clock: asyncio.Timeout, receive: Receive, max_bytes: int) -> bytes | None:
        """Receive a body up to its end or past ``max_bytes``; None if the client disconnects.

        All arriving bodies share a memory limit. When it is exceeded, the oldest one is dropped.
        """
        body = bytearray()
        has_more = True
        while has_more and len(body) <= max_bytes:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            body += message.get("body", b"")
            has_more = message.get("more_body", False)
            if clock in self._arriving:
                self._arriving[clock] = len(body)
            while sum(self._arriving.values()) > self.limits.arriving:
                oldest = next(iter(self._arriving))
                oldest.reschedule(0.0)
                del self._arriving[oldest]
        return bytes(body)


class _HeaderSender:
    """Adds the headers of every response; ``closes`` ends the connection after the response."""

    def __init__(self, send: Send) -> None:
        self._send, self.begun, self.closes = send, False, False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.begun = True
            app_headers = [
                (name, value) for name, value in message["headers"] if name.decode("latin-1").lower() not in HEADERS
            ]
            fixed_headers = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
            if self.closes:
                fixed_headers.append((b"connection", b"close"))
            message = {**message, "headers": [*app_headers, *fixed_headers]}
        await self._send(message)


def _pairs(scope: Message) -> Iterator[tuple[str, str]]:
    """Header names in lower case, with their values."""
    return ((name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in scope["headers"])


def _replay_body(body: bytes, receive: Receive) -> Receive:
    """A receive function that returns the body already read, then further messages."""
    messages = [{"type": "http.request", "body": body, "more_body": False}]

    async def next_message() -> Message:
        return messages.pop() if messages else await receive()

    return next_message


def login_for(scope: Message, error: Refused) -> str | None:
    """Address of the login page if a page was requested without a token, else None.

    Examples
    --------
    >>> login_for({"method": "GET"}, Refused("a token is needed", 401))
    '/login'
    """
    return _LOGIN if error.status == 401 and scope["method"] == "GET" else None
