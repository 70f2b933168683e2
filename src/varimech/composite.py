"""Runs of the composite system: derivatives by a second road, one run for each parameter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property

import casadi as ca
import numpy as np

from .backends.program import ChainFunctions, Inputs, Program, Trajectory
from .backends.runner import Runner
from .coordinates.equations import Equations
from .coordinates.penalty import penalty_function
from .errors import ModelError
from .formulations.ali3p import ALI3P
from .formulations.index1 import Projected, Stabilised
from .integrators.runge_kutta import RungeKutta
from .integrators.sundials import Sundials
from .methods import Method
from .sensitivity.composite import Composite
from .sensitivity.objective import Objective, ObjectiveFunctions, objective_expressions
from .stages.chain import Chain
from .stages.saddle import Saddle
from .task import Task


class CompositeSolver:
    """The composite system of a mechanism, and what carries it out. One compiled program serves all parameters."""

    def __init__(self, equations: Equations, method: Method):
        if not isinstance(method.formulation, (ALI3P, Projected, Stabilised)) or isinstance(method.integrator, Sundials):
            raise ModelError(
                f"method='composite' does not go with {method.title}: use method='direct', which goes with everything"
            )
        self.equations = equations
        self.method = method
        self.composite = Composite(equations)
        self._runners: dict[tuple[Objective, ...], Runner] = {}

    def run(self, task: Task, inputs: Inputs, slope: np.ndarray, parameter: int) -> Trajectory:
        """A run with derivatives for one parameter, from a state and its derivative; objectives and their derivatives stand side by side."""
        assert inputs.state is not None
        direction = np.zeros(inputs.parameters.size)
        direction[parameter] = 1.0
        given = replace(
            inputs,
            state=self.composite.packed(inputs.state, slope),
            parameters=np.concatenate([inputs.parameters, direction]),
            nominal=np.concatenate([inputs.nominal, direction]),
            sizes=None if inputs.sizes is None else replace(inputs.sizes, turns=np.tile(inputs.sizes.turns, 2)),
            slope_floors=np.zeros(0),
        )
        trajectory, _ = self._runner(task.objectives).prepare(given, task.backend, runs=len(task.indices or []))(None)
        states, slopes = self.composite.unpacked(trajectory.states)
        values, gradients = np.hsplit(trajectory.objectives, 2)
        return replace(
            trajectory, states=states, sensitivities=slopes[:, :, None], objectives=values, gradients=gradients[:, :, None]
        )

    def _runner(self, objectives: Mapping[str, Objective]) -> Runner:
        key = tuple(objectives.values())
        if key not in self._runners:
            integrator, formulation = self.method.integrator, self.method.formulation
            self._runners[key] = Runner(
                Program(
                    self.composite.dynamics.q.numel(),
                    None,
                    self._step,
                    self._penalty,
                    ca.Function("twist", self._inputs, [ca.densify(self.equations.twists)]),
                    self._objectives(objectives),
                    scheme=integrator if isinstance(integrator, RungeKutta) else None,
                    rates=self._functions(formulation.rates(self.composite.dynamics, self._saddle))
                    if isinstance(formulation, Projected)
                    else None,
                )
            )
        return self._runners[key]

    @property
    def _saddle(self) -> Saddle:
        saddle = Saddle(regular=True) if isinstance(self.method.formulation, ALI3P) else Saddle.relaxed(regular=True)
        return replace(saddle, pairs=self.composite.pairs)

    @property
    def _inputs(self) -> list[ca.SX]:
        c = self.composite.dynamics
        return [c.q, c.ρ, c.t]

    @cached_property
    def _step(self) -> ChainFunctions:
        c, formulation, integrator = self.composite.dynamics, self.method.formulation, self.method.integrator
        if isinstance(formulation, ALI3P):
            assert not isinstance(integrator, (RungeKutta, Sundials))
            return self._functions(formulation.step(c, integrator, self._saddle))
        if isinstance(formulation, Projected):
            return self._functions(formulation.end(c, self._saddle))
        assert isinstance(formulation, Stabilised)
        return self._functions(formulation.rates(c, self._saddle))

    def _functions(self, chain: Chain) -> ChainFunctions:
        iterated = chain.iterated
        return ChainFunctions(chain.predict if iterated else None, chain.iterate if iterated else None, chain.finish())

    @cached_property
    def _penalty(self) -> ca.Function:
        """Constraints and their derivatives have the penalties of the constraints."""
        e, (plain, derived) = self.equations, self.composite.constraint_rows
        single = penalty_function(e, self._saddle)(e.q, e.ρ, e.t)
        both = ca.SX(2 * len(plain), 1)
        if plain:
            both[plain], both[derived] = single[: len(plain)], single[: len(plain)]
        return ca.Function("penalty", self._inputs, [ca.densify(both)])

    def _objectives(self, objectives: Mapping[str, Objective]) -> ObjectiveFunctions:
        e = self.equations
        g, w = objective_expressions(e, objectives)
        integrands, finals = self.composite.along("integrands", g, e.packed), self.composite.along("finals", w, e.packed)
        return ObjectiveFunctions(integrands, None, finals, None)
