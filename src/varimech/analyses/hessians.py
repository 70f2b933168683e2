"""The verbs that differentiate twice: `hessian` and `hessian_product`."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Unpack

import numpy as np

from ..core.errors import ModelError, check_numbers, unknown_name
from ..core.interrupts import workers
from ..core.messages import Message
from ..core.progress import progress_bar
from ..results.hessian import Hessian
from ..schemes import RunOptions, choose
from ..sensitivity.objective import Objective, Objectives, named_objectives
from ..sensitivity.smoothness import check_gradients
from ..solving.derivative_request import unit_directions
from ..solving.task import Task
from .gradients import Differentiable
from .solved import Wrt, checked_bytes, seconds_of

if TYPE_CHECKING:
    import xarray as xr

    from ..solving.second_order import SecondDerivatives
    from ..solving.solver import Solver

BACKWARD_PAYS = 4
"""Parameters for each objective beyond which second derivatives are faster backward over forward;
see docs/architecture.md.
"""
WAYS = ("auto", "forward", "backward")


class TwiceDifferentiable(Differentiable):
    """Motions with their second derivatives."""

    def hessian(
        self,
        objectives: Objectives = (),
        wrt: Wrt = None,
        *,
        duration: float,
        parameters: Mapping[str, float] | None = None,
        method: str = "auto",
        memory: float = 500.0,
        **how: Unpack[RunOptions],
    ) -> Hessian:
        """Exact second derivatives of objectives, and of any measure over time.

        They are those of the discrete solution itself, chosen steps held fixed.

        Args:
            objectives: one, a list, or a mapping from names; may be empty where only measures over
                time are wanted.
            wrt: parameters by name; "all", or nothing, for all of them.
            duration: s.
            parameters: values that differ from the nominal ones.
            method: "forward" (over forward: also of measures over time), "backward" (over forward,
                by an adjoint), or "auto", the faster one by the numbers of parameters and
                objectives.
            memory: MB that each of the adjoints that run at once may take for what it records.
            how: step, every, tolerance, output, ends, integrator, formulation, coordinates,
                backend, progress, as for `simulate`.

        Returns:
            A `Hessian`: `.values`, `.gradient`, `.hessian`, `.measure(function)`, `.run`.

        >>> import varimech as vm
        >>> m = vm.Mechanism("pendulum", gravity=(0, -9.81))
        >>> L = m.parameter("L", 1.0, unit="m")
        >>> O = m.ground_point("O", (0, 0))
        >>> rod = m.bar("rod", "O", "tip", length=L, mass=3.0)
        >>> joint = m.revolute("O")
        >>> m.start(angle={"rod": 0.0})
        >>> height = vm.final(lambda s: s.position("tip")[1], unit="m")
        >>> H = m.hessian({"height": height}, duration=0.5)
        >>> f"{H.hessian.item():.4f}"
        '1.7559'
        """
        began = time.perf_counter()
        named, indices = named_objectives(objectives), self._chosen(wrt)
        adjoint = _backward(method, len(named), len(indices))
        directions = np.ascontiguousarray(unit_directions(len(self.parameters), indices).T)
        found, solver, ρ, task, ran = self._second(
            named, indices, list(directions), duration, parameters, adjoint, how, memory
        )
        first = found[0].trajectory
        seconds = seconds_of(began, ran)
        chosen = [list(self.parameters.values())[k] for k in indices]
        states = [d.states_along for d in found if d.states_along is not None]
        return Hessian(
            "backward over forward" if adjoint else "forward over forward",
            tuple(named),
            tuple(p.name for p in chosen),
            tuple(o.unit for o in named.values()),
            tuple(p.unit for p in chosen),
            first.objectives[-1],
            found[0].gradients[-1],
            np.stack([d.gradients_along[-1] for d in found], axis=1),
            self._run(solver, task.schedule, first, ρ, indices, seconds),
            seconds,
            np.stack(states, axis=2) if states else None,
        )

    def hessian_product(
        self,
        objectives: Objectives,
        along: Mapping[str, float],
        wrt: Wrt = None,
        *,
        duration: float,
        parameters: Mapping[str, float] | None = None,
        method: str = "auto",
        **how: Unpack[RunOptions],
    ) -> xr.DataArray:
        """Hessians of objectives times a vector, (objective, parameter), by one run.

        Args:
            objectives: at least one, as for `hessian`.
            along: the vector, parameter → number; parameters that are not named do not change.
            wrt, duration, parameters, method, how: as for `hessian`.
        """
        import xarray as xr

        named, indices = named_objectives(objectives), self._chosen(wrt)
        if not named:
            raise ModelError("hessian_product needs at least one objective")
        adjoint = _backward(method, len(named), len(indices))
        if not isinstance(along, Mapping):
            raise ModelError(
                f"hessian_product: along = {along!r} must be parameters with numbers, such as"
                " {'L': 1.0}"
            )
        check_numbers(
            "hessian_product: along", **{str(name): value for name, value in along.items()}
        )
        if any(value != value for value in along.values()):
            raise ModelError(f"hessian_product: along = {along!r} has values that are not a number")
        direction = np.zeros(len(self.parameters))
        direction[self.data.parameter_set.indices(list(along))] = list(along.values())
        found, *_ = self._second(named, indices, [direction], duration, parameters, adjoint, how)
        names = [list(self.parameters)[k] for k in indices]
        coords = {"objective": list(named), "parameter": names}
        return xr.DataArray(
            found[0].gradients_along[-1], coords=coords, dims=["objective", "parameter"]
        )

    def _second(
        self,
        named: Mapping[str, Objective],
        indices: list[int],
        directions: list[np.ndarray],
        duration: float,
        parameters: Mapping[str, float] | None,
        adjoint: bool,
        how: RunOptions,
        memory: float = 500.0,
    ) -> tuple[list[SecondDerivatives], Solver, np.ndarray, Task, float]:
        """Runs with second derivatives in some directions; steps are those of a run with first
        derivatives.
        """
        way, schedule = choose(duration, **how)
        most, by = checked_bytes("hessian", memory), "adjoint" if adjoint else "direct"
        ρ, solver = self.data.parameter_set.values(parameters), self._solver(way, named)
        check_gradients(solver.equations, named)
        task = Task(
            schedule, named, indices, how.get("backend", "auto"), how.get("progress"), by, most
        )
        chosen = 0.0
        if schedule.tolerance:
            trajectory, chosen = solver.run(task, ρ)
            task = replace(task, schedule=schedule.replayed(trajectory.step_ends))
        found, ran = _side_by_side(solver, replace(task, runs=len(directions)), ρ, directions)
        return found, solver, ρ, task, chosen + ran


def _backward(method: str, objectives: int, parameters: int) -> bool:
    """Whether second derivatives are computed backward over forward: where that is
    said, or faster.
    """
    if method not in WAYS:
        raise unknown_name("method", method, WAYS)
    if method == "backward" and not objectives:
        raise ModelError(
            "method 'backward' differentiates objectives, and there are none",
            remedy=Message("outputs over time need {method}", method="forward"),
        )
    return method == "backward" or (
        method == "auto" and 0 < objectives * BACKWARD_PAYS < parameters
    )


def _side_by_side(
    solver: Solver, task: Task, ρ: np.ndarray, directions: list[np.ndarray]
) -> tuple[list[SecondDerivatives], float]:
    """A run for each direction, and the seconds that they took; the first one compiles what the
    others share.
    """
    with (
        progress_bar(
            f"{solver.model.name}: second derivatives", len(directions), task.progress
        ) as tell,
        workers(os.cpu_count()) as (pool, stop),
    ):
        first, seconds = solver.run_second(task, ρ, directions[0])
        found = [first]
        tell(1)
        began, stoppable = time.perf_counter(), replace(task, stop=stop)
        for derivatives, _ in pool.map(
            lambda d: solver.run_second(stoppable, ρ, d), directions[1:]
        ):
            found.append(derivatives)
            tell(len(found))
        return found, seconds + time.perf_counter() - began
