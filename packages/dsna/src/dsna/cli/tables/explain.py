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
    noted_output,
    read_options,
)
from .predict import NewRows, parts

if TYPE_CHECKING:
    from ...tables import ReadOptions

_ROWS = 20_000  # of a part of the file


def explain(
    model: ModelFile,
    data: NewRows,
    row: Annotated[int, typer.Option(min=1, help="Which row of DATA: 1 is the first below the names.")] = 1,
    largest: Annotated[int, typer.Option(min=1, max=50, help="Training rows to show.")] = 5,
    plot: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw them, such as why.png or why.svg.")] = None,
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
    """Show which training rows made a prediction, column by column, with what differs marked.

    Of a model that was trained with --no-rows, numbers of rows and their weights are shown.

    For example:

    - `dsna explain fraud.dsna new.csv --row 17`

    - `dsna explain fraud.dsna new.csv --row 17 --largest 10 --plot why.png`
    """
    with exit_on_user_error("explain", REMEDY, UNTOUCHED), noted_output(as_json) as out:
        check_model(model, data)
        check_new(force, plot, inputs=[model, data])
        ending = None if plot is None else _picture_ending(plot)
        options = read_options(separator, decimal, encoding, no_header, skip_lines, types)
        import numpy as np

        from ...app.predict import load_model, row_numbers
        from ...inspection import explain as explained

        found = load_model(model)
        one, notes = _row(found.steps[0][1], data, options, row, allow_unreadable)
        why = explained(found, one)
        numbers = row_numbers(found.steps[0][1], why.rows)
        why = replace(why, names=np.array([f"new row {row}"]), numbers=numbers)
        out.line(why.report(0, largest=largest))
        out.lines("Notes:", notes)
        out.put(row=row, notes=notes, **_plain(found, why, largest))
        if plot is not None:
            _draw(why, largest, plot, ending)
            out.line(f"Picture: {plot}")
        out.end()


def _row(encoder: Any, data: str, options: ReadOptions, row: int, allow_unreadable: bool) -> tuple[Any, list[str]]:
    """The row of this number, as a frame of one, and what was noted of the file up to there."""
    from ...app.columns import ReadableColumns

    seen, notes, readable = 0, dict[str, None](), ReadableColumns(encoder, allow_unreadable)
    for table in parts(encoder, data, options, _ROWS):
        notes.update(dict.fromkeys(table.notes))
        readable.count(table.unreadable)
        if row <= seen + table.frame.height:
            readable.check(table.name)
            return table.frame[row - seen - 1 : row - seen], [*notes, *readable.notes()]
        seen += table.frame.height
    raise DSNAError(f"{data}: there is no row {row}. Remedy: name one from 1 to {seen}.")


def _plain(model: Any, why: Any, largest: int) -> dict[str, Any]:
    """What an explanation of one row says, as plain values."""
    order, number = why.ordered()
    places = order[0, : min(largest, int(number[0]))]
    named = zip(places, why.row_names(0, places), why.label[0, places].tolist(), strict=True)
    rows = [
        {"row": int(why.numbers[0, k]), "name": name, "target": target, "weight": float(why.weight[0, k])}
        for k, name, target in named
    ]
    found = {"prediction": why.predict_shown().tolist()[0]}
    if why.classes is not None:
        found["probabilities"] = dict(zip(map(str, why.classes), why.predict_proba()[0].tolist(), strict=True))
        found["threshold"] = why.threshold and why.threshold.as_json()
    return {**found, "training_rows": rows, "holds_training_rows": model.steps[0][1].rows_ is not None}


def _picture_ending(path: Path) -> str:
    """The format of a picture, by its name."""
    from ..._utils.optional import import_extra

    ending = path.suffix.lstrip(".").lower() or "png"
    if ending not in import_extra("matplotlib.backend_bases", "app").FigureCanvasBase.get_supported_filetypes():
        raise DSNAError(f"{path}: pictures do not end in .{ending}. Remedy: name a .png, .svg or .pdf file.")
    return ending


def _draw(why: Any, largest: int, path: Path, ending: str | None) -> None:
    """Save the picture whole or not at all."""
    from ..._utils.optional import import_extra

    import_extra("matplotlib", "app").use("Agg")
    figure = why.plot(0, largest=largest).figure
    with whole_file(path) as stream:
        figure.savefig(stream, format=ending, dpi=150, bbox_inches="tight")
