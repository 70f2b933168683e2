"""Surfaces of solids as triangles whose corners run anticlockwise as seen from outside."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ..core.errors import Label, ModelError
from .geometry import rotation_of
from .parameter_set import ParameterSet
from .solids import KINDS, Solid, Surface

AROUND = 40
"""Number of sides of a cylinder: 9° each, which shading smooths."""
MOST_TRIANGLES = 200_000
"""Limit for a mesh: 4 MB in a page."""


def surface_of(solid: Solid, numbers: ParameterSet, label: Label) -> Surface:
    """Triangles of a solid at nominal values.

    Raises:
        ModelError: for sizes that are not positive, an outline that crosses itself, or a file that
            cannot be read.
    """
    if not isinstance(solid, Solid):
        known = ", ".join(f"varimech.{kind}(…)" for kind in KINDS)
        raise ModelError("is not a shape", label=label, value=solid, remedy=f"give {known}")

    def size(value: Any, name: str, rule: str | None = "positive", unit: str = "m") -> float:
        shown = Label(label.element, label.field, f"{label.field}: {name}")
        read = numbers.scalar(value, shown, rule, unit=unit)
        return float(numbers.evaluate(read).item())

    if solid.kind == "box":
        if len(solid.sizes) != 3:
            raise ModelError("a box has three sides", label=label, value=solid.sizes)
        surface = _box(*[size(side, "side") for side in solid.sizes])
    elif solid.kind == "cylinder":
        surface = _cylinder(size(solid.sizes[0], "radius"), size(solid.sizes[1], "length"))
    elif solid.kind == "extrusion":
        outline = np.array([[size(x, "outline", None) for x in p] for p in solid.sizes[0]])
        surface = _extrusion(outline, size(solid.sizes[1], "thickness"), label)
    else:
        surface = _read(Path(solid.sizes[0]), size(solid.sizes[1], "scale", unit=""), label)
    at = [size(x, "at", None) for x in solid.at]
    R = np.eye(3)
    if solid.rotation is not None:
        R = np.asarray(numbers.evaluate(rotation_of(numbers, solid.rotation, 3, label)))
    return Surface(surface.vertices @ R.T + np.array([*at, 0.0])[:3], surface.triangles)


def _box(a: float, b: float, c: float) -> Surface:
    outline = np.array([[-a, -b], [a, -b], [a, b], [-a, b]]) / 2
    return _plate(outline, c, [(0, 1, 2), (0, 2, 3)])


def _cylinder(radius: float, length: float) -> Surface:
    φ = 2 * np.pi * np.arange(AROUND) / AROUND
    fan = [(0, k, k + 1) for k in range(1, AROUND - 1)]
    return _plate(radius * np.column_stack([np.cos(φ), np.sin(φ)]), length, fan)


def _extrusion(outline: np.ndarray, thickness: float, label: Label) -> Surface:
    if outline.ndim != 2 or outline.shape[1] != 2 or len(outline) < 3:
        raise ModelError("an outline has three or more corners (x, y)", label=label)
    x, y = outline.T
    if np.dot(x, np.roll(y, -1)) < np.dot(y, np.roll(x, -1)):  # clockwise
        outline = outline[::-1]
    return _plate(outline, thickness, _cut_ears(outline, label))


def _plate(outline: np.ndarray, thickness: float, faces: list[tuple[int, int, int]]) -> Surface:
    """A plate with an anticlockwise outline, which the triangles `faces` cover."""
    n = len(outline)
    low, high = (np.column_stack([outline, np.full(n, z)]) for z in (-thickness / 2, thickness / 2))
    after = np.roll(np.arange(n), -1)
    k = np.arange(n)
    sides = [*np.column_stack([k, after, k + n]), *np.column_stack([k + n, after, after + n])]
    ends = [(c, b, a) for a, b, c in faces] + [(a + n, b + n, c + n) for a, b, c in faces]
    return Surface(np.concatenate([low, high]), np.array([*map(tuple, sides), *ends]))


def _cut_ears(outline: np.ndarray, label: Label) -> list[tuple[int, int, int]]:
    """Triangulate a polygon by ear clipping: cut off corners that contain no other vertex, one
    after the other.
    """
    left, faces = list(range(len(outline))), []
    sound = not _crosses(outline)
    while len(left) > 3 and sound:
        for i in range(len(left)):
            a, b, c = (left[(i + k - 1) % len(left)] for k in range(3))
            A, B, C = outline[a], outline[b], outline[c]
            others = outline[[k for k in left if k not in (a, b, c)]]
            inside = (_turn(A, B, others) >= 0) & (_turn(B, C, others) >= 0)
            inside &= _turn(C, A, others) >= 0
            if _turn(A, B, C) > 0 and not inside.any():
                faces.append((a, b, c))
                left.remove(b)
                break
        else:
            break
    if len(left) > 3:
        raise ModelError(
            "the outline crosses itself, or has a corner twice",
            label=label,
            remedy="give its corners one after the other, each once",
        )
    return [*faces, (left[0], left[1], left[2])]


def _turn(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Positive if the path from a over b to c turns left."""
    (x, y), (u, v) = (np.moveaxis(p - a, -1, 0) for p in (b, c))
    return np.asarray(x * v - y * u)


def _crosses(outline: np.ndarray) -> bool:
    """Whether two sides of a polygon cross each other."""
    a, b = outline[:, None], np.roll(outline, -1, axis=0)[:, None]
    c, d = outline[None], np.roll(outline, -1, axis=0)[None]
    return bool(
        ((_turn(a, b, c) * _turn(a, b, d) < 0) & (_turn(c, d, a) * _turn(c, d, b) < 0)).any()
    )


def _read(path: Path, scale: float, label: Label) -> Surface:
    try:
        import trimesh
    except ImportError:
        remedy = "pip install 'varimech[meshes]'"
        raise ModelError("needs the package trimesh", label=label, remedy=remedy) from None
    if not path.is_file():
        raise ModelError("there is no such file", label=label, value=str(path))
    try:
        read = trimesh.load_mesh(path)
        vertices, triangles = np.asarray(read.vertices), np.asarray(read.faces)
    except Exception as error:  # the readers of seven formats raise arbitrary exceptions
        problem = f"cannot be read as a mesh ({error})"
        raise ModelError(problem, label=label, value=str(path)) from None
    if not 0 < len(triangles) <= MOST_TRIANGLES:
        problem = f"has {len(triangles):,} triangles, and 1 to {MOST_TRIANGLES:,} can be shown"
        remedy = "simplify it in the program that made it"
        raise ModelError(problem, label=label, value=str(path), remedy=remedy)
    return Surface(vertices * scale, triangles)
