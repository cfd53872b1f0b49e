"""``dsna train``: train a model on a table; heavy modules are imported when the command runs."""

from __future__ import annotations

import shlex
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..._utils.errors import DSNAError
from ..errors import exit_on_user_error
from ..options import flag, names
from .options import (
    REMEDY,
    UNTOUCHED,
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
    Output,
    Report,
    Seed,
    Separator,
    SkipLines,
    Types,
    check_new,
    check_not_inputs,
    command_output,
    parse_decision,
    parse_labels,
    print_copies_apart,
    read_options,
    verbosity,
)

if TYPE_CHECKING:
    from ...app.page import PageOptions, Suspects
    from ...app.train import Trained, TrainOptions
    from ...tables import FileTable, ReadOptions


class TaskName(StrEnum):
    """The task of a model."""

    classification = "classification"
    regression = "regression"


Columns = Annotated[list[str] | None, typer.Option(help="Columns to leave out: a,b or repeated.")]
Kept = Annotated[
    list[str] | None,
    typer.Option(help="Columns to use even if they seem to identify rows or give the target away: a,b or repeated."),
]
Groups = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="Column of groups (a person, a day) whose rows are held out together."),
]
Balance = Annotated[
    str | None,
    typer.Option(
        metavar="0..1|auto",
        help="Weight of rare cases: 0 as in the table, 1 as much as common ones. Default: 1 for classes, auto for "
        "numbers.",
    ),
]
Identifier = Annotated[
    str | None,
    typer.Option("--id", metavar="COLUMN", help="Column of row names for explanations; not used to predict."),
]
Sample = Annotated[int | None, typer.Option(min=20, help="Maximum number of training rows, rare ones first.")]
TaskOption = Annotated[
    TaskName | None,
    typer.Option("--task", help="Default: guessed from the target; text and few distinct integers are classes."),
]


def parse_balance(text: str | None) -> Any:
    """Parse the option --balance: a number or "auto"."""
    if text is None or text == "auto":
        return text
    try:
        balance = float(text)
    except ValueError:
        balance = -1.0
    if not 0.0 <= balance <= 1.0:
        raise DSNAError(f"--balance {text}: write a number from 0 to 1, or auto.")
    return balance


def train(
    data: Annotated[Path, typer.Argument(metavar="DATA", help="CSV, TSV, Parquet or Arrow file; also .gz and .zst.")],
    target: Annotated[str, typer.Option(metavar="COLUMN", help="Column to predict.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="File for the model.")],
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
    no_rows: Annotated[
        bool,
        flag("--no-rows", "Do not store the values of training rows; explanations then show row numbers only."),
    ] = False,
    out_of_core: Annotated[
        bool,
        flag(
            "--out-of-core",
            "Train on all rows of a Parquet file that does not fit into memory; -o names a folder. Automatic if the "
            "file is too large.",
        ),
    ] = False,
    report: Report = None,
    suspects: Annotated[
        bool, flag("--suspects", "Print rows whose neighbours disagree with their target; implied by --report.")
    ] = False,
    jobs: Jobs = 1,
    seed: Seed = 0,
    types: Types = None,
    separator: Separator = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    no_header: NoHeader = False,
    skip_lines: SkipLines = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Train a model to predict a column of a table, and print its scores.

    Prints how the table was read and its columns are used, how rare the rare cases are, and scores on held-out rows
    beside those of a random forest and gradient boosting. The model is written to -o; it contains the training rows
    for explanations, unless --no-rows leaves them out.

    For example:

    - `dsna train payments.csv --target fraud -o fraud.dsna`

    - `dsna train flats.csv --target rent -o rent.dsna --report rent.html --jobs 2` : with an HTML report

    - `dsna train flats.csv --target rent -o rent.dsna --suspects` : with a list of doubtful rents

    - `dsna train visits.csv --target outcome -o visits.dsna --groups patient --drop ward,bed`

    - `dsna train payments.csv --target fraud -o fraud.dsna --costs 20:1` : a miss costs 20 times an alarm

    - `dsna train big.parquet --target y -o y.dsna --sample 20000 --types zip=category`

    - `dsna train huge.parquet --target y -o y.model --out-of-core` : all rows, a slice at a time
    """
    with exit_on_user_error("train", REMEDY, UNTOUCHED), command_output(as_json) as out:
        options = read_options(separator, decimal, encoding, no_header, skip_lines, types)
        decision_setting = parse_decision(decision, costs)
        from ...app.train import TrainOptions
        from ...app.train import train as fit
        from ...io import save
        from ...tables import read_file

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
            keep_rows=not no_rows,
            labels=parse_labels(merge_labels, keep_labels),
            seed=seed,
            jobs=jobs,
            verbose=verbosity(),
        )
        if out_of_core or (sample is None and _is_too_large_for_memory(out, data)):
            if suspects:
                raise DSNAError("--suspects needs all rows in memory. Remedy: leave it out, or train with --sample.")
            _train_on_disk(out, data, output, train_options, options, force, report)
            return
        check_new(force, output, report, inputs=[data])
        table = read_file(data, options)
        out.line(f"{table.name}: {table.frame.height} rows, {table.frame.width} columns")
        out.lines("How the table was read:", table.notes)
        trained = fit(table, train_options)
        tell(out, trained, train_options)
        suspect_rows = None
        if (suspects or report is not None) and len(trained.model.steps[-1][1].oob_rows_):
            suspect_rows = _print_suspects(out, trained)
        save(trained.model, output)
        if report is not None:
            from ...app.page import write_training_page

            write_training_page(
                report, trained, replace(page_options_of(table, trained, str(output)), suspects=suspect_rows)
            )
        out.put(rows=table.frame.height, columns=table.frame.width, notes=[*table.notes, *trained.notes])
        out.put(model=str(output), report=None if report is None else str(report))
        _print_next_steps(out, data, output, report, trained)
        out.end()


def _is_too_large_for_memory(out: Output, data: Path) -> bool:
    """Whether a file is too large to train on in memory; prints a line if it is."""
    from ..._utils.atomic import reading_problem
    from ...app.out_of_core import is_too_large

    if reading_problem(data) or not is_too_large(data):
        return False
    out.line(f"{data}: too large for the available memory, so training runs out of core, as with --out-of-core.")
    return True


def _train_on_disk(
    out: Output,
    data: Path,
    output: Path,
    train_options: TrainOptions,
    options: ReadOptions,
    force: bool,
    report: Path | None,
) -> None:
    """Train slice by slice, and save the model to a folder."""
    from ..._utils.atomic import check_outputs, check_readable
    from ...app.out_of_core import train_to_folder

    check_readable(data)
    check_outputs(folders=[output])
    check_not_inputs([output], [data])
    if report is not None:
        raise DSNAError("--report needs all rows in memory. Remedy: leave it out, or train with --sample.")
    if train_options.sample is not None:
        raise DSNAError("--sample and --out-of-core exclude each other. Remedy: leave one of them out.")
    if train_options.id is not None:
        raise DSNAError("--id names rows, which --out-of-core does not store. Remedy: --drop it, or train in memory.")
    if output.exists() and not force:
        raise DSNAError(f"{output} already exists. Remedy: use --force to overwrite it, or choose another name.")
    trained = train_to_folder(data, train_options, options, output, force)
    sample_model, rows = trained.model.model_, trained.model.n_rows_
    out.line(f"{data}: {rows} rows with a target")
    out.lines("How the columns are used:", trained.notes)
    name = "balanced accuracy" if hasattr(sample_model, "classes_") else "R2"
    score = sample_model.oob_balanced_accuracy_ if hasattr(sample_model, "classes_") else sample_model.oob_score_
    out.line()
    out.line(f"Held-out rows, weighted to represent all rows: {name} {score:.3f} on {len(sample_model.oob_rows_)} rows")
    out.line(f"Model: {output}, a folder; move it as a whole")
    out.line("Next:")
    out.line(f"  dsna predict {shlex.quote(str(output))} new.parquet -o answers.csv")
    out.put(
        rows=rows, notes=trained.notes, model=str(output), task=trained.rows.target.task, target=train_options.target
    )
    out.put(scores={name: score}, held_out_rows=len(sample_model.oob_rows_))
    out.end()


def tell(out: Output, trained: Trained, train_options: TrainOptions) -> None:
    """Print how the columns are used, how rare the rare cases are, and the scores."""
    from ...app.target import rarity_lines

    rarity = rarity_lines(trained.rows.target)
    out.lines("How the columns are used:", trained.notes)
    out.line()
    for line in rarity:
        out.line(line)
    out.put(task=trained.rows.target.task, target=train_options.target, rarity=rarity)
    if trained.scores is None:
        out.line("There are too few rows for scores on held-out rows.")
        return
    estimator = trained.model.steps[-1][1]
    out.line()
    out.line(f"Scores on {len(estimator.oob_rows_)} held-out rows, rare ones first, weighted to represent all rows:")
    out.line(trained.scores.text())
    out.put(scores=trained.scores.as_json(), held_out_rows=len(estimator.oob_rows_))
    if trained.apart is not None:
        print_copies_apart(out, trained.scores, trained.apart)
    threshold = getattr(estimator, "decision_threshold_", None)
    if threshold is not None:
        out.line()
        decision = estimator.decision if isinstance(estimator.decision, str) else "costs"
        out.line(f"Decision ({decision}): by probability, {threshold}")
    out.put(threshold=threshold and threshold.as_json())
    importances = trained.model.steps[0][1].sum_by_column(estimator.feature_importances_)
    top = sorted(importances.items(), key=lambda pair: -pair[1])
    out.line()
    out.line("Columns used most by the splits: " + ", ".join(f"{name} {share:.0%}" for name, share in top[:6]))
    out.line("(shares of gain; not a measure of importance: even noise is used often if it has many values)")
    out.put(importances=dict(top))


def _print_suspects(out: Output, trained: Trained) -> Suspects:
    """Print the rows whose labels contradict their neighbours."""
    from ...app.page import suspects

    suspect_rows = suspects(trained)
    out.line()
    for line in suspect_rows.lines():
        out.line(line)
    out.put(
        suspects={"looked_at": suspect_rows.looked.scope, "number": suspect_rows.number, "worst": suspect_rows.worst}
    )
    return suspect_rows


def page_options_of(table: FileTable, trained: Trained, model_file: str) -> PageOptions:
    """Options of the report page of a trained model."""
    from ...app.page import PageOptions

    return PageOptions(
        model_file=model_file,
        data_file=table.name,
        notes=[*table.notes, *trained.notes],
        left_out=trained.rows.unused_columns,
        scores=trained.scores,
        groups=trained.rows.groups,
    )


def _print_next_steps(out: Output, data: Path, output: Path, report: Path | None, trained: Trained) -> None:
    """Print commands to try next."""
    model = shlex.quote(str(output))
    out.line()
    out.line(f"Model: {output}" + (", with the training rows inside" if trained.model.steps[0][1].rows_ else ""))
    if report is not None:
        out.line(f"Page: {report}")
    out.line("Next:")
    out.line(f"  dsna predict {model} new.csv -o answers.csv")
    out.line(f"  dsna explain {model} new.csv --row 1")
    if trained.rows.target.task == "classification":
        out.line(f"  dsna predict {model} new.csv -o answers.csv --decision 'recall>=.9'")
    if report is None:
        retrain_command = shlex.join(
            ["dsna", "train", str(data), "--target", trained.rows.target.name, "-o", str(output)]
        )
        out.line(f"  {retrain_command} --force --report page.html")
