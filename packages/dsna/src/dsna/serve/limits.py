"""How much a request may ask for: bytes, rows and time; and how it is told that it asked for more."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from .._utils.errors import DSNAError

_MEGABYTE = 1_000_000


class Refused(DSNAError):
    """A request that is not answered; the message says why and what to do.

    Parameters
    ----------
    message : one sentence.
    status : the HTTP status that goes with it.

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
    """Bounds of every request.

    Parameters
    ----------
    megabytes : of a body.
    rows : of a table, or of a list in JSON.
    explained : rows whose explanation is asked for at once.
    seconds : until a request has arrived, and until it is answered.
    requests : that have arrived and are answered at the same time; further ones are told to come again.
    threads : that answer them.

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
        """Most bytes of a body."""
        return int(self.megabytes * _MEGABYTE)

    @property
    def arriving(self) -> int:
        """Most bytes of all bodies that are arriving."""
        return self.requests * self.bytes

    def too_large(self) -> Refused:
        """What is said of a body of too many bytes."""
        return Refused(
            f"the request holds over {self.megabytes:g} MB, the most that is taken. Remedy: send fewer rows, or "
            "use `dsna predict`.",
            413,
        )

    def too_many(self, what: str) -> Refused:
        """What is said of too many rows."""
        return Refused(
            f"{what} over {self.rows:,} rows, the most that are taken. Remedy: send fewer, or use `dsna predict`.", 413
        )

    def too_slow(self) -> Refused:
        """What is said where a request takes too long to arrive."""
        return Refused(f"the request did not arrive within {self.seconds:g} seconds. Remedy: try again.", 408)

    def too_long(self) -> Refused:
        """What is said where time is up."""
        return Refused(
            f"the answer took over {self.seconds:g} seconds and was given up. Remedy: send fewer rows, or use "
            "`dsna predict`.",
            503,
        )


def busy() -> Refused:
    """What is said where there are too many requests."""
    return Refused("the server is busy with other requests. Remedy: try again in a moment.", 503)


def deadline(limits: Limits) -> Callable[[], None]:
    """A function that raises once the time of a request is up.

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
