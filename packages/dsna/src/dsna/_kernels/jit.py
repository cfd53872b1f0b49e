"""Compilation of kernels: cached on disk, without the GIL, and with a message, because it takes a while.

Pass ``np.int64(0)``, not 0, from one kernel to another: numba compiles an extra version for every literal.

The module also holds the random numbers of the kernels: a splitmix64 stream in a one-element array, so that a tree
depends on its own seed alone.

Ties: BLAS, LAPACK and the C library round differently on different machines. Values whose relative difference is
``TIE`` or less therefore count as equal, and a rule that does not depend on rounding (usually: the first) breaks the
tie.
"""

import hashlib
from functools import cache, wraps
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryFile

import numba
import numpy as np
from numba.core.caching import FunctionCache

from .notices import NOTICES


@cache
def _fingerprint(package):
    """Digest of the kernel sources of a package and of dsna, whose kernels it may call."""
    digest = hashlib.sha256()
    for name in sorted({__name__.split(".")[0], package}):
        for folder in getattr(import_module(name), "__path__", ()):
            for path in sorted(Path(folder).rglob("_kernels/**/*.py")):
                digest.update(path.read_bytes())
    return digest.hexdigest()


TIE = 1e-9
_PROBE_SIZE = 2**20


def kernel(function):
    """Compile ``function`` on first use, and cache the result on disk if possible."""
    return _compiled(function, fastmath=False)


def sum_kernel(function):
    """Compile a kernel whose additions may be reordered, which is faster for sums of many numbers."""
    return _compiled(function, fastmath={"reassoc", "nsz"})


def _compiled(function, fastmath):
    compiled = numba.njit(function, nogil=True, error_model="numpy", fastmath=fastmath)
    if compiled is function:  # NUMBA_DISABLE_JIT
        NOTICES.warn_interpreted()
        return _interpreted(function)
    try:
        compiled._cache = KernelCache(function)
    except (RuntimeError, OSError) as error:
        NOTICES.warn_no_cache(error)
    return compiled


def _interpreted(function):
    """Wrap a kernel that runs as plain Python: floating-point errors give no warnings, as in compiled code."""

    @wraps(function)
    def without_warnings(*arguments):
        with np.errstate(all="ignore"):
            return function(*arguments)

    return without_warnings


class KernelCache(FunctionCache):
    """Compiled kernels on disk: unreadable files are replaced; if no files can be written, the cache is disabled."""

    def __init__(self, function):
        super().__init__(function)
        # numba checks the function's own file only; kernels compiled with older versions of other files are stale, too.
        self._cache_file._source_stamp = _fingerprint(function.__module__.split(".")[0])

    def probe(self):
        """Write and remove a file of the size of a cached kernel, to find out whether the cache works."""
        self._try(self._write_and_remove)

    def _write_and_remove(self):
        self._impl.locator.ensure_cache_path()
        with TemporaryFile(dir=self.cache_path) as file:
            file.write(bytes(_PROBE_SIZE))
            file.flush()

    def load_overload(self, sig, target_context):
        """Load the code compiled for a signature, or return None."""
        try:
            return super().load_overload(sig, target_context)
        except Exception:
            # For truncated or otherwise damaged files, pickle and LLVM raise exceptions of many types.
            self._try(self.flush)
            return None

    def save_overload(self, sig, data):
        """Write the code compiled for a signature."""
        self._try(lambda: super(KernelCache, self).save_overload(sig, data))

    def _try(self, write):
        try:
            write()
        except Exception as error:
            self.disable()
            NOTICES.warn_no_cache(error, self.cache_path)


@kernel
def random_bits(state):
    """Return the next 64 random bits of the splitmix64 stream ``state`` (one uint64), as uint64."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@kernel
def random_below(state, n):
    """Return a random integer in [0, n)."""
    return np.int64(random_bits(state) >> np.uint64(33)) % n


@kernel
def first_smallest(values, slack):
    """Return the index of the smallest value; of values that differ by ``slack`` or less, the first."""
    index = 0
    for i in range(1, values.shape[0]):
        if values[i] < values[index] - slack:
            index = i
    return index
