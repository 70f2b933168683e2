"""Drawings of all elements for the pages in docs/elements:  python tools/draw/draw_elements.py
[name …].

Those of bodies are here, the others in `drawings_of_joints.py`, `drawings_of_forces.py`,
`drawings_of_contacts.py`, `drawings_of_transmissions.py` and `drawings_of_control.py`.
"""

from __future__ import annotations

import sys
from pathlib import Path

import drawings_of_contacts
import drawings_of_control
import drawings_of_forces
import drawings_of_joints
import drawings_of_transmissions
import numpy as np
from sketch import DRAWINGS, FIRST, GIVEN, METAL, Sketch, drawing, from_

IMAGES = Path(__file__).parents[2] / "docs" / "images" / "elements"
OTHERS = (
    drawings_of_joints,
    drawings_of_forces,
    drawings_of_contacts,
    drawings_of_transmissions,
    drawings_of_control,
)
"""Whose drawings are known by being imported."""


@drawing
def parameter(s: Sketch) -> None:
    s.bar((0.8, 1.6), (5.35, 1.6), faint=True)
    s.bar((0.8, 1.6), (4.8, 1.6))
    s.pin((0.8, 1.6))
    s.pin((4.8, 1.6))
    s.measure((0.8, 1.6), (4.8, 1.6), "L = 0.25 m", 0.8)
    s.arrow((4.35, 1.0), (5.25, 1.0), "± tolerance", GIVEN, (-0.35, -0.3), both=True)


@drawing
def ground(s: Sketch) -> None:
    s.wall((0.5, 0.7), (5.5, 0.7))
    s.axes((1.2, 1.2), size=1.0)
    s.arrow((1.2, 1.2), (4.2, 2.8), "", GIVEN)
    s.text((2.5, 2.35), "(x, y)", GIVEN)
    s.pin((4.2, 2.8), "A")
    s.line((4.2, 2.7), (4.2, 0.7), colour=METAL, style=":")


@drawing
def body(s: Sketch) -> None:
    s.axes((0.5, 0.5), size=0.9)
    s.body((1.5, 0.9), (3.9, 0.3), (5.7, 2.2), (4.6, 3.9), (2.6, 2.9))
    o = (2.3, 1.3)
    s.axes(o, 25, 0.9, ("x₁", "y₁"), FIRST)
    s.line(o, from_(o, 1.6, 0), colour=METAL, style=":")
    s.turn(o, 1.25, 0, 25, "θ", away=0.25)
    s.arrow(o, (3.75, 2.55), "", GIVEN)
    s.text((2.75, 2.35), "s_G", GIVEN)
    s.centre((3.75, 2.55), "com")
    s.pin((4.75, 1.75), "P")
    s.pin((4.2, 3.2), "Q")


@drawing
def bar(s: Sketch) -> None:
    a, b = (0.9, 1.0), (5.0, 2.4)
    s.bar(a, b)
    middle = ((a[0] + b[0]) / 2, (a[1] + b[1]) / 2)
    s.measure(a, b, "length L", 0.95, shift=(-0.9, 0.2))
    s.measure(middle, a, "com", 0.55, shift=(-0.1, -0.3))
    s.pin(a, "start", (-0.25, 0.33))
    s.pin(b, "end", (0.2, 0.1))
    s.centre(middle)
    s.arrow(b, from_(b, 0.9, 18.8), "x₁", FIRST, (-0.1, -0.25))


@drawing
def beam(s: Sketch) -> None:
    nodes = [(0.6 + 4.8 * t, 1.2 + 5.2 * t * (1 - t)) for t in np.linspace(0, 1, 7)]
    s.line(*nodes, colour=FIRST, width=4, order=3)
    for k, node in enumerate(nodes):
        name = {0: "from", 6: "to"}.get(k, f"n{k}")
        s.pin(node, name, (-0.15, -0.32) if k in (0, 6) else (-0.12, 0.28))
    s.text((2.55, 1.95), "a", GIVEN)
    s.text((3.3, 1.95), "b", GIVEN)
    s.line(nodes[3], (3.85, 2.72), colour=METAL, style=":")
    s.text((2.1, 1.2), "segments of length ℓ", GIVEN, 10)


@drawing
def clamp(s: Sketch) -> None:
    s.wall((0.9, 0.6), (0.9, 3.2))
    s.polygon((0.9, 1.5), (1.35, 1.5), (1.35, 2.3), (0.9, 2.3), colour=METAL)
    nodes = [(1.35, 1.9), (2.3, 1.72), (3.2, 1.38), (4.1, 0.9), (5.0, 0.35)]
    s.line(*nodes, colour=FIRST, width=4, order=3)
    for node in nodes:
        s.pin(node)
    s.arrow((1.35, 1.9), (3.3, 1.9), "d", GIVEN, (0.1, 0.0))
    s.text((2.1, 1.42), "a", FIRST)
    s.turn((1.35, 1.9), 1.5, 0, -10.5, "")
    s.text((1.25, 2.6), "holder", METAL)


def main(names: list[str]) -> None:
    IMAGES.mkdir(parents=True, exist_ok=True)
    for name in names or DRAWINGS:
        sketch = Sketch()
        DRAWINGS[name](sketch)
        sketch.save(IMAGES / f"{name}.svg")


if __name__ == "__main__":
    main(sys.argv[1:])
