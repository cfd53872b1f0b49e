"""Entry point of ``dsna ...``; the commands are in ``app.py`` and the file of their group."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from .._utils.optional import install_command
from .interrupts import exit_code, stop_on_signals


def main() -> None:
    """Run the command line, or print which package is missing."""
    run(_load, "dsna", install_command("cli"))


def run(load: Callable[[], Any], program: str, remedy: str) -> None:
    """Run the command line that ``load`` imports, or print which package is missing."""
    stop_on_signals()
    try:
        app = load()
    except KeyboardInterrupt:
        print("\nStopped before anything was begun.", file=sys.stderr)
        sys.exit(exit_code())
    except ModuleNotFoundError as error:
        message = f"the command line needs {error.name}, which is not installed. Remedy: {remedy}"
        print(f"{program}: {message}", file=sys.stderr)
        sys.exit(2)
    app()


def _load() -> Any:
    from .app import app

    return app


if __name__ == "__main__":
    main()
