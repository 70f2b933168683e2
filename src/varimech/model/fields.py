"""Fields: the arguments of an element, stated once.

A field says what it holds, in which unit, what it is if it is not given, and how a given value is
read and checked. The signature and docstring of the builder method, the schema of model files and
the table of arguments on the element's page follow from it. On an element, `element.length` is the
value that was read.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar, overload

from ..core.errors import ModelError
from ..core.symbols import SX
from . import body
from .conditions import Axis
from .geometry import axis_of, rotation_of

if TYPE_CHECKING:
    from .element import Element
    from .model_data import ModelData

T = TypeVar("T")
REQUIRED: Any = ...
"""The default of a field that has none."""


class Field(ABC, Generic[T]):
    """One argument of an element.

    Args:
        description: what it is, in one sentence, for docstrings, files and pages.
        unit: of a number, such as "N/m".
        default: value if it is not given; required without one.
        positional: whether it may be given without its name.
    """

    file_type: ClassVar[str] = "Number"
    """How a model file holds it: the name of a type in `files/field_types.py`."""
    annotation: ClassVar[str] = "Any"
    """Type of the argument in the signature of the builder method."""
    names_something: ClassVar[bool] = False
    """Whether it names a thing of the model; files have these, where positional, under the key of
    the element.
    """
    is_plain: ClassVar[bool] = False
    """Whether a file holds it as it was given: neither a number nor an expression."""

    def __init__(
        self, description: str, *, unit: str = "", default: Any = REQUIRED, positional: bool = False
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
        """Whether it has to be given."""
        return self.default is REQUIRED

    def label(self, element: Element) -> str:
        """What messages call it."""
        return f"{element.label}: {self.name}"

    @abstractmethod
    def read(self, model: ModelData, element: Element, value: Any) -> T:
        """A given value, checked; fields before this one have been read already.

        Raises:
            ModelError: naming the element, the field and the value.
        """


class Point(Field[body.Point]):
    """A point, by itself or by name."""

    file_type = "Name"
    annotation = "PointLike"
    names_something = True

    def __init__(self, description: str, *, default: Any = REQUIRED, positional: bool = True):
        super().__init__(description, default=default, positional=positional)

    def read(self, model: ModelData, element: Element, value: Any) -> body.Point:
        return model.find_point(value)


class End(Point):
    """One of the two points of a joint, which finds both by its own name if none is given."""

    annotation = "PointLike | None"

    def __init__(self, description: str):
        super().__init__(description, default=None)


class Scalar(Field[SX]):
    """A number, a parameter or an expression of parameters.

    Args:
        rule: what it has to be, one of `requirements.RULES`: "positive", "non-negative", …
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
    ):
        super().__init__(description, unit=unit, default=default, positional=positional)
        self.rule = rule

    def read(self, model: ModelData, element: Element, value: Any) -> SX:
        return model.parameter_set.scalar(value, self.label(element), self.rule, unit=self.unit)


class Direction(Field[Axis]):
    """A direction in the frame of a body, of any length but zero.

    Args:
        of: the field with the point whose body it belongs to; the ground if not given.
        like: the field whose components it has if it is not given.
    """

    file_type = "Vector"

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

    def read(self, model: ModelData, element: Element, value: Any) -> Axis:
        if value is None and self.like is not None:
            value = element.given[self.like]
        if value is None:
            example = (1, 0) if model.dimension == 2 else (0, 0, 1)
            raise ModelError(f"{element.label} needs {self.name}=…, such as {self.name}={example}")
        owner = model.ground if self.of is None else element.values[self.of].body
        return axis_of(model.parameter_set, owner, value, self.label(element))


class SpatialDirection(Field[Axis | None]):
    """A direction that only spatial mechanisms have; None in the plane. Arguments as those of
    `Direction`.
    """

    file_type = "Vector"

    def __init__(self, description: str, *, of: str, like: str | None = None):
        super().__init__(description, default=None)
        self._in_space = Direction(description, of=of, like=like)

    def __set_name__(self, owner: type, name: str) -> None:
        super().__set_name__(owner, name)
        self._in_space.name = name

    def read(self, model: ModelData, element: Element, value: Any) -> Axis | None:
        if model.dimension == 3:
            return self._in_space.read(model, element, value)
        if value is not None:
            raise ModelError(
                f"{element.label}: an axis means nothing here in the plane; leave it out"
            )
        return None


class Rotation(Field[SX]):
    """A rotation matrix: given as an angle in the plane, as a matrix in space; the identity if not
    given.
    """

    file_type = "Rotation"

    def __init__(self, description: str):
        super().__init__(description, default=None)

    def read(self, model: ModelData, element: Element, value: Any) -> SX:
        return rotation_of(model.parameter_set, value, model.dimension, self.label(element))
