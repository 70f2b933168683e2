"""`Mechanism`: the model together with what can be done with it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from numbers import Real
from typing import TYPE_CHECKING, Any, final

import numpy as np

from .backends.program import BrokenOff, Trajectory, check_backend
from .coordinates.systems import Coordinates
from .errors import Interrupted, ModelError, VarimechError, check_numbers, unknown_name
from .files.verbs import Filed
from .integrators.sundials import Sundials
from .interchange.verbs import Exchanging
from .markup import Displayed, counted, html_heading, html_table, html_text
from .methods import Formulation, Integrator, Method, choose
from .model.parameter import Parameter
from .optimization.verbs import Designing
from .progress import progress_bar
from .results.ensemble import Ensemble
from .results.gradient import Gradient
from .results.run import Run
from .schedule import Output, Schedule
from .sensitivity.finite_difference import RELATIVE_STEPS, central_differences
from .sensitivity.objective import Objectives, named_objectives
from .sensitivity.smoothness import check_gradients
from .solving.task import Task
from .uncertainty.verbs import Uncertain
from .verbs.at_rest import seconds_of
from .view.figure import picture

if TYPE_CHECKING:
    from .solving.solver import Solver

ADJOINT_PAYS = 8
"""Parameters for each objective beyond which an adjoint is faster; see docs/architecture.md."""
MOST_DRAWN = 200
"""Bodies up to which a notebook shows a drawing."""
METHODS = ("auto", "direct", "adjoint", "composite", "finite-difference", "complex-step")


@final
class Mechanism(Displayed, Designing, Exchanging, Uncertain, Filed):
    """A mechanism: bodies, joints, forces and a start, written once; motion and derivatives follow.

    Two components of gravity (or `dimension=2`) make it planar, three (or `dimension=3`) spatial. SI units throughout.

    >>> import varimech as vm
    >>> m = vm.Mechanism("pendulum", gravity=(0, -9.81))
    >>> L = m.parameter("L", 1.0, unit="m")
    >>> origin = m.ground_point("O", (0, 0))
    >>> rod = m.bar("rod", "O", "tip", length=L, mass=3.0)
    >>> joint = m.revolute("O")
    >>> m.start(angle={"rod": -1.0})
    >>> run = m.simulate(1.0, step=0.01)
    >>> run.position("tip").sizes["time"]
    101
    """

    def __repr__(self) -> str:
        kind = "planar" if self.dimension == 2 else "spatial"
        counts = (
            (len(self.moving_bodies) - len(self.beams), "body", "bodies"),
            (len(self.beams), "beam", "beams"),
            (len(self.joints), "joint", "joints"),
            (len(self.forces), "force", "forces"),
            (len(self.drivers), "driver", "drivers"),
            (len(self.parameters), "parameter", "parameters"),
        )
        told = [counted(*count) for count in counts if count[0]]
        return f"<Mechanism {self.name!r}: {', '.join([kind, *told])}>"

    def _display(self) -> str:
        heading = html_heading(self.name, repr(self).partition(": ")[2].rstrip(">"))
        parameters = self.parameters._display() if self.parameters else ""
        if len(self.moving_bodies) > MOST_DRAWN:
            return heading + parameters
        try:
            return heading + picture(self.draw()) + parameters
        except VarimechError as error:
            parts = [[b.name, "body", ", ".join(b.points)] for b in self.moving_bodies]
            parts += [[j.name, j.kind, " – ".join(b.name for b in j.bodies)] for j in self.joints.values()]
            return (
                heading + html_text(f"not drawn: {error}") + html_table(["name", "kind", "points or bodies"], parts) + parameters
            )

    def simulate(
        self,
        duration: float,
        *,
        step: float | None = None,
        every: int = 1,
        tolerance: float | None = None,
        output: Output = None,
        ends: Sequence[float] | np.ndarray | None = None,
        integrator: str | Integrator | None = None,
        formulation: str | Formulation | None = None,
        coordinates: str | Coordinates = "natural",
        parameters: Mapping[str, float] | None = None,
        backend: str = "auto",
        progress: bool | None = None,
    ) -> Run:
        """Simulate from t = 0.

        Without `step` the steps are chosen for a relative error of `tolerance` (1e-8 if not given), by an explicit scheme of order 8 with
        projections. With `step` they are equal, by the trapezoidal rule with ALI3-P, which also passes singular positions.
        `varimech methods` lists what else there is.

        Args:
            duration: s.
            step: equal time steps, s; shortened a little if they do not divide the duration.
            every: store every so many of them.
            tolerance: relative error for which steps are chosen.
            output: time between stored results where steps are chosen, s; shortened a little if it does not divide the duration, and a
                five-hundredth of it if not given. Or a list of the times themselves; both ends are stored too.
            ends: times between steps, from 0 to the duration, in place of chosen ones: `run.step_ends` of another run.
            integrator: "trapezoidal", "newmark", "hht", "generalised-alpha" (implicit, equal steps), "rk4" (explicit, equal steps), "dopri5",
                "dop853" (explicit, either), "cvodes", "idas" (to a tolerance); or one with constants, such as `varimech.Newmark(gamma=0.7)`.
            formulation: "ali3p", "index1", "index1-stabilised", "independent", "penalty", or one with constants, such as
                `varimech.Penalty(factor=1e8)`; the best one for the integrator if not given.
            coordinates: "natural", or those of the joints along a tree: "rtdyn0" (recursion about centres of mass), "rtdyn1" (about the
                global origin), or `varimech.Relative(cut=["C"])` to say where loops are cut. Results are the same.
            parameters: values that differ from the nominal ones.
            backend: "native" (compiled C), "interpreted", or "auto": compiled where that saves time. The numbers are the same.
            progress: show a progress bar if it takes long; on a terminal if not given.

        Raises:
            ModelError: for input that makes no sense.
            AssemblyError: if the mechanism does not close at its start.
            SimulationError: if a step fails, with its time and the constraint or force to look at.
            Interrupted: on Ctrl-C; the run up to then is its `result`. (CVODES and IDAS keep nothing: a plain KeyboardInterrupt.)
        """
        began = time.perf_counter()
        check_backend(backend)
        method, schedule = choose(
            duration,
            step=step,
            every=every,
            tolerance=tolerance,
            output=output,
            ends=ends,
            integrator=integrator,
            formulation=formulation,
            coordinates=coordinates,
        )
        ρ, solver = self.numbers.values(parameters), self._solver(method)

        def result(trajectory: Trajectory, ran: float) -> Run:
            return self._run(solver, schedule, trajectory, ρ, [], seconds_of(began, ran))

        try:
            return result(*solver.run(Task(schedule, {}, None, backend, progress), ρ))
        except BrokenOff as stopped:
            raise self._stopped(stopped, schedule, result) from None

    def sensitivity(
        self,
        objectives: Objectives = (),
        wrt: Sequence[str | Parameter] | str | Parameter | None = None,
        *,
        duration: float,
        step: float | None = None,
        every: int = 1,
        tolerance: float | None = None,
        output: Output = None,
        ends: Sequence[float] | np.ndarray | None = None,
        integrator: str | Integrator | None = None,
        formulation: str | Formulation | None = None,
        coordinates: str | Coordinates = "natural",
        method: str = "direct",
        parameters: Mapping[str, float] | None = None,
        relative_steps: Sequence[float] = RELATIVE_STEPS,
        memory: float = 500.0,
        backend: str = "auto",
        progress: bool | None = None,
    ) -> Gradient:
        """Objectives and their derivatives with respect to parameters; also those of every measure over time.

        Args:
            objectives: one, a list, or a mapping from names (see `varimech.integral` and `varimech.final`); may be empty.
            wrt: parameters by name; "all", or nothing, for all of them.
            duration, step, every, tolerance, output, ends, integrator, formulation, coordinates, parameters, backend,
                progress: as for `simulate`.
            method: "direct" (exact derivative of the discrete solution, chosen steps held fixed; also of every measure over time), "adjoint"
                (the same at the end of the run only, by one sweep backwards for any number of parameters), "auto" (one of these two, the
                faster one by the numbers of parameters and objectives), "composite" (motion and derivative as one differential-algebraic
                system, after Serban and Freeman), "finite-difference" (central, over a sweep of perturbations) or "complex-step" (the run
                in complex numbers: exact without any derivative; at the end of the run only).
            relative_steps: the perturbations of that sweep, relative to each parameter.
            memory: MB that an adjoint may take for what it records of each step; of longer runs parts are carried out once more.

        Returns:
            A `Gradient`: `.values`, `.gradient`, `.history`, and `.run`, whose measures take `wrt=`.

        Raises:
            Interrupted: on Ctrl-C with method="direct"; its `result` is the gradient of the motion up to then. Other methods know
                nothing before their end: a plain KeyboardInterrupt.
        """
        if method not in METHODS:
            raise unknown_name("method", method, METHODS)
        began = time.perf_counter()
        check_backend(backend)
        way, schedule = choose(
            duration,
            step=step,
            every=every,
            tolerance=tolerance,
            output=output,
            ends=ends,
            integrator=integrator,
            formulation=formulation,
            coordinates=coordinates,
        )
        named, indices = named_objectives(objectives), self._chosen(wrt)
        method = self._way(method, way, len(named), len(indices))
        check_numbers("sensitivity", memory=memory)
        if not memory > 0:
            raise ModelError(f"sensitivity: memory = {memory!r} MB must be positive")
        ρ, solver = self.numbers.values(parameters), self._solver(way)
        if method != "finite-difference":
            check_gradients(solver.equations, named)
        perturbations = _perturbations(relative_steps)
        task = Task(schedule, named, indices, backend, progress, memory=1e6 * memory)
        chosen = [list(self.parameters.values())[k] for k in indices]
        revision = self.revision
        given: dict[str, Any] = {
            "wrt": [p.name for p in chosen],
            "duration": duration,
            "step": step,
            "every": every,
            "tolerance": tolerance,
            "output": output,
            "ends": ends,
            "integrator": integrator,
            "formulation": formulation,
            "coordinates": coordinates,
            "method": method,
            "parameters": parameters,
            "relative_steps": relative_steps,
            "memory": memory,
            "backend": backend,
            "progress": progress,
        }

        def repeat(**changes: Any) -> Gradient:
            if self.revision != revision:
                raise ModelError(f"mechanism {self.name!r} has been changed since this gradient was computed; compute it anew")
            return self.sensitivity(named, **{**given, **changes})

        def result(trajectory: Trajectory, ran: float, sweep: Any = None) -> Gradient:
            assert trajectory.gradients is not None
            seconds = seconds_of(began, ran)
            return Gradient(
                method,
                tuple(named),
                tuple(p.name for p in chosen),
                tuple(o.unit for o in named.values()),
                tuple(p.unit for p in chosen),
                trajectory.time,
                trajectory.objectives,
                trajectory.gradients,
                self._run(solver, schedule, trajectory, ρ, indices, seconds),
                seconds,
                sweep,
                repeat,
                named,
            )

        try:
            if method == "finite-difference":
                return result(*self._differences(solver, task, ρ, perturbations))
            task = replace(task, method=method)
            return result(*(solver.run_composite(task, ρ) if method == "composite" else solver.run(task, ρ)))
        except BrokenOff as stopped:
            if method != "direct":  # which know nothing before their end
                raise KeyboardInterrupt from None
            raise self._stopped(stopped, schedule, lambda *found: replace(result(*found), repeat=None)) from None

    def _stopped(self, stopped: BrokenOff, schedule: Schedule, result: Callable[[Trajectory, float], Any]) -> Interrupted:
        """Ctrl-C in words, with what came of a run up to then."""
        found, last = result(stopped.trajectory, stopped.seconds), float(stopped.trajectory.time[-1])
        (found if isinstance(found, Run) else found.run).info["stopped"] = {"time": last, "duration": schedule.duration}
        return Interrupted(
            f"{self.name!r}: stopped at t = {last:.6g} s of {schedule.duration:g} s; what was stored up to then is the `result` of this "
            "interrupt",
            found,
        )

    def ensemble(
        self,
        objectives: Objectives,
        parameters: Mapping[str, Any],
        *,
        duration: float,
        step: float | None = None,
        tolerance: float | None = None,
        wrt: Sequence[str | Parameter] | str | Parameter | None = None,
        integrator: str | Integrator | None = None,
        formulation: str | Formulation | None = None,
        coordinates: str | Coordinates = "natural",
        backend: str = "auto",
        threads: int | None = None,
        progress: bool | None = None,
    ) -> Ensemble:
        """Run the mechanism for many sets of parameter values at once, over all cores.

        Args:
            objectives: as for `sensitivity`; at least one.
            parameters: name → values, one for each sample; parameters that are not named stay nominal.
            duration, step, tolerance, integrator, formulation, coordinates, backend, progress: as for `simulate`.
            wrt: parameters to differentiate for ("all" for all of them); none if not given.
            threads: how many runs at a time; one for each core if not given.

        Returns:
            An `Ensemble` in the order of the samples. A sample that fails is reported in `.failures`; the others go on.
        """
        check_backend(backend)
        method, schedule = choose(
            duration,
            step=step,
            tolerance=tolerance,
            integrator=integrator,
            formulation=formulation,
            coordinates=coordinates,
        )
        named = named_objectives(objectives)
        if not named:
            raise ModelError("an ensemble needs at least one objective: it keeps no trajectories")
        if threads is not None and threads < 1:
            raise ModelError(f"threads = {threads!r} must be 1 or more")
        columns = self._samples(parameters)
        indices = None if wrt is None else self._chosen(wrt)
        rows = np.tile(self.numbers.nominal, (len(next(iter(columns.values()))), 1))
        for name, column in columns.items():
            rows[:, self.numbers.indices([name])[0]] = column
        began = time.perf_counter()
        task = Task(schedule.last_only(), named, indices, backend, progress)
        found, failures, ran = self._solver(method).run_many(task, rows, threads or os.cpu_count() or 1)
        names = tuple(self.parameters) if indices is None else tuple(list(self.parameters)[k] for k in indices)
        values, gradients = found.values[:, -1], None if found.gradients is None else found.gradients[:, -1]
        return Ensemble(tuple(named), names, columns, values, gradients, failures, seconds_of(began, ran))

    def _samples(self, parameters: Mapping[str, Any]) -> dict[str, np.ndarray]:
        """Checked values of each named parameter, one for each sample."""
        columns: dict[str, np.ndarray] = {}
        for name, values in parameters.items():
            parameter = list(self.parameters.values())[self.numbers.indices([name])[0]]
            column = np.asarray(values, dtype=float)
            if column.ndim != 1 or column.size == 0:
                raise ModelError(f"ensemble: parameter {parameter.name!r} needs a list of values, one for each sample")
            for value in column:
                parameter.check(value)
            columns[parameter.name] = column
        sizes = {name: column.size for name, column in columns.items()}
        if not sizes:
            raise ModelError("ensemble: name at least one parameter with its values")
        if len(set(sizes.values())) > 1:
            raise ModelError(f"ensemble: parameters have different numbers of samples: {sizes}")
        return columns

    def _way(self, method: str, way: Method, objectives: int, parameters: int) -> str:
        """How derivatives are computed: what is said, or the faster of direct and adjoint."""
        adjoint_can = objectives > 0 and not isinstance(way.integrator, Sundials)
        if method == "auto":
            return "adjoint" if adjoint_can and parameters > ADJOINT_PAYS * objectives else "direct"
        if method == "adjoint" and not objectives:
            raise ModelError(
                "method='adjoint' differentiates objectives, and there are none; measures over time need method='direct'"
            )
        if method == "adjoint" and not adjoint_can:
            raise ModelError(
                f"method='adjoint' is the adjoint of the steps taken, which {way.integrator.title} does not tell: use method='direct', or "
                "another integrator"
            )
        return method

    def _differences(self, solver: Solver, task: Task, ρ: np.ndarray, steps: tuple[float, ...]) -> tuple[Trajectory, float, Any]:
        import xarray as xr

        assert task.indices is not None
        plain = replace(task, indices=None, progress=False, runs=2 * len(steps) * len(task.indices))
        ran = 0.0
        if task.schedule.tolerance and not isinstance(solver.method.integrator, Sundials):
            # all runs take the steps of one with derivatives: a choice of steps is no smooth function of the parameters
            first, ran = solver.run(task, ρ)
            plain = replace(plain, schedule=task.schedule.replayed(first.step_ends))
        trajectory, seconds = solver.run(plain, ρ)
        ran += seconds
        errors: list[VarimechError] = []

        def outcome(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            nonlocal ran
            try:
                other, seconds = solver.run(plain, values)
            except VarimechError as error:  # one perturbation may fail where others do not
                errors.append(error)
                return np.full_like(trajectory.objectives, np.nan), np.full_like(trajectory.states, np.nan)
            ran += seconds
            return other.objectives, other.states

        with progress_bar(f"{self.name}: differences", len(steps) * len(task.indices), task.progress) as tell:
            found = central_differences(outcome, ρ, task.indices, steps, tell)
        if not np.isfinite(found.gradient_history[-1]).all() or not np.isfinite(found.sensitivities).all():
            raise errors[0] if errors else VarimechError("differences are not finite")
        names = [list(self.parameters)[k] for k in task.indices]
        sweep = xr.DataArray(
            found.gradients[:, -1],
            coords={"relative_step": list(steps), "objective": list(task.objectives), "parameter": names},
            dims=["relative_step", "objective", "parameter"],
        )
        return replace(trajectory, sensitivities=found.sensitivities, gradients=found.gradient_history), ran, sweep


def _perturbations(steps: Any) -> tuple[float, ...]:
    """Checked relative perturbations of a sweep."""
    given = list(steps) if isinstance(steps, (Sequence, np.ndarray)) and not isinstance(steps, str) else []
    if not given or not all(isinstance(h, Real) and float(h) > 0 for h in given):
        raise ModelError(f"relative_steps = {steps!r} must be one or more positive numbers, such as (1e-4, 1e-6)")
    return tuple(float(h) for h in given)
