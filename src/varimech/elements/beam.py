"""Beam: a slender elastic bar of segments between nodes (mechanics: `model/beam.py`)."""

from __future__ import annotations

from typing import ClassVar

from ..core.errors import Label, ModelError
from ..core.messages import Message
from ..core.symbols import SX
from ..model import fields
from ..model.beam import MASSES, MATERIALS, Beam
from ..model.beam_shape import shape_of
from ..model.body import Body, Point
from ..model.body_element import BodyElement
from ..model.model_data import ModelData
from ..model.sections import SHAPES, Section


class BeamElement(BodyElement[Beam]):
    """A slender elastic beam that can bend and stretch by large amounts, with a named point at each
    end. Shear and torsion are neglected.

    Connect the ends like those of a bar, with revolute joints (spherical joints in space), or hold
    their direction with a `clamp`. The nodes between the ends are called 'n1', 'n2', …; forces,
    springs, joints and outputs refer to them like any other point ('name.n1'). The beam initially
    has its unstressed shape and needs the same initial values as a bar.
    """

    kind = "beam"
    makes: ClassVar[type[Body]] = Beam
    from_ = fields.NewPoint("Name of the point at the first end.")
    to = fields.NewPoint("Name of the point at the other end.")
    segments = fields.Whole(
        "Number of equal segments, 1 or more. With 8 segments, deflections are accurate to 2.3 % for"
        " pinned beams and cantilevers, and to 9 % for beams clamped at both ends; with 32 segments,"
        " to 0.2 % and 0.6 %. The angle between adjacent segments must not exceed 90°."
    )
    E = fields.Scalar("Young's modulus.", unit="Pa", rule="positive")
    area = fields.OptionalScalar("Area of the cross-section.", unit="m²", rule="positive")
    inertia = fields.OptionalScalar(
        "Second moment of area for bending; in space, it is the same in all directions.",
        unit="m⁴",
        rule="non-negative",
    )
    section = fields.Raw(
        "Cross-section, instead of `area` and `inertia`: `varimech.circle(0.01)`, or a `tube`,"
        " `rectangle` or `square`.",
        file_type="SectionEntry",
    )
    density = fields.OptionalScalar(
        "Density, instead of `mass`. The mass is then density × area × natural_length.",
        unit="kg/m³",
        rule="positive",
    )
    mass = fields.OptionalScalar("Mass of the whole beam.", unit="kg", rule="positive")
    length = fields.Raw("Initial length of the straight beam.", file_type="Number", unit="m")
    natural_length = fields.OptionalScalar(
        "Length of the unstressed beam. If not given, it is the initial length. To separate the effect"
        " of the geometry from the effect of the unstressed length, use one parameter for `length` and"
        " another for `natural_length`.",
        unit="m",
        rule="positive",
    )
    shape = fields.Raw(
        "Shape of a curved beam, instead of `length`: either a function that returns the position for"
        ' s from 0 to 1, such as `lambda s: (s, 0.1 * s * (1 - s))` or the strings ("s", "0.1*s*(1 -'
        ' s)"), or one position for each node (m, in the frame of the beam). The unstressed beam'
        " has the same shape, scaled if `natural_length` is given.",
        file_type="Shape",
    )
    material = fields.Choice(
        'Stretching law: "logarithmic" or "linear" in the stretch.',
        options=MATERIALS,
        default="logarithmic",
    )
    masses = fields.Choice(
        'Mass model: "consistent" (exact for rigid motions) or "lumped" at the nodes.',
        options=MASSES,
        default="consistent",
    )
    damping = fields.Raw(
        "Rayleigh damping (γ in 1/s, β in s). The force −γ M v acts on all masses. The damping"
        " of stretching and bending, also at clamps, is β times the stiffness times the rate of"
        " deformation. Small vibrations of angular frequency ω have a damping ratio of γ/(2ω) + βω/2.",
        file_type="Two",
        default=(0.0, 0.0),
    )
    floating = fields.Flag("True for a beam that no chain of joints connects to the ground.")

    def build(self, model: ModelData) -> Beam:
        names = self._node_names(model)
        shape = shape_of(
            model.parameter_set, self.length, self.shape, self.segments, self.dimension, self.label
        )
        area, inertia = self._section(model)
        L0 = shape.length if self.natural_length is None else self.natural_length
        γ, β = self._rayleigh(model)
        nodes: list[Point] = []
        beam = Beam(
            self.name,
            self.dimension,
            nodes,
            shape,
            L0,
            self.E,
            area,
            inertia,
            self._mass(area, L0),
            self.material,
            self.masses == "lumped",
            β,
            γ,
            floating=self.floating,
            spine=tuple(names),
        )
        nodes += [Point(beam, name, at) for name, at in zip(names, shape.places, strict=True)]
        beam.points.update({node.name: node for node in nodes})
        return beam

    def _node_names(self, model: ModelData) -> list[str]:
        names = [self.from_, *(f"n{k}" for k in range(1, self.segments)), self.to]
        for end in (self.from_, self.to):
            model.check_point(end, names[1:-1])
        if self.from_ == self.to:
            raise ModelError(
                f"both ends are called {self.to!r}",
                element=self.label,
                remedy="give them different names",
            )
        return names

    def _section(self, model: ModelData) -> tuple[SX, SX]:
        """Area and second moment of area."""
        if self.section is None:
            if self.area is None or self.inertia is None:
                needed = {"area": ..., "inertia": ..., "section": ...}
                problem = Message(
                    "{} needs {area} (m²) and {inertia} (m⁴), or {section}, such as"
                    " varimech.circle(diameter)",
                    self.label,
                    **needed,
                )
                raise ModelError(problem)
            return self.area, self.inertia
        if self.area is not None or self.inertia is not None:
            both = {"section": ..., "area": ..., "inertia": ...}
            raise ModelError(
                Message("give either {section} or {area} and {inertia}, not both", **both),
                element=self.label,
            )
        if not isinstance(self.section, Section):
            remedy = "use varimech.circle(diameter), tube, rectangle or square"
            raise ModelError(
                "is none", label=Label(self.label, "section"), value=self.section, remedy=remedy
            )
        shape, numbers = SHAPES[self.section.shape], model.parameter_set
        if shape.directions < self.dimension:
            alike = "in space a beam bends alike in all directions"
            raise ModelError(alike, element=self.label, remedy="use a circle, a tube or a square")
        sizes = [
            numbers.scalar(
                size, Label(self.label, "section", f"section: {name}"), "non-negative", unit="m"
            )
            for name, size in zip(shape.sizes, self.section.sizes, strict=True)
        ]
        area, inertia = shape.area_and_inertia(*sizes)
        return (
            numbers.scalar(area, Label(self.label, "area"), "positive", unit="m²"),
            numbers.scalar(inertia, Label(self.label, "inertia"), "non-negative", unit="m⁴"),
        )

    def _mass(self, area: SX, length: SX) -> SX:
        if self.density is not None and self.mass is None:
            return self.density * area * length
        if self.mass is not None and self.density is None:
            return self.mass
        both = {"density": ..., "mass": ...}
        raise ModelError(
            Message("{} needs either {density} (kg/m³) or {mass} (kg)", self.label, **both)
        )

    def _rayleigh(self, model: ModelData) -> tuple[SX, SX]:
        """γ and β."""
        if not hasattr(self.damping, "__len__") or len(self.damping) != 2:
            problem = "must be a pair (γ in 1/s, β in s)"
            label = Label(self.label, "damping")
            raise ModelError(problem, label=label, value=self.damping)
        γ, β = (
            model.parameter_set.scalar(
                x, Label(self.label, "damping").component(k), "non-negative", unit=("1/s", "s")[k]
            )
            for k, x in enumerate(self.damping)
        )
        return γ, β
