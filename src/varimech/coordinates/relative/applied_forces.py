"""Applied forces as wrenches on bodies, independent of the tree: one generated function for each
kind of force, with the motions of bodies as arguments.

With the motion (u, ω) of each body about its reference point, a force of power  P = Σ f·w − V̇
acts there with the wrench ∂P/∂(u, ω).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import casadi as ca
import numpy as np

from ...core.symbols import SX
from ...model.body import Body
from ...model.force import ForceLaw
from ...model.model_data import ModelData
from ...model.state import State
from ..counted_angles import AngleSymbols
from ..similar_expressions import Reading, Restated, read, restate, roles_of
from .body_motion import still
from .layout import Layout

PARAMETER, TIME = "parameter", "time"
Angle = Callable[[Mapping[Body, SX]], SX]
"""An angle as a function of the stored motions of bodies."""


@dataclass(frozen=True)
class ForceKind:
    """Forces whose expressions have the same structure."""

    bodies: list[SX]
    """Symbols of the motions of the bodies on which they depend."""
    parameters: SX
    time: SX
    restated: Restated
    """Expressions subtracted from the resisting wrench of each body on which they act."""
    parameter_rows: np.ndarray
    """(force, parameter): index of each parameter."""
    involved: list[list[Body]]
    """For each force the bodies on which it depends."""
    acted: list[list[Body]]
    """For each force the bodies on which it acts."""


def force_kinds(
    model: ModelData, layout: Layout, t: SX, counted: Mapping[str, Angle]
) -> list[ForceKind]:
    """Group all forces of a model by kind; angles that count turns are given by name."""
    reader = _Reader(model, layout, t, counted) if model.forces else None
    kinds: dict[object, list[_Read]] = {}
    for force in model.forces.values():
        member = reader.read(force) if reader is not None else None
        if member is not None:
            key = len(member.involved), len(member.acted), member.reading.key
            kinds.setdefault(key, []).append(member)
    return [_kind(alike, layout) for alike in kinds.values()]


@dataclass(frozen=True)
class _Read:
    """A force with the structure of its expressions."""

    involved: list[Body]
    acted: list[Body]
    reading: Reading


class _Reader:
    """Reader of forces in symbols of the motion of every body."""

    def __init__(self, model: ModelData, layout: Layout, t: SX, counted: Mapping[str, Angle]):
        self._layout, self._t = layout, t
        self._blocks = {body: layout.symbols(body.name) for body in model.moving_bodies}
        self._owners = {
            s.element_hash(): body
            for body, block in self._blocks.items()
            for s in ca.vertsplit(block)
        }
        self._frames = {model.ground: still(model.ground).frame}
        self._frames |= {body: layout.motion(block).frame for body, block in self._blocks.items()}
        self._angles, self._counted = AngleSymbols(model), counted
        self._state = State(model, self._frames, t, self._rate, counted=self._angle, user="a force")
        self._roles = roles_of(PARAMETER, model.parameter_set.vector) | roles_of(TIME, t)

    def read(self, force: ForceLaw) -> _Read | None:
        """Read one force; None where it acts on no moving body."""
        pairs = force.efforts(self._frames, self._state)
        # symbols in place of the efforts: only the rates vary with (u, ω)
        efforts = [SX.sym("f", effort.numel()) for _, effort in pairs]
        V = force.potential_energy(self._frames, self._state)
        power = sum(
            (ca.dot(rate, f) for (rate, _), f in zip(pairs, efforts, strict=True)),
            -self._rate(V) - self._angles.rate(V, self._frames),
        )
        acted = self._involved(power)
        if not acted:
            return None
        wrenches = [ca.gradient(power, self._layout.twist(self._blocks[body])) for body in acted]
        if efforts:
            wrenches = ca.substitute(wrenches, efforts, [effort for _, effort in pairs])
        wrenches = self._angles.replaced(wrenches, lambda name: self._counted[name](self._blocks))
        involved = list(dict.fromkeys([*acted, *self._involved(*wrenches)]))
        roles = dict(self._roles)
        for k, body in enumerate(involved):
            roles |= roles_of(f"body {k}", self._blocks[body])
        return _Read(involved, acted, read([-w for w in wrenches], roles, {PARAMETER: PARAMETER}))

    def _angle(self, name: str, angle: SX) -> SX:
        """Return the symbol of an angle that counts turns; other angles unchanged."""
        return self._angles(name, angle) if name in self._counted else angle

    def _rate(self, x: SX) -> SX:
        """Return the time derivative of an expression of positions and time."""
        total = ca.jtimes(x, self._t, SX(1))
        for body in self._involved(x):
            total += ca.jtimes(
                x, self._layout.pose(self._blocks[body]), self._layout.pose_rate(self._blocks[body])
            )
        return total

    def _involved(self, *expressions: SX) -> list[Body]:
        hashes = (s.element_hash() for x in expressions for s in ca.symvar(x))
        return list(dict.fromkeys(self._owners[h] for h in hashes if h in self._owners))


def _kind(members: list[_Read], layout: Layout) -> ForceKind:
    first = members[0]
    bodies = [layout.symbols("body") for _ in first.involved]
    symbols = {f"body {k}": block for k, block in enumerate(bodies)}
    symbols |= {PARAMETER: SX.sym("ρ", len(first.reading.entries[PARAMETER])), TIME: SX.sym("t")}
    restated = restate([m.reading for m in members], lambda role, place: symbols[role][place])
    rows = np.array([m.reading.entries[PARAMETER] for m in members], dtype=np.int32)
    return ForceKind(
        bodies,
        symbols[PARAMETER],
        symbols[TIME],
        restated,
        rows,
        [m.involved for m in members],
        [m.acted for m in members],
    )
