"""Pendulums shared by several tests."""

from __future__ import annotations

from typing import Any

import varimech as vm


def pendulum(force: Any = None, name: str = "pendulum") -> vm.Mechanism:
    """A uniform rod of 1 m and 3 kg, at rest 1 rad below the horizontal; with a force
    on its tip.
    """
    m = vm.Mechanism(name, gravity=(0, -9.81))
    L = m.parameter("L", 1.0)
    m.ground_point("O", (0, 0))
    m.bar("rod", "O", "tip", length=L, mass=3.0)
    m.revolute("O")
    if force is not None:
        m.force("force", "tip", force)
    m.start(angle={"rod": -1.0})
    return m


def wheel() -> vm.Mechanism:
    """A wheel of 1 kg·m² on a shaft, turned by 1 rad against a spring of k = 3 N·m/rad."""
    m = vm.Mechanism("wheel", dimension=2)
    k = m.parameter("k", 3.0)
    m.ground_point("O", (0, 0))
    m.body("wheel", mass=1.0, inertia=1.0, points={"O": (0, 0)})
    m.revolute("O")
    m.torsional_spring("spring", "O", stiffness=k)
    m.start(angle={"O": 1.0})
    return m


def two_bars(*angles: float) -> vm.Mechanism:
    """Two uniform rods of 1 m and 1 kg, at rest at these angles."""
    m = vm.Mechanism("double pendulum", gravity=(0, -9.81))
    m.ground_point("O", (0, 0))
    m.bar("one", "O", "P", length=1, mass=1)
    m.bar("two", "P", "Q", length=1, mass=1)
    m.revolute("O")
    m.revolute("P")
    m.start(angle=dict(zip(("one", "two"), angles, strict=True)))
    return m


def torsional_pendulum(speed: float) -> vm.Mechanism:
    """Torsional pendulum with ω² = k/I = 30 s⁻², so its amplitude is speed/√30: 1.46 rad for 8
    rad/s, 3.10 for 17, 5.5 for 30.
    """
    m = vm.Mechanism("torsion", dimension=2)
    m.ground_point("O", (0, 0))
    m.bar("rod", "O", "tip", length=1, mass=1)
    m.revolute("O")
    m.torsional_spring("s", "O", stiffness=10)
    m.start(angle={"O": 0.0}, speed={"O": speed})
    return m
