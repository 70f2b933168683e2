"""Objectives of small motions, with exact derivatives with respect to parameters.

    growth rate    g = max Re λ,            g' = Re λ'
    critical value v with g(v, ρ) = 0,      dv/dρ = −g_ρ / g_v

The mode that determines the value is selected anew for all parameter values. Where several modes
are equally large, the derivative exists only if their derivatives agree; otherwise it is refused,
naming the objective.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..core.errors import ModelError, VarimechError
from ..core.messages import Message
from ..sensitivity.stability_objective import StabilityObjective
from ..solving.eigenvalues import Spectrum
from .solvers import ModelSolvers
from .spectra import Spectra

ITERATIONS = 60
"""Iterations of Newton's method between bounds: bisection alone reaches rounding in 52."""
CONVERGED = 1e-14
"""Step of the parameter, relative to its size, at which the iteration ends."""
TIED = 1e-8
"""Difference of two modes, over the largest eigenvalue, below which they count as equal."""
SAME = 1e-5
"""Difference of their derivatives, over the size of derivatives of whole eigenvalues, that counts
as zero: eigenvectors of nearly repeated eigenvalues are accurate to few digits.
"""
FLAT = 1e-9
"""Change of the growth rate over the whole range of a parameter, over the largest eigenvalue, below
which it does not cross zero.
"""


@dataclass(frozen=True)
class Chosen:
    """Value of an objective for a spectrum, and its derivatives."""

    value: float
    derivatives: np.ndarray
    unclear: str = ""
    """Reason why there are no derivatives; empty if there are."""


def chosen(o: StabilityObjective, s: Spectrum, label: str) -> Chosen:
    """Evaluate an objective for the mode that determines it.

    Raises:
        VarimechError: if there is no such mode.
    """
    assert s.derivatives is not None
    upper = np.flatnonzero(s.values.imag >= 0)
    λ, λ_ = s.values[upper], s.derivatives[upper]
    largest = float(np.abs(λ).max(initial=0.0))
    values, derivatives = _quantity(o.kind, λ, λ_)
    order = _order(o, λ, values, largest)
    if not np.isfinite(order).any():
        missing = "nothing oscillates" if o.kind == "frequency" else "all its motions are neutral"
        raise VarimechError(f"{label} has no value: {missing}")
    k = int(np.nanargmin(order))
    tied = np.flatnonzero(order <= order[k] + TIED * _unit(o, largest))
    tied_derivatives = derivatives[tied]
    lacking = {i for group in s.lacking for i in group}
    unclear = ""
    if lacking.intersection(upper[tied].tolist()) or not np.isfinite(tied_derivatives).all():
        unclear = (
            f"the eigenvalue {λ[k]:.6g} 1/s is repeated and lacks a shape (as at critical damping)"
        )
    elif (
        np.ptp(tied_derivatives, axis=0) > SAME * _derivative_sizes(o.kind, λ[tied], λ_[tied])
    ).any():
        unclear = (
            f"modes with the eigenvalues {', '.join(f'{x:.6g}' for x in λ[tied])} 1/s are equally"
            " large, and change differently"
        )
    return Chosen(float(values[k]), derivatives[k], unclear)


def _derivative_sizes(kind: str, λ: np.ndarray, λ_: np.ndarray) -> np.ndarray:
    """Return the sizes of derivatives with respect to each parameter: those of whole eigenvalues,
    because real parts of undamped eigenvalues are rounding.
    """
    sizes = np.abs(λ_).max(axis=0)
    return sizes / np.abs(λ).max() if kind == "damping_ratio" else sizes


def _unit(o: StabilityObjective, largest: float) -> float:
    """Return the size of the quantity by which modes are ordered."""
    if o.near is not None or o.kind == "frequency":
        return max(largest / (2 * np.pi), o.near or 0.0)
    return 1.0 if o.kind == "damping_ratio" else largest


def _order(o: StabilityObjective, λ: np.ndarray, values: np.ndarray, largest: float) -> np.ndarray:
    """Return the key by which modes are ordered: the smallest determines the objective; infinite
    for modes that are excluded.
    """
    f = λ.imag / (2 * np.pi)
    if o.near is not None:
        return np.abs(f - o.near)
    if o.kind == "frequency":
        return np.where(λ.imag > TIED * largest, f, np.inf)
    return values if o.kind == "damping_ratio" else -values


def _quantity(kind: str, λ: np.ndarray, λ_: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return values and derivatives of all modes."""
    if kind == "frequency":
        return λ.imag / (2 * np.pi), λ_.imag / (2 * np.pi)
    if kind == "damping_ratio":
        size = np.where(np.abs(λ) > 0, np.abs(λ), np.nan)
        ζ = -λ.real / size
        change = (λ.conj()[:, None] * λ_).real / size[:, None]
        return ζ, -(λ_.real + ζ[:, None] * change) / size[:, None]
    return λ.real, λ_.real


def with_unit(solvers: ModelSolvers, o: StabilityObjective) -> StabilityObjective:
    """Return the objective with the unit of its parameter, which has to exist.

    Raises:
        ModelError: for an unknown parameter, or values that it cannot have.
    """
    if o.kind != "critical_speed":
        return o
    parameter = solvers.parameters(solvers.data.parameter_set.indices([o.parameter]))[0]
    low, high = sorted(parameter.check(x) for x in o.bracket)
    return replace(o, bracket=(low, high), unit=parameter.unit)


class StabilityObjectives:
    """Objectives of small motions of one mechanism, for any parameter values."""

    def __init__(self, solvers: ModelSolvers, objectives: Mapping[str, StabilityObjective]):
        self._solvers = solvers
        self.objectives = {name: with_unit(solvers, o) for name, o in objectives.items()}

    @cached_property
    def _spectra(self) -> dict[str, Spectra]:
        places = {o.at for o in self.objectives.values()}
        return {at: Spectra(self._solvers, at) for at in places}

    def evaluate(
        self, ρ: np.ndarray, indices: list[int], *, differentiate: bool = True
    ) -> tuple[np.ndarray, np.ndarray]:
        """Evaluate the objectives.

        Returns:
            Values, (objective), and derivatives with respect to the parameters at `indices`,
            (objective, parameter).

        Raises:
            VarimechError: naming an objective without a value, or without derivatives where these
                are requested.
        """
        names = list(self._solvers.data.parameter_set.parameters)
        at, wrt = dict(zip(names, ρ.tolist(), strict=False)), [names[k] for k in indices]
        values, derivatives = (
            np.zeros(len(self.objectives)),
            np.zeros((len(self.objectives), len(wrt))),
        )
        for k, (name, o) in enumerate(self.objectives.items()):
            evaluated = self._critical if o.kind == "critical_speed" else self._chosen
            result = evaluated(name, o, at, wrt)
            if result.unclear and differentiate:
                raise VarimechError(
                    f"objective {name!r} has no derivative: {result.unclear}",
                    remedy=Message("change a parameter a little, or name a mode by near=…"),
                )
            values[k], derivatives[k] = o.factor * result.value, o.factor * result.derivatives
        return values, derivatives

    def _chosen(
        self, name: str, o: StabilityObjective, at: Mapping[str, float], wrt: list[str]
    ) -> Chosen:
        motion_spectrum = self._spectra[o.at].at(at, wrt)
        if not motion_spectrum.steady:
            raise ModelError(
                f"objective {name!r}: the linear equations change along the motion, whose modes mean"
                " nothing",
                field="at",
                value=o.at,
                remedy='use at="steady" or "equilibrium", or a start in steady motion',
            )
        return chosen(o, motion_spectrum.spectrum, f"objective {name!r}")

    def _critical(
        self, name: str, o: StabilityObjective, at: Mapping[str, float], wrt: list[str]
    ) -> Chosen:
        """Apply Newton's method to the growth rate, with bisection where it leaves the bounds."""
        own = [o.parameter, *[p for p in wrt if p != o.parameter]]

        def growth(v: float) -> Chosen:
            return self._chosen(name, o, {**at, o.parameter: v}, own)

        low, high = (float(x) for x in o.bracket)
        begin, end = growth(low), growth(high)
        if begin.value * end.value > 0:
            raise VarimechError(
                f"objective {name!r}: the largest growth rate does not change its sign between"
                f" {o.parameter} = {low:g} ({begin.value:.4g} 1/s) and {high:g}"
                f" ({end.value:.4g} 1/s)",
                field="between",
                value=o.bracket,
                remedy="give two values with one limit of stability between them",
            )
        width, rising = high - low, end.value > begin.value
        v = low - begin.value * width / (end.value - begin.value)
        for _ in range(ITERATIONS):
            current = growth(v)
            if (current.value > 0) == rising:
                high = v
            else:
                low = v
            slope = current.derivatives[0]
            step = -current.value / slope if slope else np.inf
            if not low <= v + step <= high:
                step = (low + high) / 2 - v
            v += step
            if abs(step) <= CONVERGED * max(abs(v), abs(width)):
                break
        current = growth(v)
        slope = float(current.derivatives[0])
        unclear = current.unclear
        if not unclear and not abs(slope * width) > FLAT * max(abs(begin.value), abs(end.value)):
            unclear = f"the growth rate touches zero at {o.parameter} = {v:.6g} without passing it"
        place = (
            {p: -current.derivatives[k] / slope for k, p in enumerate(own)} if not unclear else {}
        )
        place[o.parameter] = 0.0
        return Chosen(v, np.array([place.get(p, np.nan) for p in wrt]), unclear)
