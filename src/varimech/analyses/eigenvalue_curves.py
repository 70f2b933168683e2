"""Root loci and Campbell diagrams: eigenvalues of small motions over values of a parameter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from numbers import Real
from typing import TYPE_CHECKING, TypedDict

import numpy as np

from ..core.errors import ModelError, VarimechError
from ..core.messages import Message
from ..core.progress import progress_bar
from ..model.parameter import Parameter
from ..results.campbell import Campbell
from ..results.eigenvalue_curves import Branches
from ..results.labels import Wrt
from ..results.root_locus import RootLocus
from ..sensitivity.stability_objective import check_place
from ..solving.eigenvalue_branches import At, Condition, CountChange, crossings, track
from ..solving.eigenvalues import Spectrum
from ..solving.motion_jumps import jumps
from .kinematics import read_range
from .simulation import Values
from .solvers import ModelSolvers
from .spectra import MotionSpectrum, Spectra

if TYPE_CHECKING:
    from ..coordinates.systems import Coordinates

TURNS = {"rad/s": 1 / (2 * np.pi), "1/s": 1 / (2 * np.pi), "": 1 / (2 * np.pi), "Hz": 1.0}
"""Revolutions per second for one unit of a speed."""


class _Common(TypedDict):
    """Fields that both results share."""

    mechanism: str
    at: str
    parameter: str
    unit: str
    parameter_names: tuple[str, ...]
    parameter_units: tuple[str, ...]
    branches: Branches
    neutral: int
    steady: bool


def root_locus(
    solvers: ModelSolvers,
    parameter: str | Parameter,
    values: object,
    at: str,
    wrt: Wrt,
    parameters: Values | None,
    coordinates: str | Coordinates,
    progress: bool | None = None,
) -> RootLocus:
    """Track branches of eigenvalues, and find where they cross the imaginary axis."""
    spectrum_at, common = _tracked(
        "root_locus", solvers, parameter, values, at, wrt, parameters, coordinates, progress
    )
    places = crossings(spectrum_at, common["branches"], Condition(1.0))
    return RootLocus(**common, places=tuple(places))


def campbell(
    solvers: ModelSolvers,
    parameter: str | Parameter,
    values: object,
    orders: Sequence[float] | float,
    revolutions: float | None,
    at: str,
    wrt: Wrt,
    parameters: Values | None,
    coordinates: str | Coordinates,
    progress: bool | None = None,
) -> Campbell:
    """Track branches of frequencies, and find where they equal orders of a speed.

    Raises:
        ModelError: for orders that are no positive numbers, and a speed whose unit is not that of a
            rotation where `revolutions` is not given.
    """
    order_list = [orders] if isinstance(orders, (int, float)) else list(orders)
    if not order_list or not all(_is_positive(n) for n in order_list):
        raise ModelError(
            "must be positive numbers, such as (1, 2)",
            element="campbell",
            field="orders",
            value=orders,
        )
    unit = _parameter(solvers, parameter).unit
    turns = TURNS.get(unit) if revolutions is None else revolutions
    if turns is None or not _is_positive(turns):
        raise ModelError(
            f"parameter {_name(parameter)!r} has the unit {unit!r}, not that of a rotation"
            if revolutions is None
            else f"revolutions = {revolutions!r} must be a positive number",
            element="campbell",
            remedy=Message(
                "give {revolutions}, revolutions per second at a speed of one unit: 1/(2 π r) for a"
                " wheel of radius r"
            ),
        )
    spectrum_at, common = _tracked(
        "campbell", solvers, parameter, values, at, wrt, parameters, coordinates, progress
    )
    places = [
        (float(order), c)
        for order in order_list
        for c in crossings(
            spectrum_at,
            common["branches"],
            Condition(-1j / (2 * np.pi), -float(order) * float(turns), oscillating=True),
        )
    ]
    return Campbell(
        **common,
        orders=tuple(float(n) for n in order_list),
        revolutions=float(turns),
        places=tuple(sorted(places, key=lambda each: each[1].value)),
    )


def _is_positive(number: object) -> bool:
    real = isinstance(number, Real) and not isinstance(number, bool)
    return real and 0 < float(number) < np.inf  # type: ignore[arg-type]


def _name(parameter: str | Parameter) -> str:
    return parameter if isinstance(parameter, str) else parameter.name


def _parameter(solvers: ModelSolvers, parameter: str | Parameter) -> Parameter:
    return solvers.parameters(solvers.data.parameter_set.indices([_name(parameter)]))[0]


def _tracked(
    analysis: str,
    solvers: ModelSolvers,
    parameter: str | Parameter,
    values: object,
    at: str,
    wrt: Wrt,
    parameters: Values | None,
    coordinates: str | Coordinates,
    progress: bool | None,
) -> tuple[At, _Common]:
    """Compute spectra over the parameter, and track their branches; return both."""
    check_place(analysis, at)
    swept = _parameter(solvers, parameter)
    v = read_range(values, swept.unit, f"{analysis}: values of {swept.name!r}")
    steps = np.diff(v)
    if v.size < 2 or not ((steps > 0).all() or (steps < 0).all()):
        raise ModelError(
            "must be two or more, increasing or decreasing",
            element=analysis,
            field="values",
            value=values,
        )
    for each in (v[0], v[-1]):
        swept.check(each)
    other_values = {n: x for n, x in (parameters or {}).items() if n != swept.name}
    further = [] if wrt is None else solvers.parameters(solvers.indices(wrt))
    names = [swept.name, *[p.name for p in further if p.name != swept.name]]
    spectra, cache = Spectra(solvers, at, coordinates), dict[float, MotionSpectrum]()

    def motion(value: float) -> MotionSpectrum:
        if value not in cache:
            cache[value] = spectra.at({**other_values, swept.name: value}, names)
        return cache[value]

    def spectrum_at(value: float) -> Spectrum:
        return motion(value).spectrum

    with progress_bar(f"{analysis} {solvers.data.name}", float(v.size), progress) as update:

        def tracked_spectrum(value: float) -> Spectrum:
            update(float(min(len(cache), v.size)))
            return spectrum_at(value)

        try:
            branches = track(tracked_spectrum, v)
            branches = replace(branches, jumps=jumps(lambda value: motion(value).positions, v))
        except CountChange as error:
            raise VarimechError(
                f"{solvers.data.name!r}: the number of neutral motions changes at {swept.name} ="
                f" {error.value:g}, and with it that of the eigenvalues",
                remedy="leave that value out",
            ) from None
    chosen = solvers.parameters(solvers.data.parameter_set.indices(names))
    return spectrum_at, {
        "mechanism": solvers.data.name,
        "at": at,
        "parameter": swept.name,
        "unit": swept.unit,
        "parameter_names": tuple(names),
        "parameter_units": tuple(p.unit for p in chosen),
        "branches": branches,
        "neutral": next(iter(cache.values())).neutral,
        "steady": all(s.steady for s in cache.values()),
    }
