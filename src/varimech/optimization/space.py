"""Where an optimisation may go: which parameters, from where, within which bounds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import ModelError, check_whole
from ..core.messages import Message
from ..model.parameter import Parameter, checked_bounds
from ..model.parameter_set import ParameterSet

if TYPE_CHECKING:
    import xarray as xr

Over = Sequence[str | Parameter] | str | Parameter | None
Bounds = Mapping[str, tuple[float | None, float | None]]


@dataclass(frozen=True, eq=False)
class Space:
    """Parameters with start and bounds (infinite where open), in the user's units."""

    names: tuple[str, ...]
    units: tuple[str, ...]
    start: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    held: Mapping[str, float] = field(default_factory=dict)
    """Values of parameters that stay, where they are not nominal."""

    @property
    def sizes(self) -> np.ndarray:
        """By what each parameter is measured: its range, else the size of its start, else 1."""
        range_ = self.upper - self.lower
        magnitude = np.where(self.start == 0, 1.0, np.abs(self.start))
        return np.where(np.isfinite(range_), range_, magnitude)

    def labelled(self, values: np.ndarray, name: str) -> xr.DataArray:
        """Values by parameter, with units."""
        import xarray as xr

        coords = {"parameter": list(self.names), "unit": ("parameter", list(self.units))}
        return xr.DataArray(values, coords=coords, dims=["parameter"], name=name)

    def inside(self, x: np.ndarray) -> np.ndarray:
        """The nearest point within bounds: solvers miss them by rounding."""
        return np.clip(x, self.lower, self.upper)

    def starts(self, count: int, seed: int) -> list[np.ndarray]:
        """The given start, and others spread over the bounds by a scrambled Halton sequence."""
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
            raise ModelError(
                f"are distributed over the bounds, but {', '.join(map(repr, open_))} has none",
                field="starts",
                value=count,
                remedy=Message("give {bounds}", bounds={open_[0]: "(lower, upper)"}),
            )
        from scipy.stats import qmc

        points = qmc.Halton(len(self.names), seed=seed).random(count - 1)
        return [self.start, *(self.lower + points * (self.upper - self.lower))]


def space_of(
    verb: str,
    numbers: ParameterSet,
    over: Over,
    bounds: Bounds | None,
    start: Mapping[str, float | str] | None,
    given: Mapping[str, float | str] | None,
) -> Space:
    """Checked parameters with their start (nominal where none is given) and bounds (their own,
    narrowed by those given); and those that are given other values, at which they are held.
    """
    held = {name: numbers.parameters[name].check(value) for name, value in (given or {}).items()}
    parameters = _chosen(verb, numbers, over, held)
    names = tuple(p.name for p in parameters)
    for name in held:
        if name in names:
            raise ModelError(
                Message("{}: {!r} is in {over} and in {parameters}", verb, name),
                remedy=Message("give the value it begins with in {start}"),
            )
    for label, named in (("bounds", bounds), ("start", start)):
        for name in named or {}:
            if numbers.indices([name]) and name not in names:
                raise ModelError(
                    Message(
                        "{}: {} names {!r}, which {over} does not: {}",
                        verb,
                        label,
                        name,
                        ", ".join(map(repr, names)),
                    )
                )
    begins, lowers, uppers = [], [], []
    for p in parameters:
        low, high = _narrowed(verb, p, (bounds or {}).get(p.name))
        value = (start or {}).get(p.name, p.value)
        begin = p.check(value)
        if not low <= begin <= high:
            which = "start value" if start and p.name in start else "nominal value"
            raise ModelError(
                f"{verb}: the {which} {begin:g} of {p.name!r} is outside its bounds ({low:g},"
                f" {high:g})",
                remedy=Message("give {start} within them, or wider bounds", start={p.name: ...}),
            )
        begins.append(begin)
        lowers.append(low)
        uppers.append(high)
    return Space(
        names,
        tuple(p.unit for p in parameters),
        np.array(begins),
        np.array(lowers),
        np.array(uppers),
        held,
    )


def _chosen(
    verb: str, numbers: ParameterSet, over: Over, held: Mapping[str, float]
) -> list[Parameter]:
    if not numbers.parameters:
        raise ModelError(
            f"mechanism {numbers.owner!r} has no parameters; make some with parameter(name, value)"
        )
    if over is None:
        return [p for p in numbers.parameters.values() if p.name not in held]
    wanted: list[Any] = (
        [over]
        if isinstance(over, (str, Parameter)) or not isinstance(over, Iterable)
        else list(over)
    )
    if not wanted:
        raise ModelError(
            f"{verb}: over is empty: name at least one parameter, or leave it out for all of them"
        )
    indices = numbers.indices(wanted)
    if len(set(indices)) < len(indices):
        raise ModelError(f"{verb}: over = {wanted!r} names a parameter twice")
    return [list(numbers.parameters.values())[k] for k in indices]


def _narrowed(
    verb: str, parameter: Parameter, given: tuple[float | None, float | None] | None
) -> tuple[float, float]:
    """The parameter's own bounds and those given, together."""
    pairs = [parameter.bounds, checked_bounds(parameter.name, given)]
    low = max(-math.inf if a is None else float(a) for a, _ in pairs)
    high = min(math.inf if b is None else float(b) for _, b in pairs)
    if not low < high:
        raise ModelError(
            f"{verb}: bounds {given} of {parameter.name!r} and its own, {parameter.bounds}, leave"
            " no room; they have to overlap"
        )
    return low, high
