"""The verbs that move a mechanism: once (`simulate`), or for many sets of parameter values
(`ensemble`).
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..backends.trajectory import BrokenOff, Trajectory
from ..coordinates.systems import Coordinates
from ..core.errors import Interrupted, ModelError, check_named, check_whole
from ..core.schedule import Output, Schedule
from ..results.ensemble import Ensemble
from ..results.run import Run
from ..schemes import Formulation, Integrator, choose
from ..sensitivity.objective import Objectives, named_objectives
from ..solving.task import Task
from .solved import Solved, Wrt, seconds_of

if TYPE_CHECKING:
    import pandas as pd


class Moving(Solved):
    """Motions from t = 0."""

    def simulate(
        self,
        duration: float,
        *,
        step: float | None = None,
        every: int = 1,
        tolerance: float | None = None,
        output: Output = None,
        ends: Sequence[float] | np.ndarray | None = None,
        longest_step: float | None = None,
        integrator: str | Integrator | None = None,
        formulation: str | Formulation | None = None,
        coordinates: str | Coordinates = "natural",
        parameters: Mapping[str, float] | None = None,
        backend: str = "auto",
        progress: bool | None = None,
    ) -> Run:
        """Simulate from t = 0.

        Without `step` the steps are chosen for a relative error of `tolerance` (1e-8 if not given),
        by an explicit scheme of order 8 with projections. With `step` they are equal, by the
        trapezoidal rule with ALI3-P, which also passes singular positions. `varimech methods` lists
        what else there is.

        Args:
            duration: s.
            step: equal time steps, s; shortened a little if they do not divide the duration.
            every: store every so many of them.
            tolerance: relative error for which steps are chosen.
            output: time between stored results where steps are chosen, s; shortened a little if it
                does not divide the duration, and a five-hundredth of it if not given. Or a list of
                the times themselves; both ends are stored too.
            ends: times between steps, from 0 to the duration, in place of chosen ones:
                `run.step_ends` of another run.
            longest_step: longest step that a tolerance may choose, s; a fiftieth of the duration if
                not given, and less where explicit functions of time (pulses, fast oscillations)
                need it: these are found before the run.
            integrator: "trapezoidal", "newmark", "hht", "generalised-alpha" (implicit, equal
                steps), "rk4" (explicit, equal steps), "dopri5", "dop853" (explicit, either),
                "cvodes", "idas" (to a tolerance); or one with constants, such as
                `varimech.Newmark(gamma=0.7)`.
            formulation: "ali3p", "index1", "index1-stabilised", "independent", "penalty", or one
                with constants, such as `varimech.Penalty(factor=1e8)`; the best one for the
                integrator if not given.
            coordinates: "natural", or those of the joints along a tree: "rtdyn0" (recursion about
                centres of mass), "rtdyn1" (about the global origin), or
                `varimech.Relative(cut=["C"])` to say where loops are cut. Results are the same.
            parameters: values that differ from the nominal ones.
            backend: "native" (compiled C), "interpreted", or "auto": compiled where that saves
                time. The numbers are the same.
            progress: show a progress bar if it takes long; on a terminal if not given.

        Raises:
            ModelError: for input that makes no sense.
            AssemblyError: if the mechanism does not close at its start.
            SimulationError: if a step fails, with its time and the constraint or force to look at.
            Interrupted: on Ctrl-C; the run up to then is its `result`. (CVODES and IDAS keep
                nothing: a plain KeyboardInterrupt.)
        """
        began = time.perf_counter()
        method, schedule = choose(
            duration,
            step=step,
            every=every,
            tolerance=tolerance,
            output=output,
            ends=ends,
            longest_step=longest_step,
            integrator=integrator,
            formulation=formulation,
            coordinates=coordinates,
            backend=backend,
        )
        ρ, solver = self.data.parameter_set.values(parameters), self._solver(method)

        def result(trajectory: Trajectory, ran: float) -> Run:
            return self._run(solver, schedule, trajectory, ρ, [], seconds_of(began, ran))

        try:
            return result(*solver.run(Task(schedule, {}, None, backend, progress), ρ))
        except BrokenOff as stopped:
            raise self._stopped(stopped, schedule, result) from None

    def ensemble(
        self,
        objectives: Objectives,
        parameters: Mapping[str, Any] | pd.DataFrame,
        *,
        duration: float,
        step: float | None = None,
        tolerance: float | None = None,
        wrt: Wrt = None,
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
            parameters: name → values, one for each sample, or a table with a column for each;
                parameters that are not named stay nominal.
            duration, step, tolerance, integrator, formulation, coordinates, backend, progress: as
                for `simulate`.
            wrt: parameters to differentiate for ("all" for all of them); none if not given.
            threads: how many runs at a time; one for each core if not given.

        Returns:
            An `Ensemble` in the order of the samples. A sample that fails is reported in
            `.failures`; the others go on.
        """
        method, schedule = choose(
            duration,
            step=step,
            tolerance=tolerance,
            integrator=integrator,
            formulation=formulation,
            coordinates=coordinates,
            backend=backend,
        )
        named = named_objectives(objectives)
        if not named:
            raise ModelError("an ensemble needs at least one objective: it keeps no trajectories")
        check_whole("ensemble", 1, threads=1 if threads is None else threads)
        columns = self._samples(parameters)
        indices = None if wrt is None else self._chosen(wrt)
        rows = np.tile(self.data.parameter_set.nominal, (len(next(iter(columns.values()))), 1))
        for name, column in columns.items():
            rows[:, self.data.parameter_set.indices([name])[0]] = column
        began = time.perf_counter()
        task = Task(schedule.last_only(), named, indices, backend, progress)
        from ..solving.ensemble_runs import run_many  # with the solver

        found, failures, ran = run_many(
            self._solver(method, named), task, rows, threads or os.cpu_count() or 1
        )
        names = (
            tuple(self.parameters)
            if indices is None
            else tuple(list(self.parameters)[k] for k in indices)
        )
        values, gradients = (
            found.values[:, -1],
            None if found.gradients is None else found.gradients[:, -1],
        )
        return Ensemble(
            tuple(named), names, columns, values, gradients, failures, seconds_of(began, ran)
        )

    def _samples(self, parameters: Mapping[str, Any] | pd.DataFrame) -> dict[str, np.ndarray]:
        """Checked values of each named parameter, one for each sample."""
        if not hasattr(parameters, "columns"):  # which tables have
            check_named("ensemble: parameters", parameters, "{'L': [0.3, 0.4]}")
        columns: dict[str, np.ndarray] = {}
        for name, values in parameters.items():
            parameter = list(self.parameters.values())[self.data.parameter_set.indices([name])[0]]
            column = np.asarray(values)
            if column.ndim != 1 or column.size == 0:
                raise ModelError(
                    f"ensemble: parameter {parameter.name!r} needs a list of values, one for each"
                    " sample"
                )
            columns[parameter.name] = np.array(
                [parameter.check(value) for value in column.tolist()]
            )
        sizes = {name: column.size for name, column in columns.items()}
        if not sizes:
            raise ModelError("ensemble: name at least one parameter with its values")
        if len(set(sizes.values())) > 1:
            raise ModelError(f"ensemble: parameters have different numbers of samples: {sizes}")
        return columns

    def _stopped(
        self, stopped: BrokenOff, schedule: Schedule, result: Callable[[Trajectory, float], Any]
    ) -> Interrupted:
        """Ctrl-C in words, with what came of a run up to then."""
        found, last = (
            result(stopped.trajectory, stopped.seconds),
            float(stopped.trajectory.time[-1]),
        )
        (found if isinstance(found, Run) else found.run).info["stopped"] = {
            "time": last,
            "duration": schedule.duration,
        }
        return Interrupted(
            f"{self.name!r}: stopped at t = {last:.6g} s of {schedule.duration:g} s",
            found,
            "what was stored up to then is the `result` of this interrupt",
        )
