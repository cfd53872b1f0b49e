"""``dsna evaluate``: scores of methods or a model on held-out rows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from ..._utils.atomic import check_readable
from ..._utils.errors import DSNAError
from ..errors import exit_on_user_error
from ..options import names
from .options import (
    REMEDY,
    UNTOUCHED,
    AllowUnreadable,
    Costs,
    Decimal,
    DecisionOption,
    Encoding,
    Force,
    Jobs,
    Json,
    KeepLabels,
    MergeLabels,
    NoHeader,
    Report,
    Seed,
    Separator,
    SkipLines,
    Types,
    check_model,
    check_new,
    command_output,
    is_model,
    parse_decision,
    parse_labels,
    print_copies_apart,
    read_options,
)
from .train import Balance, Columns, Groups, Identifier, Kept, Sample, TaskOption, page_options_of, parse_balance


def evaluate(
    first: Annotated[Path, typer.Argument(metavar="DATA|MODEL", help="A table, or a model followed by a table.")],
    second: Annotated[Path | None, typer.Argument(metavar="[DATA]", help="Held-out rows for the model.")] = None,
    target: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Column to predict; default: the model's target.")
    ] = None,
    folds: Annotated[int, typer.Option(min=2, max=100, help="Folds of the cross-validation.")] = 5,
    task: TaskOption = None,
    balance: Balance = None,
    decision: DecisionOption = None,
    costs: Costs = None,
    groups: Groups = None,
    drop: Columns = None,
    keep: Kept = None,
    id: Identifier = None,
    sample: Sample = None,
    merge_labels: MergeLabels = False,
    keep_labels: KeepLabels = False,
    report: Report = None,
    jobs: Jobs = 1,
    seed: Seed = 0,
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
    """Score predictions on rows with known target: overall and by class or target range, with 95 % ranges.

    With a table, the command cross-validates dsna, a random forest, gradient boosting and a linear model, with the
    same columns and the same decision. With a model and a table, the model predicts the table, which must hold rows
    that it was not trained on.

    Each figure is shown with its number of cases; figures from few cases are uncertain.

    For example:

    - `dsna evaluate payments.csv --target fraud`

    - `dsna evaluate visits.csv --target outcome --groups patient --folds 10 --jobs 2`

    - `dsna evaluate fraud.dsna payments_of_may.csv --json`
    """
    with exit_on_user_error("evaluate", REMEDY, UNTOUCHED), command_output(as_json) as out:
        if second is not None:
            check_model(first, second)
        elif is_model(first):
            raise DSNAError(f"{first}: no table to evaluate the model on. Remedy: name a table after the model.")
        else:
            check_readable(first)
        check_new(force, report, inputs=[first, second])
        options = read_options(separator, decimal, encoding, no_header, skip_lines, types)
        decision_setting, labels = parse_decision(decision, costs), parse_labels(merge_labels, keep_labels)
        if second is not None and labels is not None:
            raise DSNAError(f"--{labels}-labels is an option of training, and {first} stores it. Remedy: leave it out.")
        if second is not None:
            from .held_out import score_model

            score_model(
                out,
                first,
                second,
                options,
                target,
                (decision_setting, parse_balance(balance)),
                report,
                allow_unreadable,
            )
            out.end()
            return
        if target is None:
            raise DSNAError(f"{first}: no target column is given. Remedy: name it with --target.")
        from ...app.evaluate import cross_validate
        from ...app.target import rarity_lines
        from ...app.train import TrainOptions
        from ...tables import read_file

        table = read_file(first, options)
        out.line(f"{table.name}: {table.frame.height} rows, {table.frame.width} columns")
        out.lines("How the table was read:", table.notes)
        train_options = TrainOptions(
            target=target,
            task=task.value if task else None,
            balance=parse_balance(balance),
            decision=decision_setting,
            groups=groups,
            drop=names(drop),
            keep=names(keep),
            id=id,
            sample=sample,
            keep_rows=False,
            labels=labels,
            seed=seed,
            jobs=jobs,
        )
        evaluation = cross_validate(table, train_options, folds)
        out.lines("How the columns are used:", evaluation.notes)
        out.line()
        for line in rarity_lines(evaluation.target):
            out.line(line)
        out.line()
        n_rows = len(evaluation.target.values)
        out.line(f"Scores of {n_rows} rows, each predicted by models that did not see it ({folds} folds):")
        out.line(evaluation.scores.text())
        out.put(task=evaluation.target.task, target=target, folds=folds, notes=[*table.notes, *evaluation.notes])
        out.put(rarity=rarity_lines(evaluation.target), scores=evaluation.scores.as_json())
        if evaluation.apart is not None:
            print_copies_apart(out, evaluation.scores, evaluation.apart)
        if report is not None:
            from ...app.page import write_training_page
            from ...app.train import train

            trained = replace(train(table, train_options, compare=False), scores=evaluation.scores)
            scores_note = (
                f"Cross-validation: all methods answered each of {folds} folds by models that learned from the others. "
                "The figures at the top of this page are out of bag, so that those of dsna can differ."
            )
            write_training_page(
                report, trained, replace(page_options_of(table, trained, "model.dsna"), scores_from=scores_note)
            )
            out.line(f"Page: {report}")
        out.end()
