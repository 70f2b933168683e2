"""A mass on a spring and a damper, with a closed-form motion, for tests of optimal design."""

from __future__ import annotations

from typing import Any

import varimech as vm

UNITS = {"k": "N/m", "c": "N·s/m", "m": "kg", "x0": "m"}
DESIGN = {"k": 100.0, "c": 1.0, "m": 1.0, "a": 0.9, "b": 0.0}
"""Parameter values; a and b occur in objectives only."""


def oscillator(values: dict[str, float] = DESIGN, **bounds: tuple[float, float]) -> vm.Mechanism:
    """x'' = −(k x + c x')/m from x0, or from 0.1 m, at rest."""
    m = vm.Mechanism("oscillator", dimension=2)
    p = {
        name: m.parameter(name, value, unit=UNITS.get(name, ""), bounds=bounds.get(name))
        for name, value in values.items()
    }
    m.ground_point("O", (0, 0))
    m.body("mass", mass=p["m"], inertia=1.0, points={"P": (0, 0)})
    m.prismatic("guide", "ground.O", "mass.P", axis=(1, 0))
    m.force(
        "spring",
        "mass.P",
        lambda s: vm.vector(
            -p["k"] * s.displacement("guide") - p["c"] * s.displacement_rate("guide"), 0
        ),
    )
    m.start(displacement={"guide": p.get("x0", 0.1)})
    return m


def of(function: Any) -> vm.Objective:
    """Objective from a function of parameters a and b."""
    return vm.final(lambda s: function(s.parameter("a"), s.parameter("b")))


GOAL = of(lambda a, b: a**2 + b**2)


def x_of(s: vm.State) -> Any:
    return s.displacement("guide")
