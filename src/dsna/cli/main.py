"""``dsna ...`` on the command line; what it understands is in ``commands.py``."""

from __future__ import annotations

import signal
import sys
import threading
from typing import Any

REMEDY = "pip install 'dsna[cli,bench,report]'"
VISION_REMEDY = "pip install 'dsna[cli,bench,report,vision]'"
EDGES_REMEDY = "pip install 'dsna[cli,report,vision]'"


def main() -> None:
    """Run the command line, or say what is missing for it.

    Examples
    --------
    >>> from dsna.cli.main import REMEDY
    >>> REMEDY
    "pip install 'dsna[cli,bench,report]'"
    """
    sys.unraisablehook = _interrupt_again
    try:
        from .commands import app
    except KeyboardInterrupt:
        print("\nStopped before anything was begun.", file=sys.stderr)
        sys.exit(130)
    except ModuleNotFoundError as error:
        print(f"dsna: the command line needs {error.name}, which is not installed. Remedy: {REMEDY}", file=sys.stderr)
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
