"""Messages on stderr while kernels are being compiled."""

import os
import sys

from numba.core import event

_CACHE_ADVICE = "Kernels are compiled again in each run; set NUMBA_CACHE_DIR to a writable folder."


class Notices(event.Listener):
    """Report, once per process, that kernels are being compiled, how many are done, and if they cannot be cached."""

    def __init__(self):
        self.compiled = 0
        self._depth = 0
        self._printed = set()
        self.cached = True

    def warn_interpreted(self):
        """Warn that kernels run as plain Python."""
        self.cached = False
        self._print_once(
            "NUMBA_DISABLE_JIT is set: numerical kernels run as plain Python, a hundred times slower. Unset it to "
            "have them compiled."
        )

    def warn_no_cache(self, error, path=None):
        """Warn that compiled kernels cannot be cached."""
        self.cached = False
        location = f" in {path}" if path else ""
        reason = os.strerror(error.errno) if getattr(error, "errno", None) else str(error)
        self._print_once(f"compiled kernels cannot be cached{location} ({reason}). {_CACHE_ADVICE}", "no cache")

    def on_start(self, compilation):
        """Handle the start of a compilation, which may be nested in another."""
        dispatcher = compilation.data["dispatcher"]
        if not dispatcher.py_func.__module__.startswith("dsna."):
            return
        self._depth += 1
        if "compiling" not in self._printed:
            if self.cached:
                dispatcher._cache.probe()
            cache_note = "; later runs load them from the cache" if self.cached else ""
            self._print_once(f"compiling numerical kernels, which takes about half a minute{cache_note}", "compiling")
        self._count()

    def on_end(self, compilation):
        """Handle the end of a compilation."""
        if not compilation.data["dispatcher"].py_func.__module__.startswith("dsna."):
            return
        self._depth -= 1
        self.compiled += 1
        self._count()

    def _count(self):
        """Show the number of compiled kernels on a terminal during compilation."""
        if sys.stderr is not None and sys.stderr.isatty():
            text = f"dsna: {self.compiled} kernels compiled" if self._depth else ""
            sys.stderr.write(f"\r{text}\x1b[K")
            sys.stderr.flush()

    def _print_once(self, text, key=None):
        if sys.stderr is not None and (key or text) not in self._printed:
            self._printed.add(key or text)
            print(f"dsna: {text}", file=sys.stderr, flush=True)


NOTICES = Notices()
event.register("numba:compile", NOTICES)
