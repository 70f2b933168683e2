"""Directions, rotations and inertias, read from user input and checked."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from ..core.errors import ModelError
from ..core.mathematics import rotation
from ..core.symbols import SX
from .body import Body
from .conditions import Axis
from .parameter_set import ParameterSet


def axis_of(numbers: ParameterSet, body: Body, direction: object, label: str) -> Axis:
    """A unit direction of a body with its normals."""
    d = numbers.vector_of(direction, body.dimension, label)
    value = numbers.evaluate(ca.densify(d)).ravel()
    if not value.any():
        raise ModelError(
            "is a zero vector",
            label=label,
            value=direction,
            remedy="give a direction that is not zero",
        )
    numbers.require(ca.sumsqr(d), "positive", f"{label}: squared length")
    d = d / ca.norm_2(d)
    if body.dimension == 2:
        return Axis(body, d, (ca.vertcat(d[1], -d[0]),))
    # the coordinate axis least aligned with d is never parallel to it, so a normal follows from it
    helper = ca.densify(SX.eye(3)[:, int(np.argmin(np.abs(value)))])
    first = ca.cross(d, helper)
    first = first / ca.norm_2(first)
    return Axis(body, d, (first, ca.cross(d, first)))


def rotation_of(numbers: ParameterSet, value: object, dimension: int, label: str) -> SX:
    """Read a rotation: None (the identity), an angle in the plane, a matrix in space."""
    if value is None:
        return SX.eye(dimension)
    if dimension == 2:
        return rotation(None, numbers.scalar(value, label, unit="rad"))
    matrix = numbers.matrix_of(value, 3, label)
    numbers.require(matrix, "rotation", label)
    return matrix


def inertia_of(numbers: ParameterSet, value: Any, dimension: int, label: str) -> SX:
    """Read a physically possible inertia about the centre of mass: a number in the plane, three
    values or a matrix in space.
    """
    if dimension == 2:
        return numbers.scalar(value, label, "non-negative", unit="kg·m²")
    try:
        entries = None if isinstance(value, (SX, str)) else list(value)
    except TypeError:
        raise ModelError(
            ": in space give three principal values or a 3×3 matrix", label=label, value=value
        ) from None
    if (
        entries is not None
        and len(entries) == 3
        and all(isinstance(e, SX) or np.ndim(e) == 0 for e in entries)
    ):
        matrix = ca.densify(ca.diag(numbers.vector_of(entries, 3, label, unit="kg·m²")))
    else:
        matrix = numbers.matrix_of(value, 3, label, unit="kg·m²")
    numbers.require(matrix, "inertia", label)
    return matrix
