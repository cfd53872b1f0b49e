"""The commands of all studies."""

from __future__ import annotations

import typer

from .benchmark import benchmark
from .paper import age, edges, pose

app = typer.Typer(
    help="Methods compared on tables, and the paper's tasks on your own data.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)
for command in (benchmark, age, pose, edges):
    app.command()(command)
