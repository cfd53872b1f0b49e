"""Options shared by several studies."""

from __future__ import annotations

from typing import Annotated

import typer

from dsna.extend.commands import flag

RESUMED = "Finished results are in {}; the same command resumes from there."

Names = Annotated[list[str] | None, typer.Option(help="Methods: RF,CS-RF+DSNA or repeated; default: all.")]
Processes = Annotated[int, typer.Option(min=1, help="Processes, of one thread each.")]
Redo = Annotated[bool, flag("--redo", "Run again results that --out already contains.")]
