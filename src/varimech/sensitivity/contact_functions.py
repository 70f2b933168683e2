"""Contacts and frictions as functions of the state: what events, impacts and their derivatives are
found from. `backends/events` has the equations.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from ..coordinates.equations import Equations
from ..core.symbols import SX, symbols_in

CONTACT, FRICTION = 0, 1
WATCHED = 3
"""Functions of each unit whose zeros are events: gap and normal force; slip velocity, limit − T and
limit + T.
"""


@dataclass(frozen=True, eq=False)
class ContactFunctions:
    """Functions of (state, ρ, t) about all contacts and frictions, the units."""

    values: ca.Function
    """For each contact g, ġ, g̈, N and ε; for each friction s, ṡ, T, μ₀ N and 0."""
    gradient: ca.Function | None
    """Of the watched functions: by the state, by the parameters times the directions, by all
    parameters, and by time.
    """
    table: np.ndarray
    """(unit, 3): whether it is friction, the contact whose normal force it depends on or −1, and the
    place of its first mode in ρ.
    """
    modes: int
    """Number of modes, at the end of ρ."""

    @property
    def count(self) -> int:
        """Number of units."""
        return len(self.table)


def contact_functions(
    equations: Equations, directions: np.ndarray | None
) -> ContactFunctions | None:
    """The functions; None for a mechanism without contacts."""
    e, units = equations, equations.units
    if not units:
        return None
    values: list[SX] = []
    watched: list[SX] = []
    table: list[list[int]] = []
    places = {u.multiplier.element_hash(): k for k, (_, u) in enumerate(units)}
    for row, unit in units:
        w, force, parent = unit.watched, -e.λ[row], -1
        rate = e.differentiate(w)
        if unit.limit is None:
            values += [w, rate, e.differentiate(rate), force, unit.restitution]
            watched += [w, force, SX(0)]
        else:
            limit = e.of_multipliers(unit.limit, e.λ)
            parent = next((places[s] for s in symbols_in(unit.limit) if s in places), -1)
            values += [w, rate, force, limit, SX(0)]
            watched += [w, limit - force, limit + force]
        table.append([CONTACT if unit.limit is None else FRICTION, parent, unit.first_mode])
    arguments, w = [e.packed, e.ρ, e.t], ca.vertcat(*watched)
    gradient = None
    if directions is not None:
        w_ρ = ca.jacobian(w, e.ρ)
        rows = ca.jacobian(w, e.packed), w_ρ @ ca.DM(directions), w_ρ, ca.jacobian(w, e.t)
        results = [ca.densify(ca.vec(part.T)) for part in rows]
        gradient = ca.Function("unit_gradient", arguments, results)
    return ContactFunctions(
        ca.Function("units", arguments, [ca.densify(ca.vertcat(*values))]),
        gradient,
        np.array(table, dtype=float),
        len(e.model.parameter_set.modes),
    )
