"""A chain of bars whose functions are either assembled or recursive."""

from __future__ import annotations

import varimech as vm

BARS = 18
"""Number of bars: 54 unknowns and multipliers in natural coordinates."""


def chain(bars: int = BARS) -> vm.Mechanism:
    """Bars with equal properties, hinged to each other, the first one to the ground."""
    m = vm.Mechanism("chain", gravity=(0, -9.81))
    L = m.parameter("L", 1 / bars, unit="m", distribution=vm.Tolerance(0.01 / bars))
    M = m.parameter("M", 0.02, unit="kg")
    c = m.parameter("c", 1e-4, unit="N·m·s", distribution=vm.Tolerance(1e-5))
    m.ground_point("P0", (0, 0))
    for k in range(bars):
        m.bar(f"b{k}", f"P{k}", f"P{k + 1}", length=L, mass=M)
        m.revolute(f"P{k}")
        if k:
            m.torsional_damper(f"d{k}", f"P{k}", damping=c)
    m.start(angle={f"b{k}": -0.05 * k for k in range(bars)})
    return m


def objectives(bars: int = BARS) -> dict[str, vm.Objective]:
    tip = f"P{bars}"
    return {
        "height": vm.final(lambda s: s.position(tip)[1], unit="m"),
        "area": vm.integral(lambda s: s.position(tip)[0] ** 2, unit="m²·s"),
    }
