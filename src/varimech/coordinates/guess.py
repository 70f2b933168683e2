"""Initial guess of the poses of all bodies: they are placed one after another along the joints that
lead from the ground.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..core.errors import AssemblyError
from ..core.symbols import SX
from ..model.body import Body, Point
from ..model.initial_conditions import OrientationCondition, OutputCondition, Start
from ..model.joint import Joint
from ..model.model_data import ModelData
from ..model.relative_motion import planar
from ..model.scalar_outputs import Coordinate, ScalarOutput, Slide, Turn

Pose = tuple[np.ndarray, np.ndarray]
"""Origin and rotation matrix."""
PARALLEL = 1e-12
"""Sine below which two directions are parallel: rounding of unit vectors, where the axis of the
rotation between them is undetermined.
"""


def guess_poses(model: ModelData, start: Start, parameters: np.ndarray) -> dict[Body, Pose]:
    """Guess origin and rotation of every body, consistent with the initial conditions along a tree
    of joints.

    Raises:
        AssemblyError: where lengths are so large that a position overflows.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        poses = _Guess(model, start, parameters).poses
    for body, pose in poses.items():
        if not all(np.isfinite(numbers).all() for numbers in pose):
            raise AssemblyError(
                f"lengths, positions or initial values are too large to place body {body.name!r}",
                element=model.label,
                remedy="check their units",
            )
    return poses


@dataclass
class _InitialValues:
    """Numerical initial conditions and guesses, by bodies and points."""

    turns: dict[tuple[Body, Body], float]
    slides: dict[Point, float]
    rotations: dict[Body, np.ndarray]
    positions: dict[Point, np.ndarray]
    components: dict[Point, int]
    """Number of prescribed components of a position, where it is not guessed as a whole."""


class _Guess:
    def __init__(self, model: ModelData, start: Start, parameters: np.ndarray):
        self.model = model
        self.parameters = parameters
        locals_ = {id(p.local): p.local for p in model.all_points}
        values = model.parameter_set.evaluate_all(list(locals_.values()), parameters)
        self._locals = {key: value.ravel() for key, value in zip(locals_, values, strict=True)}
        self.initial = self._read(start)
        n = model.dimension
        self._open = {
            model.place_of(p) for p, count in self.initial.components.items() if count < n
        }
        """Places of which only some components are known: they do not determine a direction."""
        self.given = {
            model.place_of(point): position
            for point, position in reversed(self.initial.positions.items())
        }
        self.together: dict[Point, list[Point]] = {}
        for point in model.all_points:
            self.together.setdefault(model.place_of(point), []).append(point)
        self.poses: dict[Body, Pose] = {model.ground: (np.zeros(n), np.eye(n))}
        joints_of: dict[Body, list[Joint]] = {body: [] for body in model.bodies.values()}
        for joint in model.joints.values():
            for body in joint.bodies:
                joints_of[body].append(joint)
        for root in [model.ground, *model.moving_bodies]:
            if root not in self.poses:
                self._place_loose(root)
            self._hang_all(root, joints_of)

    def _hang_all(self, root: Body, joints_of: Mapping[Body, list[Joint]]) -> None:
        """Place all bodies that joints connect to a body; those with initial values before those
        that follow from others.
        """
        determined, others = deque[Joint](), deque[Joint]()
        fresh: Body | None = root
        while fresh is not None or determined or others:
            for joint in joints_of[fresh] if fresh is not None else ():
                if self._next_body(joint) is not None:
                    (determined if self._known_about(joint) else others).append(joint)
            fresh = None
            if determined or others:
                joint = (determined or others).popleft()
                fresh = self._next_body(joint)
                if fresh is not None:
                    self._hang(joint)

    def _next_body(self, joint: Joint) -> Body | None:
        """Return the body that a joint connects to those already placed, if there is one."""
        first, second = joint.bodies
        if (first in self.poses) == (second in self.poses):
            return None
        return second if first in self.poses else first

    def _known_about(self, joint: Joint) -> bool:
        """Whether initial values determine the body that a joint would place."""
        body = self._next_body(joint)
        assert body is not None
        return (
            body in self.initial.rotations
            or joint.bodies in self.initial.turns
            or joint.second in self.initial.slides
        )

    def _number(self, expression: SX) -> np.ndarray:
        if id(expression) in self._locals:
            return self._locals[id(expression)]
        value = self.model.parameter_set.evaluate(expression, self.parameters)
        return value if value.shape[1] > 1 else value.ravel()

    def _read(self, start: Start) -> _InitialValues:
        values = _InitialValues({}, {}, {}, {}, {})
        for body, rotation in start.near_rotation.items():
            values.rotations[body] = self._number(rotation)
        for point, position in start.near_position.items():
            values.positions[point] = self._number(position)
        for condition in start.conditions:
            if isinstance(condition, OrientationCondition):
                values.rotations[condition.body] = self._number(condition.orientation)
            elif isinstance(condition, OutputCondition):
                self._read_output(values, condition.output, condition.at)
        for driver in self.model.drivers.values():
            self._read_output(values, driver.output, driver.motion(SX(0)))
        return values

    def _read_output(self, values: _InitialValues, output: ScalarOutput, at: SX) -> None:
        value = float(self._number(at)[0])
        if isinstance(output, Turn):
            values.turns[output.first, output.second] = value
            if self.model.dimension == 2 and output.first.is_ground:
                values.rotations[output.second] = planar(value)
        elif isinstance(output, Slide):
            values.slides[output.second] = value
        elif isinstance(output, Coordinate):
            # components that are neither prescribed nor guessed stay at zero until the assembly
            # moves them
            if output.point not in values.positions:
                values.components[output.point] = 0
            position = values.positions.setdefault(output.point, np.zeros(self.model.dimension))
            if output.point in values.components:
                values.components[output.point] += 1
            direction = self._number(output.direction)
            position += (value - direction @ position) * direction

    def _hang(self, joint: Joint) -> None:
        first, second = joint.bodies
        forward = first in self.poses
        parent, child = (first, second) if forward else (second, first)
        points = joint.first, joint.second
        parent_point, child_point = points if forward else points[::-1]
        o, R = self.poses[parent]
        place = o + R @ self._number(parent_point.local)
        slide = joint.displacement()
        if forward and joint.second in self.initial.slides and slide is not None:
            along = R @ self._number(slide.axis.direction)
            place = place + along * self.initial.slides[joint.second]
        elif not any(s.is_point for c in joint.conditions() for s in c.shares()):
            child_point = self._known_point(child) or child_point
            place = self._where(child_point, place)
        self._place(child, child_point, place, self._orientation(joint, child, forward, R))

    def _orientation(self, joint: Joint, child: Body, forward: bool, R: np.ndarray) -> np.ndarray:
        if child in self.initial.rotations:
            return self.initial.rotations[child]
        if (direction := joint.initial_direction()) is not None:
            d, t = self._number(direction.axis.direction), self._number(direction.tangent)
            return swing(t, R @ d) if forward else swing(d, R @ t)
        relative = np.eye(self.model.dimension)
        if joint.motion is not None:
            geometry = self.model.parameter_set.evaluate_all(
                list(joint.motion.geometry), self.parameters
            )
            angle = 0.0 if joint.angle() is None else self.initial.turns.get(joint.bodies, 0.0)
            relative = joint.motion.rotation_at(geometry, angle)
        return R @ (relative if forward else relative.T)

    def _place(self, body: Body, anchor: Point, place: np.ndarray, R: np.ndarray) -> None:
        """Place the anchor of a body; where the position of another point is prescribed, rotate the
        body towards it.
        """
        s = self._number(anchor.local)
        if body not in self.initial.rotations:
            for point in self.model.points_of(body).values():
                target = self._where(point, None)
                arm = self._number(point.local) - s
                is_direction = self.model.place_of(point) not in self._open
                if (
                    is_direction
                    and target is not None
                    and point is not anchor
                    and np.linalg.norm(arm) > 0
                ):
                    R = swing(R @ arm, target - place) @ R
                    break
        self.poses[body] = (place - R @ s, R)

    def _place_loose(self, body: Body) -> None:
        R = self.initial.rotations.get(body, np.eye(self.model.dimension))
        known_point = self._known_point(body)
        for point in (known_point,) if known_point else self.model.points_of(body).values():
            if (target := self._where(point, None)) is not None:
                self.poses[body] = (target - R @ self._number(point.local), R)
                return
        self.poses[body] = (np.zeros(self.model.dimension), R)

    def _known_point(self, body: Body) -> Point | None:
        """Return the first point of a body all of whose components are prescribed."""
        places = {
            point: self.model.place_of(point) for point in self.model.points_of(body).values()
        }
        return next(
            (
                point
                for point, place in places.items()
                if place in self.given and place not in self._open
            ),
            None,
        )

    def _where(self, point: Point, default: np.ndarray | None) -> np.ndarray | None:
        """Return the prescribed position of a point, or that of a point at the same place which is
        prescribed or on a body already placed.
        """
        place = self.model.place_of(point)
        if place in self.given:
            return self.given[place]
        for other in self.together.get(place, ()):
            if other is not point and other.body in self.poses:
                o, R = self.poses[other.body]
                return o + R @ self._number(other.local)
        return default


def swing(source: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Return the smallest rotation that turns one direction into another."""
    lengths = np.linalg.norm(source) * np.linalg.norm(target)
    if lengths == 0:
        return np.eye(source.size)
    c = float(source @ target) / lengths
    if source.size == 2:
        return planar(np.arctan2(source[0] * target[1] - source[1] * target[0], source @ target))
    axis = np.cross(source, target) / lengths
    if np.linalg.norm(axis) < PARALLEL and c > 0:
        return np.eye(3)
    if np.linalg.norm(axis) < PARALLEL:  # half a turn about any perpendicular axis
        across = np.cross(source, np.eye(3)[np.abs(source).argmin()])
        return 2 * np.outer(across, across) / (across @ across) - np.eye(3)
    K = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    return np.eye(3) + K + K @ K / (1 + c)
