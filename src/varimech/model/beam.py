"""Rotation-free nonlinear beams: n segments between N = n + 1 nodes, whose positions are the only
unknowns.

    stretching   V = a₀ ℓ W(λ),        λ = r/ℓ           r, ℓ: present and unstressed length of a segment
                 W = E/2 (ln λ)²  (logarithmic),   W = E/2 (λ − 1)²  (linear)
    bending      V = α/2 (a × b − c₀)²                   a, b: two consecutive segments; c₀: a × b of the unstressed shape
                 α = E I (1 + 2/n²) / (ℓ_a² ℓ_b² ℓ_ab)   ℓ_ab = (ℓ_a + ℓ_b)/2; (E I/L₀⁵) n³ (n² + 2) for equal lengths
    inertia      T = m/6 (v₁·v₁ + v₁·v₂ + v₂·v₂)         consistent with straight segments; m/4 (v₁·v₁ + v₂·v₂) if lumped
    damping      −β E A/ℓ ṙ at the rate ṙ,  −β α ċ at the rate ċ of a × b (of |a × b| in space),  −γ M v

With this α the deflection of a simply supported beam under a load at mid-span is exact for even n.
There is neither shear nor torsion: in space, the section of a beam that is curved when unstressed
turns freely about the beam, so only the magnitude of its curvature matters, |a × b| − |c₀|.

J. C. García Orden and J. Cuenca Queipo, J. Comput. Nonlinear Dyn. 12 (2017) 051005; J. C. García
Orden, J. J. Arribas Montejo, F. Gabaldón Castillo and D. Dopico, CILAMCE 2023.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import final

import casadi as ca

from ..core.mathematics import norm
from ..core.symbols import SX, traced, wedge
from .beam_shape import BeamShape
from .body import Body, Frames, Point, Share
from .frame import Frame, Known, spin

STRAIGHT = 1e-9
"""Sine of the angle between segments below which they count as parallel where a direction is
needed.
"""
MATERIALS = ("logarithmic", "linear")
MASSES = ("consistent", "lumped")


@final
@dataclass(frozen=True, eq=False, repr=False)
class Beam(Body):
    """A beam between two of its points. The nodes between its ends are its points 'n1', 'n2', …"""

    nodes: Sequence[Point]
    shape: BeamShape
    """Shape at t = 0."""
    natural_length: SX
    """L₀, unstressed length along the beam (m)."""
    E: SX
    area: SX
    inertia: SX
    mass: SX
    material: str
    lumped: bool
    stiffness_damping: SX
    """β (s)."""
    mass_damping: SX
    """γ (1/s)."""

    @property
    def is_rigid(self) -> bool:
        return False

    @property
    def segments(self) -> int:
        """Number of segments, n."""
        return len(self.nodes) - 1

    @property
    def details(self) -> str:
        return f" of {self.segments} segments between {self.spine[0]!r} and {self.spine[-1]!r}"

    def frame(self, known: Mapping[int, Known]) -> Frame:
        """Frame of the beam from the positions of its nodes. In the plane it turns with the line
        between the ends; in space it has no orientation.
        """
        (_, start, start_rate), (_, end, end_rate) = (
            known[id(self.nodes[k].local)] for k in (0, -1)
        )
        if self.dimension == 3:
            return Frame(start, SX.nan(3, 3), start_rate, SX.nan(3, 3), known)
        s = self.nodes[0].local
        o, R, ȯ, Ṙ = _chord_frame(start, end, start_rate, end_rate, s, self.nodes[-1].local - s)
        return Frame(o, R, ȯ, Ṙ, known)

    def shares(self, frame: Frame, gravity: SX) -> list[Share]:
        r = [frame.position(p.local) for p in self.nodes]
        v = [frame.velocity(p.local) for p in self.nodes]
        contributions = [
            self._segment(k, r[k], r[k + 1], v[k], v[k + 1], gravity) for k in range(self.segments)
        ]
        return contributions + [
            self._bend(k, r[k - 1 : k + 2], v[k - 1 : k + 2]) for k in range(1, self.segments)
        ]

    def segment_length(self, k: int) -> SX:
        """Unstressed length ℓ of segment k (m)."""
        if self.shape.straight:
            return self.natural_length / self.segments
        return self._unstressed_ratio * self.shape.segment_length(k)

    def stretching_force(self, frame: Frame, k: int) -> SX:
        """Force (N) along segment k, counted from 0, due to its stretch; tension is positive."""
        r = SX.sym("r")
        force = ca.gradient(_ENERGY[self.material](r, self.segment_length(k), self.E, self.area), r)
        return ca.substitute(force, r, ca.norm_2(self._vector(frame, k)))

    def axial_force(self, frame: Frame, k: int) -> SX:
        """Axial force (N) that segment k transmits: ∂V/∂|a| of the whole energy of the beam,
        because the bending energy (a × b)² depends on lengths, too.
        """
        force, length = self.stretching_force(frame, k), ca.norm_2(self._vector(frame, k))
        for node in (k, k + 1):
            if 1 <= node < self.segments:
                c = bent(*self._vectors_at(frame, node), SX(0))
                force += self._bending_stiffness(node) * self._bend_of(frame, node) * c / length
        return force

    def _vector(self, frame: Frame, k: int) -> SX:
        """Vector along segment k."""
        return frame.position(self.nodes[k + 1].local) - frame.position(self.nodes[k].local)

    def _vectors_at(self, frame: Frame, node: int) -> tuple[SX, SX]:
        """Vectors of the two segments that meet at a node between the ends."""
        return self._vector(frame, node - 1), self._vector(frame, node)

    def _bend_of(self, frame: Frame, node: int) -> SX:
        """a × b minus its unstressed value c₀, as scalars."""
        return bent(*self._vectors_at(frame, node), self._unstressed_bend(node))

    def bending_moment(self, frame: Frame, k: int) -> SX:
        """Bending moment at node k, between the ends (N·m): dV/dθ, with |a × b| = |a| |b| sin θ.

        In the plane positive where it bends the beam to the left of its way; in space positive
        where it bends it more than unstressed.
        """
        return (
            self._bending_stiffness(k)
            * self._bend_of(frame, k)
            * ca.dot(*self._vectors_at(frame, k))
        )

    def clamp_stiffness(self, end: Point) -> SX:
        """Stiffness k of  V = k/2 |d × a|²: half a cell of the beam between the direction d of a
        clamp and the segment a at that end.

        k = 2 E I (1 + 2/n²)/ℓ³. A clamped beam is half of a beam that continues as its mirror
        image; the cell at the clamp then bends by twice the angle between d and a, and half of its
        energy belongs to this beam. This keeps the order of convergence at 2, as elsewhere.
        """
        n = self.segments
        ℓ = self.segment_length(0 if end is self.nodes[0] else n - 1)
        return 2 * self.E * self.inertia * (1 + 2 / n**2) / ℓ**3

    def clamp_bend(self, end: Point) -> SX:
        """c₀ of a clamp: d × a of the unstressed shape, with the tangent of the curve as d."""
        at_start = end is self.nodes[0]
        if not self.shape.bent[1 if at_start else self.segments - 1]:
            return SX(0)
        places = self.shape.places
        a = places[1] - places[0] if at_start else places[-2] - places[-1]
        c = wedge(self.shape.tangent(at_start), a) * self._unstressed_ratio
        return c if self.dimension == 2 else ca.norm_2(c)

    def fastest_vibration(self) -> SX:
        """Upper bound on the angular frequencies of the free beam (rad/s): the highest frequency of
        one segment, and of three nodes in bending.
        """
        n = self.segments
        ℓ = self.natural_length / n
        m, share = self.mass / n, 4 if self.lumped else 12
        stretching = share * self.E * self.area / ℓ / m
        bending = share * 4 * self.E * self.inertia * (1 + 2 / n**2) / ℓ**3 / m if n > 1 else SX(0)
        return ca.sqrt(stretching + bending)

    @property
    def _unstressed_ratio(self) -> SX:
        """Ratio of unstressed length to length at t = 0."""
        return self.natural_length / self.shape.length

    def _unstressed_bend(self, k: int) -> SX:
        """c₀: signed in the plane, a magnitude in space; zero where the shape is straight."""
        if not self.shape.bent[k]:
            return SX(0)
        c = wedge(*self.shape.segments_at(k)) * self._unstressed_ratio**2
        return c if self.dimension == 2 else ca.norm_2(c)

    def _bending_stiffness(self, k: int) -> SX:
        """Bending stiffness α."""
        first, second = self.segment_length(k - 1), self.segment_length(k)
        n = self.segments
        if self.shape.straight:
            return self.E * self.inertia / self.natural_length**5 * float(n**3 * (n**2 + 2))
        return (
            self.E * self.inertia * (1 + 2 / n**2) / ((first * second) ** 2 * (first + second) / 2)
        )

    def _segment(self, k: int, r1: SX, r2: SX, v1: SX, v2: SX, gravity: SX) -> Share:
        ℓ, m = self.segment_length(k), self._segment_mass(k)
        kinetic = (_lumped if self.lumped else _consistent)(v1, v2, m)
        stretching = _STRETCHING[self.material](r1, r2, ℓ, self.E, self.area)
        efforts = []
        if not self.stiffness_damping.is_zero():
            rate = _stretch_rate(r1, r2, v1, v2)
            efforts.append((rate, -self.stiffness_damping * self.E * self.area / ℓ * rate))
        if not self.mass_damping.is_zero():
            momenta = _momenta(
                v1, v2, m, SX(0.5 if self.lumped else 1 / 3), SX(0 if self.lumped else 1 / 6)
            )
            efforts += [(v, -self.mass_damping * p) for v, p in zip((v1, v2), momenta, strict=True)]
        return Share(kinetic, stretching + _weight(r1, r2, m, gravity), tuple(efforts))

    def _segment_mass(self, k: int) -> SX:
        return (
            self.mass / self.segments
            if self.shape.straight
            else self.mass * self.shape.segment_length(k) / self.shape.length
        )

    def _bend(self, k: int, r: list[SX], v: list[SX]) -> Share:
        α, c0 = self._bending_stiffness(k), self._unstressed_bend(k)
        straight_in_space = self.dimension == 3 and not self.shape.bent[k]
        energy = _straight_bending(*r, α) if straight_in_space else _bending(*r, α, c0)
        efforts = []
        if not self.stiffness_damping.is_zero():
            rate = bend_rate(r[1] - r[0], r[2] - r[1], v[1] - v[0], v[2] - v[1])
            efforts.append((rate, -self.stiffness_damping * α * rate))
        return Share(SX(0), energy, tuple(efforts))


@dataclass(frozen=True)
class BeamNode:
    """A node of a beam as an object that rotates, with the mean angular velocity of the segments
    that meet there.
    """

    point: Point

    @property
    def name(self) -> str:
        """Name of the point at this node."""
        return self.point.label

    def angular_velocity(self, frames: Frames) -> SX:
        """ω; in space without the component along the segments, because a beam has no torsion."""
        beam = self.point.body
        assert isinstance(beam, Beam)
        k, frame = beam.nodes.index(self.point), frames[beam]
        pairs = [(i, i + 1) for i in (k - 1, k) if 0 <= i < beam.segments]
        rates = []
        for pair in pairs:
            first, second = (beam.nodes[i].local for i in pair)
            a, ȧ = (
                frame.position(second) - frame.position(first),
                frame.velocity(second) - frame.velocity(first),
            )
            rates.append(wedge(a, ȧ) / ca.dot(a, a))
        return sum(rates, SX(0)) / len(rates)


@traced
def _chord_frame(
    start: SX, end: SX, start_rate: SX, end_rate: SX, s: SX, d: SX
) -> tuple[SX, SX, SX, SX]:
    """Origin o, rotation R and their rates, from the ends of a line with local coordinates s and s
    + d.
    """
    c, ċ = end - start, end_rate - start_rate
    cosine, sine = (x / (ca.norm_2(c) * ca.norm_2(d)) for x in (ca.dot(d, c), wedge(d, c)))
    R = ca.vertcat(ca.horzcat(cosine, -sine), ca.horzcat(sine, cosine))
    Ṙ = spin(wedge(c, ċ) / ca.dot(c, c)) @ R
    return start - R @ s, R, start_rate - Ṙ @ s, Ṙ


def _logarithmic(r: SX, ℓ: SX, E: SX, area: SX) -> SX:
    return area * ℓ * E / 2 * ca.log(r / ℓ) ** 2


def _linear(r: SX, ℓ: SX, E: SX, area: SX) -> SX:
    return area * ℓ * E / 2 * (r / ℓ - 1) ** 2


_ENERGY = {"logarithmic": _logarithmic, "linear": _linear}


def _between_ends(energy: Callable[[SX, SX, SX, SX], SX]) -> Callable[[SX, SX, SX, SX, SX], SX]:
    return traced(lambda r1, r2, ℓ, E, area: energy(ca.norm_2(r2 - r1), ℓ, E, area))


_STRETCHING = {material: _between_ends(energy) for material, energy in _ENERGY.items()}


@traced
def _stretch_rate(r1: SX, r2: SX, v1: SX, v2: SX) -> SX:
    return ca.dot(r2 - r1, v2 - v1) / ca.norm_2(r2 - r1)


@traced
def _consistent(v1: SX, v2: SX, m: SX) -> SX:
    return m / 6 * (ca.sumsqr(v1) + ca.dot(v1, v2) + ca.sumsqr(v2))


@traced
def _lumped(v1: SX, v2: SX, m: SX) -> SX:
    return m / 4 * (ca.sumsqr(v1) + ca.sumsqr(v2))


@traced
def _momenta(v1: SX, v2: SX, m: SX, own: SX, other: SX) -> tuple[SX, SX]:
    return m * (own * v1 + other * v2), m * (other * v1 + own * v2)


@traced
def _weight(r1: SX, r2: SX, m: SX, gravity: SX) -> SX:
    return -m / 2 * ca.dot(gravity, r1 + r2)


def bent(a: SX, b: SX, c0: SX) -> SX:
    """a × b minus its unstressed value, where both are scalars."""
    c = wedge(a, b)
    return (c if c.numel() == 1 else norm(c)) - c0


@traced
def _bending(r1: SX, r2: SX, r3: SX, α: SX, c0: SX) -> SX:
    return α / 2 * bent(r2 - r1, r3 - r2, c0) ** 2


@traced
def _straight_bending(r1: SX, r2: SX, r3: SX, α: SX) -> SX:
    return α / 2 * ca.sumsqr(wedge(r2 - r1, r3 - r2))


@traced
def bend_rate(a: SX, b: SX, ȧ: SX, ḃ: SX) -> SX:
    """Rate of a × b in the plane, and of |a × b| in space; it vanishes for rigid-body motions."""
    c, ċ = wedge(a, b), wedge(ȧ, b) + wedge(a, ḃ)
    if c.numel() == 1:
        return ċ
    return ca.dot(c, ċ) / ca.sqrt(ca.sumsqr(c) + STRAIGHT**2 * ca.sumsqr(a) * ca.sumsqr(b))
