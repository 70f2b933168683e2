"""Runs of the composite system: an independent derivative method, with one run for each parameter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property

import casadi as ca
import numpy as np

from ..backends.inputs import Inputs
from ..backends.program import ChainFunctions, PassageFunctions, Program
from ..backends.runner import Runner
from ..backends.trajectory import Trajectory
from ..coordinates.equations import Equations
from ..coordinates.penalty import penalty_function
from ..core.errors import ModelError
from ..core.messages import Message
from ..formulations.formulation import SHARP, Conditioning
from ..schemes import Method
from ..sensitivity.composite import Composite
from ..sensitivity.event_map import EventMap
from ..sensitivity.objective import Objective
from ..sensitivity.objective_functions import ObjectiveFunctions, objective_expressions
from ..stages.chain import Chain
from ..stages.saddle import Saddle
from .derivative_request import DerivativeRequest
from .runners import Runners
from .task import Task


class CompositeSolver:
    """The composite system of a mechanism, and its runners. One compiled program serves all
    parameters.
    """

    def __init__(self, equations: Equations, method: Method):
        if not (method.formulation.traits.composite and method.integrator.traits.composite):
            raise ModelError(
                f"method 'composite' cannot be combined with {method.title}",
                remedy=Message("use {method}, which works with every scheme", method="direct"),
            )
        self._programs = _CompositePrograms(equations, method)
        self._runners = Runners(self._programs)

    def run(self, task: Task, inputs: Inputs, tangent: np.ndarray, parameter: int) -> Trajectory:
        """Execute a run with derivatives with respect to one parameter, from a state and its
        derivative; objectives and their derivatives are computed side by side.
        """
        assert inputs.state is not None
        direction = np.zeros(inputs.parameters.size)
        direction[parameter] = 1.0
        composite = self._programs.composite
        composite_inputs = replace(
            inputs,
            state=composite.packed(inputs.state, tangent),
            parameters=np.concatenate([inputs.parameters, direction]),
            nominal=np.concatenate([inputs.nominal, direction]),
            sizes=(
                None
                if inputs.sizes is None
                else replace(inputs.sizes, turns=np.tile(inputs.sizes.turns, 2))
            ),
            sensitivity_floors=np.zeros(0),
        )
        request = DerivativeRequest(passages=task.schedule.passages is not None)
        runner = self._runners.of(task.objectives, request, SHARP)
        trajectory, _ = runner.prepare(
            composite_inputs, task.backend, runs=len(task.indices or [])
        )(None)
        end = trajectory.step_ends[-1]
        assert trajectory.time[-1] == end, f"no result is stored at the end, {end:g} s"
        states, tangents = composite.unpacked(trajectory.states)
        values, gradients = np.hsplit(trajectory.objectives, 2)
        return replace(
            trajectory,
            states=states,
            sensitivities=tangents[:, :, None],
            objectives=values,
            gradients=gradients[:, :, None],
        )


class _CompositePrograms:
    """Programs of the composite system; derivatives are appended to the values."""

    def __init__(self, equations: Equations, method: Method):
        self._equations, self._method = equations, method
        self.composite = Composite(equations)

    def objectives(
        self, objectives: Mapping[str, Objective], request: DerivativeRequest
    ) -> ObjectiveFunctions:
        """Return integrands and final terms, with their derivatives appended."""
        e = self._equations
        g, w = objective_expressions(e, objectives)
        integrands, finals = (
            self.composite.along("integrands", g, e.packed),
            self.composite.along("finals", w, e.packed),
        )
        event_map = EventMap(e, objectives) if request.passages else None
        return ObjectiveFunctions(integrands, None, finals, None, event_map=event_map)

    def runner(
        self,
        functions: ObjectiveFunctions,
        request: DerivativeRequest,
        conditioning: Conditioning,
    ) -> Runner:
        """Build the runner of the program with these objectives."""
        method, rates = self._method, None
        if method.rates_apart:
            rates = self._functions(method.rates(self.composite.dynamics, self._saddle))
        return Runner(
            Program(
                self.composite.dynamics.q.numel(),
                None,
                self._step,
                self._penalty,
                functions,
                scheme=method.integrator.coefficients,
                rates=rates,
                passage=self._passage(functions.event_map),
            )
        )

    def _passage(self, event_map: EventMap | None) -> PassageFunctions | None:
        if event_map is None:
            return None
        saddle = self._method.formulation.saddle(Conditioning())
        modes = event_map.layout.modes
        chain = self._functions(self.composite.passage(event_map, saddle))
        return PassageFunctions(chain, modes, self._equations.ρ.numel() - modes)

    @property
    def _saddle(self) -> Saddle:
        saddle = self._method.formulation.saddle(Conditioning())
        return replace(saddle, pairs=self.composite.pairs)

    @property
    def _inputs(self) -> list[ca.SX]:
        c = self.composite.dynamics
        return [c.q, c.ρ, c.t]

    @cached_property
    def _step(self) -> ChainFunctions:
        return self._functions(self._method.step(self.composite.dynamics, self._saddle))

    def _functions(self, chain: Chain) -> ChainFunctions:
        iterated = chain.iterated
        return ChainFunctions(
            chain.predict if iterated else None, chain.iterate if iterated else None, chain.finish()
        )

    @cached_property
    def _penalty(self) -> ca.Function:
        """Penalty factors of the composite system, equal for a constraint and its derivative."""
        e, (plain, derived) = self._equations, self.composite.constraint_rows
        single = penalty_function(e, self._saddle)(e.q, e.ρ, e.t)
        both = ca.SX(2 * len(plain), 1)
        if plain:
            both[plain], both[derived] = single[: len(plain)], single[: len(plain)]
        return ca.Function("penalty", self._inputs, [ca.densify(both)])
