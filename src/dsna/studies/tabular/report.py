"""What the benchmark found, as text and as a page with tables and figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pandas as pd

from ..._utils.atomic import make_folder
from ..pages import markdown, png, write_atomically
from .critical_difference import plot_critical_difference
from .methods import DEFAULT, OURS
from .peers import PEERS
from .scores import COVERAGE, DIRECTIONS, MAIN
from .summary import ENOUGH, ENOUGH_RARE, TIE, Comparison, gains, pairs, ranks, summary

PAGE = "benchmark.md"


@dataclass(frozen=True)
class TaskSummary:
    """What the benchmark found for one task.

    Parameters
    ----------
    compared : Comparison
        Peers and ours.
    stages : Comparison or None, default=None
        The rows of the ablation.
    rare : int or None, default=None
        Rows of the rarest classes, or with rare targets, in all tables; below thirty, methods are not ranked.

    Examples
    --------
    >>> import pandas as pd
    >>> index = pd.MultiIndex.from_product([["a"], ["RF", "kNN"]], names=["dataset", "method"])
    >>> frame = pd.DataFrame({"mae": [0.2, 0.3], "seconds": 1.0}, index=index)
    >>> TaskSummary(Comparison("regression", frame, (), ())).summary.shape
    (2, 3)
    """

    compared: Comparison
    stages: Comparison | None = None
    rare: int | None = None

    @property
    def enough(self) -> bool:
        """Whether there are enough rare rows to say who is better."""
        return self.rare is None or self.rare >= ENOUGH_RARE

    @cached_property
    def summary(self) -> pd.DataFrame:
        """Means, mean ranks and seconds of each method; no ranks where there are too few rare rows."""
        found = summary(self.compared)
        return found if self.enough else found.drop(columns=[name for name in found if name.startswith("rank ")])

    @cached_property
    def pairs(self) -> pd.DataFrame:
        """Wins, ties and losses of our default against each peer."""
        return pairs(self.compared, list(PEERS[self.compared.task]) if self.enough else [])

    @cached_property
    def ablation(self) -> pd.DataFrame | None:
        """Each stage with its gain; None where stages were not asked for."""
        return gains(self.stages) if self.stages else None

    @property
    def remarks(self) -> list[str]:
        """Sentences on what is not in the tables."""
        said = []
        if not self.enough:
            rows = "rows of the rarest class" if self.compared.task == "classification" else "rows with rare targets"
            said.append(f"Too few to say who is better: {self.rare} {rows}, and {ENOUGH_RARE} are needed.")
        for compared in filter(None, (self.compared, self.stages)):
            if compared.left_out:
                names = ", ".join(compared.left_out)
                said.append(f"Left out, having finished less than {ENOUGH:.0%} of the tables: {names}.")
            if compared.unfinished:
                said.append(f"Left out, not finished by all methods: {', '.join(compared.unfinished)}.")
        return said

    def text(self) -> str:
        """The tables as plain text."""
        compared = self.compared
        units = ", errors in sd of the training targets" if compared.task == "regression" else ""
        shown = {f"{compared.task}: mean over {_tables(compared)}{units}": self.summary}
        if len(self.pairs):
            shown[f"{compared.task}: {DEFAULT} against each peer (win, tie, loss; Holm's p)"] = _versus(self.pairs)
        if self.ablation is not None:
            shown[f"{compared.task}: ablation, each row with its gain over the one before"] = self.ablation
        parts = [
            f"{title}\n{frame.to_string(float_format='{:.3f}'.format, na_rep='')}" for title, frame in shown.items()
        ]
        return "\n\n".join(parts + self.remarks)


def report_page(
    folder: Path, summaries: Mapping[str, TaskSummary], settings: str, used: pd.DataFrame | None = None
) -> list[str]:
    """Paragraphs of the page; its figures and tables are written into a folder.

    Parameters
    ----------
    folder : Path
        Created if it is missing.
    summaries : mapping from tasks to TaskSummary
    settings : str
        What was run, in a sentence.
    used : data frame or None, default=None
        Rows used of each table.

    Returns
    -------
    list of str

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     report_page(Path(folder), {}, "Nothing was run.")[0]
    '# Benchmark on tables'
    """
    make_folder(folder)
    page = ["# Benchmark on tables", settings, _READING]
    for task, found in summaries.items():
        page += _section(folder, task, found)
    return page if used is None else [*page, "## Rows used", markdown(used, digits=0)]


_READING = f"""\
Written by `dsna benchmark DIR --report DIR`. Peers are untuned, as their libraries ship them; every method sees the
same folds and one thread. Ranks are taken on each table (1 is best, ties share) and averaged. A tie is a difference
below {TIE}; p values are of the Wilcoxon signed-rank test over tables, corrected for the number of peers by Holm's
rule. `seconds` is fitting and predicting in all."""
_UNITS = {
    "classification": ":",
    "regression": ", errors in standard deviations of the training targets (SERA: mean over rows, in variances), "
    f"coverages of {COVERAGE:.0%} intervals:",
}


def _section(folder: Path, task: str, found: TaskSummary) -> list[str]:
    compared = found.compared
    data = {
        f"benchmark_{task}.csv": found.summary,
        f"benchmark_{task}_pairs.csv": found.pairs.set_index(["metric", "peer"]),
        f"benchmark_{task}_tables.csv": compared.means,
    }
    if found.ablation is not None:
        data[f"benchmark_{task}_ablation.csv"] = found.ablation
    for name, frame in data.items():
        write_atomically(folder / name, frame.to_csv(float_format="%.6g", lineterminator="\n").encode())
    parts = [f"## {task.capitalize()}", f"Means over {_tables(compared)}" + _UNITS[task]]
    parts.append(markdown(found.summary, best=DIRECTIONS[task] if found.enough else None, bold=OURS[task]))
    if found.enough and len(compared.datasets) > 1 and len(compared.methods) > 1:
        picture = f"benchmark_{task}.png"
        write_atomically(folder / picture, _picture(compared))
        parts.append(f"![Mean ranks and critical differences]({picture})")
    if len(found.pairs):
        parts += [f"{DEFAULT} against each peer: tables won, tied and lost (p)", markdown(_versus(found.pairs))]
    if found.ablation is not None:
        parts += ["Ablation: each stage with its gain over the one before", markdown(found.ablation)]
    links = ", ".join(f"[{name}]({name})" for name in data)
    return [*parts, *found.remarks, f"The figures as files: {links}"]


def _tables(compared: Comparison) -> str:
    return f"{len(compared.datasets)} table{'s' if len(compared.datasets) != 1 else ''}"


def _versus(frame: pd.DataFrame) -> pd.DataFrame:
    """Peers in rows, scores in columns: won-tied-lost and p."""
    cell = [f"{row.win}-{row.tie}-{row.loss} ({row.p_holm:.2g})" for row in frame.itertuples()]
    wide = frame.assign(cell=cell).pivot(index="peer", columns="metric", values="cell")
    return wide.loc[frame["peer"].unique(), frame["metric"].unique()].rename_axis(columns=None)


def _picture(compared: Comparison) -> bytes:
    """Critical-difference plots of all main scores, one below the other, as PNG."""
    from matplotlib.figure import Figure

    tables = {metric: compared.table(metric) for metric in MAIN[compared.task] if metric in compared.means}
    figure = Figure(figsize=(9, (1.6 + 0.17 * len(compared.methods)) * len(tables)), layout="constrained")
    panels = figure.subplots(len(tables), 1, squeeze=False)[:, 0]
    for ax, (metric, scores) in zip(panels, tables.items(), strict=True):
        mean_ranks = ranks(scores, DIRECTIONS[compared.task][metric]).mean()
        plot_critical_difference(mean_ranks, len(scores), ax, bold=[DEFAULT])
        ax.set_title(f"mean rank by {metric.replace('_', ' ')}", fontsize=10)
    return png(figure)
