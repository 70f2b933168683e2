"""Outputs of bodies, and the conditions of joints, stated from measured positions and rotations
alone.
"""

from __future__ import annotations

import numpy as np
from newton_euler import Array, Z, turned, unit

import varimech as vm
from varimech.elements.clamp import Clamp
from varimech.elements.registry import BUILT_IN
from varimech.model.joint import Joint

DOWN = {2: np.array([0.0, -9.81, 0.0]), 3: np.array([0.0, 0.0, -9.81])}
O3 = np.zeros(3)
KINDS = {
    (joint.kind, dimension)
    for joint in BUILT_IN
    if issubclass(joint, Joint) and joint is not Clamp
    for dimension in joint.dimensions
}
"""All joints, with the dimensions they exist in."""


def vec(*components: float) -> Array:
    """A vector from its components; a planar one has z = 0."""
    return np.array([*components, 0.0][:3])


# outputs of bodies


def at(run: vm.Run, point: str) -> Array:
    """Positions of a point, (time, 3)."""
    r = run.position(point).values
    return r if r.shape[1] == 3 else np.column_stack([r, np.zeros(len(r))])


def moving(run: vm.Run, point: str) -> Array:
    """Velocities of a point, (time, 3)."""
    v = run.velocity(point).values
    return v if v.shape[1] == 3 else np.column_stack([v, np.zeros(len(v))])


def rotations(run: vm.Run, body: str) -> Array:
    """Rotation matrices of a body, (time, 3, 3)."""
    if body == "ground":
        return np.tile(np.eye(3), (run.time.size, 1, 1))
    if run.position(f"{body}.com").sizes["component"] == 3:
        return np.asarray(run.rotation(body).values)
    return np.array([turned(Z, φ) for φ in run.angle(body).values])


def spins(run: vm.Run, body: str) -> Array:
    """Angular velocities of a body, (time, 3)."""
    ω = run.angular_velocity(body).values
    return ω if ω.ndim == 2 else np.column_stack([0 * ω, 0 * ω, ω])


def dots(a: Array, b: Array) -> Array:
    return np.asarray((a * b).sum(axis=-1))


# the conditions of joints, stated from measured positions and rotations alone; first and second are
# "body.point"


def gap(run: vm.Run, first: str, second: str) -> Array:
    return np.asarray(at(run, second) - at(run, first))


def off_line(run: vm.Run, first: str, second: str, axis: Array) -> Array:
    return np.cross(rotations(run, first.split(".")[0]) @ unit(axis), gap(run, first, second))


def off_plane(run: vm.Run, first: str, second: str, normal: Array) -> Array:
    return dots(rotations(run, first.split(".")[0]) @ unit(normal), gap(run, first, second))


def misaligned(run: vm.Run, first: str, second: str, axis: Array, axis_on_second: Array) -> Array:
    return np.asarray(
        rotations(run, first) @ unit(axis) - rotations(run, second) @ unit(axis_on_second)
    )


def off_square(run: vm.Run, first: str, second: str, axis: Array, axis_on_second: Array) -> Array:
    return dots(rotations(run, first) @ unit(axis), rotations(run, second) @ unit(axis_on_second))


def disoriented(run: vm.Run, first: str, second: str, relative: Array) -> Array:
    return np.asarray(rotations(run, second) - rotations(run, first) @ relative)


def off_length(run: vm.Run, first: str, second: str, length: float) -> Array:
    return np.asarray(np.linalg.norm(gap(run, first, second), axis=1) - length)


def derivative(values: Array, h: float) -> Array:
    """Central differences of order four; two samples are lost at each end."""
    return np.asarray((values[:-4] - 8 * values[1:-3] + 8 * values[3:-1] - values[4:]) / (12 * h))
