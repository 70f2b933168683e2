"""Runs by a solver that chooses its own steps (CVODES, IDAS, or another `ContinuousSolver`), on the
generated rates, in scaled variables (`sundials_scales`).

Results do not contain the terms that stabilise constraints: accelerations and multipliers at stored
times, and in integrands, are those of exact constraints at the computed positions and velocities.
Otherwise ω² times the drift would count as an acceleration, however slow the motion. CasADi's
virtual machine evaluates the functions.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from functools import cached_property

import casadi as ca
import numpy as np

from ..core.interrupts import DeferredInterrupt, deferred_interrupts
from ..core.progress import ProgressCallback
from ..core.schedule import LONGEST
from ..core.symbols import SX
from ..formulations.formulation import ContinuousRates
from ..integrators.integrator import ContinuousSolver
from .bound import evaluated
from .failures import STEPPED_OVER, TOO_MANY_STEPS, UNDERFLOW, StepFailure
from .inputs import Inputs
from .program import Program
from .runner import Timed, timed
from .sundials_scales import Scales, Scaling
from .trajectory import Trajectory

MOST_PASSES = 4
"""Most runs to adapt the scales to the motion; the second nearly always suffices."""
STABILISED = 1.0, 5.0
"""Least and largest ω of the stabilisation over the rate of the motion: drift decays while the
mechanism moves through its size, and ω² times the drift, which is an error of the accelerations
that IDAS controls, stays as small as the drift (with 100, IDAS does not end).
"""
FINE = 20
"""Number of steps between two results up to which bodies turn by less than a quarter of a turn
between them: a revolution takes about a hundred.
"""
INDEPENDENT = 1e-9
"""Least singular value of independent constraints, relative to the largest."""
Start = dict[str, np.ndarray]
"""Arguments of an integrator."""


class SundialsRunner:
    """Executes one program with given initial states, any number of times.

    Args:
        program: its penalty, objectives and directions are used.
        rates: chains of the rates, and of accelerations and multipliers of results.
        jacobian: (q, ρ, t) → Φ_q.
        solver: builds the integrator.
        lengths: whether each coordinate is a length; the others are dimensionless.
    """

    def __init__(
        self,
        program: Program,
        rates: ContinuousRates,
        jacobian: ca.Function,
        solver: ContinuousSolver,
        lengths: np.ndarray,
    ):
        self.program = program
        self._chain = rates.rates
        self._exact = rates.results
        self._jacobian = jacobian
        self._solver = solver
        self._lengths = lengths
        self._omega = rates.omega
        none = np.zeros((self._chain.parameters.numel(), 0))
        self._directions = none if program.directions is None else program.directions
        self._built: tuple[object, ca.Function] | None = None
        self._lock = threading.Lock()  # an integrator of CasADi serves one thread at a time

    def prepare(
        self, inputs: Inputs, backend: str, *, runs: int = 1
    ) -> Callable[[ProgressCallback | None], Timed]:
        """Return a function that executes one run; there is only one backend."""

        def execute(progress: ProgressCallback | None) -> Timed:
            with self._lock:
                integrate = self._integrator(inputs)
                with deferred_interrupts() as held:
                    return timed(lambda: self._run(integrate, inputs, held))

        return execute

    @cached_property
    def _completed(self) -> ca.Function:
        """(q, v; their derivatives; α, ρ, t) → state, residuals, integrands, finals; derivatives of
        state and finals, one column for each parameter.
        """
        x, settings = self._exact.packed, [block.value for block in self._exact.settings]
        state, residuals = self._exact.finish()(x, *settings)
        integrands, finals = (
            f(state, *settings[1:])
            for f in (self.program.objectives.integrands, self.program.objectives.finals)
        )
        S = SX.sym("S", x.numel(), self._directions.shape[1])
        u, u_ = (
            ca.vertcat(x, self._exact.parameters),
            ca.vertcat(S, ca.sparsify(ca.DM(self._directions))),
        )
        derivatives = [ca.jtimes(value, u, u_) for value in (state, finals)]
        return ca.Function(
            "completed", [x, S, *settings], [state, residuals, integrands, finals, *derivatives]
        )

    # the integrator, in scaled variables

    def _integrator(self, inputs: Inputs) -> ca.Function:
        tolerance, times = inputs.schedule.tolerance, _times(inputs)
        unit = _unit_of_time(times)
        grid, longest = times / unit, inputs.schedule.longest_chosen / unit
        key = (tolerance, longest, grid.tobytes())
        if self._built is None or self._built[0] != key:
            self._built = key, self._new_integrator(grid, tolerance, longest)
        return self._built[1]

    def _new_integrator(self, times: np.ndarray, tolerance: float, longest: float) -> ca.Function:
        """Build the integrator. Integrals are part of the integrated state: separate quadratures
        would not affect the choice of the order.
        """
        chain, n, objectives = self._chain, self.program.coordinates, self.program.objectives
        x, settings = chain.packed, [block.value for block in chain.settings]
        exact, t = settings[-3:], settings[-1]
        T, rows, ψ = (
            SX.sym("T"),
            SX.sym("rows", self._rows.numel_out(0)),
            SX.sym("ψ", self.program.objective_count),
        )
        X, Z = SX.sym("X", x.numel() + ψ.numel()), SX.sym("Z", rows.numel())
        if self._solver.algebraic:
            stage = chain.stages[0]
            z = ca.vertcat(stage.unknown, stage.multiplier)
            state, conditions = ca.vertcat(x, z), ca.vertcat(stage.balance, stage.condition) / rows
        else:
            z, conditions, state = SX(0, 1), SX(0, 1), chain.finish()(x, *settings)[0]
        rates = ca.vertcat(
            state[n : 3 * n], objectives.integrands(self._exact.finish()(x, *exact)[0], *exact[1:])
        )
        x̂, ẑ, τ = SX.sym("x̂", X.numel()), SX.sym("ẑ", z.numel()), SX.sym("τ")
        unscaled = [X * x̂, Z[: z.numel(), :] * ẑ, T * τ]  # both indices: a scalar has rows, too
        ode, alg = ca.substitute([T * rates / X, conditions], [ca.vertcat(x, ψ), z, t], unscaled)
        problem = {
            "x": x̂,
            "z": ẑ,
            "p": ca.vertcat(*settings[:-1], T, rows, X, Z),
            "t": τ,
            "ode": ode,
            "alg": alg,
        }
        return self._solver.function(problem, times, tolerance, longest)

    @cached_property
    def _rows(self) -> ca.Function:
        """(state, scales of its algebraic unknowns, α, ρ, t) → the largest term of each algebraic
        equation.
        """
        stage, settings = (
            self._chain.stages[0],
            [block.value for block in self._chain.settings[-3:]],
        )
        z = ca.vertcat(stage.unknown, stage.multiplier)
        Z, λ = SX.sym("Z", z.numel()), stage.multiplier
        J = ca.jacobian(ca.vertcat(stage.balance, stage.condition), z)
        terms = ca.fabs(J) @ Z if z.numel() else Z
        return ca.Function(
            "rows", [self._chain.packed, stage.unknown, λ, Z, *settings], [ca.densify(terms)]
        )

    # a run

    def _run(self, integrate: ca.Function, inputs: Inputs, held: DeferredInterrupt) -> Trajectory:
        p, n, outputs, times = (
            self.program,
            self.program.coordinates,
            inputs.schedule.outputs,
            _times(inputs),
        )
        assert outputs is not None and inputs.state is not None
        α = evaluated(p.penalty, inputs.state[:n], inputs.nominal, np.zeros(1))[0][
            : self._chain.settings[-3].value.numel()
        ]
        try:
            with held.allowed():
                scales, x, ψ, stats = self._motion(integrate, inputs, α)
                S, ψ_ = self._sensitivities(integrate, scales, inputs, α)
        except RuntimeError as error:
            if held.delivered:  # CasADi turns Ctrl-C into a failed step
                raise KeyboardInterrupt from None
            stats, unit = integrate.stats(), _unit_of_time(times)
            t, h = (unit * float(stats.get(name, 0.0)) for name in ("tcur", "hcur"))
            reason = TOO_MANY_STEPS if self._solver.gave_up(error) else UNDERFLOW
            raise StepFailure(int(stats.get("nsteps", 0)), t, h, inputs.state, α, reason) from None
        columns = S.transpose(1, 0, 2).reshape(2 * n, -1)
        state, residuals, _, finals, state_, finals_ = self._complete(x, columns, inputs, α)
        if int(stats.get("nsteps", 0)) <= FINE * (times.size - 1):
            self._check_regular(state, inputs, α)
        derivatives = [
            y.reshape(len(y), times.size, self._directions.shape[1]).transpose(1, 0, 2)
            for y in (state_, finals_)
        ]
        stored = np.searchsorted(times, outputs)
        differentiated = p.direction_count is not None
        return Trajectory(
            outputs,
            state.T[stored],
            (ψ + finals).T[stored],
            residuals.max(axis=1),
            int(stats.get("nniters", 0)),
            outputs,
            int(stats.get("netfails", 0)),
            steps=int(stats.get("nsteps", times.size - 1)),  # some solvers do not count steps
            sensitivities=derivatives[0][stored] if differentiated else None,
            gradients=(derivatives[1] + ψ_)[stored] if differentiated else None,
        )

    def _motion(
        self, integrate: ca.Function, inputs: Inputs, α: np.ndarray
    ) -> tuple[Scales, np.ndarray, np.ndarray, dict[str, float]]:
        """Return scales adapted to the motion, the motion and the integrals at all times with these
        scales, and the statistics of the solver.
        """
        times, sizes, n = _times(inputs), inputs.sizes, self.program.coordinates
        assert inputs.state is not None
        scaling = Scaling(
            self._lengths,
            np.zeros(self._lengths.size, dtype=bool) if sizes is None else sizes.turns > 1,
            0.0 if sizes is None else sizes.length,
            inputs.schedule.duration,
        )
        masses = float(α.max(initial=0.0)) / self._chain.saddle.penalty_factor
        scales = scaling.expected(inputs.state, masses, self.program.objective_count)
        for _ in range(MOST_PASSES):
            begin = self._begin(scales, inputs, α)
            history = (
                np.column_stack([begin["x0"], np.array(integrate(**begin)["xf"])])
                * scales.differential[:, None]
            )
            x, ψ = history[: 2 * n], history[2 * n :]
            none = np.zeros((2 * n, times.size * self._directions.shape[1]))
            states, _, integrands, *_ = self._complete(x, none, inputs, α)
            better = scales.corrected(scaling.observed(scales, states, integrands))
            if better is None:
                break
            scales = better
        return scales, x, ψ, integrate.stats()

    def _begin(self, scales: Scales, inputs: Inputs, α: np.ndarray) -> Start:
        """Return the initial state and the parameters of the integrator, in scaled variables."""
        n = self.program.coordinates
        assert inputs.state is not None
        q_v, a, λ = np.split(inputs.state, [2 * n, 3 * n])
        rows = np.array(self._rows(q_v, a, λ, scales.algebraic, α, inputs.parameters, 0.0)).ravel()
        rows[rows == 0] = 1.0
        least, most = (ratio * scales.rate for ratio in STABILISED)
        ω = (
            []
            if self._omega is None
            else [float(np.clip(self._omega, least, most)) if self._omega else 0.0]
        )
        unit = np.array([_unit_of_time(_times(inputs))])
        settings = [
            np.array(ω),
            α,
            inputs.parameters,
            unit,
            rows,
            scales.differential,
            scales.algebraic,
        ]
        none = np.zeros(self.program.objective_count)
        begin = {
            "x0": np.concatenate([q_v, none]) / scales.differential,
            "p": np.concatenate(settings),
        }
        if self._solver.algebraic:
            begin["z0"] = inputs.state[2 * n :] / scales.algebraic
        return begin

    def _complete(
        self, x: np.ndarray, columns: np.ndarray, inputs: Inputs, α: np.ndarray
    ) -> list[np.ndarray]:
        """Evaluate `_completed` at all times."""
        times = _times(inputs)
        settings = [np.tile(s[:, None], times.size) for s in (α, inputs.parameters)]
        return [np.array(value) for value in self._completed(x, columns, *settings, times[None, :])]

    def _check_regular(self, states: np.ndarray, inputs: Inputs, α: np.ndarray) -> None:
        """Raise an error if a singular position was stepped over, so that a constraint has turned
        into its opposite from one time to the next.

        With Φ_q = U Σ Vᵀ, the matrix Uᵀ Φ_q V Σ⁻¹ of the next Φ_q is close to the identity; one of
        its eigenvalues passes zero at a singular position.
        """
        times, n = _times(inputs), self.program.coordinates
        parameters = np.tile(inputs.parameters[:, None], times.size)
        m = self._jacobian.size1_out(0)
        if not m:
            return
        J = (
            np.array(self._jacobian(states[:n], parameters, times[None, :]))
            .reshape(m, times.size, n)
            .transpose(1, 0, 2)
        )
        U, Σ, Vt = np.linalg.svd(J, full_matrices=False)
        rank = int((Σ[0] > INDEPENDENT * Σ[0, 0]).sum())
        W = (
            U[:-1, :, :rank].transpose(0, 2, 1)
            @ J[1:]
            @ Vt[:-1, :rank].transpose(0, 2, 1)
            / Σ[:-1, None, :rank]
        )
        passed = np.linalg.eigvals(W).real.min(axis=1, initial=1.0) <= 0
        if passed.any():
            k = int(passed.argmax())
            raise StepFailure(k + 1, float(times[k + 1]), 0.0, states[:, k], α, STEPPED_OVER)

    def _sensitivities(
        self, integrate: ca.Function, scales: Scales, inputs: Inputs, α: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return derivatives of (q, v) and of the integrals at all times: (time, row, parameter).

        Each direction is scaled by the magnitude of its parameters, so that the scales of the
        motion fit its derivatives, too.
        """
        n, count = self.program.coordinates, self._directions.shape[1]
        S = np.zeros((_times(inputs).size, 2 * n + self.program.objective_count, count))
        if inputs.sensitivities is not None and count:
            S[0, : 2 * n] = inputs.sensitivities[: 2 * n]
            first = S[0] / scales.differential[:, None]
            lengths = 1 / np.maximum(
                inputs.sensitivity_floors, np.abs(first).max(axis=0, initial=0.0)
            )
            begin = self._begin(scales, inputs, α)
            seeds = np.zeros((begin["p"].size, count))
            place = α.size + (self._omega is not None)
            seeds[place : place + inputs.parameters.size] = self._directions * lengths
            seeds_of_run = {"fwd_x0": first * lengths, "fwd_p": seeds}
            if self._solver.algebraic:
                seeds_of_run["fwd_z0"] = (
                    inputs.sensitivities[2 * n :] / scales.algebraic[:, None] * lengths
                )
            derivatives = np.array(
                integrate.forward(count)(**begin, **seeds_of_run)["fwd_xf"]
            )  # one block of all times for each parameter
            S[1:] = (
                derivatives.reshape(S.shape[1], count, -1).transpose(2, 0, 1)
                * scales.differential[:, None]
                / lengths
            )
        return S[:, : 2 * n], S[:, 2 * n :]


def _times(inputs: Inputs) -> np.ndarray:
    """Return the times of stored results, and further times between those that are far apart."""
    outputs, longest = inputs.schedule.outputs, LONGEST * inputs.schedule.duration
    assert outputs is not None
    parts = [
        np.linspace(a, b, max(1, round((b - a) / longest)) + 1)[:-1]
        for a, b in itertools.pairwise(outputs)
    ]
    return np.concatenate([*parts, outputs[-1:]])


def _unit_of_time(times: np.ndarray) -> float:
    """Return the shortest time between two results: CasADi treats times that differ by less than
    1e-9 as equal.
    """
    return float(np.diff(times).min())
