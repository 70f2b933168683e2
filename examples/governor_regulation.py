"""A governor controls the speed of an engine after a load drop; effect of the spring stiffness.

Balls on two arms move outwards as the shaft accelerates and lift a collar against its weight and a
spring; the collar reduces the engine torque: torque = T − G (s − s₀). The collar must rise by the
same amount with every spring. A softer spring needs a smaller increase of speed for that, and the
engine settles sooner.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

import varimech as vm

BALL, COLLAR, FLYWHEEL = 0.5, 1.0, 0.3
"""Masses (kg), and inertia of the shaft (kg·m²)."""
TOP, OUT, ARM = 0.5, 0.03, 0.25
"""Height and radius of the arms' hinges, length of an arm (m); links of half that length connect
the arms to the collar.
"""
DROOP = math.radians(50)
S0 = TOP - ARM * math.sin(DROOP)
"""Initial height of the collar (m)."""
NATURAL, DAMPING = 0.25, 40.0
"""Natural length (m) and damping (N·s/m) of the spring below the collar."""
GAIN, LOADS = 40.0, (4.0, 2.0)
"""Reduction of the torque per rise of the collar (N); load before and after 1 s (N·m)."""
STIFFNESSES = (50.0, 200.0, 800.0)


def steady_speed(stiffness: Any, s: float) -> Any:
    """Return the speed Ω (rad/s) at which the collar stays at a height s (m), by virtual work:
    (2 m + m_c) g ds + k (s − l₀) ds = ½ Ω² dI.
    """
    φ = math.asin((TOP - s) / ARM)
    lift = (2 * BALL + COLLAR) * 9.81 + stiffness * (s - NATURAL)
    return vm.sqrt(lift / (2 * BALL * (OUT + ARM * math.cos(φ)) * math.tan(φ)))


def torque(s: vm.State) -> Any:
    """Return the torque of engine and load (N·m); the load drops within about 0.1 s."""
    load = (LOADS[0] + LOADS[1]) / 2 + (LOADS[1] - LOADS[0]) / 2 * vm.tanh((s.time - 1) / 0.03)
    return vm.vector(0, 0, LOADS[0] - GAIN * (s.displacement("guide") - S0) - load)


def mechanism() -> vm.Mechanism:
    """Build the governor at its steady speed, which depends on the stiffness."""
    m = vm.Mechanism("governor", gravity=(0, 0, -9.81))
    k = m.parameter("k", STIFFNESSES[1], unit="N/m")
    m.ground_point("foot", (0, 0, 0))
    hinges = {"right": (OUT, 0, TOP), "left": (-OUT, 0, TOP)}
    m.body(
        "shaft",
        mass=1,
        inertia=(FLYWHEEL, FLYWHEEL, FLYWHEEL),
        com=(0, 0, TOP / 2),
        points={"foot": (0, 0, 0), **hinges},
    )
    m.body(
        "collar",
        mass=COLLAR,
        inertia=(1e-4,) * 3,
        points={"C": (0, 0, 0), "C right": (OUT, 0, 0), "C left": (-OUT, 0, 0)},
    )
    m.revolute("foot", axis=(0, 0, 1))
    m.prismatic("guide", "shaft.foot", "collar.C", axis=(0, 0, 1))
    for side, x in (("right", ARM), ("left", -ARM)):
        points = {side: (0, 0, 0), "middle": (x / 2, 0, 0), f"ball {side}": (x, 0, 0)}
        m.body(f"arm {side}", mass=BALL, inertia=(1e-5,) * 3, com=(x, 0, 0), points=points)
        m.revolute(side, f"shaft.{side}", f"arm {side}.{side}", axis=(0, 1, 0))
        m.distance(f"link {side}", f"arm {side}.middle", f"collar.C {side}", length=ARM / 2)
    m.spring(
        "spring", "shaft.foot", "collar.C", stiffness=k, natural_length=NATURAL, damping=DAMPING
    )
    m.torque("engine", "shaft", torque)
    down = {
        f"arm {side}": vm.rotation((0, 1, 0), angle)
        for side, angle in (("right", DROOP), ("left", -DROOP))
    }
    m.start(
        angle={"foot": 0.0},
        displacement={"guide": S0},
        speed={"foot": steady_speed(k, S0)},
        near=down,
    )
    return m


def main(out: Path = Path("out/governor_regulation")) -> dict[float, vm.Run]:
    """Drop the load with three springs; print the final speeds and settling times, and draw them."""
    m, runs = mechanism(), {}
    speeds, heights = vm.Panel("speed / initial speed"), vm.Panel("collar (mm)")
    for k in STIFFNESSES:
        runs[k] = run = m.simulate(8.0, tolerance=1e-7, output=0.02, parameters={"k": k})
        Ω, s = run.angular_velocity("foot").to_numpy(), run.displacement("guide").to_numpy()
        settled = run.time[abs(Ω - Ω[-1]) > 0.01 * Ω[0]].max(initial=1.0) - 1
        print(
            f"k = {k:3.0f} N/m: {Ω[0]:.2f} → {Ω[-1]:.2f} rad/s (+{100 * (Ω[-1] / Ω[0] - 1):.1f} %),"
            f" within 1 % after {settled:.2f} s"
        )
        speeds.lines.append(vm.Line(f"k = {k:g} N/m", run.time, Ω / Ω[0]))
        heights.lines.append(vm.Line(f"k = {k:g} N/m", run.time, 1e3 * s))
    out.mkdir(parents=True, exist_ok=True)
    vm.line_figure([speeds, heights], title="The load drops by half after 1 s").savefig(
        out / "speed.png"
    )
    return runs


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))  # the folder for figures, if it is another one
