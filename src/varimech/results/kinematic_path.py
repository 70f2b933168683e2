"""Stored positions of kinematics with their equations, and a state without forces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NoReturn

import casadi as ca
import numpy as np

from ..coordinates.counted_angles import angle_name
from ..core.errors import ModelError
from ..core.symbols import SX, symbols_in
from ..model.state import State
from ..model.user_functions import column_of
from ..sensitivity.objective import StateFunction, checked_callable
from .live_run import LiveRun


class KinematicState(State):
    """A state with positions, velocities and accelerations, but no forces."""

    def _refuse(self, *_: object) -> NoReturn:
        raise ModelError(
            "kinematics has no forces, reactions or energies",
            remedy="give masses and drivers, and simulate",
        )

    if not TYPE_CHECKING:  # type checkers see the return types of other states
        reaction = reaction_torque = effort = multiplier = _refuse
        axial_force = bending_moment = gap = in_contact = contact_force = _refuse

    @property
    def kinetic_energy(self) -> SX:
        """Raise an error: kinematics has no energies."""
        self._refuse()

    @property
    def potential_energy(self) -> SX:
        """Raise an error: kinematics has no energies."""
        self._refuse()


@dataclass(frozen=True)
class KinematicPath(LiveRun):
    """Positions, velocities and accelerations over the values of drivers."""

    turned: Mapping[str, np.ndarray] = field(default_factory=dict)
    """Angles without jumps, of all bodies and joints that rotate."""

    def angles(self, names: Sequence[str]) -> np.ndarray:
        """Angles of bodies or joints without jumps: (input, name)."""
        e = self.equations
        columns = []
        for name in names:
            counted = angle_name(e.model, name)
            if counted in e.counted:
                columns.append(self.evaluate(e.state.angle(name))[:, 0])
            else:
                columns.append(self.turned[name])
        return np.array(columns).T.reshape(self.time.size, len(columns))

    @property
    def kinematic_state(self) -> KinematicState:
        """State in whose symbols outputs are written."""
        e = self.equations
        return KinematicState(
            e.model,
            e.frames,
            e.t,
            e.differentiate,
            coordinates=(e.q, e.v, e.a),
            counted=lambda n, φ: e.counted[n] if n in e.counted else e.probe(n, φ),
            own=e.own.states,
        )

    def expression(self, function: StateFunction | str, name: str) -> SX:
        """Evaluate a function of the state in symbols, as a column.

        Raises:
            ModelError: if it is not a function of the state, or depends on forces.
        """
        e, label = self.equations, f"output {name!r}"
        column = column_of(checked_callable(function, "an output"), self.kinematic_state, label)
        e.model.parameter_set.check_symbols(
            column, label, symbols_in(e.packed, e.t, *e.probe.turns.values())
        )
        if ca.depends_on(column, e.t):
            raise ModelError(
                "depends on time, and kinematics has none", label=label, remedy="leave time out"
            )
        return column
