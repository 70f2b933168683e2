"""Runs by CVODES or IDAS, on the generated rates. Their functions are evaluated by CasADi's virtual machine."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property

import casadi as ca
import numpy as np

from ..integrators.sundials import IDAS, Sundials
from ..interrupts import HeldBack, held_back
from ..progress import Tell
from ..stages.chain import Chain
from ..symbols import SX
from .bound import evaluated
from .failures import OVERWOUND, UNDERFLOW, StepFailure
from .inputs import Inputs
from .program import Program
from .runner import Timed, timed
from .trajectory import Trajectory

MOST_STEPS = 1_000_000
"""Between two stored results."""
WATCHED = 501
"""Instants at least at which angles are followed that are known within half a turn only: as many as runs store by themselves."""
SAFETY = 0.01
"""Share of the tolerance that is allowed for the error of one step: BDF takes many, and their errors add up."""


class SundialsRunner:
    """Carries out one program with given starts, any number of times."""

    def __init__(self, program: Program, chain: Chain, solver: Sundials):
        self.program = program
        self._chain = chain
        self._solver = solver
        none = np.zeros((chain.parameters.numel(), 0))
        self._directions = none if program.directions is None else program.directions
        self._built: tuple[object, ca.Function] | None = None
        self._alone = threading.Lock()  # an integrator of CasADi serves one thread at a time

    def prepare(self, inputs: Inputs, backend: str, *, runs: int = 1) -> Callable[[Tell | None], Timed]:
        """What carries out one run; there is one backend."""

        watched, rows = self._watched(inputs)

        def carry_out(progress: Tell | None) -> Timed:
            with self._alone:
                integrate = self._integrator(watched)
                with held_back() as held:
                    return timed(lambda: self._run(integrate, watched, held).at_rows(rows))

        return carry_out

    def _watched(self, inputs: Inputs) -> tuple[Inputs, np.ndarray]:
        """The same with as many outputs as it takes to follow what is known within half a turn only, and the rows that are wanted."""
        wanted = inputs.schedule.outputs
        assert wanted is not None
        if not self.program.twist.numel_out(0):
            return inputs, np.arange(wanted.size)
        outputs = np.union1d(wanted, np.linspace(0.0, inputs.schedule.duration, WATCHED))
        return replace(inputs, schedule=replace(inputs.schedule, outputs=outputs)), np.searchsorted(outputs, wanted)

    @cached_property
    def _completed(self) -> ca.Function:
        """(q, v; their derivatives; α, ρ, t) → state, residuals, finals;  derivatives of state and finals, one column a parameter."""
        chain = self._chain
        x, settings = chain.packed, [block.value for block in chain.settings]
        state, residuals = chain.finish()(x, *settings)
        finals = self.program.objectives.finals(state, *settings[1:])
        S = SX.sym("S", x.numel(), self._directions.shape[1])
        u, u_ = ca.vertcat(x, chain.parameters), ca.vertcat(S, ca.sparsify(ca.DM(self._directions)))
        slopes = [ca.jtimes(value, u, u_) for value in (state, finals)]
        return ca.Function("completed", [x, S, *settings], [state, residuals, finals, *slopes])

    def _integrator(self, inputs: Inputs) -> ca.Function:
        s = inputs.schedule
        assert s.outputs is not None and inputs.state is not None
        n = self.program.coordinates
        size = float(np.abs(inputs.state[:n]).max(initial=0.0))
        key = (s.duration, s.tolerance, s.outputs.tobytes(), size)
        if self._built is None or self._built[0] != key:
            self._built = key, self._new_integrator(s.outputs, s.tolerance, size)
        return self._built[1]

    def _new_integrator(self, outputs: np.ndarray, tolerance: float, size: float) -> ca.Function:
        chain, n = self._chain, self.program.coordinates
        α, ρ, t = (block.value for block in chain.settings)
        x = chain.packed
        problem = {"x": x, "p": ca.vertcat(α, ρ), "t": t}
        if self._solver == IDAS:
            stage = chain.stages[0]
            state = ca.vertcat(x, stage.unknown, stage.multiplier)
            problem |= {"z": state[2 * n :], "alg": ca.vertcat(stage.balance, stage.condition)}
        else:
            state = chain.finish()(x, α, ρ, t)[0]
        problem |= {"ode": state[n : 3 * n], "quad": self.program.objectives.integrands(state, ρ, t)}
        options = {"reltol": SAFETY * tolerance, "abstol": SAFETY * tolerance * size, "max_num_steps": MOST_STEPS}
        # integrals of objectives count for the choice of steps, as they do with explicit integrators
        return ca.integrator("run", self._solver.name, problem, 0.0, outputs[1:].tolist(), {**options, "quad_err_con": True})

    def _run(self, integrate: ca.Function, inputs: Inputs, held: HeldBack) -> Trajectory:
        p, n, outputs = self.program, self.program.coordinates, inputs.schedule.outputs
        assert outputs is not None and inputs.state is not None
        α = evaluated(p.penalty, inputs.state[:n], inputs.nominal, np.zeros(1))[0][: self._chain.settings[0].value.numel()]
        begin = {"x0": inputs.state[: 2 * n], "p": np.concatenate([α, inputs.parameters])}
        if self._solver == IDAS:
            begin["z0"] = inputs.state[2 * n :]
        try:
            with held.let_through():
                found = integrate(**begin)
                stats = integrate.stats()
                S, ψ_ = self._sensitivities(integrate, begin, inputs)
        except RuntimeError:
            if held.came_through:  # of which CasADi makes a failure of the step
                raise KeyboardInterrupt from None
            stats = integrate.stats()
            t, h = float(stats.get("tcur", 0.0)), float(stats.get("hcur", 0.0))
            raise StepFailure(int(stats.get("nsteps", 0)), t, h, inputs.state, α, UNDERFLOW) from None
        x = np.column_stack([begin["x0"], np.array(found["xf"])])
        ψ = np.column_stack([np.zeros(p.objective_count), np.array(found["qf"])])
        columns = S.transpose(1, 0, 2).reshape(2 * n, -1)
        results = self._completed(
            x, columns, *[np.tile(s[:, None], outputs.size) for s in (α, inputs.parameters)], outputs[None, :]
        )
        state, residuals, finals, state_, finals_ = map(np.array, results)
        self._watch_springs(state, inputs, outputs, α)
        slopes = [y.reshape(len(y), outputs.size, self._directions.shape[1]).transpose(1, 0, 2) for y in (state_, finals_)]
        differentiated = p.direction_count is not None
        return Trajectory(
            outputs,
            state.T,
            (ψ + finals).T,
            residuals.max(axis=1),
            int(stats.get("nniters", 0)),
            outputs,
            int(stats.get("netfails", 0)),
            steps=int(stats.get("nsteps", 0)),
            sensitivities=slopes[0] if differentiated else None,
            gradients=slopes[1] + ψ_ if differentiated else None,
        )

    def _watch_springs(self, states: np.ndarray, inputs: Inputs, outputs: np.ndarray, α: np.ndarray) -> None:
        """A torsional spring that was wound past half a turn, as far as stored results show it."""
        twist = self.program.twist
        assert isinstance(twist, ca.Function)
        if not twist.numel_out(0):
            return
        parameters = np.tile(inputs.parameters[:, None], outputs.size)
        jumps = np.abs(np.diff(np.array(twist(states[: self.program.coordinates], parameters, outputs[None, :])), axis=1)) > np.pi
        if jumps.any():
            k = int(jumps.any(axis=0).argmax())
            length = float(outputs[k + 1] - outputs[k])
            raise StepFailure(k + 1, float(outputs[k + 1]), length, states[:, k], α, OVERWOUND, int(jumps[:, k].argmax()))

    def _sensitivities(
        self, integrate: ca.Function, begin: dict[str, np.ndarray], inputs: Inputs
    ) -> tuple[np.ndarray, np.ndarray]:
        """Derivatives of (q, v) and of the integrals at all outputs: (time, row, parameter)."""
        n, count, outputs = self.program.coordinates, self._directions.shape[1], inputs.schedule.outputs
        assert outputs is not None
        S, ψ_ = np.zeros((outputs.size, 2 * n, count)), np.zeros((outputs.size, self.program.objective_count, count))
        if inputs.sensitivities is None or not count:
            return S, ψ_
        S[0] = inputs.sensitivities[: 2 * n]
        seeds = np.zeros((begin["p"].size, count))
        seeds[begin["p"].size - inputs.parameters.size :] = self._directions
        given = {"fwd_x0": S[0], "fwd_p": seeds}
        if self._solver == IDAS:
            given["fwd_z0"] = inputs.sensitivities[2 * n :]
        found = integrate.forward(count)(**begin, **given)
        for target, name in ((S, "fwd_xf"), (ψ_, "fwd_qf")):
            # one block of all outputs a parameter
            target[1:] = np.array(found[name]).reshape(target.shape[1], count, -1).transpose(2, 0, 1)
        return S, ψ_
