"""The process of the server: how it is set up, and how it ends."""

from __future__ import annotations

import logging
import os
import queue
import socket
import sys
import threading
import time
from types import FrameType
from typing import Any

import uvicorn

from .connections import Connection

_CONNECTIONS = 256
_WAITING = 128  # connections that are not yet taken
_PATIENCE = 10  # seconds until a connection has asked something
_GRACE = 1  # seconds for answers that are under way when the server is stopped
_LONGEST_END = 1.6  # seconds from the signal to the end of the process


class Server(uvicorn.Server):
    """A server that ends soon after Ctrl-C or SIGTERM, whatever its threads do, with exit code 0."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._signals: queue.SimpleQueue[int] = queue.SimpleQueue()  # which signal handlers may use

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen."""
        threading.Thread(target=self._end_in_time, daemon=True).start()
        await super().startup(sockets)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop listening; requests that are cut short, now or when the loop ends, are no errors to print."""
        logging.getLogger("uvicorn.error").disabled = True
        await super().shutdown(sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop; the signal is not raised once more afterwards, as this is how the server is meant to end."""
        self.should_exit = True
        self._signals.put(sig)

    def end_process(self) -> None:
        """End the process if a signal stopped the server: the interpreter would first wait for threads."""
        if self.should_exit:
            sys.stdout.flush()
            os._exit(0)

    def _end_in_time(self) -> None:
        """End the process where a thread would keep it: threads cannot be ended from outside."""
        self._signals.get()
        time.sleep(_LONGEST_END)
        os._exit(0)


def server_of(application: Any) -> Server:
    """A server for an ASGI application, to be run with a socket that listens."""
    return Server(
        uvicorn.Config(
            application,
            loop="asyncio",
            http=Connection,
            ws="none",
            log_level="error",  # warnings tell of broken requests, and clients could fill a disk with them
            access_log=False,
            server_header=False,
            proxy_headers=False,
            backlog=_WAITING,
            limit_concurrency=_most_connections(),
            timeout_keep_alive=_PATIENCE,
            timeout_graceful_shutdown=_GRACE,
        )
    )


def _most_connections() -> int:
    """How many connections are kept at the same time: some systems give a process few files."""
    if sys.platform == "win32":
        return _CONNECTIONS
    import resource

    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return _CONNECTIONS if files == resource.RLIM_INFINITY else min(_CONNECTIONS, files // 2)
