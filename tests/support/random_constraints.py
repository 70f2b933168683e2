"""Equations of random mechanisms that are fitted to the poses of bodies: velocity constraints,
rolling wheels, cams, points on curves and driven poses. Each one is added only if the DOF that it
constrains is free.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from random_geometry import direction_of, normals_of
from random_recipes import GROUND

import varimech as vm

if TYPE_CHECKING:
    from random_mechanisms import Builder

Array = np.ndarray
TRIES = 6
"""Number of positions that are tried for an equation."""
POLAR = 1.3
"""Largest pitch angle (rad) of a driven pose in space: at π/2, roll and yaw are the same
rotation.
"""


def couple(b: Builder, name: str, method: str) -> None:
    """Add an equation of a kind, if enough DOF are left."""
    state = {
        "velocity_constraint": _velocity_constraint,
        "rolling": _rolling,
        "cam": _cam,
        "point_on_curve": _point_on_curve,
    }[method]
    if method == "cam" and b.recipe.dimension != 2:
        return
    for _ in range(TRIES):
        if state(b, name):
            return


def drive_pose(b: Builder, name: str) -> None:
    """Drive a rigid body that is free in all directions, if there is one."""
    n, rng = b.recipe.dimension, b.rng
    for k in rng.permutation(len(b.recipe.parts)):
        body = int(k)
        place = b.places[f"{b.names[body]}.end"] if body not in b.g.segments else None
        if place is None:
            continue
        turns = [b.g.turns(1.0)] if n == 2 else [b.g.turns(d) for d in np.eye(3)]
        rows = [b.g.row(x, body) for x in (*[b.g.moves(place, d) for d in np.eye(n)], *turns)]
        R = b.g.poses[body].rotation
        angles = np.array([b._angle(body)]) if n == 2 else _roll_pitch_yaw(R)
        if not b.are_free(rows) or (n == 3 and abs(angles[1]) > POLAR):
            continue
        rates = [b.number(float(x)) for x in b.g.scale * rng.uniform(-1, 1, n)]
        about = rng.uniform(-1, 1, len(angles))

        def position(s: Any, at: Array = place, rates: list[Any] = rates) -> list[Any]:
            return [x + r * vm.sin(s.time) for x, r in zip(at.tolist(), rates, strict=True)]

        def orientation(s: Any, angles: Array = angles, about: Array = about) -> Any:
            given = [a + r * s.time for a, r in zip(angles.tolist(), about.tolist(), strict=True)]
            return given[0] if n == 2 else given

        b.m.drive_pose(name, f"{b.names[body]}.end", position, orientation)
        b.hold(rows)
        return


def _roll_pitch_yaw(R: Array) -> Array:
    """Angles of R = R_z(yaw) R_y(pitch) R_x(roll)."""
    return np.array(
        [
            np.arctan2(R[2, 1], R[2, 2]),
            -np.arcsin(np.clip(R[2, 0], -1, 1)),
            np.arctan2(R[1, 0], R[0, 0]),
        ]
    )


def _two_bodies(b: Builder, *, first_moves: bool = False) -> tuple[int, int] | None:
    """Select two rigid bodies; one of them may be the ground."""
    rigid = [k for k in b.names if k not in b.g.segments]
    if len(rigid) < 2:
        return None
    first, second = (int(k) for k in b.rng.permutation(rigid)[:2])
    return (second, first) if first_moves and first == GROUND else (first, second)


def _velocity_constraint(b: Builder, name: str) -> bool:
    """Add a blade, which excludes the velocity of a point along one direction of a body, or a
    time-dependent ratio of the speeds of two points.
    """
    rng, pair = b.rng, _two_bodies(b, first_moves=True)
    if pair is None:
        return False
    body, other = pair
    d, place = direction_of(b.recipe, rng), b.places[f"{b.names[body]}.end"]
    row, blade = b.g.row(b.g.moves(place, d), body), rng.random() < 0.6
    e, c = direction_of(b.recipe, rng), float(rng.uniform(-1, 1))
    far = f"{b.names[other]}.end"
    if not blade:
        row = row - c * b.g.row(b.g.moves(b.places[far], e), other)
    if not b.are_free([row], move=1):
        return False
    label, local = f"{b.names[body]}.end", b.g.poses[body].rotation.T @ d
    factor = b.number(c)
    if blade:
        push = 0.1 * np.sqrt(10 * b.g.scale) * factor if rng.random() < 0.5 else 0.0

        def equation(s: Any) -> Any:
            along = s.rotation(b.names[body]) @ local
            return vm.dot(along, s.velocity(label)) - push * vm.cos(3 * s.time)
    else:

        def equation(s: Any) -> Any:
            ratio = factor * (1 + vm.sin(s.time))
            return vm.dot(d, s.velocity(label)) - ratio * vm.dot(e, s.velocity(far))

    b.m.velocity_constraint(name, equation)
    b.hold([], [row])
    return True


def _rolling(b: Builder, name: str) -> bool:
    """Add a wheel that touches a line or plane of another body, which may be the ground."""
    rng, pair, n = b.rng, _two_bodies(b), b.recipe.dimension
    if pair is None:
        return False
    wheel, other = pair
    normal, centre = direction_of(b.recipe, rng), b.g.scale * rng.uniform(-0.6, 0.6, n)
    radius = float(b.g.scale * rng.uniform(0.1, 0.5))
    given: dict[str, Any] = {}
    towards = normal
    if n == 3:
        a = direction_of(b.recipe, rng)
        across = normal - (normal @ a) * a
        if np.linalg.norm(across) < 0.3:  # a wheel that nearly lies on its side
            return False
        towards = across / np.linalg.norm(across)
        given["axis"] = tuple(b.g.poses[wheel].rotation.T @ a)
    touches = centre - radius * towards
    rows = [b.g.row(b.g.moves(touches, d), wheel, other) for d in (normal, *normals_of(normal))]
    if not b.are_free(rows, move=1):
        return False
    first = b._point(wheel, f"{name}centre", centre)
    along = b.g.scale * rng.uniform(-0.3, 0.3, n - 1) @ normals_of(normal)
    second = b._point(other, f"{name}road", touches + along)
    given["normal"] = tuple(b.g.poses[other].rotation.T @ normal)
    b.m.rolling(name, first, second, radius=b.number(radius, length=True), **given)
    b.hold(rows[:1], rows[1:])
    b.coupled += 1
    return True


def _cam(b: Builder, name: str) -> bool:
    """Add a cam with a knife edge, a roller or a flat face in contact."""
    rng, pair = b.rng, _two_bodies(b)
    if pair is None:
        return False
    cam, follower = pair
    size, lift = float(b.g.scale * rng.uniform(0.2, 0.5)), float(rng.uniform(0, 0.3))
    u, kind = float(rng.uniform(0, 2 * np.pi)), str(rng.choice(["knife", "roller", "flat"]))
    f, slope = size * (1 + lift * np.cos(u)), -size * lift * np.sin(u)
    e, across = np.array([np.cos(u), np.sin(u)]), np.array([-np.sin(u), np.cos(u)])
    support = rng.random() < 0.4
    point = f * e + (slope * across if support else 0.0)
    tangent = across if support else slope * e + f * across
    n = np.array([tangent[1], -tangent[0]]) / np.linalg.norm(tangent)
    R, place = b.g.poses[cam].rotation, b.g.scale * rng.uniform(-0.5, 0.5, 2)
    centre, normal, touches = place - R @ point, R @ n, place
    given: dict[str, Any] = {"profile_kind": "support"} if support else {}
    roller = float(size * rng.uniform(0.1, 0.6))
    if kind == "roller":
        place = touches + roller * normal
    elif kind == "flat":
        given["face"] = tuple(b.g.poses[follower].rotation.T @ -normal)
        place = touches + size * rng.uniform(-0.5, 0.5) * (R @ tangent) / np.linalg.norm(tangent)
    row = b.g.row(b.g.moves(touches, normal), follower, cam)
    if not b.are_free([row], move=1):
        return False
    if kind == "roller":
        given["roller"] = b.number(roller, length=True)
    base, share = b.number(size, length=True), lift
    b.m.cam(
        name,
        b._point(cam, f"{name}cam", centre),
        b._point(follower, f"{name}follower", place),
        profile=lambda u: base * (1 + share * vm.cos(u)),
        **given,
    )
    b.hold([row])
    b.coupled += 1
    return True


def _point_on_curve(b: Builder, name: str) -> bool:
    """Add a point on an ellipse or helix, or on a spline through points of one."""
    rng, pair, n = b.rng, _two_bodies(b), b.recipe.dimension
    if pair is None:
        return False
    body, other = pair
    x, y, rise = (float(v) for v in b.g.scale * rng.uniform(0.2, 0.6, 3))
    u, spline = float(rng.uniform(0.5, 2 * np.pi - 0.5)), rng.random() < 0.3
    if spline:  # a spline passes through its points, here through one far from its ends
        u = float(rng.integers(2, 5))
    place = b.g.scale * rng.uniform(-0.5, 0.5, n)
    shift = b.g.poses[other].local(place) - _ellipse(u, x, y, rise)[:n]

    def curve(u: Any, x: Any, y: Any) -> list[Any]:
        at = (x * vm.cos(u), y * vm.sin(u), rise * u / 3)
        return [c + float(d) for c, d in zip(at, shift, strict=False)]

    tangent = _tangent(shift, x, y, rise, u, spline)
    rows = [
        b.g.row(b.g.moves(place, b.g.poses[other].rotation @ d), body, other)
        for d in normals_of(tangent / np.linalg.norm(tangent))
    ]
    if not b.are_free(rows, move=1):
        return False
    given: dict[str, Any] = {"interval": (0.0, 2 * np.pi), "closed": n == 2}
    shape: Any = _points(shift, x, y, rise)
    if spline:
        given = {}
    else:
        axes = [b.number(length, length=True) for length in (x, y)]
        shape = lambda u: curve(u, *axes)  # noqa: E731
    label = b._point(body, f"{name}on", place)
    b.m.point_on_curve(name, label, b.names[other], curve=shape, **given)
    b.hold(rows)
    b.coupled += n - 1
    return True


def _ellipse(u: float, x: float, y: float, rise: float) -> Array:
    return np.array([x * np.cos(u), y * np.sin(u), rise * u / 3])


def _points(shift: Array, x: float, y: float, rise: float) -> list[list[float]]:
    """Points of a spline: at integer parameters of the ellipse or helix."""
    n = len(shift)
    return [(_ellipse(k, x, y, rise)[:n] + shift).tolist() for k in range(9 if n == 3 else 7)]


def _tangent(shift: Array, x: float, y: float, rise: float, u: float, spline: bool) -> Array:
    """Tangent of the curve at the point."""
    if not spline:
        return np.array([-x * np.sin(u), y * np.cos(u), rise / 3])[: len(shift)]
    from scipy.interpolate import CubicSpline

    points = np.array(_points(shift, x, y, rise))
    lengths = np.cumsum([0.0, *np.linalg.norm(np.diff(points, axis=0), axis=1)])
    return np.asarray(CubicSpline(lengths, points)(lengths[int(u)], 1))
