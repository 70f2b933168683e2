"""Why a mechanism does not assemble: which loop or joint stays open, and by how much.

The bodies are kept rigid, the start values nearly so, and the joints are closed as far as they go (least squares over all poses).
What is left open then belongs to the loops that cannot close; the gaps along a loop add up to its misfit.
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
from ..model.body import Body
from ..model.frame import Frame
from ..model.joints import Joint
from ..model.parts import Parts
from ..model.start import Start
from ..symbols import SX, rotation
from .guess import Pose

if TYPE_CHECKING:
    from .equations import Equations

STIFF = 1e3
"""Weight of start values and drivers against joints, so that misfits show in the joints."""


def describe_gaps(equations: Equations, start: Start, poses: Mapping[Body, Pose], ρ: np.ndarray) -> AssemblyError:
    """An error that names the loop or joint that does not close, with the size of the gap."""
    model = equations.model
    gaps = _closest(model, start, poses, ρ)
    worst = max((name for name in gaps if name in model.joints), key=lambda name: gaps[name], default=None)
    if worst is None or gaps[worst] < 1e-9:
        worst = max(gaps, key=lambda name: gaps[name])
        return AssemblyError(f"mechanism {model.name!r} cannot be assembled: {worst} is missed by {gaps[worst]:.3g}", gaps)
    loop = _loop(model, model.joints[worst])
    remedy = "check lengths, ground points and start values, or give start(near=…) a better guess"
    if not loop:
        return AssemblyError(
            f"mechanism {model.name!r} cannot be assembled: joint {worst!r} stays open by {gaps[worst]:.3g} m; {remedy}", gaps
        )
    bodies = " – ".join(dict.fromkeys(b.name for j in loop for b in j.bodies))
    total = sum(gaps[j.name] for j in loop)
    names = ", ".join(repr(j.name) for j in loop)
    return AssemblyError(
        f"mechanism {model.name!r} cannot be assembled: the loop {bodies} (joints {names}) stays open by {total:.3g} m, "
        f"most of it at joint {worst!r}; {remedy}",
        gaps,
    )


def _closest(model: Parts, start: Start, poses: Mapping[Body, Pose], ρ: np.ndarray) -> dict[str, float]:
    """What each joint, driver and start value misses when all are met as well as possible."""
    from scipy.optimize import least_squares

    frames, x = _free_frames(model, poses)
    rows = {name: joint.residuals(frames) for name, joint in model.joints.items()}
    stiff = {d.name: d.measure.difference(frames, d.motion(SX(0))) for d in model.drivers.values()}
    stiff |= {hold.label: hold.deviation(frames) for hold in start.holds}
    weighted = ca.vertcat(*rows.values(), *[STIFF * r for r in stiff.values()])
    F = ca.Function("gaps", [x, model.numbers.vector], [ca.densify(weighted)])
    J = ca.Function("gaps_x", [x, model.numbers.vector], [ca.densify(ca.jacobian(weighted, x))])
    found = least_squares(
        lambda y: np.array(F(y, ρ)).ravel(), np.zeros(x.numel()), lambda y: np.array(J(y, ρ)), method="trf", x_scale="jac"
    )
    values = ca.Function("each", [x, model.numbers.vector], [ca.norm_2(r) for r in (rows | stiff).values()])(found.x, ρ)
    values = values if isinstance(values, (list, tuple)) else [values]
    return {name: float(value) for name, value in zip(rows | stiff, values, strict=True)}


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
