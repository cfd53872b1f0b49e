"""What the benchmark found, as text and as a page with tables and figures."""

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
from .summary import ENOUGH, ENOUGH_RARE, Comparison, beside, gains, losses, mean_ranks, pairs, ranked, rivals, summary

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
            if compared.fewer_seeds:
                names = ", ".join(f"{name} ({seeds})" for name, seeds in compared.fewer_seeds.items())
                said.append(f"Run with fewer seeds than the others: {names}.")
            if compared.left_out:
                names = ", ".join(compared.left_out)
                said.append(f"Left out, having finished less than {ENOUGH:.0%} of the tables: {names}.")
            if compared.unfinished:
                said.append(f"Left out, not finished by all methods: {', '.join(compared.unfinished)}.")
        return said

    @property
    def losses(self) -> dict[str, pd.DataFrame]:
        """The tables on which our default is furthest behind the best peer, by the scores that it is judged by."""
        peers = list(PEERS[self.compared.task]) if self.enough else []
        found = {metric: losses(self.compared, metric, peers) for metric in _JUDGED[self.compared.task]}
        return {metric: frame.head(_MOST_LOSSES) for metric, frame in found.items() if len(frame)}

    def text(self, name: str) -> str:
        """The tables as plain text, under a name."""
        compared = self.compared
        units = ", errors in sd of the training targets" if compared.task == "regression" else ""
        shown = {f"{name}: mean over {_tables(compared)}{units}": self.summary}
        if len(self.pairs):
            shown[f"{name}: {DEFAULT} against each peer (win, tie, loss; Holm's p)"] = _versus(self.pairs)
            shown[f"{name}: {DEFAULT} minus each peer ({_DIFFERENCES})"] = _differences(self.pairs)
        for metric, frame in self.losses.items():
            shown[f"{name}: where {DEFAULT} is behind the best peer, by {metric}"] = frame
        if self.ablation is not None:
            shown[f"{name}: ablation, each row with its gain over the one before"] = self.ablation
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
    summaries : mapping from names to TaskSummary
        Names are tasks, with " tuned" behind them where settings were searched.
    settings : str
        What was run, in a sentence.
    used : data frame or None, default=None
        Rows used of each table.

    Returns
    -------
    list of str
        A file `notes.md` in the folder, which is written by hand, is put before the tables.

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
    for name, found in summaries.items():
        page += _section(folder, name, found)
        plain = name.removesuffix(_TUNED)
        if plain != name and plain in summaries:
            both = beside(summaries[plain].compared, found.compared)
            page += ["Untuned beside tuned, by search", markdown(both, bold=OURS[found.compared.task])]
    return page if used is None else [*page, "## Rows used", markdown(used, digits=0)]


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


def _section(folder: Path, name: str, found: TaskSummary) -> list[str]:
    compared, stem = found.compared, f"benchmark_{name.replace(' ', '_')}"
    task = compared.task
    data = {
        f"{stem}.csv": found.summary,
        f"{stem}_pairs.csv": found.pairs.set_index(["metric", "peer"]),
        f"{stem}_tables.csv": compared.means,
    }
    if found.ablation is not None:
        data[f"{stem}_ablation.csv"] = found.ablation
    for file, frame in data.items():
        write_atomically(folder / file, frame.to_csv(float_format="%.6g", lineterminator="\n").encode())
    parts = [f"## {name.capitalize()}", f"Means over {_tables(compared)}" + _UNITS[task]]
    parts.append(markdown(found.summary, best=DIRECTIONS[task] if found.enough else None, bold=OURS[task]))
    if found.enough and len(compared.datasets) > 1 and len(compared.methods) > 1:
        write_atomically(folder / f"{stem}.png", _picture(compared))
        parts.append(f"![Mean ranks and critical differences]({stem}.png)")
    if len(found.pairs):
        parts += [f"{DEFAULT} against each peer: tables won, tied and lost (p)", markdown(_versus(found.pairs))]
        parts += [f"{DEFAULT} minus each peer: {_DIFFERENCES}", markdown(_differences(found.pairs))]
    for metric, frame in found.losses.items():
        score = metric.replace("_", " ")
        parts += [f"Where {DEFAULT} is furthest behind the best of all peers, by {score}", markdown(frame)]
    if found.ablation is not None:
        parts += ["Ablation: each stage with its gain over the one before", markdown(found.ablation)]
    links = ", ".join(f"[{file}]({file})" for file in data)
    return [*parts, *found.remarks, f"The figures as files: {links}"]


def _tables(compared: Comparison) -> str:
    return f"{len(compared.datasets)} table{'s' if len(compared.datasets) != 1 else ''}"


def _versus(frame: pd.DataFrame) -> pd.DataFrame:
    """Peers in rows, scores in columns: won-tied-lost and p."""
    return _by_peer(frame, [f"{row.win}-{row.tie}-{row.loss} ({row.p_holm:.2g})" for row in frame.itertuples()])


def _differences(frame: pd.DataFrame) -> pd.DataFrame:
    """Peers in rows, scores in columns: mean difference with its interval, and the three probabilities."""
    cells = []
    for row in frame.itertuples():
        chances = "/".join(f"{100 * value:.0f}" for value in (row.better, row.same, row.worse))
        cells.append(f"{row.gain:+.3f} [{row.low:+.3f}, {row.high:+.3f}] {chances}")
    return _by_peer(frame, cells)


def _by_peer(frame: pd.DataFrame, cells: list[str]) -> pd.DataFrame:
    wide = frame.assign(cell=cells).pivot(index="peer", columns="metric", values="cell")
    return wide.loc[frame["peer"].unique(), frame["metric"].unique()].rename_axis(columns=None)


def _picture(compared: Comparison) -> bytes:
    """Critical-difference plots of our default and its peers by all main scores, one below the other, as PNG."""
    from matplotlib.figure import Figure

    metrics = ranked(compared)
    figure = Figure(figsize=(9, (1.6 + 0.17 * len(compared.methods)) * len(metrics)), layout="constrained")
    panels = figure.subplots(len(metrics), 1, squeeze=False)[:, 0]
    for ax, metric in zip(panels, metrics, strict=True):
        found = mean_ranks(compared, metric)
        shown = found[[name for name in found.index if name in {*rivals(compared, metric).values(), DEFAULT}]]
        plot_critical_difference(shown, len(compared.datasets), ax, bold=[DEFAULT])
        ax.set_title(f"mean rank by {metric.replace('_', ' ')}", fontsize=10)
    return png(figure)
