"""``dsna info`` and ``dsna add``: describe a model file, and add rows to it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..errors import exit_on_user_error
from .options import (
    REMEDY,
    UNTOUCHED,
    AllowUnreadable,
    Decimal,
    Encoding,
    Force,
    Json,
    ModelFile,
    NoHeader,
    Separator,
    SkipLines,
    Types,
    check_model,
    check_new,
    command_output,
    read_options,
)
from .predict import NewRows


def info(model: ModelFile, as_json: Json = False) -> None:
    """Describe a model: target, columns, scores, and whether it holds training rows.

    For example:

    - `dsna info fraud.dsna`

    - `dsna info fraud.dsna --json`
    """
    with exit_on_user_error("info", REMEDY, UNTOUCHED), command_output(as_json) as out:
        check_model(model)
        from ...app.inspect import describe, description_lines
        from ...app.predict import load_model

        description = describe(load_model(model))
        for line in description_lines(description):
            out.line(line)
        out.put(model=str(model), **description)
        out.end()


def add(
    model: ModelFile,
    data: NewRows,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="File for the extended model.")],
    target: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Column of the target; default: the model's target.")
    ] = None,
    types: Types = None,
    separator: Separator = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    no_header: NoHeader = False,
    skip_lines: SkipLines = None,
    allow_unreadable: AllowUnreadable = False,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Add rows with known target to a model, such as new rare cases, without retraining.

    The rows become possible neighbours in later predictions; their classes may be new. Trees and scores do not
    change: train again after adding many rows. Files of rows that the model mostly holds already are rejected.

    For example:

    - `dsna add fraud.dsna frauds_of_may.csv -o grown.dsna`
    """
    with exit_on_user_error("add", REMEDY, UNTOUCHED), command_output(as_json) as out:
        check_model(model, data)
        check_new(force, output, inputs=[data])  # the model itself may be overwritten
        options = read_options(separator, decimal, encoding, no_header, skip_lines, types)
        from ...app.columns import with_training_types
        from ...app.grow import add_rows
        from ...app.predict import load_model
        from ...io import save
        from ...tables import read_file

        grown = load_model(model)
        table = read_file(data, with_training_types(options, grown.steps[0][1]))
        added = add_rows(grown, table, target, allow_unreadable=allow_unreadable)
        save(grown, output)
        out.lines("Notes:", added.notes)
        out.line(f"{added.rows} rows were added; the model knows {added.total} now: {output}")
        if added.new_classes:
            out.line(f"New classes: {', '.join(added.new_classes)}")
        out.put(rows=added.rows, total=added.total, new_classes=added.new_classes, notes=added.notes, model=str(output))
        out.end()
