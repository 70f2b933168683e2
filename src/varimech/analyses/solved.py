"""What every verb needs: solvers of the model as it is now, the parameters to differentiate for,
and what is told of results.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..backends.trajectory import Trajectory
from ..core.errors import ModelError, check_numbers
from ..core.schedule import Schedule
from ..elements.builder import Model
from ..model.parameter import Parameter
from ..results.live_run import LiveRun
from ..results.run import Run
from ..schemes import Method
from ..sensitivity.objective import Objective, StateFunction
from ..sensitivity.objective_functions import counted_angles

if TYPE_CHECKING:
    from ..solving.solver import Solver

Wrt = Sequence[str | Parameter] | str | Parameter | None
"""Parameters to differentiate for: one, several, or "all"."""


class Solved(Model):
    """The model with its solvers, built when first needed and kept until it changes."""

    @cached_property
    def _solvers(self) -> dict[tuple[int, Method], Solver]:
        return {}

    def _solver(self, method: Method, objectives: Mapping[str, Objective] | None = None) -> Solver:
        """The solver for this state of the model, in which angles count the turns that objectives
        depend on.
        """
        both = [
            (f"objective {name!r}", f)
            for name, o in (objectives or {}).items()
            for f in (o.integrand, o.final)
        ]
        terms = [(label, f) for label, f in both if f is not None]
        return self._plain_solver(self._counting(method, terms))

    def _counting(self, method: Method, functions: Sequence[tuple[str, StateFunction]]) -> Method:
        """The method in coordinates in which angles count the turns that some functions of the
        state depend on.
        """
        coordinates = method.coordinates
        names = counted_angles(self._plain_solver(method).equations, functions) if functions else ()
        if not names:
            return method
        return replace(
            method,
            coordinates=replace(coordinates, counted=tuple(sorted({*coordinates.counted, *names}))),
        )

    def _plain_solver(self, method: Method) -> Solver:
        from ..solving.solver import Solver  # a good part of what there is to import

        key = (self.data.revision, method)
        solver = self._solvers.get(key)
        if solver is None:
            solver = Solver(self.data, method)
            fresh = {k: s for k, s in self._solvers.items() if k[0] == self.data.revision}
            self._solvers = {
                **fresh,
                key: solver,
            }  # at once: other threads may look, and take one of their own at worst
        return solver

    def _chosen(self, wrt: Wrt) -> list[int]:
        """Places of the parameters to differentiate for; all of them if none are named."""
        if not self.parameters:
            raise ModelError(
                f"mechanism {self.name!r} has no parameters; make some with parameter(name, value)"
            )
        if wrt is None or (isinstance(wrt, str) and wrt == "all"):
            return list(range(len(self.parameters)))
        names = (
            [wrt]
            if isinstance(wrt, (str, Parameter)) or not isinstance(wrt, Iterable)
            else list(wrt)
        )
        if not names:
            raise ModelError(
                "wrt is empty: name at least one parameter, or leave it out for all of them"
            )
        indices = self.data.parameter_set.indices(names)
        if len(set(indices)) < len(indices):
            raise ModelError(f"wrt = {names!r} names a parameter twice")
        return indices

    def _run(
        self,
        solver: Solver,
        schedule: Schedule,
        trajectory: Trajectory,
        ρ: np.ndarray,
        indices: list[int],
        seconds: dict[str, float],
    ) -> Run:
        lengths, steps = np.diff(trajectory.step_ends), trajectory.steps
        info = self._info(solver.method.title, trajectory, ρ, seconds)
        info |= {
            "step": schedule.step
            or (
                [float(lengths.min()), float(lengths.max())]
                if steps is None
                else schedule.duration / steps
            ),
            "steps": lengths.size if steps is None else steps,
        }
        if (
            schedule.step and lengths.size > schedule.steps
        ):  # some end at edges of explicit functions of time
            info["shortest_step"] = float(lengths.min())
        if schedule.tolerance:
            info |= {"tolerance": schedule.tolerance, "rejected": trajectory.rejected}
        if solver.other_configuration is not None:
            info["configuration"] = str(solver.other_configuration)
        if trajectory.selections:
            info["selections"] = trajectory.selections
        return Run(LiveRun(solver.equations, trajectory, ρ, indices, solver.method), info)

    def _info(
        self, method: str, trajectory: Trajectory, ρ: np.ndarray, seconds: dict[str, float]
    ) -> dict[str, Any]:
        """What is told of every result."""
        return {
            "mechanism": self.name,
            "dimension": self.dimension,
            "method": method,
            "iterations": trajectory.iterations,
            "residuals": [float(r) for r in trajectory.residuals],
            "parameters": dict(zip(self.parameters, ρ.tolist(), strict=True)),
            "seconds": seconds,
            "versions": _versions(),
        }


@cache
def _versions() -> dict[str, str]:
    from importlib.metadata import version  # slow to import, and not needed to get started

    return {name: version(name) for name in ("varimech", "casadi", "numpy")}


def seconds_of(began: float, ran: float) -> dict[str, float]:
    """Time spent on deriving and starting, and on the time steps."""
    return {"build": time.perf_counter() - began - ran, "run": ran}


def checked_bytes(verb: str, memory: float) -> float:
    """Bytes of so many MB."""
    check_numbers(verb, memory=memory)
    if not memory > 0:
        raise ModelError(f"{verb}: memory = {memory!r} MB must be positive")
    return 1e6 * memory
