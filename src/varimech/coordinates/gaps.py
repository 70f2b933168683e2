"""Why a mechanism does not assemble: which loop or joint stays open, and by how much.

The bodies are kept rigid, the start values nearly met, and the joints are closed as far as they go (least squares over all poses). What is
left open then belongs to loops that cannot close. Holding all joints but the worst one nearly closed gathers the misfit of its loop there.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from functools import reduce
from operator import matmul
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from ..errors import AssemblyError
from ..mathematics import rotation
from ..model.body import Body
from ..model.conditions import Aligned, Perpendicular, SameOrientation, Separation
from ..model.frame import Frame
from ..model.joints import Joint
from ..model.measures import Span
from ..model.parts import Parts
from ..model.start import Start
from ..symbols import SX
from .poses import Pose

if TYPE_CHECKING:
    from .equations import Equations

STIFF = 1e3
"""Weight of what is to be met against what may stay open."""
ATTEMPTS = 6
"""Least squares may end in a poor local minimum; the best of so many starts is taken."""


def describe_gaps(equations: Equations, start: Start, poses: Mapping[Body, Pose], ρ: np.ndarray) -> AssemblyError:
    """An error that names the loop or joint that does not close, with the size of the gap."""
    model = equations.model
    problem = _Problem(model, start, poses, ρ)
    x = problem.closest(set(model.joints), problem.beginnings())
    gaps = problem.gaps(x)
    open_joints = {name: gaps[name] for name in model.joints}
    worst = max(open_joints, key=lambda name: open_joints[name], default=None)
    cannot = f"mechanism {model.name!r} cannot be assembled:"
    if worst is None or open_joints[worst] < 1e-9:
        missed = max(gaps, key=lambda name: gaps[name])
        return AssemblyError(f"{cannot} {missed} is missed by {gaps[missed]:.3g}", gaps)
    # with everything else nearly closed, that joint shows the whole misfit of its loop
    x = problem.closest({worst}, [x])
    gaps = problem.gaps(x)
    size = f"{gaps[worst]:.3g} {problem.unit(worst, x)}"
    loop = _loop(model, model.joints[worst])
    remedy = "check lengths, ground points and start values, or give start(near=…) a better guess"
    if not loop:
        return AssemblyError(f"{cannot} joint {worst!r} stays open by {size}; {remedy}", gaps)
    bodies = " – ".join(dict.fromkeys(b.name for j in loop for b in j.bodies))
    names = ", ".join(repr(j.name) for j in loop)
    text = f"{cannot} the loop {bodies} (joints {names}) stays open by {size} at joint {worst!r}; {remedy}"
    return AssemblyError(text, gaps)


class _Problem:
    """All bodies free to move about the guessed poses; joints, drivers and start values as residuals."""

    def __init__(self, model: Parts, start: Start, poses: Mapping[Body, Pose], ρ: np.ndarray):
        self.model = model
        self.ρ = ρ
        frames, self.x = _free_frames(model, poses)
        self.lengths = {name: _rows(joint, frames, angular=False) for name, joint in model.joints.items()}
        self.angles = {name: _rows(joint, frames, angular=True) for name, joint in model.joints.items()}
        self.given = {d.name: d.measure.difference(frames, d.motion(SX(0))) for d in model.drivers.values()}
        self.given |= {hold.label: hold.deviation(frames) for hold in start.holds}

    def beginnings(self) -> list[np.ndarray]:
        """The guess itself, and disturbed ones."""
        rng = np.random.default_rng(0)
        return [np.zeros(self.x.numel())] + [rng.standard_normal(self.x.numel()) for _ in range(ATTEMPTS - 1)]

    def closest(self, soft: set[str], beginnings: list[np.ndarray]) -> np.ndarray:
        """Poses where all is met as well as possible, joints outside `soft` and given values nearly exactly."""
        from scipy.optimize import least_squares

        rows = [(1 if name in soft else STIFF) * r for part in (self.lengths, self.angles) for name, r in part.items()]
        weighted = ca.vertcat(*rows, *[STIFF * r for r in self.given.values()])
        F = self._function([ca.densify(weighted)])
        J = self._function([ca.densify(ca.jacobian(weighted, self.x))])

        def residuals(y: np.ndarray) -> np.ndarray:
            return np.array(F(y, self.ρ)).ravel()

        found = [least_squares(residuals, y, lambda y: np.array(J(y, self.ρ)), x_scale="jac") for y in beginnings]
        return np.asarray(min(found, key=lambda outcome: outcome.cost).x)

    def gaps(self, x: np.ndarray) -> dict[str, float]:
        """What each joint, driver and start value misses: the larger of the length and the angle by which it does."""
        lengths, angles, given = (self._norms(part, x) for part in (self.lengths, self.angles, self.given))
        return {name: max(lengths[name], angles[name]) for name in lengths} | given

    def unit(self, joint: str, x: np.ndarray) -> str:
        """Unit of a joint's gap."""
        return "m" if self._norms(self.lengths, x)[joint] >= self._norms(self.angles, x)[joint] else "rad"

    def _norms(self, rows: Mapping[str, SX], x: np.ndarray) -> dict[str, float]:
        values = self._function([ca.norm_2(r) if r.numel() else SX(0) for r in rows.values()]).call([x, self.ρ])
        return {name: float(value) for name, value in zip(rows, values, strict=True)}

    def _function(self, outputs: list[SX]) -> ca.Function:
        return ca.Function("gaps", [self.x, self.model.numbers.vector], outputs)


def _rows(joint: Joint, frames: Mapping[Body, Frame], *, angular: bool) -> SX:
    """Residuals of a joint that are lengths, or those that are angles."""
    rows = [SX(0, 1)]
    for condition in joint.conditions:
        if isinstance(condition, (Aligned, SameOrientation, Perpendicular)) == angular:
            if isinstance(condition, Separation):
                rows.append(Span(condition.first, condition.second).difference(frames, condition.length))
            else:
                rows.append(condition.residuals(frames))
    return ca.vertcat(*rows)


def _free_frames(model: Parts, poses: Mapping[Body, Pose]) -> tuple[dict[Body, Frame], SX]:
    """Frames of bodies that move freely about the given poses."""
    n = model.dimension
    frames = {model.ground: model.ground_frame()}
    unknowns = []
    for body in model.moving_bodies:
        o, R = poses[body]
        shift, turn = SX.sym("shift", n), SX.sym("turn", 1 if n == 2 else 3)
        unknowns += [shift, turn]
        axes = [(1, 0, 0), (0, 1, 0), (0, 0, 1)] if n == 3 else [None]
        spun = reduce(matmul, [rotation(axis, turn[k]) for k, axis in enumerate(axes)])
        frames[body] = Frame(SX(o) + shift, spun @ SX(R), SX.zeros(n), SX.zeros(n, n))
    return frames, ca.vertcat(*unknowns)


def _loop(model: Parts, closing: Joint) -> list[Joint]:
    """The joints of a shortest loop through a joint, or none if it closes no loop."""
    source, target = closing.bodies
    came: dict[Body, tuple[Body, Joint]] = {}
    queue, seen = deque([source]), {source}
    while queue:
        body = queue.popleft()
        for joint in model.joints.values():
            if joint is closing or body not in joint.bodies:
                continue
            other = joint.bodies[1] if joint.bodies[0] is body else joint.bodies[0]
            if other not in seen:
                seen.add(other)
                came[other] = (body, joint)
                queue.append(other)
    path: list[Joint] = []
    while target is not source:
        if target not in came:
            return []
        target, joint = came[target]
        path.append(joint)
    return [closing, *path]
