"""Second derivatives: derivatives of runs whose state is augmented with its tangent in one
direction (`sensitivity/tangent_augmented.py`), one run for each direction.

The direction is data, so one compiled program serves all of them. Such a run is differentiated
along the motion (forward over forward, which also yields second derivatives of every output over
time), or by an adjoint (backward over forward: for many parameters).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..backends.failures import Amplified, StepFailure
from ..backends.inputs import Inputs
from ..backends.trajectory import Trajectory
from ..coordinates.equations import Equations
from ..coordinates.initial_state import InitialState, InitialStateSolver
from ..core.errors import ModelError, SimulationError
from ..formulations.formulation import Conditioning
from ..schemes import Method
from .derivative_request import DerivativeRequest, unit_directions
from .programs import Programs
from .runners import AnyRunner, Runners
from .task import Task
from .validity import check_finite


@dataclass(frozen=True)
class SecondDerivatives:
    """Results of a run in one direction: the run itself with first derivatives, first derivatives
    of the objectives, and the derivatives of both in that direction. An adjoint yields them at the
    end only, and not for the state.
    """

    trajectory: Trajectory
    gradients: np.ndarray
    """(time, objective, parameter)"""
    gradients_along: np.ndarray
    """Derivatives of `gradients` in the direction: a row of each Hessian, if it is that of one
    parameter.
    """
    states_along: np.ndarray | None
    """(time, state, parameter): second derivatives of the state."""


def check_second_order(method: Method) -> None:
    """Refuse integrators without second derivatives."""
    if not method.integrator.traits.second_order:
        raise ModelError(
            f"second derivatives cannot be combined with {method.title}: use another integrator"
        )


class SecondOrder:
    """Tangent-augmented programs of a mechanism, and their runs."""

    def __init__(
        self, equations: Equations, method: Method, start: InitialStateSolver, *, large: bool | None
    ):
        check_second_order(method)
        self._equations, self._method, self._start = equations, method, start
        self._programs = Programs(equations, method, large=large, wide=True)
        self._runners = Runners(self._programs)

    def prepared(self, task: Task, inputs: Inputs) -> tuple[AnyRunner, Inputs]:
        """Return the runner of several runs, each in a direction of its own, and their common
        inputs, with the direction zero.
        """
        relaxed = not self._method.formulation.traits.sharp_first
        runner = self._runner(task, Conditioning(regular=True, relaxed=relaxed))
        return runner, self._doubled(inputs, np.zeros_like(inputs.parameters))

    def run(
        self, task: Task, inputs: Inputs, direction: np.ndarray
    ) -> tuple[SecondDerivatives, float]:
        """Execute a run in a direction of the parameters, from an initial guess of the positions.

        Raises:
            StartFailure: if the guess does not lead to an initial state.
        """
        return self._relaxed_where_needed(task, self._doubled(inputs, direction), regular=True)

    def run_from(
        self, task: Task, inputs: Inputs, initial: InitialState, direction: np.ndarray
    ) -> tuple[SecondDerivatives, float]:
        """Execute a run in a direction of the parameters from an initial state with redundant
        constraints or massless coordinates.
        """
        indices, ρ = task.indices or [], inputs.parameters
        moved = sorted({*indices, *np.flatnonzero(direction).tolist()})
        self._start.check_derivatives(initial, ρ, moved)
        along, sensitivities, second = self._start.second_derivatives(initial, ρ, direction, moved)
        # with respect to (ρ, ρ'), of which x' is a linear function
        of_state = np.hstack([sensitivities, np.zeros_like(sensitivities)])
        of_tangent = np.hstack([second, sensitivities])
        S = self._paired(of_state, of_tangent)
        paired_inputs = replace(
            self._doubled(inputs, direction),
            state=self._paired(initial.packed, along),
            sensitivities=None if task.adjoint else S[:, indices],
            start_slopes=S if task.adjoint else None,
        )
        return self._relaxed_where_needed(task, paired_inputs, regular=False)

    def _relaxed_where_needed(
        self, task: Task, inputs: Inputs, *, regular: bool
    ) -> tuple[SecondDerivatives, float]:
        relaxed = not self._method.formulation.traits.sharp_first
        try:
            return self._run(task, inputs, Conditioning(regular, relaxed))
        except Amplified:
            return self._run(task, inputs, Conditioning(regular))

    def _doubled(self, inputs: Inputs, direction: np.ndarray) -> Inputs:
        """Extend inputs to coordinates and parameters with their derivatives."""
        sizes = inputs.sizes
        guess, anchor = (
            None if q is None else np.concatenate([q, np.zeros_like(q)])
            for q in (inputs.guess, inputs.anchor)
        )
        return replace(
            inputs,
            guess=guess,
            anchor=anchor,
            parameters=np.concatenate([inputs.parameters, direction]),
            nominal=np.concatenate([inputs.nominal, direction]),
            sizes=None if sizes is None else replace(sizes, turns=np.tile(sizes.turns, 2)),
            sensitivity_floors=np.zeros(0),  # steps are prescribed
            chosen=None
            if inputs.chosen is None
            else np.concatenate([inputs.chosen, np.ones_like(inputs.chosen)]),
        )

    def _run(
        self, task: Task, inputs: Inputs, conditioning: Conditioning
    ) -> tuple[SecondDerivatives, float]:
        runner = self._runner(task, conditioning)
        try:
            trajectory, seconds = runner.prepare(inputs, task.backend, runs=task.runs)(
                task.watched()
            )
        except StepFailure as f:
            when = f"{self._equations.model.name!r}: step {f.step}, t = {f.time:.6g} s"
            text = f"{when}: {f.reason} in a run with second derivatives"
            raise SimulationError(
                text, time=f.time, step=f.step, residual=np.nan, worst="second derivatives"
            ) from None
        end = inputs.schedule.known_ends[-1]
        assert trajectory.time[-1] == end, (
            f"the last result is that of {trajectory.time[-1]:g}, not {end:g} s"
        )
        names = list(task.objectives)
        check_finite(
            trajectory,
            [*names, *[f"{name} (derivative)" for name in names]],
            self._equations.model.name,
        )
        return self._parted(trajectory, task), seconds

    def _parted(self, trajectory: Trajectory, task: Task) -> SecondDerivatives:
        values, _ = np.hsplit(trajectory.objectives, 2)
        assert trajectory.gradients is not None and task.indices is not None
        every = trajectory.gradients[:, :, task.indices] if task.adjoint else trajectory.gradients
        gradients, gradients_along = np.split(every, 2, axis=1)
        states, _ = self._unpaired(trajectory.states)
        second = (
            None if trajectory.sensitivities is None else self._unpaired(trajectory.sensitivities)
        )
        first = None if second is None else second[0]
        plain = replace(
            trajectory, states=states, objectives=values, sensitivities=first, gradients=gradients
        )
        return SecondDerivatives(
            plain, gradients, gradients_along, None if second is None else second[1]
        )

    @property
    def _sizes(self) -> list[int]:
        """Sizes of q, q̇, q̈ and λ."""
        e = self._equations
        return [part.numel() for part in (e.q, e.v, e.a, e.λ)]

    def _paired(self, states: np.ndarray, tangents: np.ndarray) -> np.ndarray:
        """Pair entries of states, block by block, with their derivatives (axis 0); append the
        initial memory of an integrator, the accelerations.
        """
        parted = [np.split(x, np.cumsum(self._sizes)[:-1]) for x in (states, tangents)]
        pairs = list(zip(*parted, strict=True))
        return np.concatenate(
            [x for pair in (*pairs, *([pairs[2]] if self._method.remembers else [])) for x in pair]
        )

    def _unpaired(self, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Split entries of paired states into states and their derivatives (axis 1), without the
        memory of an integrator.
        """
        sizes = [size for size in self._sizes for _ in range(2)]
        parts = np.split(states, np.cumsum(sizes), axis=1)[: len(sizes)]
        return np.concatenate(parts[::2], axis=1), np.concatenate(parts[1::2], axis=1)

    def _runner(self, task: Task, conditioning: Conditioning) -> AnyRunner:
        count, indices = self._equations.ρ.numel(), task.indices or []
        directions = None if task.adjoint else unit_directions(2 * count, indices)
        request = DerivativeRequest(
            directions,
            task.adjoint,
            2 * len(task.objectives),
            passages=task.schedule.passages is not None,
        )
        return self._runners.of(task.objectives, request, conditioning)
