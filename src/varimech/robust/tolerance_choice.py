"""Tolerances that an allocation chooses, and their total cost  C(t) = Σ Cᵢ(tᵢ)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ..core.errors import ModelError
from ..model.iso_grades import grades_of
from ..model.parameter import ROUNDING, Parameter, Tolerance
from ..model.parameter_set import ParameterSet
from ..model.tolerance_cost import Cost, GradeCost
from .explicit_goal import ExplicitGoal
from .random_design import WIDTH

DECLARE = (
    "declare it with m.tolerance({!r}, width, at_least=…, at_most=…, cost=varimech.cost(a, b))"
)


@dataclass(frozen=True)
class ToleranceChoice:
    """A tolerance that an allocation may choose; numbers in the unit of its parameter."""

    name: str
    """Name of the parameter."""
    unit: str
    nominal: float
    tolerance: Tolerance
    """Tolerance as declared in the model."""
    cost: Cost

    @property
    def variable(self) -> str:
        """Name of the design variable: "± crank"."""
        return WIDTH + self.name

    @property
    def width(self) -> float:
        """The tolerance before."""
        return float(self.tolerance.width)

    @property
    def limits(self) -> tuple[float, float]:
        """Finest and widest tolerance."""
        return self.tolerance.limits

    @property
    def grades(self) -> dict[str, float]:
        """Tolerances ± of the grades of ISO 286-1 within the limits, the finest first; if the cost
        is given by grades, only grades with a cost.

        Raises:
            ModelError: if the parameter is not a length, or no grade is within the limits.
        """
        element = f"tolerance of {self.name!r}"
        if self.unit != "m":
            problem = f"has no grades of ISO 286-1: its unit is {self.unit or 'none'}, not m"
            remedy = "give the names of those that come in grades, as grades=['crank']"
            raise ModelError(problem, element=element, remedy=remedy)
        if isinstance(self.cost, GradeCost):
            every = dict(zip(self.cost.grades, self.cost.widths, strict=True))
        else:
            every = grades_of(self.nominal, element)
        low, high = self.limits
        within = {
            grade: t
            for grade, t in every.items()
            if low * (1 - ROUNDING) <= t <= high * (1 + ROUNDING)
        }
        if not within:
            problem = (
                f"has no grade of ISO 286-1 between {low:g} and {high:g} {self.unit}"
                f" (IT{next(iter(every))} is {next(iter(every.values())):g},"
                f" IT{list(every)[-1]} is {list(every.values())[-1]:g})"
            )
            raise ModelError(problem, element=element, remedy="give wider bounds")
        return within


@dataclass(frozen=True, eq=False)
class TotalCost(ExplicitGoal):
    """Total cost of all tolerances that are chosen."""

    choices: tuple[ToleranceChoice, ...]
    unit = ""

    def evaluate(self, x: Mapping[str, float]) -> tuple[float, Mapping[str, float]]:
        """See `ExplicitGoal`."""
        widths = [(c, x[c.variable]) for c in self.choices]
        value = sum(c.cost.value(t) for c, t in widths)
        return value, {c.variable: c.cost.derivative(t) for c, t in widths}


def choices_of(
    parameters: ParameterSet, names: Iterable[str | Parameter] | None, element: str
) -> tuple[ToleranceChoice, ...]:
    """Return the tolerances that an allocation chooses: those named, or all with a cost.

    Raises:
        ModelError: for a tolerance without a cost, and if there is no tolerance.
    """
    known = parameters.parameters
    every = [n for n, p in known.items() if _can_be_chosen(p)]
    chosen = every if names is None else [list(known)[k] for k in parameters.indices(names)]
    if not chosen:
        example = next(iter(known), "L")
        raise ModelError(
            "no parameter has a tolerance with a cost",
            element=element,
            remedy=DECLARE.format(example),
        )
    choices = []
    for name in chosen:
        p = known[name]
        if not isinstance(p.distribution, Tolerance):
            raise ModelError(
                f"parameter {name!r} has no tolerance", element=element, remedy=DECLARE.format(name)
            )
        if p.distribution.cost is None:
            raise ModelError(
                f"the tolerance of {name!r} has no cost",
                element=element,
                remedy=f"{DECLARE.format(name)}, or leave its bounds out to keep it as it is",
            )
        choices.append(ToleranceChoice(name, p.unit, p.value, p.distribution, p.distribution.cost))
    return tuple(choices)


def _can_be_chosen(p: Parameter) -> bool:
    """Whether a parameter has a tolerance with a cost, or with bounds, which then lacks a cost."""
    t = p.distribution
    bounds = isinstance(t, Tolerance) and (t.at_least, t.at_most) != (None, None)
    return isinstance(t, Tolerance) and (t.cost is not None or bounds)
