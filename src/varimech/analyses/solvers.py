"""Solvers of a model, cached until the model changes, and the labels of results."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ..backends.trajectory import Trajectory
from ..coordinates.equations import has_friction
from ..coordinates.systems import Natural, Relative
from ..core.errors import ModelError, VarimechError, check_numbers
from ..core.messages import Message
from ..core.schedule import Schedule
from ..model.body import RigidBody
from ..model.model_data import ModelData
from ..model.parameter import Parameter
from ..model.parameter_set import listed
from ..results.events import events_of
from ..results.labels import Wrt
from ..results.live_run import LiveRun, Replay
from ..results.run import Run
from ..schemes import Method, choose
from ..sensitivity.objective import Objective, StateFunction, functions_of
from ..sensitivity.objective_functions import counted_angles

if TYPE_CHECKING:
    from ..solving.solver import Solver


Labels = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...], tuple[str, ...]]
"""Names and units of objectives, names and units of parameters: the first fields of results by
objective and parameter.
"""


class ModelSolvers:
    """Solvers of a model, one for each scheme, built when first needed and cached until the model
    changes.
    """

    def __init__(self, data: ModelData):
        self.data = data
        self.kept: dict[tuple[int, Method], Solver] = {}

    def check_continuous(self, analysis: str) -> None:
        """Refuse signals that change at samples only: a rate of zero between samples is no
        equilibrium.

        Raises:
            ModelError: naming the first one.
        """
        for name, force in self.data.forces.items():
            if force.is_sampled:
                raise ModelError(
                    f"signal {name!r} is sampled, which neither an equilibrium nor linear equations"
                    " describe",
                    element=analysis,
                    remedy="use m.delay with half its period in its place, which is close to it for"
                    " slow motions, or simulate",
                )

    def check_masses(self, analysis: str) -> None:
        """Refuse bodies without mass, which are valid in kinematics only.

        Raises:
            ModelError: naming them.
        """
        light = [b.name for b in self.data.moving_bodies if isinstance(b, RigidBody) and b.massless]
        if light:
            bodies = "body" if len(light) == 1 else "bodies"
            raise ModelError(
                f"{bodies} {', '.join(map(repr, light))} without mass",
                element=analysis,
                value=light[0],
                remedy="give a mass (and, for other bodies than bars, an inertia); kinematics needs"
                " none",
            )

    def of(self, scheme: Method, objectives: Mapping[str, Objective] | None = None) -> Solver:
        """Return the solver for the current revision of the model, in which angles count the full
        turns on which objectives depend.
        """
        terms = [
            (f"objective {name!r}", f)
            for name, o in (objectives or {}).items()
            for f in functions_of(o)
        ]
        return self._plain(self.counting(scheme, terms))

    @property
    def default(self) -> Solver:
        """The solver of analyses at rest, in natural coordinates."""
        return self._plain(choose(1.0, coordinates="natural")[0])

    def counting(self, scheme: Method, functions: Sequence[tuple[str, StateFunction]]) -> Method:
        """Return the scheme in coordinates in which angles count the full turns on which labelled
        functions of the state depend.
        """
        coordinates = scheme.coordinates
        names = counted_angles(self._plain(scheme).equations, functions) if functions else ()
        if not names:
            return scheme
        return replace(
            scheme,
            coordinates=replace(coordinates, counted=tuple(sorted({*coordinates.counted, *names}))),
        )

    def _plain(self, scheme: Method) -> Solver:
        # imported late: it takes a large share of the import time
        from ..solving.solver import Solver

        key = (self.data.revision, scheme)
        solver = self.kept.get(key)
        if solver is None:
            solver = self._relative(scheme) or Solver(self.data, self._natural(scheme))
            fresh = {k: s for k, s in self.kept.items() if k[0] == self.data.revision}
            # replaced atomically: at worst, another thread that reads it meanwhile builds a solver
            # of its own
            self.kept = {**fresh, key: solver}
        return solver

    def _relative(self, scheme: Method) -> Solver | None:
        """Return the solver in relative coordinates, where these are chosen automatically and suit
        the model: its loops close from the same initial conditions.
        """
        from ..solving.solver import Solver

        method = scheme.resolved(self.data)
        if not method.reason or not isinstance(method.coordinates, Relative):
            return None
        if self._joint_friction:
            return None
        ρ = self.data.parameter_set.nominal
        try:
            solver = Solver(self.data, method)
            solver.start.complete(solver.start.assemble(ρ), ρ)
        except VarimechError:
            return None
        return solver

    def _natural(self, scheme: Method) -> Method:
        """Return the scheme as given, or in natural coordinates where relative ones fail."""
        method = scheme.resolved(self.data)
        if not method.reason or not isinstance(method.coordinates, Relative):
            return method
        reason = "natural coordinates: relative ones find no initial state"
        if self._joint_friction:
            reason = "natural coordinates: joints have friction"
        coordinates = Natural(counted=method.coordinates.counted)
        return replace(method, coordinates=coordinates, reason=reason)

    @property
    def _joint_friction(self) -> bool:
        """Whether a joint has friction: spanning trees are cut there, so relative coordinates gain
        nothing.
        """
        return any(has_friction(joint) for joint in self.data.joints.values())

    def indices(self, wrt: Wrt) -> list[int]:
        """Return positions of the parameters to differentiate for; all of them if none are named."""
        parameters = self.data.parameter_set.parameters
        if not parameters:
            problem = f"mechanism {self.data.name!r} has no parameters"
            raise ModelError(
                problem, value=self.data.name, remedy="make some with parameter(name, value)"
            )
        if wrt is None or (isinstance(wrt, str) and wrt == "all"):
            return list(range(len(parameters)))
        names = listed(wrt, "wrt", Message("give values in {parameters}"))
        if not names:
            raise ModelError(
                "is empty",
                field="wrt",
                remedy="name at least one parameter, or leave it out for all of them",
            )
        indices = self.data.parameter_set.indices(names)
        if len(set(indices)) < len(indices):
            raise ModelError("names a parameter twice", field="wrt", value=names)
        return indices

    def parameters(self, indices: Sequence[int]) -> list[Parameter]:
        """Return the parameters at the given positions."""
        every = list(self.data.parameter_set.parameters.values())
        return [every[k] for k in indices]

    def labels(self, objectives: Mapping[str, Objective], indices: Sequence[int]) -> Labels:
        """Return names and units of objectives and of the parameters at the given positions."""
        chosen = self.parameters(indices)
        return (
            tuple(objectives),
            tuple(o.unit for o in objectives.values()),
            tuple(p.name for p in chosen),
            tuple(p.unit for p in chosen),
        )

    def run(
        self,
        solver: Solver,
        schedule: Schedule,
        trajectory: Trajectory,
        ρ: np.ndarray,
        indices: list[int],
        seconds: dict[str, float],
        replay: Replay | None = None,
    ) -> Run:
        """Wrap a trajectory as a `Run`, with the facts about its computation; `replay` computes
        results that the run has not stored.
        """
        lengths, steps = np.diff(trajectory.step_ends), trajectory.steps
        if trajectory.triggers is not None:  # steps across events have no duration
            lengths = lengths[trajectory.triggers[1:] == 0]
        info = self.info(solver.method.title, trajectory, ρ, seconds)
        info |= {
            "step": schedule.step
            or (
                [float(lengths.min()), float(lengths.max())]
                if steps is None
                else schedule.duration / steps
            ),
            "steps": lengths.size if steps is None else steps,
            "execution": trajectory.execution,
        }
        # some of the equal steps end at edges of explicit functions of time
        if schedule.step and lengths.size > schedule.steps:
            info["shortest_step"] = float(lengths.min())
        if schedule.tolerance:
            info |= {"tolerance": schedule.tolerance, "rejected": trajectory.rejected}
        if solver.method.reason:
            info["coordinates"] = solver.method.reason
        if solver.other_configuration is not None:
            info["configuration"] = str(solver.other_configuration)
        if solver.equations.has_events:
            info["events"] = events_of(solver.equations, trajectory)
        if trajectory.selections:
            info["selections"] = trajectory.selections
        live = LiveRun(solver.equations, trajectory, ρ, indices, solver.method, replay=replay)
        return Run(live, info)

    def info(
        self, method: str, trajectory: Trajectory, ρ: np.ndarray, seconds: dict[str, float]
    ) -> dict[str, Any]:
        """Return the facts that every result carries."""
        names = self.data.parameter_set.parameters
        return {
            "mechanism": self.data.name,
            "dimension": self.data.dimension,
            "method": method,
            "iterations": trajectory.iterations,
            "residuals": [float(r) for r in trajectory.residuals],
            "parameters": dict(zip(names, ρ.tolist(), strict=False)),
            "seconds": seconds,
            "versions": _versions(),
        }


@cache
def _versions() -> dict[str, str]:
    from importlib.metadata import version  # imported late: it is slow to import

    return {name: version(name) for name in ("varimech", "casadi", "numpy")}


def seconds_of(began: float, ran: float) -> dict[str, float]:
    """Split the elapsed time into model setup and time integration."""
    return {"build": time.perf_counter() - began - ran, "run": ran}


def checked_bytes(analysis: str, memory: float) -> float:
    """Convert a memory limit from MB to bytes."""
    check_numbers(analysis, memory=memory)
    if not memory > 0:
        raise ModelError("MB must be positive", element=analysis, field="memory", value=memory)
    return 1e6 * memory
