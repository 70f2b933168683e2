"""Types of the builder methods. `python tools/write_elements.py` writes this file from the fields of
the elements; change the fields, not this file.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from ..model.beam import Beam
from ..model.body import Body, Point, RigidBody
from ..model.element import Element
from ..model.joint import Joint
from ..model.model_data import PointLike
from ..model.parameter import Number, Vector
from ..model.solids import Solid
from .belt import Belt
from .bushing import Bushing
from .cam import Cam
from .clamp import Clamp
from .clearance_joint import ClearanceJoint
from .constraint import Equation
from .contact import ContactPair
from .curve_contact import CurveContact
from .cylindrical import Cylindrical
from .damper import Damper
from .dc_motor import DCMotor
from .delay import Delay
from .distance import DistanceJoint
from .drive_angle import DriveAngle
from .drive_coordinate import DriveCoordinate
from .drive_displacement import DriveDisplacement
from .drive_distance import DriveDistance
from .drive_pose import DrivePose
from .dry_friction import DryFriction
from .event import Event
from .fixed import Fixed
from .force import PointForce
from .gear import Gear
from .lag import Lag
from .lead import Lead
from .mode import Mode
from .pid import Pid
from .planar import Planar
from .point_on_curve import PointOnCurve
from .point_on_line import PointOnLine
from .point_on_plane import PointOnPlane
from .prismatic import Prismatic
from .rack_and_pinion import RackAndPinion
from .rate_limit import RateLimit
from .revolute import Revolute
from .rolling import Rolling
from .sample_and_hold import SampleAndHold
from .screw import Screw
from .servo import Servo
from .signal import Signal
from .spherical import Spherical
from .spring import Spring
from .state import StateElement
from .state_space import StateSpace
from .stop import Stop
from .torque import Torque
from .torsional_spring import TorsionalDamper, TorsionalSpring
from .transfer_function import TransferFunction
from .universal import Universal
from .velocity_constraint import VelocityEquation

def method_of(kind: type[Element]) -> Any: ...

class ElementMethods:
    """A method for every built-in element."""

    def bar(
        self,
        name: str,
        start: str,
        end: str,
        *,
        length: Number,
        mass: Number = None,
        com: Number = None,
        inertia: Number = None,
        radius: Number = 0.0,
        points: Mapping[str, Vector] | None = None,
        floating: bool = False,
        shape: Solid | Sequence[Solid] | None = None,
    ) -> RigidBody:
        """A straight bar along its own x axis, with a named point at each end.

        Args:
            name: its name.
            start: Name of the point at the start of the bar, the origin of its frame.
            end: Name of the point at the other end, x = length.
            length: Length of the bar (m).
            mass: Mass; it may be omitted or zero if only kinematics is computed (kg).
            com: Distance of the centre of mass from `start`. If not given, it is half the length
                (m).
            inertia: Inertia about the centre of mass. If not given, it is the inertia of a uniform
                bar (m L²/12 in the plane, a solid cylinder in space) (kg·m²).
            radius: Radius of the solid cylinder (spatial bars only) (m).
            points: Further named points (m).
            floating: True for a bar that no chain of joints connects to the ground.
            shape: One or more shapes for solid views, such as `varimech.box((0.3, 0.04, 0.02),
                at=(0.15, 0, 0))`.
        """

    def beam(
        self,
        name: str,
        from_: str,
        to: str,
        *,
        segments: int,
        E: Number,
        area: Number = None,
        inertia: Number = None,
        section: Any = None,
        density: Number = None,
        mass: Number = None,
        length: Any = None,
        natural_length: Number = None,
        shape: Any = None,
        material: str = "logarithmic",
        masses: str = "consistent",
        damping: Any = (0.0, 0.0),
        floating: bool = False,
    ) -> Beam:
        """A slender elastic beam that can bend and stretch by large amounts, with a named point at each
        end. Shear and torsion are neglected.

        Connect the ends like those of a bar, with revolute joints (spherical joints in space), or hold
        their direction with a `clamp`. The nodes between the ends are called 'n1', 'n2', …; forces,
        springs, joints and outputs refer to them like any other point ('name.n1'). The beam initially
        has its unstressed shape and needs the same initial values as a bar.

        Args:
            name: its name.
            from_: Name of the point at the first end.
            to: Name of the point at the other end.
            segments: Number of equal segments, 1 or more. With 8 segments, deflections are accurate
                to 2.3 % for pinned beams and cantilevers, and to 9 % for beams clamped at both
                ends; with 32 segments, to 0.2 % and 0.6 %. The angle between adjacent segments must
                not exceed 90°.
            E: Young's modulus (Pa).
            area: Area of the cross-section (m²).
            inertia: Second moment of area for bending; in space, it is the same in all directions
                (m⁴).
            section: Cross-section, instead of `area` and `inertia`: `varimech.circle(0.01)`, or a
                `tube`, `rectangle` or `square`.
            density: Density, instead of `mass`. The mass is then density × area × natural_length
                (kg/m³).
            mass: Mass of the whole beam (kg).
            length: Initial length of the straight beam (m).
            natural_length: Length of the unstressed beam. If not given, it is the initial length.
                To separate the effect of the geometry from the effect of the unstressed length, use
                one parameter for `length` and another for `natural_length` (m).
            shape: Shape of a curved beam, instead of `length`: either a function that returns the
                position for s from 0 to 1, such as `lambda s: (s, 0.1 * s * (1 - s))` or the
                strings ("s", "0.1*s*(1 - s)"), or one position for each node (m, in the frame of
                the beam). The unstressed beam has the same shape, scaled if `natural_length` is
                given.
            material: Stretching law: "logarithmic" or "linear" in the stretch.
            masses: Mass model: "consistent" (exact for rigid motions) or "lumped" at the nodes.
            damping: Rayleigh damping (γ in 1/s, β in s). The force −γ M v acts on all masses. The
                damping of stretching and bending, also at clamps, is β times the stiffness times
                the rate of deformation. Small vibrations of angular frequency ω have a damping
                ratio of γ/(2ω) + βω/2.
            floating: True for a beam that no chain of joints connects to the ground.
        """

    def body(
        self,
        name: str,
        *,
        mass: Number = None,
        inertia: Number = None,
        com: Vector = None,
        points: Mapping[str, Vector] | None = None,
        floating: bool = False,
        spine: tuple[str, ...] | None = None,
        shape: Solid | Sequence[Solid] | None = None,
    ) -> RigidBody:
        """A rigid body.

        Args:
            name: its name.
            mass: Mass; it may be omitted or zero if only kinematics is computed (kg).
            inertia: Inertia about the centre of mass: a number in planar models; three principal
                values or a 3×3 matrix in body axes in spatial models. A body with a mass needs it
                (kg·m²).
            com: Centre of mass in the body's frame; the origin if not given. It is also the point
                'com' (m).
            points: Named points in the body's frame (m).
            floating: True for a body that no chain of joints connects to the ground.
            spine: Points that a line connects in drawings; all points if not given.
            shape: One or more shapes for solid views, such as `varimech.box((0.1, 0.1, 0.3))`.
        """

    def revolute(
        self,
        name: str,
        first: PointLike | None = None,
        second: PointLike | None = None,
        *,
        friction: Number = 0.0,
        static_friction: Number = None,
        friction_law: str = "coulomb",
        slip_velocity: Number = 0.001,
        friction_radius: Number = 0.0,
        axis: Vector = None,
        axis_on_second: Vector = None,
    ) -> Revolute:
        """A hinge: two points coincide and, in space, the bodies share an axis.

        `revolute("A")` without points connects the two bodies that have a point called "A". The reaction
        acts on the second body.

        Args:
            name: its name.
            first: Point of the first body. If both points are omitted, the joint connects the two
                bodies that have a point with the joint's name.
            second: Point of the second body, on which the reaction acts.
            friction: Sliding friction coefficient. Friction is proportional to the joint force
                perpendicular to the motion.
            static_friction: Static friction coefficient; the sliding coefficient if not given.
            friction_law: Friction law: "coulomb", with sticking and sliding, or one of the smooth
                laws "tanh", "stribeck" and "brown-mcphee".
            slip_velocity: Characteristic rate (m/s or rad/s) of a smooth friction law.
            friction_radius: Radius of the pin or ball, at which friction acts (m).
            axis: Direction of the axis in the first body's frame; in space only.
            axis_on_second: The same direction in the second body's frame. If not given, it has the
                same components as `axis`; the angle is then zero when the bodies are aligned.
        """

    def prismatic(
        self,
        name: str,
        first: PointLike | None = None,
        second: PointLike | None = None,
        *,
        friction: Number = 0.0,
        static_friction: Number = None,
        friction_law: str = "coulomb",
        slip_velocity: Number = 0.001,
        axis: Vector,
        rotation: Any = None,
    ) -> Prismatic:
        """A slider: the second point moves along a line fixed in the first body, and the bodies do not
        rotate relative to each other.

        Args:
            name: its name.
            first: Point of the first body. If both points are omitted, the joint connects the two
                bodies that have a point with the joint's name.
            second: Point of the second body, on which the reaction acts.
            friction: Sliding friction coefficient. Friction is proportional to the joint force
                perpendicular to the motion.
            static_friction: Static friction coefficient; the sliding coefficient if not given.
            friction_law: Friction law: "coulomb", with sticking and sliding, or one of the smooth
                laws "tanh", "stribeck" and "brown-mcphee".
            slip_velocity: Characteristic rate (m/s or rad/s) of a smooth friction law.
            axis: Direction of the line in the first body's frame.
            rotation: Constant orientation of the second body relative to the first: an angle in the
                plane, a 3×3 matrix in space (see `varimech.rotation`); aligned if not given.
        """

    def fixed(
        self,
        name: str,
        first: PointLike | None = None,
        second: PointLike | None = None,
        *,
        rotation: Any = None,
    ) -> Fixed:
        """A weld: two points coincide, and the second body keeps its orientation relative to the first.

        Args:
            name: its name.
            first: Point of the first body. If both points are omitted, the joint connects the two
                bodies that have a point with the joint's name.
            second: Point of the second body, on which the reaction acts.
            rotation: Orientation of the second body relative to the first: an angle in the plane, a
                3×3 matrix in space (see `varimech.rotation`); aligned if not given.
        """

    def point_on_line(
        self,
        name: str,
        first: PointLike | None = None,
        second: PointLike | None = None,
        *,
        friction: Number = 0.0,
        static_friction: Number = None,
        friction_law: str = "coulomb",
        slip_velocity: Number = 0.001,
        axis: Vector,
    ) -> PointOnLine:
        """The second point stays on a line through the first point, fixed in the first body.

        Args:
            name: its name.
            first: Point of the first body. If both points are omitted, the joint connects the two
                bodies that have a point with the joint's name.
            second: Point of the second body, on which the reaction acts.
            friction: Sliding friction coefficient. Friction is proportional to the joint force
                perpendicular to the motion.
            static_friction: Static friction coefficient; the sliding coefficient if not given.
            friction_law: Friction law: "coulomb", with sticking and sliding, or one of the smooth
                laws "tanh", "stribeck" and "brown-mcphee".
            slip_velocity: Characteristic rate (m/s or rad/s) of a smooth friction law.
            axis: Direction of the line in the first body's frame.
        """

    def distance(
        self,
        name: str,
        first: PointLike | None = None,
        second: PointLike | None = None,
        *,
        length: Number,
    ) -> DistanceJoint:
        """Keep the distance between two points constant, like a massless rod.

        Args:
            name: its name.
            first: Point of the first body. If both points are omitted, the joint connects the two
                bodies that have a point with the joint's name.
            second: Point of the second body, on which the reaction acts.
            length: Distance between the points (m).
        """

    def spherical(
        self,
        name: str,
        first: PointLike | None = None,
        second: PointLike | None = None,
        *,
        friction: Number = 0.0,
        static_friction: Number = None,
        friction_law: str = "coulomb",
        slip_velocity: Number = 0.001,
        friction_radius: Number = 0.0,
    ) -> Spherical:
        """A ball joint, for spatial models: two points coincide, and the bodies rotate freely about
        them. Friction opposes the relative angular velocity.

        Args:
            name: its name.
            first: Point of the first body. If both points are omitted, the joint connects the two
                bodies that have a point with the joint's name.
            second: Point of the second body, on which the reaction acts.
            friction: Sliding friction coefficient. Friction is proportional to the joint force
                perpendicular to the motion.
            static_friction: Static friction coefficient; the sliding coefficient if not given.
            friction_law: Friction law: "coulomb", with sticking and sliding, or one of the smooth
                laws "tanh", "stribeck" and "brown-mcphee".
            slip_velocity: Characteristic rate (m/s or rad/s) of a smooth friction law.
            friction_radius: Radius of the pin or ball, at which friction acts (m).
        """

    def cylindrical(
        self,
        name: str,
        first: PointLike | None = None,
        second: PointLike | None = None,
        *,
        friction: Number = 0.0,
        static_friction: Number = None,
        friction_law: str = "coulomb",
        slip_velocity: Number = 0.001,
        axis: Vector,
        axis_on_second: Vector = None,
    ) -> Cylindrical:
        """A sleeve on a shaft, for spatial models: the second body rotates about a common axis and slides
        along it.

        Args:
            name: its name.
            first: Point of the first body. If both points are omitted, the joint connects the two
                bodies that have a point with the joint's name.
            second: Point of the second body, on which the reaction acts.
            friction: Sliding friction coefficient. Friction is proportional to the joint force
                perpendicular to the motion.
            static_friction: Static friction coefficient; the sliding coefficient if not given.
            friction_law: Friction law: "coulomb", with sticking and sliding, or one of the smooth
                laws "tanh", "stribeck" and "brown-mcphee".
            slip_velocity: Characteristic rate (m/s or rad/s) of a smooth friction law.
            axis: Direction of the line in the first body's frame.
            axis_on_second: The same direction in the second body's frame. If not given, it has the
                same components as `axis`.
        """

    def universal(
        self,
        name: str,
        first: PointLike | None = None,
        second: PointLike | None = None,
        *,
        friction: Number = 0.0,
        static_friction: Number = None,
        friction_law: str = "coulomb",
        slip_velocity: Number = 0.001,
        friction_radius: Number = 0.0,
        axis: Vector,
        axis_on_second: Vector,
    ) -> Universal:
        """A Hooke joint, for spatial models: two points coincide, and an axis of one body stays
        perpendicular to an axis of the other.

        Args:
            name: its name.
            first: Point of the first body. If both points are omitted, the joint connects the two
                bodies that have a point with the joint's name.
            second: Point of the second body, on which the reaction acts.
            friction: Sliding friction coefficient. Friction is proportional to the joint force
                perpendicular to the motion.
            static_friction: Static friction coefficient; the sliding coefficient if not given.
            friction_law: Friction law: "coulomb", with sticking and sliding, or one of the smooth
                laws "tanh", "stribeck" and "brown-mcphee".
            slip_velocity: Characteristic rate (m/s or rad/s) of a smooth friction law.
            friction_radius: Radius of the pin or ball, at which friction acts (m).
            axis: Direction of the axis in the first body's frame.
            axis_on_second: Direction of the axis in the second body's frame.
        """

    def planar(
        self,
        name: str,
        first: PointLike | None = None,
        second: PointLike | None = None,
        *,
        friction: Number = 0.0,
        static_friction: Number = None,
        friction_law: str = "coulomb",
        slip_velocity: Number = 0.001,
        normal: Vector,
        normal_on_second: Vector = None,
    ) -> Planar:
        """A block on a table, for spatial models: the second point stays on the plane through the
        first point, and the bodies rotate relative to each other about the normal of this plane
        only.

        Args:
            name: its name.
            first: Point of the first body. If both points are omitted, the joint connects the two
                bodies that have a point with the joint's name.
            second: Point of the second body, on which the reaction acts.
            friction: Sliding friction coefficient. Friction is proportional to the joint force
                perpendicular to the motion.
            static_friction: Static friction coefficient; the sliding coefficient if not given.
            friction_law: Friction law: "coulomb", with sticking and sliding, or one of the smooth
                laws "tanh", "stribeck" and "brown-mcphee".
            slip_velocity: Characteristic rate (m/s or rad/s) of a smooth friction law.
            normal: Normal of the plane in the first body's frame.
            normal_on_second: The same direction in the second body's frame. If not given, it has
                the same components as `normal`.
        """

    def point_on_plane(
        self,
        name: str,
        first: PointLike | None = None,
        second: PointLike | None = None,
        *,
        friction: Number = 0.0,
        static_friction: Number = None,
        friction_law: str = "coulomb",
        slip_velocity: Number = 0.001,
        normal: Vector,
    ) -> PointOnPlane:
        """In spatial models, the second point stays on a plane through the first point, fixed in the first
        body.

        Args:
            name: its name.
            first: Point of the first body. If both points are omitted, the joint connects the two
                bodies that have a point with the joint's name.
            second: Point of the second body, on which the reaction acts.
            friction: Sliding friction coefficient. Friction is proportional to the joint force
                perpendicular to the motion.
            static_friction: Static friction coefficient; the sliding coefficient if not given.
            friction_law: Friction law: "coulomb", with sticking and sliding, or one of the smooth
                laws "tanh", "stribeck" and "brown-mcphee".
            slip_velocity: Characteristic rate (m/s or rad/s) of a smooth friction law.
            normal: Normal of the plane in the first body's frame.
        """

    def screw(
        self,
        name: str,
        first: PointLike | None = None,
        second: PointLike | None = None,
        *,
        friction: Number = 0.0,
        static_friction: Number = None,
        friction_law: str = "coulomb",
        slip_velocity: Number = 0.001,
        axis: Vector,
        axis_on_second: Vector = None,
        pitch: Number,
        friction_radius: Number = 0.0,
    ) -> Screw:
        """A nut on a thread, for spatial models: the bodies share an axis, and one turn about it advances
        the second body by the pitch.

        Args:
            name: its name.
            first: Point of the first body. If both points are omitted, the joint connects the two
                bodies that have a point with the joint's name.
            second: Point of the second body, on which the reaction acts.
            friction: Sliding friction coefficient of the thread. Friction is proportional to the
                resultant of the radial force and the normal force on the flank.
            static_friction: Static friction coefficient; the sliding coefficient if not given.
            friction_law: Friction law: "coulomb", with sticking and sliding, or one of the smooth
                laws "tanh", "stribeck" and "brown-mcphee".
            slip_velocity: Characteristic rate (m/s or rad/s) of a smooth friction law.
            axis: Direction of the line in the first body's frame.
            axis_on_second: The same direction in the second body's frame. If not given, it has the
                same components as `axis`.
            pitch: Advance of the second body per turn; negative for a left-hand thread (m).
            friction_radius: Radius of the thread, at which friction acts (m).
        """

    def clamp(
        self,
        name: str,
        first: PointLike | None = None,
        second: PointLike | None = None,
        *,
        direction: Vector,
    ) -> Clamp:
        """Fix the position and direction of an end of a beam (the second point) to a rigid body or the
        ground (the first point).

        The beam initially has this direction unless other initial values are given. `reaction` and
        `reaction_torque` act on the beam.

        Args:
            name: its name.
            first: Point of the first body. If both points are omitted, the joint connects the two
                bodies that have a point with the joint's name.
            second: Point of the second body, on which the reaction acts.
            direction: Direction of the beam at the clamp (the tangent of a curved beam), in the
                first body's frame.
        """

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
        """A linear spring, and optionally a damper, between two points.

        Args:
            name: its name.
            first: Point at the first end.
            second: Point at the other end.
            stiffness: Force per elongation (N/m).
            natural_length: Length at zero force (m).
            damping: Force per rate of elongation (N·s/m).
        """

    def damper(self, name: str, first: PointLike, second: PointLike, *, damping: Number) -> Damper:
        """A linear damper between two points.

        Args:
            name: its name.
            first: Point at the first end.
            second: Point at the other end.
            damping: Force per rate of elongation (N·s/m).
        """

    def torsional_spring(
        self,
        name: str,
        turn: Joint | Body | str,
        *,
        stiffness: Number,
        rest_angle: Number = 0.0,
        damping: Number = 0.0,
    ) -> TorsionalSpring:
        """A torsional spring, optionally with a damper, on the angle of a joint or of a planar body.

        The angle includes full turns, so the spring can be wound up by any number of turns.

        Args:
            name: its name.
            turn: Rotating joint or planar body on whose angle the element acts.
            stiffness: Torque per angle (N·m/rad).
            rest_angle: Angle at zero torque; it may exceed a full turn (rad).
            damping: Torque per angular velocity (N·m·s/rad).
        """

    def torsional_damper(
        self, name: str, turn: Joint | Body | str, *, damping: Number
    ) -> TorsionalDamper:
        """A torsional damper on the angle of a joint or of a planar body.

        Args:
            name: its name.
            turn: Rotating joint or planar body on whose angle the element acts.
            damping: Torque per angular velocity (N·m·s/rad).
        """

    def force(
        self, name: str, point: PointLike, value: Any, *, frame: str = "global"
    ) -> PointForce:
        """A force on a point: constant, or a function of time and state.

        A constant force: `m.force("push", "rod.tip", (10, 0))`. A function of time: `m.force("push",
        "rod.tip", lambda s: (vm.sin(s.time), 0))`.

        Args:
            name: its name.
            point: Point of application.
            value: Components: numbers, a function of the state, or strings with expressions in t
                and the state (N).
            frame: Axes of the components: "global", or "body" for the axes of the body.
        """

    def torque(
        self,
        name: str,
        body: Body | Point | str,
        value: Any,
        *,
        against: Body | Point | str | None = None,
        frame: str = "global",
    ) -> Torque:
        """A torque on a body or on a point of a beam: a number in the plane, components in space, or a
        function of the state.

        Beams have no torsion: in space, the component of a torque along a beam has no effect.

        Args:
            name: its name.
            body: Body, or point of a beam, on which the torque acts.
            value: Torque: a number in planar models or components in spatial models, a function of
                the state, or strings with expressions in t and the state (N·m).
            against: Body on which the opposite torque acts, as for a motor between two bodies.
            frame: Axes of the components: "global", or "body" for the axes of the body (spatial
                models only).
        """

    def bushing(
        self,
        name: str,
        first: PointLike,
        second: PointLike,
        *,
        stiffness: Vector = None,
        damping: Vector = None,
        rotational_stiffness: Number | Vector = None,
        rotational_damping: Number | Vector = None,
        offset: Vector = None,
        rotation: Any = None,
        preload: Vector = None,
        preload_torque: Number | Vector = None,
    ) -> Bushing:
        """Springs and dampers between points of two bodies, along and about the axes of the first body.

        Example: `m.bushing("mount", "frame.A", "engine.A", stiffness=(2e5, 2e5, 8e5), damping=(100, 100, 400))`.

        Args:
            name: its name.
            first: Point of the first body, whose axes define the directions of the bushing.
            second: Point of the second body, on which the force acts.
            stiffness: Force per displacement along each axis of the first body (N/m).
            damping: Force per velocity along each axis (N·s/m).
            rotational_stiffness: Torque per angle about each axis; in the plane, a number
                (N·m/rad).
            rotational_damping: Torque per angular velocity about each axis; in the plane, a number
                (N·m·s/rad).
            offset: Offset of the second point from the first at zero elastic force, along the axes
                of the first body (m).
            rotation: Orientation of the second body relative to the first at zero elastic torque:
                an angle in the plane, a matrix in space; aligned if not given.
            preload: Force on the second body at the given offset, along the axes of the first body
                (N).
            preload_torque: Torque on the second body at the given orientation (N·m).
        """

    def gear(
        self,
        name: str,
        first: Joint | Body | str,
        second: Joint | Body | str,
        *,
        ratio: Number = None,
        teeth: tuple[Number, Number] | None = None,
        radii: tuple[Number, Number] | None = None,
        mesh: str = "external",
        phase: Number = 0.0,
        stiffness: Number = None,
        damping: Number = None,
        backlash: Number = None,
        damping_depth: Number = None,
        efficiency: Number = None,
        slip_velocity: Number = None,
    ) -> Gear:
        """A pair of gears: a fixed ratio between two angles, for any number of turns.

        Example: `m.gear("mesh", "A", "B", teeth=(20, 40))`. Instead of numbers of teeth, give pitch radii
        or a signed ratio. If the common carrier of both joints rotates, the pair is part of a planetary
        gear set.

        Args:
            name: its name.
            first: First gear: a rotating joint or planar body.
            second: Second gear: a rotating joint or planar body.
            ratio: Ratio of the second angle to the first; negative for external gears.
            teeth: Numbers of teeth of both gears, instead of the ratio.
            radii: Pitch radii of both gears, instead of the ratio (m).
            mesh: Kind of mesh, if teeth or radii are given: "external" (parallel axes, opposite
                directions), "internal" (the second gear is the ring; same direction) or "crossed"
                (bevel and worm gears; both angles increase together).
            phase: Angle of the second gear when the angle of the first is zero (rad).
            stiffness: Stiffness of a compliant mesh: torque on the second gear per angle of that
                gear. Without a stiffness, the mesh is rigid (N·m/rad).
            damping: Damping of a compliant mesh: torque on the second gear per rate of the angle of
                that gear (N·m·s/rad).
            backlash: Backlash: angle by which the second gear can turn freely. Requires a stiffness
                (rad).
            damping_depth: Angle beyond the backlash at which damping is fully effective; 1e-4 rad
                if not given (rad).
            efficiency: Efficiency: ratio of output power to input power, in (0, 1], whichever side
                drives. Requires a stiffness.
            slip_velocity: Rate of the first angle below which losses decrease gradually to zero;
                1e-3 rad/s if not given (rad/s).
        """

    def rack_and_pinion(
        self,
        name: str,
        pinion: Joint | Body | str,
        rack: Joint | str,
        *,
        radius: Number,
        reverse: bool = False,
        offset: Number = 0.0,
        stiffness: Number = None,
        damping: Number = None,
        backlash: Number = None,
        damping_depth: Number = None,
        efficiency: Number = None,
        slip_velocity: Number = None,
    ) -> RackAndPinion:
        """A rack and a pinion: the displacement of one joint is the pitch radius times the angle of
        another, for any number of turns.

        Example: `m.rack_and_pinion("steering", "column", "guide", radius=0.01)`. The element also models a
        drum and its rope, or a pulley and its toothed belt.

        Args:
            name: its name.
            pinion: Pinion: a rotating joint or planar body.
            rack: Rack: a sliding joint.
            radius: Pitch radius of the pinion (m).
            reverse: Whether the displacement decreases when the angle increases.
            offset: Displacement when the angle is zero (m).
            stiffness: Stiffness of a compliant mesh: force per displacement. Without a stiffness,
                the mesh is rigid (N/m).
            damping: Damping of a compliant mesh: force per velocity (N·s/m).
            backlash: Backlash: distance by which the rack can move freely. Requires a stiffness
                (m).
            damping_depth: Distance beyond the backlash at which damping is fully effective; 1e-6 m
                if not given (m).
            efficiency: Efficiency: ratio of output power to input power, in (0, 1], whichever side
                drives. Requires a stiffness.
            slip_velocity: Rate of the first angle below which losses decrease gradually to zero;
                1e-3 rad/s if not given (rad/s).
        """

    def belt(
        self,
        name: str,
        first: Joint | Body | str,
        second: Joint | Body | str,
        *,
        radii: tuple[Number, Number],
        crossed: bool = False,
        phase: Number = 0.0,
        stiffness: Number = None,
        damping: Number = None,
        tension: Number = None,
    ) -> Belt:
        """A belt or chain on two pulleys, without slip and for any number of turns. It is rigid, or has
        elastic strands if a stiffness is given.

        Example: `m.belt("drive", "A", "B", radii=(0.05, 0.1))`. Without a pretension, an elastic belt
        acts like a chain: one strand pulls and the other is slack.

        Args:
            name: its name.
            first: First pulley: a rotating joint or planar body.
            second: Second pulley: a rotating joint or planar body.
            radii: Pitch radii of both pulleys (m).
            crossed: Whether the strands cross, so that the pulleys turn in opposite directions.
            phase: Angle of the second pulley when the angle of the first is zero (rad).
            stiffness: Stiffness of each strand: force per elongation. Without a stiffness, the belt
                is rigid (N/m).
            damping: Damping of each strand: force per rate of elongation. Requires a stiffness
                (N·s/m).
            tension: Pretension: tension of both strands at zero elongation; 0 if not given.
                Requires a stiffness (N).
        """

    def constraint(self, name: str, equations: Any, *, unit: str = "m") -> Equation:
        """Equations of positions, angles and time that every motion satisfies.

        Example: `m.constraint("pulley", lambda s: s.position("A")[1] + 2 * s.position("B")[1] + 3.0)`.
        Define several equations as a list. Angles count turns.

        Args:
            name: its name.
            equations: Expression that must vanish: a function of the state, a string with an
                expression in t and the state, or a list of these.
            unit: Unit of the equations: "m" (forces in N), "rad" (torques in N·m) or "1" (J). For
                equations between velocities, give the unit of the equations multiplied by s.
        """

    def velocity_constraint(
        self, name: str, equations: Any, *, unit: str = "m"
    ) -> VelocityEquation:
        """Equations that are linear in the velocities and that every motion satisfies: blades, wheels,
        casters.

        Example: `m.velocity_constraint("blade", lambda s: s.velocity("P")[1] * vm.cos(s.angle("sleigh")) -
        s.velocity("P")[0] * vm.sin(s.angle("sleigh")))`. Define several equations as a list.

        Args:
            name: its name.
            equations: Expression that must vanish: a function of the state, a string with an
                expression in t and the state, or a list of these.
            unit: Unit of the equations: "m" (forces in N), "rad" (torques in N·m) or "1" (J). For
                equations between velocities, give the unit of the equations multiplied by s.
        """

    def rolling(
        self,
        name: str,
        first: PointLike,
        second: PointLike,
        *,
        radius: Number,
        normal: Vector,
        axis: Vector = None,
    ) -> Rolling:
        """A wheel or disc that rolls without slip, on a line in planar models and on a plane in spatial
        models.

        Example: `m.rolling("road", "wheel.C", "ground.O", radius=0.3, normal=(0, 1))`. In space, also give
        the axis of the wheel, such as `axis=(0, 1, 0)`. Give initial values for the position and the angle of the wheel,
        but only one of the two speeds.

        Args:
            name: its name.
            first: Centre of the wheel.
            second: Point of the line or plane on which the wheel rolls.
            radius: Radius of the wheel (m).
            normal: Normal of the line or plane, towards the wheel, in the second body's frame.
            axis: Axis of the wheel in its own frame (spatial models only).
        """

    def point_on_curve(
        self,
        name: str,
        point: PointLike,
        body: Body | str,
        *,
        curve: Any,
        closed: bool = False,
        interval: Any = None,
    ) -> PointOnCurve:
        """A point that stays on a curve of another body, in the plane or in space.

        A spline through points: `m.point_on_curve("wire", "bead.P", "ground", curve=[(0, 0), (1, 0.2), (2,
        0)])`. Expressions of a parameter: `curve=("cos(u)", "sin(u)"), interval=(0, 2 * pi), closed=True`.
        `state("wire parameter")` is the curve parameter of the point. A run fails at the end of an open curve.

        Args:
            name: its name.
            point: Point that stays on the curve.
            body: Body to which the curve is fixed.
            curve: The curve in the frame of the body: either points (m), which a cubic spline
                interpolates, or the components as functions of the parameter u, in Python or as
                strings.
            closed: Whether the curve is closed.
            interval: First and last parameter of a curve that is defined by expressions. A spline
                needs no interval: its parameter is the cumulative chord length (m).
        """

    def cam(
        self,
        name: str,
        first: PointLike,
        second: PointLike,
        *,
        restitution: Number = 0.0,
        stiffness: Number = None,
        exponent: Number = None,
        damping: Number = 0.0,
        law: str = "hunt-crossley",
        least_impact_speed: Number = 0.001,
        friction: Number = 0.0,
        static_friction: Number = None,
        friction_law: str = "coulomb",
        slip_velocity: Number = 0.001,
        closure: str = "form",
        profile: Any,
        profile_kind: str = "radius",
        roller: Number = None,
        face: Vector | None = None,
    ) -> Cam:
        """A cam with a knife-edge, roller or flat-faced follower that slides or swings, for planar models.

        Example, with a periodic table `lift`: `m.cam("cam", "shaft.O", "tappet.T", profile="0.02 +
        lift(u)", roller=0.008)`. A flat face has its normal towards the cam: `face=(0, -1)`. With
        `closure="force"`, the follower can lift off. `state("cam parameter")` is the curve parameter of the
        contact point.

        Args:
            name: its name.
            restitution: Coefficient of restitution, for rigid surfaces and for the law "lankarani-
                nikravesh".
            stiffness: Stiffness K of compliant surfaces. Without a stiffness, the surfaces are
                rigid (N/m).
            exponent: Exponent n of compliant surfaces. By default, it is 1.5 for "lankarani-
                nikravesh" and 1 for the other laws.
            damping: Damping of compliant surfaces: D (s/m) for "hunt-crossley", C (N·s/m) for
                "kelvin-voigt".
            law: Force law of compliant surfaces: "hunt-crossley", "kelvin-voigt" or "lankarani-
                nikravesh".
            least_impact_speed: Lower bound of the impact speed in the law "lankarani-nikravesh",
                also for surfaces that overlap initially (m/s).
            friction: Sliding friction coefficient.
            static_friction: Static friction coefficient; the sliding coefficient if not given.
            friction_law: Friction law: "coulomb", with sticking and sliding, or one of the smooth
                laws "tanh", "stribeck" and "brown-mcphee".
            slip_velocity: Characteristic velocity of a smooth friction law (m/s).
            closure: How contact is maintained: "form" (a constraint, such as a groove) or "force"
                (a contact, which can lift off).
            first: Point of the cam, the origin of the profile.
            second: Point of the follower: its edge, the centre of its roller, or a point on its
                face.
            profile: Either the distance from the cam's point (m) as a function of the angle u in
                the cam's frame (a Python function or a string), or points of the profile relative
                to the cam's point, which a closed spline interpolates.
            profile_kind: Meaning of the profile function: "radius" is the distance to the profile
                point at the angle u; "support" is the distance to the tangent line whose normal has
                the angle u, which is the lift of a flat face.
            roller: Radius of the roller (m).
            face: Normal of a flat face, towards the cam, in the follower's frame.
        """

    def curve_contact(
        self,
        name: str,
        first: PointLike,
        second: PointLike,
        *,
        restitution: Number = 0.0,
        stiffness: Number = None,
        exponent: Number = None,
        damping: Number = 0.0,
        law: str = "hunt-crossley",
        least_impact_speed: Number = 0.001,
        friction: Number = 0.0,
        static_friction: Number = None,
        friction_law: str = "coulomb",
        slip_velocity: Number = 0.001,
        closure: str = "form",
        first_curve: Any,
        second_curve: Any,
        first_closed: bool = False,
        second_closed: bool = False,
        first_interval: Any = None,
        second_interval: Any = None,
        first_side: str = "inside",
        second_side: str = "inside",
    ) -> CurveContact:
        """Two touching curves on two bodies in planar models, with form closure, or with force closure so
        that they can separate.

        An ellipse on a line: `m.curve_contact("touch", "wheel.C", "ground.O", first_curve=("2*cos(u)",
        "sin(u)"), first_interval=(0, 2 * pi), first_closed=True, second_curve=[(0, 0), (9, 0)],
        second_side="right")`. `state("touch first parameter")` and `state("touch second parameter")` are the
        curve parameters of the contact point. A run fails at the end of an open curve.

        Args:
            name: its name.
            restitution: Coefficient of restitution, for rigid surfaces and for the law "lankarani-
                nikravesh".
            stiffness: Stiffness K of compliant surfaces. Without a stiffness, the surfaces are
                rigid (N/m).
            exponent: Exponent n of compliant surfaces. By default, it is 1.5 for "lankarani-
                nikravesh" and 1 for the other laws.
            damping: Damping of compliant surfaces: D (s/m) for "hunt-crossley", C (N·s/m) for
                "kelvin-voigt".
            law: Force law of compliant surfaces: "hunt-crossley", "kelvin-voigt" or "lankarani-
                nikravesh".
            least_impact_speed: Lower bound of the impact speed in the law "lankarani-nikravesh",
                also for surfaces that overlap initially (m/s).
            friction: Sliding friction coefficient.
            static_friction: Static friction coefficient; the sliding coefficient if not given.
            friction_law: Friction law: "coulomb", with sticking and sliding, or one of the smooth
                laws "tanh", "stribeck" and "brown-mcphee".
            slip_velocity: Characteristic velocity of a smooth friction law (m/s).
            closure: How contact is maintained: "form" (a constraint, such as a groove) or "force"
                (a contact, which can lift off).
            first: Point of the first body, the origin of its curve.
            second: Point of the second body, the origin of its curve.
            first_curve: The first curve, relative to the first point: either points (m), which a
                cubic spline interpolates, or the components as functions of the parameter u, in
                Python or as strings.
            second_curve: The second curve, relative to the second point: either points (m), which a
                cubic spline interpolates, or the components as functions of the parameter u, in
                Python or as strings.
            first_closed: Whether the first curve is closed.
            second_closed: Whether the second curve is closed.
            first_interval: First and last parameter of the first curve, if it is defined by
                expressions.
            second_interval: First and last parameter of the second curve, if it is defined by
                expressions.
            first_side: Side of the curve on which the first body lies: "inside" or "outside" for a
                closed curve, "left" or "right" for an open curve, as seen in the direction of
                increasing u.
            second_side: Side of the curve on which the second body lies: "inside" or "outside" for
                a closed curve, "left" or "right" for an open curve, as seen in the direction of
                increasing u.
        """

    def stop(
        self,
        name: str,
        output: Any,
        *,
        restitution: Number = 0.0,
        stiffness: Number = None,
        exponent: Number = None,
        damping: Number = 0.0,
        law: str = "hunt-crossley",
        least_impact_speed: Number = 0.001,
        friction: Number = 0.0,
        static_friction: Number = None,
        friction_law: str = "coulomb",
        slip_velocity: Number = 0.001,
        lower: Number = None,
        upper: Number = None,
        slip: Any = None,
    ) -> Stop:
        """Limits of a scalar output: an angle, a displacement, a distance, or any function of positions.

        Example: `m.stop("end", lambda s: s.displacement("guide"), lower=0.0, upper=0.1, restitution=0.5)`.

        Args:
            name: its name.
            restitution: Coefficient of restitution, for rigid surfaces and for the law "lankarani-
                nikravesh".
            stiffness: Stiffness K of compliant surfaces. Without a stiffness, the surfaces are
                rigid (N/m).
            exponent: Exponent n of compliant surfaces. By default, it is 1.5 for "lankarani-
                nikravesh" and 1 for the other laws.
            damping: Damping of compliant surfaces: D (s/m) for "hunt-crossley", C (N·s/m) for
                "kelvin-voigt".
            law: Force law of compliant surfaces: "hunt-crossley", "kelvin-voigt" or "lankarani-
                nikravesh".
            least_impact_speed: Lower bound of the impact speed in the law "lankarani-nikravesh",
                also for surfaces that overlap initially (m/s).
            friction: Sliding friction coefficient.
            static_friction: Static friction coefficient; the sliding coefficient if not given.
            friction_law: Friction law: "coulomb", with sticking and sliding, or one of the smooth
                laws "tanh", "stribeck" and "brown-mcphee".
            slip_velocity: Characteristic velocity of a smooth friction law (m/s).
            output: Limited output: a function of positions and time, or a string with such an
                expression.
            lower: Smallest value of the output.
            upper: Largest value of the output.
            slip: Slip velocity that friction opposes: a function linear in the velocities (m/s).
        """

    def contact(
        self,
        name: str,
        first: PointLike,
        second: PointLike,
        *,
        restitution: Number = 0.0,
        stiffness: Number = None,
        exponent: Number = None,
        damping: Number = 0.0,
        law: str = "hunt-crossley",
        least_impact_speed: Number = 0.001,
        friction: Number = 0.0,
        static_friction: Number = None,
        friction_law: str = "coulomb",
        slip_velocity: Number = 0.001,
        radius: Number = 0.0,
        also: Sequence[PointLike] = (),
        box: Vector | None = None,
        normal: Vector | None = None,
        second_radius: Number = None,
        inside: bool = False,
        to: PointLike | None = None,
        arc: Vector | None = None,
        arc_radius: Number = None,
    ) -> ContactPair:
        """Contact between two bodies: points, circles or spheres of the first body against a line or plane,
        a circle or sphere (outside or inside), a capsule or an arc of the second body.

        A ball on the floor: `m.contact("floor", "ball.C", "ground.O", radius=0.1, normal=(0, 1))`.
        Two balls: `m.contact("hit", "a.C", "b.C", radius=0.1, second_radius=0.1)`.
        A pin in a bore: `m.contact("bore", "pin.C", "plate.H", second_radius=0.01, inside=True)`.
        A box on the floor: `m.contact("floor", "box.C", "ground.O", box=(0.4, 0.2), normal=(0, 1))`.

        Args:
            name: its name.
            restitution: Coefficient of restitution, for rigid surfaces and for the law "lankarani-
                nikravesh".
            stiffness: Stiffness K of compliant surfaces. Without a stiffness, the surfaces are
                rigid (N/m).
            exponent: Exponent n of compliant surfaces. By default, it is 1.5 for "lankarani-
                nikravesh" and 1 for the other laws.
            damping: Damping of compliant surfaces: D (s/m) for "hunt-crossley", C (N·s/m) for
                "kelvin-voigt".
            law: Force law of compliant surfaces: "hunt-crossley", "kelvin-voigt" or "lankarani-
                nikravesh".
            least_impact_speed: Lower bound of the impact speed in the law "lankarani-nikravesh",
                also for surfaces that overlap initially (m/s).
            friction: Sliding friction coefficient.
            static_friction: Static friction coefficient; the sliding coefficient if not given.
            friction_law: Friction law: "coulomb", with sticking and sliding, or one of the smooth
                laws "tanh", "stribeck" and "brown-mcphee".
            slip_velocity: Characteristic velocity of a smooth friction law (m/s).
            first: Point of the first body, or the centre of its circle, sphere or box.
            second: Point of the second body: a point on its line or plane, a centre, or an end of a
                capsule.
            radius: Radius around the first point; 0 for a corner (m).
            also: Further points of the first body with the same radius: corners, or ends of a
                capsule.
            box: Side lengths, along the axes of the first body, of a rectangle or box centred at
                the first point. Its corners make contact (m).
            normal: Outward normal of the second body's line or plane, in its frame.
            second_radius: Radius around the second point, or around the rod of a capsule or arc
                (m).
            inside: Whether the first body is inside the second circle or sphere.
            to: Other end of the second body's capsule, whose first end is the second point.
            arc: First and last angle of an arc around the second point, in the second body's frame
                (planar models only) (rad).
            arc_radius: Radius of the middle line of the arc (m).
        """

    def clearance_joint(
        self,
        name: str,
        first: PointLike,
        second: PointLike,
        *,
        restitution: Number = 0.0,
        stiffness: Number = None,
        exponent: Number = None,
        damping: Number = 0.0,
        law: str = "hunt-crossley",
        least_impact_speed: Number = 0.001,
        friction: Number = 0.0,
        static_friction: Number = None,
        friction_law: str = "coulomb",
        slip_velocity: Number = 0.001,
        clearance: Number,
        axis: Vector | None = None,
        pin_radius: Number = 0.0,
    ) -> ClearanceJoint:
        """A joint with clearance. In planar models, it is a pin in a bore or, if an axis is given, a block
        in a slot along this axis; in spatial models, it is a ball in a socket.

        Like any other number of the model, the clearance may be a parameter with a tolerance.

        Args:
            name: its name.
            restitution: Coefficient of restitution, for rigid surfaces and for the law "lankarani-
                nikravesh".
            stiffness: Stiffness K of compliant surfaces. Without a stiffness, the surfaces are
                rigid (N/m).
            exponent: Exponent n of compliant surfaces. By default, it is 1.5 for "lankarani-
                nikravesh" and 1 for the other laws.
            damping: Damping of compliant surfaces: D (s/m) for "hunt-crossley", C (N·s/m) for
                "kelvin-voigt".
            law: Force law of compliant surfaces: "hunt-crossley", "kelvin-voigt" or "lankarani-
                nikravesh".
            least_impact_speed: Lower bound of the impact speed in the law "lankarani-nikravesh",
                also for surfaces that overlap initially (m/s).
            friction: Sliding friction coefficient.
            static_friction: Static friction coefficient; the sliding coefficient if not given.
            friction_law: Friction law: "coulomb", with sticking and sliding, or one of the smooth
                laws "tanh", "stribeck" and "brown-mcphee".
            slip_velocity: Characteristic velocity of a smooth friction law (m/s).
            first: Centre of the bore, or a point on the centreline of the slot.
            second: Centre of the pin, ball or block.
            clearance: Radial clearance, or the clearance on either side of a block (m).
            axis: Direction of the slot in the first body's frame; omit it for a bore or socket.
            pin_radius: Radius of the pin, at which friction acts (m).
        """

    def dry_friction(
        self,
        name: str,
        rate: Any,
        *,
        sliding: Number,
        static: Number = None,
        law: str = "coulomb",
        slip_velocity: Number = 0.001,
        bristle_stiffness: Number = 100000.0,
        bristle_damping: Number = 0.0,
    ) -> DryFriction:
        """Dry friction that opposes a rate: that of a joint angle, displacement or distance, or any
        expression that is linear in the velocities.

        Example: `m.dry_friction("rub", lambda s: s.displacement_rate("guide"), sliding=2.0, static=2.5)`.

        Args:
            name: its name.
            rate: Rate that friction opposes, linear in the velocities.
            sliding: Sliding friction: a force (N), or a torque (N·m) for an angular rate.
            static: Largest friction force or torque during sticking; equal to `sliding` if not
                given.
            law: Friction law: "coulomb", with sticking and sliding; one of the smooth laws "tanh",
                "stribeck" and "brown-mcphee"; or "lugre".
            slip_velocity: Characteristic rate of the transition to sliding, for the smooth laws and
                LuGre.
            bristle_stiffness: Bristle stiffness σ₀ of the LuGre law.
            bristle_damping: Bristle damping σ₁ of the LuGre law.
        """

    def mode(self, name: str, *, initial: Number = 0.0) -> Mode:
        """A number that only events change: whether a motor is on, which spring acts, the force of a
        latch.

        Forces and objectives refer to it as `s.mode("motor")`, strings as `mode('motor')`.

        Args:
            name: its name.
            initial: Initial value.
        """

    def state(
        self, name: str, *, rate: Any, initial: Number = 0.0, unit: str = "1", size: Number = 1.0
    ) -> StateElement:
        """A scalar variable with its own rate equation: an integral, a temperature, a filtered value.

        Forces and objectives refer to it as `s.state("heat")`, strings as `state('heat')`. Example:
        `m.state("heat", rate=lambda s: s.parameter("R") * s.state("current") ** 2, unit="J")`.

        Args:
            name: its name.
            rate: Time derivative: a number, a function of the state, or a string with an expression
                in t and the state. It may use this state and any other states and signals, even if
                they are defined later.
            initial: Initial value.
            unit: Unit of the state.
            size: Typical value, for the error control.
        """

    def signal(self, name: str, input: Any, *, unit: str = "1") -> Signal:
        """A named expression of the state: a target, an error, a measured value.

        Example: `m.signal("error", lambda s: 0.5 - s.angle("J"))`. Other functions refer to it as
        `s.signal("error")`, strings as `signal('error')`.

        Args:
            name: its name.
            input: Input: a number, a function of the state, or a string with an expression in t and
                the state. It may use any signals and states, even if they are defined later.
            unit: Unit of the output.
        """

    def lag(
        self,
        name: str,
        input: Any,
        *,
        unit: str = "1",
        initial: Number = 0.0,
        size: Number = 1.0,
        time_constant: Number,
        gain: Number = 1.0,
    ) -> Lag:
        """A first-order lag (low-pass filter): k/(T s + 1).

        `m.lag("measured", lambda s: s.angle("J"), time_constant=0.01)`.

        Args:
            name: its name.
            input: Input: a number, a function of the state, or a string with an expression in t and
                the state. It may use any signals and states, even if they are defined later.
            unit: Unit of the output.
            initial: Initial output, as if the output had been constant before the run.
            size: Typical value of the output, for the error control.
            time_constant: Time constant T (s).
            gain: Static gain k.
        """

    def lead(
        self,
        name: str,
        input: Any,
        *,
        unit: str = "1",
        initial: Number = 0.0,
        size: Number = 1.0,
        lead_time: Number,
        lag_time: Number,
        gain: Number = 1.0,
    ) -> Lead:
        """A lead compensator, k (T₁ s + 1)/(T₂ s + 1). With T₂ > T₁, it is a lag compensator.

        Args:
            name: its name.
            input: Input: a number, a function of the state, or a string with an expression in t and
                the state. It may use any signals and states, even if they are defined later.
            unit: Unit of the output.
            initial: Initial output, as if the output had been constant before the run.
            size: Typical value of the output, for the error control.
            lead_time: Time constant T₁ of the numerator (s).
            lag_time: Time constant T₂ of the denominator (s).
            gain: Static gain k.
        """

    def transfer_function(
        self,
        name: str,
        input: Any,
        numerator: Sequence[Number],
        denominator: Sequence[Number],
        *,
        unit: str = "1",
        initial: Number = 0.0,
        size: Number = 1.0,
    ) -> TransferFunction:
        """A rational transfer function, defined by its coefficients, highest power of s first.

        Example: `m.transfer_function("notch", lambda s: s.signal("error"), [1, 0, 100], [1, 4, 100])`.

        Args:
            name: its name.
            input: Input: a number, a function of the state, or a string with an expression in t and
                the state. It may use any signals and states, even if they are defined later.
            unit: Unit of the output.
            initial: Initial output, as if the output had been constant before the run.
            size: Typical value of the output, for the error control.
            numerator: Coefficients of the numerator, highest power of s first.
            denominator: Coefficients of the denominator, highest power of s first. Its degree must
                be at least that of the numerator.
        """

    def state_space(
        self,
        name: str,
        input: Any,
        A: Sequence[Sequence[Number]] | None,
        B: Sequence[Sequence[Number]] | None,
        C: Sequence[Sequence[Number]] | None,
        D: Sequence[Sequence[Number]] | None = None,
        *,
        unit: str = "1",
        initial: Sequence[Number] = (0.0,),
        size: Number = 1.0,
    ) -> StateSpace:
        """A linear state-space model with any number of inputs and outputs: an observer, filter or
        controller.

        A single output is the signal `name`; several outputs are `name [0]`, `name [1]`, …. The states are
        `name state 0`, `name state 1`, ….

        Args:
            name: its name.
            input: Inputs u: a function of the state, a string with an expression in t and the
                state, or a list of these. They may use any signals and states, even if they are
                defined later.
            unit: Unit of the output.
            A: State matrix A, as rows of numbers.
            B: Input matrix B, with a column for each input.
            C: Output matrix C, with a row for each output.
            D: Feedthrough matrix D; zero if not given.
            initial: Initial states; zero if not given.
            size: Typical value of the states, for the error control.
        """

    def pid(
        self,
        name: str,
        input: Any,
        *,
        unit: str = "1",
        kp: Number,
        ki: Number = 0.0,
        kd: Number = 0.0,
        filter_time: Number = None,
        low: Number = None,
        high: Number = None,
        tracking_time: Number = None,
        initial: Number = 0.0,
        initial_input: Number = 0.0,
        size: Number = 1.0,
    ) -> Pid:
        """A PID controller with output limits and anti-windup by back-calculation. Its input is the error.

        Example: `m.pid("controller", lambda s: 0.5 - s.angle("J"), kp=40, ki=20, kd=5, low=-10, high=10)`.

        Args:
            name: its name.
            input: Input: a number, a function of the state, or a string with an expression in t and
                the state. It may use any signals and states, even if they are defined later.
            unit: Unit of the output.
            kp: Proportional gain.
            ki: Integral gain (per second); the number 0 omits the integral.
            kd: Derivative gain (seconds); the number 0 omits the derivative.
            filter_time: Time constant of the filtered derivative. If not given, the derivative is
                exact, and the input must depend on positions and time only (s).
            low: Lower limit of the output; no limit if not given.
            high: Upper limit of the output; no limit if not given.
            tracking_time: Time constant of back-calculation while the output is limited; kp/ki if
                not given (s).
            initial: Initial value of the integral, in the unit of the output.
            initial_input: Input before the start of the run. It is the initial state of the
                derivative filter.
            size: Typical value of the output, for the error control.
        """

    def rate_limit(
        self,
        name: str,
        input: Any,
        *,
        unit: str = "1",
        rising: Number,
        falling: Number = None,
        time_constant: Number,
        initial: Number = 0.0,
        size: Number = 1.0,
    ) -> RateLimit:
        """A signal that follows its input with a limited rate.

        Args:
            name: its name.
            input: Input: a number, a function of the state, or a string with an expression in t and
                the state. It may use any signals and states, even if they are defined later.
            unit: Unit of the output.
            rising: Largest rate of increase, per second.
            falling: Largest rate of decrease, per second, positive; the same as `rising` if not
                given.
            time_constant: Time constant T with which the output follows a slow input (s).
            initial: Initial output.
            size: Typical value of the output, for the error control.
        """

    def delay(
        self,
        name: str,
        input: Any,
        *,
        unit: str = "1",
        initial: Number = 0.0,
        size: Number = 1.0,
        time: Number,
        order: int = 2,
    ) -> Delay:
        """A constant delay of the input, by Padé's approximation. Use it for smooth inputs with
        frequencies ω below order / T.

        Args:
            name: its name.
            input: Input: a number, a function of the state, or a string with an expression in t and
                the state. It may use any signals and states, even if they are defined later.
            unit: Unit of the output.
            initial: Initial output, as if the output had been constant before the run.
            size: Typical value of the output, for the error control.
            time: Delay time T (s).
            order: Order n of the approximation, its number of states.
        """

    def sample_and_hold(
        self, name: str, input: Any, *, unit: str = "1", period: Number, size: Number = 1.0
    ) -> SampleAndHold:
        """A signal that samples its input at equal intervals and holds the value in between: a
        digital controller, or its measurements.

        Args:
            name: its name.
            input: Input: a number, a function of the state, or a string with an expression in t and
                the state. It may use any signals and states, even if they are defined later.
            unit: Unit of the output.
            period: Sampling interval T (s).
            size: Typical value of the output, for the error control.
        """

    def dc_motor(
        self,
        name: str,
        joint: Joint | Body | str,
        *,
        voltage: Any,
        resistance: Number,
        constant: Number,
        inductance: Number = 0.0,
        initial: Number = 0.0,
        size: Number = 1.0,
    ) -> DCMotor:
        """A direct-current motor with its electrical circuit, acting on the angle of a joint.

        The current is the signal `name current` and, with an inductance, also the state of this name.

        Args:
            name: its name.
            joint: Joint, or planar body, that the motor drives.
            voltage: Voltage U: a number, a function of the state, or a string with an expression in
                t and the state (V).
            resistance: Resistance R (ohm).
            constant: Motor constant k: torque per current, and voltage per speed (N·m/A).
            inductance: Inductance L. If it is the number 0, the current is not a state (H).
            initial: Initial current. Requires an inductance (A).
            size: Typical current, for the error control (A).
        """

    def servo(
        self,
        name: str,
        joint: Joint | Body | str,
        target: Any,
        *,
        kp: Number,
        ki: Number = 0.0,
        kd: Number = 0.0,
        limit: Number = None,
        tracking_time: Number = None,
        target_rate: Any = None,
    ) -> Servo:
        """A position-controlled actuator with a limit: a PID law computes a torque on an angle, or a force
        on a displacement.

        The torque or force is the signal `name`; the integral of the PID law is the state `name integral`.

        Args:
            name: its name.
            joint: Rotating or sliding joint, or planar body, that the servo moves.
            target: Target value (rad or m): a number, a function of the state, or a string with an
                expression in t and the state.
            kp: Proportional gain: torque or force per error.
            ki: Integral gain; the number 0 omits the integral.
            kd: Derivative gain; the number 0 omits the derivative.
            limit: Largest torque (N·m) or force (N), in both directions; unlimited if not given.
            tracking_time: Time constant of back-calculation while the output is limited; kp/ki if
                not given (s).
            target_rate: Rate of the target. Give it if the target depends on velocities or states;
                otherwise, the exact derivative of the target is used.
        """

    def event(self, name: str, when: Any, *, direction: str = "both", do: Any = None) -> Event:
        """An action when a function of the state vanishes: modes change, speeds or states are reset, the run
        ends, or only the time is recorded.

        `m.event("switch off", lambda s: s.angle("A") - 1.0, direction="rising", do={"motor": 0})` sets a mode
        to a number, and `do={"motor": F / 2}` to an expression. `do={"guide": lambda s: -0.5 *
        s.displacement_rate("guide")}` resets the speed of a joint. `do="stop"` ends the run.

        Args:
            name: its name.
            when: Function that vanishes at the event: a function of the state, or a string with an
                expression in t and the state. It may depend on reactions.
            direction: Sign change that triggers the event: "rising", "falling" or "both".
            do: Action: "stop", or a dictionary of new values. Its keys are names of modes, of
                states of elements, or of joints and planar bodies, whose speeds are set. Its values
                are numbers, expressions or functions of the state. Without an action, only the time
                is recorded.
        """

    def drive_angle(self, name: str, turn: Joint | Body | str, motion: Any) -> DriveAngle:
        """Prescribe the angle of a joint or of a planar body as a function of time:
        `m.drive_angle("motor", "crank", lambda t: 6*t)`.

        Args:
            name: its name.
            turn: Rotating joint, or planar body.
            motion: Prescribed angle: a function of t, or an expression in t (rad).
        """

    def drive_displacement(self, name: str, joint: Joint | str, motion: Any) -> DriveDisplacement:
        """Prescribe the displacement of a sliding joint as a function of time.

        Args:
            name: its name.
            joint: Sliding joint.
            motion: Prescribed displacement: a function of t, or an expression in t (m).
        """

    def drive_distance(
        self, name: str, first: PointLike, second: PointLike, motion: Any
    ) -> DriveDistance:
        """Prescribe the distance between two points as a function of time.

        Args:
            name: its name.
            first: One point.
            second: The other point.
            motion: Prescribed distance, positive: a function of t, or an expression in t (m).
        """

    def drive_pose(self, name: str, point: PointLike, position: Any, orientation: Any) -> DrivePose:
        """Prescribe the position of a point and the orientation of its body as functions of time.

        Example: `m.drive_pose("hand", "gripper.P", lambda s: (s.time, 0.2), lambda s: 0.5 * s.time)`. The
        required force and torque are outputs: `effort("hand.x")`, … and, in the plane,
        `effort("hand.torque")` or, in space, `effort("hand.torque_x")`, ….

        Args:
            name: its name.
            point: Point whose position is prescribed. The orientation of its body is prescribed,
                too.
            position: Position of the point in global components: a function of s.time, or strings
                in t (m).
            orientation: Orientation of the body: a function of s.time, or strings in t. In the
                plane, it is the angle; in space, roll, pitch and yaw about the global x, y and z
                axes, in this order (rad).
        """

    def drive_coordinate(
        self, name: str, point: PointLike, direction: Vector, motion: Any
    ) -> DriveCoordinate:
        """Prescribe the component of a point's position along a global direction as a function of time.

        Args:
            name: its name.
            point: Point whose position is driven.
            direction: Direction, in global components.
            motion: Prescribed component: a function of t, or an expression in t (m).
        """
