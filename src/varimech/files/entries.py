"""What a model file is made of: parameters, bodies, joints, forces and drivers, each an entry that
says one word of the model.

An entry names its word by a key that holds the names the word begins with (`bar: [O, P]`); all
other keys are the word's keywords.
"""

from __future__ import annotations

import inspect
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictStr, create_model

from ..core.errors import ModelError
from ..elements.builder import Model
from ..elements.registry import registered
from ..model.element import Element
from ..model.fields import Field as ElementField
from ..model.sections import SHAPES, Section
from . import field_types
from .distribution_fields import Spread
from .field_types import (
    Inertia,
    Matrix,
    Name,
    Number,
    Pair,
    Points,
    Positive,
    Segments,
    Two,
    TwoOpen,
    Vector,
)


class Strict(BaseModel):
    """An entry with known keys only."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    def given(self, *without: str) -> dict[str, Any]:
        """What was written, by keyword."""
        names = [
            name
            for name in type(self).model_fields
            if name in self.model_fields_set and name not in without
        ]
        return {name: value for name in names if (value := getattr(self, name)) is not None}


class Entry(Strict):
    """A word of the model, said about a name."""

    element: ClassVar[type[Element] | None] = None
    word: ClassVar[str]
    names: ClassVar[str | None] = None
    """The key that holds the names that the word begins with."""

    def say(self, model: Model, name: str) -> None:
        """Say the word."""
        first = getattr(self, self.names) if self.names else None
        names = [] if first is None else first if isinstance(first, list) else [first]
        getattr(model, self.word)(name, *names, **self.given(*([self.names] if self.names else [])))


class ParameterEntry(Strict):
    """A number that may change."""

    value: Number = Field(
        description="Nominal value: a number in SI units, or a quantity such as 30 mm."
    )
    unit: StrictStr = Field("", description="SI unit; that of a quantity if not given.")
    bounds: TwoOpen | None = Field(None, description="[lower, upper]; null where open.")
    tolerance: Number | None = Field(
        None, description="Bilateral tolerance ±, read as a normal spread."
    )
    sigmas: Positive | None = Field(
        None, description="Standard deviations in the tolerance; 3 if not given."
    )
    spread: Spread | None = Field(
        None, description="A distribution of scipy.stats, instead of a tolerance."
    )


class BodyEntry(Entry):
    """A rigid body."""

    word: ClassVar[str] = "body"
    mass: Number = Field(description="kg")
    inertia: Inertia = Field(
        description="About the centre of mass, kg·m²; three values or a matrix in space."
    )
    com: Vector | None = Field(None, description="Centre of mass in the body's frame, m.")
    points: Points = Field({}, description="Named points in the body's frame, m.")
    floating: StrictBool = Field(False, description="true for a body without joints to the ground.")
    spine: list[Name] | None = Field(None, description="Points that drawings join by a line.")


class BarEntry(Entry):
    """A straight bar along its own x axis, with a named point at each end."""

    word: ClassVar[str] = "bar"
    names: ClassVar[str] = "bar"
    bar: Pair = Field(description="[name of the point at its start, at its end]")
    length: Number = Field(description="m")
    mass: Number = Field(description="kg")
    com: Number | None = Field(
        None, description="Distance of the centre of mass from the start, m."
    )
    inertia: Inertia | None = Field(None, description="About the centre of mass, kg·m².")
    radius: Number = Field(0.0, description="m, of a spatial bar.")
    points: Points = Field({}, description="Further named points, m.")
    floating: StrictBool = False


class SectionEntry(Strict):
    """A cross-section by its shape: one key, its sizes in m."""

    circle: Number | None = Field(None, description="diameter")
    tube: Two | None = Field(None, description="[outer, inner] diameter")
    rectangle: Two | None = Field(None, description="[width, height]")
    square: Number | None = Field(None, description="side")

    def section(self) -> Section:
        """As the model has it."""
        given = self.given()
        if len(given) != 1:
            raise ModelError(
                f"a section has one of the keys {', '.join(SHAPES)}, such as circle: 10 mm"
            )
        shape, sizes = next(iter(given.items()))
        return Section(shape, tuple(sizes) if isinstance(sizes, list) else (sizes,))


class BeamEntry(Entry):
    """A slender elastic beam."""

    word: ClassVar[str] = "beam"
    names: ClassVar[str] = "beam"
    beam: Pair = Field(description="[name of the point at its first end, at its other end]")
    segments: Segments = Field(description="Number of equal segments.")
    E: Number = Field(description="Young's modulus, Pa")
    area: Number | None = Field(None, description="m²")
    inertia: Number | None = Field(None, description="Second moment of area, m⁴")
    section: SectionEntry | None = Field(None, description="Instead of area and inertia.")
    density: Number | None = Field(None, description="kg/m³")
    mass: Number | None = Field(None, description="kg, instead of the density")
    length: Number | None = Field(None, description="m")
    natural_length: Number | None = Field(None, description="m, of the unstressed beam")
    shape: Matrix | Vector | None = Field(
        None, description="Of a curved beam: expressions of s, or places."
    )
    material: StrictStr = "logarithmic"
    masses: StrictStr = "consistent"
    damping: Two = Field([0.0, 0.0], description="[γ in 1/s, β in s]")
    floating: StrictBool = False

    def given(self, *without: str) -> dict[str, Any]:
        """What was written, by keyword."""
        found = super().given(*without)
        if self.section is not None:
            found["section"] = self.section.section()
        return found


def entry_of(kind: type[Element]) -> type[Entry]:
    """The entry of an element, from its fields."""
    leading, key = kind.leading(), kind.file_key()
    entries: dict[str, Any] = {}
    if key is not None:
        optional = not any(f.required for f in leading)
        names: Any = Pair if len(leading) == 2 else Name
        about = Field(
            None if optional else ...,
            description=f"[{', '.join(f.description for f in leading)}]",
        )
        entries[key] = (names | None if optional else names, about)
    entries |= {f.name: _file_field(f) for f in kind.fields() if f not in leading}
    made = create_model(
        f"{kind.__name__}Entry",
        __base__=Entry,
        __doc__=" ".join(inspect.cleandoc(kind.__doc__ or "").partition("\n\n")[0].split()),
        **entries,
    )
    made.element, made.word, made.names = kind, kind.method(), key
    return made


def _file_field(field: ElementField[Any]) -> Any:
    type_: Any = getattr(field_types, field.file_type)
    about = f"{field.description.rstrip('.')} ({field.unit})." if field.unit else field.description
    optional = field.default is None
    return type_ | None if optional else type_, Field(field.default, description=about)


JOINTS: dict[str, type[Entry]] = {kind.method(): entry_of(kind) for kind in registered("joints")}


class SpringEntry(Entry):
    """A spring between two points, with a damper if wanted."""

    word: ClassVar[str] = "spring"
    names: ClassVar[str] = "spring"
    spring: Pair
    stiffness: Number = Field(description="N/m")
    natural_length: Number = Field(description="m")
    damping: Number = Field(0.0, description="N·s/m")


class DamperEntry(Entry):
    """A damper between two points."""

    word: ClassVar[str] = "damper"
    names: ClassVar[str] = "damper"
    damper: Pair
    damping: Number = Field(description="N·s/m")


class TorsionalSpringEntry(Entry):
    """A spring on the angle of a joint or of a planar body."""

    word: ClassVar[str] = "torsional_spring"
    names: ClassVar[str] = "torsional_spring"
    torsional_spring: Name
    stiffness: Number = Field(description="N·m/rad")
    rest_angle: Number = Field(0.0, description="rad")
    damping: Number = Field(0.0, description="N·m·s/rad")


class TorsionalDamperEntry(Entry):
    """A damper on the angle of a joint or of a planar body."""

    word: ClassVar[str] = "torsional_damper"
    names: ClassVar[str] = "torsional_damper"
    torsional_damper: Name
    damping: Number = Field(description="N·m·s/rad")


class ForceEntry(Entry):
    """A force on a point."""

    word: ClassVar[str] = "force"
    names: ClassVar[str] = "force"
    force: Name = Field(description="Point that it acts on.")
    value: Vector = Field(
        description="Components in N: numbers, or expressions of t and the state."
    )
    frame: Literal["global", "body"] = "global"


class TorqueEntry(Entry):
    """A torque on a body, or on a point of a beam."""

    word: ClassVar[str] = "torque"
    names: ClassVar[str] = "torque"
    torque: Name = Field(description="Body that it acts on.")
    value: Number | Vector = Field(description="N·m: numbers, or expressions of t and the state.")
    against: Name | None = Field(None, description="Body that takes the opposite torque.")
    frame: Literal["global", "body"] = "global"


class AngleDriver(Entry):
    """Imposes the angle of a joint or of a planar body."""

    word: ClassVar[str] = "drive_angle"
    names: ClassVar[str] = "angle"
    angle: Name
    motion: Number = Field(description="rad, an expression of t")


class DisplacementDriver(Entry):
    """Imposes the displacement of a joint that slides."""

    word: ClassVar[str] = "drive_displacement"
    names: ClassVar[str] = "displacement"
    displacement: Name
    motion: Number = Field(description="m, an expression of t")


class DistanceDriver(Entry):
    """Imposes the distance of two points."""

    word: ClassVar[str] = "drive_distance"
    names: ClassVar[str] = "distance"
    distance: Pair
    motion: Number = Field(description="m, an expression of t")


class CoordinateDriver(Entry):
    """Imposes the component of a point's position along a direction."""

    word: ClassVar[str] = "drive_coordinate"
    names: ClassVar[str] = "coordinate"
    coordinate: Name
    direction: Vector
    motion: Number = Field(description="m, an expression of t")


FORCES: dict[str, type[Entry]] = {
    "spring": SpringEntry,
    "damper": DamperEntry,
    "torsional_spring": TorsionalSpringEntry,
    "torsional_damper": TorsionalDamperEntry,
    "force": ForceEntry,
    "torque": TorqueEntry,
}
DRIVERS: dict[str, type[Entry]] = {
    "angle": AngleDriver,
    "displacement": DisplacementDriver,
    "distance": DistanceDriver,
    "coordinate": CoordinateDriver,
}
BODIES: dict[str, type[Entry]] = {"bar": BarEntry, "beam": BeamEntry, "body": BodyEntry}
