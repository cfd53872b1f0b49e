"""Explanations: the training rows behind predictions and their weights, as data frames, text and plots."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from .._utils.choices import best_class, class_factors, most_probable
from .._utils.errors import DSNAError
from .._utils.optional import import_extra
from ..prediction.class_decision import Threshold
from ..prediction.decision import decide
from ..prediction.digits import decimals_of, like_targets
from .columns import Columns, TrainingColumns, is_missing, query_numbers, training_columns
from .comparison import TOLERANCE, NeighborComparison, as_heading, compare_features, label_columns, said, values_unknown
from .explanation_plot import draw
from .opinions import class_sums, log_odds, opinion_frame, opinion_line

_SHOWN_QUERIES = 5
_NOT_PER_QUERY = (
    "kind", "decision", "classes", "gain", "threshold", "voices", "uses_coefficients", "grid", "n_train", "train",
)  # fmt: skip


@dataclass(kw_only=True, eq=False, repr=False)
class Explanation:
    """Training rows behind the predictions of n queries, as returned by ``explain(X)`` of the DSNA estimators.

    ``print(why)`` and ``report`` give text, ``plot`` draws, ``frame`` and ``compare`` return data frames. A query has
    at most M rows; entries past its ``size`` are padding of weight zero.

    Parameters
    ----------
    kind : {"classification", "regression"}
    rows : (n, M) numbers of the training rows, in decreasing order of proximity.
    size : (n,) number of rows of each query.
    coefficient : (n, M) coefficients of the sparse approximation.
    proximity : (n, M) mean over the trees of a row's share of the leaf of the query, or weight of a nearest neighbour.
    weight : (n, M) weights in the decision, after blend and balance; class sums plus ``rest`` are the probabilities.
    label : (n, M) class labels, or (n, M, n_outputs) labels of the rows.
    carried : (n, M, n_outputs) targets of the rows, shifted along the trend to the query; None if there is no trend.
    extrapolated : (n,) whether the query lies outside the training rows along the trend; None if there is no trend.
    member : (n, M, K) whether a row belongs to a cluster; clusters may overlap.
    share, objective : (n, K) weight of each cluster in the coefficients, and its joint objective.
    hull_residual : (n, K) distance of the query from each cluster's affine hull; zero if hulls are disabled.
    settled, steps : (n, S, n_outputs) label or class number after each feedback step, (n,) number of steps.
    history : (n, S) joint objective of the best cluster at each step.
    decision : {"proba", "mean", "trimmed", "median", "grid", "open"}
        Rule that turns weights into a prediction: the most probable class, or see ``dsna.prediction.decision.decide``.
    classes : (n_classes,) class labels, sorted; None in regression.
    rest : (n, n_classes) probability that is not due to any row, such as that of classes without a neighbour.
    gain : (n_classes, n_classes) gain of predicting the second class if the first is true; the class with the largest
        ``probabilities @ gain`` is predicted.
    threshold : with two classes, the probability from which the rarer one is predicted; None otherwise.
    votes : (n, n_classes) votes that ``decision="paper"`` uses instead of probabilities; None otherwise.
    voices, logits : names of the components of the probabilities, and (n, n_voices, n_classes) terms that each adds to
        the logarithms of the probabilities, up to a common term. See ``opinions``.
    uses_coefficients : whether the predictions depend on coefficients; otherwise ``plot`` does not show them.
    grid : (k, n_outputs) distinct training targets, for the decision "grid"; the learned ends, for "open".
    n_train : number of rows that the model was fitted on, and that number plus the rows of ``add_samples``.
    queries : columns of the queries with their original values, or None.
    train : values and identifiers of the training rows shown, if ``train`` or ``id`` were given; otherwise None.
    names : (n,) names of the queries; None: query 0, query 1, ...
    numbers : (n, M) row numbers shown in texts; None: those of ``rows``.

    Examples
    --------
    >>> import numpy as np
    >>> from dsna import CostSensitiveForestRegressor, DSNARegressor
    >>> X = np.arange(240.0).reshape(120, 2)
    >>> model = DSNARegressor(CostSensitiveForestRegressor(5), decision="mean", random_state=0).fit(X, X[:, 0])
    >>> why = model.explain(X[:4], train=X)
    >>> bool(np.all(why.predict() == model.predict(X[:4])))
    True
    >>> list(why.frame(query=3).columns)
    ['query', 'row', 'label', 'carried', 'coefficient', 'weight', 'proximity', 'clusters']
    >>> list(why.compare(query=3, largest=2).index)
    ['target', 'carried', 'weight', 'x0', 'x1']
    """

    kind: str
    rows: np.ndarray
    size: np.ndarray
    coefficient: np.ndarray
    proximity: np.ndarray
    weight: np.ndarray
    label: np.ndarray
    member: np.ndarray
    share: np.ndarray
    hull_residual: np.ndarray
    objective: np.ndarray
    settled: np.ndarray
    steps: np.ndarray
    decision: str
    classes: np.ndarray | None = None
    rest: np.ndarray | None = None
    gain: np.ndarray | None = None
    threshold: Threshold | None = None
    votes: np.ndarray | None = None
    voices: Sequence[str] | None = None
    logits: np.ndarray | None = None
    uses_coefficients: bool = True
    grid: np.ndarray | None = None
    carried: np.ndarray | None = None
    extrapolated: np.ndarray | None = None
    history: np.ndarray | None = None
    n_train: tuple[int, ...] = ()
    queries: Columns | None = None
    train: TrainingColumns | None = None
    names: np.ndarray | None = None
    numbers: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, query: Any) -> Explanation:
        """Explanation of the queries selected by a number, slice, mask or array of numbers."""
        queries = query_numbers(len(self), query)
        arrays: dict[str, Any] = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in _NOT_PER_QUERY}
        return replace(self, **{name: a[queries] for name, a in arrays.items() if a is not None})

    def __repr__(self) -> str:
        n = len(self)
        lines = [f"Explanation of {n} {'query' if n == 1 else 'queries'} ({self.kind}, {self.decision})"]
        order, n_used = self[:_SHOWN_QUERIES].ordered()
        for i, n_rows in enumerate(n_used):
            top = order[i, : min(4, n_rows)]
            names = [f"{name} ({self.weight[i, k]:.3g})" for name, k in zip(self.row_names(i, top), top, strict=True)]
            row_list = ", ".join([*names, "..."] if n_rows > 4 else names)
            lines.append(f"  {self.name_of(i)}: {self[i].verdict()} by rows (weights) {row_list}")
        return "\n".join([*lines, "  ..."] if n > _SHOWN_QUERIES else lines)

    def __str__(self) -> str:
        """Reports on the first queries if the values of the training rows are known, otherwise a line on each."""
        if self.train is None:
            return repr(self)
        reports = [self.report(i) for i in range(min(len(self), _SHOWN_QUERIES))]
        if len(self) > len(reports):
            reports.append(f"... and {len(self) - len(reports)} more queries: see report(query)")
        return "\n\n".join(reports)

    def beside(self, X: Any, train: Any = None, id: Any = None, names: Sequence[Hashable] | None = None) -> Explanation:
        """The same explanation with names and values of the queries and their neighbours from the given tables.

        Parameters
        ----------
        X : data frame (pandas or polars) or array of the n queries.
        train : data frame or array of the training rows, in the order of ``fit``, optionally followed by those of
            ``add_samples``; None leaves their values out. Additional columns are ignored.
        id : name of a column of ``train``, or an array: identifiers of the training rows, shown instead of numbers.
        names : names of the features, if ``X`` has other columns too or has no names.

        Returns
        -------
        Explanation
        """
        queries = Columns.read(X)
        if len(queries) != len(self):
            raise DSNAError(f"X has {len(queries)} rows, but the explanation covers {len(self)}: pass the same rows.")
        queries = queries if names is None else queries.under(names, "X")
        neighbor_rows = np.unique(self.rows[self._is_neighbor()])
        queries, columns = training_columns(neighbor_rows, queries, train, id, self.n_train)
        return replace(self, queries=queries, train=columns)

    def predict_proba(self) -> np.ndarray:
        """(n, n_classes) probabilities: sums of the weights per class, plus ``rest``."""
        if self.classes is None:
            raise AttributeError("Explanations of regressions have no probabilities; use predict().")
        return class_sums(self.weight, self.label, self.classes) + (0.0 if self.rest is None else self.rest)

    def predict(self) -> np.ndarray:
        """Predictions of the estimator, recomputed from the weights and labels of the rows by the decision rule."""
        if self.classes is not None:
            return np.asarray(self.classes[self._predicted_codes()])
        targets = self.label if self.carried is None else self.carried
        predicted = decide(self.weight, targets, self.decision, self.label[0] if self.grid is None else self.grid)
        return predicted[:, 0] if predicted.shape[1] == 1 else predicted

    def predict_shown(self) -> np.ndarray:
        """Predictions rounded for display, to the precision of the neighbours' targets."""
        return self.predict() if self.classes is not None else like_targets(self.predict(), self.label)

    def _predicted_codes(self) -> np.ndarray:
        """(n,) predicted class numbers."""
        shares = self.predict_proba() if self.votes is None else self.votes
        return most_probable(shares) if self.gain is None else best_class(shares, self.gain)

    def frame(self, query: int | Sequence[int] | None = None, largest: int | None = None) -> Any:
        """Data frame of the rows that have a coefficient or a weight, in decreasing order of absolute weight.

        Its columns are query, row, id (if identifiers are known), label (label_0, ... of several outputs), carried
        (with a trend: the shifted target, used instead of the label; carried_0, ...), coefficient, weight, proximity,
        clusters (numbers of the clusters of the row, separated by commas).

        Parameters
        ----------
        query : number or numbers of the queries; None for all.
        largest : maximum number of rows of each query; None for all.
        """
        queries = query_numbers(len(self), slice(None) if query is None else query)
        order, n_shown = self.ordered(by_weight=True)
        n_shown = n_shown[queries] if largest is None else np.minimum(n_shown[queries], largest)
        entries = np.repeat(queries, n_shown), order[queries][np.arange(order.shape[1]) < n_shown[:, None]]
        patterns, pattern = np.unique(self.member[entries], axis=0, return_inverse=True)
        clusters = np.array([",".join(map(str, np.flatnonzero(member))) for member in patterns], dtype=object)
        ids = self._ids(self.rows[entries])
        return import_extra("pandas", "report").DataFrame(
            {"query": entries[0], "row": self.rows[entries]}
            | ({} if ids is None else {"id": ids})
            | label_columns("label", self.label[entries])
            | ({} if self.carried is None else label_columns("carried", self.carried[entries]))
            | {name: getattr(self, name)[entries] for name in ("coefficient", "weight", "proximity")}
            | {"clusters": clusters[pattern.ravel()]}
        )

    def clusters(self) -> Any:
        """Data frame of the clusters of each query.

        Its columns are query, cluster, size, share, hull_residual, objective and label (label_0, ...): the mean target
        of the rows in the cluster or their most frequent class.
        """
        member = self.member & self._is_neighbor()[:, :, None]
        sizes = member.sum(axis=1)
        entries = np.nonzero(sizes)
        if self.classes is None:
            label = np.einsum("nmk,nmq->nkq", member.astype(np.float64), self.label)[entries] / sizes[entries][:, None]
        else:
            counts = [(member & (self.label == c)[:, :, None]).sum(axis=1)[entries] for c in self.classes]
            label = self.classes[np.argmax(counts, axis=0)]
        return import_extra("pandas", "report").DataFrame(
            {"query": entries[0], "cluster": entries[1], "size": sizes[entries]}
            | {name: getattr(self, name)[entries] for name in ("share", "hull_residual", "objective")}
            | label_columns("label", label)
        )

    def opinions(self) -> Any:
        """Data frame of the contributions of the coefficients and of other opinions to each prediction.

        Its columns are query, opinion, log_odds and share. ``log_odds`` is the term that the coefficients, the forest's
        vote, the trend and the class shares each add to the log odds of the predicted class against the most probable
        other class; the terms of a query add up to these log odds. ``share`` is a term's part in their absolute sum.
        """
        if self.voices is None or self.logits is None:
            raise AttributeError("Explanations of regressions have no opinions.")
        return opinion_frame(self.voices, self.opinion_odds())

    def opinion_odds(self) -> np.ndarray:
        """(n, n_voices) terms of the log odds, one for each opinion; see ``opinions``."""
        assert self.logits is not None
        return log_odds(self.logits, self.predict_proba(), self._predicted_codes())

    def settling(self) -> Any:
        """Data frame of the label after each feedback step, with columns query, step and label (label_0, ...)."""
        entries = np.nonzero(np.arange(self.settled.shape[1]) < self.steps[:, None])
        labels = self.settled[entries]
        labels = labels if self.classes is None else self.classes[labels[..., 0].astype(np.int64)]
        columns = {"query": entries[0], "step": entries[1]} | label_columns("label", labels)
        return import_extra("pandas", "report").DataFrame(columns)

    def compare(self, query: int = 0, largest: int = 5, tolerance: float = TOLERANCE) -> Any:
        """Data frame of a query's values beside those of the neighbours that contribute most to the decision.

        It has a column for the query and one for each neighbour. The first lines are the identifiers (if known), the
        class or target (of the query: the prediction) and the weight, followed by a line for each feature. The last
        column, differs, counts the neighbours whose value differs from the query's: a number by more than ``tolerance``
        times the column's standard deviation in ``train``, any other value if it is not equal. Dates count as numbers,
        and a missing value differs from all others.

        Parameters
        ----------
        query : number of the query.
        largest : number of neighbours to show.
        tolerance : differences of numbers up to this many standard deviations are ignored.
        """
        if self.train is None or not self.train.columns.names:
            raise DSNAError("The values of the training rows are unknown: pass train=frame to explain.")
        return self.comparison(query, largest).frame(tolerance)

    def report(self, query: int = 0, largest: int = 5, tolerance: float = TOLERANCE, features: int = 20) -> str:
        """The same comparison as text for a terminal, with an asterisk at every value that differs.

        Neighbours are ordered by their contribution to the decision: their weight times the factor of their class.

        Parameters
        ----------
        query, largest, tolerance : as in ``compare``.
        features : number of features to show, those that differ most.
        """
        single = self[query]
        lines = [as_heading(f"{self.name_of(query)}: predicted {single.verdict()}"), single.part_shown(largest)]
        lines += [self.comparison(query, largest).text(tolerance, features)]
        if single.voices is not None:
            lines += [opinion_line(single.voices, single.opinion_odds()[0], single.logits)]
        if self.train is None or not self.train.columns.names:
            lines += [values_unknown()]
        return "\n".join(lines)

    def plot(self, query: int = 0, largest: int = 15, ax: Any = None, output: int = 0) -> Any:
        """Draw the rows that contribute most to the decision and, in a second panel, the decision itself.

        The figure is neither shown nor saved; to save it: ``why.plot().figure.savefig("why.png")``.

        Parameters
        ----------
        query : number of the query.
        largest : number of rows to draw.
        ax : matplotlib axes for the rows, or a pair for the rows and the decision; None creates a figure with both.
        output : with several outputs, the one shown by the colours and the second panel.

        Returns
        -------
        matplotlib.axes.Axes
            The axes of the rows; the panel of the decision is ``ax.figure.axes[1]``.
        """
        return draw(self, query, largest, ax, output)

    def ordered(self, by_weight: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """(n, M) order of the rows by weight times class factor, or by weight; (n,) number of rows in use."""
        used = self._is_neighbor() & ((self.coefficient != 0.0) | (self.weight != 0.0))
        magnitude = np.abs(self.weight)
        contribution = magnitude * (1.0 if by_weight else self._class_factors())
        return np.lexsort((-np.abs(self.coefficient), -magnitude, -contribution, ~used), axis=1), used.sum(axis=1)

    def _class_factors(self) -> np.ndarray:
        """(n, M) factor that the decision gives to the class of each row; ones in regression and for votes."""
        if self.classes is None or self.gain is None or self.votes is not None:
            return np.ones(self.weight.shape)
        return class_factors(self.gain)[np.minimum(np.searchsorted(self.classes, self.label), len(self.classes) - 1)]

    def part_of_weight(self, largest: int) -> float:
        """Share of the first ``largest`` rows of the first query, as ``ordered``, in its total absolute weight."""
        magnitude = np.abs(self.weight[0])
        return float(magnitude[self.ordered()[0][0, :largest]].sum() / max(magnitude.sum(), 1e-300))

    def part_shown(self, largest: int) -> str:
        """Describe the rows shown for the first query: their number, order and share of the weight."""
        n_used = int(self.ordered()[1][0])
        factors = self._class_factors()[0, : self.size[0]]
        order = " by contribution to the decision" if len(np.unique(factors)) > 1 else ""
        if order and self.threshold is not None and 0.0 < self.threshold.probability < 1.0:
            odds = 1.0 / self.threshold.probability - 1.0
            order += f" (rows of {said(self.threshold.rare_class)} count {odds:.3g} times)"
        rows = f"{min(largest, n_used)} of {n_used} training rows"
        return f"{rows}{order}, with {self.part_of_weight(largest):.0%} of the weight"

    def verdict(self) -> str:
        """Describe the prediction for the first query."""
        predicted = said(self.predict_shown()[0])
        if self.extrapolated is not None and self.extrapolated[0]:
            predicted += " (extrapolated: outside the training rows along the trend)"
        if self.classes is None:
            return predicted
        threshold = "" if self.threshold is None else f"; {self.threshold}"
        return f"{predicted} (probability {self.predict_proba()[0, self._predicted_codes()[0]]:.3g}{threshold})"

    def name_of(self, query: int) -> str:
        """Name of a query."""
        return f"query {range(len(self))[query]}" if self.names is None else str(self.names[query])

    def row_names(self, query: int, positions: np.ndarray) -> list[str]:
        """Identifiers of the rows at given positions of a query, or their numbers if they have no identifiers."""
        ids = self._ids(self.rows[query, positions])
        numbers = self._row_numbers(query, positions)
        return [str(row) if ids is None or is_missing(ids[k]) else said(ids[k]) for k, row in enumerate(numbers)]

    def _row_numbers(self, query: int, positions: np.ndarray) -> np.ndarray:
        return np.asarray((self.rows if self.numbers is None else self.numbers)[query, positions])

    def _is_neighbor(self) -> np.ndarray:
        return np.arange(self.rows.shape[1]) < self.size[:, None]

    def _ids(self, rows: np.ndarray) -> np.ndarray | None:
        return None if self.train is None else self.train.at(rows).id

    def comparison(self, query: int, largest: int) -> NeighborComparison:
        """A query and the neighbours that contribute most to its decision, with their values if known."""
        single = self[query]
        order, n_used = single.ordered()
        positions = order[0, : min(largest, n_used[0])]
        rows = single.rows[0, positions]
        header: dict[str, list[Any]] = {}
        ids = single._ids(rows)
        if self.train is not None and ids is not None:
            query_id = None if single.queries is None or single.queries.id is None else single.queries.id[0]
            header[self.train.id_name] = [query_id, *ids]
        heading = "target" if single.classes is None else "class"
        predicted = label_columns(heading, single.predict())
        for name, labels in label_columns(heading, single.label[0, positions]).items():
            header[name] = [predicted[name][0], *labels]
        if single.carried is not None:
            carried = label_columns("carried", single.carried[0, positions])
            header |= {name: [None, *targets] for name, targets in carried.items()}
        header["weight"] = [None, *single.weight[0, positions]]
        columns = [self.name_of(query), *(f"row {row}" for row in single._row_numbers(0, positions))]
        features, distances = compare_features(single.queries, self.train, rows)
        decimals = None if single.classes is not None else decimals_of(single.label)
        return NeighborComparison(columns, header, features, distances, decimals)
