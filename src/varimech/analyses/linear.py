"""Linearised equations of small motions about a motion."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from ..coordinates.equations import Equations
from ..core.errors import ModelError, unknown_name
from ..core.messages import Message
from ..core.symbols import SX, symbols_in
from ..model.driver import Driver
from ..model.force import ForceLaw
from ..model.parameter import Parameter
from ..model.state import Reactions, State
from ..model.user_functions import StateExpression, column_of
from ..results.labels import Wrt
from ..results.linear_model import LinearModel
from ..results.run import Run
from ..schemes import choose
from ..sensitivity.objective import StateFunction
from ..sensitivity.stability_objective import PLACES
from ..solving.independent_states import Candidates
from ..solving.linear_inputs import InputEquations, with_inputs
from ..solving.linearization import (
    Linearization,
    Matrices,
    Place,
    add_driver_rates,
    extended,
)
from ..solving.operating_points import Point, changes, check_steady, completed, is_steady, steady
from .simulation import Values
from .solvers import ModelSolvers

if TYPE_CHECKING:
    from ..coordinates.systems import Coordinates
    from ..solving.solver import Solver

Outputs = Mapping[str, StateFunction | str]
Inputs = Sequence[str | ForceLaw | Driver | Parameter] | str | ForceLaw | Driver | Parameter


@dataclass(frozen=True)
class Linearized:
    """Linearised equations at a point of a motion, with derivatives if requested."""

    linear: Linearization
    point: Point
    matrices: Matrices
    derivatives: np.ndarray | None
    """Derivatives of S: (row, column, parameter)."""
    output_names: tuple[str, ...]
    steady: bool


class Derived:
    """Equations of a mechanism with inputs and outputs, linearised once for all points."""

    def __init__(self, equations: Equations, inputs: Sequence[str], outputs: Outputs):
        self._input_equations = with_inputs(equations, list(inputs))
        self._candidates = Candidates(self._input_equations.equations, equations)
        self.names, self._expressions = _outputs(self._input_equations, outputs)
        self._kept: dict[tuple[str, ...], Linearization] = {}

    def at(self, start: _Start) -> Linearization:
        """Return the linearisation in the states that are independent at this point."""
        states = self._candidates.choose(start.q, start.v, start.ρ, start.t)
        key = tuple(states.names)
        if key not in self._kept:
            self._kept[key] = Linearization(self._input_equations, states, self._expressions)
        return self._kept[key]


def linearized(
    solvers: ModelSolvers,
    at: str | Run,
    time: float | None,
    inputs: Inputs,
    outputs: Outputs | None,
    wrt: Wrt,
    parameters: Values | None,
    coordinates: str | Coordinates,
    kept: dict[int, Derived] | None = None,
) -> Linearized:
    """Linearise a model about a motion.

    Calls that differ in `wrt` and `parameters` alone may share `kept`, a cache of the symbolic
    linearisations.

    Raises:
        ModelError: for invalid input, and for contacts and dry friction.
        VarimechError: if there is no such motion.
    """
    solvers.check_masses("linearize")
    solvers.check_continuous("linearize")
    indices = None if wrt is None else solvers.indices(wrt)
    start, equations = _origin(solvers, at, time, indices, parameters, coordinates)
    kept = {} if kept is None else kept
    if id(equations) not in kept:
        kept[id(equations)] = Derived(equations, _names(inputs), outputs or {})
    derived = kept[id(equations)]
    linear = derived.at(start)
    place = completed(linear, start.q, start.v, start.ρ, start.t)
    point = Point(place, start.kind, start.moved)
    if start.kind == "equilibrium":
        _check_rest(linear, place)
        point = Point(place, start.kind)
    elif start.kind == "steady":
        rates = None if start.moved is None else _start_rates(linear, place, start.moved, indices)
        point = Point(steady(linear, place), start.kind, rates=rates)
    matrices = linear.at(point.place, indices)
    constant = start.kind == "equilibrium" or is_steady(linear, point.place, matrices)
    if start.kind == "steady" and not constant:
        check_steady(linear, point.place, matrices)
    S_ = None
    if indices is not None:
        S_ = linear.along(point.place, matrices, changes(linear, point, matrices, indices))
    return Linearized(linear, point, matrices, S_, derived.names, constant)


@dataclass(frozen=True)
class _Start:
    kind: str
    q: np.ndarray
    v: np.ndarray
    ρ: np.ndarray
    t: float
    moved: tuple[np.ndarray, np.ndarray] | None = None


def _origin(
    solvers: ModelSolvers,
    at: str | Run,
    time: float | None,
    indices: list[int] | None,
    parameters: Values | None,
    coordinates: str | Coordinates,
) -> tuple[_Start, Equations]:
    """Return the positions and velocities at which to linearise, and the equations to which they
    belong.
    """
    if isinstance(at, Run):
        return _instant(solvers, at, time, indices, parameters)
    if at not in PLACES:
        raise unknown_name("place", at, [*PLACES, "a run"])
    if time is not None:
        raise ModelError(
            "is an instant of a run",
            element="linearize",
            field="time",
            value=time,
            remedy="give a run, at=run, or leave it out",
        )
    solver = solvers.of(choose(1.0, coordinates=coordinates)[0])
    _check_smooth(solver.equations)
    ρ = solvers.data.parameter_set.values(parameters)
    if at == "equilibrium":
        rest = solver.statics.equilibrium(ρ, None)
        return _Start(at, rest.q, rest.v, ρ, 0.0), solver.equations
    return _initial(solver, at, ρ, indices), solver.equations


def _initial(solver: Solver, kind: str, ρ: np.ndarray, indices: list[int] | None) -> _Start:
    """Return the initial state, with its derivatives."""
    solver.start.check_closure(ρ, indices)
    state = solver.start.complete(solver.start.assemble(ρ), ρ)
    if indices is None:
        return _Start(kind, state.q, state.v, ρ, 0.0)
    solver.start.check_derivatives(state, ρ, indices)
    n, S = state.q.size, solver.start.sensitivities(state, ρ, indices)
    return _Start(kind, state.q, state.v, ρ, 0.0, (S[:n], S[n : 2 * n]))


def _instant(
    solvers: ModelSolvers,
    run: Run,
    time: float | None,
    indices: list[int] | None,
    parameters: Values | None,
) -> tuple[_Start, Equations]:
    """Return a stored instant of a run, with its derivatives where they are available."""
    if parameters is not None:
        raise ModelError(
            "are those of the run",
            element="linearize",
            field="parameters",
            remedy="leave them out, or run with them",
        )
    if not run.is_live:
        raise ModelError(
            "was read from a file, which contains no equations",
            element="linearize",
            field="at",
            remedy="simulate again",
        )
    live = run.live
    e, names = live.equations, live.equations.model.parameter_set.parameters
    if e.model.name != solvers.data.name or list(names) != list(
        solvers.data.parameter_set.parameters
    ):
        raise ModelError(
            "is of another mechanism", element="linearize", field="at", value=e.model.name
        )
    _check_smooth(e)
    row = run._rows_at([run.time[-1] if time is None else time])[0]
    t, n = float(run.time[row]), e.q.numel()
    ρ = live.computed.parameters_at(np.array([t]), live.parameters)[0]
    x = live.trajectory.states[row]
    if indices is None:
        return _Start("run", x[:n], x[n : 2 * n], ρ, t), e
    differentiated_for = run.parameter_names
    for k in indices:
        if (name := list(names)[k]) not in differentiated_for:
            raise ModelError(
                f"the run has no derivatives with respect to {name!r}",
                element="linearize",
                field="wrt",
                value=name,
                remedy="take the run of a gradient: m.sensitivity(…, wrt=…, method='direct').run",
            )
    S = live.derivatives.sensitivities
    assert S is not None
    S = S[row][:, [differentiated_for.index(list(names)[k]) for k in indices]]
    return _Start("run", x[:n], x[n : 2 * n], ρ, t, (S[:n], S[n : 2 * n])), e


def _check_smooth(e: Equations) -> None:
    if e.units or e.loads:
        raise ModelError(
            f"mechanism {e.model.name!r} has rigid contacts or dry friction, which no linear"
            " equations describe",
            remedy="use compliant contacts (a stiffness) and smooth friction, or leave them out",
        )


def _check_rest(linear: Linearization, place: Place) -> None:
    """Refuse an equilibrium of a mechanism that is driven."""
    if linear.moves_at_rest(place):
        raise ModelError(
            f": mechanism {linear.equations.model.name!r} has no equilibrium, because a driver moves"
            " it",
            element="linearize",
            field="at",
            value="equilibrium",
            remedy=Message("use {at} for its steady motion", at="steady"),
        )


def _start_rates(
    linear: Linearization,
    place: Place,
    moved: tuple[np.ndarray, np.ndarray],
    indices: list[int] | None,
) -> np.ndarray:
    """Return ∂ẏ/∂ρ of the initial state."""
    matrices, count = linear.at(place), len(indices or [])
    π = np.zeros((place.ρ.size + 1, count))
    π[indices or [], range(count)] = 1.0
    return linear.velocity_changes(matrices, linear.completed(matrices, *moved, π))


def _names(inputs: Inputs) -> list[str]:
    input_list = (
        [inputs] if isinstance(inputs, (str, ForceLaw, Driver, Parameter)) else list(inputs)
    )
    return [i if isinstance(i, str) else i.name for i in input_list]


def _outputs(input_equations: InputEquations, outputs: Outputs) -> tuple[tuple[str, ...], SX]:
    """Return names and expressions of outputs, one for each component.

    Raises:
        ModelError: for reactions where a force is an input: they are computed from the forces of
            the model.
    """
    e, reactions_used = input_equations.equations, []

    def reactions() -> Reactions:
        reactions_used.append(True)
        return e.reactions

    state = e.state_with(reactions)
    names, columns = [], [SX(0, 1)]
    for name, function in outputs.items():
        label = f"output {name!r}"
        value = column_of(_function(function, label), state, label)
        e.model.parameter_set.check_symbols(value, label, symbols_in(e.packed, e.t))
        count = value.numel()
        names += [name] if count == 1 else [f"{name}.{c}" for c in _components(count)]
        columns.append(value)
    if reactions_used and input_equations.has_forces:
        raise ModelError(
            "reactions are no outputs where a force is an input",
            element="linearize",
            field="outputs",
            remedy="give the force a parameter, and name this as the input",
        )
    return tuple(names), ca.vertcat(*columns)


def _components(count: int) -> list[str]:
    return [*"xyz"[:count]] if count <= 3 else [str(k) for k in range(count)]


def _function(function: StateFunction | str, label: str) -> Callable[[State], object]:
    if isinstance(function, str):
        return StateExpression(function)
    if not callable(function):
        raise ModelError(
            "must be a function of the state, or a text", element="linearize", label=label
        )
    return function


def linearize(
    solvers: ModelSolvers,
    at: str | Run,
    time: float | None,
    inputs: Inputs,
    outputs: Outputs | None,
    wrt: Wrt,
    parameters: Values | None,
    coordinates: str | Coordinates,
) -> LinearModel:
    """Build a labelled linear model; its outputs are the states if none are given."""
    linearized_motion = linearized(solvers, at, time, inputs, outputs, wrt, parameters, coordinates)
    linear, input_labels = linearized_motion.linear, linearized_motion.linear.inputs
    count, drivers = linear.state_count, [i for i in input_labels if i.of == "driver"]
    S = extended(linearized_motion.matrices.S, count, input_labels)
    add_driver_rates(S, count, input_labels)
    S_ = (
        None
        if linearized_motion.derivatives is None
        else extended(linearized_motion.derivatives, count, input_labels)
    )
    states = [*linear.states.names, *[x for i in drivers for x in (i.name, f"{i.name} rate")]]
    units = [*linear.states.units, *[x for i in drivers for x in (i.unit, f"{i.unit}/s")]]
    names = linearized_motion.output_names
    if outputs is None:
        names = tuple(states)
        S = np.vstack([S, np.eye(len(states), S.shape[1])])
        S_ = None if S_ is None else np.concatenate([S_, np.zeros((len(states), *S_.shape[1:]))])
    chosen = [] if wrt is None else solvers.parameters(solvers.indices(wrt))
    return LinearModel(
        solvers.data.name,
        linearized_motion.point.kind,
        linearized_motion.point.place.t,
        linearized_motion.steady,
        tuple(states),
        tuple(units),
        tuple(f"{i.name} acceleration" if i.of == "driver" else i.name for i in input_labels),
        tuple(f"{i.unit}/s²" if i.of == "driver" else i.unit for i in input_labels),
        names,
        tuple(p.name for p in chosen),
        S,
        S_,
        tuple(p.distribution for p in chosen),
    )
