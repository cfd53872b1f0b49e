"""Times, and the lines that set ours beside a peer's and a target."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from threadpoolctl import threadpool_limits

_LAYOUT = "{:<72} {:>14} {:>14} {:>9}  {:<12} {}"
_HEADER = _LAYOUT.format("what", "ours", "peer", "ratio", "target", "")


class Line(NamedTuple):
    """One finding; ``ok`` is None where there is no target."""

    what: str
    ours: str
    peer: str
    ratio: str
    target: str
    ok: bool | None

    def __str__(self) -> str:
        return _LAYOUT.format(*self[:5], {True: "ok", False: "MISS", None: ""}[self.ok]).rstrip()


class Report:
    """Lines as they are found, and all of them once more at the end."""

    def __init__(self) -> None:
        self.lines: list[Line] = []

    def title(self, text: str) -> None:
        """Begin a block."""
        print(f"\n== {text}\n{_HEADER}", flush=True)

    def add(
        self, what: str, ours: str, peer: str = "", ratio: float | None = None, target: str = "", ok: bool | None = None
    ) -> None:
        """Print one line and keep it."""
        line = Line(what, ours, peer, "" if ratio is None else f"{ratio:.3g}", target, ok)
        self.lines.append(line)
        print(line, flush=True)

    def note(self, text: str) -> None:
        """Print a remark about the line above."""
        print(f"   {text}", flush=True)

    def summary(self) -> None:
        """All lines that have a target."""
        judged = [line for line in self.lines if line.ok is not None]
        missed = sum(not line.ok for line in judged)
        print(f"\n== summary: {len(judged) - missed} of {len(judged)} targets met\n{_HEADER}")
        for line in judged:
            print(line)


def seconds(function: Callable[..., Any], *args: Any, repeats: int = 1) -> tuple[float, Any]:
    """Shortest time of several calls, and what the last one gave."""
    return _shortest(time.perf_counter, function, args, repeats)


def processor_seconds(function: Callable[..., Any], *args: Any, repeats: int = 1) -> tuple[float, Any]:
    """The same in processor time, all threads together: little changed by what else runs on the machine."""
    return _shortest(time.process_time, function, args, repeats)


def core_seconds(function: Callable[..., Any], *args: Any, repeats: int = 1) -> tuple[float, Any]:
    """Processor time on one core."""
    with one_core():
        return processor_seconds(function, *args, repeats=repeats)


def _shortest(
    clock: Callable[[], float], function: Callable[..., Any], args: tuple[Any, ...], repeats: int
) -> tuple[float, Any]:
    best, result = float("inf"), None
    for _ in range(repeats):
        start = clock()
        result = function(*args)
        best = min(best, clock() - start)
    return best, result


def fresh(code: str, cache: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run code in a new interpreter (-P: no folder of the working directory stands in for a module)."""
    environment = os.environ if cache is None else {**os.environ, "NUMBA_CACHE_DIR": cache}
    return subprocess.run(
        [sys.executable, "-P", "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )


def duration(s: float) -> str:
    """Seconds in a readable unit."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if s >= size:
            return f"{s / size:.3g} {unit}"
    return f"{s * 1e6:.3g} us"


def megabytes(n_bytes: float) -> str:
    """Bytes in MB."""
    return f"{n_bytes / 1e6:.3g} MB"


@contextmanager
def one_core() -> Iterator[None]:
    """Keep this process, BLAS included, on one core (where the system can; elsewhere only BLAS)."""
    allowed = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None
    if allowed:
        os.sched_setaffinity(0, {max(allowed)})
    try:
        with threadpool_limits(1):
            yield
    finally:
        if allowed:
            os.sched_setaffinity(0, allowed)
