"""Equations of motion of elements, by differentiation of their energies and powers (Lagrange's
equations).

    M(q) q̈ + Φ_qᵀ λ = Q(q, q̇, t),     Φ(q, t) = 0,     all depending on the parameters ρ,
    M = ∂²T/∂q̇²,     Q = Σ (∂w/∂q̇)ᵀ f − ∂V/∂q + ∂T/∂q − (∂²T/∂q̇∂q) q̇

Coordinates for which shorter expressions of M and the inertia forces exist may supply these.

A block of constraints may be stated for velocities, Ψ(q, q̇, t) = 0 linear in q̇: its forces act
along Ψ_q̇, which replaces Φ_q in the equations of motion. Forces may depend on the multipliers of
their own element (dry friction): the matrix of λ is then not the transpose of Φ_q.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import casadi as ca

from ..core.symbols import SX


@dataclass(frozen=True, eq=False)
class Constraint:
    """A named block of scalar constraints.

    `at_start` is the form used for assembly, where the algebraic form has spurious solutions (an
    angle half a turn off); `joints` are the joints (or the driver) that the block represents.
    """

    name: str
    residuals: SX
    joints: tuple[str, ...] = ()
    at_start: SX | None = None
    rate: SX | None = None
    """Ψ(q, q̇, t), where the block constrains velocities; its residuals then constrain a slack
    only.
    """
    impact: SX | None = None
    """Expression that an impact sets to zero after it, instead of Φ̇ (`contact_law`)."""
    bounce: SX | None = None
    """Term that it adds to that expression, a function of the velocities before the impact."""
    contact: ContactUnit | None = None
    """The contact or the friction to which the block belongs."""
    multipliers: SX | None = None
    """Symbols for its multipliers in loads (`formulations/loads`)."""

    @property
    def is_nonholonomic(self) -> bool:
        """Whether it constrains velocities at all times: sticking friction does so in its mode
        only.
        """
        return self.rate is not None and self.contact is None


@dataclass(frozen=True, eq=False)
class ContactUnit:
    """A unit with modes: a contact, or its friction."""

    label: str
    watched: SX
    """Gap, or slip velocity, which may have several components."""
    first_mode: int
    """Index of its first mode in ρ."""
    multiplier: SX
    """Symbol for the multiplier of its block in forces of the same element."""
    restitution: SX | None = None
    """Coefficient of restitution ε of a contact; None for friction."""
    limit: SX | None = None
    """Limit μ₀ N of sticking friction, in terms of symbols of multipliers; None for a contact."""


@dataclass(frozen=True, eq=False)
class EventUnit:
    """An event of a model: actions that follow when a function vanishes."""

    name: str
    function: SX
    direction: str
    """Sign of the change that triggers it: "falling", "rising" or "both"."""
    first_mode: int = -1
    """Index in ρ of the mode that enables its reset of velocities; −1 where it resets none."""
    modes: tuple[tuple[int, float], ...] = ()
    """Indices in ρ of modes that it sets, and their values."""
    stops: bool = False
    """Whether it ends the run."""
    of_states: bool = False
    """Whether it resets states only, and no velocities."""
    at_start: bool = False
    """Whether it also resets at the start of a run if its function is not positive there."""
    what: str = "event"
    """Name of its kind in results."""


@dataclass(frozen=True)
class Element:
    """Contribution of one element of the mechanism to the equations; it depends on few coordinates."""

    name: str
    kinetic: SX = field(default_factory=lambda: SX(0))
    potential: SX = field(default_factory=lambda: SX(0))
    efforts: tuple[tuple[SX, SX], ...] = ()
    """Pairs (rate, effort)."""
    constraints: tuple[Constraint, ...] = ()
    impulses: tuple[tuple[SX, SX], ...] = ()
    """Pairs (rate, effort) that act in an impact: efforts that depend on its impulses."""
    loads: tuple[tuple[SX, SX], ...] = ()
    """Pairs (symbol, expression in symbols of multipliers) on which its efforts depend."""
    initial: tuple[SX, SX] | None = None
    """Residual of an initial condition, and of its rate, where the element is an initial condition.
    """

    @property
    def stated(self) -> list[SX]:
        """All expressions that define the element: energies, rates and efforts, constraints,
        conditions at impacts, and initial conditions.
        """
        at_impacts = [x for c in self.constraints for x in (c.impact, c.bounce) if x is not None]
        return [*self.stated_between_impacts, *at_impacts, *(self.initial or ())]

    @property
    def stated_between_impacts(self) -> list[SX]:
        """Expressions that define the element between impacts."""
        efforts = [x for pair in self.efforts for x in pair]
        limits = [None if c.contact is None else c.contact.limit for c in self.constraints]
        more = [x for x in (*[c.rate for c in self.constraints], *limits) if x is not None]
        residuals = [c.residuals for c in self.constraints]
        return [self.kinetic, self.potential, *efforts, *residuals, *more]


class Inertia(Protocol):
    """Inertia forces of all elements together, in a shorter form than Lagrange's equations yield."""

    @property
    def mass(self) -> SX:
        """Mass matrix M."""
        ...

    def resistance(self, a: SX, /) -> SX:
        """Return M q̈ and all other inertia forces, on the same side of the equation."""
        ...


@dataclass(frozen=True, eq=False)
class AugmentedInertia:
    """Inertia forces of the first coordinates, as supplied by these, together with those of
    elements that have their own kinetic energy.
    """

    supplied: Inertia
    q: SX
    v: SX
    kinetic: SX

    @cached_property
    def mass(self) -> SX:
        """Mass matrix M."""
        supplied, n = self.supplied.mass, self.q.numel()
        more = n - supplied.shape[0]
        return ca.diagcat(supplied, SX(more, more)) + ca.jacobian(self._momentum, self.v)

    def resistance(self, a: SX) -> SX:
        """Return M q̈ and all other inertia forces, on the same side of the equation."""
        count = self.supplied.mass.shape[0]
        first = self.supplied.resistance(a[:count])
        turning = ca.jtimes(self._momentum, self.q, self.v) - ca.gradient(self.kinetic, self.q)
        own = ca.jtimes(self._momentum, self.v, a) + turning
        return ca.vertcat(first, SX(a.numel() - count, 1)) + own

    @cached_property
    def _momentum(self) -> SX:
        return ca.gradient(self.kinetic, self.v)


@dataclass(frozen=True, eq=False)
class Dynamics:
    """Equations of motion of a whole mechanism, or of one element in its own coordinates."""

    q: SX
    v: SX
    ρ: SX
    t: SX
    elements: tuple[Element, ...]
    inertia: Inertia | None = field(default=None, kw_only=True)

    @cached_property
    def coordinate_count(self) -> int:
        """Number of coordinates; cached, because every run uses it."""
        return int(self.q.numel())

    @cached_property
    def a(self) -> SX:
        """Symbols of q̈."""
        return SX.sym("a", self.q.numel())

    @cached_property
    def λ(self) -> SX:
        """Symbols of the multipliers of the constraints."""
        return SX.sym("λ", self.constraints.numel())

    @cached_property
    def blocks(self) -> tuple[Constraint, ...]:
        """Constraints of all elements."""
        return tuple(block for element in self.elements for block in element.constraints)

    @cached_property
    def constraints(self) -> SX:
        """Constraints Φ(q, ρ, t)."""
        return ca.vertcat(SX(0, 1), *[b.residuals for b in self.blocks])

    @property
    def constrains_velocities(self) -> bool:
        """Whether any block constrains velocities."""
        return any(b.rate is not None for b in self.blocks)

    @cached_property
    def constraint_rate(self) -> SX:
        """Φ̇ = Φ_q q̇ + Φ_t, or Ψ for blocks that constrain velocities."""
        if not self.constrains_velocities:
            return self.differentiate(self.constraints)
        rows = [self.differentiate(b.residuals) if b.rate is None else b.rate for b in self.blocks]
        return ca.vertcat(SX(0, 1), *rows)

    @cached_property
    def constraint_acceleration(self) -> SX:
        """Φ̈ = Φ_q q̈ + (Φ_q q̇)_q q̇ + 2 Φ_qt q̇ + Φ_tt."""
        return self.differentiate(self.constraint_rate)

    @cached_property
    def constraint_jacobian(self) -> SX:
        """Constraint Jacobian Φ_q."""
        return ca.jacobian(self.constraints, self.q)

    @cached_property
    def rate_jacobian(self) -> SX:
        """∂Φ̇/∂q̇, which is Φ_q, or Ψ_q̇ for blocks that constrain velocities."""
        if not self.constrains_velocities:
            return self.constraint_jacobian
        return ca.jacobian(self.constraint_rate, self.v)

    @cached_property
    def has_velocity_constraints(self) -> bool:
        """Whether velocities are constrained other than by the modes of contacts and friction."""
        return any(b.is_nonholonomic for b in self.blocks)

    @cached_property
    def force_directions(self) -> SX:
        """Φ_q, with Ψ_q̇ for velocity constraints."""
        return self._with_rates(self.constraint_jacobian)

    @cached_property
    def start_jacobian(self) -> SX:
        """Jacobian of `start_positions`, with Ψ_q̇ for velocity constraints."""
        return self._with_rates(ca.jacobian(self.start_positions, self.q))

    def _with_rates(self, J: SX) -> SX:
        """Replace rows of velocity constraints by Ψ_q̇ in a Jacobian whose first rows are
        constraints.
        """
        if not self.has_velocity_constraints:
            return J
        rows = ca.vertsplit(J, [*self._block_rows, J.shape[0]])
        for k, b in enumerate(self.blocks):
            if b.rate is not None and b.is_nonholonomic:
                rows[k] = ca.jacobian(b.rate, self.v)
        return ca.vertcat(*rows)

    @cached_property
    def impact_rate(self) -> SX:
        """Φ̇ as an impact imposes it on the velocities after it, without `bounce`."""
        rates = ca.vertsplit(self.constraint_rate, self._block_rows) if self.blocks else []
        rows = [
            rate if b.impact is None else b.impact
            for rate, b in zip(rates, self.blocks, strict=True)
        ]
        return ca.vertcat(SX(0, 1), *rows)

    @cached_property
    def bounce(self) -> SX:
        """Term added to `impact_rate`, a function of the velocities before the impact."""
        rows = [
            SX.zeros(b.residuals.numel()) if b.bounce is None else b.bounce for b in self.blocks
        ]
        return ca.vertcat(SX(0, 1), *rows)

    @cached_property
    def oblique(self) -> bool:
        """Whether forces depend on multipliers."""
        forces, stands = self._working, [u.multiplier for _, u in self.units]
        return bool(stands) and ca.depends_on(forces, ca.vertcat(*stands))

    @cached_property
    def units(self) -> list[tuple[int, ContactUnit]]:
        """Contacts and frictions, each with the row of its constraint."""
        return [
            (row, b.contact)
            for row, b in zip(self._block_rows[:-1], self.blocks, strict=True)
            if b.contact is not None
        ]

    def of_multipliers(self, expression: SX, λ: SX) -> SX:
        """Substitute multipliers λ for their symbols in an expression."""
        stands = [u.multiplier for _, u in self.units]
        values = [λ[row : row + u.multiplier.numel()] for row, u in self.units]
        for block, row in zip(self.blocks, self._block_rows, strict=False):
            if block.multipliers is not None:
                stands.append(block.multipliers)
                values.append(λ[row : row + block.multipliers.numel()])
        return ca.substitute([expression], stands, values)[0] if stands else expression

    @cached_property
    def loads(self) -> list[tuple[SX, SX]]:
        """Loads of all elements: symbols, and functions of the multipliers."""
        return [pair for e in self.elements for pair in e.loads]

    def of_loads(self, expression: SX) -> SX:
        """Substitute the functions of multipliers for the symbols of loads in an expression."""
        for symbol, load in self.loads:
            expression = ca.substitute(expression, symbol, self.of_multipliers(load, self.λ))
        return expression

    @cached_property
    def _block_rows(self) -> list[int]:
        """First row of each block, followed by the number of rows."""
        rows = [0]
        for block in self.blocks:
            rows.append(rows[-1] + block.residuals.numel())
        return rows

    @cached_property
    def start_positions(self) -> SX:
        """Φ in the form used for assembly, followed by initial conditions."""
        rows = [b.residuals if b.at_start is None else b.at_start for b in self.blocks]
        return ca.vertcat(SX(0, 1), *rows, *[e.initial[0] for e in self.elements if e.initial])

    @cached_property
    def start_velocities(self) -> SX:
        """Φ̇, followed by the rates of initial conditions."""
        return ca.vertcat(self.constraint_rate, *[e.initial[1] for e in self.elements if e.initial])

    @cached_property
    def mass(self) -> SX:
        """Mass matrix M."""
        return ca.jacobian(self._momentum, self.v) if self.inertia is None else self.inertia.mass

    @cached_property
    def forces(self) -> SX:
        """Q without inertia forces."""
        V = sum((e.potential for e in self.elements), SX(0))
        return self.of_multipliers(self._working, self.λ) - ca.gradient(V, self.q)

    def friction_of(self, λ: SX) -> SX:
        """Return the contribution of multipliers to the forces, which are linear in them."""
        whole, without = (self.of_multipliers(self._working, x) for x in (λ, SX.zeros(λ.numel())))
        return whole - without

    def impulses(self, Λ: SX) -> SX:
        """Return generalised impulses of friction in an impact with impulses Λ of the constraints."""
        pairs = [pair for e in self.elements for pair in e.impulses]
        return self.of_multipliers(self._generalised(pairs), Λ)

    @cached_property
    def resistance(self) -> SX:
        """M q̈ and all other inertia forces, on the same side of the equation."""
        if self.inertia is not None:
            return self.inertia.resistance(self.a)
        return self.mass @ self.a + self._turning

    @cached_property
    def balance(self) -> SX:
        """M q̈ + Φ_qᵀ λ − Q, without forces that depend on loads."""
        if not self.loads:
            return self.loaded_balance
        symbols = [symbol for symbol, _ in self.loads]
        return ca.substitute([self.loaded_balance], symbols, [SX(0)] * len(symbols))[0]

    @cached_property
    def loaded_balance(self) -> SX:
        """M q̈ + Φ_qᵀ λ − Q including forces that depend on loads, with loads as symbols."""
        if self.constrains_velocities:
            return self.resistance + self.rate_jacobian.T @ self.λ - self.forces
        pull = ca.jtimes(self.constraints, self.q, self.λ, True)
        return self.resistance + pull - self.forces

    @cached_property
    def symmetric(self) -> bool:
        """Whether the tangent matrix is symmetric: the mass is constant, and all forces that vary
        derive from a potential.
        """
        if self.inertia is not None or ca.depends_on(self.mass, self.q):
            return False
        return ca.jacobian(self._working, ca.vertcat(self.q, self.v)).nnz() == 0

    @cached_property
    def levels(self) -> tuple[SX, SX, SX]:
        """Expressions that vanish along a motion: constraints at position, velocity and
        acceleration level.
        """
        return self.constraints, self.constraint_rate, self.constraint_acceleration

    def differentiate(self, expression: SX) -> SX:
        """Total time derivative, by the chain rule over q, q̇ and t."""
        rate = ca.jtimes(expression, self.q, self.v) + ca.jtimes(expression, self.v, self.a)
        return rate + ca.jtimes(expression, self.t, SX(1))

    def force_of(self, elements: Iterable[Element]) -> SX:
        """Return the generalised force of the given elements."""
        return sum(
            (self._work(e) - ca.gradient(e.potential, self.q) for e in elements),
            SX.zeros(self.q.numel()),
        )

    @cached_property
    def _kinetic(self) -> SX:
        return sum((e.kinetic for e in self.elements), SX(0))

    @cached_property
    def _momentum(self) -> SX:
        return ca.gradient(self._kinetic, self.v)

    @cached_property
    def _turning(self) -> SX:
        """Inertia forces other than M q̈."""
        return ca.jtimes(self._momentum, self.q, self.v) - ca.gradient(self._kinetic, self.q)

    @cached_property
    def _working(self) -> SX:
        """Generalised forces without a potential, except inertia forces."""
        return sum((self._work(e) for e in self.elements if e.efforts), SX(self.q.numel(), 1))

    def _work(self, element: Element) -> SX:
        return self._generalised(element.efforts)

    def _generalised(self, pairs: Iterable[tuple[SX, SX]]) -> SX:
        """Return the generalised force of pairs (rate, effort)."""
        return sum(
            (ca.jtimes(rate, self.v, effort, True) for rate, effort in pairs),
            SX(self.q.numel(), 1),
        )
