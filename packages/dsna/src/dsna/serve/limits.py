"""Limits of a request (bytes, rows, time) and the errors for exceeding them."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from .._utils.errors import DSNAError

_MEGABYTE = 1_000_000


class Refused(DSNAError):
    """A refused request; the message says why and what to do.

    Parameters
    ----------
    message : one sentence.
    status : HTTP status of the response.

    Examples
    --------
    >>> Refused("the body has over 5 MB", 413).status
    413
    """

    def __init__(self, message: str, status: int = 422) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Limits of every request.

    Parameters
    ----------
    megabytes : maximum size of a body.
    rows : maximum number of rows in a table or a JSON list.
    explained : maximum number of rows to explain at once.
    seconds : maximum time for a request to arrive, and for its answer.
    requests : maximum number of requests in progress; further ones get status 503.
    threads : number of threads that answer requests.

    Examples
    --------
    >>> Limits(megabytes=0.5).bytes
    500000
    """

    megabytes: float = 5.0
    rows: int = 10_000
    explained: int = 100
    seconds: float = 60.0
    requests: int = 32
    threads: int = 4

    @property
    def bytes(self) -> int:
        """Maximum bytes of a body."""
        return int(self.megabytes * _MEGABYTE)

    @property
    def arriving(self) -> int:
        """Maximum total bytes of all arriving bodies."""
        return self.requests * self.bytes

    def too_large(self) -> Refused:
        """Error for a body that is too large."""
        return Refused(
            f"the request holds over {self.megabytes:g} MB, the limit. Remedy: send fewer rows, or use `dsna predict`.",
            413,
        )

    def too_many(self, subject: str) -> Refused:
        """Error for too many rows."""
        return Refused(
            f"{subject} over {self.rows:,} rows, the limit. Remedy: send fewer, or use `dsna predict`.",
            413,
        )

    def too_slow(self) -> Refused:
        """Error for a request that takes too long to arrive."""
        return Refused(f"the request did not arrive within {self.seconds:g} seconds. Remedy: try again.", 408)

    def too_long(self) -> Refused:
        """Error for an answer that takes too long."""
        return Refused(
            f"the answer took over {self.seconds:g} seconds and was given up. Remedy: send fewer rows, or use "
            "`dsna predict`.",
            503,
        )


def busy() -> Refused:
    """Error for too many requests."""
    return Refused("the server is busy with other requests. Remedy: try again in a moment.", 503)


def deadline(limits: Limits) -> Callable[[], None]:
    """Return a function that raises once the request's time is up.

    Examples
    --------
    >>> deadline(Limits(seconds=-1.0))()
    Traceback (most recent call last):
    dsna.serve.limits.Refused: the answer took over -1 seconds and was given up. ...
    """
    end = time.monotonic() + limits.seconds

    def check() -> None:
        if time.monotonic() > end:
            raise limits.too_long()

    return check
