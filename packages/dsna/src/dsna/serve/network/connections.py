"""Connections: each has a deadline, and those without a whole request give way to new ones."""

from __future__ import annotations

import asyncio
import math
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

_SLICE = 16_384  # bytes that are read at once: h11 bounds the head of a request only between two of them


class Connection(H11Protocol):
    """A connection that can neither stay idle nor keep others out.

    uvicorn's ``timeout_keep_alive`` bounds, in seconds, how long a connection takes until the head of a request has
    arrived, and how long an answer that nobody reads is kept. ``limit_concurrency`` bounds how many connections there
    are: a new one takes the place of the one that has been without a whole request for the longest time. Deadlines of
    bodies and of answers are the guard's.

    Attributes
    ----------
    idle_since : when the connection began to wait for a whole request, on the loop's clock; None while one is answered.
    leaving : whether no further request is read.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._most, self.limit_concurrency = self.limit_concurrency, None
        self.idle_since: float | None = None
        self.leaving = False
        self._deadline: asyncio.TimerHandle | None = None
        self._unsent = math.inf

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the connection, in place of another one if there are too many."""
        wrapped: Any = _Transport(transport, self)
        super().connection_made(wrapped)
        self._settle()
        if self._most is not None and len(self.connections) > self._most:
            idle = [one for one in self.connections if isinstance(one, Connection) and one.idle_since is not None]
            min(idle, key=lambda one: one.idle_since or 0.0).abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        super().connection_lost(exc)
        self._set_deadline(None)

    def data_received(self, data: bytes) -> None:
        """Read on; what comes after a request was refused is dropped without a look."""
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
        """End at once, or after the answer that is under way."""
        if self.idle_since is not None and not self.transport.get_write_buffer_size():
            self.abort()
        else:
            super().shutdown()

    def abort(self) -> None:
        """End now, whatever is not yet sent."""
        self.connections.discard(self)
        self.transport.abort()

    def leave(self, transport: asyncio.Transport) -> None:
        """Close once all is sent; if a request still arrives, once the client has read the answer to it.

        A socket that is closed while bytes arrive resets the connection, and the client would not see the answer.
        """
        self.leaving = True
        self._set_deadline(self.timeout_keep_alive)
        if self.conn.their_state in (h11.SEND_BODY, h11.ERROR) and transport.can_write_eof():
            self.flow.resume_reading()
            transport.write_eof()
        else:
            transport.close()

    def _settle(self) -> None:
        """Note whether the connection has a whole request, and bound the time until the head of one has arrived."""
        request: RequestResponseCycle | None = self.cycle  # uvicorn's, which has none at first
        asked = request is not None and not request.response_complete
        if request is not None and asked and not request.more_body:
            self.idle_since = None
        elif self.idle_since is None:
            self.idle_since = self.loop.time()
        if asked and not self.leaving:
            self._set_deadline(None)
        elif self._deadline is None:
            self._set_deadline(self.timeout_keep_alive)

    def _set_deadline(self, seconds: float | None) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        self._unsent = math.inf
        self._deadline = None if seconds is None else self.loop.call_later(seconds, self._too_late)

    def _too_late(self) -> None:
        """End the connection, unless the client reads what is sent."""
        unsent = self.transport.get_write_buffer_size()
        if 0 < unsent < self._unsent:
            self._set_deadline(self.timeout_keep_alive)
            self._unsent = unsent
        else:
            self.abort()


class _Transport:
    """A transport whose connection decides how it is closed."""

    def __init__(self, transport: Any, connection: Connection) -> None:
        self._transport, self._connection = transport, connection

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def close(self) -> None:
        self._connection.leave(self._transport)

    def is_closing(self) -> bool:
        return self._connection.leaving or bool(self._transport.is_closing())
