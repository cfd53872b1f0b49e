"""Data of a report, as a tree of frozen dataclasses with plain values: numbers, strings, tuples.

Large tables are stored by column: ``cases.row[i]``, ``cases.predicted[i]`` and so on belong to one case. Probabilities
are rounded to four significant digits.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

Number = float | None  # None: unknown, or too few cases


@dataclass(frozen=True, kw_only=True)
class About:
    """Titles and names in a report; all of them are optional.

    Parameters
    ----------
    title : headline of the page.
    target : name of the target column.
    model_file : name of the model file in the commands on the page.
    data_file : name of the data file in these commands.
    id : name of a column of ``X``, or one identifier for each row.
    left_out : pairs of a column and the reason for leaving it out.
    scores_from : a sentence about the rows on which the scores of the methods were computed.
    cases : number of cases that the page explains, each with the training rows behind it; None stands for 400, fewer
        for wide tables.
    looked : result of ``dsna.report.suspects.look_at_rows``, if available.

    Examples
    --------
    >>> from dsna.report import About
    >>> About(target="survived").model_file
    'model.dsna'
    """

    title: str = "Model report"
    target: str = "target"
    model_file: str = "model.dsna"
    data_file: str = "data.csv"
    id: Any = None
    left_out: tuple[tuple[str, str], ...] = ()
    scores_from: str = "These scores were computed elsewhere, not necessarily out of bag."
    cases: int | None = None
    looked: Any = None


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A figure with its 95 % confidence interval and number of cases; ``value`` is None if there are too few."""

    value: Number
    low: Number
    high: Number
    cases: int


@dataclass(frozen=True, kw_only=True)
class NamedEstimate:
    """An overall figure with its name and meaning."""

    name: str
    meaning: str
    estimate: Estimate
    unit: str  # "share", "score" or "target"


@dataclass(frozen=True, kw_only=True)
class ColumnSummary:
    """A column of the user's table."""

    name: str
    kind: str  # number, date, yes/no, text, empty
    missing: int
    distinct: int
    summary: str
    counts: tuple[int, ...]  # of ten ranges of a number, or of the most frequent values


@dataclass(frozen=True, kw_only=True)
class Bar:
    """A class or target range: its number of training rows, and the share of these that are rare."""

    name: str
    rows: float
    rare: float


@dataclass(frozen=True, kw_only=True)
class DataSection:
    """The training data."""

    n_rows: int
    target: str
    columns: tuple[ColumnSummary, ...]
    distribution: tuple[Bar, ...]
    rare: str  # a sentence that defines rare rows
    notes: tuple[str, ...]
    left_out: tuple[tuple[str, str], ...]


@dataclass(frozen=True, kw_only=True)
class Score:
    """A score of one method, computed elsewhere."""

    method: str
    metric: str
    mean: float
    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class PartFigures:
    """Figures of one class or target range.

    ``first`` is the recall or the mean absolute error, ``second`` the precision or the bias. ``coverage`` is the share
    of cases whose 90 % prediction set or interval, learned without the case, contains the truth.
    """

    name: str
    rows: float
    first: Estimate
    second: Estimate
    coverage: Estimate


@dataclass(frozen=True, kw_only=True)
class ReliabilityBin:
    """Cases with similar probabilities of a class: the mean probability and the observed share of the class."""

    probability: float
    came_true: Estimate


@dataclass(frozen=True, kw_only=True)
class Reliability:
    """Reliability diagram of one class."""

    name: str
    bins: tuple[ReliabilityBin, ...]


@dataclass(frozen=True, kw_only=True)
class QualitySection:
    """Out-of-bag quality of the model."""

    overall: tuple[NamedEstimate, ...]
    parts: tuple[PartFigures, ...]
    reliability: tuple[Reliability, ...]
    set_size: Number  # mean number of classes in a prediction set, or mean width of an interval
    scores: tuple[Score, ...] = ()
    scores_from: str = ""  # a sentence about the rows on which the scores were computed


@dataclass(frozen=True, kw_only=True)
class TargetRate:
    """A target for the recall or precision of the rarest class, and the rates that it leads to."""

    kind: str  # recall or precision
    minimum: float
    decision: str  # as ``with_decision`` and ``--decision`` take it
    threshold: float
    reached: Number  # largest rate, if no threshold reaches the minimum; otherwise None
    recall: Estimate  # of thresholds chosen without the case
    precision: Estimate


@dataclass(frozen=True, kw_only=True)
class ClassDecide:
    """Out-of-bag probabilities for decisions; the cases are a weighted sample."""

    rare: int
    truth: tuple[int, ...]
    weight: tuple[float, ...]
    probability: tuple[float, ...] | tuple[tuple[float, ...], ...]  # of the rarest of two classes, or of each class
    group: tuple[int, ...]  # empty without groups
    gain: tuple[tuple[float, ...], ...]  # of the model's own decision
    decision: str
    threshold: Number  # of the rarest of two classes, by the model's own decision
    target_rates: tuple[TargetRate, ...]


@dataclass(frozen=True, kw_only=True)
class BalancePoint:
    """Errors at one value of ``balance``: over all cases, over rare targets, and in each range."""

    balance: float
    overall: Estimate
    rare: Estimate
    ranges: tuple[Estimate, ...]


@dataclass(frozen=True, kw_only=True)
class RangeDecide:
    """Errors at all values of ``balance``."""

    points: tuple[BalancePoint, ...]
    chosen: float
    names: tuple[str, ...]  # of the ranges


@dataclass(frozen=True, kw_only=True)
class ShownRows:
    """Training rows that the page shows, with the user's columns; cells are numbers, strings or None."""

    names: tuple[str, ...]
    kinds: tuple[str, ...]
    spread: tuple[Number, ...]  # standard deviation of a column of numbers
    number: tuple[int, ...]
    id: tuple[str, ...]
    label: tuple[float, ...]  # class number, or target
    cells: tuple[tuple[Any, ...], ...]


@dataclass(frozen=True, kw_only=True)
class ShownCases:
    """Cases that the page explains, by column; ``row`` and ``neighbors`` are indices into ``ShownRows``."""

    row: tuple[int, ...]
    predicted: tuple[float, ...]
    likelihood: tuple[float, ...]  # probability of the truth; in regression error / usual spread around the case
    confidence: tuple[float, ...]  # probability of the prediction; empty in regression
    rare: tuple[int, ...]
    correct: tuple[int, ...]
    plain: tuple[float, ...]  # class number or target by plain averaging
    share: tuple[float, ...]  # of this class in the plain average; empty in regression
    neighbors: tuple[tuple[int, ...], ...]
    weight: tuple[tuple[float, ...], ...]
    n_neighbors: tuple[int, ...]  # training rows with a weight or coefficient


@dataclass(frozen=True, kw_only=True)
class WhySection:
    """Cases and the training rows behind them."""

    rows: ShownRows
    cases: ShownCases
    n_cases: int
    usual_error: Number  # mean absolute error, up to which a rare target counts as found


@dataclass(frozen=True, kw_only=True)
class Doubt:
    """A case whose neighbours disagree with its label; ``case`` is its index in ``ShownCases``."""

    case: int
    suggested: str  # class or target that the neighbours suggest
    strength: float


@dataclass(frozen=True, kw_only=True)
class FurtherDoubt:
    """A training row outside the held-out cases whose neighbours disagree with its label."""

    id: str
    label: str
    suggested: str  # class or target that the neighbours suggest


@dataclass(frozen=True, kw_only=True)
class Decider:
    """A training row that decides many cases; ``row`` is its index in ``ShownRows``."""

    row: int
    cases: int
    share: float
    doubted: bool


@dataclass(frozen=True, kw_only=True)
class Region:
    """A region of the table where neighbours are far away."""

    conditions: str
    share: float
    distance: float  # of the neighbours, relative to the median case
    error: Estimate
    elsewhere: Estimate


@dataclass(frozen=True, kw_only=True)
class SuspectSection:
    """Rows and regions to check."""

    n_doubts: int
    doubts: tuple[Doubt, ...]
    looked_at: str  # description of the compared rows
    n_further: int  # number of doubtful rows outside the cases
    further: tuple[FurtherDoubt, ...]
    deciders: tuple[Decider, ...]
    regions: tuple[Region, ...]
    thin: tuple[str, ...]  # classes and ranges with very few rows


@dataclass(frozen=True, kw_only=True)
class ReportData:
    """Data of a report, from :func:`collect` for :func:`write_report`."""

    task: str  # classification or regression
    title: str
    model_file: str
    data_file: str
    classes: tuple[str, ...]  # empty in regression
    n_cases: int
    fewest: int  # minimum number of cases of a figure
    data: DataSection
    quality: QualitySection
    decide: ClassDecide | RangeDecide
    why: WhySection
    suspects: SuspectSection

    def plain(self) -> dict[str, Any]:
        """Convert to dictionaries, lists and plain values for JSON."""
        return asdict(self)
