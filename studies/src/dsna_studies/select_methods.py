"""Which of the planned methods are run: those named, or all."""

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
    """A data class with the methods that are to be run."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    @property
    def methods(self) -> tuple[str, ...]: ...


_Experiment = TypeVar("_Experiment", bound=_Planned)


def check_names(asked: Iterable[str], shown: Sequence[str], others: Sequence[str] = ()) -> None:
    """Raise an error that names the methods shown where one is asked for that is neither among them nor the others.

    Examples
    --------
    >>> check_names(["RF"], ("RF", "CS-RF"))
    >>> check_names(["nonsense"], ("RF", "CS-RF"))
    Traceback (most recent call last):
    dsna_studies.select_methods.MethodError: There is no method nonsense; there are RF, CS-RF.
    """
    unknown = [name for name in asked if name not in {*shown, *others}]
    if unknown:
        raise MethodError(f"There is no method {', '.join(unknown)}; there are {', '.join(shown)}.")


def select_methods(
    experiments: Iterable[_Experiment], asked: Sequence[str], tables: Sequence[str], others: Sequence[str] = ()
) -> list[_Experiment]:
    """Experiments with the methods asked for only; all of them where none is named.

    Parameters
    ----------
    experiments : iterable of data classes with a field ``methods``
    asked : sequence of str
        Names; empty: all.
    tables : sequence of str
        Methods of the tables, which an error names.
    others : sequence of str, default=()
        Methods that can be asked for as well, such as the settings of a sweep; there are too many to name.

    Returns
    -------
    list
        Copies, in the order given, of the experiments that have methods left.

    Raises
    ------
    MethodError
        Where a name is neither among the tables nor among the others, or none of them is part of the experiments.

    Examples
    --------
    >>> from dsna_studies.pictures.experiments import Experiment
    >>> planned = [Experiment("table", [], ("RF", "CS-RF"), ()), Experiment("gap", [], ("CS-RF (mean)",), ())]
    >>> [one.methods for one in select_methods(planned, ["RF"], tables=("RF", "CS-RF"))]
    [('RF',)]
    >>> [one.methods for one in select_methods(planned, [], tables=("RF", "CS-RF"))]
    [('RF', 'CS-RF'), ('CS-RF (mean)',)]
    >>> select_methods(planned, ["nonsense"], tables=("RF", "CS-RF"))
    Traceback (most recent call last):
    dsna_studies.select_methods.MethodError: There is no method nonsense; there are RF, CS-RF.
    """
    check_names(asked, tables, others)
    if not asked:
        return list(experiments)
    picked = [replace(one, methods=tuple(m for m in one.methods if m in asked)) for one in experiments]
    left = [one for one in picked if one.methods]
    if not left:
        raise MethodError(f"{', '.join(asked)}: not part of this run. Sweeps are left out with --quick.")
    return left
