"""All kinds of elements: those of Varimech, and those that users register.

A kind that is registered has a builder method of its name (`m.screw(…)`), an entry in model files
and their schema, and takes part in reports and in all coordinates.
"""

from __future__ import annotations

import inspect
from typing import TypeVar

from ..core.errors import ModelError
from ..model.body_element import BodyElement
from ..model.driver import Driver
from ..model.element import Element
from ..model.fields import Field
from ..model.force import Force, ForceLaw
from ..model.joint import SYMBOLS, Joint
from ..model.model_data import ModelData
from .bar import Bar
from .beam import BeamElement
from .body import RigidBodyElement
from .clamp import Clamp
from .cylindrical import Cylindrical
from .damper import Damper
from .distance import DistanceJoint
from .drive_angle import DriveAngle
from .drive_coordinate import DriveCoordinate
from .drive_displacement import DriveDisplacement
from .drive_distance import DriveDistance
from .fixed import Fixed
from .force import PointForce
from .gear import Gear
from .planar import Planar
from .point_on_line import PointOnLine
from .point_on_plane import PointOnPlane
from .prismatic import Prismatic
from .revolute import Revolute
from .screw import Screw
from .spherical import Spherical
from .spring import Spring
from .torque import Torque
from .torsional_spring import TorsionalDamper, TorsionalSpring
from .universal import Universal

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
    Gear,
    DriveAngle,
    DriveDisplacement,
    DriveDistance,
    DriveCoordinate,
)
_REGISTERED: dict[str, type[Element]] = {kind.method(): kind for kind in BUILT_IN}
BASES = {"bodies": BodyElement, "joints": Joint, "forces": Force, "drivers": Driver}
"""Sections of a model file, and the base class of the elements there."""


def registered(section: str | None = None) -> tuple[type[Element], ...]:
    """All kinds, or those of one section of a model file."""
    return tuple(kind for kind in _REGISTERED.values() if section in (None, kind.file_section))


def find_kind(method: str) -> type[Element] | None:
    """The kind that a builder method of this name makes."""
    return _REGISTERED.get(method)


def register(kind: E) -> E:
    """Make a kind of element known: as a builder method, in files, reports and all coordinates.

    Also as a decorator of the class.

    Args:
        kind: a subclass of an element class of `varimech.elements`.

    Returns:
        The same class.

    Raises:
        ModelError: for a kind that lacks something, or whose name is taken; it names what.
    """
    _check(kind)
    _REGISTERED[kind.method()] = kind
    return kind


def user_kinds(model: ModelData) -> tuple[type[Element], ...]:
    """Kinds of a model that are not built in: other processes need them, too."""
    used = dict.fromkeys(call.element for call in model.sentences if call.element is not None)
    return tuple(kind for kind in used if kind not in BUILT_IN)


def ensure_registered(kind: type[Element]) -> None:
    """Register a kind, unless importing it has done so."""
    if find_kind(kind.method()) is not kind:
        register(kind)


def _check(kind: type[Element]) -> None:
    shown = getattr(kind, "__name__", repr(kind))
    if not (inspect.isclass(kind) and issubclass(kind, tuple(BASES.values()))):
        bases = ", ".join(base.__name__ for base in BASES.values())
        raise ModelError(f"register: {shown} is not a subclass of one of {bases}")
    if not isinstance(getattr(kind, "kind", None), str) or not kind.method().isidentifier():
        raise ModelError(
            f'register: {shown} needs a name: kind = "…", in lower case, such as kind = "screw"'
        )
    if missing := sorted(getattr(kind, "__abstractmethods__", ())):
        raise ModelError(f"register: {shown} lacks {', '.join(f'{name}()' for name in missing)}")
    if not (kind.__doc__ or "").strip() or kind.__doc__ is kind.__mro__[1].__doc__:
        raise ModelError(f"register: {shown} needs a docstring, which its method and its page have")
    acts = ("potential_energy", "efforts", "constraints", "rates")
    if issubclass(kind, Force) and all(getattr(kind, x) is getattr(ForceLaw, x) for x in acts):
        raise ModelError(
            f"register: {shown} lacks potential_energy(), efforts(), constraints() or rates(); it"
            " does nothing"
        )
    if (there := _REGISTERED.get(kind.method())) is not None:
        raise ModelError(
            f"register: an element {kind.kind!r} is registered already ({there.__module__}."
            f'{there.__qualname__}); choose another kind = "…"'
        )
    for field in kind.fields():
        _check_field(kind, field)
    if issubclass(kind, Joint) and kind.symbol not in SYMBOLS:
        raise ModelError(
            f"register: {shown} has symbol = {kind.symbol!r}, which is none of"
            f" {', '.join(map(repr, SYMBOLS))}"
        )


def _check_field(kind: type[Element], field: Field[object]) -> None:
    if not field.description.strip():
        raise ModelError(f"register: field {field.name!r} of {kind.__name__} needs a description")
    hidden = any(not isinstance(vars(b).get(field.name, field), Field) for b in kind.__mro__)
    if hidden or field.name in ("name", "self", "values", "given", "dimension"):
        raise ModelError(
            f"register: field {field.name!r} of {kind.__name__} hides what all elements have;"
            " choose another name"
        )
