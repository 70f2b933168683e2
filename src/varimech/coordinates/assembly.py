"""Assembly of positions at t = 0: with the initial conditions D(q, ρ) = 0 in addition to the
constraints,

Φ(q, ρ) = 0,     D(q, ρ) = 0          (Gauss–Newton from an initial guess)
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import casadi as ca
import numpy as np

from ..core.errors import AssemblyError, ModelError, VarimechError
from ..core.messages import Call, Message
from ..core.symbols import SX
from ..model.body import Body, RigidBody
from ..model.initial_conditions import Start
from .closure_conditions import ClosureConditions
from .equations import Equations
from .gaps import ClosestFit
from .guess import Pose, guess_poses
from .levels import Level
from .linear import RANK, column, independent, rank_of, solution

CLOSED = 1e-10
"""Largest residual of an assembled mechanism (m or rad), relative to its size: Gauss–Newton
converges quadratically down to rounding, and a mechanism that does not close stays far above.
"""
LIGHT = 1e-6
"""Share of the largest mass below which a coordinate counts as massless: elimination loses as many
digits as the ratio of masses has, and ten of sixteen have to remain.
"""
TOGETHER = 1e-12
"""Largest distance of coinciding points, relative to the size of the mechanism: rounding of an
assembly, and far below any intended length.
"""
ITERATIONS = 60
"""Iterations of Gauss–Newton: quadratic convergence takes about ten from far away; shortened steps
count a tenth.
"""
SHORTEST = 1e-4
"""Share of a Gauss–Newton step below which there is no descent: a dozen halvings."""
ARMIJO = 1e-4
"""Share of the predicted decrease that a step must achieve: the usual value (Nocedal and Wright,
Numerical Optimization, section 3.1).
"""
ATTEMPTS = 12
"""Number of initial guesses (the first as given, the others disturbed) before an assembly is
reported as failed.
"""
FEW = 60
"""Coordinates up to which disturbed guesses are tried: a disturbance of more of them seldom
converges, and least squares, which follow, get further in less time.
"""


class Assembly:
    """Assembly of the initial positions of a mechanism for any values of the parameters."""

    def __init__(self, equations: Equations):
        self.equations = e = equations
        self.model = e.model
        self.start = e.model.start_conditions or Start()
        self.closure = ClosureConditions(e)
        self._positions = Level(e.start_positions, e.q, SX(0, 1), e.ρ, e.t)
        self._given_count = e.start_positions.numel() - e.λ.numel()
        # no values yet: the key of a model without parameters is b""
        self._last: tuple[tuple[bytes, bool] | None, np.ndarray | VarimechError] = None, np.zeros(0)

    def check_closure(self, ρ: np.ndarray, indices: list[int] | None = None) -> None:
        """Check that bodies fixed to the ground at several points fit between them, also for small
        changes of the parameters at `indices`.

        Raises:
            AssemblyError: if they do not.
        """
        if not self.equations.closure_conditions:
            return
        if not self.closure(ρ[None, :])[0]:
            raise ClosestFit(
                self.model, self.start, guess_poses(self.model, self.start, ρ), ρ
            ).error()
        for k in indices or []:
            if (owner := self.closure.broken_by(k, ρ)) is not None:
                name = list(self.model.parameter_set.parameters)[k]
                raise AssemblyError(
                    f"no derivative with respect to {name!r} exists: the ground holds a body at"
                    f" several points, where any change of {name!r} breaks the {owner}",
                    element=self.model.label,
                    remedy="let another parameter change with it",
                )

    @cached_property
    def placing(self) -> np.ndarray:
        """For each parameter, whether the initial positions depend on it."""
        e = self.equations
        return np.array(ca.which_depends(e.start_positions, e.ρ, 1, False), dtype=bool)

    def position_sensitivities(self, q: np.ndarray, ρ: np.ndarray) -> np.ndarray:
        """Return ∂q/∂ρ of the initial positions, (coordinate, parameter)."""
        return self._positions.sensitivity(q, np.zeros(0), ρ, np.eye(ρ.size))

    def followed(
        self, q: np.ndarray, ρ: np.ndarray, target: np.ndarray, parts: int
    ) -> np.ndarray | None:
        """Continue initial positions from those for ρ to target values of the parameters, in
        `parts` parts; None where continuation fails.
        """
        for k in range(1, parts + 1):
            q, residual = self._gauss_newton(q, ρ + k / parts * (target - ρ))
            if not residual <= CLOSED * (1.0 + float(np.abs(q).max(initial=0.0))):
                return None
        return q if self._oriented(q, target) else None

    def assemble(self, ρ: np.ndarray, *, explain: bool = True) -> np.ndarray:
        """Return positions that satisfy all constraints and initial conditions; cached for the last
        values.

        Raises:
            AssemblyError: if there are none; naming the open loop, if `explain`.
            ModelError: if initial conditions are redundant or conflicting.
        """
        values, outcome = self._last  # read at once: other threads may change it
        if values != (ρ.tobytes(), explain):
            try:
                outcome = self._assembled(ρ, explain)
            except VarimechError as error:
                outcome = error
            self._last = (ρ.tobytes(), explain), outcome
        if isinstance(outcome, VarimechError):
            # with the traceback of this call, not of earlier ones
            raise outcome.with_traceback(None)
        return outcome.copy()

    def _assembled(self, ρ: np.ndarray, explain: bool) -> np.ndarray:
        for driver in self.model.drivers.values():
            if not np.isfinite(self.model.parameter_set.evaluate(driver.motion(SX(0)), ρ)).all():
                raise AssemblyError(
                    f"driver {driver.name!r} is not finite at t = 0", element=self.model.label
                )
        poses = guess_poses(self.model, self.start, ρ)
        first = self._placed(poses, ρ)
        size = 1.0 + float(np.abs(first).max(initial=0.0))
        rng = np.random.default_rng(0)
        closest, least = first, np.inf
        sizes = size if self.equations.sizes is None else self.equations.sizes.typical
        for attempt in range(ATTEMPTS if first.size <= FEW else 1):
            disturbance = (
                0.1 * attempt * sizes * rng.standard_normal(first.size) if attempt else 0.0
            )
            q, residual = self._gauss_newton(first + disturbance, ρ)
            if residual <= CLOSED * size and self._oriented(q, ρ):
                self._check_spans(q, ρ, size)
                return self._wound_back(q, ρ)
            if residual < least:
                closest, least = q, residual
        if not explain:
            raise self._open(closest, ρ)
        fit = ClosestFit(self.model, self.start, poses, ρ)
        if (closed := fit.closed_poses()) is not None:
            q, residual = self._gauss_newton(self._placed(closed, ρ), ρ)
            if residual <= CLOSED * size and self._oriented(q, ρ):
                self._check_spans(q, ρ, size)
                return self._wound_back(q, ρ)
            if any(self.model.forces.keys() & set(b.joints) for b in self.equations.blocks):
                # joints close, so the constraint of another element is violated
                raise self._contradicted(first, size, ρ) or self._open(q, ρ)
        raise self._contradicted(first, size, ρ) or fit.error()

    def _placed(self, poses: Mapping[Body, Pose], ρ: np.ndarray) -> np.ndarray:
        """Return the coordinates of poses, with the full turns of prescribed angles."""
        return self.equations.given_turns(self.equations.from_poses(poses), ρ)

    def closed_from(self, guess: np.ndarray, ρ: np.ndarray) -> np.ndarray | None:
        """Return positions that satisfy all constraints and initial conditions, from an initial
        guess; None where it does not converge to any.
        """
        q, residual = self._gauss_newton(guess, ρ)
        return (
            q
            if residual <= CLOSED * (1.0 + float(np.abs(q).max(initial=0.0)))
            and self._oriented(q, ρ)
            else None
        )

    def _check_spans(self, q: np.ndarray, ρ: np.ndarray, size: float) -> None:
        """Refuse springs and dampers whose ends coincide: they act along the line between their
        ends, and its direction would be rounding.
        """
        names, lengths = self._spans
        for name, length in zip(names, column(lengths(q, ρ)), strict=True):
            if length <= TOGETHER * size:
                raise AssemblyError(
                    "the initial state is not finite",
                    element=self.model.label,
                    remedy=f"check {name!r}: its ends coincide",
                )

    @cached_property
    def _spans(self) -> tuple[list[str], ca.Function]:
        """Springs between two points, and the function (q, ρ) → their lengths."""
        e = self.equations
        spans = {f.name: span for f in self.model.forces.values() if (span := f.span())}
        lengths = ca.vertcat(SX(0, 1), *[span.value(e.frames) for span in spans.values()])
        return list(spans), ca.Function("spans", [e.q, e.ρ], [ca.densify(lengths)])

    @property
    def _condition_labels(self) -> list[str]:
        """Label of the initial condition of each row."""
        return [
            h.label
            for h in self.equations.initial_conditions
            for _ in range(h.deviation(self.equations.frames).numel())
        ]

    def regular(self, q: np.ndarray, ρ: np.ndarray) -> bool:
        """Whether positions q follow from independent equations, the mechanism can move there, and
        every coordinate has mass.
        """
        if self._immobile:
            return False
        return independent(
            self._positions.jacobian(q, np.zeros(0), ρ), RANK
        ) and self._all_have_mass(q, ρ)

    @property
    def _immobile(self) -> bool:
        """Whether there are as many constraints as coordinates that can move."""
        e = self.equations
        return bool(self._structure.numel() == e.q.numel() - e.own.first_order)

    @cached_property
    def _structure(self) -> SX:
        """Φ without the drivers."""
        driven = {*self.model.drivers, *(f.name for f in self.model.forces.values() if f.is_driver)}
        return ca.vertcat(
            SX(0, 1), *[b.residuals for b in self.equations.blocks if not driven & set(b.joints)]
        )

    @cached_property
    def _mass(self) -> ca.Function:
        e = self.equations
        return ca.Function("M", [e.q, e.ρ], [e.mass])

    def _all_have_mass(self, q: np.ndarray, ρ: np.ndarray) -> bool:
        mass, n = self._mass(q, ρ), q.size - self.equations.extra
        if self.equations.extra:  # elimination leaves the masses of the others
            θ = mass[n:, n:]
            mass = ca.sparsify(mass[:n, :n] - mass[:n, n:] @ ca.solve(θ, mass[n:, :n]))
        if self.equations.inertia is None:
            return independent(mass, LIGHT)
        # coordinates of several kinds are scaled by their own masses; those of long chains are
        # inherently nearly dependent
        sizes = np.sqrt(np.maximum(np.array(ca.diag(mass)).ravel(), 0.0))
        per_size = ca.diag(1 / np.where(sizes > 0, sizes, 1.0))
        return independent(per_size @ mass @ per_size, RANK)

    def _oriented(self, q: np.ndarray, ρ: np.ndarray) -> bool:
        """Whether bodies with a prescribed orientation have it, and are not half a turn off, where
        its equations hold too; and whether no body is its own mirror image, which satisfies lengths
        and angles of natural coordinates as well.
        """
        if self._handedness is not None and not (column(self._handedness(q, ρ)) > 0).all():
            return False
        if self._orientations is None:
            return True
        return bool((column(self._orientations(q, ρ)) > 1.0).all())

    @cached_property
    def _handedness(self) -> ca.Function | None:
        """Function (q, ρ) → det R for each spatial rigid body: 1, or −1 for a mirror image, which
        is possible in natural coordinates only.
        """
        e = self.equations
        bodies = [b for b in self.model.moving_bodies if isinstance(b, RigidBody)]
        if self.model.dimension == 2 or e.inertia is not None or not bodies:
            return None
        return ca.Function(
            "handedness", [e.q, e.ρ], [ca.vertcat(*[ca.det(e.frames[b].rotation) for b in bodies])]
        )

    @cached_property
    def _orientations(self) -> ca.Function | None:
        """Function (q, ρ) → 3 for each prescribed orientation or direction that is satisfied, −1 or
        less where it is half a turn off.
        """
        e = self.equations
        values = ca.vertcat(SX(0, 1), *[c.alignment(e.frames) for c in e.initial_conditions])
        return ca.Function("orientations", [e.q, e.ρ], [values]) if values.numel() else None

    def _wound_back(self, q: np.ndarray, ρ: np.ndarray) -> np.ndarray:
        """Return the same positions without turns that joints may have made during the iteration."""
        e = self.equations
        if e.sizes is None:
            return q
        bodies = list(e.frames)
        values = ca.Function(
            "poses",
            [e.q, e.ρ],
            [x for b in bodies for x in (e.frames[b].origin, e.frames[b].rotation)],
        ).call([q, ρ])
        poses = {
            b: (column(o), np.array(R))
            for b, o, R in zip(bodies, values[::2], values[1::2], strict=True)
        }
        wound_back = self._placed(poses, ρ)
        # beams have no pose; the positions of their nodes make no turns
        wound_back = np.where(np.isfinite(wound_back), wound_back, q)
        # turns differ by 6, rounding of positions by 1e-12
        return (
            q
            if np.allclose(wound_back, q, rtol=0, atol=1e-9)
            else self._gauss_newton(wound_back, ρ)[0]
        )

    def _open(self, q: np.ndarray, ρ: np.ndarray) -> AssemblyError:
        """Build an error with the largest residual at the closest positions; for mechanisms too
        large to determine the open loop.
        """
        F = np.abs(column(self._positions.residuals(q, np.zeros(0), ρ)))
        names = [*self.equations.constraint_names, *self._condition_labels]
        worst = int(np.nan_to_num(F, nan=np.inf).argmax())
        rows = [b.joints for b in self.equations.blocks for _ in range(b.residuals.numel())]
        elements = rows[worst] if worst < len(rows) else ()
        hints = [f.assembly_hint for f in self.model.forces.values() if f.name in elements]
        return AssemblyError(
            f"assembly fails: {names[worst]} is missed by {F[worst]:.3g}",
            {names[worst]: float(F[worst])},
            element=self.model.label,
            remedy=Message(
                "check lengths, ground points and initial values, or give {} rough angles of all"
                " bodies" + "".join(f"; {hint}" for hint in hints if hint),
                Call("start", near=...),
            ),
        )

    def _contradicted(self, first: np.ndarray, size: float, ρ: np.ndarray) -> ModelError | None:
        """Return an error where joints and drivers can be assembled without initial conditions, and
        there are more of these than remaining degrees of freedom; None otherwise.
        """
        e = self.equations
        alone = Level(e.start_positions[: e.λ.numel()], e.q, SX(0, 1), e.ρ, e.t)
        q, residual = self._gauss_newton(first, ρ, alone)
        if residual > CLOSED * size:
            return None
        left = q.size - rank_of(alone.jacobian(q, np.zeros(0), ρ)) - self._shaped
        can_move = left > 0 or self.model.drivers
        return (
            self._too_much(left) if can_move and self._given_count - self._shaped > left else None
        )

    @property
    def _shaped(self) -> int:
        """Number of initial conditions that keep beams undeformed."""
        return self._given_count - sum(
            h.deviation(self.equations.frames).numel() for h in self.start.conditions
        )

    @property
    def _given(self) -> str:
        return ", ".join(h.label for h in self.start.conditions) or "nothing"

    def _too_much(self, left: int) -> ModelError:
        if left <= 0:
            remedy = "drivers prescribe all degrees of freedom: do not give any initial values"
        else:
            each = " for each" if left > 1 else ""
            remedy = (
                f"the model has {left} unconstrained DOF: specify exactly one initial value{each}"
            )
        if self.model.beams:
            remedy += ", or positions of the points between beams that are stretched initially"
        problem = f"the initial conditions are redundant or conflicting ({self._given})"
        return ModelError(problem, element=self.model.label, remedy=remedy)

    def _gauss_newton(
        self, q: np.ndarray, ρ: np.ndarray, level: Level | None = None
    ) -> tuple[np.ndarray, float]:
        none, level = np.zeros(0), level or self._positions

        def residuals(x: np.ndarray) -> np.ndarray:
            return column(level.residuals(x, none, ρ))

        F, left = residuals(q), float(ITERATIONS)
        while left > 0:
            jacobian = level.jacobian(q, none, ρ)
            if not (jacobian.is_regular() and np.isfinite(F).all()):
                break
            step = solution(jacobian, -F)
            length = (
                1.0
                if self.equations.sizes is None
                else 1
                / max(1.0, float(np.abs(step / self.equations.sizes.typical).max(initial=0.0)))
            )
            while length > SHORTEST:
                trial = residuals(q + length * step)
                if np.isfinite(trial).all() and np.linalg.norm(trial) < np.linalg.norm(F) * (
                    1 - ARMIJO * length
                ):
                    break
                length /= 2
            else:
                break  # no descent: converged, or stuck where the mechanism cannot close
            left -= 1 if length == 1 else 0.1  # joints that turn often converge by short steps
            q, F = q + length * step, trial
        return q, float(np.abs(F).max(initial=0.0)) if np.isfinite(F).all() else np.inf
