"""Conditions of joints as constraints."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from ..model.body import Frames
from ..model.conditions import Condition
from ..model.joint import Joint
from .dynamics import Constraint


def joint_constraint(joint: Joint, conditions: Sequence[Condition], frames: Frames) -> Constraint:
    """Some conditions of a joint, with the form to assemble with where one has its own."""
    other = any(type(c).at_start is not Condition.at_start for c in conditions)
    return Constraint(
        f"joint {joint.name}",
        ca.vertcat(*[c.residuals(frames) for c in conditions]),
        (joint.name,),
        ca.vertcat(*[c.at_start(frames) for c in conditions]) if other else None,
    )
