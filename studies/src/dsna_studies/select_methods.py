"""Selection of methods by name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import Field, replace
from typing import Any, ClassVar, Protocol, TypeVar

from dsna import DSNAError


class MethodError(DSNAError):
    """A method that does not exist, or is not part of the run.

    Examples
    --------
    >>> raise MethodError("There is no method nonsense; there are RF, CS-RF.")
    Traceback (most recent call last):
    dsna_studies.select_methods.MethodError: There is no method nonsense; there are RF, CS-RF.
    """


class _Planned(Protocol):
    """A data class with a field ``methods``."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    @property
    def methods(self) -> tuple[str, ...]: ...


_Experiment = TypeVar("_Experiment", bound=_Planned)


def check_names(requested: Iterable[str], listed: Sequence[str], unlisted: Sequence[str] = ()) -> None:
    """Raise an error that names the listed methods if a requested name is neither listed nor unlisted.

    Examples
    --------
    >>> check_names(["RF"], ("RF", "CS-RF"))
    >>> check_names(["nonsense"], ("RF", "CS-RF"))
    Traceback (most recent call last):
    dsna_studies.select_methods.MethodError: There is no method nonsense; there are RF, CS-RF.
    """
    unknown = [name for name in requested if name not in {*listed, *unlisted}]
    if unknown:
        raise MethodError(f"There is no method {', '.join(unknown)}; there are {', '.join(listed)}.")


def select_methods(
    experiments: Iterable[_Experiment],
    requested: Sequence[str],
    table_methods: Sequence[str],
    unlisted: Sequence[str] = (),
) -> list[_Experiment]:
    """Reduce experiments to the requested methods; return all of them if none is requested.

    Parameters
    ----------
    experiments : iterable of data classes with a field ``methods``
    requested : sequence of str
        Names; empty: all.
    table_methods : sequence of str
        Methods of the tables, which an error lists.
    unlisted : sequence of str, default=()
        Other methods that can be requested, such as the settings of a sweep; they are too many to list.

    Returns
    -------
    list
        Copies of the experiments with at least one requested method, in order.

    Raises
    ------
    MethodError
        If a name is unknown, or no requested method is part of the experiments.

    Examples
    --------
    >>> from dsna_studies.pictures.experiments import Experiment
    >>> planned = [Experiment("table", [], ("RF", "CS-RF"), ()), Experiment("gap", [], ("CS-RF (mean)",), ())]
    >>> [experiment.methods for experiment in select_methods(planned, ["RF"], ("RF", "CS-RF"))]
    [('RF',)]
    >>> [experiment.methods for experiment in select_methods(planned, [], ("RF", "CS-RF"))]
    [('RF', 'CS-RF'), ('CS-RF (mean)',)]
    >>> select_methods(planned, ["nonsense"], ("RF", "CS-RF"))
    Traceback (most recent call last):
    dsna_studies.select_methods.MethodError: There is no method nonsense; there are RF, CS-RF.
    """
    check_names(requested, table_methods, unlisted)
    if not requested:
        return list(experiments)
    reduced = [
        replace(experiment, methods=tuple(method for method in experiment.methods if method in requested))
        for experiment in experiments
    ]
    non_empty = [experiment for experiment in reduced if experiment.methods]
    if not non_empty:
        raise MethodError(f"{', '.join(requested)}: not part of this run. Sweeps are left out with --quick.")
    return non_empty
