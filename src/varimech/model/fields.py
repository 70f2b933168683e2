"""Fields: the arguments of an element, each declared once.

A field declares its meaning, its unit, its default, and how a given value is read and checked. The
signature and docstring of the builder method, the schema of model files and the table of arguments
on the element's page are derived from it. On an element, `element.length` is the value after
reading.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar, overload

from ..core.errors import Label, ModelError, check_named, check_whole
from ..core.symbols import SX
from . import body
from .beam import BeamNode
from .conditions import Axis
from .geometry import axis_of, inertia_of, rotation_of
from .scalar_outputs import Slide, Turn
from .solids import Surface
from .state import State
from .surfaces import surface_of
from .user_functions import function_of_state, function_of_time

if TYPE_CHECKING:
    from .element import Element
    from .model_data import ModelData

T = TypeVar("T")
REQUIRED: object = ...
"""Default of a field that must be given."""


class Field(ABC, Generic[T]):
    """One argument of an element.

    Args:
        description: its meaning in one sentence, for docstrings, files and pages.
        unit: of a number, such as "N/m".
        default: value if it is not given; required without one.
        positional: whether it may be given without its name.
    """

    file_type: str = "Number"
    """How a model file holds it: the name of a type in `files/field_types.py`."""
    annotation: ClassVar[str] = "Any"
    """Type of the argument in the signature of the builder method."""
    names_something: ClassVar[bool] = False
    """Whether it names an object of the model; in files, positional fields of this sort stand under
    the key of the element.
    """
    is_plain: ClassVar[bool] = False
    """Whether a file holds it as it was given, because it is neither a number nor an expression."""

    def __init__(
        self,
        description: str,
        *,
        unit: str = "",
        default: object = REQUIRED,
        positional: bool = False,
    ):
        self.description = description
        self.unit = unit
        self.default = default
        self.positional = positional
        self.name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, element: None, kind: type) -> Self: ...
    @overload
    def __get__(self, element: Element, kind: type) -> T: ...
    def __get__(self, element: Element | None, kind: type) -> Self | T:
        if element is None:
            return self
        value: T = element.values[self.name]
        return value

    def __set__(self, element: Element, value: T) -> None:
        raise AttributeError(
            f"{element.label}: {self.name} cannot be changed; make it a parameter, or build the"
            " model anew"
        )

    @property
    def required(self) -> bool:
        """Whether it must be given."""
        return self.default is REQUIRED

    def label(self, element: Element) -> str:
        """Name of the field in messages."""
        return Label(element.label, self.name)

    @abstractmethod
    def read(self, model: ModelData, element: Element, value: object) -> T:
        """Read and check a given value; the fields before this one have been read already.

        Raises:
            ModelError: naming the element, the field and the value.
        """


class Reference(Field[T]):
    """A reference to an object of the model, by the object itself or by its name."""

    file_type = "Name"
    names_something = True

    def __init__(self, description: str, *, default: object = REQUIRED, positional: bool = True):
        super().__init__(description, default=default, positional=positional)


class Point(Reference[body.Point]):
    """A point, as an object or by name."""

    annotation = "PointLike"

    def read(self, model: ModelData, element: Element, value: Any) -> body.Point:
        return model.find_point(value)


class Angle(Reference[Turn]):
    """The angle of a joint that turns, or of a planar body against the ground."""

    annotation = "Joint | Body | str"

    def read(self, model: ModelData, element: Element, value: Any) -> Turn:
        return model.find_angle(value)


class Displacement(Reference[Slide]):
    """The displacement of a joint that slides."""

    annotation = "Joint | str"

    def read(self, model: ModelData, element: Element, value: Any) -> Slide:
        return model.find_displacement(value)


class Rotating(Reference[body.Body | BeamNode]):
    """An object on which a torque can act: a rigid body, or a point of a beam."""

    annotation = "Body | Point | str"

    def read(self, model: ModelData, element: Element, value: Any) -> body.Body | BeamNode:
        return model.find_turning(value, element.label)


class CurveBody(Reference[body.Body]):
    """A rigid body, or the ground, as an object or by name."""

    annotation = "Body | str"

    def read(self, model: ModelData, element: Element, value: Any) -> body.Body:
        return model.find_rigid_body(value, element.label)


class OptionalRotating(Reference[body.Body | BeamNode | None]):
    """An optional object on which a torque can act; by name only."""

    annotation = "Body | Point | str | None"

    def __init__(self, description: str):
        super().__init__(description, default=None, positional=False)

    def read(self, model: ModelData, element: Element, value: Any) -> body.Body | BeamNode | None:
        return None if value is None else model.find_turning(value, self.label(element))


class OptionalPoint(Reference[body.Point | None]):
    """An optional point; by name only."""

    annotation = "PointLike | None"

    def __init__(self, description: str):
        super().__init__(description, default=None, positional=False)

    def read(self, model: ModelData, element: Element, value: Any) -> body.Point | None:
        return None if value is None else model.find_point(value)


class FurtherPoints(Field[tuple[body.Point, ...]]):
    """Any number of points beside another one; empty by default."""

    file_type = "Names"
    annotation = "Sequence[PointLike]"
    is_plain = True

    def __init__(self, description: str):
        super().__init__(description, default=())

    def read(self, model: ModelData, element: Element, value: Any) -> tuple[body.Point, ...]:
        if isinstance(value, (str, body.Point)):
            value = [value]
        return tuple(model.find_point(point) for point in value)


class End(Point):
    """One of the two points of a joint; if neither is given, both are looked up by the joint's own
    name.
    """

    annotation = "PointLike | None"

    def __init__(self, description: str):
        super().__init__(description, default=None)


class Scalar(Field[SX]):
    """A number, a parameter or an expression of parameters.

    Args:
        rule: the condition that it must satisfy, one of `requirements.RULES`: "positive", "non-negative", …
        units: units that a quantity may have, if these depend on the object that the element acts on.
    """

    annotation = "Number"

    def __init__(
        self,
        description: str,
        *,
        unit: str = "",
        rule: str | None = None,
        default: Any = REQUIRED,
        positional: bool = False,
        units: tuple[str, ...] = (),
    ):
        super().__init__(description, unit=unit, default=default, positional=positional)
        self.rule, self.units = rule, units or (unit,)

    def read(self, model: ModelData, element: Element, value: object) -> SX:
        unit = model.parameter_set.unit_among(value, self.units)
        return model.parameter_set.scalar(value, self.label(element), self.rule, unit=unit)


class Direction(Field[Axis]):
    """A direction in the frame of a body, of any length but zero.

    Args:
        of: the field with the point whose body it belongs to; the ground if not given.
        like: the field whose components it has if it is not given.
    """

    file_type = "Vector"
    annotation = "Vector"

    def __init__(
        self,
        description: str,
        *,
        of: str | None = None,
        like: str | None = None,
        positional: bool = False,
    ):
        super().__init__(
            description, default=REQUIRED if like is None else None, positional=positional
        )
        self.of = of
        self.like = like

    def read(self, model: ModelData, element: Element, value: object) -> Axis:
        if value is None and self.like is not None:
            value = element.given[self.like]
        if value is None:
            example = (1, 0) if model.dimension == 2 else (0, 0, 1)
            raise ModelError(f"{element.label} needs {self.name}=…, such as {self.name}={example}")
        owner = model.ground if self.of is None else element.values[self.of].body
        return axis_of(model.parameter_set, owner, value, self.label(element))


class OnSecond(Direction):
    """The direction of another field, in the frame of the second body of a joint."""

    def __init__(self, like: str):
        description = (
            "The same direction in the second body's frame. If not given, it has the same components as"
            f" `{like}`."
        )
        super().__init__(description, of="second", like=like)


class SpatialDirection(Field[Axis | None]):
    """A direction that only spatial mechanisms have; None in the plane. Arguments as those of
    `Direction`.
    """

    file_type = "Vector"
    annotation = "Vector"

    def __init__(self, description: str, *, of: str, like: str | None = None):
        super().__init__(description, default=None)
        self._in_space = Direction(description, of=of, like=like)

    def __set_name__(self, owner: type, name: str) -> None:
        super().__set_name__(owner, name)
        self._in_space.name = name

    def read(self, model: ModelData, element: Element, value: object) -> Axis | None:
        if model.dimension == 3:
            return self._in_space.read(model, element, value)
        if value is not None:
            raise ModelError(
                "an axis has no meaning in a planar mechanism",
                element=element.label,
                remedy="omit it",
            )
        return None


class Rotation(Field[SX]):
    """A rotation matrix: given as an angle in the plane, as a matrix in space; the identity if not
    given.
    """

    file_type = "Rotation"

    def __init__(self, description: str):
        super().__init__(description, default=None)

    def read(self, model: ModelData, element: Element, value: object) -> SX:
        return rotation_of(model.parameter_set, value, model.dimension, self.label(element))


class OptionalDirection(Field[Axis | None]):
    """A direction in the frame of the body of another field's point; None if left out."""

    file_type = "Vector"
    annotation = "Vector | None"

    def __init__(self, description: str, *, of: str):
        super().__init__(description, default=None)
        self.of = of

    def read(self, model: ModelData, element: Element, value: object) -> Axis | None:
        if value is None:
            return None
        owner = element.values[self.of].body
        return axis_of(model.parameter_set, owner, value, self.label(element))


class StateFunction(Field[Callable[[State], SX]]):
    """Numbers, or a function of the state that returns them: in Python or as text.

    Args:
        size: "scalar", "vector" (2 or 3 components), "torque" (1 in the plane, 3 in space), or "any".
        of_a_run: whether it may depend on accelerations and reactions.
    """

    def __init__(
        self,
        description: str,
        *,
        size: str,
        unit: str = "",
        positional: bool = False,
        default: object = REQUIRED,
        of_a_run: bool = False,
    ):
        super().__init__(description, unit=unit, positional=positional, default=default)
        self.of_a_run = of_a_run
        self.size = size
        self.file_type = {
            "scalar": "Number",
            "vector": "Vector",
            "torque": "NumberOrVector",
            "any": "NumberOrList",
        }[size]

    def label(self, element: Element) -> str:
        """Name of the element: functions have no name of their own in messages."""
        return element.label

    def read(self, model: ModelData, element: Element, value: object) -> Callable[[State], SX]:
        n = model.dimension
        sizes = {"scalar": 1, "vector": n, "torque": 1 if n == 2 else 3}
        size = sizes.get(self.size)
        label = self.label(element)
        return function_of_state(model, value, size, label, self.unit, of_a_run=self.of_a_run)


class Motion(Field[Callable[[SX], SX]]):
    """A number, or a function of time that returns one: in Python or as text.

    Args:
        rule: the condition that it must satisfy at t = 0.
    """

    def __init__(self, description: str, *, unit: str, rule: str | None = None):
        super().__init__(description, unit=unit, positional=True)
        self.rule = rule

    def label(self, element: Element) -> str:
        """Name of the element: motions have no name of their own in messages."""
        return element.label

    def read(self, model: ModelData, element: Element, value: object) -> Callable[[SX], SX]:
        return function_of_time(model, value, self.label(element), self.unit, self.rule)


class Choice(Field[str]):
    """One of several texts."""

    annotation = "str"
    is_plain = True

    def __init__(self, description: str, *, options: Sequence[str], default: str):
        super().__init__(description, default=default)
        self.options = tuple(options)

    def read(self, model: ModelData, element: Element, value: object) -> str:
        if value not in self.options:
            options = ", ".join(map(repr, self.options))
            problem = f"must be one of {options}"
            raise ModelError(problem, label=self.label(element), value=value)
        return str(value)


class Flag(Field[bool]):
    """True or false."""

    annotation = "bool"
    file_type = "Flag"

    def __init__(self, description: str, *, default: bool = False):
        super().__init__(description, default=default)

    def read(self, model: ModelData, element: Element, value: object) -> bool:
        return bool(value)


class Whole(Field[int]):
    """A whole number, 1 or more."""

    annotation = "int"
    file_type = "Segments"

    def read(self, model: ModelData, element: Element, value: Any) -> int:
        check_whole(element.label, 1, **{self.name: value})
        return int(value)


class Raw(Field[Any]):
    """A value that the element reads itself, together with other fields."""

    def __init__(self, description: str, *, file_type: str, unit: str = "", default: object = None):
        super().__init__(description, unit=unit, default=default)
        self.file_type = file_type

    def read(self, model: ModelData, element: Element, value: object) -> object:
        return value


class Shape(Field[tuple[Surface, ...]]):
    """Solids that drawings show a body as; none if left out."""

    file_type = "SolidEntries"
    annotation = "Solid | Sequence[Solid] | None"

    def __init__(self, description: str):
        super().__init__(description, default=None)

    def read(self, model: ModelData, element: Element, value: Any) -> tuple[Surface, ...]:
        solids = [] if value is None else value if isinstance(value, (list, tuple)) else [value]
        label = Label(element.label, self.name)
        return tuple(surface_of(solid, model.parameter_set, label) for solid in solids)


class PointNames(Field[tuple[str, ...] | None]):
    """Names of points that the element itself has; None if left out."""

    file_type = "Names"
    annotation = "tuple[str, ...] | None"
    is_plain = True

    def __init__(self, description: str):
        super().__init__(description, default=None)

    def read(self, model: ModelData, element: Element, value: Any) -> tuple[str, ...] | None:
        return None if value is None else tuple(value)


class OptionalScalar(Field[SX | None]):
    """An optional number, None by default. Arguments as for `Scalar`."""

    annotation = "Number"

    def __init__(
        self,
        description: str,
        *,
        unit: str = "",
        rule: str | None = None,
        units: tuple[str, ...] = (),
    ):
        super().__init__(description, unit=unit, default=None)
        self.rule, self.units = rule, units or (unit,)

    def read(self, model: ModelData, element: Element, value: object) -> SX | None:
        if value is None:
            return None
        unit = model.parameter_set.unit_among(value, self.units)
        return model.parameter_set.scalar(value, self.label(element), self.rule, unit=unit)


class Pair(Field[tuple[SX, SX]]):
    """Two numbers, one for each of two objects. Arguments as for `Scalar`."""

    file_type = "Two"
    annotation = "tuple[Number, Number]"

    def __init__(self, description: str, *, unit: str = "", rule: str | None = None):
        super().__init__(description, unit=unit)
        self.rule = rule

    def read(self, model: ModelData, element: Element, value: object) -> tuple[SX, SX]:
        label = Label(element.label, self.name)
        if isinstance(value, str) or not isinstance(value, Sequence) or len(value) != 2:
            problem = "must be a pair of numbers, one for each wheel"
            raise ModelError(problem, label=label, value=value)
        first, second = (
            model.parameter_set.scalar(x, label.component(k), self.rule, unit=self.unit)
            for k, x in enumerate(value)
        )
        return first, second


class OptionalPair(Field[tuple[SX, SX] | None]):
    """Two optional numbers, None by default. Arguments as for `Scalar`."""

    file_type = "Two"
    annotation = "tuple[Number, Number] | None"

    def __init__(self, description: str, *, unit: str = "", rule: str | None = None):
        super().__init__(description, unit=unit, default=None)
        self._given = Pair(description, unit=unit, rule=rule)

    def __set_name__(self, owner: type, name: str) -> None:
        super().__set_name__(owner, name)
        self._given.name = name

    def read(self, model: ModelData, element: Element, value: object) -> tuple[SX, SX] | None:
        return None if value is None else self._given.read(model, element, value)


class Mass(Field[SX]):
    """The mass of a body, positive. It may be omitted, or zero, for kinematics only."""

    annotation = "Number"

    def __init__(self) -> None:
        super().__init__(
            "Mass; it may be omitted or zero if only kinematics is computed.",
            unit="kg",
            default=None,
        )
        self.rule = "positive"

    def read(self, model: ModelData, element: Element, value: object) -> SX:
        if value is None or (isinstance(value, (int, float)) and value == 0):
            return SX(0)
        return model.parameter_set.scalar(value, self.label(element), self.rule, unit=self.unit)


class Vector(Field[SX]):
    """A place or vector, with two components in the plane and three in space; zero if it may be
    left out.
    """

    file_type = "Vector"
    annotation = "Vector"

    def read(self, model: ModelData, element: Element, value: object) -> SX:
        n = model.dimension
        value = (0.0,) * n if value is None and not self.required else value
        return model.parameter_set.vector_of(value, n, self.label(element), unit=self.unit)


class Turning(Field[SX]):
    """A rotational quantity: a number in the plane, three components in space; zero by default."""

    file_type = "NumberOrVector"
    annotation = "Number | Vector"

    def __init__(self, description: str, *, unit: str = ""):
        super().__init__(description, unit=unit, default=None)

    def read(self, model: ModelData, element: Element, value: object) -> SX:
        label = self.label(element)
        if model.dimension == 2:
            value = 0.0 if value is None else value
            return model.parameter_set.scalar(value, label, unit=self.unit)
        value = (0.0,) * 3 if value is None else value
        return model.parameter_set.vector_of(value, 3, label, unit=self.unit)


class OptionalVector(Field[SX | None]):
    """Two components in the plane, three in space; None if left out."""

    file_type = "Vector"
    annotation = "Vector | None"

    def __init__(self, description: str, *, unit: str = ""):
        super().__init__(description, unit=unit, default=None)

    def read(self, model: ModelData, element: Element, value: object) -> SX | None:
        if value is None:
            return None
        n = model.dimension
        return model.parameter_set.vector_of(value, n, self.label(element), unit=self.unit)


class Inertia(Field[SX | None]):
    """An inertia about the centre of mass (kg·m²): a number in the plane, three principal values or
    a matrix in space; None if it may be left out.
    """

    file_type = "Inertia"
    annotation = "Number"

    def __init__(self, description: str, *, default: object = REQUIRED):
        super().__init__(description, unit="kg·m²", default=default)

    def read(self, model: ModelData, element: Element, value: object) -> SX | None:
        if value is None and not self.required:
            return None
        return inertia_of(model.parameter_set, value, model.dimension, self.label(element))


class NewPoint(Reference[str]):
    """Name of the point that the element creates."""

    annotation = "str"
    is_plain = True

    def read(self, model: ModelData, element: Element, value: object) -> str:
        model.check_point(value, ())
        return str(value)


class NewPoints(Field[dict[str, SX]]):
    """Points that the element creates, by name, in its own frame."""

    file_type = "Points"
    annotation = "Mapping[str, Vector] | None"

    def __init__(self, description: str, *, example: str):
        super().__init__(description, unit="m", default=None)
        self.example = example

    def read(self, model: ModelData, element: Element, value: Any) -> dict[str, SX]:
        place = (0.1, 0) if model.dimension == 2 else (0.1, 0, 0)
        check_named(self.label(element), value, f"{{{self.example!r}: {place}}}")
        points: dict[str, SX] = {}
        for name, local in (value or {}).items():
            model.check_point(name, ("com",))
            points[name] = model.parameter_set.vector_of(
                local, model.dimension, Label(element.label, self.name, f"point {name!r}"), unit="m"
            )
        return points
