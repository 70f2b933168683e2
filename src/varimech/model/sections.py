"""Cross-sections of beams: area and second moment of area for bending, from a shape and its
dimensions.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from ..core.errors import ModelError
from ..core.symbols import SX
from .parameter import Number


@dataclass(frozen=True)
class Shape:
    """Formulas of a cross-section."""

    sizes: tuple[str, ...]
    """Names of its dimensions (m)."""
    area_and_inertia: Callable[..., tuple[SX, SX]]
    """Area (m²) and second moment of area (m⁴) from its dimensions."""
    directions: int = 3
    """2: this bending stiffness holds in the plane only; 3: it is the same in all directions."""


SHAPES: dict[str, Shape] = {
    "circle": Shape(("diameter",), lambda d: (math.pi * d**2 / 4, math.pi * d**4 / 64)),
    "tube": Shape(
        ("outer diameter", "inner diameter"),
        lambda D, d: (math.pi * (D**2 - d**2) / 4, math.pi * (D**4 - d**4) / 64),
    ),
    "rectangle": Shape(("width", "height"), lambda w, h: (w * h, w * h**3 / 12), directions=2),
    "square": Shape(("side",), lambda a: (a**2, a**4 / 12)),
}


@dataclass(frozen=True)
class Section:
    """A section by the name of its shape and its sizes (m), each a number, a parameter, an
    expression of parameters or a text.
    """

    shape: str
    sizes: tuple[Number, ...]

    def __post_init__(self) -> None:
        for name, size in zip(SHAPES[self.shape].sizes, self.sizes, strict=True):
            if isinstance(size, (int, float)) and size < 0:
                raise ModelError("must not be negative", element="section", field=name, value=size)


def circle(diameter: Number) -> Section:
    """A solid circle: A = π d²/4, I = π d⁴/64.

    Args:
        diameter: d, m.

    Returns:
        The section of a beam.
    """
    return Section("circle", (diameter,))


def tube(outer: Number, inner: Number) -> Section:
    """A tube: A = π (D² − d²)/4, I = π (D⁴ − d⁴)/64.

    Args:
        outer: outer diameter D, m.
        inner: inner diameter d, m.

    Returns:
        The section of a beam.
    """
    return Section("tube", (outer, inner))


def rectangle(width: Number, height: Number) -> Section:
    """A rectangle that bends along its height: A = w h, I = w h³/12.

    For planar mechanisms; use `square` for spatial ones.

    Args:
        width: w, m.
        height: h, m.

    Returns:
        The section of a beam.
    """
    return Section("rectangle", (width, height))


def square(side: Number) -> Section:
    """A square: A = a², I = a⁴/12 in all directions.

    Args:
        side: a, m.

    Returns:
        The section of a beam.
    """
    return Section("square", (side,))
