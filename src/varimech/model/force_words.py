"""Words for what moves a mechanism: forces and drivers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca

from ..core.errors import Label, ModelError
from ..core.messages import Message
from ..core.symbols import SX, symbols_in
from .beam import Beam
from .body import Body, Point
from .drivers import Driver
from .forces import PointForce, Spring, Torque
from .geometry import axis_of
from .joints import Joint
from .model_data import PointLike
from .parameter import Parameter
from .parameter_set import evaluated
from .scalar_outputs import Coordinate, Distance, ScalarOutput, Turn
from .state import State
from .user_functions import as_column, call_user, called, trial_state
from .writing import ModelBuilder, Number, change

LEAVE_FRAME = Message("leave {frame} out", frame="body")


class ForceWords(ModelBuilder):
    """Forces and drivers."""

    @change
    def spring(
        self,
        name: str,
        first: PointLike,
        second: PointLike,
        *,
        stiffness: Number,
        natural_length: Number,
        damping: Number = 0.0,
    ) -> Spring:
        """A linear spring (N/m) with natural length (m), and optionally a damper (N·s/m), between
        two points.
        """
        rest = self.data.parameter_set.scalar(
            natural_length, f"spring {name!r}: natural_length", "non-negative", unit="m"
        )
        return self._spring(
            "spring",
            name,
            self.data.find_distance(first, second, repr(name)),
            stiffness,
            rest,
            damping,
        )

    @change
    def damper(self, name: str, first: PointLike, second: PointLike, *, damping: Number) -> Spring:
        """A linear damper (N·s/m) between two points."""
        return self._spring(
            "damper", name, self.data.find_distance(first, second, repr(name)), 0.0, 0.0, damping
        )

    @change
    def torsional_spring(
        self,
        name: str,
        turn: Joint | Body | str,
        *,
        stiffness: Number,
        rest_angle: Number = 0.0,
        damping: Number = 0.0,
    ) -> Spring:
        """A spring (N·m/rad), and optionally a damper (N·m·s/rad), on the angle of a joint or of a
        planar body.

        It knows its angle within half a turn of `rest_angle` (rad, between −π and π); a run that
        winds it further is stopped.
        """
        rest = self.data.parameter_set.scalar(
            rest_angle, f"torsional spring {name!r}: rest_angle", "half turn", unit="rad"
        )
        return self._spring(
            "torsional spring", name, self.data.find_angle(turn), stiffness, rest, damping
        )

    @change
    def torsional_damper(self, name: str, turn: Joint | Body | str, *, damping: Number) -> Spring:
        """A damper (N·m·s/rad) on the angle of a joint or of a planar body."""
        return self._spring("torsional damper", name, self.data.find_angle(turn), 0.0, 0.0, damping)

    @change
    def force(
        self, name: str, point: PointLike, value: Any, *, frame: str = "global"
    ) -> PointForce:
        """A force (N) on a point: components, or a function of the state that returns them.

        A constant: `m.force("push", "rod.tip", (10, 0))`. Of time or state: `m.force("push",
        "rod.tip", lambda s: (vm.sin(s.time), 0))`. `frame="body"` takes the components along the
        body's axes.
        """
        self._check_new("force", name)
        in_body = self._is_body_frame(f"force {name!r}", frame)
        function = self._vector_function(f"force {name!r}", value, self.dimension, "N")
        found = self.data.find_point(point)
        if in_body and self.dimension == 3 and isinstance(found.body, Beam):
            raise ModelError(f"force {name!r}: a beam has no axes of its own", remedy=LEAVE_FRAME)
        return self.data.add_force(PointForce(name, found, function, in_body))

    @change
    def torque(
        self,
        name: str,
        body: Body | Point | str,
        value: Any,
        *,
        against: Body | Point | str | None = None,
        frame: str = "global",
    ) -> Torque:
        """A torque (N·m) on a body, or on a point of a beam: a number in the plane, components in
        space, or a function of the state.

        `against` is a second body that takes the opposite torque (a motor between two bodies).
        Beams have no torsion: in space what is along a beam does nothing to it.
        """
        self._check_new("torque", name)
        in_body = self._is_body_frame(f"torque {name!r}", frame)
        if in_body and self.dimension == 2:
            raise ModelError(
                f"torque {name!r}: a frame of the body means nothing in the plane",
                remedy=LEAVE_FRAME,
            )
        size = 1 if self.dimension == 2 else 3
        function = self._vector_function(f"torque {name!r}", value, size, "N·m")
        thing = self.data.find_turning(body, f"torque {name!r}")
        other = (
            None
            if against is None
            else self.data.find_turning(against, f"torque {name!r}: against")
        )
        if in_body and not isinstance(thing, Body):
            raise ModelError(f"torque {name!r}: a beam has no axes of its own", remedy=LEAVE_FRAME)
        return self.data.add_force(Torque(name, thing, other, function, in_body))

    @change
    def drive_angle(self, name: str, turn: Joint | Body | str, motion: Any) -> Driver:
        """Impose the angle of a joint or of a planar body as a function of time, rad:
        `m.drive_angle("motor", "crank", lambda t: 6*t)`.
        """
        return self._driver(name, self.data.find_angle(turn), motion)

    @change
    def drive_displacement(self, name: str, joint: Joint | str, motion: Any) -> Driver:
        """Impose the displacement of a joint that slides as a function of time, m."""
        return self._driver(name, self.data.find_displacement(joint), motion)

    @change
    def drive_distance(self, name: str, first: PointLike, second: PointLike, motion: Any) -> Driver:
        """Impose the distance of two points as a function of time, m (positive)."""
        return self._driver(name, self.data.find_distance(first, second, repr(name)), motion)

    @change
    def drive_coordinate(self, name: str, point: PointLike, direction: Any, motion: Any) -> Driver:
        """Impose the component of a point's position along a global direction as a function of
        time, m.
        """
        axis = axis_of(
            self.data.parameter_set, self.data.ground, direction, f"driver {name!r}: direction"
        )
        return self._driver(name, Coordinate(self.data.find_point(point), axis.direction), motion)

    def _spring(
        self,
        kind: str,
        name: str,
        measure: ScalarOutput,
        stiffness: Number,
        rest: Number,
        damping: Number,
    ) -> Spring:
        self._check_new(kind, name)
        n, label = self.data.parameter_set, f"{kind} {name!r}"
        effort = "N·m/rad" if isinstance(measure, Turn) else "N/m"
        k = n.scalar(stiffness, Label(label, "stiffness"), "non-negative", unit=effort)
        c = n.scalar(damping, Label(label, "damping"), "non-negative", unit=f"{effort}*s")
        return self.data.add_force(
            Spring(name, measure, k, n.scalar(rest, Label(label, "rest")), c)
        )

    def _is_body_frame(self, label: str, frame: str) -> bool:
        if frame not in ("global", "body"):
            raise ModelError(f"{label}: frame = {frame!r} must be 'global' or 'body'")
        return frame == "body"

    def _vector_function(
        self, label: str, value: Any, size: int, unit: str
    ) -> Callable[[State], SX]:
        value = self._told(value, label, unit)
        if callable(value):

            def function(state: State) -> SX:
                return as_column(call_user(value, state, label), size, label)

            self.data.parameter_set.check_symbols(
                function(trial := trial_state(self.data, label)),
                label,
                symbols_in(*trial.coordinates),
            )
            return function
        constant = (
            self.data.parameter_set.scalar(value, label)
            if size == 1
            else self.data.parameter_set.vector_of(value, size, label)
        )
        return lambda state: constant

    def _told(self, value: Any, label: str, unit: str) -> Any:
        """Texts, alone or as components, as a function of the state; quantities as numbers."""
        parts = value if isinstance(value, (list, tuple)) else [value]
        if not any(isinstance(part, str) for part in parts):
            return value
        numbers, scope = (
            self.data.parameter_set,
            self.data.parameter_set.scope_with("t", None, "the time"),
        )
        quantities = [
            numbers.quantity(part, unit, label, scope) if isinstance(part, str) else None
            for part in parts
        ]
        told = [
            part if number is None else number
            for part, number in zip(parts, quantities, strict=True)
        ]

        def function(state: State) -> Any:
            values = [
                evaluated(part, state.scope, label) if isinstance(part, str) else part
                for part in told
            ]
            return values if isinstance(value, (list, tuple)) else values[0]

        return function

    def _driver(self, name: str, measure: ScalarOutput, motion: Any) -> Driver:
        self._check_new("driver", name)
        label = f"driver {name!r}"
        t = SX.sym("t")
        unit = "rad" if isinstance(measure, Turn) else "m"
        scope = self.data.parameter_set.scope_with("t", t, "the time")
        if (
            isinstance(motion, str)
            and (number := self.data.parameter_set.quantity(motion, unit, label, scope)) is not None
        ):
            motion = number
        if isinstance(motion, str):
            path = as_column(evaluated(motion, scope, label), 1, label)
        elif callable(motion) and not isinstance(motion, Parameter):
            path = as_column(called(motion, t, label, "time t"), 1, label)
        else:
            path = self.data.parameter_set.scalar(motion, label, unit=unit)
        self.data.parameter_set.check_symbols(path, label, symbols_in(t))
        start = ca.substitute(path, t, SX(0))
        self.data.parameter_set.scalar(
            start, f"{label} at t = 0", "positive" if isinstance(measure, Distance) else None
        )
        driver = Driver(name, measure, lambda time: ca.substitute(path, t, time))
        self.data.drivers[name] = driver
        return driver
