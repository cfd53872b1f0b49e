"""Plots of errors; they show no heads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

_COLOURS = {
    "RF": "0.6",
    "kernel ridge": "tab:blue",
    "KRF (two means)": "tab:green",
    "CS-RF": "tab:orange",
    "CS-RF+AH": "tab:purple",
    "CS-RF+DSNA": "crimson",
    "CS-RF+DSNA (balanced)": "black",
}


def plot_pitch(errors: Mapping[str, Mapping[float, float]]) -> Any:
    """Plot the mean absolute pitch error at each pitch angle, a line for each method (the paper's Fig. 9a).

    Examples
    --------
    >>> len(plot_pitch({"RF": {-90.0: 20.0, 0.0: 3.0, 90.0: 18.0}}).axes[0].lines)
    1
    """
    figure, ax = _axes()
    for method, error_of_angle in errors.items():
        ax.plot(
            range(len(error_of_angle)), list(error_of_angle.values()), "o-", label=method, color=_COLOURS.get(method)
        )
        ax.set_xticks(range(len(error_of_angle)), [f"{angle:+.0f}" for angle in error_of_angle])
    ax.set(xlabel="pitch, degrees", ylabel="mean absolute pitch error, degrees")
    ax.legend(frameon=False)
    return figure


def plot_removal(errors: pd.DataFrame, spread: pd.DataFrame) -> Any:
    """Plot the pitch error against the share of pictures removed, a line for each method (Fig. 9b).

    Parameters
    ----------
    errors, spread : data frames
        Methods in rows, shares removed in columns: means over seeds, and standard deviations.

    Returns
    -------
    matplotlib Figure

    Examples
    --------
    >>> errors = pd.DataFrame({0.1: [5.0], 0.2: [6.0]}, index=["RF"])
    >>> len(plot_removal(errors, errors / 10).axes)
    1
    """
    figure, ax = _axes()
    for method in errors.index:
        bars = {"yerr": spread.loc[method], "capsize": 2, "color": _COLOURS.get(method)}
        ax.errorbar(100 * np.array(errors.columns, dtype=float), errors.loc[method], fmt="o-", label=method, **bars)
    ax.set(xlabel="training pictures removed, %", ylabel="mean absolute pitch error, degrees")
    ax.legend(frameon=False)
    return figure


def _axes() -> tuple[Any, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 3.8), layout="constrained")
    ax = figure.subplots()
    ax.grid(alpha=0.3)
    return figure, ax
