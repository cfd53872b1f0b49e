"""What a report shows, as a tree of frozen dataclasses of plain values: numbers, strings, tuples.

Large parts are kept by column: ``cases.row[i]``, ``cases.predicted[i]`` and so on belong to one case. Probabilities are
rounded to four significant digits.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

Number = float | None  # None: not known, or too few cases to say


@dataclass(frozen=True, kw_only=True)
class About:
    """What the report is about, in words; all of it may be left out.

    Parameters
    ----------
    title : headline of the page.
    target : name of the column that is predicted.
    model_file : name of the model file in the commands that the page prints.
    data_file : name of the data file in these commands.
    id : name of a column of ``X``, or one identifier for each row: what rows are called.
    left_out : pairs of a column and the reason why it was left out.
    scores_from : a sentence that says on which rows the scores beside other methods were made.
    cases : how many cases the page explains, each with the training rows behind it; None stands for 400, and for fewer
        where the table is wide.
    looked : what ``dsna.report.suspects.look_at_rows`` found, where it was called already.

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
    scores_from: str = "These scores were made elsewhere; they need not be out of bag."
    cases: int | None = None
    looked: Any = None


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A figure with its 95 % range and the cases behind it; ``value`` is None where these are too few to say."""

    value: Number
    low: Number
    high: Number
    cases: int


@dataclass(frozen=True, kw_only=True)
class NamedEstimate:
    """An overall figure: its name, what it means, and whether larger is better."""

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
    """A class or a range of the target: how many training rows it has, and which share of them counts as rare."""

    name: str
    rows: float
    rare: float


@dataclass(frozen=True, kw_only=True)
class DataSection:
    """What the model was fitted on."""

    n_rows: int
    target: str
    columns: tuple[ColumnSummary, ...]
    distribution: tuple[Bar, ...]
    rare: str  # what counts as rare, in a sentence
    notes: tuple[str, ...]
    left_out: tuple[tuple[str, str], ...]


@dataclass(frozen=True, kw_only=True)
class Score:
    """A score of one method, made elsewhere."""

    method: str
    metric: str
    mean: float
    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class PartFigures:
    """How good predictions are on one class, or in one range of the target.

    ``first`` is the recall, or the mean absolute error; ``second`` the precision, or the bias. ``coverage`` is how
    often a prediction set or interval of 90 % holds the truth, learned without the case.
    """

    name: str
    rows: float
    first: Estimate
    second: Estimate
    coverage: Estimate


@dataclass(frozen=True, kw_only=True)
class ReliabilityBin:
    """Cases of similar probability of a class: the mean probability, and how often the class came true."""

    probability: float
    came_true: Estimate


@dataclass(frozen=True, kw_only=True)
class Reliability:
    """How far the probabilities of one class can be trusted."""

    name: str
    bins: tuple[ReliabilityBin, ...]


@dataclass(frozen=True, kw_only=True)
class QualitySection:
    """How good the model is, on cases that it answered without having seen them."""

    overall: tuple[NamedEstimate, ...]
    parts: tuple[PartFigures, ...]
    reliability: tuple[Reliability, ...]
    set_size: Number  # mean number of classes in a prediction set, or mean width of an interval
    scores: tuple[Score, ...] = ()
    scores_from: str = ""  # on which rows the scores were made, in a sentence


@dataclass(frozen=True, kw_only=True)
class Wish:
    """A recall or precision of the rarest class that the user may ask for, and what it comes to."""

    kind: str  # recall or precision
    least: float
    decision: str  # as ``with_decision`` and ``--decision`` take it
    threshold: float
    most: Number  # what is reached where no threshold reaches the wish; None where one does
    recall: Estimate  # of thresholds chosen without the case
    precision: Estimate


@dataclass(frozen=True, kw_only=True)
class ClassDecide:
    """Out-of-bag probabilities to decide by; the cases are a sample, each with a weight."""

    rare: int
    truth: tuple[int, ...]
    weight: tuple[float, ...]
    probability: tuple[float, ...] | tuple[tuple[float, ...], ...]  # of the rarest of two classes, or of each class
    group: tuple[int, ...]  # empty where each case is on its own
    gain: tuple[tuple[float, ...], ...]  # of the model's own decision
    decision: str
    threshold: Number  # of the rarest of two classes, by the model's own decision
    wishes: tuple[Wish, ...]


@dataclass(frozen=True, kw_only=True)
class BalancePoint:
    """Errors at one value of ``balance``: over all cases, over rare targets, and in each range."""

    balance: float
    overall: Estimate
    rare: Estimate
    ranges: tuple[Estimate, ...]


@dataclass(frozen=True, kw_only=True)
class RangeDecide:
    """What more weight for rare targets gains and costs."""

    points: tuple[BalancePoint, ...]
    chosen: float
    names: tuple[str, ...]  # of the ranges


@dataclass(frozen=True, kw_only=True)
class ShownRows:
    """Training rows that the page shows, in the user's columns; cells are numbers, strings or None."""

    names: tuple[str, ...]
    kinds: tuple[str, ...]
    spread: tuple[Number, ...]  # standard deviation of a column of numbers
    number: tuple[int, ...]
    id: tuple[str, ...]
    label: tuple[float, ...]  # class number, or target
    cells: tuple[tuple[Any, ...], ...]


@dataclass(frozen=True, kw_only=True)
class ShownCases:
    """Cases that the page explains, by column; ``row`` and ``near`` are places in ``ShownRows``."""

    row: tuple[int, ...]
    predicted: tuple[float, ...]
    likelihood: tuple[float, ...]  # probability of the truth; in regression error / usual spread around the case
    confidence: tuple[float, ...]  # probability of the prediction; empty in regression
    rare: tuple[int, ...]
    found: tuple[int, ...]
    plain: tuple[float, ...]  # class number or target that plain averaging would have given
    share: tuple[float, ...]  # of the plain average that is of this class; empty in regression
    near: tuple[tuple[int, ...], ...]
    weight: tuple[tuple[float, ...], ...]
    behind: tuple[int, ...]  # how many training rows there are behind the answer


@dataclass(frozen=True, kw_only=True)
class WhySection:
    """Cases, the training rows behind them, and how the cases were picked."""

    rows: ShownRows
    cases: ShownCases
    n_cases: int
    usual_error: Number  # mean absolute error, below which a rare target counts as found


@dataclass(frozen=True, kw_only=True)
class Doubt:
    """A training row whose neighbours disagree with it; ``case`` is its place in ``ShownCases``."""

    case: int
    says: str
    strength: float


@dataclass(frozen=True, kw_only=True)
class FurtherDoubt:
    """A training row that is not among the held-out cases, and whose neighbours disagree with it."""

    id: str
    label: str
    says: str


@dataclass(frozen=True, kw_only=True)
class Decider:
    """A training row that decides many cases; ``row`` is its place in ``ShownRows``."""

    row: int
    cases: int
    share: float
    doubted: bool


@dataclass(frozen=True, kw_only=True)
class Region:
    """A part of the table where neighbours are far away."""

    where: str
    share: float
    distance: float  # of the neighbours, in units of the usual one
    error: Estimate
    elsewhere: Estimate


@dataclass(frozen=True, kw_only=True)
class SuspectSection:
    """Rows and regions to look at."""

    n_doubts: int
    doubts: tuple[Doubt, ...]
    looked_at: str  # which rows, in words
    n_further: int  # doubtful rows that are not among the cases
    further: tuple[FurtherDoubt, ...]
    deciders: tuple[Decider, ...]
    regions: tuple[Region, ...]
    thin: tuple[str, ...]  # classes and ranges with hardly any rows


@dataclass(frozen=True, kw_only=True)
class ReportData:
    """All that a report shows; made by :func:`collect`, written by :func:`write_report`."""

    task: str  # classification or regression
    title: str
    model_file: str
    data_file: str
    classes: tuple[str, ...]  # empty in regression
    n_cases: int
    fewest: int  # cases that a figure needs
    data: DataSection
    quality: QualitySection
    decide: ClassDecide | RangeDecide
    why: WhySection
    suspects: SuspectSection

    def plain(self) -> dict[str, Any]:
        """The same as dictionaries, lists and plain values, for JSON."""
        return asdict(self)
