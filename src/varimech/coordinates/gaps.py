"""Diagnosis of a mechanism that cannot be assembled: which loop or joint stays open, and by how
much.

The bodies are kept rigid, the initial conditions nearly satisfied, and the joints are closed as far
as possible (least squares over all poses). The remaining gap then belongs to loops that cannot
close. Keeping all joints but the worst one nearly closed concentrates the misfit of its loop there.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Mapping
from functools import cached_property, reduce
from operator import matmul

import casadi as ca
import numpy as np

from ..core.errors import AssemblyError
from ..core.mathematics import rotation
from ..core.messages import Call, Message, first_and_last
from ..core.symbols import SX
from ..model.body import Body
from ..model.frame import Frame
from ..model.initial_conditions import Start
from ..model.joint import Joint
from ..model.model_data import ModelData
from .guess import Pose
from .sparse_factors import factored, identity

STIFF = 1e4
"""Weight of conditions to satisfy relative to those that may stay open: leaves 1e-8 of the gap
elsewhere (weights count squared), which the three digits of a message do not show.
"""
ELSEWHERE = 0.01
"""Share of a gap that other joints may take before its size is not the whole misfit of the loop: a
hundredth, as messages have three digits. Sparse least squares of hundreds of bodies may end there.
"""
LISTED = 12
"""Largest number of bodies or joints of a loop that a message names."""
PRECISE = {"ftol": 1e-12, "xtol": 1e-12, "gtol": 1e-12, "max_nfev": 1000}
"""Tolerances of least squares: with weights so different they approach their minimum slowly."""
CLOSED = 1e-9
"""Share of the size of a mechanism below which a gap counts as closed: above the residuals of least
squares with tolerances of 1e-12.
"""
DENSE = 100
"""Unknowns up to which least squares are dense: some sixteen bodies, where sparse steps are not
faster.
"""
DAMPING = 1e-3
"""Initial μ, for residuals and unknowns of size one: nearly a Gauss–Newton step."""
MANY = 300
"""Unknowns above which only the guess and slight disturbances are tried, with fewer iterations:
some fifty bodies.
"""
ITERATIONS = 200
"""Iterations of sparse least squares with many unknowns: some thirty suffice from a guess, and
further ones hardly change three digits; it takes seconds.
"""
ATTEMPTS = 6
"""Number of starting points: least squares may end in a poor local minimum, and the best result is
taken. A small round number: only failures pay for it.
"""
CHECKED = 50
"""Iterations after which sparse least squares must have made progress."""
CRAWLING = 0.95
"""Share of the cost that remains after these iterations where they follow a valley that leads
nowhere: those that close the mechanism leave less than half of it.
"""
SLIGHTLY = 2
"""Number of disturbed poses tried with sparse least squares."""
SLIGHT = 0.1
"""Disturbance of many poses: enough to leave a symmetric guess; from far away, sparse least squares
end in poor minima only.
"""


class ClosestFit:
    """Closest fit with all bodies free to move about the guessed poses; joints, drivers and initial
    conditions are residuals.

    Angles count as arcs at the size of the mechanism, so that the closest fit does not depend on
    the unit of length.
    """

    def __init__(self, model: ModelData, start: Start, poses: Mapping[Body, Pose], ρ: np.ndarray):
        self.model = model
        self.ρ = ρ
        self.size = max((float(np.abs(o).max()) for o, _ in poses.values()), default=0.0)
        self.size = (
            max(self.size, *[float(np.abs(x).max(initial=0.0)) for x in _locals(model, ρ)], 0.0)
            or 1.0
        )
        frames, self.x = _free_frames(model, poses, self.size)
        self._frames = frames
        self.lengths = {
            name: _rows(joint, frames, angular=False) for name, joint in model.joints.items()
        }
        self.angles = {
            name: _rows(joint, frames, angular=True) for name, joint in model.joints.items()
        }
        self.given = {
            d.name: d.output.difference(frames, d.motion(SX(0))) for d in model.drivers.values()
        }
        self.given |= {c.label: c.misfit(frames) for c in start.conditions}

    @cached_property
    def _closest(self) -> np.ndarray:
        """Poses where joints are closed as far as possible."""
        return self.closest(
            {(name, unit) for name in self.model.joints for unit in ("m", "rad")}, self.beginnings()
        )

    def closed_poses(self) -> dict[Body, Pose] | None:
        """Return poses where everything is satisfied after all; None where something stays open."""
        lengths, angles, given = (
            self._norms(part, self._closest) for part in (self.lengths, self.angles, self.given)
        )
        missed = [*lengths.values(), *(self.size * a for a in angles.values()), *given.values()]
        if max(missed, default=0.0) > CLOSED * self.size:
            return None
        bodies = [b for b in self._frames if not b.is_ground]
        values = self._function(
            [x for b in bodies for x in (self._frames[b].origin, self._frames[b].rotation)]
        )
        poses = [np.array(value) for value in values.call([self._closest, self.ρ])]
        placed = zip(bodies, poses[::2], poses[1::2], strict=True)
        n = self.model.dimension
        ground = {self.model.ground: (np.zeros(n), np.eye(n))}
        return ground | {b: (o.ravel(), R) for b, o, R in placed}

    def error(self) -> AssemblyError:
        """Return an error that names the loop or joint that does not close, with the size of the
        gap.
        """
        model, x = self.model, self._closest
        arcs = self.arcs(x)
        worst = max(arcs, key=lambda name: arcs[name], default=None)
        remedy = Message(
            "check lengths, ground points and initial values, or give {} a better guess",
            Call("start", near=...),
        )

        def failure(problem: str) -> AssemblyError:
            return AssemblyError(
                f"assembly fails: {problem}", gaps, element=model.label, remedy=remedy
            )

        if worst is None or arcs[worst] <= CLOSED * self.size:
            gaps = self.gaps(x)
            missed = max(gaps, key=lambda name: gaps[name])
            return failure(f"{missed} is missed by {gaps[missed]:.3g} (m or rad)")
        # with everything else nearly closed, that joint shows the whole misfit of its loop
        unit = self.unit(worst, x)
        x = self.closest({(worst, unit)}, [x])
        gaps = self.gaps(x)
        size = f"{gaps[worst]:.3g} {unit}"
        loop = _loop(model, model.joints[worst])
        if not loop:
            return failure(f"joint {worst!r} stays open by {size}")
        names = list(dict.fromkeys(b.name for j in loop for b in j.bodies))
        bodies = " – ".join(first_and_last(names, LISTED))
        joints = ", ".join(first_and_last([repr(j.name) for j in loop], LISTED))
        arcs = self.arcs(x)
        if sum(arcs.values()) - arcs[worst] > ELSEWHERE * arcs[worst]:
            size = "an unknown length"
        return failure(
            f"the loop {bodies} (joints {joints}) stays open by {size} at joint {worst!r}"
        )

    def beginnings(self) -> list[np.ndarray]:
        """Return starting points: the guess itself, and disturbed guesses."""
        rng = np.random.default_rng(0)
        n = self.x.numel()
        if n > DENSE:
            return [np.zeros(n), *(SLIGHT * rng.standard_normal((SLIGHTLY, n)))]
        return [np.zeros(n)] + [rng.standard_normal(n) for _ in range(ATTEMPTS - 1)]

    def closest(self, soft: set[tuple[str, str]], beginnings: list[np.ndarray]) -> np.ndarray:
        """Return poses where all conditions are satisfied as well as possible; nearly exactly
        except for the lengths ("m") and angles ("rad") of `soft` joints.
        """
        rows = [*self.lengths.values(), *(self.size * r for r in self.angles.values())]
        rows += self.given.values()
        free = [(name, unit) in soft for unit in ("m", "rad") for name in self.lengths]
        weights = [1.0 if is_free else STIFF for is_free in free] + [STIFF] * len(self.given)
        residuals = ca.vertcat(SX(0, 1), *rows) / self.size
        w = np.repeat(weights, [r.numel() for r in rows])
        fit = _fit_dense if self.x.numel() <= DENSE else _fit_sparse
        F, J = (self._function([f]) for f in (residuals, ca.jacobian(residuals, self.x)))
        outcomes = [fit(lambda y: F(y, self.ρ), lambda y: J(y, self.ρ), w, y) for y in beginnings]
        return min(outcomes, key=lambda outcome: outcome[1])[0]

    def gaps(self, x: np.ndarray) -> dict[str, float]:
        """Return the gap of each joint, driver and initial condition: a length (m), or the angle
        (rad) where its arc is longer.
        """
        lengths, chords, given = (
            self._norms(part, x) for part in (self.lengths, self.angles, self.given)
        )
        return {
            name: length
            if length >= self.size * chords[name]
            else 2 * math.asin(min(1.0, chords[name] / 2))
            for name, length in lengths.items()
        } | given

    def arcs(self, x: np.ndarray) -> dict[str, float]:
        """Return the gap of each joint as a length (m)."""
        lengths, angles = (self._norms(part, x) for part in (self.lengths, self.angles))
        return {name: max(lengths[name], self.size * angles[name]) for name in lengths}

    def unit(self, joint: str, x: np.ndarray) -> str:
        """Return the unit of a joint's gap."""
        length, angle = (
            self._norms({joint: part[joint]}, x)[joint] for part in (self.lengths, self.angles)
        )
        return "m" if length >= self.size * angle else "rad"

    def _norms(self, rows: Mapping[str, SX], x: np.ndarray) -> dict[str, float]:
        values = self._function([ca.norm_2(r) if r.numel() else SX(0) for r in rows.values()]).call(
            [x, self.ρ]
        )
        return {name: float(value) for name, value in zip(rows, values, strict=True)}

    def _function(self, outputs: list[SX]) -> ca.Function:
        return ca.Function("gaps", [self.x, self.model.parameter_set.vector], outputs)


Residuals = Callable[[np.ndarray], ca.DM]


def _fit_dense(
    F: Residuals, J: Residuals, w: np.ndarray, y: np.ndarray
) -> tuple[np.ndarray, float]:
    """Minimise the sum of (w F)²; return y, and that sum."""
    from scipy.optimize import least_squares

    def padded(rows: np.ndarray) -> np.ndarray:
        """Pad with zero rows: the method needs at least as many rows as unknowns."""
        return np.concatenate([rows, np.zeros((max(0, y.size - len(rows)), *rows.shape[1:]))])

    outcome = least_squares(
        lambda y: padded(w * np.array(F(y)).ravel()),
        y,
        lambda y: padded(w[:, None] * np.array(J(y))),
        method="lm",
        **PRECISE,
    )
    return outcome.x, float(outcome.cost)


def _fit_sparse(
    F: Residuals, J: Residuals, w: np.ndarray, y: np.ndarray
) -> tuple[np.ndarray, float]:
    """Minimise the same sum by the Levenberg–Marquardt method with sparse steps s,

        [[1/w², J], [Jᵀ, −μ]] (p, s) = (−F, 0),

    where weights are kept separate, as they would square the condition; μ follows Nielsen (Damping
    parameter in Marquardt's method, 1999).
    """
    from scipy.sparse import diags

    softness, zero = diags(1 / w**2), np.zeros(y.size)
    r = np.array(F(y)).ravel()
    cost, μ, ν, A = float(((w * r) ** 2).sum()), DAMPING, 2.0, J(y).sparse()
    most = PRECISE["max_nfev"] if y.size <= MANY else ITERATIONS
    before = np.inf
    for k in range(int(most) if np.isfinite([cost, A.sum()]).all() else 0):
        if k % CHECKED == 0:
            if cost > CRAWLING * before:
                break
            before = cost
        factors = factored([[softness, A], [A.T, -μ * identity(y.size)]])
        s = factors.solve(np.concatenate([-r, zero]))[r.size :]
        trial = np.array(F(y + s)).ravel()
        change = cost - float(((w * trial) ** 2).sum())
        predicted = cost - float(((w * (r + A @ s)) ** 2).sum())
        small = predicted <= PRECISE["ftol"] * cost or np.abs(s).max() <= PRECISE["xtol"]
        if change > 0:  # false where it is NaN
            y, r, cost, A = y + s, trial, cost - change, J(y + s).sparse()
            μ, ν = μ * max(1 / 3, 1 - (2 * change / max(predicted, change) - 1) ** 3), 2.0
        else:
            μ, ν = μ * ν, 2 * ν
        if small:
            break
    return y, cost / 2


def _rows(joint: Joint, frames: Mapping[Body, Frame], *, angular: bool) -> SX:
    """Return the misfits of a joint that are lengths, or those that are angles."""
    rows = [c.misfit(frames) for c in joint.conditions() if c.angular == angular]
    return ca.vertcat(SX(0, 1), *rows)


def _locals(model: ModelData, ρ: np.ndarray) -> list[np.ndarray]:
    """Return the local coordinates of all points."""
    places = {id(p.local): p.local for p in model.all_points}
    return model.parameter_set.evaluate_all(list(places.values()), ρ)


def _free_frames(
    model: ModelData, poses: Mapping[Body, Pose], size: float
) -> tuple[dict[Body, Frame], SX]:
    """Return frames of bodies that move freely about the given poses, and their unknowns."""
    n = model.dimension
    frames = {model.ground: model.ground_frame()}
    unknowns = []
    for body in model.moving_bodies:
        o, R = poses[body]
        shift, turn = SX.sym("shift", n), SX.sym("turn", 1 if n == 2 else 3)
        unknowns += [shift, turn]
        axes = [(1, 0, 0), (0, 1, 0), (0, 0, 1)] if n == 3 else [None]
        spun = reduce(matmul, [rotation(axis, turn[k]) for k, axis in enumerate(axes)])
        frames[body] = Frame(SX(o) + size * shift, spun @ SX(R), SX.zeros(n), SX.zeros(n, n))
    return frames, ca.vertcat(*unknowns)


def _loop(model: ModelData, closing: Joint) -> list[Joint]:
    """Return the joints of a shortest loop through a joint; none if it closes no loop."""
    source, target = closing.bodies
    predecessors: dict[Body, tuple[Body, Joint]] = {}
    joints_of: dict[Body, list[Joint]] = {body: [] for body in model.bodies.values()}
    for joint in model.joints.values():
        for body in joint.bodies:
            joints_of[body].append(joint)
    queue, seen = deque([source]), {source}
    while queue:
        body = queue.popleft()
        for joint in joints_of[body]:
            if joint is closing:
                continue
            other = joint.bodies[1] if joint.bodies[0] is body else joint.bodies[0]
            if other not in seen:
                seen.add(other)
                predecessors[other] = (body, joint)
                queue.append(other)
    path: list[Joint] = []
    while target is not source:
        if target not in predecessors:
            return []
        target, joint = predecessors[target]
        path.append(joint)
    return [closing, *path]
