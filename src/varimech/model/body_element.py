"""Elements that make a body: they declare its fields, and build the mechanical body from them."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

from ..core.names import DOT, SLASH
from ..core.symbols import SX
from .body import Body, Point, RigidBody
from .element import Element
from .solids import Surface

if TYPE_CHECKING:
    from .model_data import ModelData

B = TypeVar("B", bound=Body)


class BodyElement(Element, Generic[B]):
    """An element that makes a body; its builder method returns the body."""

    file_section = "bodies"
    reserved = SLASH + DOT
    makes: ClassVar[type[Body]] = RigidBody
    """Class of the body that it makes."""
    body: B

    @abstractmethod
    def build(self, model: ModelData) -> B:
        """Build the body from the fields."""

    def prepare(self, model: ModelData) -> None:
        self.body = self.build(model)

    def add_to(self, model: ModelData) -> None:
        model.add_body(self.body)


def rigid_body(
    element: Element,
    mass: SX,
    inertia: SX,
    points: dict[str, SX],
    spine: tuple[str, ...] = (),
    *,
    floating: bool = False,
    surfaces: tuple[Surface, ...] = (),
) -> RigidBody:
    """Return a rigid body.

    Args:
        element: the element that makes it.
        mass: its mass (kg).
        inertia: about the centre of mass (kg·m²): a scalar in the plane, a 3×3 matrix in space.
        points: local coordinates of its points (m); "com" is the centre of mass.
        spine: points that drawings join by a line.
        floating: whether it is intentionally without a path of joints to the ground.
        surfaces: surfaces that drawings show instead of lines.
    """
    body = RigidBody(
        element.name,
        element.dimension,
        mass,
        points["com"],
        inertia,
        floating=floating,
        spine=spine,
        surfaces=surfaces,
    )
    body.points.update({name: Point(body, name, local) for name, local in points.items()})
    return body
