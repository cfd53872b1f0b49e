"""TableEncoder: data frames as people have them -> a matrix of finite numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from .._utils.errors import DSNAError, setting, warn_caller
from .._utils.parameters import CheckedEstimator, at_least
from .cells import InputColumns, Unreadable
from .column_types import ColumnType, TypeSpec, check_types
from .encoders import ENCODERS, ColumnEncoder, Filling, Notes, Settings, telling_gaps
from .files.delimited import few
from .kept_rows import KeptRows
from .notation import Notation


class TableWarning(UserWarning):
    """Something about a table that was mended and should not pass unseen.

    Examples
    --------
    >>> import warnings
    >>> from dsna.tables import TableWarning
    >>> warnings.simplefilter("ignore", TableWarning)
    """


class TableEncoder(TransformerMixin, CheckedEstimator):
    """Encode a table of numbers, booleans, categories, ordered text, dates and free text as finite numbers.

    Takes pandas, polars and Arrow frames, others that narwhals knows, and 2-D arrays. Nothing is learned from the
    target, and all that is learned comes from the rows given to ``fit``.

    - Numbers stay as they are, also where they are written as text; booleans become 0 and 1.
    - Each frequent category gets a column of 0 and 1. Rare categories share one, which new ones join. Of a column with
      more than ``max_categories``, another column holds the share of training rows of each category.
    - Ordered text, such as low, medium and high, becomes its rank.
    - Dates become year, month, weekday and hour, as far as these vary, and the days up to the newest date of training.
    - Free text becomes its length and counts of its words, hashed into ``text_columns`` columns.
    - Missing numbers are filled in with what the other numbers of the row suggest, as if all were jointly normal; a
      missing category is none of the categories. Where values were missing in training, one more column says which,
      unless they are missing at random (see ``indicators``).
    - Identifiers that are text, columns of one value and columns without any are left out.

    At ``transform``, columns are found by name: further ones are ignored with a warning, missing ones refused.

    Parameters
    ----------
    types : dict, default=None
        Type of some columns, in place of what is inferred from all of their cells: "number" ("number:point" and
        "number:comma" for text with this decimal sign), "boolean", "category", "date" ("date:dmy" and "date:mdy" for
        text with the day or the month first), "text", "identifier", or the levels of ordered text, the lowest first.
        Columns of arrays are called x0, x1, ...
    max_categories : int, default=20
        Most categories of a column that get columns of their own.
    min_rows : int, default=2
        Fewest training rows of a category that gets a column of its own.
    text_columns : int, default=16
        Columns into which the words of free text are hashed.
    indicators : {"auto", True, False}, default="auto"
        Whether a column says where numbers, booleans and ordered text were missing: always, never, or ("auto") where
        gaps go with other columns or their gaps. Gaps at random tell nothing, and a column of them is noise. Missing
        categories, dates and texts always have a column.
    target, drop : str and list of str, default=None
        The target column and others that are not used; frames may hold them.
    keep_rows : bool, default=False
        Whether ``fit`` keeps its rows, but for the target, in their own values: for explanations and `dsna.save`.

    Attributes
    ----------
    n_features_in_ : int
        Number of columns seen in ``fit``, without the target and those dropped.
    feature_names_in_ : array of str
        Their names, where the input has names.
    types_ : dict
        Type of each column, as ``types`` takes it.
    unreadable_ : array of float, (n_features_in_,)
        Share of the cells of each column that held something else than its type.
    source_columns_ : array of int, (n_columns_out,)
        Number of the input column that each output column comes from.
    notes_ : list of str
        What was guessed or left out in ``fit``, a line each.
    rows_ : KeptRows or None
        The rows given to ``fit``, in their own values; None where they are not kept.

    See Also
    --------
    dsna.tables.read_file : Read a file as a typed table.
    dsna.inspection.explain : Explain predictions of a pipeline in its input's own columns.

    Examples
    --------
    >>> import pandas as pd
    >>> from dsna.tables import TableEncoder
    >>> frame = pd.DataFrame(
    ...     {
    ...         "age": [31, None, 45, 52],
    ...         "smokes": ["yes", "no", "no", "yes"],
    ...         "pain": ["low", "high", "medium", "low"],
    ...         "ward": ["A", "B", "A", "B"],
    ...     }
    ... )
    >>> encoder = TableEncoder(indicators=True).fit(frame)
    >>> encoder.get_feature_names_out().tolist()
    ['age', 'age=(missing)', 'smokes', 'pain', 'ward=A', 'ward=B']
    >>> encoder.transform(frame).tolist()[1]
    [45.0, 1.0, 0.0, 2.0, 0.0, 1.0]
    >>> encoder.types_["pain"]
    ['low', 'medium', 'high']
    """

    _parameter_constraints: dict[str, list[Any]] = {
        "types": [Mapping, None],
        "max_categories": [at_least(1, 10_000)],
        "min_rows": [at_least(1)],
        "text_columns": [at_least(1, 10_000)],
        "indicators": [StrOptions({"auto"}), "boolean"],
        "target": [str, None],
        "drop": [list, tuple, None],
        "keep_rows": ["boolean"],
    }

    def __init__(
        self,
        types: Mapping[str, TypeSpec] | None = None,
        *,
        max_categories: int = 20,
        min_rows: int = 2,
        text_columns: int = 16,
        indicators: str | bool = "auto",
        target: str | None = None,
        drop: Sequence[str] | None = None,
        keep_rows: bool = False,
    ):
        self.types = types
        self.max_categories = max_categories
        self.min_rows = min_rows
        self.text_columns = text_columns
        self.indicators = indicators
        self.target, self.drop, self.keep_rows = target, drop, keep_rows

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn types, categories and what fills in missing values.

        Parameters
        ----------
        X : data frame or array of shape (n, n_columns)
        y : ignored

        Returns
        -------
        self
        """
        self._fit(X)
        return self

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> np.ndarray:
        """Fit to ``X`` and encode it; each column is read once.

        Parameters
        ----------
        X : data frame or array of shape (n, n_columns)
        y : ignored
        **fit_params : none

        Returns
        -------
        array of shape (n, n_columns_out)
        """
        return self._fit(X)

    def _fit(self, X: Any) -> np.ndarray:
        """Learn from the cells, which are returned as encoded."""
        self._validate_params()
        given = self._used(X)
        types = check_types(self.types, given.names)
        settings = Settings(self.max_categories, self.min_rows, self.text_columns)
        notes = Notes()
        notation = Notation(options=("types",))
        self._columns: list[ColumnEncoder] = []
        encoded = []
        self.types_ = {}
        for place in range(len(given.names)):
            cells = given.read(place)
            kind = types.get(cells.name) or cells.type()
            if kind == ColumnType("number"):
                cells = given.written(cells, kind, notation, types)
                kind = ColumnType("number", decimal=cells.way)
            self.types_[cells.name] = kind.spec
            self._columns.append(ENCODERS[kind.kind].fit(cells, kind, settings, notes))
            encoded.append(self._columns[-1].encode(cells, Notes()))
        if not any(one.shape[1] for one in encoded):
            single = " X has 1 sample." * (given.n_rows == 1)
            raise DSNAError(
                f"No column is left to learn from:{single} {'; '.join(notes.said)}. Add columns, or say how to read "
                f"one, such as {setting('types', 'category', given.names[0])}."
            )
        found = self._with_indicators(np.concatenate(encoded, axis=1), notes)
        self.n_features_in_ = len(given.names)
        if given.named:
            self.feature_names_in_ = np.array(given.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self.notes_ = notes.said
        self.unreadable_ = np.array([notes.unreadable.get(name, Unreadable()).share for name in self.types_])
        name = next((name for name, kind in self.types_.items() if kind == "identifier"), None)
        self.rows_ = KeptRows.of(X, without=self.target).identified_by(name) if self.keep_rows else None
        self._filling = Filling.fit(found, self._places_to_fill())
        self._filling.fill(found)
        return found

    def _with_indicators(self, encoded: np.ndarray, notes: Notes) -> np.ndarray:
        """Encoded columns without the indicators that ``indicators`` does not want; which they are is learned."""
        self._count_columns()
        fill = self._places_to_fill()
        gaps = [column for column in self._columns if column.filled]
        if self.indicators == "auto":
            wanted = telling_gaps(encoded, fill, self.source_columns_)
        else:
            wanted = np.full(len(fill), bool(self.indicators))
        unwanted = [column.indicator and not keep for column, keep in zip(gaps, wanted, strict=True)]
        left_out = fill[np.array(unwanted, dtype=bool)] + 1
        if len(left_out) and self.indicators == "auto":
            names = [list(self.types_)[self.source_columns_[place]] for place in left_out]
            notes.say(
                f"values are missing at random, as far as other columns tell, in {few(names)}: no column says where"
            )
        for column, keep in zip(gaps, wanted, strict=True):
            column.indicator = bool(column.indicator and keep)
        self._count_columns()
        return np.delete(encoded, left_out, axis=1)

    def _count_columns(self) -> None:
        """Which output columns come from which input column."""
        self.source_columns_ = np.repeat(np.arange(len(self._columns)), [len(one.suffixes()) for one in self._columns])

    def _places_to_fill(self) -> np.ndarray:
        """Output columns in which missing numbers are filled in: the first of each column of numbers."""
        numbers = [place for place, one in enumerate(self._columns) if one.filled]
        return np.searchsorted(self.source_columns_, numbers)

    def _used(self, X: Any) -> InputColumns:
        """The columns without the target and those that are dropped."""
        return InputColumns.of(X).without({self.target, *(self.drop or ())})

    def transform(self, X: Any) -> np.ndarray:
        """Encode rows.

        Parameters
        ----------
        X : data frame or array of shape (n, n_columns)

        Returns
        -------
        array of shape (n, n_columns_out)
            Finite numbers.
        """
        found, notes = self._encode(X)
        if notes.warnings:
            warn_caller("; ".join(notes.warnings), TableWarning)
        return found

    def transform_with_notes(self, X: Any) -> tuple[np.ndarray, list[str]]:
        """Encode rows, and say what about them is worth a note; nothing is warned of.

        Parameters
        ----------
        X : data frame or array of shape (n, n_columns)

        Returns
        -------
        encoded : array of shape (n, n_columns_out)
        notes : list of str
            Columns that were ignored, new categories, cells of another type.

        Examples
        --------
        >>> import pandas as pd
        >>> from dsna.tables import TableEncoder
        >>> encoder = TableEncoder().fit(pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]}))
        >>> encoder.transform_with_notes(pd.DataFrame({"a": [1.0], "b": ["z"]}))[1]
        ["column 'b': 1 rows hold categories that training had not, such as 'z'"]
        """
        found, notes = self._encode(X)
        return found, notes.said

    def transform_with_counts(self, X: Any) -> tuple[np.ndarray, list[str], dict[str, Unreadable]]:
        """Encode rows as :meth:`transform_with_notes` does; cells that cannot be read are counted, and not refused.

        Parameters
        ----------
        X : data frame or array of shape (n, n_columns)

        Returns
        -------
        encoded, notes, unreadable : array, list of str, and dict of the cells of another type by column

        Examples
        --------
        >>> import pandas as pd
        >>> from dsna.tables import TableEncoder
        >>> encoder = TableEncoder().fit(pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]}))
        >>> encoder.transform_with_counts(pd.DataFrame({"a": ["1", "?!"], "b": ["x", "y"]}))[2]["a"].share
        0.5
        """
        found, notes = self._encode(X, lenient=True)
        return found, notes.said, notes.unreadable

    def _encode(self, X: Any, lenient: bool = False) -> tuple[np.ndarray, Notes]:
        check_is_fitted(self)
        given = self._used(X)
        notes = Notes(lenient=lenient)
        types = {name: ColumnType.of(spec, name) for name, spec in self.types_.items()}
        notation = Notation(learned=types, options=("types",))
        names = getattr(self, "feature_names_in_", None)
        places = given.places(names, self.n_features_in_, type(self).__name__, notes.warn)
        encoded = []
        for name, column, place in zip(types, self._columns, places, strict=True):
            cells = replace(given.read(place), name=name)
            encoded.append(column.encode(given.written(cells, types[name], notation, types), notes))
        notation.check()
        found = np.concatenate(encoded, axis=1)
        self._filling.fill(found)
        return found, notes

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the output columns: the input column, and what of it a column holds.

        Parameters
        ----------
        input_features : array of str, optional
            Names of the input columns, where they had none in ``fit``; otherwise they must be those.

        Returns
        -------
        array of str
        """
        check_is_fitted(self)
        names = list(self.types_)
        known = getattr(self, "feature_names_in_", None)
        if input_features is not None:
            given = [str(name) for name in input_features]
            if known is not None and given != list(known):
                raise ValueError("input_features is not equal to feature_names_in_")
            if len(given) != len(names):
                raise ValueError(f"input_features should have length equal to number of features ({len(names)})")
            names = given
        found: list[str] = []
        taken: set[str] = set()
        for name, column in zip(names, self._columns, strict=True):
            for suffix in column.suffixes():
                title = name + suffix
                while title in taken:
                    title += "'"
                taken.add(title)
                found.append(title)
        return np.array(found, dtype=object)

    def sum_by_column(self, values: Any) -> dict[str, float]:
        """Sum numbers of the output columns, such as importances, by the input columns that they come from.

        Parameters
        ----------
        values : array of shape (n_columns_out,)

        Returns
        -------
        dict of float by column

        Examples
        --------
        >>> import pandas as pd
        >>> from dsna.tables import TableEncoder
        >>> encoder = TableEncoder().fit(pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]}))
        >>> encoder.sum_by_column([0.5, 0.25, 0.25])
        {'a': 0.5, 'b': 0.5}
        """
        check_is_fitted(self)
        given = np.asarray(values, dtype=np.float64)
        if given.shape != self.source_columns_.shape:
            raise DSNAError(
                f"values has shape {given.shape}; one for each of {len(self.source_columns_)} columns is needed."
            )
        sums = np.bincount(self.source_columns_, weights=given, minlength=len(self.types_))
        return dict(zip(self.types_, sums.tolist(), strict=True))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags
