"""Small mechanisms for tests of methods."""

from __future__ import annotations

from functools import cache

import varimech as vm
from varimech.backends.trajectory import Trajectory
from varimech.schemes import INTEGRATORS

EQUAL_ONLY = tuple(name for name, i in INTEGRATORS.items() if not i.traits.adaptive)
"""Integrators that know no tolerance."""
TOLERANCE_ONLY = tuple(name for name, i in INTEGRATORS.items() if not i.traits.equal_steps)
"""Integrators that know no step."""


@cache
def pendulum() -> vm.Mechanism:
    m = vm.Mechanism("pendulum", gravity=(0, -9.81))
    L = m.parameter("L", 1.0)
    m.ground_point("O", (0, 0))
    m.bar("rod", "O", "tip", length=L, mass=3.0)
    m.revolute("O")
    m.start(angle={"rod": -1.0})
    return m


@cache
def four_bar(*, twin: bool = False) -> vm.Mechanism:
    """A closed loop whose crank turns through; with a twin its coupler is there twice."""
    m = vm.Mechanism("four-bar", gravity=(0, -9.81))
    L, M = m.parameter("L", 1.8, unit="m"), m.parameter("M", 1.0, unit="kg")
    m.ground_point("A", (0, 0))
    m.ground_point("D", (2, 0))
    m.bar("crank", "A", "B", length=0.5, mass=M)
    m.bar("coupler", "B", "C", length=L, mass=1)
    m.bar("rocker", "D", "C", length=1.2, mass=1)
    for name in "ABCD":
        m.revolute(name)
    if twin:
        m.distance("twin", "crank.B", "rocker.C", length=L)
    m.start(angle={"crank": 1.0}, speed={"crank": 6.0}, near={"C": (1.5, 1)})
    return m


OBJECTIVES = {
    "integral": vm.integral(lambda s: s.angular_velocity("rocker") ** 2),
    "final": vm.final(lambda s: s.position("C")[1]),
}


def trajectory(run: vm.Run) -> Trajectory:
    assert run._live is not None
    return run._live.trajectory
