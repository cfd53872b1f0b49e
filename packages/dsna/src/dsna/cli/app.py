"""The ``dsna`` application with all its commands."""

from __future__ import annotations

from typing import Annotated

import typer

from .._utils.optional import install_command, plugins
from .tables.demo import demo
from .tables.evaluate import evaluate
from .tables.explain import explain
from .tables.models import add, info
from .tables.predict import predict
from .tables.serve import serve
from .tables.train import train
from .warmup import warmup

_HELP = (
    "Imbalanced classification and regression on tables, with the training rows behind each prediction. Start with "
    "**dsna demo**, or with **dsna train data.csv --target COLUMN**."
)

app = typer.Typer(
    help=_HELP,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)
app.command()(train)
app.command()(predict)
app.command()(explain)
app.command()(evaluate)
app.command()(serve)
app.command()(info)
app.command()(add)
app.command()(demo)
app.command()(warmup)
for _name, _entry in plugins("dsna.commands").items():
    app.add_typer(_entry.load(), name=_name)
if "edges" not in plugins("dsna.commands"):

    @app.command(context_settings={"ignore_unknown_options": True, "allow_extra_args": True}, add_help_option=False)
    def edges() -> None:
        """Detect edges in photos; requires dsna-vision, which is not installed."""
        remedy = install_command(package="dsna-vision")
        typer.echo(f"dsna edges: this needs dsna-vision, which is not installed. Remedy: {remedy}", err=True)
        raise typer.Exit(2)


def _print_version(requested: bool) -> None:
    if requested:
        from .. import __version__

        typer.echo(f"dsna {__version__}")
        raise typer.Exit


@app.callback(help=_HELP)
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Options of ``dsna`` itself."""
