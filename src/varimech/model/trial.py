"""The first element of each kind is tried out: whether its methods return what they should."""

from __future__ import annotations

from typing import Any

import casadi as ca

from ..core.errors import ModelError
from ..core.symbols import SX
from .body import Body
from .conditions import Condition
from .driver import Driver
from .element import Element
from .force import SHAPES, Force
from .joint import Joint
from .model_data import ModelData
from .own_coordinates import OwnCoordinate
from .relative_motion import RelativeMotion
from .scalar_outputs import Distance, Slide, Turn
from .user_functions import trial_frames, trial_state


def try_out(element: Element, model: ModelData) -> None:
    """Call the methods of an element on free symbols.

    Raises:
        ModelError: naming the method, and what it has to return.
    """
    if isinstance(element, Joint):
        _try_joint(element, model)
    elif isinstance(element, Force):
        _try_force(element, model)
    elif isinstance(element, Driver):
        for method in ("unit", "points", "bodies", "value", "rate", "difference", "deviation"):
            _require(element, hasattr(element.output, method), "output", "a scalar output")


def _require(element: Element, holds: bool, method: str, what: str) -> None:
    if not holds:
        raise ModelError(f"{element.label}: {type(element).__name__}.{method} must return {what}")


def _is_column(value: Any) -> bool:
    return isinstance(value, SX) and value.shape[1] == 1 and value.shape[0] > 0


def _try_joint(joint: Joint, model: ModelData) -> None:
    conditions, frames = joint.conditions(), trial_frames(model)
    _require(
        joint,
        isinstance(conditions, tuple) and all(isinstance(c, Condition) for c in conditions),
        "conditions",
        "a tuple of conditions (Coincident, Aligned, …, or subclasses of Condition)",
    )
    for c in conditions:
        what = f"a column of scalars from {type(c).__name__}.residuals(frames)"
        _require(joint, _is_column(c.residuals(frames)), "conditions", what)
    _require(joint, isinstance(joint.angle(), Turn | None), "angle", "a Turn, or None")
    slide = joint.displacement()
    _require(joint, isinstance(slide, Slide | None), "displacement", "a Slide, or None")
    motion = joint.motion
    what = "a RelativeMotion (MotionFunctions, TurnAndSlide), or None"
    _require(joint, isinstance(motion, RelativeMotion | None), "relative_motion", what)
    if motion is not None:
        _try_motion(joint, motion, sum(c.residuals(frames).numel() for c in conditions))


def _try_motion(joint: Joint, motion: RelativeMotion, equations: int) -> None:
    n, count = joint.dimension, len(motion.names)
    relation = motion.relation(SX.sym("z", count), SX.sym("ż", count))
    what = f"a motion in {'the plane' if n == 2 else 'space'}"
    _require(joint, relation.displacement.numel() == n, "relative_motion", what)
    left = (3 if n == 2 else 6) - equations
    what = f"a motion with {left} DOF, as its {equations} conditions leave, not {motion.dofs}"
    _require(joint, motion.dofs == left, "relative_motion", what)


def _try_force(force: Force, model: ModelData) -> None:
    own = force.coordinates()
    told = isinstance(own, tuple) and all(
        isinstance(c, OwnCoordinate) and c.order in (1, 2) for c in own
    )
    _require(force, told, "coordinates", "a tuple of OwnCoordinate, of order 1 or 2")
    frames, state = trial_frames(model), trial_state(model, force.label, own=own)
    for method in ("potential_energy", "kinetic_energy"):
        energy = getattr(force, method)(frames, state)
        _require(force, isinstance(energy, SX) and energy.is_scalar(), method, "a scalar (J)")
    Φ = force.constraints(frames, state)
    _require(force, isinstance(Φ, SX) and Φ.shape[1] == 1, "constraints", "a column of residuals")
    _require(
        force,
        not force.constraint_unit or Φ.numel() == 1,
        "constraints",
        f"a single residual, in {force.constraint_unit} (constraint_unit)",
    )
    states = sum(c.order == 1 for c in own)
    what = f"a rate for each of its {states} first-order coordinates"
    _require(force, len(force.rates(frames, state)) == states, "rates", what)
    efforts = force.efforts(frames, state)
    pairs = isinstance(efforts, list) and all(
        isinstance(pair, tuple) and len(pair) == 2 and all(map(_is_column, pair))
        for pair in efforts
    )
    _require(force, pairs, "efforts", "a list of pairs (rate, effort), each a column")
    alike = all(rate.shape == ca.densify(effort).shape for rate, effort in efforts)
    _require(force, alike, "efforts", "a rate and an effort with as many components")
    bodies = isinstance(force.bodies, tuple) and all(isinstance(b, Body) for b in force.bodies)
    _require(force, bodies, "bodies", "a tuple of bodies")
    _require(force, isinstance(force.span(), Distance | None), "span", "a Distance, or None")
    _require(force, force.drawn_as() in (None, *SHAPES), "drawn_as", f"one of {SHAPES}, or None")
