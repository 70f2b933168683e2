"""The named outputs of a run: the objects that each belongs to, its labels and its unit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..coordinates.equations import Equations
from ..core.symbols import SX
from ..model.body import RigidBody
from ..model.model_data import ModelData
from ..model.state import State

ENERGIES = ("kinetic", "potential", "total")


@dataclass(frozen=True)
class OutputKind:
    """Definition of an output: the kind of object it belongs to (a dimension of labelled arrays),
    its dimensions beyond time, its unit and its function of the state.
    """

    of: str
    dims: tuple[str, ...]
    unit: str
    get: Callable[[State, str], SX]
    spatial_only: bool = False


def _energy(state: State, kind: str) -> SX:
    if kind == "total":
        return state.energy
    return state.kinetic_energy if kind == "kinetic" else state.potential_energy


OUTPUTS: dict[str, OutputKind] = {
    "position": OutputKind("point", ("component",), "m", State.position),
    "velocity": OutputKind("point", ("component",), "m/s", State.velocity),
    "acceleration": OutputKind("point", ("component",), "m/s²", State.acceleration),
    "angle": OutputKind("turn", (), "rad", State.angle),
    "angular_velocity": OutputKind("turn", (), "rad/s", State.angular_velocity),
    "angular_acceleration": OutputKind("turn", (), "rad/s²", State.angular_acceleration),
    "displacement": OutputKind("slide", (), "m", State.displacement),
    "displacement_rate": OutputKind("slide", (), "m/s", State.displacement_rate),
    "deviation": OutputKind("clearance", ("component",), "m", State.deviation),
    "rotation": OutputKind("body", ("row", "column"), "1", State.rotation),
    "body_angular_velocity": OutputKind(
        "body", ("component",), "rad/s", State.angular_velocity, spatial_only=True
    ),
    "body_angular_acceleration": OutputKind(
        "body", ("component",), "rad/s²", State.angular_acceleration, spatial_only=True
    ),
    "reaction": OutputKind("joint", ("component",), "N", State.reaction),
    "reaction_torque": OutputKind("joint", ("component",), "N·m", State.reaction_torque),
    "effort": OutputKind("driver", (), "N or N·m", State.effort),
    "multiplier": OutputKind("constraint", (), "J per unit of Φ", State.multiplier),
    "axial_force": OutputKind("beam", ("segment",), "N", State.axial_force),
    "bending_moment": OutputKind("beam", ("node",), "N·m", State.bending_moment),
    "energy": OutputKind("energy_kind", (), "J", _energy),
    "state": OutputKind("state_name", (), "", State.state),
    "signal": OutputKind("block", (), "", State.signal),
}


def names_of(equations: Equations) -> dict[str, list[str]]:
    """For each dimension, the names of all objects along it."""
    return {**names_in(equations.model), "constraint": list(equations.constraint_names)}


def names_in(m: ModelData) -> dict[str, list[str]]:
    """Names of all objects except constraints, which depend on the coordinates."""
    planar = m.dimension == 2
    turning = [j.name for j in m.joints.values() if j.angle() is not None]
    return {
        "point": [p.label for p in m.all_points],
        "turn": ([b.name for b in m.moving_bodies] if planar else []) + turning,
        "slide": [j.name for j in m.joints.values() if j.displacement() is not None],
        "clearance": list(m.clearance_joints),
        "body": [b.name for b in m.moving_bodies if planar or isinstance(b, RigidBody)],
        "joint": list(m.joints),
        "driver": list(m.effort_units),
        "beam": [b.name for b in m.beams],
        "energy_kind": list(ENERGIES),
        "state_name": [c.name for c in m.own_coordinates if not c.is_slack],
        "block": list(m.signals),
    }
