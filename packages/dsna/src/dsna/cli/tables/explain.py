"""``dsna explain``: the training rows behind one answer."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..._utils.atomic import whole_file
from ..._utils.errors import DSNAError
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
from .predict import NewRows, parts

if TYPE_CHECKING:
    from ...tables import ReadOptions

_CHUNK_ROWS = 20_000


def explain(
    model: ModelFile,
    data: NewRows,
    row: Annotated[int, typer.Option(min=1, help="Row of DATA to explain; 1 is the first row below the header.")] = 1,
    largest: Annotated[int, typer.Option(min=1, max=50, help="Number of training rows to show.")] = 5,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Save a plot of them, such as why.png or why.svg.")
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
    """Show the training rows behind a prediction, column by column, with differences marked.

    For a model trained with --no-rows, only row numbers and weights are shown.

    For example:

    - `dsna explain fraud.dsna new.csv --row 17`

    - `dsna explain fraud.dsna new.csv --row 17 --largest 10 --plot why.png`
    """
    with exit_on_user_error("explain", REMEDY, UNTOUCHED), command_output(as_json) as out:
        check_model(model, data)
        check_new(force, plot, inputs=[model, data])
        picture_format = None if plot is None else _picture_format(plot)
        options = read_options(separator, decimal, encoding, no_header, skip_lines, types)
        import numpy as np

        from ...app.predict import load_model, row_numbers
        from ...inspection import explain as explain_rows

        pipeline = load_model(model)
        new_row, notes = _row(pipeline.steps[0][1], data, options, row, allow_unreadable)
        explanation = explain_rows(pipeline, new_row)
        numbers = row_numbers(pipeline.steps[0][1], explanation.rows)
        explanation = replace(explanation, names=np.array([f"new row {row}"]), numbers=numbers)
        out.line(explanation.report(0, largest=largest))
        out.lines("Notes:", notes)
        out.put(row=row, notes=notes, **_plain(pipeline, explanation, largest))
        if plot is not None:
            _draw(explanation, largest, plot, picture_format)
            out.line(f"Picture: {plot}")
        out.end()


def _row(encoder: Any, data: str, options: ReadOptions, row: int, allow_unreadable: bool) -> tuple[Any, list[str]]:
    """The row with this number, as a frame, and the notes on the file up to there."""
    from ...app.columns import ReadableColumns

    n_read, notes, readable = 0, dict[str, None](), ReadableColumns(encoder, allow_unreadable)
    for table in parts(encoder, data, options, _CHUNK_ROWS):
        notes.update(dict.fromkeys(table.notes))
        readable.count(table.unreadable)
        if row <= n_read + table.frame.height:
            readable.check(table.name)
            return table.frame[row - n_read - 1 : row - n_read], [*notes, *readable.notes()]
        n_read += table.frame.height
    raise DSNAError(f"{data}: there is no row {row}. Remedy: name one from 1 to {n_read}.")


def _plain(model: Any, explanation: Any, largest: int) -> dict[str, Any]:
    """Convert the explanation of one row to plain values."""
    order, n_rows = explanation.ordered()
    positions = order[0, : min(largest, int(n_rows[0]))]
    neighbors = zip(
        positions, explanation.row_names(0, positions), explanation.label[0, positions].tolist(), strict=True
    )
    rows = [
        {
            "row": int(explanation.numbers[0, k]),
            "name": name,
            "target": target,
            "weight": float(explanation.weight[0, k]),
        }
        for k, name, target in neighbors
    ]
    result = {"prediction": explanation.predict_shown().tolist()[0]}
    if explanation.classes is not None:
        result["probabilities"] = dict(
            zip(map(str, explanation.classes), explanation.predict_proba()[0].tolist(), strict=True)
        )
        result["threshold"] = explanation.threshold and explanation.threshold.as_json()
    return {**result, "training_rows": rows, "holds_training_rows": model.steps[0][1].rows_ is not None}


def _picture_format(path: Path) -> str:
    """The format of a picture, from its file name."""
    from ..._utils.optional import import_extra

    picture_format = path.suffix.lstrip(".").lower() or "png"
    if picture_format not in import_extra("matplotlib.backend_bases", "app").FigureCanvasBase.get_supported_filetypes():
        raise DSNAError(
            f"{path}: .{picture_format} is not a supported picture format. Remedy: name a .png, .svg or .pdf file."
        )
    return picture_format


def _draw(explanation: Any, largest: int, path: Path, picture_format: str | None) -> None:
    """Save the picture; an incomplete file is never left behind."""
    from ..._utils.optional import import_extra

    import_extra("matplotlib", "app").use("Agg")
    figure = explanation.plot(0, largest=largest).figure
    with whole_file(path) as stream:
        figure.savefig(stream, format=picture_format, dpi=150, bbox_inches="tight")
