"""How kernels are compiled: cached on disk, without the GIL, and announced when it takes a while.

A kernel that calls another hands it ``np.int64(0)``, not 0: numba compiles one more version for every literal.

Also the random numbers of the kernels: a splitmix64 stream held in a one-element array, so that a tree depends on
its own seed and on nothing else.

And ties: BLAS, LAPACK and the C library round differently on different machines, so values that differ by a share of
``TIE`` or less count as equal, and a rule that does not depend on rounding (as a rule: the first) chooses among them.
"""

import hashlib
import sys
from pathlib import Path

import numba
import numpy as np
from numba.core import event


def _sources():
    """Fingerprint of all kernel sources."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


_SOURCES = _sources()
TIE = 1e-9


def kernel(function):
    """Compile ``function`` on first use; fall back to no disk cache where none can be written."""
    try:
        compiled = numba.njit(function, cache=True, nogil=True, error_model="numpy")
    except RuntimeError:
        return numba.njit(function, cache=False, nogil=True, error_model="numpy")
    # numba looks at the function's own file only; a kernel compiled with an older version of another one must go too.
    cache_file = getattr(compiled._cache, "_cache_file", None)
    if cache_file is not None and hasattr(cache_file, "_source_stamp"):
        cache_file._source_stamp = _SOURCES
    return compiled


class _Announcer(event.Listener):
    """Says once per process, on stderr, that kernels are being compiled."""

    def __init__(self):
        self.said = False

    def on_start(self, started):
        dispatcher = started.data["dispatcher"]
        if self.said or not dispatcher.py_func.__module__.startswith("dsna."):
            return
        self.said = True
        print("dsna: compiling numerical kernels once; later runs load them from the cache", file=sys.stderr)

    def on_end(self, ended):
        """Nothing to say when a compilation is over."""


event.register("numba:compile", _Announcer())


@kernel
def random_bits(state):
    """Next 64 random bits of the splitmix64 stream ``state`` (one uint64), as uint64."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@kernel
def random_below(state, n):
    """A whole number in [0, n)."""
    return np.int64(random_bits(state) >> np.uint64(33)) % n


@kernel
def first_smallest(values, slack):
    """Place of the smallest value; of values that differ by ``slack`` or less, the first."""
    best = 0
    for i in range(1, values.shape[0]):
        if values[i] < values[best] - slack:
            best = i
    return best
