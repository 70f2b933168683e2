"""Limits of objectives in the space of independent standard normal variables, and systems of
limits.

A limit is a function of u that is nonnegative where the limit is exceeded. A path is exceeded at
any time of a run, so its limit is one of its largest or smallest value: first passage by extrema,
which are located between steps, not by instants. The complement of a system is a system as well:

    not (A or B) = (not A) and (not B).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..core.errors import ModelError
from ..core.messages import Call, Message
from ..optimization.quantities import Goal, Path, Peak, peak
from ..sensitivity.comparison import Comparable, Constraint
from ..sensitivity.failure import SystemEvent
from ..sensitivity.objective import LOWEST, Objective, lowest
from ..sensitivity.stability_objective import StabilityObjective

if TYPE_CHECKING:
    from .global_study import GlobalStudy


PRIME = "′"
"""Appended to the names of several objectives of the same kind that have no name of their own."""


@dataclass(eq=False)
class Limit:
    """The limit of one objective; its function is nonnegative where the limit is exceeded."""

    study: GlobalStudy
    name: str
    """Description of the event, such as "psi1 ≥ 1.3 m"."""
    objective: int
    limit: float
    above: bool
    """Whether the event is above the limit."""

    @property
    def what(self) -> str:
        """Description for error messages."""
        return f"probability of {self.name}"

    def __call__(self, u: np.ndarray) -> np.ndarray:
        """Distance of points, (n, d), beyond the limit, in units of the objective; NaN if a run
        fails.
        """
        study = self.study
        return self.of_values(study.runs.reachable(study.distributions.from_normal(u)))

    def of_values(self, values: np.ndarray) -> np.ndarray:
        """Distance beyond the limit from values of all objectives, (n, objective)."""
        return self.sign * (values[:, self.objective] - self.limit)

    @property
    def sign(self) -> float:
        """Sign of the objective in the function."""
        return 1.0 if self.above else -1.0

    @property
    def contrary(self) -> Limit:
        """The limit of the complementary event."""
        return replace(self, above=not self.above)

    @cached_property
    def middle(self) -> np.ndarray:
        """Medians of the parameters, the origin of the standard space."""
        return self.study.distributions.from_normal(np.zeros((1, len(self.study.names))))[0]

    @cached_property
    def gradient(self) -> np.ndarray:
        """Gradient of the objective at the medians."""
        return np.array(self.study.function.gradient(self.middle))[:, self.objective]


@dataclass(frozen=True, eq=False)
class System:
    """One limit, or several limits of which one (series) or all (parallel) have to be exceeded."""

    study: GlobalStudy
    limits: tuple[Limit, ...]
    series: bool = True

    @property
    def name(self) -> str:
        """Description of the event."""
        link = " or " if self.series else " and "
        return link.join(limit.name for limit in self.limits)

    @property
    def contrary(self) -> System:
        """The complementary event."""
        series = not self.series or len(self.limits) == 1
        return System(self.study, tuple(x.contrary for x in self.limits), series)

    def without(self, k: int) -> System:
        """The system without one of its limits."""
        return replace(self, limits=self.limits[:k] + self.limits[k + 1 :])

    def beyond(self, u: np.ndarray) -> np.ndarray:
        """Values of the functions of all limits at points, (n, limit); NaN if a run fails."""
        values = self.study.runs.reachable(self.study.distributions.from_normal(u))
        return np.column_stack([limit.of_values(values) for limit in self.limits])

    def occurs(self, beyond: np.ndarray) -> np.ndarray:
        """Whether the event occurs: 1 or 0, or NaN if failed runs leave it open, (n,).

        Args:
            beyond: values of the functions of the limits, (n, limit).
        """
        with np.errstate(invalid="ignore"):
            exceeded = np.where(np.isnan(beyond), np.nan, beyond >= 0)
        # NaN remains only if no other limit decides
        combined = np.fmax.reduce if self.series else np.fmin.reduce
        decided = combined(exceeded, axis=1)
        is_open = np.isnan(exceeded).any(axis=1) & (decided == (0.0 if self.series else 1.0))
        return np.where(is_open, np.nan, decided)


def system_of(study: GlobalStudy, event: object) -> System:
    """Return the checked limits of an event; their study contains all objectives that they need.

    Raises:
        ModelError: if it is no event that has a probability.
    """
    compared = _compared_of(event)
    from .global_study import study_of

    study = study_of(study, [objective for objective, _ in compared.values()])
    known = list(study.runs.rows.objectives.values())
    places = [known.index(objective) for objective, _ in compared.values()]
    names = _names(study, compared, places)
    limits = [
        Limit(study, name, k, c.lower if math.isfinite(c.lower) else c.upper, c.lower > -math.inf)
        for name, k, (_, c) in zip(names, places, compared.values(), strict=True)
    ]
    return System(study, tuple(limits), not isinstance(event, SystemEvent) or event.series)


def objectives_of(event: object, known: Mapping[str, Objective]) -> dict[str, Objective]:
    """Objectives of an event by name; known objectives keep their names.

    Raises:
        ModelError: if it is no event that has a probability.
    """
    return named([objective for objective, _ in _compared_of(event).values()], known)


def named(objectives: Iterable[Objective], known: Mapping[str, Objective]) -> dict[str, Objective]:
    """Objectives by name: known ones by their names, others by a description."""
    names = {objective: name for name, objective in known.items()}
    result: dict[str, Objective] = {}
    for objective in dict.fromkeys(objectives):
        name = names.get(objective, _default_name(objective))
        while name in result:
            name += PRIME
        result[name] = objective
    return result


def _default_name(objective: Objective) -> str:
    kinds = {sample.kind for sample in objective.samples}
    if isinstance(objective, Peak):
        return "peak"
    return "lowest" if kinds == {LOWEST} else "objective"


def _compared_of(event: object) -> dict[str, tuple[Objective, Constraint]]:
    """Objectives and comparisons of an event by limit."""
    limits = event.limits if isinstance(event, SystemEvent) else {"": event}
    return {name: _compared(name, limit) for name, limit in limits.items()}


def _names(
    study: GlobalStudy, compared: Mapping[str, tuple[Objective, Constraint]], places: list[int]
) -> list[str]:
    """Distinct descriptions of limits."""
    names = []
    for (name, (_, limit)), k in zip(compared.items(), places, strict=True):
        shown = study.objective_names[k]
        if isinstance(limit.of, Path):
            unnamed = _default_name(study.runs.rows.objectives[shown])
            shown = "path" if shown.rstrip(PRIME) == unnamed else shown
            said = f"{shown} {limit.rule} at any time"
        else:
            said = f"{shown} {limit.rule}"
        names.append(said if not name or name.startswith("limit ") else f"{name} ({said})")
    if len(set(names)) < len(names):
        return [f"{key}: {name}" for key, name in zip(compared, names, strict=True)]
    return names


def goal_of(limit: Constraint) -> Goal:
    """Objective that a limit compares: for a path, its largest or smallest value."""
    quantity = limit.of
    if isinstance(quantity, Path):
        extreme = peak if math.isfinite(limit.lower) else lowest
        return extreme(quantity.function, unit=quantity.unit)
    assert isinstance(quantity, Goal)
    return quantity


def _compared(name: str, limit: object) -> tuple[Objective, Constraint]:
    """Objective of a comparison, and the comparison of that objective."""
    if not isinstance(limit, Constraint):
        what = "an objective without a limit" if isinstance(limit, Comparable) else repr(limit)
        problem = (
            f"{what} is no event; compare an objective with a number, as in ψ >= 3.0, or state"
            " several with any_of(…) or all_of(…)"
        )
        raise ModelError(problem, element="probability")
    subject = f"limit {name!r}: " if name else ""
    if math.isfinite(limit.lower) and math.isfinite(limit.upper):
        remedy = (
            "state both: any_of(ψ <= low, ψ >= high) for values outside, all_of(ψ >= low, ψ <="
            " high) for values between"
        )
        raise ModelError(
            f"{subject}{limit.rule} has two limits, and an event has one",
            element="probability",
            remedy=remedy,
        )
    quantity = limit.of
    if isinstance(quantity, StabilityObjective):
        problem = f"{subject}the quantity is one of small motions, which has no run"
        raise ModelError(
            problem,
            element="probability",
            remedy=Message("use {} with {order}", Call("moments"), order=1),
        )
    if not isinstance(quantity, (Objective, Path)):
        problem = f"{subject}{quantity!r} is neither an objective nor a path"
        raise ModelError(problem, element="probability")
    objective = goal_of(limit)
    assert isinstance(objective, Objective)
    return objective, limit
