"""A consistent start: positions that assemble, velocities and accelerations that belong to them, and how all of it depends on ρ.

With the held measures D(q, ρ) = 0 beside the constraints, and everything at t = 0,

    positions      Φ(q, ρ) = 0,                     D(q, ρ) = 0          (Gauss–Newton from a first guess)
    velocities     Φ̇(q, q̇, ρ) = 0,                  Ḋ(q, q̇, ρ) = 0
    accelerations  M q̈ + Φ_qᵀ λ = Q,                Φ̈(q, q̇, q̈, ρ) = 0,       λ = Φ_q w

Each line is F(x; earlier, ρ) = 0 for its own unknowns x, so its derivative follows from F_x x' = −(F_earlier earlier' + F_ρ): exact,
multipliers written as Φ_q w, which makes them those of least norm where constraints are redundant.

Where the first line has as many equations as unknowns and they are independent, its positions are all that is needed from here, and they are
found with sparse matrices; `start_chain` does the rest. Only what is not so regular is completed, and explained, with dense ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np

from ..errors import AssemblyError, ModelError
from ..model.beam_shape import HeldDirection
from ..model.forces import Spring
from ..model.measures import Span
from ..model.start import HeldOrientation, HeldRow, Hold, Start
from ..symbols import SX
from .equations import Equations
from .fits import Fits
from .gaps import describe_gaps
from .guess import guess_poses
from .levels import Explicit, Level
from .linear import RANK, column, independent, rank_of, solution

CLOSED = 1e-10
"""Largest residual of an assembled mechanism (m or rad), relative to its size."""
LIGHT = 1e-6
"""Share of the largest mass below which a coordinate counts as one without."""
EXPLAINED = 600
"""Coordinates up to which the loop that does not close is looked for; its dense least squares would take minutes beyond."""
TOGETHER = 1e-12
"""Largest distance of points that are at one place, relative to the size of the mechanism."""
BROKEN = 1e-6
"""Share of what a parameter changes of an equation that may stay unmet where derivatives are said to exist."""
ATTEMPTS = 12
"""Guesses tried (the first as given, the others disturbed) before a mechanism is said not to assemble."""


@dataclass(frozen=True)
class InitialState:
    """Consistent q, q̇, q̈ and λ at t = 0."""

    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    λ: np.ndarray
    w: np.ndarray
    """λ = Φ_q w."""

    @property
    def packed(self) -> np.ndarray:
        """The first four in one vector."""
        return np.concatenate([self.q, self.v, self.a, self.λ])


class StartSolver:
    """Finds the start of a mechanism and its derivatives, for any values of the parameters."""

    def __init__(self, equations: Equations):
        self.equations = e = equations
        self.model = e.model
        self.start = e.model.start_conditions or Start()
        self._positions = Level(e.start_positions, e.q, SX(0, 1), e.ρ, e.t)
        self.fits = Fits(e)
        self._held = e.start_positions.numel() - e.λ.numel()

    @cached_property
    def _mass(self) -> ca.Function:
        e = self.equations
        return ca.Function("M", [e.q, e.ρ], [e.mass])

    @cached_property
    def _velocities(self) -> Level:
        e = self.equations
        return Level(e.start_velocities, e.v, e.q, e.ρ, e.t)

    @cached_property
    def _least_multipliers(self) -> tuple[SX, SX]:
        """w, and λ = Φ_q w."""
        w = SX.sym("w", self.equations.q.numel())
        return w, ca.densify(self.equations.constraint_jacobian @ w)

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
        """(q, ρ) → Φ_q without the drivers."""
        e = self.equations
        return ca.Function("undriven", [e.q, e.ρ], [ca.substitute(ca.jacobian(self._structure, e.q), e.t, 0)])

    @cached_property
    def _structure(self) -> SX:
        """Φ without the drivers."""
        driven = set(self.model.drivers)
        return ca.vertcat(SX(0, 1), *[b.residuals for b in self.equations.blocks if not driven & set(b.joints)])

    def check_fits(self, ρ: np.ndarray, indices: list[int] | None = None) -> None:
        """Bodies held by the ground at several places have to fit in, also for small changes of the chosen parameters.

        Raises:
            AssemblyError: if they do not.
        """
        if not self.equations.fits:
            return
        if not self.fits(ρ[None, :])[0]:
            raise describe_gaps(self.equations, self.start, guess_poses(self.model, self.start, ρ), ρ)
        for k in indices or []:
            if (owner := self.fits.broken_by(k, ρ)) is not None:
                name = list(self.model.numbers.parameters)[k]
                raise AssemblyError(
                    f"mechanism {self.model.name!r} has no derivative with respect to {name!r}: the ground holds a body at several "
                    f"places, where any change of {name!r} breaks the {owner}; let another parameter move with it"
                )

    @cached_property
    def placing(self) -> np.ndarray:
        """Which parameters places at the start depend on."""
        e = self.equations
        return np.array(ca.which_depends(e.start_positions, e.ρ, 1, False), dtype=bool)

    def place_slopes(self, q: np.ndarray, ρ: np.ndarray) -> np.ndarray:
        """∂q/∂ρ at the start, (coordinate, parameter)."""
        return self._positions.sensitivity(q, np.zeros(0), ρ, np.eye(ρ.size))

    def followed(self, q: np.ndarray, ρ: np.ndarray, wanted: np.ndarray, parts: int) -> np.ndarray | None:
        """Positions at the start for wanted values, followed from those for other ones in parts of the way; None where they cannot be."""
        for k in range(1, parts + 1):
            q, residual = self._gauss_newton(q, ρ + k / parts * (wanted - ρ))
            if not residual <= CLOSED * (1.0 + float(np.abs(q).max(initial=0.0))):
                return None
        return q if self._oriented(q, wanted) else None

    def assemble(self, ρ: np.ndarray, *, explain: bool = True) -> np.ndarray:
        """Positions that meet all constraints and start values.

        Raises:
            AssemblyError: if there are none; with what stays open, unless that need not be told.
        """
        for driver in self.model.drivers.values():
            if not np.isfinite(self.model.numbers.evaluate(driver.motion(SX(0)), ρ)).all():
                raise AssemblyError(f"mechanism {self.model.name!r}: driver {driver.name!r} is not finite at t = 0")
        poses = guess_poses(self.model, self.start, ρ)
        first = self.equations.from_poses(poses)
        size = 1.0 + float(np.abs(first).max(initial=0.0))
        rng = np.random.default_rng(0)
        closest, least = first, np.inf
        sizes = size if self.equations.sizes is None else self.equations.sizes.typical
        for attempt in range(ATTEMPTS):
            disturbance = 0.1 * attempt * sizes * rng.standard_normal(first.size) if attempt else 0.0
            q, residual = self._gauss_newton(first + disturbance, ρ)
            if residual <= CLOSED * size and self._oriented(q, ρ):
                self._check_spans(q, ρ, size)
                return self._wound_back(q, ρ)
            if residual < least:
                closest, least = q, residual
        if first.size > EXPLAINED or not explain:
            raise self._open(closest, ρ)
        raise describe_gaps(self.equations, self.start, poses, ρ)

    def _check_spans(self, q: np.ndarray, ρ: np.ndarray, size: float) -> None:
        """Springs and dampers act along the line between their ends; where only rounding is between these, there is none."""
        names, lengths = self._spans
        for name, length in zip(names, column(lengths(q, ρ)), strict=True):
            if length <= TOGETHER * size:
                raise AssemblyError(
                    f"mechanism {self.model.name!r}: the start has a value that is not finite; look at {name!r}: its ends coincide"
                )

    @cached_property
    def _spans(self) -> tuple[list[str], ca.Function]:
        """Springs between two points, and (q, ρ) → how long they are."""
        e = self.equations
        springs = [f for f in self.model.forces.values() if isinstance(f, Spring) and isinstance(f.measure, Span)]
        lengths = ca.vertcat(SX(0, 1), *[f.measure.value(e.frames) for f in springs])
        return [f.name for f in springs], ca.Function("spans", [e.q, e.ρ], [ca.densify(lengths)])

    def _oriented(self, q: np.ndarray, ρ: np.ndarray) -> bool:
        """Whether bodies whose orientation is given have it, and are not half a turn off, where its equations hold too."""
        if self._orientations is None:
            return True
        return bool((column(self._orientations(q, ρ)) > 1.0).all())

    @cached_property
    def _orientations(self) -> ca.Function | None:
        """(q, ρ) → 3 for each given orientation or direction where it is met, −1 or less where it is half a turn off."""
        e, held = self.equations, [h for h in self.equations.holds if isinstance(h, HeldOrientation)]
        rows = [h.hold for h in e.holds if isinstance(h, HeldRow)]
        traces = [ca.trace(h.orientation.T @ e.frames[h.body].rotation) for h in held]
        traces += [3 * h.alignment(e.frames) for h in rows if isinstance(h, HeldDirection)]
        return ca.Function("orientations", [e.q, e.ρ], [ca.vertcat(*traces)]) if traces else None

    def _wound_back(self, q: np.ndarray, ρ: np.ndarray) -> np.ndarray:
        """The same positions, without the turns that joints may have made on the way to them."""
        e = self.equations
        if e.sizes is None:
            return q
        bodies = list(e.frames)
        found = ca.Function("poses", [e.q, e.ρ], [x for b in bodies for x in (e.frames[b].origin, e.frames[b].rotation)]).call(
            [q, ρ]
        )
        poses = {b: (column(o), np.array(R)) for b, o, R in zip(bodies, found[::2], found[1::2], strict=True)}
        back = e.from_poses(poses)
        return q if np.allclose(back, q, rtol=0, atol=1e-9) else self._gauss_newton(back, ρ)[0]

    def regular(self, q: np.ndarray, ρ: np.ndarray) -> bool:
        """Whether positions q follow from independent equations, the mechanism can move there, and every coordinate has mass."""
        if self._structure.numel() == q.size:
            return False
        return independent(self._positions.jacobian(q, np.zeros(0), ρ), RANK) and self._all_have_mass(q, ρ)

    def _all_have_mass(self, q: np.ndarray, ρ: np.ndarray) -> bool:
        mass = self._mass(q, ρ)
        if self.equations.sizes is None:
            return independent(mass, LIGHT)
        # coordinates of several kinds: each by its own mass; those of long chains are nearly dependent by nature
        sizes = np.sqrt(np.maximum(np.array(ca.diag(mass)).ravel(), 0.0))
        per_size = ca.diag(1 / np.where(sizes > 0, sizes, 1.0))
        return independent(per_size @ mass @ per_size, RANK)

    def complete(self, q: np.ndarray, ρ: np.ndarray) -> InitialState:
        """The whole state at assembled positions.

        Raises:
            AssemblyError: if there is none.
            ModelError: if the start says too little or too much, or the mechanism cannot move.
        """
        n = q.size
        self._check_freedoms(q, ρ)
        v = self._velocities.solve_linear(n, q, ρ)
        self._check_velocities(v, q, ρ)
        self._check_inertia(q, ρ)
        x = self._accelerations.solve_linear(2 * n, np.concatenate([q, v]), ρ)
        λ = column(self._multipliers.value(np.concatenate([x[n:], q]), ρ))
        state = InitialState(q, v, x[:n], λ, x[n:])
        if not np.isfinite(state.packed).all():
            where = self._non_finite(state, ρ)
            raise AssemblyError(f"mechanism {self.model.name!r}: the start has a value that is not finite; {where}")
        return state

    def moving(self, q: np.ndarray, ρ: np.ndarray, indices: list[int] | None) -> tuple[np.ndarray, np.ndarray | None]:
        """Positions with the velocities that belong to them, and their derivatives with respect to the chosen parameters.

        Raises:
            AssemblyError: if no velocities fit the start.
            ModelError: if the start says too little or too much, or the mechanism cannot move.
        """
        if self._structure.numel() == q.size or not independent(self._positions.jacobian(q, np.zeros(0), ρ), RANK):
            self._check_freedoms(q, ρ)
        v = self._velocities.solve_linear(q.size, q, ρ)
        self._check_velocities(v, q, ρ)
        slopes = None if indices is None else np.vstack(self._moving_sensitivities(q, v, ρ, indices)[:2])
        return np.concatenate([q, v]), slopes

    def _moving_sensitivities(
        self, q: np.ndarray, v: np.ndarray, ρ: np.ndarray, indices: list[int]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Derivatives of q, q̇ and ρ, one column a parameter."""
        ρ_ = np.zeros((ρ.size, len(indices)))
        ρ_[indices, range(len(indices))] = 1.0
        q_ = self._positions.sensitivity(q, np.zeros(0), ρ, ρ_)
        return q_, self._velocities.sensitivity(v, q, ρ, np.vstack([q_, ρ_])), ρ_

    def check_derivatives(self, state: InitialState, ρ: np.ndarray, indices: list[int]) -> None:
        """Where joints say the same more than once, they have to go on doing so for small changes of the chosen parameters.

        Raises:
            AssemblyError: if they do not.
        """
        q_, v_, ρ_ = self._moving_sensitivities(state.q, state.v, ρ, indices)
        missed = [
            self._positions.missed(state.q, np.zeros(0), ρ, q_, ρ_),
            self._velocities.missed(state.v, state.q, ρ, v_, np.vstack([q_, ρ_])),
        ]
        names = [
            *self.equations.constraint_names,
            *(h.label for h in self.equations.holds for _ in range(_rows(h, self.equations))),
        ]
        for row, k in np.argwhere(np.maximum(*missed) > BROKEN):
            name = list(self.model.numbers.parameters)[indices[k]]
            raise AssemblyError(
                f"mechanism {self.model.name!r} has no derivative with respect to {name!r}: its constraints depend on each other, so any "
                f"change of {name!r} breaks {names[row]!r}; let another parameter move with it, or leave the joint out that says the same"
            )

    def sensitivities(self, state: InitialState, ρ: np.ndarray, indices: list[int]) -> np.ndarray:
        """Derivatives of the packed state with respect to the chosen parameters, one column each."""
        n = state.q.size
        q_, v_, ρ_ = self._moving_sensitivities(state.q, state.v, ρ, indices)
        x, earlier = np.concatenate([state.a, state.w]), np.concatenate([state.q, state.v])
        x_ = self._accelerations.sensitivity(x, earlier, ρ, np.vstack([q_, v_, ρ_]))
        λ_ = np.array(self._multipliers.partials(np.concatenate([state.w, state.q]), ρ)) @ np.vstack([x_[n:], q_, ρ_])
        return np.vstack([q_, v_, x_[:n], λ_])

    @property
    def freedoms(self) -> int:
        """Freedoms of the mechanism (drivers not counted) at its nominal start."""
        ρ = self.model.numbers.nominal
        q = self.assemble(ρ)
        if self.regular(q, ρ):
            return int(q.size - self._structure.numel())
        return int(q.size - rank_of(np.array(self._undriven(q, ρ))))

    def _open(self, q: np.ndarray, ρ: np.ndarray) -> AssemblyError:
        """What is missed most at the closest positions found; for mechanisms too large to look for the loop at fault."""
        F = np.abs(column(self._positions.residuals(q, np.zeros(0), ρ)))
        holds = [h.label for h in self.equations.holds for _ in range(h.deviation(self.equations.frames).numel())]
        names = [*self.equations.constraint_names, *holds]
        worst = int(np.nan_to_num(F, nan=np.inf).argmax())
        return AssemblyError(
            f"mechanism {self.model.name!r} cannot be assembled: {names[worst]} is missed by {F[worst]:.3g}; "
            "check lengths, ground points and start values, or give start(near=…) rough angles of all bodies",
            {names[worst]: float(F[worst])},
        )

    def _gauss_newton(self, q: np.ndarray, ρ: np.ndarray) -> tuple[np.ndarray, float]:
        none = np.zeros(0)

        def residuals(x: np.ndarray) -> np.ndarray:
            return column(self._positions.residuals(x, none, ρ))

        F = residuals(q)
        for _ in range(60):
            jacobian = self._positions.jacobian(q, none, ρ)
            if not (jacobian.is_regular() and np.isfinite(F).all()):
                break
            step = solution(jacobian, -F)
            length = (
                1.0
                if self.equations.sizes is None
                else 1 / max(1.0, float(np.abs(step / self.equations.sizes.typical).max(initial=0.0)))
            )
            while length > 1e-4:
                trial = residuals(q + length * step)
                if np.isfinite(trial).all() and np.linalg.norm(trial) < np.linalg.norm(F) * (1 - 1e-4 * length):
                    break
                length /= 2
            else:
                break  # no descent left: converged, or stuck where it cannot close
            q, F = q + length * step, trial
        return q, float(np.abs(F).max(initial=0.0)) if np.isfinite(F).all() else np.inf

    def _check_freedoms(self, q: np.ndarray, ρ: np.ndarray) -> None:
        name, n = self.model.name, q.size
        freedoms = n - rank_of(np.array(self._undriven(q, ρ)))
        if freedoms == 0:
            raise ModelError(
                f"mechanism {name!r} has no freedom: its joints hold every body still; remove a joint or free a body"
            )
        everything = np.array(self._positions.jacobian(q, np.zeros(0), ρ))
        constraints = everything[: everything.shape[0] - self._held]
        open_ = n - rank_of(constraints)
        given = ", ".join(h.label for h in self.start.holds) or "nothing"
        shaped = self._held - sum(h.deviation(self.equations.frames).numel() for h in self.start.holds)
        left = open_ - shaped  # beams keep their shape by themselves
        if self._held > rank_of(everything) - rank_of(constraints):
            raise ModelError(
                f"mechanism {name!r}: the start gives too much or twice the same ({given}); "
                f"it has {max(left, 0)} open freedom{'s' if left != 1 else ''}: give one value for each"
                f"{', or positions of the points between beams that start out stretched' if self.model.beams else ''}"
            )
        if self._held < open_:
            raise ModelError(
                f"mechanism {name!r}: the start leaves {open_ - self._held} of {left} freedoms open (given: {given}); "
                f"give start(…) a value that fixes {self._moving(everything)}"
            )

    def _moving(self, jacobian: np.ndarray) -> str:
        """Names of the coordinates that can still move."""
        _, _, Vt = np.linalg.svd(jacobian)
        rank = rank_of(jacobian)
        motion = np.abs(Vt[rank:]).max(axis=0)
        order = np.argsort(-motion)[:3]
        return ", ".join(repr(self.equations.coordinate_names[k]) for k in sorted(order) if motion[k] > 0.1)

    def _check_velocities(self, v: np.ndarray, q: np.ndarray, ρ: np.ndarray) -> None:
        F = column(self._velocities.residuals(v, q, ρ))
        if F.size and np.abs(F).max() > 1e-8 * (1 + np.abs(v).max(initial=0.0)):
            speeds = [f"speed: {h.label}" for h in self.equations.holds for _ in range(_rows(h, self.equations))]
            names = [*self.equations.constraint_names, *speeds]
            worst = int(np.abs(F).argmax())
            raise AssemblyError(
                f"mechanism {self.model.name!r}: no velocities fit the start; {names[worst]} is off by {abs(F[worst]):.3g}"
            )

    def _check_inertia(self, q: np.ndarray, ρ: np.ndarray) -> None:
        M, J = np.array(self._mass(q, ρ)), np.array(self._undriven(q, ρ))
        _, _, Vt = np.linalg.svd(J) if J.shape[0] else (None, None, np.eye(q.size))
        Z = Vt[rank_of(J) :].T
        inertia, directions = np.linalg.eigh(Z.T @ M @ Z)
        if inertia[0] <= 1e-12 * np.abs(M).max():
            motion = np.abs(Z @ directions[:, 0])
            name = self.equations.coordinate_names[int(motion.argmax())]
            raise ModelError(
                f"mechanism {self.model.name!r} can move without inertia (it shows in {name!r}); "
                "give the body that turns there an inertia (for a spatial bar: its radius), or a joint that holds it"
            )

    def _non_finite(self, state: InitialState, ρ: np.ndarray) -> str:
        e = self.equations
        for name, part in e.force_parts.items():
            value = ca.Function("f", [e.q, e.v, e.ρ, e.t], [part])(state.q, state.v, ρ, 0.0)
            if not np.isfinite(np.array(value)).all():
                force = self.model.forces.get(name)
                hint = ": its ends coincide" if isinstance(force, Spring) and isinstance(force.measure, Span) else ""
                return f"look at {name!r}{hint}"
        return "look at the forces and drivers at t = 0"


def _rows(hold: Hold, equations: Equations) -> int:
    """Numbers that something given at the start consists of."""
    return int(hold.deviation(equations.frames).numel())
