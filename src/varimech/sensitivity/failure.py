"""Failure of a system of limits: at least one limit is exceeded (`any_of`), or all of them
(`all_of`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ..core.errors import ModelError
from ..core.names import check_name
from .comparison import Constraint


@dataclass(frozen=True, eq=False)
class SystemEvent:
    """Several comparisons as one event; created by `any_of` and `all_of`."""

    kind: Literal["any", "all"]
    """Whether the event occurs if any comparison holds, or only if all of them hold."""
    limits: Mapping[str, Constraint]
    """Comparisons by name."""

    @property
    def series(self) -> bool:
        """Whether it is a series system: exceeding one limit is enough."""
        return self.kind == "any"

    def __bool__(self) -> bool:
        raise ModelError(
            "an event is neither true nor false", remedy="give it to probability(…) of a study"
        )


def any_of(*limits: Constraint, **named: Constraint) -> SystemEvent:
    """The event that at least one of several limits is exceeded (a series system).

    Args:
        limits: comparisons such as `vm.peak(h) >= 3.0`; they are called limit 1, limit 2, …
        named: comparisons by name.

    Returns:
        The event, for `GlobalStudy.probability` and `Problem.reliability`.

    Raises:
        ModelError: unless there are two comparisons or more.

    >>> import varimech as vm
    >>> force, gap = vm.peak("norm(reaction('A'))", unit="N"), vm.lowest("distance('gap')", unit="m")
    >>> vm.any_of(strength=force >= 500.0, collision=gap <= 0.001).kind
    'any'
    """
    return _system("any", limits, named)


def all_of(*limits: Constraint, **named: Constraint) -> SystemEvent:
    """The event that several limits are exceeded in the same run, not necessarily at the same time
    (a parallel system).

    Args:
        limits, named: as for `any_of`.

    Returns:
        The event, for `GlobalStudy.probability` and `Problem.reliability`.

    Raises:
        ModelError: unless there are two comparisons or more.
    """
    return _system("all", limits, named)


def _system(
    kind: Literal["any", "all"], limits: tuple[Any, ...], named: dict[str, Any]
) -> SystemEvent:
    every = {f"limit {k + 1}": limit for k, limit in enumerate(limits)}
    for name in named:
        check_name("limit", name, without="")
        if name in every:
            raise ModelError(
                "is the name of a comparison without one",
                element=f"{kind}_of",
                value=name,
                field="name",
                remedy="name all of them",
            )
    every |= named
    for name, limit in every.items():
        if isinstance(limit, SystemEvent):
            problem = f"{name!r} is a system itself, and systems are not nested"
            remedy = "state the limits of one system, and ask for each system by itself"
            raise ModelError(problem, element=f"{kind}_of", remedy=remedy)
        if not isinstance(limit, Constraint):
            problem = "is not a comparison"
            raise ModelError(
                problem,
                element=f"{kind}_of",
                field=name,
                value=limit,
                remedy="compare an objective with a number, as in ψ >= 3.0",
            )
    if len(every) < 2:
        remedy = "give two or more, or the comparison alone"
        raise ModelError(
            f"a system has several limits, not {len(every)}", element=f"{kind}_of", remedy=remedy
        )
    return SystemEvent(kind, every)
