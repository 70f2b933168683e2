"""Small mechanisms with loops for tests of methods."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import pendulums

import varimech as vm
from varimech.backends.trajectory import Trajectory
from varimech.schemes import INTEGRATORS

EQUAL_ONLY = tuple(name for name, i in INTEGRATORS.items() if not i.traits.adaptive)
"""Integrators without a tolerance."""
TOLERANCE_ONLY = tuple(name for name, i in INTEGRATORS.items() if not i.traits.equal_steps)
"""Integrators without equal steps."""


def add_four_bar(
    m: vm.Mechanism,
    base: Any,
    *lengths: Any,
    masses: Sequence[Any] = (1, 1, 1),
    names: Sequence[str] = ("crank", "coupler", "rocker"),
) -> None:
    """Ground points A and D, bars AB, BC and DC, and their hinges."""
    m.ground_point("A", (0, 0))
    m.ground_point("D", (base, 0))
    for name, ends, length, mass in zip(names, ("AB", "BC", "DC"), lengths, masses, strict=True):
        m.bar(name, *ends, length=length, mass=mass)
    for hinge in "ABCD":
        m.revolute(hinge)


pendulum = cache(pendulums.pendulum)


@cache
def four_bar(*, twin: bool = False) -> vm.Mechanism:
    """A closed loop whose crank turns fully; `twin` duplicates its coupler."""
    m = vm.Mechanism("four-bar", gravity=(0, -9.81))
    L, M = m.parameter("L", 1.8, unit="m"), m.parameter("M", 1.0, unit="kg")
    add_four_bar(m, 2, 0.5, L, 1.2, masses=(M, 1, 1))
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
