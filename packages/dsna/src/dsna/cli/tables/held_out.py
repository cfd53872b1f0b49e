"""A model on rows that it was not trained on: what ``dsna evaluate MODEL DATA`` does."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from .options import Output

if TYPE_CHECKING:
    from ...tables import ReadOptions


def score_model(
    out: Output,
    model: Path,
    data: Path,
    options: ReadOptions,
    target: str | None,
    decision: tuple[Any, Any],
    report: Path | None,
    allow_unreadable: bool = False,
) -> None:
    """Say how good a model is on a table."""
    from ...app.columns import as_trained
    from ...app.evaluate import evaluate_model
    from ...app.predict import decide_anew, load_model
    from ...tables import read_file

    found = decide_anew(load_model(model), *decision)
    table = read_file(data, as_trained(options, found.steps[0][1]))
    out.line(f"{table.name}: {table.frame.height} rows, {table.frame.width} columns")
    scored = evaluate_model(found, table, target, allow_unreadable=allow_unreadable)
    out.lines("Notes:", [*table.notes, *scored.notes])
    out.line()
    out.line(f"Scores of {model} on {len(scored.target.values)} rows:")
    out.line(scored.scores.text())
    if scored.covered is not None:
        what = "sets" if scored.scores.task == "classification" else "intervals"
        rare = "" if scored.covered["rare"] is None else f", of the rare {scored.covered['rare']:.1%}"
        out.line()
        out.line(f"The 90 % {what} hold the truth of {scored.covered['all']:.1%} of the rows{rare}.")
    out.put(task=scored.scores.task, target=scored.target.name, rows=len(scored.target.values))
    out.put(scores=scored.scores.as_json(), covered=scored.covered, notes=[*table.notes, *scored.notes])
    if report is not None:
        from ...app.page import PageOptions, write_model_page

        about = PageOptions(
            model_file=str(model),
            data_file=table.name,
            notes=scored.notes,
            scores=scored.scores,
            scores_from=f"On {len(scored.target.values)} rows of {table.name}; every other figure is out of bag.",
        )
        write_model_page(report, found, about)
        out.line(f"Page: {report}")
