"""Reading of initial conditions: names and values become conditions on outputs, and rough guesses
become poses.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import casadi as ca

from ..core.errors import Label, ModelError, unknown_name
from ..core.messages import Message
from ..core.symbols import SX
from .body import Body, Point
from .geometry import rotation_of
from .initial_conditions import InitialCondition, OrientationCondition, OutputCondition, Start
from .model_data import ModelData
from .parameter import Parameter
from .scalar_outputs import Coordinate, ScalarOutput


class InitialConditionReader:
    """Collects initial conditions, using each speed once."""

    def __init__(self, model: ModelData, speeds: Mapping[object, Any], paired: set[str]):
        self._data = model
        self._speeds = dict(speeds)
        self._used: set[object] = set()
        self._paired = paired
        """Joints whose angle and displacement are both given: their speed is a pair of both rates.
        """
        self.conditions: list[InitialCondition] = []

    def angles(self, values: Mapping[str, object]) -> None:
        """Read angles of planar bodies or of joints."""
        for name, value in values.items():
            turn, speed = self._data.find_angle(name), self._speed(name, of_pair=0)
            self._add(f"angle of {name!r}", turn, value, speed, name in self._speeds)

    def displacements(self, values: Mapping[str, object]) -> None:
        """Read displacements of joints."""
        for name, value in values.items():
            slide, speed = self._data.find_displacement(name), self._speed(name, of_pair=1)
            self._add(f"displacement of {name!r}", slide, value, speed, name in self._speeds)

    def distances(self, values: Mapping[tuple[str, str], object]) -> None:
        """Read distances between pairs of points."""
        for pair, value in values.items():
            if not (isinstance(pair, tuple) and len(pair) == 2):
                raise ModelError(
                    f"distance of {pair!r}: give a pair of points, such as {{('1', 'B'): 2.0}}",
                    element="start",
                )
            output = self._data.find_distance(pair[0], pair[1], "start: distance")
            label = f"distance of {pair[0]!r} and {pair[1]!r}"
            self._data.parameter_set.scalar(value, f"start: {label}", "positive", unit="m")
            self._add(label, output, value, self._speed(pair), pair in self._speeds)

    def positions(self, values: Mapping[str, object]) -> None:
        """Read positions of points; components that are None remain free."""
        n = self._data.dimension
        for name, value in values.items():
            point, label = self._data.find_point(name), f"position of {name!r}"
            value, speed = (self._components(x) for x in (value, self._speed(name, (0.0,) * n)))
            for numbers, subject in ((value, label), (speed, f"speed: {label}")):
                if not hasattr(numbers, "__len__") or len(numbers) != n:
                    raise ModelError(
                        f"must have {n} components",
                        label=Label("start", "position", subject),
                        value=numbers,
                    )
            for k, component in enumerate(value):
                if component is None and not (
                    speed[k] is None
                    or (not isinstance(speed[k], (SX, Parameter)) and speed[k] == 0)
                ):
                    raise ModelError(
                        "is given, but not its position there",
                        label=Label("start", "speed", f"speed of {name!r} along {'xyz'[k]}"),
                    )
                if component is not None:
                    output = Coordinate(point, ca.densify(SX.eye(n)[:, k]))
                    self._add(
                        f"{label} along {'xyz'[k]}",
                        output,
                        component,
                        0.0 if speed[k] is None else speed[k],
                        name in self._speeds and speed[k] is not None,
                    )

    def orientations(self, values: Mapping[str, object]) -> None:
        """Read orientations of spatial bodies."""
        model = self._data
        for name, value in values.items():
            label = f"orientation of {name!r}"
            if model.dimension == 2:
                raise ModelError(
                    f"start: {label}: a planar body has an angle",
                    remedy=Message("use {angle}", angle={name: ...}),
                )
            matrix = rotation_of(model.parameter_set, value, 3, f"start: {label}")
            omega = model.parameter_set.vector_of(
                self._speed(name, (0.0, 0.0, 0.0)), 3, f"start: speed: {label}", unit="rad/s"
            )
            self.conditions.append(
                OrientationCondition(
                    label,
                    model.find_rigid_body(name, f"start: {label}"),
                    matrix,
                    omega,
                    rate_given=name in self._speeds,
                )
            )

    def finish(self, near: Mapping[str, object]) -> Start:
        """Return the initial conditions with their guesses; refuse speeds without a value."""
        if unused := [key for key in self._speeds if key not in self._used]:
            problem = (
                f"is given for {', '.join(map(repr, unused))} but no initial value; also give its"
                " angle, displacement, distance, position or orientation"
            )
            raise ModelError(problem, label=Label("start", "speed"))
        model = self._data
        rotations: dict[Body, SX] = {}
        positions: dict[Point, SX] = {}
        known = (
            {
                *model.bodies,
                *(p.name for p in model.all_points),
                *(p.label for p in model.all_points),
            }
            if near
            else set()
        )
        for name, value in near.items():
            label = Label("start", "near", f"near {name!r}")
            if name not in known:
                raise unknown_name("body or point", name, known)
            if name in model.bodies:
                rotations[model.bodies[name]] = rotation_of(
                    model.parameter_set, value, model.dimension, label
                )
            else:
                positions[model.find_point(name)] = model.parameter_set.vector_of(
                    value, model.dimension, label, unit="m"
                )
        return Start(tuple(self.conditions), rotations, positions)

    def _components(self, value: object) -> Any:
        """Components of a vector, which may be a text or a vector of symbols."""
        numbers = self._data.parameter_set
        components = (
            numbers.vector_of(value, self._data.dimension, "start", unit="m")
            if isinstance(value, str)
            else value
        )
        return ca.vertsplit(components) if isinstance(components, SX) else components

    def _speed(self, key: object, default: object = 0.0, *, of_pair: int | None = None) -> object:
        self._used.add(key)
        speed = self._speeds.get(key, (0.0, 0.0) if key in self._paired else default)
        if of_pair is None or key not in self._paired:
            return speed
        if isinstance(speed, str):
            speed = ca.vertsplit(
                self._data.parameter_set.vector_of(speed, 2, f"start: speed of {key!r}")
            )
        if not hasattr(speed, "__len__") or len(speed) != 2:
            problem = "must be the pair (rate of angle, rate of displacement)"
            raise ModelError(
                problem, label=Label("start", "speed", f"speed of {key!r}"), value=speed
            )
        return speed[of_pair]

    def _add(
        self, label: str, output: ScalarOutput, value: object, speed: object, rate_given: bool
    ) -> None:
        n, unit = self._data.parameter_set, output.unit
        at, rate = (
            n.scalar(value, f"start: {label}", unit=unit),
            n.scalar(speed, f"start: speed: {label}", unit=f"{unit}/s"),
        )
        self.conditions.append(OutputCondition(label, output, at, rate, rate_given=rate_given))
