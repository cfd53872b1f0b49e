"""All commands of ``dsna ...`` under one roof."""

from __future__ import annotations

from typing import Annotated

import typer

from dsna_studies.cli.benchmark import benchmark
from dsna_vision.commands import edges
from dsna_studies.cli.reproduce import reproduce
from .tables.demo import demo
from .tables.evaluate import evaluate
from .tables.explain import explain
from .tables.models import add, info
from .tables.predict import predict
from .tables.serve import serve
from .tables.train import train
from .warmup import warmup

_HELP = (
    "Imbalanced classification and regression: from a table to a decision that rare cases count in, with the rows "
    "behind it. Begin with **dsna demo**, or with **dsna train data.csv --target COLUMN**."
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
app.command()(benchmark)
app.command()(warmup)
app.add_typer(reproduce, name="reproduce")
app.add_typer(edges, name="edges")


def _version(asked: bool) -> None:
    if asked:
        from .. import __version__

        typer.echo(f"dsna {__version__}")
        raise typer.Exit


@app.callback(help=_HELP)
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and leave.")
    ] = False,
) -> None:
    """Options of ``dsna`` itself."""
