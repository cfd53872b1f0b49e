"""Which of the planned methods are run: those named, or all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import Field, replace
from typing import Any, ClassVar, Protocol, TypeVar


class MethodError(ValueError):
    """A method is asked for that nobody knows.

    Examples
    --------
    >>> raise MethodError("There is no method nonsense; there are RF, CS-RF.")
    Traceback (most recent call last):
    dsna.studies.select_methods.MethodError: There is no method nonsense; there are RF, CS-RF.
    """


class _Planned(Protocol):
    """A data class with the methods that are to be run."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    @property
    def methods(self) -> tuple[str, ...]: ...


_Experiment = TypeVar("_Experiment", bound=_Planned)


def choose(
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
    >>> from dsna.studies.pose.plan import Experiment
    >>> planned = [Experiment("table", [], ("RF", "CS-RF"), ()), Experiment("gap", [], ("CS-RF (mean)",), ())]
    >>> [one.methods for one in choose(planned, ["RF"], tables=("RF", "CS-RF"))]
    [('RF',)]
    >>> [one.methods for one in choose(planned, [], tables=("RF", "CS-RF"))]
    [('RF', 'CS-RF'), ('CS-RF (mean)',)]
    >>> choose(planned, ["nonsense"], tables=("RF", "CS-RF"))
    Traceback (most recent call last):
    dsna.studies.select_methods.MethodError: There is no method nonsense; there are RF, CS-RF.
    """
    known = {*tables, *others}
    unknown = [name for name in asked if name not in known]
    if unknown:
        raise MethodError(f"There is no method {', '.join(unknown)}; there are {', '.join(tables)}.")
    if not asked:
        return list(experiments)
    picked = [replace(one, methods=tuple(m for m in one.methods if m in asked)) for one in experiments]
    left = [one for one in picked if one.methods]
    if not left:
        raise MethodError(f"{', '.join(asked)}: not part of this run. Sweeps are left out with --quick.")
    return left
