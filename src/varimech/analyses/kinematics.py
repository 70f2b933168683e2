"""Kinematics: validation of drivers and their values, and results over a range of values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np

from ..backends.trajectory import Trajectory
from ..coordinates.linear import column
from ..core.errors import ModelError, VarimechError
from ..core.expressions import fixed_number
from ..model.kinematic_driver import find_input
from ..model.model_data import ModelData
from ..model.scalar_outputs import ScalarOutput, Turn
from ..results.kinematic_path import KinematicPath
from ..results.kinematics import Kinematics
from ..results.labels import Wrt
from ..solving.kinematics import Kinematics as KinematicSolver
from ..solving.kinematics import Position, Stuck
from .simulation import Values
from .solvers import ModelSolvers

TRUNCATE = ("error", "truncate")
TURN = 2 * np.pi


def read_range(values: object, unit: str, label: str) -> np.ndarray:
    """Read values of a driver or parameter: a list or array, or (start, stop, count) as a tuple;
    numbers in SI units, or strings such as "30 deg".

    Raises:
        ModelError: for values of another kind, a tuple of other numbers, an empty list, and values
            that are not finite.
    """
    if isinstance(values, tuple):
        if len(values) != 3:
            raise ModelError(
                "must be (start, stop, count)",
                element=label,
                value=values,
                remedy="add the number of values; single values are a list, with brackets",
            )
        first, last = (_number(x, unit, label) for x in values[:2])
        count = values[2]
        if isinstance(count, bool) or not isinstance(count, Integral) or int(count) < 2:
            raise ModelError(
                "must be a whole number, 2 or more",
                element=label,
                field="count",
                value=count,
                remedy="single values are a list, with brackets",
            )
        return np.linspace(first, last, int(count))
    if isinstance(values, (str, Real)):
        values = [values]
    try:
        listed = list(values)  # type: ignore[call-overload]
    except TypeError:
        raise ModelError(
            "must be a list of values, or (start, stop, count)", element=label, value=values
        ) from None
    if not listed:
        raise ModelError("has no values", element=label, remedy="give one or more")
    return np.array([_number(x, unit, label) for x in listed])


def _number(value: object, unit: str, label: str) -> float:
    if isinstance(value, str):
        value = fixed_number(value, unit, label)
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise ModelError(f"must be numbers ({unit})", element=label, value=value) from None
    if not np.isfinite(number):
        raise ModelError(f"must be finite numbers ({unit})", element=label, value=value)
    return number


@dataclass(frozen=True)
class Inputs:
    """Drivers with their values."""

    outputs: dict[str, ScalarOutput]
    values: dict[str, np.ndarray]

    @property
    def table(self) -> np.ndarray:
        """(input, driver): values of all drivers along a path.

        Raises:
            ModelError: for drivers with different numbers of values.
        """
        sizes = {name: v.size for name, v in self.values.items()}
        if len(set(sizes.values())) > 1:
            raise ModelError(
                f"drivers have different numbers of values ({sizes})",
                element="kinematics",
                remedy="give as many values of each: they move together along a path",
            )
        return np.column_stack(list(self.values.values()))


def read_inputs(data: ModelData, driver: object, values: object, analysis: str) -> Inputs:
    """Read drivers and their values, as given by the user.

    Raises:
        ModelError: for unknown drivers and invalid values.
    """
    if isinstance(driver, Mapping):
        if values is not None:
            raise ModelError("are given with the drivers already", element=analysis, field="values")
        pairs: list[tuple[object, object]] = list(driver.items())
    elif values is None:
        raise ModelError(
            "are missing",
            element=analysis,
            field="values",
            remedy=f"give {analysis}(driver, values), or {analysis}({{driver: values}})",
        )
    else:
        pairs = [(driver, values)]
    if not pairs:
        raise ModelError("names no driver", element=analysis, field="driver")
    outputs, read = {}, {}
    for each, driver_values in pairs:
        name, output = find_input(data, each)
        if name in outputs:
            raise ModelError("is named twice", element=analysis, field="driver", value=name)
        outputs[name] = output
        read[name] = read_range(
            driver_values, output.unit, f"{analysis}: values of driver {name!r}"
        )
        if isinstance(output, Turn) or output.unit != "m":
            continue
        if type(output).__name__ == "Distance" and not (read[name] > 0).all():
            raise ModelError(
                "must be positive distances", element=f"{analysis}: values of driver {name!r}"
            )
    return Inputs(outputs, read)


def _rates(inputs: Inputs, rates: object, what: str) -> np.ndarray | None:
    """Read the rates or accelerations of all drivers."""
    if rates is None:
        return None
    names = list(inputs.outputs)
    if not isinstance(rates, Mapping):
        if len(names) > 1:
            raise ModelError(
                "must be those of each driver",
                element="kinematics",
                field=what,
                value=rates,
                remedy=f"give {{name: value}} of {', '.join(map(repr, names))}",
            )
        rates = {names[0]: rates}
    for name in rates:
        if name not in names:
            raise ModelError("is no driver here", element="kinematics", field=what, value=name)
    per = "/s" if what == "rates" else "/s²"
    return np.array(
        [
            _number(rates.get(n, 0.0), f"{o.unit}{per}", f"kinematics: {what} of {n!r}")
            for n, o in inputs.outputs.items()
        ]
    )


def kinematics(
    solvers: ModelSolvers,
    driver: object,
    values: object,
    rates: object,
    accelerations: object,
    wrt: Wrt,
    parameters: Values | None,
    unreachable: str,
) -> Kinematics:
    """Compute positions, velocities, accelerations and their derivatives over values of drivers.

    Raises:
        ModelError: for drivers that do not determine the position, and invalid values.
        VarimechError: where a value is out of reach.
    """
    if unreachable not in TRUNCATE:
        raise ModelError(
            f"must be one of {', '.join(map(repr, TRUNCATE))}",
            element="kinematics",
            field="unreachable",
            value=unreachable,
        )
    data = solvers.data
    inputs = read_inputs(data, driver, values, "kinematics")
    u̇, ü = _rates(inputs, rates, "rates"), _rates(inputs, accelerations, "accelerations")
    if u̇ is None and ü is not None:
        raise ModelError(
            "need rates", element="kinematics", field="accelerations", remedy="give rates=…, too"
        )
    ρ = data.parameter_set.values(parameters)
    indices = [] if wrt is None else solvers.indices(wrt)
    solver = KinematicSolver(data.frozen(), inputs.outputs)
    path, stored, stopped = followed(solver, inputs.table, ρ, unreachable)
    single = np.ones(1) if len(inputs.outputs) == 1 else None
    return _labelled(solver, inputs, path, stored, ρ, indices, (u̇, ü, single), stopped)


def followed(
    solver: KinematicSolver, table: np.ndarray, ρ: np.ndarray, unreachable: str = "error"
) -> tuple[list[Position], list[int], str]:
    """Follow the path through the values of the drivers, starting from the first one.

    Returns:
        All positions along the path, the index in it of each value, and the reason why the path
        ended early.

    Raises:
        VarimechError: where a value is out of reach.
    """
    path, stored = [solver.first(ρ, table[0])], list[int]()
    for row in table:
        try:
            path += solver.reach(path[-1], row, ρ) if (path[-1].u != row).any() else []
        except Stuck as error:
            if unreachable == "truncate" and stored:
                return path, stored, str(error)
            where = ", ".join(
                f"{n} = {x:.10g} {o.unit}"
                for (n, o), x in zip(solver.inputs.items(), row, strict=True)
            )
            place = "" if stored else ", on the way from the initial position"
            remedy = (
                'stop before it, or take unreachable="truncate"'
                if stored
                else "start closer to the first value, with m.start(…), or on another branch,"
                " with m.start(near=…)"
            )
            raise VarimechError(
                f"{solver.model.label}: {where} is out of reach{place}; {error}", remedy=remedy
            ) from None
        stored.append(len(path) - 1)
    return path, stored, ""


def _labelled(
    solver: KinematicSolver,
    inputs: Inputs,
    path: list[Position],
    stored: list[int],
    ρ: np.ndarray,
    indices: list[int],
    rates: tuple[np.ndarray | None, ...],
    stopped: str,
) -> Kinematics:
    u̇, ü, single = rates
    moving = u̇ if u̇ is not None else single
    e, d = solver.equations, len(inputs.outputs)
    n, m, p = e.q.numel(), e.λ.numel(), len(indices)
    states = np.zeros((len(stored), 3 * n + m))
    S = np.zeros((len(stored), 3 * n + m, p)) if p else None
    residual = 0.0
    for k, place in enumerate(stored):
        q, values = (
            path[place].q,
            solver.values(ρ, path[place].u, _or_zeros(moving, d), _or_zeros(ü, d)),
        )
        F = column(solver.start._positions.residuals(q, np.zeros(0), values))
        residual = max(residual, float(np.abs(F).max(initial=0.0)))
        v = a = np.zeros(n)
        if moving is not None:
            v = solver.start._velocities.solve_linear(n, q, values)
            a = solver.accelerations.solve_linear(n, np.concatenate([q, v]), values)
        states[k, : 3 * n] = np.concatenate([q, v, a])
        if S is not None:
            S[k, : 3 * n] = solver.sensitivities(states[k, : 3 * n], values, indices)
    trajectory = Trajectory(
        np.zeros(len(stored)),
        states,
        np.zeros((len(stored), 0)),
        np.array([residual, 0.0, 0.0]),
        len(path),
        np.zeros(1),
        sensitivities=S,
    )
    table = inputs.table[: len(stored)]
    turned = _continuous_angles(solver, path, stored, table)
    live = KinematicPath(e, trajectory, solver.values(ρ, ()), indices, turned=turned)
    return Kinematics(
        live,
        tuple(inputs.outputs),
        tuple(o.unit for o in inputs.outputs.values()),
        table,
        u̇,
        len(path) - 1,
        stopped,
        residual,
        np.array([path[k].tangent for k in stored]),
    )


def _or_zeros(rates: np.ndarray | None, count: int) -> Any:
    return np.zeros(count) if rates is None else rates


def _continuous_angles(
    solver: KinematicSolver, path: list[Position], stored: list[int], table: np.ndarray
) -> dict[str, np.ndarray]:
    """Return continuous angles: steps are so short that no angle changes by half a turn in one."""
    angles = np.unwrap(np.array([p.angles for p in path[stored[0] :]]), axis=0)
    angles = angles[np.array(stored) - stored[0]]
    model = solver.model
    turned = dict(zip(solver.turning, angles.T, strict=True))
    for k, output in enumerate(solver.inputs.values()):
        for name, φ in turned.items():
            if isinstance(output, Turn) and model.find_angle(name).same(output):
                turned[name] = φ + TURN * np.round((table[0, k] - φ[0]) / TURN)
    return turned
