"""Sweeps that vary one parameter at a time, and their plot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Values = Mapping[str, Sequence[Any]]


def settings(swept: Values) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the name and parameters of each setting of a sweep over parameters of the forest.

    Examples
    --------
    >>> list(settings({"max_depth": (5, 10)}))
    [('max_depth=5', {'forest__max_depth': 5}), ('max_depth=10', {'forest__max_depth': 10})]
    """
    for name, values in swept.items():
        for value in values:
            yield f"{name}={value}", {f"forest__{name}": value}


def setting_of(method: str) -> str:
    """Extract the setting from the name of a method.

    Examples
    --------
    >>> setting_of("CS-RF+DSNA (max_depth=5)")
    'max_depth=5'
    """
    return method.partition("(")[2].removesuffix(")")


def plot_sweeps(swept: Values, errors: Mapping[str, float], marked_values: Mapping[str, Any], ylabel: str) -> Any:
    """Plot errors against the values of each parameter in a panel, with the chosen value in red.

    Parameters
    ----------
    swept : mapping from parameters to values
    errors : mapping from the names of settings to errors
        Settings that are missing are left out.
    marked_values : mapping from parameters to the values to mark
    ylabel : str

    Returns
    -------
    matplotlib Figure

    Examples
    --------
    >>> figure = plot_sweeps(
    ...     {"max_depth": (5, 10)}, {"max_depth=5": 4.5, "max_depth=10": 4.2}, {"max_depth": 10}, "MAE"
    ... )
    >>> len(figure.axes)
    1
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(3.6 * len(swept), 3.2), layout="constrained")
    panels = figure.subplots(1, len(swept), squeeze=False, sharey=True)[0]
    for ax, (name, values) in zip(panels, swept.items(), strict=True):
        values_with_errors = [value for value in values if f"{name}={value}" in errors]
        value_errors = [errors[f"{name}={value}"] for value in values_with_errors]
        ax.plot(range(len(values_with_errors)), value_errors, "o-", color="0.3")
        if marked_values.get(name) in values_with_errors:
            marked = values_with_errors.index(marked_values[name])
            ax.plot(marked, value_errors[marked], "o", color="crimson", markersize=9)
        ax.set_xticks(range(len(values_with_errors)), [str(value) for value in values_with_errors])
        ax.set_xlabel(name.replace("_", " "))
        ax.grid(alpha=0.3)
    panels[0].set_ylabel(ylabel)
    return figure
