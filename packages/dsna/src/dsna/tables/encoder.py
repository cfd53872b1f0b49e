"""Transformer from data frames of mixed types to a matrix of finite numbers."""

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
from .encoders import ENCODERS, ColumnEncoder, EncoderSettings, Filling, Notes, informative_gaps
from .files.delimited import few
from .kept_rows import KeptRows
from .notation import Notation


class TableWarning(UserWarning):
    """Warning about an irregularity of a table that was repaired.

    Examples
    --------
    >>> import warnings
    >>> from dsna.tables import TableWarning
    >>> warnings.simplefilter("ignore", TableWarning)
    """


class TableEncoder(TransformerMixin, CheckedEstimator):
    """Encode a table of numbers, booleans, categories, ordered text, dates and free text as finite numbers.

    The input is a pandas, polars or Arrow frame, another frame that narwhals supports, or a 2-D array. The encoder
    learns only from the rows given to ``fit``, and never from the target.

    - Numbers, including those written as text, are unchanged; booleans become 0 and 1.
    - Each frequent category gets a column of 0 and 1. Rare and new categories share one. If a column has more than
      ``max_categories`` categories, another column holds the share of training rows of each category.
    - Ordered text, such as low, medium and high, becomes its rank.
    - Dates become year, month, weekday and hour, where these vary, and the number of days before the newest training
      date.
    - Free text becomes its length and counts of its words, hashed into ``text_columns`` columns.
    - Missing numbers are imputed from the other numbers of their row, as if all were jointly normal; a missing
      category has zeros in all columns of categories. If values were missing in training, another column marks them,
      unless they are missing at random (see ``indicators``).
    - Text identifiers, constant columns and empty columns are left out.

    ``transform`` finds columns by name, warns of additional columns, and refuses tables that lack columns.

    Parameters
    ----------
    types : dict, default=None
        Types of some columns, instead of those inferred from all of their cells: "number" ("number:point" and
        "number:comma" for text with this decimal sign), "boolean", "category", "date" ("date:dmy" and "date:mdy" for
        text with the day or the month first), "text", "identifier", or the levels of ordered text, the lowest first.
        Columns of arrays are called x0, x1, ...
    max_categories : int, default=20
        Maximum number of categories of a column that get columns of their own.
    min_rows : int, default=2
        Minimum number of training rows of a category that gets a column of its own.
    text_columns : int, default=16
        Number of columns into which the words of free text are hashed.
    indicators : {"auto", True, False}, default="auto"
        Whether additional columns mark missing numbers, booleans and ordered text: always, never, or ("auto") if gaps
        are correlated with other columns or their gaps. Gaps at random carry no information, and marking them adds
        noise. Missing categories, dates and texts are always marked.
    target, drop : str and list of str, default=None
        The target column and other columns that are not used; frames may contain them.
    keep_rows : bool, default=False
        Whether ``fit`` keeps the original values of its rows, except the target, for explanations and `dsna.save`.

    Attributes
    ----------
    n_features_in_ : int
        Number of columns seen in ``fit``, without the target and those dropped.
    feature_names_in_ : array of str
        Their names, if the input has names.
    types_ : dict
        Type of each column, as ``types`` takes it.
    unreadable_ : array of float, (n_features_in_,)
        Share of the cells of each column that could not be read as its type.
    source_columns_ : array of int, (n_columns_out,)
        Index of the input column of each output column.
    notes_ : list of str
        A line for each guess and each column left out in ``fit``.
    rows_ : KeptRows or None
        The rows given to ``fit`` with their original values; None if they are not kept.

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
        """Learn types, categories and the imputation of missing values.

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
        """Fit to ``X`` and return it encoded."""
        self._validate_params()
        table = self._used_columns(X)
        types = check_types(self.types, table.names)
        settings = EncoderSettings(self.max_categories, self.min_rows, self.text_columns)
        notes = Notes()
        notation = Notation(options=("types",))
        self._columns: list[ColumnEncoder] = []
        encoded_columns = []
        self.types_ = {}
        for j in range(len(table.names)):
            cells = table.read(j)
            column_type = types.get(cells.name) or cells.type()
            if column_type == ColumnType("number"):
                cells = table.with_notation(cells, column_type, notation, types)
                column_type = ColumnType("number", decimal=cells.way)
            self.types_[cells.name] = column_type.spec
            self._columns.append(ENCODERS[column_type.kind].fit(cells, column_type, settings, notes))
            encoded_columns.append(self._columns[-1].encode(cells, Notes()))
        if not any(columns.shape[1] for columns in encoded_columns):
            single_row = " X has 1 sample." * (table.n_rows == 1)
            raise DSNAError(
                f"No column is left to learn from:{single_row} {'; '.join(notes.messages)}. Add columns, or say how to "
                f"read one, such as {setting('types', 'category', table.names[0])}."
            )
        encoded = self._select_indicators(np.concatenate(encoded_columns, axis=1), notes)
        self.n_features_in_ = len(table.names)
        if table.has_names:
            self.feature_names_in_ = np.array(table.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self.notes_ = notes.messages
        self.unreadable_ = np.array([notes.unreadable.get(name, Unreadable()).share for name in self.types_])
        id_column = next((name for name, spec in self.types_.items() if spec == "identifier"), None)
        self.rows_ = KeptRows.of(X, without=self.target).identified_by(id_column) if self.keep_rows else None
        self._filling = Filling.fit(encoded, self._columns_to_fill())
        self._filling.fill(encoded)
        return encoded

    def _select_indicators(self, encoded: np.ndarray, notes: Notes) -> np.ndarray:
        """Learn which indicators of missing values to keep, and return the encoded columns without the others."""
        self._set_source_columns()
        to_fill = self._columns_to_fill()
        encoders = [encoder for encoder in self._columns if encoder.filled]
        if self.indicators == "auto":
            keep = informative_gaps(encoded, to_fill, self.source_columns_)
        else:
            keep = np.full(len(to_fill), bool(self.indicators))
        had_indicator = np.array([encoder.indicator for encoder in encoders], dtype=bool)
        dropped = to_fill[had_indicator & ~keep] + 1
        if len(dropped) and self.indicators == "auto":
            names = [list(self.types_)[self.source_columns_[column]] for column in dropped]
            notes.add(f"values are missing at random, as far as other columns tell, in {few(names)}: they get no marks")
        for encoder, indicator in zip(encoders, had_indicator & keep, strict=True):
            encoder.indicator = bool(indicator)
        self._set_source_columns()
        return np.delete(encoded, dropped, axis=1)

    def _set_source_columns(self) -> None:
        """Set the input column of each output column."""
        n_outputs = [len(encoder.suffixes()) for encoder in self._columns]
        self.source_columns_ = np.repeat(np.arange(len(self._columns)), n_outputs)

    def _columns_to_fill(self) -> np.ndarray:
        """Return the output columns in which missing numbers are imputed: the first one of each numeric column."""
        numeric = [j for j, encoder in enumerate(self._columns) if encoder.filled]
        return np.searchsorted(self.source_columns_, numeric)

    def _used_columns(self, X: Any) -> InputColumns:
        """Return the input columns without the target and the dropped columns."""
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
        encoded, notes = self._encode(X)
        if notes.warnings:
            warn_caller("; ".join(notes.warnings), TableWarning)
        return encoded

    def transform_with_notes(self, X: Any) -> tuple[np.ndarray, list[str]]:
        """Encode rows, and return notes about them instead of warning.

        Parameters
        ----------
        X : data frame or array of shape (n, n_columns)

        Returns
        -------
        encoded : array of shape (n, n_columns_out)
        notes : list of str
            Ignored columns, new categories and cells of a wrong type.

        Examples
        --------
        >>> import pandas as pd
        >>> from dsna.tables import TableEncoder
        >>> encoder = TableEncoder().fit(pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]}))
        >>> encoder.transform_with_notes(pd.DataFrame({"a": [1.0], "b": ["z"]}))[1]
        ["column 'b': 1 rows hold categories not seen in training, such as 'z'"]
        """
        encoded, notes = self._encode(X)
        return encoded, notes.messages

    def transform_with_counts(self, X: Any) -> tuple[np.ndarray, list[str], dict[str, Unreadable]]:
        """Encode rows like :meth:`transform_with_notes`, and count unreadable cells instead of refusing them.

        Parameters
        ----------
        X : data frame or array of shape (n, n_columns)

        Returns
        -------
        encoded : array of shape (n, n_columns_out)
        notes : list of str
        unreadable : dict of Unreadable by column

        Examples
        --------
        >>> import pandas as pd
        >>> from dsna.tables import TableEncoder
        >>> encoder = TableEncoder().fit(pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]}))
        >>> encoder.transform_with_counts(pd.DataFrame({"a": ["1", "?!"], "b": ["x", "y"]}))[2]["a"].share
        0.5
        """
        encoded, notes = self._encode(X, lenient=True)
        return encoded, notes.messages, notes.unreadable

    def _encode(self, X: Any, lenient: bool = False) -> tuple[np.ndarray, Notes]:
        check_is_fitted(self)
        table = self._used_columns(X)
        notes = Notes(lenient=lenient)
        types = {name: ColumnType.of(spec, name) for name, spec in self.types_.items()}
        notation = Notation(learned=types, options=("types",))
        names = getattr(self, "feature_names_in_", None)
        indices = table.match(names, self.n_features_in_, type(self).__name__, notes.warn)
        encoded_columns = []
        for name, encoder, j in zip(types, self._columns, indices, strict=True):
            cells = table.with_notation(replace(table.read(j), name=name), types[name], notation, types)
            encoded_columns.append(encoder.encode(cells, notes))
        notation.check()
        encoded = np.concatenate(encoded_columns, axis=1)
        self._filling.fill(encoded)
        return encoded, notes

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the output columns: the name of the input column with a suffix for its content.

        Parameters
        ----------
        input_features : array of str, optional
            Names of the input columns. If these had names in ``fit``, the names must be the same.

        Returns
        -------
        array of str
        """
        check_is_fitted(self)
        names = list(self.types_)
        fitted_names = getattr(self, "feature_names_in_", None)
        if input_features is not None:
            new_names = [str(name) for name in input_features]
            if fitted_names is not None and new_names != list(fitted_names):
                raise ValueError("input_features is not equal to feature_names_in_")
            if len(new_names) != len(names):
                raise ValueError(f"input_features should have length equal to number of features ({len(names)})")
            names = new_names
        output_names: dict[str, None] = {}
        for name, encoder in zip(names, self._columns, strict=True):
            for suffix in encoder.suffixes():
                output_name = name + suffix
                while output_name in output_names:
                    output_name += "'"
                output_names[output_name] = None
        return np.array(list(output_names), dtype=object)

    def sum_by_column(self, values: Any) -> dict[str, float]:
        """Sum values of the output columns, such as importances, by input column.

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
        array = np.asarray(values, dtype=np.float64)
        if array.shape != self.source_columns_.shape:
            raise DSNAError(
                f"values has shape {array.shape}; one for each of {len(self.source_columns_)} columns is needed."
            )
        sums = np.bincount(self.source_columns_, weights=array, minlength=len(self.types_))
        return dict(zip(self.types_, sums.tolist(), strict=True))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags
