"""The verb that differentiates: `sensitivity`."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from numbers import Real
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from ..backends.trajectory import BrokenOff, Trajectory
from ..core.errors import ModelError, unknown_name
from ..results.gradient import Gradient
from ..schemes import Method, RunOptions, choose
from ..sensitivity.finite_difference import RELATIVE_STEPS
from ..sensitivity.objective import Objective, Objectives, named_objectives
from ..sensitivity.smoothness import check_gradients
from ..solving.task import Task
from .moving import Moving
from .solved import Wrt, checked_bytes, seconds_of

if TYPE_CHECKING:
    import xarray as xr

    from ..solving.solver import Solver

ADJOINT_PAYS = 8
"""Parameters for each objective beyond which an adjoint is faster; see
docs/decisions/2026-11-derivatives.md.
"""
METHODS = ("auto", "direct", "adjoint", "composite", "finite-difference", "complex-step")


class Differentiable(Moving):
    """Motions with their derivatives."""

    def sensitivity(
        self,
        objectives: Objectives = (),
        wrt: Wrt = None,
        *,
        duration: float,
        method: str = "direct",
        parameters: Mapping[str, float] | None = None,
        relative_steps: Sequence[float] = RELATIVE_STEPS,
        memory: float = 500.0,
        **how: Unpack[RunOptions],
    ) -> Gradient:
        """Objectives and their derivatives with respect to parameters; also those of every measure
        over time.

        Args:
            objectives: one, a list, or a mapping from names (see `varimech.integral` and
                `varimech.final`); may be empty.
            wrt: parameters by name; "all", or nothing, for all of them.
            duration: s.
            method: "direct" (exact derivative of the discrete solution, chosen steps held fixed;
                also of every measure over time), "adjoint" (the same at the end of the run only, by
                one sweep backwards for any number of parameters), "auto" (one of these two, the
                faster one by the numbers of parameters and objectives), "composite" (motion and
                derivative as one differential-algebraic system, after Serban and Freeman),
                "finite-difference" (central, over a sweep of perturbations) or "complex-step" (the
                run in complex numbers: exact without any derivative; at the end of the run only).
            parameters: values that differ from the nominal ones.
            relative_steps: the perturbations of that sweep, relative to each parameter.
            memory: MB that an adjoint may take for what it records of each step; of longer runs
                parts are carried out once more.
            how: step, every, tolerance, output, ends, integrator, formulation, coordinates,
                backend, progress, as for `simulate`.

        Returns:
            A `Gradient`: `.values`, `.gradient`, `.history`, and `.run`, whose measures take
            `wrt=`.

        Raises:
            Interrupted: on Ctrl-C with method="direct"; its `result` is the gradient of the motion
                up to then. Other methods know nothing before their end: a plain KeyboardInterrupt.
        """
        began = time.perf_counter()
        if method not in METHODS:
            raise unknown_name("method", method, METHODS)
        way, schedule = choose(duration, **how)
        named, indices = named_objectives(objectives), self._chosen(wrt)
        method, perturbations = (
            _way(method, way, len(named), len(indices)),
            _perturbations(relative_steps),
        )
        backend, bar, most = (
            how.get("backend", "auto"),
            how.get("progress"),
            checked_bytes("sensitivity", memory),
        )
        task = Task(schedule, named, indices, backend, bar, method, most)
        ρ, solver = self.data.parameter_set.values(parameters), self._solver(way, named)
        if method != "finite-difference":
            check_gradients(solver.equations, named)
        chosen = [list(self.parameters.values())[k] for k in indices]
        names = tuple(p.name for p in chosen)
        given = {
            "wrt": list(names),
            "duration": duration,
            "method": method,
            "parameters": parameters,
            "memory": memory,
        }
        repeat = self._repeating(named, {**how, **given, "relative_steps": relative_steps})

        def result(trajectory: Trajectory, ran: float, sweep: np.ndarray | None) -> Gradient:
            assert trajectory.gradients is not None
            seconds = seconds_of(began, ran)
            return Gradient(
                method,
                tuple(named),
                names,
                tuple(o.unit for o in named.values()),
                tuple(p.unit for p in chosen),
                trajectory.time,
                trajectory.objectives,
                trajectory.gradients,
                self._run(solver, schedule, trajectory, ρ, indices, seconds),
                seconds,
                None if sweep is None else _labelled(sweep, perturbations, tuple(named), names),
                repeat,
                named,
            )

        try:
            return result(*_executed(solver, task, ρ, perturbations))
        except BrokenOff as stopped:
            if method != "direct":  # which know nothing before their end
                raise KeyboardInterrupt from None
            raise self._stopped(
                stopped, schedule, lambda found, ran: replace(result(found, ran, None), repeat=None)
            ) from None

    def _repeating(
        self, objectives: Mapping[str, Objective], given: Mapping[str, Any]
    ) -> Callable[..., Gradient]:
        """`sensitivity` of the model as it is now, once more, with some arguments changed."""
        revision = self.data.revision

        def repeat(**changes: Any) -> Gradient:
            if self.data.revision != revision:
                raise ModelError(
                    f"mechanism {self.name!r} has been changed since this gradient was computed;"
                    " compute it anew"
                )
            return self.sensitivity(objectives, **{**given, **changes})

        return repeat


def _executed(
    solver: Solver, task: Task, ρ: np.ndarray, perturbations: tuple[float, ...]
) -> tuple[Trajectory, float, np.ndarray | None]:
    """A run with derivatives, the seconds that it took, and the sweep of differences where they
    come from one.
    """
    if task.method == "finite-difference":
        from ..solving.differences import run_differences  # with the solver

        return run_differences(solver, task, ρ, perturbations)
    from ..solving.kinks import check_kinks

    trajectory, seconds = (
        solver.run_composite(task, ρ) if task.method == "composite" else solver.run(task, ρ)
    )
    check_kinks(solver, task, ρ, trajectory)
    return trajectory, seconds, None


def _way(method: str, way: Method, objectives: int, parameters: int) -> str:
    """How derivatives are computed: what is said, or the faster of direct and adjoint."""
    adjoint_can = objectives > 0 and way.integrator.traits.adjoint
    if method == "auto":
        return "adjoint" if adjoint_can and parameters > ADJOINT_PAYS * objectives else "direct"
    if method == "adjoint" and not objectives:
        raise ModelError(
            "method='adjoint' differentiates objectives, and there are none; measures over time"
            " need method='direct'"
        )
    if method == "adjoint" and not adjoint_can:
        raise ModelError(
            f"method='adjoint' is the adjoint of the steps taken, which {way.integrator.title} does"
            " not tell: use method='direct', or another integrator"
        )
    return method


def _perturbations(steps: Any) -> tuple[float, ...]:
    """Checked relative perturbations of a sweep."""
    given = (
        list(steps)
        if isinstance(steps, (Sequence, np.ndarray)) and not isinstance(steps, str)
        else []
    )
    if not given or not all(isinstance(h, Real) and float(h) > 0 for h in given):
        raise ModelError(
            f"relative_steps = {steps!r} must be one or more positive numbers, such as (1e-4, 1e-6)"
        )
    return tuple(float(h) for h in given)


def _labelled(
    sweep: np.ndarray,
    perturbations: tuple[float, ...],
    objectives: tuple[str, ...],
    parameters: tuple[str, ...],
) -> xr.DataArray:
    import xarray as xr

    coords = {
        "relative_step": list(perturbations),
        "objective": list(objectives),
        "parameter": list(parameters),
    }
    return xr.DataArray(sweep, coords=coords, dims=list(coords))
