"""Entry point of ``dsna ...``; the commands are in ``app.py`` and the file of their group."""

from __future__ import annotations

import sys

from .._utils.optional import install_command
from .interrupts import exit_code, stop_on_signals


def main() -> None:
    """Run the command line, or say what is missing for it."""
    stop_on_signals()
    try:
        from .app import app
    except KeyboardInterrupt:
        print("\nStopped before anything was begun.", file=sys.stderr)
        sys.exit(exit_code())
    except ModuleNotFoundError as error:
        remedy = install_command("cli")
        print(f"dsna: the command line needs {error.name}, which is not installed. Remedy: {remedy}", file=sys.stderr)
        sys.exit(2)
    app()


if __name__ == "__main__":
    main()
