"""Consistent initial state: positions that satisfy constraints and initial conditions, the
velocities and accelerations that follow from them, and their derivatives with respect to ρ.

With the initial conditions D(q, ρ) = 0 in addition to the constraints, and everything at t = 0,

    positions      Φ(q, ρ) = 0,                     D(q, ρ) = 0
    velocities     Φ̇(q, q̇, ρ) = 0,                  Ḋ(q, q̇, ρ) = 0
    accelerations  M q̈ + Φ_qᵀ λ = Q,                Φ̈(q, q̇, q̈, ρ) = 0,       λ = Φ_q w

The first line is solved by Gauss–Newton from an initial guess. Each line is F(x; earlier, ρ) = 0
for its own unknowns x, so its derivative follows from F_x x' = −(F_earlier earlier' + F_ρ): exact,
with multipliers written as Φ_q w, which makes them those of least norm where constraints are
redundant.

Where the first line has as many equations as unknowns and they are independent, only its positions
are computed here, with sparse matrices; `start_chain` computes the rest. Irregular systems are
completed, and failures explained, with dense matrices.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np

from ..core.errors import AssemblyError, ModelError
from ..core.messages import Call, Message
from ..core.symbols import SX
from .assembly import Assembly
from .levels import Explicit, Level
from .linear import RANK, column, independent, least_inertia, mobility, product, rank_of

BROKEN = 1e-6
"""Share of the change of an equation by a parameter that may stay unbalanced where derivatives
exist: rounding leaves about 1e-9 of dependent equations, and a loop that breaks leaves about one.
"""


@dataclass(frozen=True)
class InitialState:
    """Consistent q, q̇, q̈ and λ at t = 0."""

    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    λ: np.ndarray
    w: np.ndarray
    """Coefficients with λ = Φ_q w."""

    @property
    def packed(self) -> np.ndarray:
        """q, q̇, q̈ and λ in one vector."""
        return np.concatenate([self.q, self.v, self.a, self.λ])


class InitialStateSolver(Assembly):
    """Solver of the initial state and its derivatives for any values of the parameters."""

    def complete(self, q: np.ndarray, ρ: np.ndarray) -> InitialState:
        """Complete assembled positions to a whole initial state.

        Raises:
            AssemblyError: if there is none.
            ModelError: if initial conditions are missing or redundant, or the mechanism cannot
                move.
        """
        n = q.size
        self._check_dofs(q, ρ)
        v = self._velocities.solve_linear(n, q, ρ)
        self._check_velocities(v, q, ρ)
        self._check_inertia(q, ρ)
        x = self._accelerations.solve_linear(2 * n, np.concatenate([q, v]), ρ)
        λ = column(self._multipliers.value(np.concatenate([x[n:], q]), ρ))
        state = InitialState(q, v, x[:n], λ, x[n:])
        if not np.isfinite(state.packed).all():
            raise AssemblyError(
                "the initial state is not finite",
                element=self.model.label,
                remedy=self._non_finite(state, ρ),
            )
        return state

    def moving(
        self, q: np.ndarray, ρ: np.ndarray, indices: list[int] | None
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """Return positions and the velocities that follow from them, and their derivatives with
        respect to the parameters at `indices`.

        Raises:
            AssemblyError: if no velocities satisfy the initial conditions.
            ModelError: if initial conditions are missing or redundant, or the mechanism cannot
                move.
        """
        if self._immobile or not independent(self._positions.jacobian(q, np.zeros(0), ρ), RANK):
            self._check_dofs(q, ρ)
        v = self._velocities.solve_linear(q.size, q, ρ)
        self._check_velocities(v, q, ρ)
        derivatives = (
            None
            if indices is None
            else np.vstack(self._moving_sensitivities(q, v, ρ, _seeds(ρ.size, indices)))
        )
        return np.concatenate([q, v]), derivatives

    def check_derivatives(self, state: InitialState, ρ: np.ndarray, indices: list[int]) -> None:
        """Check that redundant constraints stay redundant for small changes of the parameters at
        `indices`.

        Raises:
            AssemblyError: if they do not.
        """
        ρ_ = _seeds(ρ.size, indices)
        q_, v_ = self._moving_sensitivities(state.q, state.v, ρ, ρ_)
        missed = [
            self._positions.missed(state.q, np.zeros(0), ρ, q_, ρ_),
            self._velocities.missed(state.v, state.q, ρ, v_, np.vstack([q_, ρ_])),
        ]
        self._check_missed(np.maximum(*missed), indices, "derivative")

    def _check_missed(self, missed: np.ndarray, indices: list[int], what: str) -> None:
        """Refuse derivatives that leave equations unbalanced; `missed`, (equation, parameter), is
        the residual as a share of the change due to the parameter.
        """
        names = [*self.equations.constraint_names, *self._condition_labels]
        for row, k in np.argwhere(missed > BROKEN):
            name = list(self.model.parameter_set.parameters)[indices[k]]
            raise AssemblyError(
                f"no {what} with respect to {name!r} exists: constraints depend on each other, so"
                f" any change of {name!r} breaks {names[row]!r}",
                element=self.model.label,
                remedy="let another parameter change with it, or leave out the redundant joint",
            )

    def sensitivities(self, state: InitialState, ρ: np.ndarray, indices: list[int]) -> np.ndarray:
        """Compute derivatives of the packed state with respect to the parameters at `indices`, one
        column each.
        """
        q_, v_, x_, λ_ = self._first(state, ρ, _seeds(ρ.size, indices))
        return np.vstack([q_, v_, x_[: q_.shape[0]], λ_])

    def second_derivatives(
        self, state: InitialState, ρ: np.ndarray, direction: np.ndarray, indices: list[int]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Compute derivatives of the packed state in a direction of the parameters and with respect
        to all parameters, and second derivatives: those of the former with respect to all
        parameters. Each line is differentiated once more,

            F_x x'' + F_earlier earlier'' + (F_u u')_u u_k = 0,     u = (x, earlier, ρ).

        Raises:
            AssemblyError: if dependent constraints do not stay dependent for changes of the
                parameters at `indices`.
        """
        n, p = state.q.size, ρ.size
        ρ_ = np.column_stack([np.eye(p), direction])
        q_, v_, x_, λ_ = self._first(state, ρ, ρ_)
        w_ = x_[n:]

        def parted(*derivatives: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            """Stack derivatives of u; return u' and u_k."""
            u_ = np.vstack(derivatives)
            return u_[:, -1], u_[:, :-1]

        q2, missed = self._positions.second(
            state.q, np.zeros(0), ρ, *parted(q_, ρ_), np.zeros((0, p))
        )
        v2, missed_rates = self._velocities.second(state.v, state.q, ρ, *parted(v_, q_, ρ_), q2)
        self._check_missed(
            np.maximum(missed, missed_rates)[:, indices], indices, "second derivative"
        )
        x, earlier = np.concatenate([state.a, state.w]), np.concatenate([state.q, state.v])
        x2, _ = self._accelerations.second(
            x, earlier, ρ, *parted(x_, q_, v_, ρ_), np.vstack([q2, v2])
        )
        wq = np.concatenate([state.w, state.q])
        along, derivatives = parted(w_, q_, ρ_)
        λ2 = np.array(self._multipliers.curvature(wq, ρ, along)) @ derivatives
        λ2 += np.array(self._multipliers.partials(wq, ρ))[:, : 2 * n] @ np.vstack([x2[n:], q2])
        first = np.vstack([q_, v_, x_[:n], λ_])
        return first[:, -1], first[:, :-1], np.vstack([q2, v2, x2[:n], λ2])

    @property
    def dofs(self) -> int:
        """Degrees of freedom of the mechanism, driven ones included, at its nominal initial state."""
        ρ = self.model.parameter_set.nominal
        q = self.assemble(ρ)
        count = q.size - self.equations.own.first_order
        if self.regular(q, ρ):
            return int(count - self._structure.numel())
        return int(count - rank_of(self._undriven(q, ρ)))

    @cached_property
    def _velocities(self) -> Level:
        e = self.equations
        return Level(e.start_velocities, e.v, e.q, e.ρ, e.t)

    @cached_property
    def _least_multipliers(self) -> tuple[SX, SX]:
        """w, and λ = Φ_q w."""
        w = SX.sym("w", self.equations.q.numel())
        return w, ca.densify(self.equations.force_directions @ w)

    @cached_property
    def _accelerations(self) -> Level:
        e, (w, λ) = self.equations, self._least_multipliers
        motion = ca.vertcat(ca.substitute(e.balance, e.λ, λ), e.constraint_acceleration)
        return Level(motion, ca.vertcat(e.a, w), ca.vertcat(e.q, e.v), e.ρ, e.t, weighed=True)

    @cached_property
    def _multipliers(self) -> Explicit:
        e, (w, λ) = self.equations, self._least_multipliers
        return Explicit(λ, ca.vertcat(w, e.q), e.ρ, e.t)

    @cached_property
    def _undriven(self) -> ca.Function:
        """Function (q, ρ) → Φ_q without the drivers."""
        e = self.equations
        return ca.Function(
            "undriven", [e.q, e.ρ], [ca.substitute(ca.jacobian(self._structure, e.q), e.t, 0)]
        )

    def _first(
        self, state: InitialState, ρ: np.ndarray, ρ_: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Compute derivatives of q, q̇, (q̈, w) and λ from derivatives of ρ, one column for each
        direction of the parameters.
        """
        q_, v_ = self._moving_sensitivities(state.q, state.v, ρ, ρ_)
        x, earlier = np.concatenate([state.a, state.w]), np.concatenate([state.q, state.v])
        x_ = self._accelerations.sensitivity(x, earlier, ρ, np.vstack([q_, v_, ρ_]))
        of_λ = self._multipliers.partials(np.concatenate([state.w, state.q]), ρ)
        return q_, v_, x_, product(of_λ, np.vstack([x_[state.q.size :], q_, ρ_]))

    def _moving_sensitivities(
        self, q: np.ndarray, v: np.ndarray, ρ: np.ndarray, ρ_: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Compute derivatives of q and q̇ from derivatives of ρ."""
        q_ = self._positions.sensitivity(q, np.zeros(0), ρ, ρ_)
        return q_, self._velocities.sensitivity(v, q, ρ, np.vstack([q_, ρ_]))

    def _check_dofs(self, q: np.ndarray, ρ: np.ndarray) -> None:
        n = q.size
        self._check_rounding(q, ρ)
        dofs = n - self.equations.own.first_order - rank_of(self._undriven(q, ρ))
        if dofs == 0:
            raise ModelError(
                "the joints fix every body: no degrees of freedom remain",
                element=self.model.label,
                remedy="remove a joint or free a body",
            )
        everything = self._positions.jacobian(q, np.zeros(0), ρ)
        constraints = everything[: everything.shape[0] - self._given_count, :]
        undetermined = n - rank_of(constraints)
        left = undetermined - self._shaped
        if self._given_count > rank_of(everything) - rank_of(constraints):
            raise self._too_much(left)
        if self._given_count < undetermined:
            joint = ", or add the missing joint" if self.start.conditions else ""
            raise ModelError(
                f"the initial conditions leave {undetermined - self._given_count} of {left} DOF undetermined"
                f" (given: {self._given})",
                element=self.model.label,
                remedy=Message(
                    "give {} a value that fixes {}{}",
                    Call("start"),
                    self._moving(everything),
                    joint,
                ),
            )

    def _check_rounding(self, q: np.ndarray, ρ: np.ndarray) -> None:
        """Refuse relative coordinates in which all loops are redundant: then Φ_q consists of
        rounding errors, which change completely with the least change of q.
        """
        sizes = self.equations.sizes
        J = np.array(self._undriven(q, ρ)) if sizes is not None else np.zeros(0)
        if sizes is None or not J.any():
            return
        # 1e-9: far above rounding of q, and far too small to change a regular Jacobian; 10:
        # rounding changes completely, by about its own size
        moved = q + 1e-9 * sizes.typical * np.random.default_rng(0).uniform(0.5, 1.0, q.size)
        if np.abs(J).max() <= 10 * np.abs(np.array(self._undriven(moved, ρ)) - J).max():
            raise ModelError(
                "the joints that close its loops are redundant; in these coordinates their"
                " equations consist of rounding errors",
                element=self.model.label,
                remedy=Message("use {coordinates}", coordinates="natural"),
            )

    def _moving(self, jacobian: ca.DM) -> str:
        """Name coordinates that can still move, for messages."""
        motion = mobility(jacobian)
        order = np.argsort(-motion)[:3]
        names = [
            self.equations.coordinate_names[k] for k in sorted(order) if motion[k] > 0.1
        ]  # noticeably
        return ", ".join(dict.fromkeys(map(self._described, names)))

    def _described(self, coordinate: str) -> str:
        """Describe a coordinate for messages: directions of a body represent its orientation."""
        body, *rest = coordinate.rsplit(".", 2)
        if len(rest) == 2 and rest[0] in ("u", "v", "w") and body in self.model.bodies:
            return f"the {'angle' if self.model.dimension == 2 else 'orientation'} of {body!r}"
        return repr(coordinate)

    def _check_velocities(self, v: np.ndarray, q: np.ndarray, ρ: np.ndarray) -> None:
        F = column(self._velocities.residuals(v, q, ρ))
        if F.size and np.abs(F).max() > 1e-8 * (1 + np.abs(v).max(initial=0.0)):
            names = [
                *self.equations.constraint_names,
                *(f"speed: {label}" for label in self._condition_labels),
            ]
            worst = int(np.abs(F).argmax())
            raise AssemblyError(
                f"no velocities meet the initial conditions: {names[worst]} is missed by"
                f" {abs(F[worst]):.3g}",
                element=self.model.label,
            )

    def _check_inertia(self, q: np.ndarray, ρ: np.ndarray) -> None:
        M = self._mass(q, ρ)
        inertia, motion = least_inertia(M, self._undriven(q, ρ))
        if inertia <= 1e-12 * float(ca.norm_inf(ca.vec(M))):
            name = self._described(self.equations.coordinate_names[int(np.abs(motion).argmax())])
            raise ModelError(
                f"{name} can move without inertia",
                element=self.model.label,
                remedy="give the body that turns there an inertia (for a spatial bar: its radius),"
                " or a joint that holds it",
            )

    def _non_finite(self, state: InitialState, ρ: np.ndarray) -> str:
        e = self.equations
        for name, part in e.force_parts.items():
            value = ca.Function("f", [e.q, e.v, e.ρ, e.t], [part])(state.q, state.v, ρ, 0.0)
            if not np.isfinite(np.array(value)).all():
                force = self.model.forces.get(name)
                between = None if force is None else force.span()
                hint = "" if between is None else ": its ends coincide"
                return f"check {name!r}{hint}"
        return "check the forces and drivers at t = 0"


def _seeds(count: int, indices: list[int]) -> np.ndarray:
    """Return derivatives of all parameters with respect to those at `indices`: columns of the
    identity.
    """
    return np.eye(count)[:, indices]
