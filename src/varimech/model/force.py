"""Forces: each stores potential energy, or does work at given rates, or both.

An element with efforts f_k at rates w_k (linear in the velocities) contributes the generalised
force  Q = Σ (∂w_k/∂q̇)ᵀ f_k − ∂V/∂q.  It may also own coordinates (`own_coordinates`), with a
kinetic energy or rates ż of first-order states, and impose constraints.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from ..core.gradual import is_gradual
from ..core.names import Named
from ..core.symbols import SX, symbols_in
from .body import Body, Frames, Point
from .contact_law import Contact, ContactLabel
from .element import Element
from .figures import Figure
from .own_coordinates import OwnCoordinate
from .scalar_outputs import Distance

if TYPE_CHECKING:
    from .model_data import ModelData
    from .state import State

SHAPES = ("spring", "damper")
"""How drawings can show a force between two points."""


@dataclass(frozen=True)
class StatedEvent:
    """An event that an element declares: the changes where one of its functions vanishes."""

    name: str
    """Name in results and objectives."""
    direction: str
    """"rising", "falling" or "both"."""
    modes: Mapping[str, float] = field(default_factory=dict)
    """New values of modes."""
    stops: bool = False
    """Whether it ends the run."""
    resets: int = 0
    """Number of rates and states that it resets."""
    of_states: bool = False
    """Whether it resets first-order states only, and no velocities."""
    at_start: bool = False
    """Whether it also resets at the start of a run if its function is not positive there."""
    what: str = "event"
    """What results call it."""

    @property
    def reset_mode(self) -> str | None:
        """Name of the mode that enables the reset of rates; None if it resets none."""
        return f"reset by {self.name}" if self.resets else None

    @property
    def slacks(self) -> tuple[str, ...]:
        """Names of the slack coordinates that its resets require."""
        return tuple(f"slack {k} of {self.name}" for k in range(self.resets))


class ForceLaw(Named):
    """Interface of every force; by default it does nothing.

    `state` gives an element the coordinates that it owns, `state.state(name)`, angles that count
    turns, `state.angle(name)`, and all other quantities of the mechanism.
    """

    constraint_unit: ClassVar[str] = ""
    """Unit of its constraint, "m" or "rad", if it has exactly one: `effort` is then an output, the
    force or torque that the constraint exerts in the direction of increasing residuals.
    """

    is_driver: ClassVar[bool] = False
    """Whether its constraints impose a motion: the motions that they impose still count as degrees
    of freedom.
    """
    has_clearance: ClassVar[bool] = False
    """Whether it replaces a joint, from which it has a `deviation`."""

    assembly_hint: ClassVar[str] = ""
    """What else to check if its constraints are not satisfied at the initial conditions."""

    is_sampled: ClassVar[bool] = False
    """Whether it changes at instants only, so that its rates are meaningless for equilibria and
    modes.
    """

    @property
    def bodies(self) -> tuple[Body, ...]:
        """Bodies on whose relative motion alone it depends; none if it depends on their absolute
        poses.
        """
        return ()

    def coordinates(self) -> tuple[OwnCoordinate, ...]:
        """Coordinates that it owns, in addition to those of bodies and joints."""
        return ()

    def potential_energy(self, frames: Frames, state: State) -> SX:
        """V in joules."""
        return SX(0)

    def kinetic_energy(self, frames: Frames, state: State) -> SX:
        """Kinetic energy T of its own inertias (J), in the rates of coordinates that it owns."""
        return SX(0)

    def constraints(self, frames: Frames, state: State) -> SX:
        """Residuals, functions of positions and time, that vanish along every motion."""
        return SX(0, 1)

    def ties(self, frames: Frames, state: State) -> SX:
        """Its constraints, as lengths, that determine its own coordinates without inertia. A
        kinetic energy of the rates of these constraints, which are zero, keeps the mass matrix
        regular.
        """
        return SX(0, 1)

    @property
    def velocity_rows(self) -> int:
        """Number of its velocity constraints; must not depend on the motion."""
        return 0

    def velocity_constraints(self, frames: Frames, state: State) -> SX:
        """Residuals Ψ(q, q̇, t), linear in the velocities, that vanish along every motion and are
        not rates of position constraints; their forces act along ∂Ψ/∂q̇.
        """
        return SX(0, 1)

    def velocity_slacks(self) -> tuple[str, ...]:
        """Names of slack coordinates, one for each velocity constraint, whose equations take the
        place of position constraints.
        """
        return tuple(f"slack {k} of velocities of {self.name}" for k in range(self.velocity_rows))

    def effort_names(self) -> dict[str, str]:
        """Units of its equations, by the names that `effort` uses for their forces: position
        constraints first, then velocity constraints.
        """
        return {self.name: self.constraint_unit} if self.constraint_unit else {}

    def explicit_efforts(self, frames: Frames, state: State) -> Mapping[str, SX]:
        """Forces by the names of `effort_names`, where they are functions of the state rather than
        constraint forces; none otherwise.
        """
        return {}

    def contact_labels(self) -> tuple[ContactLabel, ...]:
        """Its unilateral contacts; must not depend on the motion."""
        return ()

    def contacts(self, frames: Frames, state: State) -> Sequence[Contact]:
        """Gap, restitution and friction of each of them, in the order of `contact_labels`."""
        return ()

    def gap_names(self) -> tuple[str, ...]:
        """Names of the gaps between its surfaces, rigid or compliant."""
        return ()

    def surface_gaps(self, frames: Frames, state: State) -> Sequence[SX]:
        """These gaps, in that order."""
        return ()

    def deviation(self, frames: Frames) -> SX:
        """Offset from the ideal joint, if `has_clearance`: components in the frame of its first
        body (m).
        """
        return SX(0, 1)

    def gap_distance(self, gap: SX) -> SX:
        """Distance between two surfaces from the value of their gap, where the gap is scaled."""
        return gap

    def loads(self) -> tuple[tuple[SX, SX], ...]:
        """Pairs (symbol, expression) of quantities other than the state that its forces depend on:
        functions of the multipliers of joints, written in the symbols that represent these.
        """
        return ()

    def events(self) -> tuple[StatedEvent, ...]:
        """Its events; must not depend on the motion."""
        return ()

    def event_functions(self, frames: Frames, state: State) -> Sequence[SX]:
        """Functions that vanish at each of its events; the state includes accelerations and
        reactions.
        """
        return ()

    def resets(self, frames: Frames, state: State) -> Sequence[Sequence[tuple[SX, SX]]]:
        """Pairs (rate, new value) that each of its events resets: the rate is linear in the
        velocities or a first-order state, the new value a function of the state before the event.
        """
        return [()] * len(self.events())

    def rates(self, frames: Frames, state: State) -> Sequence[SX]:
        """Rates ż of its first-order states, in their order, in their units per second."""
        return ()

    def signal_units(self) -> dict[str, str]:
        """Units of the signals that it provides, by the names that `signal` uses."""
        return {}

    def signals(self, frames: Frames, state: State) -> Sequence[SX]:
        """These signals, in that order."""
        return ()

    def check_references(self, model: ModelData) -> None:
        """Check the names of states and signals that later elements may define."""

    rates_by_state: ClassVar[bool] = False
    """Whether its `efforts` compute rates with the given state instead of the frames."""

    def efforts(self, frames: Frames, state: State) -> list[tuple[SX, SX]]:
        """Pairs (rate, effort): velocity and force, or angular velocity and torque."""
        return []

    def is_gradual(self, frames: Frames, state: State) -> bool:
        """Whether it varies no faster than the motion that it depends on. The error estimate then
        resolves it completely, and needs no additional short steps.

        Unless an element overrides this, a force is gradual if it consists of sums and products of
        quantities that depend on the motion; functions of time and parameters may be arbitrary.
        """
        stated = [
            self.potential_energy(frames, state),
            *self.rates(frames, state),
            *[x for pair in self.efforts(frames, state) for x in pair],
        ]
        q, v, _ = state.coordinates
        return is_gradual(stated, symbols_in(*stated) - symbols_in(q, v))

    def contact_points(self) -> tuple[Point, ...]:
        """A point at each of its contacts, where drawings show that it is active; empty if unknown."""
        return ()

    def acts_at(self) -> tuple[Point, ...]:
        """Points of moving bodies, and ends of its span, at which drawings show its force."""
        span = self.span() if self.drawn_as() is not None else None
        ends = () if span is None else (span.first, span.second)
        at = tuple(dict.fromkeys(p for p in self.contact_points() if not p.body.is_ground))
        return at or (ends if any(not p.body.is_ground for p in ends) else ())

    def figures(self, model: ModelData) -> Sequence[Figure]:
        """Wheels, balls and outlines that drawings show on its bodies."""
        return ()

    def span(self) -> Distance | None:
        """The two points between which it acts, if it acts between two points; they must not
        coincide.
        """
        return None

    def drawn_as(self) -> str | None:
        """How it is drawn between the points of its span, one of `SHAPES`; None if it is not drawn."""
        return None


class Force(Element, ForceLaw):
    """A force, torque, spring or damper."""

    file_section = "forces"

    def add_to(self, model: ModelData) -> None:
        model.add_force(self)
