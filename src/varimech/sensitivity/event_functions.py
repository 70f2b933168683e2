"""Contacts, friction, user-defined events and samples as functions of the state, from which events,
impacts and their derivatives are computed. `backends/events` contains the equations.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import casadi as ca
import numpy as np

from ..coordinates.dynamics import EventUnit
from ..coordinates.equations import Equations
from ..core.errors import unknown_name
from ..core.symbols import SX, symbols_in
from ..model.contact_law import SMALLEST
from .objective import AT_EVENT, LOWEST, PEAK, Objective, Sample
from .objective_functions import scalar_of

CONTACT, FRICTION, EVENT, EXTREMUM = range(4)
FIELDS, VALUES, WATCHED = 5, 13, 3
"""Number of fields of each unit in its table; of its values; and of its watched functions, whose
zeros are events: gap and normal force; slip velocity, limit − T and limit + T; the function of the
event.
"""
COMPONENTS = 3
"""Number of places among the values for components of a slip."""
DIRECTIONS = {"falling": -1, "both": 0, "rising": 1}


@dataclass(frozen=True, eq=False)
class UnitFunctions:
    """Functions of (state, ρ, t) for all units: contacts, friction, user-defined events, extrema."""

    values: ca.Function
    """For each contact g, ġ, g̈, N and ε; for each friction s, ṡ, T and μ₀ N, where slips of
    several components have |s|, 0, |T|, μ₀ N, and then s, ṡ and T as three numbers each (the first
    of them at 4); for each event its function and the rate, NaN where the rate is not available.
    """
    gradient: ca.Function | None
    """Gradient of the watched functions: with respect to the state, to the parameters along the
    directions, to all parameters, and to time.
    """
    table: np.ndarray
    """(unit, 5): its kind; the contact whose normal force friction depends on, or the sample whose
    extremum is sought, or −1; the index of its first mode in ρ; the direction of an event, or the
    number of components of a slip; and whether it resets velocities (1), states (2), or states also
    at the start of a run (3).
    """
    actions: np.ndarray
    """(action, 3): the event, the index of a mode in ρ and its new value; −1 ends the run."""
    modes: int
    """Number of modes; they are the last entries of ρ."""

    @property
    def count(self) -> int:
        """Number of units."""
        return len(self.table)


@dataclass(frozen=True, eq=False)
class SampleFunctions:
    """Functions of (state, ρ, t) of which objectives take values at events, or extrema."""

    values: ca.Function
    gradient: ca.Function | None
    """Gradient with respect to the state, to the parameters along the directions, to all
    parameters, and to time.
    """
    table: np.ndarray
    """(sample, 3): kind, unit and occurrence, 0 for the last one."""
    factors: np.ndarray
    """(objective, sample): coefficient of each sample in each objective."""

    @property
    def count(self) -> int:
        """Number of samples."""
        return len(self.table)


def has_events(equations: Equations, objectives: Mapping[str, Objective]) -> bool:
    """Whether steps end at events, either of the mechanism or of objectives."""
    return equations.has_events or any(objective.samples for objective in objectives.values())


class EventFunctions:
    """Units of a mechanism, and samples of objectives with the extrema that they require."""

    def __init__(
        self,
        equations: Equations,
        objectives: Mapping[str, Objective],
        directions: np.ndarray | None,
        remembered: int = 0,
    ):
        """Collect the functions; `remembered` is the number of entries that an integrator adds to a
        state, on which nothing depends.
        """
        self._e, self._directions = equations, directions
        self._state = ca.vertcat(equations.packed, SX.sym("memory", remembered))
        self._values: list[SX] = []
        self.watched: list[SX] = []
        """Functions whose zeros are events, `WATCHED` for each unit."""
        self.extrema: dict[int, int] = {}
        """For each watched function that is the rate of a sample, and zero in the expressions here:
        index → number of the sample.
        """
        self.sampled: list[SX] = []
        """Functions that are sampled."""
        self._table: list[list[int]] = []
        self._add_contacts()
        first = len(self._table)
        self._names = {unit.label: k for k, (_, unit) in enumerate(equations.units)}
        self._names |= {event.name: first + k for k, event in enumerate(equations.events)}
        actions = [row for event in equations.events for row in self._add_event(event)]
        self._actions = np.array(actions, dtype=float).reshape(-1, 3)
        self.samples = self._sample_functions(objectives)

    @property
    def units(self) -> UnitFunctions | None:
        """Functions of all units; None for a mechanism without contacts and events."""
        if not self._table:
            return None
        values = ca.Function("units", self._arguments, [ca.densify(ca.vertcat(*self._values))])
        modes = len(self._e.model.parameter_set.modes)
        table = np.array(self._table, dtype=float)
        watched = ca.vertcat(*self.watched)
        gradient = self._gradient("unit_gradient", watched)
        return UnitFunctions(values, gradient, table, self._actions, modes)

    @property
    def _arguments(self) -> list[SX]:
        return [self._state, self._e.ρ, self._e.t]

    def _gradient(self, name: str, w: SX) -> ca.Function | None:
        if self._directions is None:
            return None
        e, w_ρ = self._e, ca.jacobian(w, self._e.ρ)
        rows = ca.jacobian(w, self._state), w_ρ @ ca.DM(self._directions), w_ρ, ca.jacobian(w, e.t)
        return ca.Function(name, self._arguments, [ca.densify(ca.vec(part.T)) for part in rows])

    def _add(self, values: list[SX], watched: list[SX], *fields: int) -> None:
        self._values += [*values, *[SX(0)] * (VALUES - len(values))]
        self.watched += [*watched, *[SX(0)] * (WATCHED - len(watched))]
        self._table.append([*fields, *[0] * (FIELDS - len(fields))])

    def _add_contacts(self) -> None:
        e, units = self._e, self._e.units
        places = {u.multiplier[0].element_hash(): k for k, (_, u) in enumerate(units)}
        for row, unit in units:
            w, force = unit.watched, -e.λ[row : row + unit.multiplier.numel()]
            rate = e.differentiate(w)
            if unit.limit is None:
                assert unit.restitution is not None
                values = [w, rate, e.differentiate(rate), force, unit.restitution]
                self._add(values, [w, force], CONTACT, -1, unit.first_mode)
                continue
            limit = e.of_multipliers(unit.limit, e.λ)
            parent = next((places[s] for s in symbols_in(unit.limit) if s in places), -1)
            values, watched = [w, rate, force, limit], [w, limit - force, limit + force]
            if w.numel() > 1:
                m = e.ρ[unit.first_mode + 1 : unit.first_mode + 1 + w.numel()]
                values, watched = self._of_components(m, w, rate, force, limit)
            self._add(values, watched, FRICTION, parent, unit.first_mode, w.numel())

    def _of_components(
        self, m: SX, slip: SX, rate: SX, force: SX, limit: SX
    ) -> tuple[list[SX], list[SX]]:
        """Return values and watched functions of friction whose slip has several components:
        sliding ends where the slip along its mode m vanishes.
        """

        def size(x: SX) -> SX:
            return ca.sqrt(ca.sumsqr(x) + SMALLEST)

        values = [ca.norm_2(slip), SX(0), ca.norm_2(force), limit]
        for x in (slip, rate, force):
            values += [*ca.vertsplit(x), *[SX(0)] * (COMPONENTS - x.numel())]
        return values, [ca.dot(m, slip), limit - size(force)]

    def _add_event(self, event: EventUnit) -> list[list[float]]:
        """Add an event; return its actions."""
        place, resets = event.first_mode, event.first_mode >= 0
        kind = int(resets) * (1 + event.of_states + event.at_start)
        fields = EVENT, -1, place, DIRECTIONS[event.direction], kind
        self._add([event.function, self._rate(event.function)], [event.function], *fields)
        number = len(self._table) - 1
        actions = [[number, where, value] for where, value in event.modes]
        return [*actions, *([[number, -1, 0.0]] if event.stops else [])]

    def _rate(self, function: SX) -> SX:
        """Return the rate of a function; NaN where it depends on accelerations or multipliers."""
        e = self._e
        has_rate = symbols_in(function).isdisjoint(symbols_in(e.a, e.λ))
        return e.differentiate(function) if has_rate else SX(np.nan)

    def _sample_functions(self, objectives: Mapping[str, Objective]) -> SampleFunctions | None:
        every = [(i, sample) for i, o in enumerate(objectives.values()) for sample in o.samples]
        if not every:
            return None
        e, names = self._e, list(objectives)
        factors = np.zeros((len(objectives), len(every)))
        table: list[list[float]] = []
        for k, (i, sample) in enumerate(every):
            factors[i, k] = sample.factor
            self.sampled.append(scalar_of(e, names[i], sample.function))
            table.append([sample.kind, self._unit_of(sample), sample.occurrence])
            if sample.kind in (PEAK, LOWEST):
                self.extrema[WATCHED * len(self._table)] = k
                self._add_extremum(k, self.sampled[-1])
        h = ca.densify(ca.vertcat(*self.sampled))
        values = ca.Function("samples", self._arguments, [h])
        gradient = self._gradient("sample_gradient", h)
        return SampleFunctions(values, gradient, np.array(table, dtype=float), factors)

    def _unit_of(self, sample: Sample) -> int:
        if sample.kind != AT_EVENT:
            return -1
        if sample.event not in self._names:
            raise unknown_name("contact, friction or event", sample.event, self._names)
        return self._names[sample.event]

    def _add_extremum(self, sample: int, function: SX) -> None:
        """Add the rate of a sampled function, which vanishes at its extrema."""
        e = self._e
        if symbols_in(function).isdisjoint(symbols_in(e.a, e.λ)):
            rate = e.differentiate(function)
            self._add([rate, self._rate(rate)], [], EVENT, -1, -1, 2)  # this event resets nothing
        else:
            self._add([SX(0)], [], EXTREMUM, sample, -1)
