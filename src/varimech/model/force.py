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
"""What drawings can show a force between two points as."""


@dataclass(frozen=True)
class StatedEvent:
    """What an element does where one of its functions vanishes."""

    name: str
    """As results and objectives name it."""
    direction: str
    """"rising", "falling" or "both"."""
    modes: Mapping[str, float] = field(default_factory=dict)
    """New values of modes."""
    stops: bool = False
    """Whether the run ends."""
    resets: int = 0
    """Number of rates and states that it resets."""
    of_states: bool = False
    """Whether it resets states only, and no velocities."""
    at_start: bool = False
    """Whether it also resets at the start of a run if its function is not positive there."""
    what: str = "event"
    """What results call it."""

    @property
    def reset_mode(self) -> str | None:
        """Name of the mode that lets it reset rates; None where it resets none."""
        return f"reset by {self.name}" if self.resets else None

    @property
    def slacks(self) -> tuple[str, ...]:
        """Names of the slack coordinates that its resets need."""
        return tuple(f"slack {k} of {self.name}" for k in range(self.resets))


class ForceLaw(Named):
    """What every force states; it does nothing unless a method says so.

    `state` gives an element the coordinates that it owns, `state.state(name)`, and angles that
    count turns, `state.angle(name)`, beside all else that the mechanism does.
    """

    constraint_unit: ClassVar[str] = ""
    """Unit of its constraint, "m" or "rad", if it has exactly one: `effort` is then an output, the
    force or torque that the constraint exerts in the direction of increasing residuals.
    """

    is_driver: ClassVar[bool] = False
    """Whether its constraints impose a motion: what they hold counts as degrees of freedom."""
    has_clearance: ClassVar[bool] = False
    """Whether it takes the place of a joint, from which it has a `deviation`."""

    assembly_hint: ClassVar[str] = ""
    """What else to check where its constraints are not met at the start."""

    is_sampled: ClassVar[bool] = False
    """Whether it changes at instants only, so that its rates say nothing of equilibria and modes."""

    @property
    def bodies(self) -> tuple[Body, ...]:
        """Bodies whose motion against each other is all that it depends on; none if it depends on
        where they are.
        """
        return ()

    def coordinates(self) -> tuple[OwnCoordinate, ...]:
        """Coordinates that it owns, beside those of bodies and joints."""
        return ()

    def potential_energy(self, frames: Frames, state: State) -> SX:
        """V in joules."""
        return SX(0)

    def kinetic_energy(self, frames: Frames, state: State) -> SX:
        """T of its own inertias (J), in the rates of coordinates that it owns."""
        return SX(0)

    def constraints(self, frames: Frames, state: State) -> SX:
        """Residuals, of positions and time, that vanish along every motion."""
        return SX(0, 1)

    def ties(self, frames: Frames, state: State) -> SX:
        """Those of its constraints, in lengths, that determine coordinates of its own which have no
        inertia. A kinetic energy of their rates, which are zero, keeps the mass matrix regular.
        """
        return SX(0, 1)

    @property
    def velocity_rows(self) -> int:
        """Number of its equations for velocities, before anything is known of the motion."""
        return 0

    def velocity_constraints(self, frames: Frames, state: State) -> SX:
        """Residuals Ψ(q, q̇, t), linear in the velocities, that vanish along every motion and follow
        from no constraint of positions; their forces act along ∂Ψ/∂q̇.
        """
        return SX(0, 1)

    def velocity_slacks(self) -> tuple[str, ...]:
        """A coordinate for each of them, in whose place they stand among constraints of positions."""
        return tuple(f"slack {k} of velocities of {self.name}" for k in range(self.velocity_rows))

    def effort_names(self) -> dict[str, str]:
        """Units of its equations, by the names under which `effort` knows their forces: constraints
        of positions first, in their order, then those of velocities.
        """
        return {self.name: self.constraint_unit} if self.constraint_unit else {}

    def explicit_efforts(self, frames: Frames, state: State) -> Mapping[str, SX]:
        """Forces under the names of `effort_names`, where they are functions of the state instead of
        forces of constraints; none otherwise.
        """
        return {}

    def contact_labels(self) -> tuple[ContactLabel, ...]:
        """Its unilateral contacts, before anything is known of the motion."""
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
        """Offset from the ideal joint, of a `has_clearance`: components in the frame of its first
        body (m).
        """
        return SX(0, 1)

    def gap_distance(self, gap: SX) -> SX:
        """Distance of two surfaces for the value of their gap, where that is scaled."""
        return gap

    def loads(self) -> tuple[tuple[SX, SX], ...]:
        """Pairs (symbol, expression) of what its forces depend on beside the state: functions of the
        multipliers of joints, in terms of what stands for these.
        """
        return ()

    def events(self) -> tuple[StatedEvent, ...]:
        """What it does at its events, before anything is known of the motion."""
        return ()

    def event_functions(self, frames: Frames, state: State) -> Sequence[SX]:
        """What vanishes at each of its events; the state knows accelerations and reactions."""
        return ()

    def resets(self, frames: Frames, state: State) -> Sequence[Sequence[tuple[SX, SX]]]:
        """Pairs (rate, new value) that each of its events resets: the rate is linear in velocities or
        a first-order state, the new value a function of the state before the event.
        """
        return [()] * len(self.events())

    def rates(self, frames: Frames, state: State) -> Sequence[SX]:
        """ż of its first-order coordinates, in their order, in their units per second."""
        return ()

    def signal_units(self) -> dict[str, str]:
        """Units of the signals that it gives, by the names under which `signal` knows them."""
        return {}

    def signals(self, frames: Frames, state: State) -> Sequence[SX]:
        """These signals, in that order."""
        return ()

    def check_references(self, model: ModelData) -> None:
        """Check names of states and signals that may be those of later elements."""

    rates_by_state: ClassVar[bool] = False
    """Whether rates of its efforts come from the state it is given, not from the frames."""

    def efforts(self, frames: Frames, state: State) -> list[tuple[SX, SX]]:
        """Pairs (rate, effort): velocity and force, or angular velocity and torque."""
        return []

    def is_gradual(self, frames: Frames, state: State) -> bool:
        """Whether it varies no faster than the motion that it depends on. The error estimate then
        sees all of it, and need not be helped by short steps.

        Without a statement of its own, a force is gradual if it consists of sums and products of
        what depends on the motion; any functions may act on time and parameters.
        """
        stated = [
            self.potential_energy(frames, state),
            *self.rates(frames, state),
            *[x for pair in self.efforts(frames, state) for x in pair],
        ]
        q, v, _ = state.coordinates
        return is_gradual(stated, symbols_in(*stated) - symbols_in(q, v))

    def contact_points(self) -> tuple[Point, ...]:
        """A point at each of its contacts, where drawings show that it is active; none if unknown."""
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
        """The two points between which it acts, where that is what it is; they must not
        coincide.
        """
        return None

    def drawn_as(self) -> str | None:
        """How it is drawn between the points of its span, one of `SHAPES`; not at all if None."""
        return None


class Force(Element, ForceLaw):
    """A force, torque, spring or damper."""

    file_section = "forces"

    def add_to(self, model: ModelData) -> None:
        model.add_force(self)
