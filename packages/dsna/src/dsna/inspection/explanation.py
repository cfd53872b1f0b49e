"""Which training rows made a prediction, with what weight; as data frames, as text and as a plot."""

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
from .comparison import TOLERANCE, Comparison, as_heading, compare_features, label_columns, said, values_unknown
from .explanation_plot import draw
from .opinions import class_sums, log_odds, opinion_frame, opinion_line

_SHOWN_QUERIES = 5
_NOT_PER_QUERY = (
    "kind", "decision", "classes", "gain", "threshold", "voices", "uses_coefficients", "grid", "n_train", "train",
)  # fmt: skip


@dataclass(kw_only=True, eq=False, repr=False)
class Explanation:
    """The training rows behind the predictions of n queries; made by ``explain(X)`` of the DSNA estimators.

    ``print(why)`` and ``report`` are for reading, ``plot`` draws, ``frame`` and ``compare`` return data frames. A query
    has at most M rows; entries past its ``size`` are padding of weight zero.

    Parameters
    ----------
    kind : {"classification", "regression"}
    rows : (n, M) numbers of the training rows, by falling proximity.
    size : (n,) how many rows each query has.
    coefficient : (n, M) coefficients of the sparse approximation.
    proximity : (n, M) mean over the trees of what a row gets where each tree shares one unit among the rows of the leaf
        that the query reaches; one times the row's weight where neighbours are nearest neighbours.
    weight : (n, M) weights in the decision, after blend and balance; summed per class and with ``rest`` added
        they are the predicted probabilities.
    label : (n, M) class labels, or (n, M, n_outputs) labels of the rows.
    carried : (n, M, n_outputs) targets of the rows as the trend carries them over to the query, which the decision is
        made of; None where targets are taken as they are.
    extrapolated : (n,) whether the query lies past the training rows along the trend; None where there is none.
    member : (n, M, K) which rows belong to which cluster; clusters may overlap.
    share, objective : (n, K) weight of each cluster in the coefficients, and its joint objective.
    hull_residual : (n, K) distance of the query from each cluster's affine hull; zero where hulls are off.
    settled, steps : (n, S, n_outputs) label or class number after each feedback step, (n,) number of steps.
    history : (n, S) joint objective of the best cluster at each step.
    decision : {"proba", "mean", "trimmed", "median", "grid", "open"}
        Rule that turns weights into a prediction: the most probable class, or see ``dsna.prediction.decision.decide``.
    classes : (n_classes,) class labels, sorted; None in regression.
    rest : (n, n_classes) probability that no row carries, as of classes that the neighbourhood lacks.
    gain : (n_classes, n_classes) what it gains to predict the second class where the first is true: the class of
        largest ``probabilities @ gain`` is predicted.
    threshold : of two classes, from which probability on the rarer one is predicted; None otherwise.
    votes : (n, n_classes) of the paper's decision, which takes them in place of probabilities; None otherwise.
    voices, logits : names of what the probabilities are made of, and (n, n_voices, n_classes) what each adds to the
        logarithms of the probabilities, up to a common term. See ``opinions``.
    uses_coefficients : whether the model's answers depend on coefficients; where they do not, ``plot`` leaves them out.
    grid : (k, n_outputs) targets seen, for the decision "grid"; the ends that "open" has learned.
    n_train : numbers of rows that the model was fitted on and, with those of ``add_samples``, that it knows.
    queries : columns of the queries in their own values, or None.
    train : what is known of the training rows named here, where ``train`` or ``id`` were given; or None.
    names : (n,) what the queries are called; None: query 0, query 1, ...
    numbers : (n, M) numbers by which texts call the rows; None: those of ``rows``.

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
        """Explanation of one query, or of those that a slice, mask or array of numbers picks."""
        picked = query_numbers(len(self), query)
        arrays: dict[str, Any] = {f.name: getattr(self, f.name) for f in fields(self)}
        varies = [name for name, a in arrays.items() if a is not None and name not in _NOT_PER_QUERY]
        return replace(self, **{name: arrays[name][picked] for name in varies})

    def __repr__(self) -> str:
        n = len(self)
        lines = [f"Explanation of {n} {'query' if n == 1 else 'queries'} ({self.kind}, {self.decision})"]
        order, number = self[:_SHOWN_QUERIES].ordered()
        for i, used in enumerate(number):
            top = order[i, : min(4, used)]
            shown = [f"{name} ({self.weight[i, k]:.3g})" for name, k in zip(self.row_names(i, top), top, strict=True)]
            by = ", ".join([*shown, "..."] if used > 4 else shown)
            lines.append(f"  {self.name_of(i)}: {self[i].verdict()} by rows (weights) {by}")
        return "\n".join([*lines, "  ..."] if n > _SHOWN_QUERIES else lines)

    def __str__(self) -> str:
        """A report on each of the first queries where the rows' own values are known, a line on each otherwise."""
        if self.train is None:
            return repr(self)
        shown = [self.report(i) for i in range(min(len(self), _SHOWN_QUERIES))]
        more = [f"... and {len(self) - len(shown)} queries more: see report(query)"] if len(self) > len(shown) else []
        return "\n\n".join([*shown, *more])

    def beside(self, X: Any, train: Any = None, id: Any = None, names: Sequence[Hashable] | None = None) -> Explanation:
        """The same explanation in the words of given tables: names and values of the queries and of their neighbours.

        Parameters
        ----------
        X : data frame (pandas or polars) or array of the n queries.
        train : data frame or array of the training rows, in the order of ``fit``, then of ``add_samples`` if these rows
            are to be shown; None where their values are not to be shown. It may have further columns.
        id : name of a column of ``train``, or an array: identifiers of the training rows, to show in place of numbers.
        names : the features, where they are not all columns of ``X`` or where ``X`` has no names.

        Returns
        -------
        Explanation
        """
        queries = Columns.read(X)
        if len(queries) != len(self):
            raise DSNAError(f"X has {len(queries)} rows and {len(self)} are explained: pass the same rows.")
        queries = queries if names is None else queries.under(names, "X")
        queries, known = training_columns(np.unique(self.rows[self._inside()]), queries, train, id, self.n_train)
        return replace(self, queries=queries, train=known)

    def predict_proba(self) -> np.ndarray:
        """(n, n_classes) probabilities: the weights summed per class, plus ``rest``."""
        if self.classes is None:
            raise AttributeError("An explanation of a regression has no probabilities; use predict().")
        return class_sums(self.weight, self.label, self.classes) + (0.0 if self.rest is None else self.rest)

    def predict(self) -> np.ndarray:
        """The estimator's predictions, made by the decision rule of the rows' weights and labels alone."""
        if self.classes is not None:
            return np.asarray(self.classes[self._chosen()])
        targets = self.label if self.carried is None else self.carried
        predicted = decide(self.weight, targets, self.decision, self.label[0] if self.grid is None else self.grid)
        return predicted[:, 0] if predicted.shape[1] == 1 else predicted

    def predict_shown(self) -> np.ndarray:
        """The predictions with as many digits as a reader needs, or as the neighbours' targets have."""
        return self.predict() if self.classes is not None else like_targets(self.predict(), self.label)

    def _chosen(self) -> np.ndarray:
        """(n,) numbers of the classes predicted."""
        shares = self.predict_proba() if self.votes is None else self.votes
        return most_probable(shares) if self.gain is None else best_class(shares, self.gain)

    def frame(self, query: int | Sequence[int] | None = None, largest: int | None = None) -> Any:
        """Data frame of the rows that have a coefficient or a weight, by falling size of the weight.

        Its columns are query, row, id (where identifiers are known), label (label_0, ... of several outputs), carried
        (where a trend carries targets over: what counts in place of the label; carried_0, ...), coefficient, weight,
        proximity, clusters (numbers of the clusters that the row is in, joined by commas).

        Parameters
        ----------
        query : number or numbers of the queries wanted; None for all.
        largest : how many rows to keep of each query; None for all.
        """
        asked = query_numbers(len(self), slice(None) if query is None else query)
        order, number = self.ordered(by_weight=True)
        number = number[asked] if largest is None else np.minimum(number[asked], largest)
        at = np.repeat(asked, number), order[asked][np.arange(order.shape[1]) < number[:, None]]
        sets, which = np.unique(self.member[at], axis=0, return_inverse=True)
        names = np.array([",".join(map(str, np.flatnonzero(s))) for s in sets], dtype=object)
        ids = self._ids(self.rows[at])
        return import_extra("pandas", "report").DataFrame(
            {"query": at[0], "row": self.rows[at]}
            | ({} if ids is None else {"id": ids})
            | label_columns("label", self.label[at])
            | ({} if self.carried is None else label_columns("carried", self.carried[at]))
            | {name: getattr(self, name)[at] for name in ("coefficient", "weight", "proximity")}
            | {"clusters": names[which.ravel()]}
        )

    def clusters(self) -> Any:
        """Data frame of the clusters of each query.

        Its columns are query, cluster, size, share, hull_residual, objective and label (label_0, ...), which
        is the mean label of the rows in the cluster or their most frequent class.
        """
        member = self.member & self._inside()[:, :, None]
        size = member.sum(axis=1)
        at = np.nonzero(size)
        if self.classes is None:
            label = np.einsum("nmk,nmq->nkq", member.astype(np.float64), self.label)[at] / size[at][:, None]
        else:
            counts = [(member & (self.label == c)[:, :, None]).sum(axis=1)[at] for c in self.classes]
            label = self.classes[np.argmax(counts, axis=0)]
        return import_extra("pandas", "report").DataFrame(
            {"query": at[0], "cluster": at[1], "size": size[at]}
            | {name: getattr(self, name)[at] for name in ("share", "hull_residual", "objective")}
            | label_columns("label", label)
        )

    def opinions(self) -> Any:
        """Data frame of how much of each answer came from the rows' coefficients and how much from other opinions.

        Its columns are query, opinion, log_odds and share. ``log_odds`` is what the coefficients, the forest's vote,
        the trend and the class shares add to the logarithm of the odds of the predicted class against the most
        probable other one; their sum over a query is that logarithm. ``share`` is one's part in the sum of their sizes.
        """
        if self.voices is None or self.logits is None:
            raise AttributeError("An explanation of a regression has no opinions.")
        return opinion_frame(self.voices, self.opinion_odds())

    def opinion_odds(self) -> np.ndarray:
        """(n, n_voices) what each opinion adds to the log odds; see ``opinions``."""
        assert self.logits is not None
        return log_odds(self.logits, self.predict_proba(), self._chosen())

    def settling(self) -> Any:
        """Data frame of the label after each feedback step: columns query, step, label (label_0, ...)."""
        at = np.nonzero(np.arange(self.settled.shape[1]) < self.steps[:, None])
        last = self.settled[at]
        label = label_columns("label", last if self.classes is None else self.classes[last[..., 0].astype(np.int64)])
        return import_extra("pandas", "report").DataFrame({"query": at[0], "step": at[1]} | label)

    def compare(self, query: int = 0, largest: int = 5, tolerance: float = TOLERANCE) -> Any:
        """Data frame of a query's own values beside those of the neighbours that add most to the decision.

        It has a column for the query and one for each neighbour. Its first lines are the identifiers, where these are
        known, the class or target (of the query: the prediction) and the weight, then comes a line for each feature.
        The last column, differs, counts the neighbours whose value differs from the query's: a number by more than
        ``tolerance`` times the column's standard deviation in ``train``, anything else if it is not the same; dates
        count as numbers, and a missing value differs from all others.

        Parameters
        ----------
        query : number of the query.
        largest : how many neighbours to show.
        tolerance : standard deviations by which a number may be off.
        """
        if self.train is None or not self.train.columns.names:
            raise DSNAError("The rows' own values are unknown: call explain(X, train=frame) with the training rows.")
        return self.comparison(query, largest).frame(tolerance)

    def report(self, query: int = 0, largest: int = 5, tolerance: float = TOLERANCE, features: int = 20) -> str:
        """The same comparison as text for a terminal, with an asterisk at every value that differs.

        Neighbours stand by what they add to the decision: their weight, times what the decision counts their class.

        Parameters
        ----------
        query, largest, tolerance : as in ``compare``.
        features : how many features to show; of more, those that differ most.
        """
        one = self[query]
        lines = [as_heading(f"{self.name_of(query)}: predicted {one.verdict()}"), one.part_shown(largest)]
        lines += [self.comparison(query, largest).text(tolerance, features)]
        if one.voices is not None:
            lines += [opinion_line(one.voices, one.opinion_odds()[0], one.logits)]
        if self.train is None or not self.train.columns.names:
            lines += [values_unknown()]
        return "\n".join(lines)

    def plot(self, query: int = 0, largest: int = 15, ax: Any = None, output: int = 0) -> Any:
        """Draw the rows that add most to the decision and, in a second panel, what all weights say together.

        Nothing is shown or saved: ``why.plot().figure.savefig("why.png")``.

        Parameters
        ----------
        query : number of the query.
        largest : how many rows to draw.
        ax : matplotlib axes for the rows, or a pair, for the rows and the decision; None makes a figure of both.
        output : of several outputs the one that gives the colours and the axis of the decision.

        Returns
        -------
        matplotlib.axes.Axes
            The axes of the rows; the panel of the decision is ``ax.figure.axes[1]``.
        """
        return draw(self, query, largest, ax, output)

    def ordered(self, by_weight: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """(n, M) places by weight times factor of the class, or weight; (n,) how many have a weight or coefficient."""
        used = self._inside() & ((self.coefficient != 0.0) | (self.weight != 0.0))
        size = np.abs(self.weight)
        added = size * (1.0 if by_weight else self._factors())
        return np.lexsort((-np.abs(self.coefficient), -size, -added, ~used), axis=1), used.sum(axis=1)

    def _factors(self) -> np.ndarray:
        """(n, M) how much the decision counts the class of each row; ones in regression and for votes."""
        if self.classes is None or self.gain is None or self.votes is not None:
            return np.ones(self.weight.shape)
        return class_factors(self.gain)[np.minimum(np.searchsorted(self.classes, self.label), len(self.classes) - 1)]

    def part_of_weight(self, largest: int) -> float:
        """Share of the first ``largest`` rows of the first query, as ``ordered``, in the sizes of all its weights."""
        size = np.abs(self.weight[0])
        return float(size[self.ordered()[0][0, :largest]].sum() / max(size.sum(), 1e-300))

    def part_shown(self, largest: int) -> str:
        """How many rows of the first query are shown, in which order, and with which part of the weight."""
        used = int(self.ordered()[1][0])
        counted = self._factors()[0, : self.size[0]]
        by = " by what they add to the decision" if len(np.unique(counted)) > 1 else ""
        if by and self.threshold is not None and 0.0 < self.threshold.probability < 1.0:
            odds = 1.0 / self.threshold.probability - 1.0
            by += f" (rows of {said(self.threshold.rare_class)} count {odds:.3g} times)"
        part = f"{self.part_of_weight(largest):.0%} of the weight"
        return f"{min(largest, used)} of {used} training rows{by}, with {part}"

    def verdict(self) -> str:
        """Prediction for the first query in words."""
        predicted = said(self.predict_shown()[0])
        if self.extrapolated is not None and self.extrapolated[0]:
            predicted += " (extrapolated: past the training rows along the trend)"
        if self.classes is None:
            return predicted
        from_on = "" if self.threshold is None else f"; {self.threshold}"
        return f"{predicted} (probability {self.predict_proba()[0, self._chosen()[0]]:.3g}{from_on})"

    def name_of(self, query: int) -> str:
        """What a query is called."""
        return f"query {range(len(self))[query]}" if self.names is None else str(self.names[query])

    def row_names(self, query: int, places: np.ndarray) -> list[str]:
        """Identifiers of the rows at some places of a query, or their numbers where they have none."""
        ids = self._ids(self.rows[query, places])
        numbers = self._numbers(query, places)
        return [str(row) if ids is None or is_missing(ids[k]) else said(ids[k]) for k, row in enumerate(numbers)]

    def _numbers(self, query: int, places: np.ndarray) -> np.ndarray:
        return np.asarray((self.rows if self.numbers is None else self.numbers)[query, places])

    def _inside(self) -> np.ndarray:
        return np.arange(self.rows.shape[1]) < self.size[:, None]

    def _ids(self, rows: np.ndarray) -> np.ndarray | None:
        return None if self.train is None else self.train.at(rows).id

    def comparison(self, query: int, largest: int) -> Comparison:
        """A query and the neighbours that add most to its decision, with their values where these are known."""
        one = self[query]
        order, number = one.ordered()
        places = order[0, : min(largest, number[0])]
        rows = one.rows[0, places]
        header: dict[str, list[Any]] = {}
        ids = one._ids(rows)
        if self.train is not None and ids is not None:
            own = None if one.queries is None or one.queries.id is None else one.queries.id[0]
            header[self.train.id_name] = [own, *ids]
        predicted = label_columns("label", one.predict())
        for name, column in label_columns("label", one.label[0, places]).items():
            header[name.replace("label", "target" if one.classes is None else "class")] = [predicted[name][0], *column]
        if one.carried is not None:
            carried = label_columns("carried", one.carried[0, places])
            header |= {name: [None, *column] for name, column in carried.items()}
        header["weight"] = [None, *one.weight[0, places]]
        columns = [self.name_of(query), *(f"row {row}" for row in one._numbers(0, places))]
        features, away = compare_features(one.queries, self.train, rows)
        decimals = None if one.classes is not None else decimals_of(one.label)
        return Comparison(columns=columns, header=header, features=features, away=away, decimals=decimals)
