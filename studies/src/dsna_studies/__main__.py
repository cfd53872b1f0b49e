"""``python -m dsna_studies benchmark | age | pose | edges``: methods compared on tables, and the paper's tasks."""

from __future__ import annotations

from typing import Any

from dsna.extend.commands import run

from .cli import PROGRAM, REMEDY


def main() -> None:
    """Run the command line, or name the packages that it lacks."""
    run(_load, PROGRAM, REMEDY)


def _load() -> Any:
    from .cli.app import app

    return app


if __name__ == "__main__":
    main()
