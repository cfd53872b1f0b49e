"""Results of the benchmark, as text and as a page with tables and figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pandas as pd

from dsna.extend.files import make_folder, write_atomically

from ..pages import markdown, png
from .critical_difference import plot_critical_difference
from .methods import DEFAULT, OURS
from .peers import PEERS
from .scores import COVERAGE, DIRECTIONS
from .statistics import LEVEL, ROPE, TIE
from .summary import (
    ENOUGH,
    ENOUGH_RARE,
    MethodComparison,
    compare_tuning,
    gains,
    losses,
    mean_ranks,
    pairs,
    ranked_metrics,
    ranked_peer_of,
    summary,
)

PAGE = "benchmark.md"
NOTES = "notes.md"
_TUNED = " tuned"
_DIFFERENCES = (
    f"mean difference over tables, positive where ours is better, its {LEVEL:.0%} bootstrap interval, and the "
    f"probabilities, in percent, that ours is better, the same within {ROPE}, and worse (Bayesian signed-rank test)"
)
_JUDGED = {"classification": ("balanced_accuracy", "macro_f1_tuned"), "regression": ("mae", "rare_mae")}
_MOST_LOSSES = 8


@dataclass(frozen=True)
class TaskSummary:
    """Results of the benchmark for one task.

    Parameters
    ----------
    compared : MethodComparison
        Peers and ours.
    stages : MethodComparison or None, default=None
        The rows of the ablation.
    n_rare_rows : int or None, default=None
        Number of rows of the rarest classes or with rare targets in all tables; below 30, methods are not ranked.

    Examples
    --------
    >>> import pandas as pd
    >>> index = pd.MultiIndex.from_product([["a"], ["RF", "kNN"]], names=["dataset", "method"])
    >>> frame = pd.DataFrame({"mae": [0.2, 0.3], "seconds": 1.0}, index=index)
    >>> TaskSummary(MethodComparison("regression", frame, (), ())).summary.shape
    (2, 3)
    """

    compared: MethodComparison
    stages: MethodComparison | None = None
    n_rare_rows: int | None = None

    @property
    def can_rank(self) -> bool:
        """Whether there are enough rare rows to rank methods."""
        return self.n_rare_rows is None or self.n_rare_rows >= ENOUGH_RARE

    @cached_property
    def summary(self) -> pd.DataFrame:
        """Means, mean ranks and seconds of each method; without ranks if there are too few rare rows."""
        means_and_ranks = summary(self.compared)
        rank_columns = [name for name in means_and_ranks if name.startswith("rank ")]
        return means_and_ranks if self.can_rank else means_and_ranks.drop(columns=rank_columns)

    @cached_property
    def pairs(self) -> pd.DataFrame:
        """Wins, ties and losses of our default against each peer."""
        return pairs(self.compared, list(PEERS[self.compared.task]) if self.can_rank else [])

    @cached_property
    def ablation(self) -> pd.DataFrame | None:
        """Each stage with its gain; None if stages were not run."""
        return gains(self.stages) if self.stages else None

    @property
    def remarks(self) -> list[str]:
        """Sentences about missing ranks, seeds, methods and tables."""
        sentences = []
        if not self.can_rank:
            rows = "rows of the rarest class" if self.compared.task == "classification" else "rows with rare targets"
            sentences.append(
                f"Too few rows to compare methods: {self.n_rare_rows} {rows}, and {ENOUGH_RARE} are needed."
            )
        for compared in filter(None, (self.compared, self.stages)):
            if compared.fewer_seeds:
                names = ", ".join(f"{name} ({seeds})" for name, seeds in compared.fewer_seeds.items())
                sentences.append(f"Run with fewer seeds than the others: {names}.")
            if compared.left_out:
                names = ", ".join(compared.left_out)
                sentences.append(f"Left out because they finished less than {ENOUGH:.0%} of the tables: {names}.")
            if compared.unfinished:
                sentences.append(
                    f"Tables left out because not all methods finished them: {', '.join(compared.unfinished)}."
                )
        return sentences

    @property
    def losses(self) -> dict[str, pd.DataFrame]:
        """The tables on which our default is furthest behind the best peer, by the scores in ``_JUDGED``."""
        peers = list(PEERS[self.compared.task]) if self.can_rank else []
        losses_by_metric = {metric: losses(self.compared, metric, peers) for metric in _JUDGED[self.compared.task]}
        return {metric: frame.head(_MOST_LOSSES) for metric, frame in losses_by_metric.items() if len(frame)}

    def text(self, name: str) -> str:
        """Return the tables as plain text with titles that begin with ``name``."""
        compared = self.compared
        units = ", errors in sd of the training targets" if compared.task == "regression" else ""
        tables = {f"{name}: mean over {_tables(compared)}{units}": self.summary}
        if len(self.pairs):
            tables[f"{name}: {DEFAULT} against each peer (win, tie, loss; Holm's p)"] = _versus(self.pairs)
            tables[f"{name}: {DEFAULT} minus each peer ({_DIFFERENCES})"] = _differences(self.pairs)
        for metric, frame in self.losses.items():
            tables[f"{name}: where {DEFAULT} is behind the best peer, by {metric}"] = frame
        if self.ablation is not None:
            tables[f"{name}: ablation, each row with its gain over the one before"] = self.ablation
        blocks = [
            f"{title}\n{frame.to_string(float_format='{:.3f}'.format, na_rep='')}" for title, frame in tables.items()
        ]
        return "\n\n".join(blocks + self.remarks)


def report_page(
    folder: Path, summaries: Mapping[str, TaskSummary], settings: str, rows_used: pd.DataFrame | None = None
) -> list[str]:
    """Return the paragraphs of the page, and write its figures and tables into a folder.

    Parameters
    ----------
    folder : Path
        Created if missing.
    summaries : mapping from names to TaskSummary
        Names are tasks, with the suffix " tuned" if settings were searched.
    settings : str
        Settings of the run, in a sentence.
    rows_used : data frame or None, default=None
        Rows used of each table.

    Returns
    -------
    list of str
        The content of the hand-written file `notes.md` in the folder comes before the tables.

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
    if (folder / NOTES).is_file():
        page.append((folder / NOTES).read_text(encoding="utf-8").strip())
    for name, task_summary in summaries.items():
        page += _section(folder, name, task_summary)
        untuned_name = name.removesuffix(_TUNED)
        if untuned_name != name and untuned_name in summaries:
            untuned_and_tuned = compare_tuning(summaries[untuned_name].compared, task_summary.compared)
            page += [
                "Untuned beside tuned, by search",
                markdown(untuned_and_tuned, bold=OURS[task_summary.compared.task]),
            ]
    return page if rows_used is None else [*page, "## Rows used", markdown(rows_used, digits=0)]


_READING = f"""\
Written by `python -m dsna_studies benchmark DIR --report DIR`; [how to read it](../benchmark_howto.md). Every method
sees the same folds and one thread, and is untuned, as its library ships it, unless a section says otherwise. Ranks are
taken on each table (1 is best, ties share) and averaged over tables, among the methods that have the score: peers
beside our default, and each of ours beside the peers alone; of peers that share a fit, AUC and Brier score count once.
`macro f1 tuned` is macro-F1 with the decision chosen for it on the training rows. A tie is a difference below {TIE}; p
values are of the Wilcoxon signed-rank test over tables, corrected for the number of peers by Holm's rule. `seconds`
are CPU seconds of
fitting and predicting in all, with one seed."""
_UNITS = {
    "classification": ":",
    "regression": ", errors in standard deviations of the training targets (SERA: mean over rows, in variances), "
    f"coverages of {COVERAGE:.0%} intervals:",
}


def _section(folder: Path, name: str, task_summary: TaskSummary) -> list[str]:
    compared, stem = task_summary.compared, f"benchmark_{name.replace(' ', '_')}"
    task = compared.task
    data = {
        f"{stem}.csv": task_summary.summary,
        f"{stem}_pairs.csv": task_summary.pairs.set_index(["metric", "peer"]),
        f"{stem}_tables.csv": compared.means,
    }
    if task_summary.ablation is not None:
        data[f"{stem}_ablation.csv"] = task_summary.ablation
    for file, frame in data.items():
        write_atomically(folder / file, frame.to_csv(float_format="%.6g", lineterminator="\n").encode())
    paragraphs = [f"## {name.capitalize()}", f"Means over {_tables(compared)}" + _UNITS[task]]
    paragraphs.append(
        markdown(task_summary.summary, best=DIRECTIONS[task] if task_summary.can_rank else None, bold=OURS[task])
    )
    if task_summary.can_rank and len(compared.datasets) > 1 and len(compared.methods) > 1:
        write_atomically(folder / f"{stem}.png", _picture(compared))
        paragraphs.append(f"![Mean ranks and critical differences]({stem}.png)")
    if len(task_summary.pairs):
        paragraphs += [
            f"{DEFAULT} against each peer: tables won, tied and lost (p)",
            markdown(_versus(task_summary.pairs)),
        ]
        paragraphs += [f"{DEFAULT} minus each peer: {_DIFFERENCES}", markdown(_differences(task_summary.pairs))]
    for metric, frame in task_summary.losses.items():
        score = metric.replace("_", " ")
        paragraphs += [f"Where {DEFAULT} is furthest behind the best of all peers, by {score}", markdown(frame)]
    if task_summary.ablation is not None:
        paragraphs += ["Ablation: each stage with its gain over the one before", markdown(task_summary.ablation)]
    links = ", ".join(f"[{file}]({file})" for file in data)
    return [*paragraphs, *task_summary.remarks, f"The figures as files: {links}"]


def _tables(compared: MethodComparison) -> str:
    return f"{len(compared.datasets)} table{'s' if len(compared.datasets) != 1 else ''}"


def _versus(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table of peers (rows) by scores (columns): won-tied-lost and p."""
    return _by_peer(frame, [f"{row.win}-{row.tie}-{row.loss} ({row.p_holm:.2g})" for row in frame.itertuples()])


def _differences(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table of peers by scores: mean difference with its interval, and the three probabilities."""
    cells = []
    for row in frame.itertuples():
        chances = "/".join(f"{100 * value:.0f}" for value in (row.better, row.same, row.worse))
        cells.append(f"{row.gain:+.3f} [{row.low:+.3f}, {row.high:+.3f}] {chances}")
    return _by_peer(frame, cells)


def _by_peer(frame: pd.DataFrame, cells: list[str]) -> pd.DataFrame:
    wide = frame.assign(cell=cells).pivot(index="peer", columns="metric", values="cell")
    return wide.loc[frame["peer"].unique(), frame["metric"].unique()].rename_axis(columns=None)


def _picture(compared: MethodComparison) -> bytes:
    """Draw critical-difference plots of our default and its peers, one per main score, as PNG."""
    from matplotlib.figure import Figure

    metrics = ranked_metrics(compared)
    figure = Figure(figsize=(9, (1.6 + 0.17 * len(compared.methods)) * len(metrics)), layout="constrained")
    panels = figure.subplots(len(metrics), 1, squeeze=False)[:, 0]
    for ax, metric in zip(panels, metrics, strict=True):
        mean_rank = mean_ranks(compared, metric)
        ranked_methods = mean_rank[
            [name for name in mean_rank.index if name in {*ranked_peer_of(compared, metric).values(), DEFAULT}]
        ]
        plot_critical_difference(ranked_methods, len(compared.datasets), ax, bold=[DEFAULT])
        ax.set_title(f"mean rank by {metric.replace('_', ' ')}", fontsize=10)
    return png(figure)
