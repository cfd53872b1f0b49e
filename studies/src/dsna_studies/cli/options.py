"""Options that several studies share."""

from __future__ import annotations

from typing import Annotated

import typer

from dsna.extend.commands import flag

RESUMED = "What is finished is in {}; the same command goes on from there."

Names = Annotated[list[str] | None, typer.Option(help="Methods: RF,CS-RF+DSNA or repeated; all if not named.")]
Processes = Annotated[int, typer.Option(min=1, help="Processes, of one thread each.")]
Redo = Annotated[bool, flag("--redo", "Run again what --out holds already.")]
