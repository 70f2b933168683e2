"""Equilibrium.

    equilibrium   F = Φ_qᵀ λ − Q(q, 0, ρ) = 0,  Φ(q, ρ) = 0                    at t = 0
    derivatives   H (q', λ') = −∂/∂ρ of both,   H = [K  Φ_qᵀ; Φ_q  0],   K = ∂F/∂q

First-order states z with rates ż = f are unknowns with the equations f = 0: z = ẏ replaces the
coordinate y (`model/own_coordinates`), on which nothing depends. Their changes do not limit steps.
With such states there is no downhill direction, and s = 0: controllers hold mechanisms in unstable
positions.

The equilibrium is found by Newton's method on (K + s M) with s ≥ 0 so large that this is positive
definite along the constraints, which makes every step a descent. s vanishes during the iteration.
Steps are shortened until they achieve half of the expected reduction, measured by the correction
for the rest, which is insensitive to stiffnesses of very different sizes. A saddle, an equilibrium
that a disturbance would leave, is left along its unstable direction.

Tensions N of beams are separate unknowns during the iteration, with T(r) − N = 0 for the force T of
a segment of length r. Otherwise a step that turns segments by θ would stretch them by θ²/2, the
next step would see forces E A θ²/2, and steps would have to be short for slender beams.

P. Deuflhard, Newton Methods for Nonlinear Problems, Springer 2004, section 3.3; C. T. Kelley and D.
E. Keyes, SIAM J. Numer. Anal. 35 (1998) 508–523.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np

from ..coordinates.equations import Equations
from ..coordinates.initial_state import InitialStateSolver
from ..coordinates.linear import column
from ..core.coordinate_scales import TINY
from ..core.errors import ModelError, VarimechError
from ..core.messages import Message
from ..core.symbols import SX
from .vibrations import DENSE, frequencies, slowest, symmetric

ITERATIONS = 1000
LONGEST = 0.05
"""Largest displacement in one step, over the size of the mechanism."""
SHORTEST = 1e-3
"""Share of a correction below which it is not shortened further."""
NEAR, CONVERGED = 1e-3, 1e-12
"""Corrections, over the size of the mechanism: from the first on s vanishes, the second ends the
iteration.
"""
AWAY = 20
"""Sum of all corrections, over the size of the mechanism, above which something is free to move
away.
"""
SADDLES = 8
"""Number of saddles that are left before giving up."""
TOUCH = 1e-3
"""Displacement that leaves a saddle, over the size of the mechanism."""
RANK = 1e-15
"""Singular values below this share of the largest count as zero."""
NOISE = 1e-14
"""Relative rounding error of forces."""
BALANCED = 1e-7
"""Remaining force in equilibrium, over the force in the initial position."""


@dataclass(frozen=True)
class Equilibrium:
    """Positions and multipliers, with their derivatives with respect to the parameters requested."""

    q: np.ndarray
    v: np.ndarray
    """First-order states; zero for other coordinates."""
    λ: np.ndarray
    sensitivities: np.ndarray | None
    """(q, v and λ, parameter)"""
    iterations: int
    residual: float
    """Residual of the constraints."""


class Statics:
    """Equilibria of one mechanism."""

    def __init__(self, equations: Equations, start: InitialStateSolver):
        self.equations = e = equations
        if e.units or e.loads:
            raise ModelError(
                f"mechanism {e.model.name!r} has rigid contacts or dry friction, which may balance"
                " forces in many positions",
                remedy="use compliant contacts (a stiffness), or simulate until it rests",
            )
        if e.has_velocity_constraints:
            raise ModelError(
                f"mechanism {e.model.name!r} constrains velocities, whose forces balance others in"
                " many positions",
                remedy="leave these constraints out, or simulate with dampers until it rests",
            )
        self.start = start
        self.name = e.model.name
        self._n, self._m = e.q.numel(), e.λ.numel()
        self._first_order = _first_order(e)
        still = SX.zeros(self._n)
        for k in self._first_order:
            still[k] = e.q[k]
        rest = [still, SX.zeros(self._n), SX(0)]
        balance, Φ = (
            ca.substitute([x], [e.v, e.a, e.t], rest)[0] for x in (e.balance, e.constraints)
        )
        lengths, tensions, softness = _stretching(e)
        N = SX.sym("N", lengths.numel())
        relaxed = balance + ca.jtimes(lengths, e.q, N - tensions, True)
        self._F, self._x = ca.densify(ca.vertcat(balance, Φ)), ca.vertcat(e.q, e.λ)
        mixed, y = (
            ca.densify(ca.vertcat(relaxed, Φ, softness * (tensions - N))),
            ca.vertcat(e.q, e.λ, N),
        )
        self._residuals = ca.Function("F", [self._x, e.ρ], [self._F])
        self._jacobian = ca.Function("H", [self._x, e.ρ], [ca.jacobian(self._F, self._x)])
        self._mixed = ca.Function("G", [y, e.ρ], [mixed])
        self._mixed_jacobian = ca.Function("G_y", [y, e.ρ], [ca.jacobian(mixed, y)])
        self._tensions = ca.Function("T", [e.q, e.ρ], [ca.densify(tensions)])
        self._mass = ca.Function("M", [e.q, e.ρ], [e.mass])

    @cached_property
    def _partials(self) -> ca.Function:
        return ca.Function(
            "F_p", [self._x, self.equations.ρ], [ca.jacobian(self._F, self.equations.ρ)]
        )

    def equilibrium(self, ρ: np.ndarray, indices: list[int] | None) -> Equilibrium:
        """Find the stable equilibrium downhill of the initial position.

        Raises:
            VarimechError: if none is found.
        """
        n = self._n
        self.start.check_closure(ρ, indices)
        q = self.start.assemble(ρ)
        q[self._first_order] = column(self._initial_states(ρ))
        y = np.concatenate([q, np.zeros(self._m), column(self._tensions(q, ρ))])
        size, first = (
            float(np.ptp(np.delete(q, self._first_order))) or 1.0,
            float(np.abs(self._value(self._residuals, y, ρ)[:n]).max(initial=0.0)),
        )
        iterations = 0
        for _ in range(SADDLES):
            y, more = self._descend(y, ρ, size)
            iterations += more
            H, M = self._jacobian(y[: n + self._m], ρ), self._mass(y[:n], ρ)
            square, shape = slowest(H, M)
            # forces without a potential have no downhill direction
            if not square < 0 or not symmetric(H, n):
                break
            y[:n] += TOUCH * size / np.abs(shape).max() * shape
        else:
            raise VarimechError(
                f"{self.name!r}: no stable equilibrium; the search has left {SADDLES} unstable ones"
            )
        x = y[: n + self._m]
        self._check_folds(x[:n], ρ)
        left = float(np.abs(self._value(self._residuals, x, ρ)[:n]).max(initial=0.0))
        if left > BALANCED * first + 1e-13 * size * float(np.abs(H.nonzeros()).max(initial=0.0)):
            raise VarimechError(
                f"{self.name!r}: no equilibrium; a force of {left:.3g} N or N·m is left where"
                " nothing resists it"
            )
        sensitivities = None
        if indices is not None:
            changes = -self._solver(H)(np.array(self._partials(x, ρ))[:, indices])
            sensitivities = np.vstack([*self._split(changes[:n]), changes[n:]])
        residual = float(np.abs(self._value(self._residuals, x, ρ)[n:]).max(initial=0.0))
        return Equilibrium(*self._split(x[:n]), x[n:], sensitivities, iterations, residual)

    def _split(self, unknowns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Split unknowns into q and v: first-order states are rates of their coordinates."""
        q, v, k = unknowns.copy(), np.zeros_like(unknowns), self._first_order
        q[k], v[k] = 0.0, unknowns[k]
        return q, v

    @cached_property
    def _initial_states(self) -> ca.Function:
        """Compile ρ → initial first-order states, scaled as in the equations."""
        e = self.equations
        own = [c for c in e.model.own_coordinates if c.order == 1]
        first = [SX(0) if c.initial is None else c.initial / c.size for c in own]
        return ca.Function("z", [e.ρ], [ca.densify(ca.vertcat(SX(0, 1), *first))])

    def frequencies(self, ρ: np.ndarray, count: int) -> np.ndarray:
        """Compute angular frequencies of the slowest vibrations about the equilibrium (rad/s).

        Zero for motions without stiffness, NaN for motions that forces without a potential amplify.

        Raises:
            ModelError: if the mechanism is driven, or keeps moving from its initial state:
                vibrations
                about a motion differ from those at rest.
            VarimechError: if there is no equilibrium.
        """
        e = self.equations
        states = [c.name for c in e.model.own_coordinates if c.order == 1]
        if states:
            raise ModelError(
                f"mechanism {self.name!r} has states with rates of their own"
                f" ({', '.join(map(repr, states))}), which frequencies do not take",
                remedy='use modes("equilibrium"), which does',
            )
        for driver in e.model.drivers.values():
            if ca.jacobian(driver.motion(e.t), e.t).nnz():
                raise ModelError(
                    f"mechanism {self.name!r} has no frequencies about rest: driver {driver.name!r}"
                    " moves it; hold the driver at a constant value, or take modes about its steady"
                    ' motion, modes("steady")'
                )
        rest = self.equilibrium(ρ, None)
        ω = frequencies(
            self._jacobian(np.concatenate([rest.q, rest.λ]), ρ), self._mass(rest.q, ρ), count
        )
        if (ω == 0).any() and np.abs(column(self._given_speeds(rest.q, ρ))).max(initial=0.0) > 0:
            raise ModelError(
                f"mechanism {self.name!r} has no frequencies about rest: its start gives it a"
                " speed, and nothing resists one of its motions",
                remedy=Message(
                    "leave {speed} out of the start for frequencies at rest, or take modes about the"
                    ' steady motion, modes("steady")'
                ),
            )
        return ω

    @cached_property
    def _given_speeds(self) -> ca.Function:
        """Compile (q, ρ) → residuals of initial velocities at rest, which show prescribed speeds."""
        e = self.equations
        rest = ca.substitute([e.start_velocities], [e.v, e.t], [SX.zeros(self._n), SX(0)])[0]
        return ca.Function("speeds", [e.q, e.ρ], [ca.densify(rest)])

    def _value(self, function: ca.Function, y: np.ndarray, ρ: np.ndarray) -> np.ndarray:
        return column(function(y[: function.numel_in(0)], ρ))

    def _descend(self, y: np.ndarray, ρ: np.ndarray, size: float) -> tuple[np.ndarray, int]:
        """Find a position in equilibrium by Newton's method; return it, and the number of steps."""
        n, none = self._n, y.size - self._n
        M = self._mass(y[:n], ρ)
        shifted = ca.diagcat(M, ca.DM(none, none))
        s, travelled = np.inf, 0.0
        for iteration in range(1, ITERATIONS + 1):
            G, G_y = self._value(self._mixed, y, ρ), self._mixed_jacobian(y, ρ)
            s = self._shift(G_y, M, G[:n], size, s)
            solve = self._solver(G_y + s * shifted)
            step = -solve(G)
            move = float(np.abs(np.delete(step[:n], self._first_order)).max(initial=0.0))
            states = np.abs(step[self._first_order]).max(initial=0.0)
            state_size = 1.0 + np.abs(y[self._first_order]).max(initial=0.0)
            if not np.isfinite(step).all():
                raise VarimechError(
                    f"{self.name!r}: no equilibrium; a force or constraint is not finite on the way"
                    " to one"
                )
            if move <= CONVERGED * size and states <= CONVERGED * state_size:
                return y + step, iteration
            share = min(1.0, LONGEST * size / max(move, CONVERGED * size))
            resistance = s * column(shifted @ step)
            while share > SHORTEST:
                expected = (1 - share) * G - share * resistance
                rest = solve(self._value(self._mixed, y + share * step, ρ) - expected)[:n]
                off = np.abs(np.delete(rest, self._first_order)).max(initial=0.0)
                if off <= share * move / 2 or off <= CONVERGED * size:
                    break
                share /= 2
            y = y + share * step
            travelled += share * move
            if travelled > AWAY * size:
                raise VarimechError(
                    f"{self.name!r}: no equilibrium; something is free to move away under its load"
                )
            s = 0.0 if move <= NEAR * size else s if share < 1 else 0.1 * s
        raise VarimechError(
            f"{self.name!r}: no equilibrium in {ITERATIONS} iterations; if there is one, a start"
            " closer to it may lead there"
        )

    def _shift(self, G_y: ca.DM, M: ca.DM, F: np.ndarray, size: float, s: float) -> float:
        """Return a shift of at least s for which K + s M is positive definite, with a step of
        reasonable length along its softest direction.
        """
        if self._first_order:
            return 0.0
        n, m = self._n, self._m
        A = G_y[: n + m, : n + m]
        if G_y.shape[0] > n + m:  # eliminate the tensions
            A -= G_y[: n + m, n + m :] @ ca.solve(G_y[n + m :, n + m :], G_y[n + m :, : n + m])
        square, shape = slowest(A, M)
        push, most = (
            abs(float(shape @ F)),
            LONGEST * size / max(float(np.abs(shape).max(initial=0.0)), TINY),
        )
        noise = (
            NOISE
            * size
            * float(np.abs(A[:n, :n].nonzeros()).max(initial=0.0))
            * float(np.abs(shape).sum())
        )
        needed = max(push / most - square if push > noise else 0.0, -1.2 * square, 0.0)
        if not np.isfinite(s):
            masses = np.maximum(np.array(ca.diag(M)).ravel(), 1e-12)
            s = float(np.abs(F / masses).max(initial=0.0)) / (LONGEST * size)
        return max(s, needed)

    def _check_folds(self, q: np.ndarray, ρ: np.ndarray) -> None:
        e = self.equations
        for beam in e.model.beams:
            nodes = [e.frames[beam].position(p.local) for p in beam.nodes]
            places = np.array(ca.Function("nodes", [e.q, e.ρ], [ca.horzcat(*nodes)])(q, ρ)).T
            a = np.diff(places, axis=0)
            folded = np.flatnonzero((a[:-1] * a[1:]).sum(axis=1) <= 0)
            if folded.size:
                raise VarimechError(
                    f"{self.name!r}: no equilibrium; beam {beam.name!r} folds over by more than 90°"
                    f" at node {folded[0] + 1}, more than {beam.segments} segments can"
                    " represent: give it more segments, or less load"
                )

    def _solver(self, A: ca.DM) -> Callable[[np.ndarray], np.ndarray]:
        """Return a solver with a matrix; small ones may be singular, due to redundant constraints."""
        if A.shape[0] > DENSE:
            from scipy.sparse.linalg import splu

            try:
                factors = splu(A.sparse())
            except RuntimeError:  # exactly singular
                raise ModelError(
                    f"mechanism {self.name!r} has redundant constraints, or can move without force;"
                    " equilibria of models of this size support neither"
                ) from None
            return lambda b: np.asarray(factors.solve(b))
        from scipy.linalg import lapack

        dense = np.array(A)
        scale = 1 / np.sqrt(np.maximum(np.abs(dense).max(axis=1), TINY))[:, None]
        scaled = scale * dense * scale.T
        factors, pivots, singular = lapack.dgetrf(scaled)
        rcond = 0.0 if singular else lapack.dgecon(factors, np.linalg.norm(scaled, 1))[0]

        if rcond > RANK:
            return lambda b: (
                scale * lapack.dgetrs(factors, pivots, scale * b.reshape(b.shape[0], -1))[0]
            ).reshape(b.shape)
        inverse = np.linalg.pinv(scaled, rcond=RANK)
        return lambda b: (scale * (inverse @ (scale * b.reshape(b.shape[0], -1)))).reshape(b.shape)


def _first_order(e: Equations) -> list[int]:
    """Indices of first-order states among the coordinates, in the order of the model."""
    places = {x.element_hash(): k for k, x in enumerate(ca.vertsplit(e.v))} if e.v.numel() else {}
    names = [c.name for c in e.model.own_coordinates if c.order == 1]
    return [places[ca.symvar(e.own.states[name])[0].element_hash()] for name in names]


def _stretching(e: Equations) -> tuple[SX, SX, SX]:
    """Return lengths of all segments of beams, their tensions, and their compliances ℓ/(E A)."""
    lengths, tensions, softness = [SX(0, 1)], [SX(0, 1)], [SX(0, 1)]
    for beam in e.model.beams:
        frame = e.frames[beam]
        for k in range(beam.segments):
            first, second = (frame.position(beam.nodes[i].local) for i in (k, k + 1))
            lengths.append(ca.norm_2(second - first))
            tensions.append(beam.stretching_force(frame, k))
            softness.append(beam.segment_length(k) / (beam.E * beam.area))
    return ca.vertcat(*lengths), ca.vertcat(*tensions), ca.vertcat(*softness)
