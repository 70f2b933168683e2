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
from .clamp import Clamp
from .clearance_joint import ClearanceJoint
from .constraint import Equation
from .contact import ContactPair
from .cylindrical import Cylindrical
from .damper import Damper
from .distance import DistanceJoint
from .drive_angle import DriveAngle
from .drive_coordinate import DriveCoordinate
from .drive_displacement import DriveDisplacement
from .drive_distance import DriveDistance
from .dry_friction import DryFriction
from .event import Event
from .fixed import Fixed
from .force import PointForce
from .gear import Gear
from .mode import Mode
from .planar import Planar
from .point_on_line import PointOnLine
from .point_on_plane import PointOnPlane
from .prismatic import Prismatic
from .revolute import Revolute
from .rolling import Rolling
from .screw import Screw
from .spherical import Spherical
from .spring import Spring
from .stop import Stop
from .torque import Torque
from .torsional_spring import TorsionalDamper, TorsionalSpring
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
        mass: Number,
        com: Number = None,
        inertia: Number = None,
        radius: Number = 0.0,
        points: Mapping[str, Vector] | None = None,
        floating: bool = False,
    ) -> RigidBody:
        """A straight bar along its own x axis, with a named point at each end.

        Args:
            name: its name.
            start: Name of the point at its origin.
            end: Name of the point at x = length.
            length: Length (m).
            mass: Mass (kg).
            com: Distance of the centre of mass from `start`; half the length if not given (m).
            inertia: About the centre of mass; that of a uniform bar if not given (m L²/12; in space
                a solid cylinder) (kg·m²).
            radius: Radius of that cylinder (spatial bars only) (m).
            points: Further named points (m).
            floating: True for a bar that is meant to have no path of joints to the ground.
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
                cantilevers are within 2.3 % with 8 and 0.2 % with 32, those of beams clamped at
                both ends within 9 % and 0.6 %; no two segments may come to fold by more than 90°.
            E: Young's modulus (Pa).
            area: Of the cross-section (m²).
            inertia: Second moment of area for bending (in space the same in all directions) (m⁴).
            section: Area and inertia together, such as `varimech.circle(0.01)`, `tube`, `rectangle`
                or `square`.
            density: Density; the mass is density × area × natural_length. Or give: (kg/m³).
            mass: Mass of the whole beam (kg).
            length: Length of the straight beam at the start (m).
            natural_length: Length of the unstressed beam; that at the start if not given. Two
                parameters for the two lengths tell apart what a change of the geometry does
                (`length`) and what a change of the unstressed length alone (`natural_length`) (m).
            shape: Of a curved beam instead of `length`: a function from s in [0, 1] to a place,
                such as `lambda s: (s, 0.1 * s * (1 - s))` or the texts ("s", "0.1*s*(1 - s)"), or
                one place for each node (m, in a frame of the beam's own). It is the unstressed
                shape too (scaled, if natural_length is given).
            material: How it stretches, "logarithmic" or "linear" in the stretch.
            masses: "consistent" (exact for rigid motions) or "lumped" at the nodes.
            damping: (γ, β), after Rayleigh: −γ M v (1/s) on all masses, and β (s) times the rates
                of stretching and bending, clamps included, with the stiffness of each; small
                vibrations of frequency ω are damped by γ/(2ω) + βω/2 of the critical.
            floating: True for a beam that is meant to have no path of joints to the ground.
        """

    def body(
        self,
        name: str,
        *,
        mass: Number,
        inertia: Number,
        com: Vector = None,
        points: Mapping[str, Vector] | None = None,
        floating: bool = False,
        spine: tuple[str, ...] | None = None,
    ) -> RigidBody:
        """A rigid body.

        Args:
            name: its name.
            mass: Mass (kg).
            inertia: About the centre of mass: a number (planar); three principal values or a 3×3
                matrix in body axes (spatial) (kg·m²).
            com: Centre of mass in the body's frame; its origin if not given. It is also the point
                'com' (m).
            points: Named points in the body's frame (m).
            floating: True for a body that is meant to have no path of joints to the ground.
            spine: Points to join by a line in drawings; all of them if not given.
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
            first: Point of the first body; without points, two bodies that have one of the joint's
                name are joined.
            second: Point of the second body, on which the reaction acts.
            friction: Sliding friction coefficient; the load is the force of the joint across its
                motion.
            static_friction: Static friction coefficient, that of sliding if not given.
            friction_law: Friction that sticks and slides ("coulomb"), or a smooth law.
            slip_velocity: Rate (m/s or rad/s) of a smooth friction law.
            friction_radius: Radius of the pin or ball, at which friction acts (m).
            axis: Direction of the axis in the first body's frame; in space only.
            axis_on_second: The same direction in the second body's frame; the same components if
                not given (the angle is then zero where the bodies are aligned).
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
            first: Point of the first body; without points, two bodies that have one of the joint's
                name are joined.
            second: Point of the second body, on which the reaction acts.
            friction: Sliding friction coefficient; the load is the force of the joint across its
                motion.
            static_friction: Static friction coefficient, that of sliding if not given.
            friction_law: Friction that sticks and slides ("coulomb"), or a smooth law.
            slip_velocity: Rate (m/s or rad/s) of a smooth friction law.
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
            first: Point of the first body; without points, two bodies that have one of the joint's
                name are joined.
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
            first: Point of the first body; without points, two bodies that have one of the joint's
                name are joined.
            second: Point of the second body, on which the reaction acts.
            friction: Sliding friction coefficient; the load is the force of the joint across its
                motion.
            static_friction: Static friction coefficient, that of sliding if not given.
            friction_law: Friction that sticks and slides ("coulomb"), or a smooth law.
            slip_velocity: Rate (m/s or rad/s) of a smooth friction law.
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
            first: Point of the first body; without points, two bodies that have one of the joint's
                name are joined.
            second: Point of the second body, on which the reaction acts.
            length: The distance (m).
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
            first: Point of the first body; without points, two bodies that have one of the joint's
                name are joined.
            second: Point of the second body, on which the reaction acts.
            friction: Sliding friction coefficient; the load is the force of the joint across its
                motion.
            static_friction: Static friction coefficient, that of sliding if not given.
            friction_law: Friction that sticks and slides ("coulomb"), or a smooth law.
            slip_velocity: Rate (m/s or rad/s) of a smooth friction law.
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
            first: Point of the first body; without points, two bodies that have one of the joint's
                name are joined.
            second: Point of the second body, on which the reaction acts.
            friction: Sliding friction coefficient; the load is the force of the joint across its
                motion.
            static_friction: Static friction coefficient, that of sliding if not given.
            friction_law: Friction that sticks and slides ("coulomb"), or a smooth law.
            slip_velocity: Rate (m/s or rad/s) of a smooth friction law.
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
            first: Point of the first body; without points, two bodies that have one of the joint's
                name are joined.
            second: Point of the second body, on which the reaction acts.
            friction: Sliding friction coefficient; the load is the force of the joint across its
                motion.
            static_friction: Static friction coefficient, that of sliding if not given.
            friction_law: Friction that sticks and slides ("coulomb"), or a smooth law.
            slip_velocity: Rate (m/s or rad/s) of a smooth friction law.
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
            first: Point of the first body; without points, two bodies that have one of the joint's
                name are joined.
            second: Point of the second body, on which the reaction acts.
            friction: Sliding friction coefficient; the load is the force of the joint across its
                motion.
            static_friction: Static friction coefficient, that of sliding if not given.
            friction_law: Friction that sticks and slides ("coulomb"), or a smooth law.
            slip_velocity: Rate (m/s or rad/s) of a smooth friction law.
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
            first: Point of the first body; without points, two bodies that have one of the joint's
                name are joined.
            second: Point of the second body, on which the reaction acts.
            friction: Sliding friction coefficient; the load is the force of the joint across its
                motion.
            static_friction: Static friction coefficient, that of sliding if not given.
            friction_law: Friction that sticks and slides ("coulomb"), or a smooth law.
            slip_velocity: Rate (m/s or rad/s) of a smooth friction law.
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
        """A nut on a thread (space): the bodies share a line, and a turn advances by the pitch.

        Args:
            name: its name.
            first: Point of the first body; without points, two bodies that have one of the joint's
                name are joined.
            second: Point of the second body, on which the reaction acts.
            friction: Sliding friction coefficient; the load is the force of the joint across its
                motion.
            static_friction: Static friction coefficient, that of sliding if not given.
            friction_law: Friction that sticks and slides ("coulomb"), or a smooth law.
            slip_velocity: Rate (m/s or rad/s) of a smooth friction law.
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
            first: Point of the first body; without points, two bodies that have one of the joint's
                name are joined.
            second: Point of the second body, on which the reaction acts.
            direction: Direction in which the beam (of a curved one, its tangent) leaves the clamp,
                in the first body's frame.
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
            natural_length: Length without force (m).
            damping: Force per rate (N·s/m).
        """

    def damper(self, name: str, first: PointLike, second: PointLike, *, damping: Number) -> Damper:
        """A linear damper between two points.

        Args:
            name: its name.
            first: Point at its first end.
            second: Point at its other end.
            damping: Force per rate (N·s/m).
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
            turn: Joint that turns, or planar body, on whose angle it acts.
            stiffness: Torque per angle (N·m/rad).
            rest_angle: Angle without torque, of any number of turns (rad).
            damping: Torque per rate (N·m·s/rad).
        """

    def torsional_damper(
        self, name: str, turn: Joint | Body | str, *, damping: Number
    ) -> TorsionalDamper:
        """A damper on the angle of a joint or of a planar body.

        Args:
            name: its name.
            turn: Joint that turns, or planar body, on whose angle it acts.
            damping: Torque per rate (N·m·s/rad).
        """

    def force(
        self, name: str, point: PointLike, value: Any, *, frame: str = "global"
    ) -> PointForce:
        """A force on a point: components, or a function of the state that returns them.

        A constant: `m.force("push", "rod.tip", (10, 0))`. Of time or state: `m.force("push", "rod.tip",
        lambda s: (vm.sin(s.time), 0))`.

        Args:
            name: its name.
            point: Point that it acts on.
            value: Components: numbers, or a function of the state (of t and the state as text) (N).
            frame: Along which axes the components are: "global", or "body" for those of the body.
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
            body: Body, or point of a beam, that it acts on.
            value: A number (plane) or components (space), or a function of the state (of t and the
                state as text) (N·m).
            against: Body that takes the opposite torque, as for a motor between two bodies.
            frame: Along which axes the components are: "global", or "body" for those of the body
                (space).
        """

    def gear(
        self,
        name: str,
        first: Joint | Body | str,
        second: Joint | Body | str,
        *,
        ratio: Number,
        phase: Number = 0.0,
    ) -> Gear:
        """A pair of gears, or a belt: the second angle is a multiple of the first, over any number of
        turns.

        Where the carrier of both joints turns, the pair is one of a planetary gear.

        Args:
            name: its name.
            first: Joint that turns, or planar body, whose angle is the first one.
            second: Joint that turns, or planar body, whose angle is the second one.
            ratio: Second angle per first one; negative for two gears that mesh outside.
            phase: Second angle where the first one is zero (rad).
        """

    def constraint(self, name: str, equations: Any, *, unit: str = "m") -> Equation:
        """Equations of positions, angles and time that hold along every motion.

        `m.constraint("pulley", lambda s: s.position("A")[1] + 2 * s.position("B")[1] + 3.0)`; several
        equations as a list. Angles count turns.

        Args:
            name: its name.
            equations: Function of the state that vanishes, or several of them in a list (of t and
                the state as text).
            unit: Unit of the equations, of velocities times seconds: "m" (forces in N), "rad" (N·m)
                or "1" (J).
        """

    def velocity_constraint(
        self, name: str, equations: Any, *, unit: str = "m"
    ) -> VelocityEquation:
        """Equations that are linear in the velocities and hold along every motion: blades, wheels, casters.

        `m.velocity_constraint("blade", lambda s: s.velocity("P")[1] * vm.cos(s.angle("sleigh")) -
        s.velocity("P")[0] * vm.sin(s.angle("sleigh")))`; several equations as a list.

        Args:
            name: its name.
            equations: Function of the state that vanishes, or several of them in a list (of t and
                the state as text).
            unit: Unit of the equations, of velocities times seconds: "m" (forces in N), "rad" (N·m)
                or "1" (J).
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
        """A wheel or disc that rolls on a line (plane) or on a plane (space) without slip.

        `m.rolling("road", "wheel.C", "ground.O", radius=0.3, normal=(0, 1))`; in space also the axis of
        the wheel, `axis=(0, 1, 0)`. The start gives the place and the angle of the wheel, and one of
        their speeds.

        Args:
            name: its name.
            first: Centre of the wheel.
            second: Point of the line or plane that it rolls on.
            radius: Radius of the wheel (m).
            normal: Normal of the line or plane, towards the wheel, in the second body's frame.
            axis: Axis of the wheel in its own frame (space).
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
            restitution: Speed after an impact over that before it, of rigid surfaces and of
                "lankarani-nikravesh".
            stiffness: K of compliant surfaces; rigid ones have none (N/m).
            exponent: n of compliant surfaces; 1.5 of "lankarani-nikravesh" and 1 of others if not
                given.
            damping: D (s/m) or C (N·s/m) of compliant surfaces.
            law: Law of compliant surfaces.
            least_impact_speed: Smallest impact speed of "lankarani-nikravesh", also of surfaces
                that overlap at the start (m/s).
            friction: Sliding friction coefficient.
            static_friction: Static friction coefficient, that of sliding if not given.
            friction_law: Friction that sticks and slides ("coulomb"), or a smooth law.
            slip_velocity: Velocity of a smooth friction law (m/s).
            output: Output that it limits: a function of positions (of t and the state as text).
            lower: Smallest value of the output.
            upper: Largest value of the output.
            slip: Velocity against which its friction acts: a function linear in velocities (m/s).
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
            restitution: Speed after an impact over that before it, of rigid surfaces and of
                "lankarani-nikravesh".
            stiffness: K of compliant surfaces; rigid ones have none (N/m).
            exponent: n of compliant surfaces; 1.5 of "lankarani-nikravesh" and 1 of others if not
                given.
            damping: D (s/m) or C (N·s/m) of compliant surfaces.
            law: Law of compliant surfaces.
            least_impact_speed: Smallest impact speed of "lankarani-nikravesh", also of surfaces
                that overlap at the start (m/s).
            friction: Sliding friction coefficient.
            static_friction: Static friction coefficient, that of sliding if not given.
            friction_law: Friction that sticks and slides ("coulomb"), or a smooth law.
            slip_velocity: Velocity of a smooth friction law (m/s).
            first: Point, or centre of the circle or sphere, of the first body.
            second: Point of the second body: on its line or plane, or a centre.
            radius: Radius around the first point; 0 for a corner (m).
            also: Further points of the first body with the same radius: corners, or ends of a
                capsule.
            box: Sides of a rectangle or box around the first point, along the axes of the first
                body, whose corners touch (m).
            normal: Outward normal of the second body's line or plane, in its frame.
            second_radius: Radius around the second point, or around the rod of a capsule or arc
                (m).
            inside: Whether the first body is inside the second circle or sphere.
            to: Other end of the second body's capsule, around the second point.
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
            restitution: Speed after an impact over that before it, of rigid surfaces and of
                "lankarani-nikravesh".
            stiffness: K of compliant surfaces; rigid ones have none (N/m).
            exponent: n of compliant surfaces; 1.5 of "lankarani-nikravesh" and 1 of others if not
                given.
            damping: D (s/m) or C (N·s/m) of compliant surfaces.
            law: Law of compliant surfaces.
            least_impact_speed: Smallest impact speed of "lankarani-nikravesh", also of surfaces
                that overlap at the start (m/s).
            friction: Sliding friction coefficient.
            static_friction: Static friction coefficient, that of sliding if not given.
            friction_law: Friction that sticks and slides ("coulomb"), or a smooth law.
            slip_velocity: Velocity of a smooth friction law (m/s).
            first: Centre of the bore, or a point on the middle line of the slot.
            second: Centre of the pin, ball or block.
            clearance: Radial clearance, or the clearance on either side (m).
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
            rate: Rate that it resists: linear in the velocities.
            sliding: Force (N), or torque (N·m) against an angular rate, when it slides.
            static: Largest force or torque when it sticks; that of sliding if not given.
            law: Friction that sticks and slides ("coulomb"), a smooth law, or "lugre".
            slip_velocity: Rate at which sliding begins, of smooth laws and of LuGre.
            bristle_stiffness: σ₀ of LuGre.
            bristle_damping: σ₁ of LuGre.
        """

    def mode(self, name: str, *, initial: Number = 0.0) -> Mode:
        """A number that only events change: whether a motor is on, which spring acts, the force of a
        latch.

        Forces and objectives use it as `s.mode("motor")`, in texts as `mode('motor')`.

        Args:
            name: its name.
            initial: Value at the start of a run.
        """

    def event(self, name: str, when: Any, *, direction: str = "both", do: Any = None) -> Event:
        """What happens where a function of the state vanishes: nothing but a note of the time, modes that
        change, speeds or states that are reset, or the end of the run.

        `m.event("switch off", lambda s: s.angle("A") - 1.0, direction="rising", do={"motor": 0})` sets a
        mode, `do={"motor": F / 2}` to an expression; `do={"guide": lambda s: -0.5 *
        s.displacement_rate("guide")}` resets the speed of a joint; `do="stop"` ends the run.

        Args:
            name: its name.
            when: Function of the state that vanishes (of t and the state as text); it may depend on
                reactions.
            direction: Whether it counts where the function is rising, falling or both.
            do: "stop", or new values by name: of modes, of states of elements, and of the speeds of
                joints and planar bodies (numbers, expressions or functions of the state); nothing
                if not given.
        """

    def drive_angle(self, name: str, turn: Joint | Body | str, motion: Any) -> DriveAngle:
        """Impose the angle of a joint or of a planar body as a function of time:
        `m.drive_angle("motor", "crank", lambda t: 6*t)`.

        Args:
            name: its name.
            turn: Joint that turns, or planar body.
            motion: The angle, an expression of t (rad).
        """

    def drive_displacement(self, name: str, joint: Joint | str, motion: Any) -> DriveDisplacement:
        """Impose the displacement of a joint that slides as a function of time.

        Args:
            name: its name.
            joint: Joint that slides.
            motion: The displacement, an expression of t (m).
        """

    def drive_distance(
        self, name: str, first: PointLike, second: PointLike, motion: Any
    ) -> DriveDistance:
        """Impose the distance of two points as a function of time.

        Args:
            name: its name.
            first: One point.
            second: The other point.
            motion: The distance, positive, an expression of t (m).
        """

    def drive_coordinate(
        self, name: str, point: PointLike, direction: Vector, motion: Any
    ) -> DriveCoordinate:
        """Impose the component of a point's position along a global direction as a function of time.

        Args:
            name: its name.
            point: Point whose position is driven.
            direction: Global direction.
            motion: The component, an expression of t (m).
        """
