"""Entry point of ``dsna ...``; the commands are in ``app.py`` and the file of their group."""

from __future__ import annotations

import signal
import sys
import threading
from typing import Any

from .._utils.optional import install_command


def main() -> None:
    """Run the command line, or say what is missing for it."""
    sys.unraisablehook = _interrupt_again
    try:
        from .app import app
    except KeyboardInterrupt:
        print("\nStopped before anything was begun.", file=sys.stderr)
        sys.exit(130)
    except ModuleNotFoundError as error:
        remedy = install_command("cli", "bench", "report")
        print(f"dsna: the command line needs {error.name}, which is not installed. Remedy: {remedy}", file=sys.stderr)
        sys.exit(2)
    app()


def _interrupt_again(ignored: Any) -> None:
    """Where Python drops Ctrl-C, as in the callbacks of its imports, send it once more."""
    if isinstance(ignored.exc_value, KeyboardInterrupt):
        threading.Timer(0.05, signal.raise_signal, (signal.SIGINT,)).start()
    else:
        sys.__unraisablehook__(ignored)


if __name__ == "__main__":
    main()
