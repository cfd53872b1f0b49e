"""Messages on stderr while kernels are compiled."""

import os
import sys

from numba.core import event

_EACH_RUN = "Kernels are compiled again in each run; set NUMBA_CACHE_DIR to a folder that can be written to."


class Notices(event.Listener):
    """Tells once a process that kernels are being compiled, how many are done, and where they cannot be cached."""

    def __init__(self):
        self.compiled = 0
        self._depth = 0
        self._said = set()
        self.cached = True

    def interpreted(self):
        """Kernels are run as plain Python."""
        self.cached = False
        self._say_once(
            "NUMBA_DISABLE_JIT is set: numerical kernels run as plain Python, a hundred times slower. Unset it to "
            "compile them."
        )

    def no_cache(self, error, path=None):
        """Compiled kernels cannot be kept."""
        self.cached = False
        where = f" in {path}" if path else ""
        reason = os.strerror(error.errno) if getattr(error, "errno", None) else str(error)
        self._say_once(f"compiled kernels cannot be cached{where} ({reason}). {_EACH_RUN}", "no cache")

    def on_start(self, started):
        """A compilation begins, maybe within another."""
        dispatcher = started.data["dispatcher"]
        if not dispatcher.py_func.__module__.startswith("dsna."):
            return
        self._depth += 1
        if "compiling" not in self._said:
            if self.cached:
                dispatcher._cache.probe()
            later = "; later runs load them from the cache" if self.cached else ""
            self._say_once(f"compiling numerical kernels, about half a minute of work{later}", "compiling")
        self._count()

    def on_end(self, ended):
        """A compilation is over."""
        if not ended.data["dispatcher"].py_func.__module__.startswith("dsna."):
            return
        self._depth -= 1
        self.compiled += 1
        self._count()

    def _count(self):
        """Show on a terminal how many kernels are compiled, as long as some are being compiled."""
        if sys.stderr is not None and sys.stderr.isatty():
            text = f"dsna: {self.compiled} kernels compiled" if self._depth else ""
            sys.stderr.write(f"\r{text}\x1b[K")
            sys.stderr.flush()

    def _say_once(self, text, key=None):
        if sys.stderr is not None and (key or text) not in self._said:
            self._said.add(key or text)
            print(f"dsna: {text}", file=sys.stderr, flush=True)


NOTICES = Notices()
event.register("numba:compile", NOTICES)
