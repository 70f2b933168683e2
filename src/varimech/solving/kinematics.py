"""Kinematics: positions, velocities and accelerations for values u of as many drivers as there are
degrees of freedom, by continuation.

    positions      F(q, u, ρ) = 0
    velocities     F_q q̇ = −F_u u̇
    accelerations  F_q q̈ = −(F_q q̇ + F_u u̇)' … , all of Φ̈ = 0
    derivatives    F_q q' = −F_ρ, and likewise for velocities and accelerations

Each step follows the tangent q_u Δu, and Newton's method corrects it. A step is halved where it is
long, where the correction is large compared with it, and where tangents at its ends differ much.
Towards a dead centre tangents grow like 1/√(distance), so steps shrink with the distance, and end
there. det F_q changes its sign where two branches cross (change points) and nowhere else along a
branch. Change points are refused: beyond them the motion is not unique.

E. L. Allgower and K. Georg, Introduction to Numerical Continuation Methods, SIAM 2003, ch. 6, 8.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from ..backends.bound import Evaluation
from ..coordinates.assembly import CLOSED
from ..coordinates.initial_state import InitialStateSolver
from ..coordinates.levels import Level
from ..coordinates.linear import column, rank_of
from ..coordinates.systems import Natural
from ..core.errors import ModelError, VarimechError
from ..core.symbols import SX
from ..model.initial_conditions import OutputCondition, Start
from ..model.kinematic_driver import kinematic_model
from ..model.model_data import ModelData
from ..model.scalar_outputs import ScalarOutput, Turn

LONGEST = 0.3
"""Largest change of an angle (rad) or of a direction in one step, and of a length, over the size of
the mechanism: directions then change by less than 20°, and other branches are further away.
"""
CORRECTION = 0.3
"""Largest correction of a step, over its length."""
BEND = 0.5
"""Largest difference of tangents at the ends of a step, over the sum of their lengths: they may
grow threefold, which is nine times closer to a dead centre.
"""
SHORTEST = 1e-10
"""Shortest step, over the range of values: dead centres are located to as many digits."""
SINGULAR = 1e-7
"""Smallest singular value of F_q, over the largest, at positions that count as stuck: at a relative
distance d from a dead centre it is √d.
"""
NEWTON = 8
"""Largest number of iterations of a correction; four are usual."""


@dataclass(frozen=True)
class Position:
    """A position on its branch."""

    u: np.ndarray
    q: np.ndarray
    tangent: np.ndarray
    """q_u, (coordinate, driver)"""
    sign: float
    """Sign of det F_q; zero where equations are redundant."""
    angles: np.ndarray


class Stuck(VarimechError):
    """Values of the drivers that continuation does not reach."""

    def __init__(self, reason: str, last: Position, remedy: str = ""):
        super().__init__(reason, remedy=remedy)
        self.last = last


class Kinematics:
    """Positions of one mechanism for values of its drivers.

    Raises:
        ModelError: for a model or drivers that have no kinematics.
    """

    def __init__(self, model: ModelData, inputs: Mapping[str, ScalarOutput]):
        self.model, self.inputs = model, dict(inputs)
        self.driven, self._bare = kinematic_model(model, inputs)
        self.equations = e = Natural().equations(self.driven)
        self.start = InitialStateSolver(e)
        self._check_time()
        self._count, d = len(model.parameter_set.parameters), len(inputs)
        self.driver_indices = list(range(self._count, self._count + d))
        """Indices of u in the parameters of `equations`."""
        names = [b.name for b in model.moving_bodies] if model.dimension == 2 else []
        names += [j.name for j in model.joints.values() if j.angle() is not None]
        self.turning = tuple(names)
        """Names of all angles."""
        angles = ca.vertcat(SX(0, 1), *[model.find_angle(n).value(e.frames) for n in names])
        self._angles = ca.Function("angles", [e.q, e.ρ], [ca.densify(angles)])
        places = [e.frames[p.body].position(p.local) for p in self.driven.all_points]
        self._places = ca.Function("places", [e.q, e.ρ], [ca.densify(ca.horzcat(*places))])
        self._size = 1.0
        """Size of the mechanism (m)."""
        values = ca.vertcat(*[e.state.output(o) for o in inputs.values()])
        self._outputs = ca.Function("outputs", [e.q, e.ρ], [ca.densify(values)])

    @cached_property
    def _linearised(self) -> Evaluation:
        """Compile (q, values) → F, F_q."""
        e, level = self.equations, self.start._positions
        at = (e.q, SX(0, 1), e.ρ)
        F, F_q = level.residuals(*at), ca.densify(level.jacobian(*at))
        return Evaluation(ca.Function("linearised", [e.q, e.ρ], [F, F_q.T]), 2)

    @cached_property
    def _directed(self) -> Evaluation:
        """Compile (q, values) → F_q, F_u, angles."""
        e, level = self.equations, self.start._positions
        at = (e.q, SX(0, 1), e.ρ)
        F_q, F_p = (ca.densify(f(*at)) for f in (level.jacobian, level.partials))
        results = [F_q.T, F_p[:, self.driver_indices].T, self._angles(e.q, e.ρ)]
        return Evaluation(ca.Function("directed", [e.q, e.ρ], results), 2)

    def _check_time(self) -> None:
        for block in self.equations.blocks:
            if ca.depends_on(block.residuals, self.equations.t) and not (
                set(block.joints) & set(self.driven.drivers)
            ):
                raise ModelError(
                    f"{block.name!r} depends on time, and kinematics has none",
                    element="kinematics",
                    remedy="make a parameter or a driver of what changes",
                )

    @cached_property
    def accelerations(self) -> Level:
        """The system Φ̈ = 0 for q̈."""
        e = self.equations
        return Level(e.constraint_acceleration, e.a, ca.vertcat(e.q, e.v), e.ρ, e.t)

    @cached_property
    def _undriven(self) -> InitialStateSolver:
        """Solver of initial positions of the model, with its own drivers."""
        return InitialStateSolver(Natural().equations(self._bare))

    def values(
        self, ρ: np.ndarray, u: ArrayLike, rates: ArrayLike = (), more: ArrayLike = ()
    ) -> np.ndarray:
        """Return all parameters of `equations`: those of the model, and values and rates of the
        drivers.
        """
        d = len(self.inputs)
        driver_values = [np.zeros(d) if not np.size(x) else np.asarray(x) for x in (u, rates, more)]
        return np.concatenate([ρ[: self._count], *driver_values, ρ[self._count :]])

    def sensitivities(
        self, state: np.ndarray, values: np.ndarray, indices: list[int]
    ) -> np.ndarray:
        """Compute derivatives of (q, q̇, q̈) with respect to the parameters at `indices`, one
        column each.

        Raises:
            AssemblyError: where a change of a parameter makes redundant constraints inconsistent.
        """
        n = self.equations.q.numel()
        q, v, a = state[:n], state[n : 2 * n], state[2 * n :]
        seeds = np.eye(values.size)[:, indices]
        q_, v_ = self.start._moving_sensitivities(q, v, values, seeds)
        missed = self.start._positions.missed(q, np.zeros(0), values, q_, seeds)
        self.start._check_missed(missed, indices, "derivative")
        a_ = self.accelerations.sensitivity(
            a, np.concatenate([q, v]), values, np.vstack([q_, v_, seeds])
        )
        return np.vstack([q_, v_, a_])

    def position_sensitivities(
        self, q: np.ndarray, values: np.ndarray, indices: list[int]
    ) -> np.ndarray:
        """Compute ∂q/∂ρ for the parameters at `indices`, one column each."""
        seeds = np.eye(values.size)[:, indices]
        return self.start._positions.sensitivity(q, np.zeros(0), values, seeds)

    def first(self, ρ: np.ndarray, u: np.ndarray) -> Position:
        """Return the position where continuation to the values u begins: the initial position of
        the model; where it has no initial conditions, the position for u itself.

        Raises:
            AssemblyError: if the mechanism cannot be assembled there.
            ModelError: if the drivers do not determine the position.
        """
        start = self.model.start_conditions or Start()
        if start.conditions or self.model.drivers:
            self._undriven.check_closure(ρ)
            q = self._undriven.assemble(ρ)
        else:
            symbols = self.driven.parameter_set.vector
            conditions = tuple(
                OutputCondition(f"driver {name}", o, symbols[k], SX(0))
                for k, (name, o) in zip(self.driver_indices, self.inputs.items(), strict=True)
            )
            # the initial guess then uses the values of the drivers
            self.start.start = Start(conditions, start.near_rotation, start.near_position)
            self.start.check_closure(self.values(ρ, u))
            q = self.start.assemble(self.values(ρ, u))
        self._check_dofs(q, ρ)
        places = np.array(self._places(q, self.values(ρ, u)))
        self._size = float(np.ptp(places, axis=1).max(initial=0.0)) or 1.0
        here = column(self._outputs(q, self.values(ρ, u)))
        counted = self.equations.counted
        for k, output in enumerate(self.inputs.values()):
            name = self.model.name_of_angle(output) if isinstance(output, Turn) else None
            if isinstance(output, Turn) and name not in counted:
                here[k] += 2 * np.pi * np.round((u[k] - here[k]) / (2 * np.pi))
        return self._position(q, here, ρ)

    def _check_dofs(self, q: np.ndarray, ρ: np.ndarray) -> None:
        """Refuse drivers that are no independent degrees of freedom, too few and too many of them."""
        e, names = self.equations, ", ".join(map(repr, self.inputs))
        others = [
            b.residuals
            for b in e.blocks
            if not {*b.joints}
            & {n if n in self.model.drivers else f"driver {n}" for n in self.inputs}
        ]
        J = ca.Function(
            "J",
            [e.q, e.ρ],
            [ca.substitute(ca.jacobian(ca.vertcat(SX(0, 1), *others), e.q), e.t, 0)],
        )(q, self.values(ρ, ()))
        count = q.size - rank_of(J) if J.shape[0] else q.size
        whole = self._jacobian(q, self.values(ρ, column(self._outputs(q, self.values(ρ, ())))))
        held = rank_of(ca.DM(whole)) - (q.size - count)
        if count == 0:
            raise ModelError(
                "the joints and drivers fix every body: no degrees of freedom remain",
                element=self.model.label,
                remedy="remove a joint or free a body",
            )
        if len(self.inputs) != count:
            few = "few" if len(self.inputs) < count else "many"
            held_by = [n for n in self.model.drivers if n not in self.inputs]
            beside = f" besides drivers {', '.join(map(repr, held_by))}" if held_by else ""
            raise ModelError(
                f"has {count} degree{'s' * (count > 1)} of freedom{beside}, and"
                f" {len(self.inputs)} driver{'s' * (len(self.inputs) > 1)} ({names}): too {few}",
                element=self.model.label,
                remedy=f"give values of {count} driver{'s' * (count > 1)}, as {{name: values}}"
                if count > 1
                else "give values of one driver",
            )
        if held < count:
            raise ModelError(
                f"drivers {names} do not determine its position at the initial assembly: they are"
                " no independent degrees of freedom there, or it is a singular position",
                element=self.model.label,
                remedy="drive another joint, or start elsewhere with m.start(…)",
            )

    def _jacobian(self, q: np.ndarray, values: np.ndarray) -> np.ndarray:
        return np.array(self.start._positions.jacobian(q, np.zeros(0), values))

    def _position(self, q: np.ndarray, u: np.ndarray, ρ: np.ndarray) -> Position:
        """Return a position with its tangent; the tangent is NaN where F_q is singular."""
        values = self.values(ρ, u)
        F_q, F_u, angles = self._directed(q, values)
        A = F_q.reshape(-1, q.size)
        U, s, Vt = np.linalg.svd(A, full_matrices=False)
        if s.size < q.size or s[-1] <= SINGULAR * s[0]:
            tangent = np.full((q.size, u.size), np.nan)
        else:
            changes = F_u.reshape(-1, u.size)
            tangent = -Vt.T @ ((U.T @ changes) / s[:, None])
        square = A.shape[0] == A.shape[1]
        sign = float(np.linalg.slogdet(A)[0]) if square else 0.0
        return Position(u, q, tangent, sign, angles)

    def reach(
        self, begin: Position, u: np.ndarray, ρ: np.ndarray, shortest: float = SHORTEST
    ) -> list[Position]:
        """Follow the path from a position to the values u of the drivers. Steps are no shorter than
        the share `shortest` of the whole path.

        Returns:
            Positions along the path, the last one for u.

        Raises:
            Stuck: if the path ends before u.
        """
        path, done, step = [begin], 0.0, 1.0
        if not np.isfinite(begin.tangent).all():
            raise Stuck(self._reason(begin, ρ), begin)
        while done < 1.0:
            step = min(step, 1.0 - done)
            target = u if step >= 1.0 - done else begin.u + (done + step) * (u - begin.u)
            trial = self._step(path[-1], target, ρ)
            if trial is None:
                step /= 2
                if step < shortest:
                    raise Stuck(self._reason(path[-1], ρ), path[-1])
                continue
            if trial.sign * path[-1].sign < 0:
                raise Stuck(
                    f"two branches meet between {self._described(path[-1].u)} and"
                    f" {self._described(trial.u)}, from where on the motion is not unique (change"
                    " point)",
                    path[-1],
                )
            done, step = (1.0 if target is u else done + step), 2 * step
            path.append(trial)
        return path[1:]

    def _step(self, last: Position, u: np.ndarray, ρ: np.ndarray) -> Position | None:
        """Take the step to u; return the next position, or None if the step is too long."""
        move = last.tangent @ (u - last.u)
        lengths = self.equations.lengths
        limits = np.where(lengths, LONGEST * self._size, LONGEST)
        if not (np.abs(move) <= limits).all():
            return None
        q = self._corrected(last.q + move, u, ρ)
        length = float(np.linalg.norm(move))
        rounding = CLOSED * (1.0 + float(np.abs(last.q).max(initial=0.0)))
        if q is None or np.linalg.norm(q - last.q - move) > CORRECTION * length + rounding:
            return None
        here = self._position(q, u, ρ)
        turned = np.abs((here.angles - last.angles + np.pi) % (2 * np.pi) - np.pi)
        if not np.isfinite(here.tangent).all() or (turned > 2 * LONGEST).any():
            return None
        after = here.tangent @ (u - last.u)
        if np.linalg.norm(after - move) > BEND * (length + np.linalg.norm(after)) + rounding:
            return None
        return here

    def _corrected(self, q: np.ndarray, u: np.ndarray, ρ: np.ndarray) -> np.ndarray | None:
        """Correct a position by Newton's method, to rounding; None where it does not converge."""
        values = self.values(ρ, u)
        size, before = 1.0 + float(np.abs(q).max(initial=0.0)), np.inf
        for _ in range(NEWTON):
            F, F_q = self._linearised(q, values)
            step = np.linalg.lstsq(F_q.reshape(-1, q.size), -F, rcond=None)[0]
            move = float(np.abs(step).max(initial=0.0))
            if not np.isfinite(move) or move > 2 * before:
                return None
            q, before = q + step, max(move, 1e-15 * size)
            if move <= 1e-13 * size:  # quadratic convergence: a further step would be rounding
                break
        F, _ = self._linearised(q, values)
        return q if np.abs(F).max(initial=0.0) <= 1e-3 * CLOSED * size else None

    def _described(self, u: np.ndarray) -> str:
        units = [o.unit for o in self.inputs.values()]
        return ", ".join(
            f"{name} = {value:.10g} {unit}"
            for name, value, unit in zip(self.inputs, u, units, strict=True)
        )

    def _reason(self, last: Position, ρ: np.ndarray) -> str:
        """Describe where the drivers cannot move the mechanism further, and which constraint
        resists.
        """
        A = self._jacobian(last.q, self.values(ρ, last.u))
        U, _, _ = np.linalg.svd(A, full_matrices=False)
        names = self.equations.constraint_names
        rows = np.argsort(-np.abs(U[:, -1]))
        inputs = {n if n in self.model.drivers else f"driver {n}" for n in self.inputs}
        blocks = [names[k].partition(" [")[0] for k in rows]
        worst = next((b for b in blocks if b not in inputs), blocks[0])
        return (
            f"{self._described(last.u)} is the last value that it reaches: a singular position"
            f" (dead centre), where {worst!r} resists the driver"
        )
