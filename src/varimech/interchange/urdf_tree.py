"""The tree of a URDF file: the body of each link, constant rotations of frames, and positions of
links for given joint values.

A body's frame has the origin of its link's frame, and is parallel to the root's frame when all
joint values are zero: so a joint has the same axis in both its bodies, and the zero of its angle is
that of the file. With C the constant rotation of a link's own frame in its body's:

    R_child = R_parent Rot(C a, θ),     p_child = p_parent + R_parent (C_parent xyz + C a s)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..core.errors import ModelError, unknown_name
from .urdf_file import Connection, Robot, rpy_matrix

GROUND = "ground"


@dataclass(frozen=True)
class Motion:
    """Rotation of a link's body, position of the link's origin (m), and their rates (rad/s, m/s),
    in the global frame.
    """

    R: np.ndarray
    p: np.ndarray
    ω: np.ndarray
    v: np.ndarray


@dataclass(frozen=True)
class Tree:
    """Kinematic tree: joints with parents before children, the root, the constant rotation of each
    link's frame, and the body of each link.
    """

    robot: Robot
    root: str
    joints: tuple[Connection, ...]
    turned: dict[str, np.ndarray]
    carriers: dict[str, str]
    """Link → body (a link with mass, or the ground) that it is part of."""

    def axis(self, joint: Connection) -> np.ndarray:
        """The axis of a joint, in the frames of both its bodies."""
        return self.turned[joint.child] @ joint.axis

    def plane(self, joint: Connection) -> np.ndarray:
        """Both directions of a planar joint, as columns: x and y of the joint's frame if its axis
        is z, otherwise rotated with it.
        """
        return self.turned[joint.child] @ _turning_z_to(joint.axis)[:, :2]

    def motions(
        self, values: Mapping[str, np.ndarray], rates: Mapping[str, np.ndarray]
    ) -> dict[str, Motion]:
        """Motion of all links.

        Args:
            values: joint values: (θ), (s), (x, y, θ) of planar joints, (x, y, z, roll, pitch, yaw)
                of floating ones (rad, m).
            rates: their rates; of floating joints velocity and angular velocity in the joint's
                frame (m/s, rad/s).
        """
        still = np.zeros(3)
        motions = {self.root: Motion(np.eye(3), still, still, still)}
        for joint in self.joints:
            up = motions[joint.parent]
            displacement, displacement_rate, turn, spin = self._relative(
                joint, values[joint.name], rates[joint.name]
            )
            arm = up.R @ (self.turned[joint.parent] @ joint.origin.xyz + displacement)
            v = up.v + np.cross(up.ω, arm) + up.R @ displacement_rate
            motions[joint.child] = Motion(up.R @ turn, up.p + arm, up.ω + up.R @ spin, v)
        return motions

    def _relative(self, joint: Connection, x: np.ndarray, ẋ: np.ndarray) -> tuple[np.ndarray, ...]:
        """Displacement, its rate, rotation and angular velocity relative to the parent, in its
        body's frame.
        """
        a, zero, C = self.axis(joint), np.zeros(3), self.turned[joint.child]
        if joint.type in ("revolute", "continuous"):
            return zero, zero, _about(a, x[0]), a * ẋ[0]
        if joint.type == "prismatic":
            return a * x[0], a * ẋ[0], np.eye(3), zero
        if joint.type == "planar":
            P = self.plane(joint)
            return P @ x[:2], P @ ẋ[:2], _about(a, x[2]), a * ẋ[2]
        if joint.type == "floating":
            return C @ x[:3], C @ ẋ[:3], C @ rpy_matrix(x[3:]) @ C.T, C @ ẋ[3:]
        return zero, zero, np.eye(3), zero


def tree_of(robot: Robot) -> Tree:
    """The tree of a robot.

    Raises:
        ModelError: if the links do not form a tree, or a massless link can move.
    """
    file = robot.file
    if not robot.links:
        raise ModelError("there are no links", element=file, remedy="add some")
    if robot.links.get(GROUND) is not None:
        problem = "has a mass, but that name is reserved for the fixed base"
        raise ModelError(problem, element=f"{file}: link {GROUND!r}", remedy="choose another")
    above: dict[str, Connection] = {}
    for joint in robot.joints:
        if joint.child in above:
            both = f"{above[joint.child].name!r} and {joint.name!r}"
            raise ModelError(
                f"is the child of joints {both}",
                element=f"{file}: link {joint.child!r}",
                remedy="close loops by <loop_joint>",
            )
        above[joint.child] = joint
    roots = [link for link in robot.links if link not in above]
    if len(roots) > 1:
        names = ", ".join(map(repr, roots))
        remedy = "one root is allowed, so add the missing joints (or floating ones)"
        raise ModelError(
            f"no joint leads to links {names}", element=file, value=roots, remedy=remedy
        )
    if not roots:
        problem = "every link is the child of a joint, so joints form a cycle"
        raise ModelError(problem, element=file, remedy="close loops by <loop_joint>")
    joints = _ordered(robot, roots[0])
    turned = {roots[0]: np.eye(3)}
    for joint in joints:
        turned[joint.child] = turned[joint.parent] @ joint.origin.rotation
    return Tree(robot, roots[0], joints, turned, _carriers(robot, roots[0], joints))


def _ordered(robot: Robot, root: str) -> tuple[Connection, ...]:
    below: dict[str, list[Connection]] = {link: [] for link in robot.links}
    for joint in robot.joints:
        below[joint.parent].append(joint)
    ordered = list(below[root])
    for joint in ordered:  # the list grows during the loop
        ordered += below[joint.child]
    reached = {joint.name for joint in ordered}
    if missing := [j.name for j in robot.joints if j.name not in reached]:
        problem = f"joints {', '.join(map(repr, missing))} form a cycle"
        raise ModelError(
            problem, element=robot.file, value=missing, remedy="close loops by <loop_joint>"
        )
    return tuple(ordered)


def _carriers(robot: Robot, root: str, joints: tuple[Connection, ...]) -> dict[str, str]:
    """Body of each link: links with mass are bodies, a massless root is the ground, other links
    belong to the body that fixed joints connect them to; parents first.
    """
    carriers = {link: link for link, inertial in robot.links.items() if inertial is not None}
    carriers.setdefault(root, GROUND)
    ties = [j for j in joints if j.type == "fixed"]
    # down from links with mass, up from them, and down from there
    for j in (*ties, *reversed(ties), *ties):
        if j.parent in carriers:
            carriers.setdefault(j.child, carriers[j.parent])
        elif j.child in carriers:
            carriers[j.parent] = carriers[j.child]
    for j in joints:
        if j.child not in carriers:
            problem = f"has no mass, and joint {j.name!r} lets it move"
            remedy = "add an <inertial>, or fix it to a link that has one"
            raise ModelError(problem, element=f"{robot.file}: link {j.child!r}", remedy=remedy)
    return carriers


def check_values(
    label: str, given: Mapping[str, object], joints: Mapping[str, Connection]
) -> dict[str, np.ndarray]:
    """Check joint values by name; each has as many numbers as its joint has degrees of freedom."""
    checked = {}
    for name, value in given.items():
        if name not in joints:
            raise unknown_name(f"joint in {label}", name, joints)
        count = JOINT_DOFS[joints[name].type]
        try:
            numbers = np.atleast_1d(np.asarray(value, dtype=float))
        except (TypeError, ValueError):
            numbers = np.zeros(0)
        if numbers.shape != (count,) or not np.isfinite(numbers).all():
            problem = f": a {joints[name].type} joint has {count} DOF"
            remedy = f"give {count} numbers"
            raise ModelError(problem, element=label, field=repr(name), value=value, remedy=remedy)
        checked[name] = numbers
    return checked


JOINT_DOFS = {
    "revolute": 1,
    "continuous": 1,
    "prismatic": 1,
    "fixed": 0,
    "planar": 3,
    "floating": 6,
}


def _about(axis: np.ndarray, angle: float) -> np.ndarray:
    """The rotation about a unit axis."""
    K = np.array([[0.0, -axis[2], axis[1]], [axis[2], 0.0, -axis[0]], [-axis[1], axis[0], 0.0]])
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


def _turning_z_to(axis: np.ndarray) -> np.ndarray:
    """The shortest rotation that turns z to an axis."""
    z = np.array([0.0, 0.0, 1.0])
    normal, c = np.cross(z, axis), float(axis[2])
    s = float(np.linalg.norm(normal))
    if s == 0:
        return np.eye(3) if c > 0 else np.diag([1.0, -1.0, -1.0])
    return _about(normal / s, np.arctan2(s, c))
