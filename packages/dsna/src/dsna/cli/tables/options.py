"""Options that the commands on tables share, parsing of their values, and output of results."""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..._utils.atomic import FileError, check_outputs, check_readable, is_model_file
from ..._utils.errors import DSNAError
from ..._utils.optional import install_command
from ..errors import say
from ..options import LARGEST_SEED, flag, names

if TYPE_CHECKING:
    from ...app.scores import Scores
    from ...tables import ReadOptions

REMEDY = install_command("app")
UNTOUCHED = "Nothing was written."
STANDARD = "-"  # standard input or output

_READING = "Reading the file"
Separator = Annotated[
    str | None, typer.Option(help="Column separator, one character; default: guessed.", rich_help_panel=_READING)
]
Decimal = Annotated[
    str | None,
    typer.Option(
        help="Decimal sign, . or , , of ambiguous numbers such as 1.243; default: as in the other columns.",
        rich_help_panel=_READING,
    ),
]
SkipLines = Annotated[
    int | None,
    typer.Option(
        "--skip-lines",
        metavar="N",
        min=0,
        help="Number of lines to skip, such as titles above the header; 0 for none.",
        rich_help_panel=_READING,
    ),
]
AllowUnreadable = Annotated[
    bool,
    typer.Option(
        "--allow-unreadable",
        help="Treat unreadable cells as missing values, even if they are more than a fifth of a column.",
        rich_help_panel=_READING,
    ),
]
Encoding = Annotated[
    str | None, typer.Option(help="Such as utf-8 or cp1252; default: guessed.", rich_help_panel=_READING)
]
NoHeader = Annotated[
    bool, typer.Option("--no-header", help="The first line holds values, not names.", rich_help_panel=_READING)
]
Types = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN=TYPE",
        help="number, number:point, number:comma, boolean, category, date, date:dmy, date:mdy, text or identifier; "
        "repeat it for several columns. size=S<M<L declares ordered text.",
        rich_help_panel=_READING,
    ),
]
Force = Annotated[bool, flag("--force", "Overwrite existing files.")]
Json = Annotated[bool, flag("--json", "Print one JSON object to standard output, for programs.")]
Jobs = Annotated[int, typer.Option(min=1, help="Number of threads.")]
Seed = Annotated[int, typer.Option(min=0, max=LARGEST_SEED, help="The same seed gives the same model.")]
ModelFile = Annotated[Path, typer.Argument(metavar="MODEL", help="Model written by `dsna train`.")]
Costs = Annotated[
    str | None,
    typer.Option(
        help="Costs of errors. For two classes MISS:ALARM of the rarer class, such as 20:1; or a matrix such as "
        "[[0, 1], [20, 0]] with a row for each true and a column for each predicted class, sorted."
    ),
]
DecisionOption = Annotated[
    str | None,
    typer.Option(
        "--decision",
        help="What predictions optimize. Classes: balanced, f1, mcc, gmean, 'recall>=.9', 'precision>=.5' or a "
        "scikit-learn scorer. Numbers: mean, median, grid (only numbers seen).",
    ),
]
MergeLabels = Annotated[
    bool,
    flag("--merge-labels", "Merge classes that differ only in case, blanks or accents."),
]
KeepLabels = Annotated[
    bool, flag("--keep-labels", "Keep classes that differ only in case, blanks or accents, such as alleles a and A.")
]
Report = Annotated[Path | None, typer.Option(metavar="FILE", help="Write an HTML report, such as page.html.")]


def read_options(
    separator: str | None,
    decimal: str | None,
    encoding: str | None,
    no_header: bool,
    skip_lines: int | None,
    types: list[str] | None,
) -> ReadOptions:
    """Build reading options from the command line."""
    from ...tables import ReadOptions

    types_by_column: dict[str, Any] = {}
    for type_spec in names(types):
        column, equals_sign, kind = type_spec.rpartition("=")
        if not equals_sign or not column or not kind:
            raise DSNAError(f"--types {type_spec}: write the column, =, and its type, such as --types zip=category.")
        types_by_column[column] = kind.split("<") if "<" in kind else kind
    tab = {"\\t": "\t", "tab": "\t"}.get(separator or "", separator)
    return ReadOptions(
        separator=tab,
        decimal=decimal,
        encoding=encoding,
        header=not no_header,
        skip_lines=skip_lines,
        types=types_by_column,
    )


def is_model(path: Path) -> bool:
    """Whether a path is a model file or the folder of a model trained out of core."""
    return (path / "manifest.json").is_file() if path.is_dir() else is_model_file(path)


def check_model(path: Path, data: Path | str | None = None) -> None:
    """Raise an error if a model is unreadable, or if model and data are swapped."""
    if is_model(path):
        return
    check_readable(path)
    if data is not None and str(data) != STANDARD and is_model(Path(data)):
        raise DSNAError(f"{path} is not a model, but {data} is. Remedy: name the model first, then the table.")


def check_new(force: bool, *paths: Path | str | None, inputs: Iterable[Path | str | None] = ()) -> None:
    """Raise an error for unreadable inputs, unwritable outputs, outputs that are inputs, and existing outputs.

    With ``force``, existing files may be overwritten.
    """
    input_paths = [Path(path) for path in inputs if path is not None and str(path) != STANDARD]
    for path in input_paths:
        if not is_model(path):
            check_readable(path)
    files = [path for path in paths if path is not None and str(path) != STANDARD]
    check_outputs(files=files)
    check_not_inputs(files, input_paths)
    existing = [str(path) for path in files if os.path.lexists(path)]
    if existing and not force:
        exist = "already exists" if len(existing) == 1 else "already exist"
        raise FileError(f"{', '.join(existing)} {exist}. Remedy: use --force to overwrite, or choose another name.")
    if len({os.path.realpath(path) for path in files}) < len(files):
        raise FileError(f"{files[0]}: the same file is given for two outputs. Remedy: name a different file for each.")


def check_not_inputs(outputs: Iterable[Path | str], inputs: Iterable[Path | str | None]) -> None:
    """Raise an error if an output would overwrite an input: the file, its folder, or a file in a model's folder.

    Examples
    --------
    >>> check_not_inputs(["answers.csv"], ["m.dsna", "new.csv"])
    >>> check_not_inputs(["./new.csv"], ["m.dsna", "new.csv"])
    Traceback (most recent call last):
    dsna._utils.atomic.FileError: ./new.csv: new.csv is an input; writing the output there would overwrite it. ...
    """
    input_paths = [path for path in inputs if path is not None and str(path) != STANDARD]
    for output in outputs:
        real_output = Path(os.path.realpath(output))
        for path in input_paths:
            real_input = Path(os.path.realpath(path))
            same = os.path.exists(output) and os.path.exists(path) and os.path.samefile(output, path)
            nested = real_input in real_output.parents or real_output in real_input.parents
            if same or real_input == real_output or nested:
                raise FileError(
                    f"{output}: {path} is an input; writing the output there would overwrite it. Remedy: choose "
                    "another name."
                )


def parse_decision(decision: str | None, costs: str | None) -> Any:
    """The decision from the options, or None; costs of two classes are a tuple (miss, alarm)."""
    if costs is None:
        return decision
    if decision is not None:
        raise DSNAError("--decision and --costs exclude each other. Remedy: give one of them.")
    from ...app.predict import read_costs

    parsed_costs = read_costs(costs)
    if parsed_costs is None:
        raise DSNAError(f"--costs {costs}: write MISS:ALARM, such as 20:1, or a matrix such as [[0, 1], [20, 0]].")
    return parsed_costs


def parse_labels(merge: bool, keep: bool) -> str | None:
    """Handling of classes that differ only in spelling: "merge", "keep", or None, which raises an error."""
    if merge and keep:
        raise DSNAError("--merge-labels and --keep-labels exclude each other. Remedy: give one of them.")
    return "merge" if merge else "keep" if keep else None


class Output:
    """Output of a command: lines of text while it works, or one JSON object at its end.

    Parameters
    ----------
    as_json : bool
    quiet : bool
        Whether lines go to standard error, because standard output holds the answers.
    """

    def __init__(self, as_json: bool, quiet: bool = False) -> None:
        self._json = as_json
        self._quiet = quiet
        self._found: dict[str, Any] = {}
        self._warned: dict[str, None] = {}

    def line(self, text: str = "") -> None:
        """Print a line, unless the output is JSON."""
        if self._json:
            return
        if self._quiet:
            typer.echo(text, err=True)
        else:
            say(text)

    def lines(self, title: str, lines: list[str]) -> None:
        """Print lines under a title, if there are any."""
        if lines:
            self.line(title)
            for line in lines:
                self.line(f"  - {line}")

    def warned(self, message: Warning | str, category: type[Warning]) -> None:
        """Print a warning of this library as a note, once; warnings of other libraries are ignored."""
        ours = category is UserWarning or category.__module__.partition(".")[0] == "dsna"
        if ours and str(message) not in self._warned:
            self._warned[str(message)] = None
            self.line(f"Note: {message}")

    def put(self, **values: Any) -> None:
        """Add values to the JSON object."""
        self._found.update(values)

    def end(self) -> None:
        """Print the JSON object if the output is JSON."""
        if self._json:
            if self._warned:
                self._found["notes"] = [*self._found.get("notes", []), *self._warned]
            text = json.dumps(self._found, allow_nan=False, ensure_ascii=False, default=_plain, indent=1)
            typer.echo(text.encode(errors="surrogateescape").decode(errors="replace"), err=self._quiet)


def print_copies_apart(out: Output, together: Scores, apart: Scores) -> None:
    """Print scores with equal rows in different folds, if the first score differs."""
    out.put(equal_rows_apart=apart.as_json()["overall"])
    difference = together.beside_apart(apart)
    if difference:
        out.line()
        out.line(difference)


def _plain(value: Any) -> Any:
    """Convert a numpy value for JSON."""
    return value.tolist() if hasattr(value, "tolist") else str(value)


def verbosity() -> int:
    """1 to show progress if standard error is a terminal, else 0."""
    return int(sys.stderr is not None and sys.stderr.isatty())


@contextmanager
def command_output(as_json: bool, quiet: bool = False) -> Iterator[Output]:
    """Provide the output of a command; warnings of the library become notes."""
    out = Output(as_json, quiet)
    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = lambda message, category, *_, **__: out.warned(message, category)
        yield out
