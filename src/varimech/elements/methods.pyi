"""Types of the builder methods. Written by `python tools/write_elements.py` from the fields of the
elements; change those.
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
            start: Name of the point at its origin.
            end: Name of the point at x = length.
            length: Length (m).
            mass: Mass; not needed (or zero) for kinematics only (kg).
            com: Distance of the centre of mass from `start`; half the length if not given (m).
            inertia: Inertia about the centre of mass; that of a uniform bar if not given (m L²/12;
                in space a solid cylinder) (kg·m²).
            radius: Radius of that cylinder (spatial bars only) (m).
            points: Further named points (m).
            floating: True for a bar that no chain of joints connects to the ground.
            shape: Shape in solid views, one or several, such as `varimech.box((0.3, 0.04, 0.02),
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
        """A slender elastic beam, bending and stretching by any amount, with a named point at each end;
        without shear and torsion.

        Its ends are connected like those of bars: by revolute joints (spherical ones in space), or held
        in a direction by `clamp`. Between them it has nodes 'n1', 'n2', …, which forces, springs, joints
        and outputs can name like any other point ('name.n1'). At the start it has its unstressed shape;
        there it needs values as a bar would.

        Args:
            name: its name.
            from_: Name of the point at its first end.
            to: Name of the point at its other end.
            segments: Number of equal segments, 1 or more. Deflections of pinned beams and
                cantilevers are accurate to 2.3 % with 8 segments and 0.2 % with 32, those of beams
                clamped at both ends to 9 % and 0.6 %; adjacent segments must not fold by more than
                90°.
            E: Young's modulus (Pa).
            area: Area of the cross-section (m²).
            inertia: Second moment of area for bending (in space the same in all directions) (m⁴).
            section: Area and inertia together, such as `varimech.circle(0.01)`, `tube`, `rectangle`
                or `square`.
            density: Density, instead of `mass`, which is then density × area × natural_length
                (kg/m³).
            mass: Mass of the whole beam (kg).
            length: Initial length of the straight beam (m).
            natural_length: Length of the unstressed beam; the initial length if not given. Two
                parameters for the two lengths separate the effect of the geometry (`length`) from
                that of the unstressed length alone (`natural_length`) (m).
            shape: Shape of a curved beam, instead of `length`: a function from s in [0, 1] to a
                position, such as `lambda s: (s, 0.1 * s * (1 - s))` or the strings ("s", "0.1*s*(1
                - s)"), or one position for each node (m, in the beam's own frame). It is also the
                unstressed shape (scaled if natural_length is given).
            material: Stretching law, "logarithmic" or "linear" in the stretch.
            masses: Mass model: "consistent" (exact for rigid motions) or "lumped" at the nodes.
            damping: Rayleigh damping (γ, β): −γ M v (γ in 1/s) on all masses, and β (s) times the
                stiffness times the rates of stretching and bending, clamps included; small
                vibrations of angular frequency ω have a damping ratio of γ/(2ω) + βω/2.
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
            mass: Mass; not needed (or zero) for kinematics only (kg).
            inertia: Inertia about the centre of mass: a number (planar); three principal values or
                a 3×3 matrix in body axes (spatial). Required with a mass (kg·m²).
            com: Centre of mass in the body's frame; its origin if not given. It is also the point
                'com' (m).
            points: Named points in the body's frame (m).
            floating: True for a body that no chain of joints connects to the ground.
            spine: Points to join by a line in drawings; all of them if not given.
            shape: Shape in solid views, one or several, such as `varimech.box((0.1, 0.1, 0.3))`.
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
        """A hinge: two points coincide and, in space, share an axis.

        `revolute("A")` alone joins the two bodies that have a point called "A". The reaction is the
        force on the second body.

        Args:
            name: its name.
            first: Point of the first body. If both points are omitted, the joint connects the two
                bodies that have a point with the joint's name.
            second: Point of the second body, on which the reaction acts.
            friction: Sliding friction coefficient; the load is the joint force transverse to its
                motion.
            static_friction: Static friction coefficient; the sliding coefficient if not given.
            friction_law: Friction law: "coulomb", with sticking and sliding, or a smooth law.
            slip_velocity: Characteristic rate (m/s or rad/s) of a smooth friction law.
            friction_radius: Radius of the pin or ball, at which friction acts (m).
            axis: Direction of the axis in the first body's frame; in space only.
            axis_on_second: The same direction in the second body's frame; the same components if
                not given (the angle is then zero when the bodies are aligned).
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
        """A slider: the second point moves along a line of the first body, without turning.

        Args:
            name: its name.
            first: Point of the first body. If both points are omitted, the joint connects the two
                bodies that have a point with the joint's name.
            second: Point of the second body, on which the reaction acts.
            friction: Sliding friction coefficient; the load is the joint force transverse to its
                motion.
            static_friction: Static friction coefficient; the sliding coefficient if not given.
            friction_law: Friction law: "coulomb", with sticking and sliding, or a smooth law.
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
        """A weld: points coincide, and the second body keeps its orientation relative to the first.

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
        """The second point stays on the line through the first point.

        Args:
            name: its name.
            first: Point of the first body. If both points are omitted, the joint connects the two
                bodies that have a point with the joint's name.
            second: Point of the second body, on which the reaction acts.
            friction: Sliding friction coefficient; the load is the joint force transverse to its
                motion.
            static_friction: Static friction coefficient; the sliding coefficient if not given.
            friction_law: Friction law: "coulomb", with sticking and sliding, or a smooth law.
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
        """Two points keep a distance, like the ends of a massless rod.

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
        """A ball joint (space): two points coincide. Friction resists the angular velocity.

        Args:
            name: its name.
            first: Point of the first body. If both points are omitted, the joint connects the two
                bodies that have a point with the joint's name.
            second: Point of the second body, on which the reaction acts.
            friction: Sliding friction coefficient; the load is the joint force transverse to its
                motion.
            static_friction: Static friction coefficient; the sliding coefficient if not given.
            friction_law: Friction law: "coulomb", with sticking and sliding, or a smooth law.
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
        """A sleeve on a shaft (space): the bodies share a line, turn about it and slide along it.

        Args:
            name: its name.
            first: Point of the first body. If both points are omitted, the joint connects the two
                bodies that have a point with the joint's name.
            second: Point of the second body, on which the reaction acts.
            friction: Sliding friction coefficient; the load is the joint force transverse to its
                motion.
            static_friction: Static friction coefficient; the sliding coefficient if not given.
            friction_law: Friction law: "coulomb", with sticking and sliding, or a smooth law.
            slip_velocity: Characteristic rate (m/s or rad/s) of a smooth friction law.
            axis: Direction of the line in the first body's frame.
            axis_on_second: The same direction in the second body's frame; the same components if
                not given.
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
        """A Hooke joint (space): points coincide, an axis of each body stays at right angles to one of
        the other.

        Args:
            name: its name.
            first: Point of the first body. If both points are omitted, the joint connects the two
                bodies that have a point with the joint's name.
            second: Point of the second body, on which the reaction acts.
            friction: Sliding friction coefficient; the load is the joint force transverse to its
                motion.
            static_friction: Static friction coefficient; the sliding coefficient if not given.
            friction_law: Friction law: "coulomb", with sticking and sliding, or a smooth law.
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
        """A block on a table (space): the second point stays on the plane through the first one, and
        the bodies turn about its normal.

        Args:
            name: its name.
            first: Point of the first body. If both points are omitted, the joint connects the two
                bodies that have a point with the joint's name.
            second: Point of the second body, on which the reaction acts.
            friction: Sliding friction coefficient; the load is the joint force transverse to its
                motion.
            static_friction: Static friction coefficient; the sliding coefficient if not given.
            friction_law: Friction law: "coulomb", with sticking and sliding, or a smooth law.
            slip_velocity: Characteristic rate (m/s or rad/s) of a smooth friction law.
            normal: Normal of the plane in the first body's frame.
            normal_on_second: The same direction in the second body's frame; the same components if
                not given.
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
        """The second point stays on the plane through the first point (space).

        Args:
            name: its name.
            first: Point of the first body. If both points are omitted, the joint connects the two
                bodies that have a point with the joint's name.
            second: Point of the second body, on which the reaction acts.
            friction: Sliding friction coefficient; the load is the joint force transverse to its
                motion.
            static_friction: Static friction coefficient; the sliding coefficient if not given.
            friction_law: Friction law: "coulomb", with sticking and sliding, or a smooth law.
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
        """A nut on a thread (space): the bodies share an axis; one turn advances by the pitch.

        Args:
            name: its name.
            first: Point of the first body. If both points are omitted, the joint connects the two
                bodies that have a point with the joint's name.
            second: Point of the second body, on which the reaction acts.
            friction: Sliding friction coefficient of the thread; the load consists of the radial
                force and the normal force of the flank.
            static_friction: Static friction coefficient; the sliding coefficient if not given.
            friction_law: Friction law: "coulomb", with sticking and sliding, or a smooth law.
            slip_velocity: Characteristic rate (m/s or rad/s) of a smooth friction law.
            axis: Direction of the line in the first body's frame.
            axis_on_second: The same direction in the second body's frame; the same components if
                not given.
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
        """Hold an end of a beam (the second point) in place and in a direction, by a rigid body or the
        ground (the first point).

        At the start the beam has the direction, unless other values given there say otherwise.
        `reaction` and `reaction_torque` are those on the beam.

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
            first: Point at its first end.
            second: Point at its other end.
            stiffness: Force per elongation (N/m).
            natural_length: Length at zero force (m).
            damping: Force per rate of elongation (N·s/m).
        """

    def damper(self, name: str, first: PointLike, second: PointLike, *, damping: Number) -> Damper:
        """A linear damper between two points.

        Args:
            name: its name.
            first: Point at its first end.
            second: Point at its other end.
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
        """A spring, and optionally a damper, on the angle of a joint or of a planar body.

        The angle counts turns, so that it may be wound by any number of them.

        Args:
            name: its name.
            turn: Rotating joint, or planar body, on whose angle it acts.
            stiffness: Torque per angle (N·m/rad).
            rest_angle: Angle at zero torque, any number of turns (rad).
            damping: Torque per angular velocity (N·m·s/rad).
        """

    def torsional_damper(
        self, name: str, turn: Joint | Body | str, *, damping: Number
    ) -> TorsionalDamper:
        """A damper on the angle of a joint or of a planar body.

        Args:
            name: its name.
            turn: Rotating joint, or planar body, on whose angle it acts.
            damping: Torque per angular velocity (N·m·s/rad).
        """

    def force(
        self, name: str, point: PointLike, value: Any, *, frame: str = "global"
    ) -> PointForce:
        """A force on a point: components, or a function of the state that returns them.

        A constant: `m.force("push", "rod.tip", (10, 0))`. Of time or state: `m.force("push", "rod.tip",
        lambda s: (vm.sin(s.time), 0))`.

        Args:
            name: its name.
            point: Point of application.
            value: Components: numbers, or a function of the state (as a string, an expression of t
                and the state) (N).
            frame: Axes of the components: "global", or "body" for those of the body.
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
        """A torque on a body, or on a point of a beam: a number in the plane, components in space, or a
        function of the state.

        Beams have no torsion: in space what is along a beam does nothing to it.

        Args:
            name: its name.
            body: Body, or point of a beam, on which it acts.
            value: A number (plane) or components (space), or a function of the state (as a string,
                an expression of t and the state) (N·m).
            against: Body on which the opposite torque acts, as for a motor between two bodies.
            frame: Axes of the components: "global", or "body" for those of the body (space).
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
        """Springs and dampers along and about the axes of the first body, between a point of it and a
        point of another body.

        `m.bushing("mount", "frame.A", "engine.A", stiffness=(2e5, 2e5, 8e5), damping=(100, 100, 400))`.

        Args:
            name: its name.
            first: Point of the first body, whose axes the bushing uses.
            second: Point of the second body, on which the force acts.
            stiffness: Force per displacement along each axis of the first body (N/m).
            damping: Force per velocity along each axis (N·s/m).
            rotational_stiffness: Torque per angle about each axis; a number in the plane (N·m/rad).
            rotational_damping: Torque per angular velocity about each axis (N·m·s/rad).
            offset: Offset of the second point from the first at zero elastic force, along the axes
                of the first body (m).
            rotation: Orientation of the second body relative to the first at zero elastic torque:
                an angle in the plane, a matrix in space; aligned if not given.
            preload: Force on the second body at that offset, along the axes of the first (N).
            preload_torque: Torque on the second body at that orientation (N·m).
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
        """A pair of gears: the second angle is a multiple of the first, over any number of turns.

        `m.gear("mesh", "A", "B", teeth=(20, 40))`, or by pitch radii, or by their ratio with its sign.
        Where the carrier of both joints turns, the pair is one of a planetary gear.

        Args:
            name: its name.
            first: Rotating joint, or planar body, with the first angle.
            second: Rotating joint, or planar body, with the second angle.
            ratio: Ratio of the second angle to the first; negative for external gears.
            teeth: Numbers of teeth, instead of the ratio.
            radii: Pitch radii, instead of the ratio (m).
            mesh: Kind of mesh, with teeth or radii: "external" (parallel axes, opposite senses),
                "internal" (the second is the ring; same sense) or "crossed" (bevel and worm gears;
                angles increase together).
            phase: Second angle when the first is zero (rad).
            stiffness: Stiffness of a compliant mesh: torque on the second gear per angle of that
                gear; rigid if not given (N·m/rad).
            damping: Damping of a compliant mesh: torque on the second gear per rate of its angle
                (N·m·s/rad).
            backlash: Backlash: angle by which the second gear can turn freely; needs a stiffness
                (rad).
            damping_depth: Angle beyond the backlash at which damping is fully effective; 1e-4 rad
                if not given (rad).
            efficiency: Efficiency (output over input power), in (0, 1], whichever side drives;
                needs a stiffness.
            slip_velocity: Rate of the first angle below which losses fade out; 1e-3 rad/s if not
                given (rad/s).
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
        """A pinion and its rack: the displacement of one joint is the pitch radius times the angle of
        another, over any number of turns.

        `m.rack_and_pinion("steering", "column", "guide", radius=0.01)`. Also a drum and its rope, or a
        wheel and its toothed belt.

        Args:
            name: its name.
            pinion: Pinion: a rotating joint or planar body.
            rack: Rack: a sliding joint.
            radius: Pitch radius of the pinion (m).
            reverse: Whether the displacement decreases when the angle increases.
            offset: Displacement when the angle is zero (m).
            stiffness: Stiffness of a compliant mesh: force per displacement; rigid if not given
                (N/m).
            damping: Damping of a compliant mesh: force per velocity (N·s/m).
            backlash: Backlash: distance by which the rack can move freely; needs a stiffness (m).
            damping_depth: Distance beyond the backlash at which damping is fully effective; 1e-6 m
                if not given (m).
            efficiency: Efficiency (output over input power), in (0, 1], whichever side drives;
                needs a stiffness.
            slip_velocity: Rate of the first angle below which losses fade out; 1e-3 rad/s if not
                given (rad/s).
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
        """A belt or chain on two pulleys that do not slip, over any number of turns: rigid, or with
        elastic strands if a stiffness is given.

        `m.belt("drive", "A", "B", radii=(0.05, 0.1))`. Without a tension, an elastic belt is a chain:
        one strand pulls, the other one is slack.

        Args:
            name: its name.
            first: First pulley: a rotating joint or planar body.
            second: Second pulley: a rotating joint or planar body.
            radii: Pitch radii of both pulleys (m).
            crossed: Whether the strands cross, so that the pulleys turn in opposite senses.
            phase: Second angle when the first is zero (rad).
            stiffness: Stiffness of each strand: force per elongation; rigid if not given (N/m).
            damping: Damping of each strand: force per rate of elongation; needs a stiffness
                (N·s/m).
            tension: Pretension: tension of both strands at zero elongation; 0 if not given; needs a
                stiffness (N).
        """

    def constraint(self, name: str, equations: Any, *, unit: str = "m") -> Equation:
        """Equations of positions, angles and time that hold along every motion.

        `m.constraint("pulley", lambda s: s.position("A")[1] + 2 * s.position("B")[1] + 3.0)`; several
        equations as a list. Angles count turns.

        Args:
            name: its name.
            equations: Function of the state that must vanish (as a string, an expression of t and
                the state), or a list of several.
            unit: Unit of the equations (for velocity equations, their unit times s): "m" (forces in
                N), "rad" (N·m) or "1" (J).
        """

    def velocity_constraint(
        self, name: str, equations: Any, *, unit: str = "m"
    ) -> VelocityEquation:
        """Equations that are linear in the velocities and hold along every motion: blades, wheels, casters.

        `m.velocity_constraint("blade", lambda s: s.velocity("P")[1] * vm.cos(s.angle("sleigh")) -
        s.velocity("P")[0] * vm.sin(s.angle("sleigh")))`; several equations as a list.

        Args:
            name: its name.
            equations: Function of the state that must vanish (as a string, an expression of t and
                the state), or a list of several.
            unit: Unit of the equations (for velocity equations, their unit times s): "m" (forces in
                N), "rad" (N·m) or "1" (J).
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
        """A wheel or disc that rolls without slip on a line (plane) or on a plane (space).

        `m.rolling("road", "wheel.C", "ground.O", radius=0.3, normal=(0, 1))`; in space also the axis of
        the wheel, `axis=(0, 1, 0)`. Give initial values for the position and the angle of the wheel,
        but only one of the two speeds.

        Args:
            name: its name.
            first: Centre of the wheel.
            second: Point of the line or plane on which it rolls.
            radius: Radius of the wheel (m).
            normal: Normal of the line or plane, towards the wheel, in the second body's frame.
            axis: Axis of the wheel in its own frame (space).
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
        0)])`; expressions of a parameter: `curve=("cos(u)", "sin(u)"), interval=(0, 2 * pi), closed=True`.
        `state("wire parameter")` is the parameter. A run fails at the end of an open curve.

        Args:
            name: its name.
            point: Point that stays on the curve.
            body: Body to which the curve is fixed.
            curve: Points in the frame of that body, interpolated by a cubic spline (m); or the
                components as functions of the parameter u, in Python or as strings.
            closed: Whether the curve is closed.
            interval: First and last parameter of a curve given by expressions; the parameter of a
                spline is the cumulative length of its chords (m).
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
        """A cam (plane) with a knife-edge, roller or flat-faced follower, which slides or swings.

        `m.cam("cam", "shaft.O", "tappet.T", profile="0.02 + lift(u)", roller=0.008)` with a table `lift` that
        repeats; a flat face with its normal towards the cam: `face=(0, -1)`. Closed by form, or by force:
        `closure="force"` lets the follower lift off. `state("cam parameter")` is where it touches.

        Args:
            name: its name.
            restitution: Coefficient of restitution, for rigid surfaces and for "lankarani-
                nikravesh".
            stiffness: Stiffness K of compliant surfaces; rigid if not given (N/m).
            exponent: Exponent n of compliant surfaces; if not given, 1.5 for "lankarani-nikravesh"
                and 1 for other laws.
            damping: Damping D (s/m) or C (N·s/m) of compliant surfaces.
            law: Contact force law of compliant surfaces.
            least_impact_speed: Smallest impact speed for "lankarani-nikravesh", also for surfaces
                that overlap initially (m/s).
            friction: Sliding friction coefficient.
            static_friction: Static friction coefficient; the sliding coefficient if not given.
            friction_law: Friction law: "coulomb", with sticking and sliding, or a smooth law.
            slip_velocity: Characteristic velocity of a smooth friction law (m/s).
            closure: How contact is maintained: "form" (a constraint, such as a groove) or "force"
                (a contact, which can lift off).
            first: Point of the cam, the origin of the profile.
            second: Point of the follower: its edge, the centre of its roller, or a point on its
                face.
            profile: Distance from the cam's point as a function of the angle u in the cam's frame,
                in Python or as text (m); or points of the profile relative to that point,
                interpolated by a closed spline.
            profile_kind: Meaning of the function: "radius", the distance to the point at the angle
                u, or "support", the distance to the tangent line whose normal has the angle u,
                which is the lift of a flat face.
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
        """Two curves of two bodies that touch (plane): by form, or by force, so that they can separate.

        An ellipse on a line: `m.curve_contact("touch", "wheel.C", "ground.O", first_curve=("2*cos(u)",
        "sin(u)"), first_interval=(0, 2 * pi), first_closed=True, second_curve=[(0, 0), (9, 0)],
        second_side="right")`. `state("touch first parameter")` and `state("touch second parameter")` are where
        they touch. A run fails at the end of an open curve.

        Args:
            name: its name.
            restitution: Coefficient of restitution, for rigid surfaces and for "lankarani-
                nikravesh".
            stiffness: Stiffness K of compliant surfaces; rigid if not given (N/m).
            exponent: Exponent n of compliant surfaces; if not given, 1.5 for "lankarani-nikravesh"
                and 1 for other laws.
            damping: Damping D (s/m) or C (N·s/m) of compliant surfaces.
            law: Contact force law of compliant surfaces.
            least_impact_speed: Smallest impact speed for "lankarani-nikravesh", also for surfaces
                that overlap initially (m/s).
            friction: Sliding friction coefficient.
            static_friction: Static friction coefficient; the sliding coefficient if not given.
            friction_law: Friction law: "coulomb", with sticking and sliding, or a smooth law.
            slip_velocity: Characteristic velocity of a smooth friction law (m/s).
            closure: How contact is maintained: "form" (a constraint, such as a groove) or "force"
                (a contact, which can lift off).
            first: Point of the first body, the origin of its curve.
            second: Point of the second body, the origin of its curve.
            first_curve: Points of the first curve relative to that point, interpolated by a cubic
                spline (m); or its components as functions of the parameter u, in Python or as
                strings.
            second_curve: Points of the second curve relative to that point, interpolated by a cubic
                spline (m); or its components as functions of the parameter u, in Python or as
                strings.
            first_closed: Whether the first curve is closed.
            second_closed: Whether the second curve is closed.
            first_interval: First and last parameter of the first curve, if it is given by
                expressions.
            second_interval: First and last parameter of the second curve, if it is given by
                expressions.
            first_side: Side on which the first body lies: "inside" or "outside" a closed curve, to
                the "left" or "right" of an open one, seen along increasing u.
            second_side: Side on which the second body lies: "inside" or "outside" a closed curve,
                to the "left" or "right" of an open one, seen along increasing u.
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

        `m.stop("end", lambda s: s.displacement("guide"), lower=0.0, upper=0.1, restitution=0.5)`.

        Args:
            name: its name.
            restitution: Coefficient of restitution, for rigid surfaces and for "lankarani-
                nikravesh".
            stiffness: Stiffness K of compliant surfaces; rigid if not given (N/m).
            exponent: Exponent n of compliant surfaces; if not given, 1.5 for "lankarani-nikravesh"
                and 1 for other laws.
            damping: Damping D (s/m) or C (N·s/m) of compliant surfaces.
            law: Contact force law of compliant surfaces.
            least_impact_speed: Smallest impact speed for "lankarani-nikravesh", also for surfaces
                that overlap initially (m/s).
            friction: Sliding friction coefficient.
            static_friction: Static friction coefficient; the sliding coefficient if not given.
            friction_law: Friction law: "coulomb", with sticking and sliding, or a smooth law.
            slip_velocity: Characteristic velocity of a smooth friction law (m/s).
            output: Limited output: a function of positions (as a string, an expression of t and the
                state).
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
        """Contact between two bodies: points, circles or spheres of the first one against a line or plane,
        a circle or sphere, its inside, a capsule or an arc of the second one.

        A ball on the floor: `m.contact("floor", "ball.C", "ground.O", radius=0.1, normal=(0, 1))`; two
        balls: `m.contact("hit", "a.C", "b.C", radius=0.1, second_radius=0.1)`; a pin in a bore:
        `m.contact("bore", "pin.C", "plate.H", second_radius=0.01, inside=True)`; a box on the floor:
        `m.contact("floor", "box.C", "ground.O", box=(0.4, 0.2), normal=(0, 1))`.

        Args:
            name: its name.
            restitution: Coefficient of restitution, for rigid surfaces and for "lankarani-
                nikravesh".
            stiffness: Stiffness K of compliant surfaces; rigid if not given (N/m).
            exponent: Exponent n of compliant surfaces; if not given, 1.5 for "lankarani-nikravesh"
                and 1 for other laws.
            damping: Damping D (s/m) or C (N·s/m) of compliant surfaces.
            law: Contact force law of compliant surfaces.
            least_impact_speed: Smallest impact speed for "lankarani-nikravesh", also for surfaces
                that overlap initially (m/s).
            friction: Sliding friction coefficient.
            static_friction: Static friction coefficient; the sliding coefficient if not given.
            friction_law: Friction law: "coulomb", with sticking and sliding, or a smooth law.
            slip_velocity: Characteristic velocity of a smooth friction law (m/s).
            first: Point of the first body, or the centre of its circle, sphere or box.
            second: Point of the second body: a point on its line or plane, a centre, or an end of a
                capsule.
            radius: Radius around the first point; 0 for a corner (m).
            also: Further points of the first body with the same radius: corners, or ends of a
                capsule.
            box: Side lengths of a rectangle or box centred at the first point, along the axes of
                the first body, whose corners make contact (m).
            normal: Outward normal of the second body's line or plane, in its frame.
            second_radius: Radius around the second point, or around the rod of a capsule or arc
                (m).
            inside: Whether the first body is inside the second circle or sphere.
            to: Other end of the second body's capsule, which begins at the second point.
            arc: First and last angle of an arc around the second point, in the second body's frame
                (plane) (rad).
            arc_radius: Radius of the middle line of that arc (m).
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
        """A joint with clearance: a pin in a bore or a ball in a socket, or, with an axis, a block in a
        slot along it (plane).

        The clearance is a number of the model like all others: a parameter with a tolerance, say.

        Args:
            name: its name.
            restitution: Coefficient of restitution, for rigid surfaces and for "lankarani-
                nikravesh".
            stiffness: Stiffness K of compliant surfaces; rigid if not given (N/m).
            exponent: Exponent n of compliant surfaces; if not given, 1.5 for "lankarani-nikravesh"
                and 1 for other laws.
            damping: Damping D (s/m) or C (N·s/m) of compliant surfaces.
            law: Contact force law of compliant surfaces.
            least_impact_speed: Smallest impact speed for "lankarani-nikravesh", also for surfaces
                that overlap initially (m/s).
            friction: Sliding friction coefficient.
            static_friction: Static friction coefficient; the sliding coefficient if not given.
            friction_law: Friction law: "coulomb", with sticking and sliding, or a smooth law.
            slip_velocity: Characteristic velocity of a smooth friction law (m/s).
            first: Centre of the bore, or a point on the centreline of the slot.
            second: Centre of the pin, ball or block.
            clearance: Radial clearance, or the clearance on either side of a block (m).
            axis: Direction of the slot in the first body's frame; none for a bore.
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
        """Dry friction against a rate: of a joint's angle or displacement, of a distance, or of anything
        linear in the velocities.

        `m.dry_friction("rub", lambda s: s.displacement_rate("guide"), sliding=2.0, static=2.5)`.

        Args:
            name: its name.
            rate: Rate that friction resists, linear in the velocities.
            sliding: Friction force (N), or torque (N·m) for an angular rate, when it slides.
            static: Largest friction force or torque when it sticks; the sliding one if not given.
            law: Friction law: "coulomb", with sticking and sliding, a smooth law, or "lugre".
            slip_velocity: Rate at which sliding begins, for smooth laws and LuGre.
            bristle_stiffness: Bristle stiffness σ₀ of LuGre.
            bristle_damping: Bristle damping σ₁ of LuGre.
        """

    def mode(self, name: str, *, initial: Number = 0.0) -> Mode:
        """A number that only events change: whether a motor is on, which spring acts, the force of a
        latch.

        Forces and objectives use it as `s.mode("motor")`, in strings as `mode('motor')`.

        Args:
            name: its name.
            initial: Initial value.
        """

    def state(
        self, name: str, *, rate: Any, initial: Number = 0.0, unit: str = "1", size: Number = 1.0
    ) -> StateElement:
        """A scalar variable with its own rate equation: an integral, a temperature, a filtered value.

        Forces and objectives use it as `s.state("heat")`, in strings as `state('heat')`:
        `m.state("heat", rate=lambda s: s.parameter("R") * s.state("current") ** 2, unit="J")`.

        Args:
            name: its name.
            rate: Time derivative: a number, or a function of the state (as a string, an expression
                of t and the state), which may use the state itself, and states and signals defined
                later.
            initial: Initial value.
            unit: Unit of the state.
            size: Typical value, for the error control.
        """

    def signal(self, name: str, input: Any, *, unit: str = "1") -> Signal:
        """A named expression of the state: a target, an error, a measured value.

        `m.signal("error", lambda s: 0.5 - s.angle("J"))`; other functions use it as
        `s.signal("error")`, strings as `signal('error')`.

        Args:
            name: its name.
            input: Input: a number, or a function of the state (as a string, an expression of t and
                the state), which may use signals and states defined later.
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
            input: Input: a number, or a function of the state (as a string, an expression of t and
                the state), which may use signals and states defined later.
            unit: Unit of the output.
            initial: Initial output, as if it had been constant before.
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
        """A lead compensator (lag, if the second time constant is the longer one):
        k (T₁ s + 1)/(T₂ s + 1).

        Args:
            name: its name.
            input: Input: a number, or a function of the state (as a string, an expression of t and
                the state), which may use signals and states defined later.
            unit: Unit of the output.
            initial: Initial output, as if it had been constant before.
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
        """A rational transfer function by its coefficients, highest power of s first.

        `m.transfer_function("notch", lambda s: s.signal("error"), [1, 0, 100], [1, 4, 100])`.

        Args:
            name: its name.
            input: Input: a number, or a function of the state (as a string, an expression of t and
                the state), which may use signals and states defined later.
            unit: Unit of the output.
            initial: Initial output, as if it had been constant before.
            size: Typical value of the output, for the error control.
            numerator: Coefficients of the numerator, highest power of s first.
            denominator: Coefficients of the denominator, highest power of s first; at least as many
                as in the numerator.
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
        """Linear equations with any number of inputs and outputs: observers, filters, controllers.

        One output is the signal `name`; several are `name [0]`, `name [1]`, … States are `name state 0`,
        `name state 1`, …

        Args:
            name: its name.
            input: Inputs u: a function of the state (as a string, an expression of t and the
                state), or a list of several, which may use signals and states defined later.
            unit: Unit of the output.
            A: State matrix A, as rows of numbers.
            B: Input matrix B, a column for each input.
            C: Output matrix C, a row for each output.
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
        """A PID controller whose input is the error, with output limits and anti-windup by
        back-calculation.

        `m.pid("controller", lambda s: 0.5 - s.angle("J"), kp=40, ki=20, kd=5, low=-10, high=10)`.

        Args:
            name: its name.
            input: Input: a number, or a function of the state (as a string, an expression of t and
                the state), which may use signals and states defined later.
            unit: Unit of the output.
            kp: Proportional gain.
            ki: Integral gain (per second); the number 0 omits it.
            kd: Derivative gain (seconds); the number 0 omits it.
            filter_time: Time constant of the filtered derivative; if not given, the derivative of
                the input is exact, and the input must depend on positions and time only (s).
            low: Lower limit of the output; none if not given.
            high: Upper limit of the output; none if not given.
            tracking_time: Time constant of back-calculation while the output is limited; kp/ki if
                not given (s).
            initial: Initial value of the integral, in the unit of the output.
            initial_input: Input before the start, the initial state of the derivative filter.
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
        """A signal that follows its input no faster than at a given rate.

        Args:
            name: its name.
            input: Input: a number, or a function of the state (as a string, an expression of t and
                the state), which may use signals and states defined later.
            unit: Unit of the output.
            rising: Largest rising rate, per second.
            falling: Largest falling rate, per second, positive; the rising one if not given.
            time_constant: Time constant T with which it follows a slow input (s).
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
        """A delay of its input by a constant time, by Padé's approximation: for inputs that vary
        smoothly, slower than ω T = order.

        Args:
            name: its name.
            input: Input: a number, or a function of the state (as a string, an expression of t and
                the state), which may use signals and states defined later.
            unit: Unit of the output.
            initial: Initial output, as if it had been constant before.
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
            input: Input: a number, or a function of the state (as a string, an expression of t and
                the state), which may use signals and states defined later.
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
        """A direct-current motor with its circuit, on the angle of a joint.

        Its current is the signal `name current`, and with an inductance the state of this name.

        Args:
            name: its name.
            joint: Joint, or planar body, that it drives.
            voltage: Voltage U: a number, or a function of the state (as a string, an expression of
                t and the state) (V).
            resistance: Resistance R (ohm).
            constant: Motor constant k: torque per current, and voltage per speed (N·m/A).
            inductance: Inductance L; the number 0 omits it (H).
            initial: Initial current, with an inductance (A).
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
        """A position-controlled actuator: a torque on an angle, or a force on a displacement, by a PID
        law with a limit.

        The torque or force is the signal `name`, its integral the state `name integral`.

        Args:
            name: its name.
            joint: Rotating or sliding joint, or planar body, that it moves.
            target: Target value (rad or m): a number, or a function of the state (as a string, an
                expression of t and the state).
            kp: Proportional gain: torque or force per error.
            ki: Integral gain; the number 0 omits it.
            kd: Derivative gain; the number 0 omits it.
            limit: Largest torque (N·m) or force (N), in both directions; unlimited if not given.
            tracking_time: Time constant of back-calculation while the output is limited; kp/ki if
                not given (s).
            target_rate: Rate of the target, needed if it depends on velocities or states; otherwise
                its exact derivative.
        """

    def event(self, name: str, when: Any, *, direction: str = "both", do: Any = None) -> Event:
        """What happens where a function of the state vanishes: nothing but a note of the time, modes that
        change, speeds or states that are reset, or the end of the run.

        `m.event("switch off", lambda s: s.angle("A") - 1.0, direction="rising", do={"motor": 0})` sets a
        mode, `do={"motor": F / 2}` to an expression; `do={"guide": lambda s: -0.5 *
        s.displacement_rate("guide")}` resets the speed of a joint; `do="stop"` ends the run.

        Args:
            name: its name.
            when: Function of the state (as a string, an expression of t and the state) that
                vanishes at the event; it may depend on reactions.
            direction: Whether the event occurs where the function is rising, falling or both.
            do: "stop", or new values (numbers, expressions or functions of the state) by name, of
                modes, of states of elements, and of the speeds of joints and planar bodies; nothing
                if not given.
        """

    def drive_angle(self, name: str, turn: Joint | Body | str, motion: Any) -> DriveAngle:
        """Impose the angle of a joint or of a planar body as a function of time:
        `m.drive_angle("motor", "crank", lambda t: 6*t)`.

        Args:
            name: its name.
            turn: Rotating joint, or planar body.
            motion: The angle, as an expression of t (rad).
        """

    def drive_displacement(self, name: str, joint: Joint | str, motion: Any) -> DriveDisplacement:
        """Impose the displacement of a joint that slides as a function of time.

        Args:
            name: its name.
            joint: Sliding joint.
            motion: The displacement, as an expression of t (m).
        """

    def drive_distance(
        self, name: str, first: PointLike, second: PointLike, motion: Any
    ) -> DriveDistance:
        """Impose the distance of two points as a function of time.

        Args:
            name: its name.
            first: One point.
            second: The other point.
            motion: The distance, positive, as an expression of t (m).
        """

    def drive_pose(self, name: str, point: PointLike, position: Any, orientation: Any) -> DrivePose:
        """Impose the position of a point and the orientation of its body as functions of time.

        `m.drive_pose("hand", "gripper.P", lambda s: (s.time, 0.2), lambda s: 0.5 * s.time)`. The force
        and the torque that it takes are outputs: `effort("hand.x")`, …, `effort("hand.torque")` in the
        plane, `effort("hand.torque_x")`, … in space.

        Args:
            name: its name.
            point: Point whose position is prescribed, on the body whose orientation is prescribed.
            position: Its position in global components, as a function of s.time (as a string, an
                expression of t) (m).
            orientation: Orientation as a function of s.time (as a string, an expression of t): the
                angle in the plane; in space roll, pitch and yaw about the global x, y and z axes,
                in this order (rad).
        """

    def drive_coordinate(
        self, name: str, point: PointLike, direction: Vector, motion: Any
    ) -> DriveCoordinate:
        """Impose the component of a point's position along a global direction as a function of time.

        Args:
            name: its name.
            point: Point whose position is driven.
            direction: Global direction.
            motion: The component, as an expression of t (m).
        """
