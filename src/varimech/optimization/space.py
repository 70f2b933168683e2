"""Design space: parameters with their initial values and bounds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ..core.errors import ModelError, check_whole
from ..core.messages import Message
from ..model.parameter import Parameter, checked_bounds
from ..model.parameter_set import ParameterSet, listed

if TYPE_CHECKING:
    import xarray as xr

Over = Sequence[str | Parameter] | str | Parameter | None
Bounds = Mapping[str, tuple[float | str | None, float | str | None]]


@dataclass(frozen=True, eq=False)
class Space:
    """Parameters with initial values and bounds (infinite if unbounded), in the user's units."""

    names: tuple[str, ...]
    units: tuple[str, ...]
    start: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    held: Mapping[str, float] = field(default_factory=dict)
    """Values of fixed parameters that differ from their nominal values."""

    @property
    def sizes(self) -> np.ndarray:
        """Scale of each parameter: its range, or the magnitude of its initial value, or 1."""
        range_ = self.upper - self.lower
        magnitude = np.where(self.start == 0, 1.0, np.abs(self.start))
        return np.where(np.isfinite(range_), range_, magnitude)

    def labelled(self, values: np.ndarray, name: str) -> xr.DataArray:
        """Values by parameter, with units."""
        import xarray as xr

        coords = {"parameter": list(self.names), "unit": ("parameter", list(self.units))}
        return xr.DataArray(values, coords=coords, dims=["parameter"], name=name)

    def inside(self, x: np.ndarray) -> np.ndarray:
        """Return the nearest point within the bounds, which solvers may violate by rounding
        errors.
        """
        return np.clip(x, self.lower, self.upper)

    def starts(self, count: int, seed: int) -> list[np.ndarray]:
        """Return the given initial design, and others within the bounds by a scrambled Halton
        sequence.
        """
        check_whole("optimize", 1, starts=count)
        check_whole("optimize", 0, seed=seed)
        if count == 1:
            return [self.start]
        open_ = [
            n
            for n, r in zip(self.names, self.upper - self.lower, strict=True)
            if not math.isfinite(r)
        ]
        if open_:
            problem = (
                f"are distributed within the bounds, but {', '.join(map(repr, open_))} has none"
            )
            remedy = Message("give {bounds}", bounds={open_[0]: "(lower, upper)"})
            raise ModelError(problem, field="starts", value=count, remedy=remedy)
        from scipy.stats import qmc

        points = qmc.Halton(len(self.names), seed=seed).random(count - 1)
        return [self.start, *(self.lower + points * (self.upper - self.lower))]


def space_of(
    analysis: str,
    numbers: ParameterSet,
    over: Over,
    bounds: Bounds | None,
    start: Mapping[str, float | str] | None,
    given: Mapping[str, float | str] | None,
) -> Space:
    """Return the checked design space.

    Initial values default to nominal values; the bounds are those of the parameters, narrowed by
    the given ones.

    Args:
        analysis: name of the analysis in error messages.
        numbers: the parameters of the mechanism.
        over: parameters to vary; None for all parameters that are not held fixed.
        bounds: bounds by parameter.
        start: initial values by parameter.
        given: values of fixed parameters.

    Raises:
        ModelError: if a parameter or value is invalid.
    """
    held = {name: numbers.parameters[name].check(value) for name, value in (given or {}).items()}
    parameters = _chosen(analysis, numbers, over, held)
    names = tuple(p.name for p in parameters)
    for name in held:
        if name in names:
            twice = Message("{!r} is in {over} and in {parameters}", name)
            remedy = Message("give its initial value in {start}")
            raise ModelError(twice, element=analysis, remedy=remedy)
    for label, named in (("bounds", bounds), ("start", start)):
        _check_varied(analysis, label, named or {}, numbers, names)
    initial_values, lowers, uppers = [], [], []
    for p in parameters:
        low, high = _narrowed(analysis, p, (bounds or {}).get(p.name))
        value = (start or {}).get(p.name, p.value)
        initial_value = p.check(value)
        if not low <= initial_value <= high:
            which = "start value" if start and p.name in start else "nominal value"
            problem = (
                f"the {which} {initial_value:g} of {p.name!r} is outside its bounds ({low:g},"
                f" {high:g})"
            )
            remedy = Message("give {start} within them, or wider bounds", start={p.name: ...})
            raise ModelError(problem, element=analysis, remedy=remedy)
        initial_values.append(initial_value)
        lowers.append(low)
        uppers.append(high)
    return Space(
        names,
        tuple(p.unit for p in parameters),
        np.array(initial_values),
        np.array(lowers),
        np.array(uppers),
        held,
    )


def _check_varied(
    analysis: str, label: str, named: Iterable[str], numbers: ParameterSet, names: tuple[str, ...]
) -> None:
    """Check that bounds or initial values are those of varied parameters."""
    for name in named:
        if numbers.indices([name]) and name not in names:
            problem = Message(
                "names {!r}, which {over} does not: {}", name, ", ".join(map(repr, names))
            )
            raise ModelError(problem, element=analysis, field=label)


def _chosen(
    analysis: str, numbers: ParameterSet, over: Over, held: Mapping[str, float]
) -> list[Parameter]:
    if not numbers.parameters:
        raise ModelError(
            "it has no parameters; make some with parameter(name, value)",
            element=f"mechanism {numbers.owner!r}",
        )
    if over is None:
        return [p for p in numbers.parameters.values() if p.name not in held]
    requested = listed(over, "over", Message("give {bounds} of their own"))
    if not requested:
        raise ModelError(
            "is empty: name at least one parameter, or omit it for all of them",
            element=analysis,
            field="over",
        )
    indices = numbers.indices(requested)
    if len(set(indices)) < len(indices):
        problem = "names a parameter twice"
        raise ModelError(problem, element=analysis, field="over", value=requested)
    return [list(numbers.parameters.values())[k] for k in indices]


def _narrowed(
    analysis: str, parameter: Parameter, given: tuple[float | str | None, float | str | None] | None
) -> tuple[float, float]:
    """Intersection of the parameter's own bounds and the given bounds."""
    pairs = [parameter.bounds, checked_bounds(parameter.name, given, parameter.unit)]
    low = max(-math.inf if a is None else float(a) for a, _ in pairs)
    high = min(math.inf if b is None else float(b) for _, b in pairs)
    if not low < high:
        problem = f"{given} of {parameter.name!r} and its own, {parameter.bounds}, do not overlap"
        raise ModelError(problem, element=analysis, field="bounds")
    return low, high
