"""Cross-sections of beams: area and second moment of area for bending."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ..errors import ModelError
from ..symbols import NOT_SYMBOLIC, SX
from .parameter import Parameter


@dataclass(frozen=True)
class Section:
    """A section by its area (m²) and its second moment of area (m⁴), in `directions` (2: in the plane only; 3: in all directions alike)."""

    area: SX
    inertia: SX
    directions: int = 3


def circle(diameter: Any) -> Section:
    """A solid circle (diameter in m): A = π d²/4, I = π d⁴/64."""
    return tube(diameter, 0.0)


def tube(outer: Any, inner: Any) -> Section:
    """A tube (diameters in m): A = π (D² − d²)/4, I = π (D⁴ − d⁴)/64."""
    D, d = _size(outer, "outer diameter"), _size(inner, "inner diameter")
    return Section(math.pi * (D**2 - d**2) / 4, math.pi * (D**4 - d**4) / 64)


def rectangle(width: Any, height: Any) -> Section:
    """A rectangle (m) that bends along its height: A = w h, I = w h³/12. For planar mechanisms; `square` for spatial ones."""
    w, h = _size(width, "width"), _size(height, "height")
    return Section(w * h, w * h**3 / 12, directions=2)


def square(side: Any) -> Section:
    """A square (m): A = a², I = a⁴/12 in all directions."""
    a = _size(side, "side")
    return Section(a**2, a**4 / 12)


def _size(value: Any, label: str) -> SX:
    """A number, a parameter or an expression of parameters; what can be known without a mechanism is checked."""
    try:
        size = value.symbol if isinstance(value, Parameter) else SX(value)
    except NOT_SYMBOLIC:
        raise ModelError(f"section: {label} = {value!r} is not a number, a parameter or an expression of parameters") from None
    if size.is_constant() and size.numel() == 1 and float(size) < 0:
        raise ModelError(f"section: {label} = {value!r} must not be negative")
    return size
