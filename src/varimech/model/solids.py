"""Shapes with which drawings show a body: boxes, cylinders, extruded outlines, and meshes from
files. They have no mass; the mass of the body is given separately.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .parameter import Number

KINDS = ("box", "cylinder", "extrusion", "mesh")
ORIGIN = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Solid:
    """A shape: its kind, its dimensions (m), and its pose in the frame of its body."""

    kind: str
    sizes: tuple[Any, ...]
    at: Sequence[Number] = ORIGIN
    rotation: Any = None
    """Matrix from the axes of the shape to those of the body; None if they coincide."""


@dataclass(frozen=True, eq=False)
class Surface:
    """Triangles of a solid, in the frame of its body."""

    vertices: np.ndarray
    """(vertex, component), m."""
    triangles: np.ndarray
    """Indices of vertices, (triangle, corner)."""

    def plain(self, origin: np.ndarray) -> dict[str, str]:
        """Both arrays in base64: vertices relative to an origin in single precision, indices as
        32-bit integers.
        """
        vertices = np.ascontiguousarray(self.vertices - origin, dtype="<f4")
        triangles = np.ascontiguousarray(self.triangles, dtype="<u4")
        return {
            "vertices": base64.b64encode(vertices.tobytes()).decode("ascii"),
            "triangles": base64.b64encode(triangles.tobytes()).decode("ascii"),
        }


def box(size: Sequence[Number], *, at: Sequence[Number] = ORIGIN, rotation: Any = None) -> Solid:
    """A box, for the argument `shape` of a body.

    Args:
        size: sides along its axes x, y and z, m.
        at: its centre in the frame of the body, m.
        rotation: from its axes to those of the body, such as `varimech.rotation((0, 0, 1), 0.5)`.

    Returns:
        The shape.
    """
    return Solid("box", tuple(size), at, rotation)


def cylinder(
    radius: Number, length: Number, *, at: Sequence[Number] = ORIGIN, rotation: Any = None
) -> Solid:
    """A cylinder along its z axis, for the argument `shape` of a body.

    Args:
        radius: m.
        length: m.
        at: its centre in the frame of the body, m.
        rotation: from its axes to those of the body, such as `varimech.rotation((1, 0, 0), 1.571)`.

    Returns:
        The shape.
    """
    return Solid("cylinder", (radius, length), at, rotation)


def extrusion(
    outline: Sequence[Sequence[Number]],
    thickness: Number,
    *,
    at: Sequence[Number] = ORIGIN,
    rotation: Any = None,
) -> Solid:
    """A plate with a given outline, for the argument `shape` of a body.

    Args:
        outline: corners (x, y) one after the other, m; the last is joined to the first.
        thickness: along its z axis, half of it on either side, m.
        at: its origin in the frame of the body, m.
        rotation: from its axes to those of the body, such as `varimech.rotation((1, 0, 0), 1.571)`.

    Returns:
        The shape.
    """
    return Solid("extrusion", (tuple(tuple(p) for p in outline), thickness), at, rotation)


def mesh(
    file: str | Path, *, scale: Number = 1.0, at: Sequence[Number] = ORIGIN, rotation: Any = None
) -> Solid:
    """A mesh from a file, for the argument `shape` of a body; needs `pip install varimech[meshes]`.

    Args:
        file: STL, OBJ, PLY or glTF (.glb). In a model file, its path starts at the model file.
        scale: metres per unit of the file: 0.001 for millimetres.
        at: its origin in the frame of the body, m.
        rotation: from its axes to those of the body, such as `varimech.rotation((1, 0, 0), 1.571)`.

    Returns:
        The shape.
    """
    return Solid("mesh", (str(file), scale), at, rotation)
