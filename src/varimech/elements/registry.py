"""All kinds of elements: the built-in ones, and those that users register.

A registered kind has a builder method with its name (`m.screw(…)`) and an entry in model files and their
schema. Reports and all coordinates support it.
"""

from __future__ import annotations

import inspect
import keyword
from typing import TypeVar

from ..core.registry import Registry
from ..core.units import is_si
from ..model.body_element import BodyElement
from ..model.driver import Driver
from ..model.element import Element
from ..model.fields import Field, Motion
from ..model.force import Force, ForceLaw
from ..model.joint import SYMBOLS, Joint
from ..model.model_data import ModelData
from ..model.requirements import RULES
from ..model.signal_element import SignalElement
from ..model.trial import guard, signature_faults
from .bar import Bar
from .beam import BeamElement
from .belt import Belt
from .body import RigidBodyElement
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

E = TypeVar("E", bound=type[Element])
BUILT_IN: tuple[type[Element], ...] = (
    Bar,
    BeamElement,
    RigidBodyElement,
    Revolute,
    Prismatic,
    Fixed,
    PointOnLine,
    DistanceJoint,
    Spherical,
    Cylindrical,
    Universal,
    Planar,
    PointOnPlane,
    Screw,
    Clamp,
    Spring,
    Damper,
    TorsionalSpring,
    TorsionalDamper,
    PointForce,
    Torque,
    Bushing,
    Gear,
    RackAndPinion,
    Belt,
    Equation,
    VelocityEquation,
    Rolling,
    PointOnCurve,
    Cam,
    CurveContact,
    Stop,
    ContactPair,
    ClearanceJoint,
    DryFriction,
    Mode,
    StateElement,
    Signal,
    Lag,
    Lead,
    TransferFunction,
    StateSpace,
    Pid,
    RateLimit,
    Delay,
    SampleAndHold,
    DCMotor,
    Servo,
    Event,
    DriveAngle,
    DriveDisplacement,
    DriveDistance,
    DrivePose,
    DriveCoordinate,
)
ELEMENTS = Registry[type[Element]]("element", {kind.method(): kind for kind in BUILT_IN})
BASES = {
    "bodies": BodyElement,
    "joints": Joint,
    "modes": Mode,
    "states": StateElement,
    "signals": SignalElement,
    "forces": Force,
    "drivers": Driver,
    "events": Event,
}
"""Sections of a model file, and the base class of the elements in each of them."""
RESERVED = frozenset(
    """
    allocate allocation_curve bodies campbell data dimension dofs draw drivers ensemble equations equilibrium experiment fit
    forces frequencies
    from_file from_urdf ground_point hessian joints kinematics linearize modes moments monte_carlo name optimize
    parameter parameters point problem reliability root_locus sensitivity simulate start statistics studies studio study
    synthesize table to_file to_text tolerance topology workspace
    """.split()  # noqa: SIM905 - a list would have a line for each
)
"""Names of a mechanism's methods and properties other than builder methods of elements."""


def registered(section: str | None = None) -> tuple[type[Element], ...]:
    """All kinds, or those of one section of a model file."""
    return tuple(kind for kind in ELEMENTS.values() if section in (None, kind.file_section))


def register(kind: E) -> E:
    """Register a kind of element as a builder method and for model files, reports and all coordinates.

    Args:
        kind: a subclass of `vm.elements.Joint`, `Force`, `Driver` or `BodyElement`. Its methods are
            wrapped: their results are converted, and errors name the element.

    Returns:
        The class, so that `register` can be used as a decorator.

    Raises:
        ModelError: if the class is incomplete or inconsistent, or the name is already used.
    """
    faults = _faults(kind)
    ELEMENTS.register(getattr(kind, "__name__", None) if faults else kind.method(), kind, faults)
    guard(kind)
    return kind


def user_kinds(model: ModelData) -> tuple[type[Element], ...]:
    """Kinds of elements of a model that are not built in. Other processes need them, too."""
    used = dict.fromkeys(call.element for call in model.calls if call.element is not None)
    return tuple(kind for kind in used if kind not in BUILT_IN)


def ensure_registered(kind: type[Element]) -> None:
    """Register a kind, unless its import has already done so."""
    if ELEMENTS.get(kind.method()) is not kind:
        register(kind)


def _faults(kind: type[Element]) -> list[str]:
    """Missing and inconsistent parts of a class."""
    if not (inspect.isclass(kind) and issubclass(kind, tuple(BASES.values()))):
        bases = ", ".join(base.__name__ for base in BASES.values())
        return [f"it is not a subclass of one of {bases}"]
    if not isinstance(getattr(kind, "kind", None), str) or not kind.method().isidentifier():
        return ['it needs a name: kind = "…", such as kind = "screw"']
    if keyword.iskeyword(kind.method()) or kind.method() in RESERVED:
        return [f"kind = {kind.kind!r} has another meaning: m.{kind.method()}"]
    faults = [f"it lacks {name}" for name in sorted(getattr(kind, "__abstractmethods__", ()))]
    if not (kind.__doc__ or "").strip() or kind.__doc__ is kind.__mro__[1].__doc__:
        faults.append("it needs a docstring, which its method and its page have")
    acts = (
        "potential_energy",
        "efforts",
        "constraints",
        "velocity_constraints",
        "rates",
        "signals",
    )
    if issubclass(kind, Force) and all(getattr(kind, x) is getattr(ForceLaw, x) for x in acts):
        faults.append(f"it lacks one of {', '.join(acts)}: it does nothing")
    if issubclass(kind, Driver) and not isinstance(getattr(kind, "motion", None), Motion):
        faults.append("it lacks motion = vm.elements.fields.Motion(…)")
    if issubclass(kind, Joint) and kind.symbol not in SYMBOLS:
        faults.append(f"symbol = {kind.symbol!r} is none of {', '.join(map(repr, SYMBOLS))}")
    earlier: set[str] = set()
    for field in kind.fields():
        faults += [f"field {field.name!r} {fault}" for fault in _field_faults(kind, field, earlier)]
        earlier.add(field.name)
    return faults or signature_faults(kind)


def _field_faults(kind: type[Element], field: Field[object], earlier: set[str]) -> list[str]:
    faults = []
    if not field.description.strip():
        faults.append("needs a description")
    hidden = any(not isinstance(vars(b).get(field.name, field), Field) for b in kind.__mro__)
    if hidden or field.name in ("name", "self", "values", "given", "dimension"):
        faults.append("hides what all elements have; choose another name")
    if not is_si(field.unit):
        faults.append(f"has unit = {field.unit!r}, which is not an SI unit")
    if (rule := getattr(field, "rule", None)) not in (None, *RULES):
        faults.append(f"has rule = {rule!r}, which is none of {', '.join(map(repr, RULES))}")
    for name in ("of", "like"):
        if (other := getattr(field, name, None)) not in (None, *earlier):
            faults.append(f"has {name} = {other!r}, which is no field before it")
    return faults
