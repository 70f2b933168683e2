"""A mass on a guide under a constant force, whose position is linear in its parameters: for tests
of identification against closed forms of linear regression.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import varimech as vm

TRUE = {"x0": 0.3, "v0": -1.0, "a": 2.0}
TIMES = np.linspace(0.1, 2.0, 20)
BASIS = np.column_stack([np.ones(TIMES.size), TIMES, TIMES**2 / 2])
"""∂x/∂(x0, v0, a) at these times."""


def thrown_mass(distributions: dict[str, Any] | None = None, **bounds: Any) -> vm.Mechanism:
    """x = x0 + v0 t + a t²/2."""
    m = vm.Mechanism("thrown mass", dimension=2)
    units = {"x0": "m", "v0": "m/s", "a": "m/s²"}
    given = distributions or {}
    p = {
        n: m.parameter(n, v, unit=units[n], distribution=given.get(n), bounds=bounds.get(n))
        for n, v in TRUE.items()
    }
    m.ground_point("O", (0, 0))
    m.body("mass", mass=1.0, inertia=1.0, points={"P": (0, 0)})
    m.prismatic("guide", "ground.O", "mass.P", axis=(1, 0))
    m.force("push", "mass.P", lambda s: vm.vector(p["a"], 0))
    m.start(displacement={"guide": p["x0"]}, speed={"guide": p["v0"]})
    return m


def place(s: vm.State) -> Any:
    return s.displacement("guide")


def measured(sigma: float, seed: int, *, known: bool = True, count: int = 20) -> vm.Measurement:
    """Measured positions with noise."""
    noise = sigma * np.random.default_rng(seed).standard_normal(TIMES.size)
    x = BASIS @ list(TRUE.values()) + noise
    return vm.measurement(
        place,
        TIMES[:count],
        x[:count],
        sigma=sigma if known else None,
        name="place",
        unit="m",
    )
