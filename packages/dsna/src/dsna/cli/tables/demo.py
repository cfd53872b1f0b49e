"""``dsna demo``: the complete workflow on a dataset of scikit-learn."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

from ..._utils.atomic import make_folder, write_atomically
from ..errors import exit_on_user_error, say
from ..options import folder
from .evaluate import evaluate
from .explain import explain
from .options import REMEDY, Force, Jobs, check_new
from .predict import predict
from .train import train

_SEVERE = 280  # diabetes progression after a year; exceeded by one patient in 16


def demo(
    out: Annotated[Path, folder("Folder for the tables, the model, the answers and the page.")] = Path("dsna-demo"),
    jobs: Jobs = 1,
    force: Force = False,
) -> None:
    """Run the complete workflow on 442 patients with diabetes: train, report, predict, explain, evaluate.

    The rare cases are patients whose disease gets much worse within a year, one in 16. Each step prints its command,
    which you can use on a table of your own.

    For example:

    - `dsna demo` : into the folder dsna-demo

    - `dsna demo --out try --jobs 2`
    """
    with exit_on_user_error("demo", REMEDY, f"Completed files are in {out}."):
        files = {name: out / name for name in ("patients.csv", "new_patients.csv")}
        model, answers, page = out / "severe.dsna", out / "answers.csv", out / "report.html"
        make_folder(out)
        check_new(force, *files.values(), model, answers, page)
        for path, content in zip(files.values(), _tables(), strict=True):
            write_atomically(path, content)
        training_file, new_file = files.values()
        _show("train", training_file, "--target", "severe", "-o", model, "--report", page)
        train(training_file, "severe", model, report=page, jobs=jobs, force=True)
        _show("predict", model, new_file, "-o", answers, "--explain")
        predict(model, str(new_file), str(answers), explain=True, jobs=jobs, force=True)
        _show("explain", model, new_file, "--row", 1)
        explain(model, str(new_file), 1)
        _show("evaluate", model, new_file)
        evaluate(model, new_file)
        say(f"\nOpen {page} in a browser. Then try a table of your own: dsna train --help")


def _tables() -> tuple[bytes, bytes]:
    """Training patients, and test patients with their true class, as CSV."""
    from sklearn.datasets import load_diabetes

    from ..._utils.optional import import_extra
    from ...model_selection import rare_first_split

    pl = import_extra("polars", "app")
    data = load_diabetes(scaled=False)
    names = (
        "age",
        "sex",
        "body_mass",
        "blood_pressure",
        "cholesterol",
        "ldl",
        "hdl",
        "ratio",
        "triglycerides",
        "glucose",
    )
    frame = pl.DataFrame(
        {"patient": [f"P{i:03d}" for i in range(len(data.target))]} | dict(zip(names, data.data.T, strict=True))
    )
    frame = frame.with_columns(
        pl.when(pl.col("sex") == 1).then(pl.lit("female")).otherwise(pl.lit("male")).alias("sex"),
        pl.Series("severe", ["yes" if progression > _SEVERE else "no" for progression in data.target]),
    )
    severe = frame["severe"].to_numpy()
    rows = rare_first_split(list(range(len(severe))), y=severe, test_size=0.25, random_state=0)
    training_rows, new_rows = (sorted(indices) for indices in rows[:2])
    return tuple(frame[indices].write_csv().encode() for indices in (training_rows, new_rows))


def _show(*words: object) -> None:
    """Print a command as the user would type it."""
    say(f"\n$ {shlex.join(['dsna', *map(str, words)])}")
