"""``dsna ...`` on the command line; what it understands is in ``commands.py``."""

from __future__ import annotations

import sys

REMEDY = "pip install 'dsna[cli,bench,report]'"
VISION_REMEDY = "pip install 'dsna[cli,bench,report,vision]'"
EDGES_REMEDY = "pip install 'dsna[cli,report,vision]'"


def main() -> None:
    """Run the command line, or say what is missing for it.

    Examples
    --------
    >>> from dsna.cli import REMEDY
    >>> REMEDY
    "pip install 'dsna[cli,bench,report]'"
    """
    try:
        from .commands import app
    except KeyboardInterrupt:
        print("\nStopped before anything was begun.", file=sys.stderr)
        sys.exit(130)
    except ModuleNotFoundError as error:
        print(f"dsna: the command line needs {error.name}, which is not installed. Remedy: {REMEDY}", file=sys.stderr)
        sys.exit(2)
    app()


if __name__ == "__main__":
    main()
