"""The word for beams."""

from __future__ import annotations

from typing import Any

from ..core.errors import ModelError, check_whole
from ..core.names import DOT, SLASH
from ..core.symbols import SX
from .beam import MASSES, MATERIALS, Beam
from .beam_shape import shape_of
from .body import Point
from .body_words import BodyWords
from .sections import SHAPES, Section
from .writing import Number, change


class BeamWords(BodyWords):
    """Beams, beside rigid bodies."""

    @change
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
        section: Section | None = None,
        density: Number = None,
        mass: Number = None,
        length: Number = None,
        natural_length: Number = None,
        shape: Any = None,
        material: str = "logarithmic",
        masses: str = "consistent",
        damping: tuple[Number, Number] = (0.0, 0.0),
        floating: bool = False,
    ) -> Beam:
        """A slender elastic beam, bending and stretching by any amount, with a named point at each
        end; without shear and torsion.

        Its ends are connected like those of bars: by revolute joints (spherical ones in space), or
        held in a direction by `clamp`. Between them it has nodes 'n1', 'n2', …, which forces,
        springs, joints and measures can name like any other point ('name.n1'). At the start it has
        its unstressed shape; there it needs values as a bar would.

        Args:
            name: its name.
            from_: name of the point at its first end.
            to: name of the point at its other end.
            segments: number of equal segments, 1 or more. Deflections of pinned beams and
                cantilevers are within 2.3 % with 8 and 0.2 % with 32, those of beams clamped at
                both ends within 9 % and 0.6 %; no two segments may come to fold by more than 90°.
            E: Young's modulus, Pa.
            area: of the cross-section, m².
            inertia: second moment of area for bending, m⁴ (in space the same in all directions).
            section: area and inertia together, such as `varimech.circle(0.01)`, `tube`, `rectangle`
                or `square`.
            density: kg/m³; the mass is density × area × natural_length. Or give:
            mass: of the whole beam, kg.
            length: of the straight beam at the start, m.
            natural_length: of the unstressed beam, m; the length at the start if not given. Two
                parameters for the two lengths tell apart what a change of the geometry does
                (`length`) and what a change of the unstressed length alone (`natural_length`).
            shape: of a curved beam instead of `length`: a function from s in [0, 1] to a place,
                such as `lambda s: (s, 0.1 * s * (1 - s))` or the texts ("s", "0.1*s*(1 - s)"), or
                one place for each node (m, in a frame of the beam's own). It is the unstressed
                shape too (scaled, if natural_length is given).
            material: how it stretches, "logarithmic" or "linear" in the stretch.
            masses: "consistent" (exact for rigid motions) or "lumped" at the nodes.
            damping: (γ, β), after Rayleigh: −γ M v (1/s) on all masses, and β (s) times the rates
                of stretching and bending, clamps included, with the stiffness of each; small
                vibrations of frequency ω are damped by γ/(2ω) + βω/2 of the critical.
            floating: True for a beam that is meant to have no path of joints to the ground.
        """
        self.data.check_new("beam", name, SLASH + DOT)
        label, n = f"beam {name!r}", self.data.parameter_set
        check_whole(label, 1, segments=segments)
        count = int(segments)
        for option, value, known in (("material", material, MATERIALS), ("masses", masses, MASSES)):
            if value not in known:
                raise ModelError(
                    f"{label}: {option} = {value!r} must be one of {', '.join(map(repr, known))}"
                )
        names = self._node_names(label, from_, to, count)
        shape_ = shape_of(n, length, shape, count, self.dimension, label)
        area_, inertia_ = self._section(label, area, inertia, section)
        L0 = shape_.length
        if natural_length is not None:
            L0 = n.scalar(natural_length, f"{label}: natural_length", "positive", unit="m")
        mass_ = self._beam_mass(label, density, mass, area_, L0)
        γ, β = self._rayleigh(label, damping)
        points: list[Point] = []
        beam = Beam(
            name,
            self.dimension,
            points,
            shape_,
            L0,
            n.scalar(E, f"{label}: E", "positive", unit="Pa"),
            area_,
            inertia_,
            mass_,
            material,
            masses == "lumped",
            β,
            γ,
            floating=floating,
            spine=tuple(names),
        )
        points += [
            Point(beam, point, place) for point, place in zip(names, shape_.places, strict=True)
        ]
        beam.points.update({p.name: p for p in points})
        for end in (points[0], points[-1]):
            self.data.add_point(end)
        self.data.bodies[name] = beam
        return beam

    def _node_names(self, label: str, from_: str, to: str, segments: int) -> list[str]:
        names = [from_, *(f"n{k}" for k in range(1, segments)), to]
        for point in (from_, to):
            self.data.check_point(point, names[1:-1])
        if from_ == to:
            raise ModelError(f"{label}: both ends are called {to!r}; give them different names")
        return names

    def _section(
        self, label: str, area: Number, inertia: Number, section: Section | None
    ) -> tuple[SX, SX]:
        if section is not None:
            if area is not None or inertia is not None:
                raise ModelError(
                    f"{label}: give either section=… or area=… and inertia=…, not both"
                )
            if not isinstance(section, Section):
                raise ModelError(
                    f"{label}: section = {section!r} is none; use varimech.circle(diameter), tube,"
                    " rectangle or square"
                )
            shape = SHAPES[section.shape]
            if shape.directions < self.dimension:
                raise ModelError(
                    f"{label}: in space a beam bends alike in all directions; use a circle, a tube"
                    " or a square"
                )
            sizes = [
                self.data.parameter_set.scalar(
                    size, f"{label}: section: {name}", "non-negative", unit="m"
                )
                for name, size in zip(shape.sizes, section.sizes, strict=True)
            ]
            area, inertia = shape.area_and_inertia(*sizes)
        if area is None or inertia is None:
            raise ModelError(
                f"{label} needs area=… (m²) and inertia=… (m⁴), or section=…, such as"
                " varimech.circle(diameter)"
            )
        return (
            self.data.parameter_set.scalar(area, f"{label}: area", "positive", unit="m²"),
            self.data.parameter_set.scalar(inertia, f"{label}: inertia", "non-negative", unit="m⁴"),
        )

    def _beam_mass(self, label: str, density: Number, mass: Number, area: SX, length: SX) -> SX:
        if (density is None) == (mass is None):
            raise ModelError(f"{label} needs either density=… (kg/m³) or mass=… (kg)")
        if mass is not None:
            return self.data.parameter_set.scalar(mass, f"{label}: mass", "positive", unit="kg")
        return (
            self.data.parameter_set.scalar(density, f"{label}: density", "positive", unit="kg/m³")
            * area
            * length
        )

    def _rayleigh(self, label: str, damping: Any) -> tuple[SX, SX]:
        """γ and β."""
        if not hasattr(damping, "__len__") or len(damping) != 2:
            raise ModelError(f"{label}: damping = {damping!r} must be a pair (γ in 1/s, β in s)")
        γ, β = (
            self.data.parameter_set.scalar(
                x, f"{label}: damping[{k}]", "non-negative", unit=("1/s", "s")[k]
            )
            for k, x in enumerate(damping)
        )
        return γ, β
