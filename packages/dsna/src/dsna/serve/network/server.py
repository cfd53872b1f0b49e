"""Setup and shutdown of the server process."""

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
_BACKLOG = 128  # connections not yet accepted
_IDLE_SECONDS = 10  # until a connection must have sent a request
_GRACE_SECONDS = 1  # for responses in progress when the server is stopped
_EXIT_SECONDS = 1.6  # from the signal to the end of the process


class Server(uvicorn.Server):
    """Server that exits with code 0 soon after Ctrl-C or SIGTERM, even if its threads are busy."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._signals: queue.SimpleQueue[int] = queue.SimpleQueue()  # safe to use in signal handlers

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to listen."""
        threading.Thread(target=self._end_in_time, daemon=True).start()
        await super().startup(sockets)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop listening, without printing errors for interrupted requests."""
        logging.getLogger("uvicorn.error").disabled = True
        await super().shutdown(sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop the server; unlike uvicorn's method, the signal is not raised again afterwards."""
        self.should_exit = True
        self._signals.put(sig)

    def end_process(self) -> None:
        """End the process if a signal stopped the server, without waiting for threads."""
        if self.should_exit:
            sys.stdout.flush()
            os._exit(0)

    def _end_in_time(self) -> None:
        """End the process some time after a signal, even if a thread is still busy."""
        self._signals.get()
        time.sleep(_EXIT_SECONDS)
        os._exit(0)


def build_server(application: Any) -> Server:
    """Build a server for an ASGI application, to run with a listening socket."""
    return Server(
        uvicorn.Config(
            application,
            loop="asyncio",
            http=Connection,
            ws="none",
            log_level="error",  # clients could fill a disk with warnings about broken requests
            access_log=False,
            server_header=False,
            proxy_headers=False,
            backlog=_BACKLOG,
            limit_concurrency=_most_connections(),
            timeout_keep_alive=_IDLE_SECONDS,
            timeout_graceful_shutdown=_GRACE_SECONDS,
        )
    )


def _most_connections() -> int:
    """Maximum number of concurrent connections, within the process's limit of open files."""
    if sys.platform == "win32":
        return _CONNECTIONS
    import resource

    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return _CONNECTIONS if files == resource.RLIM_INFINITY else min(_CONNECTIONS, files // 2)
