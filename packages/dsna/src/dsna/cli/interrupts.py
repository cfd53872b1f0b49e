"""SIGINT, SIGTERM and SIGHUP end a command like Ctrl-C, so that it removes incomplete files."""

from __future__ import annotations

import signal
import sys
import threading
import time
from types import FrameType
from typing import Any

_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")  # Windows has no SIGHUP
_IGNORE_SECONDS = 5.0  # after a signal, further ones are ignored: terminals and services send two at once


class _Received:
    """The signal that stops this process, and its time."""

    number: int = signal.SIGINT
    time: float | None = None


def stop_on_signals() -> None:
    """Raise KeyboardInterrupt on each signal, except those that the parent process ignores (nohup)."""
    for name in _SIGNALS:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, _stop)
    sys.unraisablehook = _stop_again


def exit_code() -> int:
    """128 plus the number of the signal that stopped this process.

    Examples
    --------
    >>> exit_code()
    130
    """
    return 128 + _Received.number


def _stop(number: int, frame: FrameType | None) -> None:
    now = time.monotonic()
    if _Received.time is None or now - _Received.time > _IGNORE_SECONDS:
        _Received.number, _Received.time = number, now
        raise KeyboardInterrupt


def _stop_again(ignored: Any) -> None:
    """Send the signal again if Python drops a KeyboardInterrupt, as in callbacks of imports."""
    if isinstance(ignored.exc_value, KeyboardInterrupt):
        _Received.time = None
        threading.Timer(0.05, signal.raise_signal, (_Received.number,)).start()
    else:
        sys.__unraisablehook__(ignored)
