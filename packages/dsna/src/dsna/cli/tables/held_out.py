"""``dsna evaluate MODEL DATA``: scores of a model on held-out rows."""

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
    """Print the scores of a model on a table."""
    from ...app.columns import with_training_types
    from ...app.evaluate import evaluate_model
    from ...app.predict import decide_anew, load_model
    from ...tables import read_file

    pipeline = decide_anew(load_model(model), *decision)
    table = read_file(data, with_training_types(options, pipeline.steps[0][1]))
    out.line(f"{table.name}: {table.frame.height} rows, {table.frame.width} columns")
    evaluation = evaluate_model(pipeline, table, target, allow_unreadable=allow_unreadable)
    out.lines("Notes:", [*table.notes, *evaluation.notes])
    out.line()
    out.line(f"Scores of {model} on {len(evaluation.target.values)} rows:")
    out.line(evaluation.scores.text())
    if evaluation.covered is not None:
        region_name = "sets" if evaluation.scores.task == "classification" else "intervals"
        rare = "" if evaluation.covered["rare"] is None else f", and {evaluation.covered['rare']:.1%} of rare rows"
        out.line()
        out.line(f"The 90 % {region_name} contain the true value for {evaluation.covered['all']:.1%} of rows{rare}.")
    out.put(task=evaluation.scores.task, target=evaluation.target.name, rows=len(evaluation.target.values))
    out.put(scores=evaluation.scores.as_json(), covered=evaluation.covered, notes=[*table.notes, *evaluation.notes])
    if report is not None:
        from ...app.page import PageOptions, write_model_page

        page_options = PageOptions(
            model_file=str(model),
            data_file=table.name,
            notes=evaluation.notes,
            scores=evaluation.scores,
            scores_from=f"On {len(evaluation.target.values)} rows of {table.name}; every other figure is out of bag.",
        )
        write_model_page(report, pipeline, page_options)
        out.line(f"Page: {report}")
