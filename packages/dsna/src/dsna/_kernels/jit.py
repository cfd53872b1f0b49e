"""How kernels are compiled: cached on disk, without the GIL, and announced when it takes a while.

A kernel that calls another hands it ``np.int64(0)``, not 0: numba compiles one more version for every literal.

Also the random numbers of the kernels: a splitmix64 stream held in a one-element array, so that a tree depends on
its own seed and on nothing else.

And ties: BLAS, LAPACK and the C library round differently on different machines, so values that differ by a share of
``TIE`` or less count as equal, and a rule that does not depend on rounding (as a rule: the first) chooses among them.
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
    """Digest of the kernel sources of a package, and of ours, which it may call."""
    digest = hashlib.sha256()
    for name in sorted({__name__.split(".")[0], package}):
        for folder in getattr(import_module(name), "__path__", ()):
            for path in sorted(Path(folder).rglob("_kernels/**/*.py")):
                digest.update(path.read_bytes())
    return digest.hexdigest()


TIE = 1e-9
_PROBE_SIZE = 2**20


def kernel(function):
    """Compile ``function`` on first use, and keep what was compiled on disk where that can be done."""
    return _compiled(function, fastmath=False)


def sums(function):
    """The same for a kernel that adds up many numbers, in whatever order is fastest on the processor at hand."""
    return _compiled(function, fastmath={"reassoc", "nsz"})


def _compiled(function, fastmath):
    compiled = numba.njit(function, nogil=True, error_model="numpy", fastmath=fastmath)
    if compiled is function:  # NUMBA_DISABLE_JIT
        NOTICES.interpreted()
        return _interpreted(function)
    try:
        compiled._cache = KernelCache(function)
    except (RuntimeError, OSError) as error:
        NOTICES.no_cache(error)
    return compiled


def _interpreted(function):
    """A kernel as plain Python, in which numbers overflow as quietly as in compiled code."""

    @wraps(function)
    def quiet(*arguments):
        with np.errstate(all="ignore"):
            return function(*arguments)

    return quiet


class KernelCache(FunctionCache):
    """Compiled kernels on disk: files that cannot be read are replaced; where none can be written there is no cache."""

    def __init__(self, function):
        super().__init__(function)
        # numba looks at the function's own file only; what was compiled with an older version of another must go too.
        self._cache_file._source_stamp = _fingerprint(function.__module__.split(".")[0])

    def probe(self):
        """Write and remove a file as large as that of a kernel, before anything is promised."""
        self._try(self._write_and_remove)

    def _write_and_remove(self):
        self._impl.locator.ensure_cache_path()
        with TemporaryFile(dir=self.cache_path) as file:
            file.write(bytes(_PROBE_SIZE))
            file.flush()

    def load_overload(self, sig, target_context):
        """What was compiled for a signature, or None."""
        try:
            return super().load_overload(sig, target_context)
        except Exception:
            # A file that is truncated or otherwise damaged raises whatever pickle and LLVM happen to raise.
            self._try(self.flush)
            return None

    def save_overload(self, sig, data):
        """Write what was compiled for a signature."""
        self._try(lambda: super(KernelCache, self).save_overload(sig, data))

    def _try(self, write):
        try:
            write()
        except Exception as error:
            self.disable()
            NOTICES.no_cache(error, self.cache_path)


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
