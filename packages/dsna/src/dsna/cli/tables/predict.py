"""``dsna predict``: predictions for the rows of a file, in chunks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import exit_on_user_error
from ..options import flag, names
from .options import (
    REMEDY,
    STANDARD,
    UNTOUCHED,
    AllowUnreadable,
    Costs,
    Decimal,
    DecisionOption,
    Encoding,
    Force,
    Jobs,
    Json,
    ModelFile,
    NoHeader,
    Separator,
    SkipLines,
    Types,
    check_model,
    check_new,
    command_output,
    parse_decision,
    read_options,
)
from .train import parse_balance

if TYPE_CHECKING:
    from ...app.predict import Answerer
    from ...tables import ReadOptions

_CHUNK_ROWS, _EXPLAINED_CHUNK_ROWS = 20_000, 2_000


NewRows = Annotated[
    str, typer.Argument(metavar="DATA", help="CSV, TSV, Parquet or Arrow file; .gz and .zst, too; - is standard input.")
]
NewBalance = Annotated[
    str | None,
    typer.Option(metavar="0..1", help="Weight of rare cases, from 0 to 1; applied without retraining."),
]


def predict(
    model: ModelFile,
    data: NewRows,
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="File for the answers: .csv, .txt or .tsv, optionally followed by .gz or .zst, .parquet or .arrow; - "
            "is standard output.",
        ),
    ],
    decision: DecisionOption = None,
    costs: Costs = None,
    balance: NewBalance = None,
    coverage: Annotated[
        float,
        typer.Option(min=0.01, max=0.99, help="Share of cases whose true value sets or intervals should contain."),
    ] = 0.9,
    explain: Annotated[
        bool, flag("--explain", "Add the training rows behind each answer, with their weights.")
    ] = False,
    columns: Annotated[
        list[str] | None, typer.Option(help="Columns of DATA to repeat beside the answers: a,b or repeated.")
    ] = None,
    raw: Annotated[
        bool,
        flag("--raw", "Write text unchanged, even if a spreadsheet would read it as a formula; in .csv, .txt, .tsv."),
    ] = False,
    jobs: Jobs = 1,
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
    """Predict the rows of a file: class, probabilities and set of classes, or number and interval.

    The file may be larger than memory: it is read, predicted and written in chunks. Columns are matched by name; extra
    columns are ignored. A missing column is an error, and so is a column with over a fifth more unreadable cells than
    in training. The decision can be changed without retraining. A note lists columns with numbers outside the training
    range.

    In CSV and TSV files, text that a spreadsheet would read as a formula is prefixed with an apostrophe; --raw turns
    that off.

    For example:

    - `dsna predict fraud.dsna new.csv -o answers.csv`

    - `dsna predict fraud.dsna new.csv -o answers.csv --costs 20:1` : a miss costs 20 times an alarm

    - `dsna predict fraud.dsna new.csv -o answers.csv --decision 'precision>=.5' --explain --columns name,amount`

    - `dsna predict fraud.dsna big.parquet -o answers.parquet`

    - `zstd -dc big.csv.zst | dsna predict fraud.dsna - -o - | gzip > answers.csv.gz`
    """
    quiet = output == STANDARD
    with exit_on_user_error("predict", REMEDY, UNTOUCHED), command_output(as_json, quiet) as out:
        check_model(model, data)
        from ...tables import table_format, table_writer

        check_new(force, output, inputs=[model, data])
        table_format(output)
        options = read_options(separator, decimal, encoding, no_header, skip_lines, types)
        decision_setting = parse_decision(decision, costs)
        from ...app.predict import Answerer, PredictOptions, decide_anew, load_model

        pipeline = decide_anew(load_model(model), decision_setting, parse_balance(balance))
        pipeline.steps[-1][1].set_params(n_jobs=jobs)
        predict_options = PredictOptions(
            explain=explain, coverage=coverage, columns=names(columns), allow_unreadable=allow_unreadable
        )
        answerer = Answerer(pipeline, predict_options)
        with table_writer(output, raw=raw) as writer:
            predict_file(answerer, data, options, writer, at_once=quiet)
        answerer.note_summary()
        out.lines("Notes:", [*answerer.notes])
        threshold = getattr(pipeline.steps[-1][1], "decision_threshold_", None)
        out.line(f"{answerer.done} rows answered: {output}" + (f"; by probability, {threshold}" if threshold else ""))
        out.put(threshold=threshold and threshold.as_json())
        out.put(rows=answerer.done, answers=output, notes=[*answerer.notes])
        out.end()


def predict_file(answerer: Answerer, data: str, options: ReadOptions, writer: Any, *, at_once: bool) -> None:
    """Read a file, predict its rows and write the answers in chunks.

    Unreadable columns raise an error at the end, from counts of the whole file. With ``at_once``, as for standard
    output, they are checked before each chunk is written.
    """
    from ..._utils.progress import tracked

    rows = _EXPLAINED_CHUNK_ROWS if answerer.options.explain else _CHUNK_ROWS
    for chunk in tracked(parts(answerer.encoder, data, options, rows), 0, "parts of the file"):
        answerer.note(chunk.notes)
        answers = answerer.answer(chunk.frame, chunk.unreadable)
        if at_once:
            answerer.readable.check(chunk.name)
        writer.write(answers)
    answerer.readable.check(chunk.name)


def parts(encoder: Any, data: str, options: ReadOptions, rows: int) -> Iterator[Any]:
    """Read a file in chunks, with the column types of training unless others are given."""
    from ...app.columns import check_new_rows, with_training_types
    from ...tables import read_chunks

    for table in read_chunks(data, with_training_types(options, encoder), rows=rows):
        check_new_rows(encoder, table)
        yield table
