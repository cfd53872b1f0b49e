"""Connections with deadlines; those without a complete request give way to new ones."""

from __future__ import annotations

import asyncio
import math
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

_SLICE = 16_384  # bytes passed on at once: h11 checks the size of a request's head only between them


class Connection(H11Protocol):
    """A connection that can neither stay idle nor block others.

    uvicorn's ``timeout_keep_alive`` limits, in seconds, how long the head of a request may take to arrive, and how
    long a response that the client does not read is kept. ``limit_concurrency`` limits the number of connections: a
    new one replaces the one that has waited longest for a complete request. The guard enforces deadlines of bodies
    and answers.

    Attributes
    ----------
    idle_since : loop time since which the connection waits for a complete request; None while one is answered.
    leaving : whether the connection reads no further requests.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._most, self.limit_concurrency = self.limit_concurrency, None
        self.idle_since: float | None = None
        self.leaving = False
        self._deadline: asyncio.TimerHandle | None = None
        self._unsent = math.inf

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Accept the connection; if there are too many, drop the one idle for longest."""
        wrapped: Any = _Transport(transport, self)
        super().connection_made(wrapped)
        self._settle()
        if self._most is not None and len(self.connections) > self._most:
            idle = [
                connection
                for connection in self.connections
                if isinstance(connection, Connection) and connection.idle_since is not None
            ]
            min(idle, key=lambda connection: connection.idle_since or 0.0).abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        super().connection_lost(exc)
        self._set_deadline(None)

    def data_received(self, data: bytes) -> None:
        """Read data; ignore what follows a refused request."""
        for start in range(0, len(data), _SLICE):
            if self.leaving:
                return
            super().data_received(data[start : start + _SLICE])
        self._settle()

    def on_response_complete(self) -> None:
        """Wait for the next request, with a new deadline."""
        super().on_response_complete()
        self.idle_since = None
        self._settle()

    def shutdown(self) -> None:
        """End at once, or after the response in progress."""
        if self.idle_since is not None and not self.transport.get_write_buffer_size():
            self.abort()
        else:
            super().shutdown()

    def abort(self) -> None:
        """End now, even if data is not yet sent."""
        self.connections.discard(self)
        self.transport.abort()

    def leave(self, transport: asyncio.Transport) -> None:
        """Close once all data is sent; if a request is still arriving, once the client has read the response.

        Closing a socket while bytes arrive resets the connection, and the client would lose the response.
        """
        self.leaving = True
        self._set_deadline(self.timeout_keep_alive)
        if self.conn.their_state in (h11.SEND_BODY, h11.ERROR) and transport.can_write_eof():
            self.flow.resume_reading()
            transport.write_eof()
        else:
            transport.close()

    def _settle(self) -> None:
        """Update ``idle_since``, and set the deadline for the head of the next request."""
        request: RequestResponseCycle | None = self.cycle  # None at first
        is_answering = request is not None and not request.response_complete
        if request is not None and is_answering and not request.more_body:
            self.idle_since = None
        elif self.idle_since is None:
            self.idle_since = self.loop.time()
        if is_answering and not self.leaving:
            self._set_deadline(None)
        elif self._deadline is None:
            self._set_deadline(self.timeout_keep_alive)

    def _set_deadline(self, seconds: float | None) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        self._unsent = math.inf
        self._deadline = None if seconds is None else self.loop.call_later(seconds, self._too_late)

    def _too_late(self) -> None:
        """End the connection, unless the client is still reading the response."""
        unsent = self.transport.get_write_buffer_size()
        if 0 < unsent < self._unsent:
            self._set_deadline(self.timeout_keep_alive)
            self._unsent = unsent
        else:
            self.abort()


class _Transport:
    """Transport that leaves closing to its connection."""

    def __init__(self, transport: Any, connection: Connection) -> None:
        self._transport, self._connection = transport, connection

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def close(self) -> None:
        self._connection.leave(self._transport)

    def is_closing(self) -> bool:
        return self._connection.leaving or bool(self._transport.is_closing())
