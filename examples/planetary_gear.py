"""A planetary gear set and a differential: speeds, torques, and one wheel on ice.

A planetary set has three shafts: sun, ring and carrier. Whichever is held, the speeds obey Willis'
equation, and the torques of the shafts are in fixed proportion:

    ω_s − ω_c = −(z_r/z_s) (ω_r − ω_c),     T_s : T_r : T_c = 1 : z_r/z_s : −(1 + z_r/z_s)

A differential is the same with bevel gears of equal size: ω_l + ω_r = 2 ω_c, and both wheels get the same
torque. With one wheel on ice the other one hardly pulls. How do the wheels' speeds depend on the grip of
each?
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle

import varimech as vm

SUN, PLANET, RING = 24, 18, 60
"""Numbers of teeth: the ring has as many as the sun and two planets."""
MODULE = 0.002
"""Pitch diameter per tooth (m)."""
SPEED, LOAD, DURATION = 10.0, 5.0, 1.0
"""Speed of the shaft that drives (rad/s), torque against the one that is driven (N·m), time (s)."""
GEARS = {
    "ring held": ("ring", "sun", "carrier"),
    "sun held": ("sun", "ring", "carrier"),
    "carrier held": ("carrier", "sun", "ring"),
}
"""Held, driving and driven shaft."""
SIDE, SPIDER = 16, 10
"""Numbers of teeth of the differential."""
CAGE_TORQUE = 100.0
"""Torque on the cage of the differential (N·m)."""
INERTIAS = {"cage": 0.2, "left": 0.8, "right": 0.8, "spider": 0.002}
"""About the axes on which they turn (kg·m²)."""
SPIDER_MASS, SPIDER_RADIUS = 0.4, 0.05
SPEEDS = {
    "left": vm.final("angular_velocity('left')[0]", unit="rad/s"),
    "right": vm.final("angular_velocity('right')[0]", unit="rad/s"),
}
BLUE, RED, GREEN, INK, GREY = "#0b6fb8", "#d1495b", "#3a9d5d", "#333333", "#d9d9d9"


def planetary(gear: str) -> vm.Mechanism:
    """Build the planetary set with one shaft held and one driven.

    Args:
        gear: one of `GEARS`.
    """
    held, driving, driven = GEARS[gear]
    m = vm.Mechanism(f"planetary set, {gear}", dimension=2)
    m.ground_point("O", (0, 0))
    arm = MODULE * (SUN + PLANET) / 2
    m.body("carrier", mass=0.5, inertia=2e-4, points={"O": (0, 0), "P": (arm, 0)})
    for name, inertia in (("sun", 5e-5), ("ring", 8e-4)):
        m.body(name, mass=0.5, inertia=inertia, points={"O": (0, 0)})
    m.body("planet", mass=0.1, inertia=2e-5, points={"P": (0, 0)})
    m.revolute("shaft", "ground.O", "carrier.O")
    m.revolute("of sun", "carrier.O", "sun.O")
    m.revolute("of ring", "carrier.O", "ring.O")
    m.revolute("of planet", "carrier.P", "planet.P")
    m.gear("inner", "of sun", "of planet", teeth=(SUN, PLANET))
    m.gear("outer", "of planet", "of ring", teeth=(PLANET, RING), mesh="internal")
    m.drive_angle("held", held, 0.0)
    m.drive_angle("motor", driving, lambda t: SPEED * t)
    m.torque("load", driven, load(gear))
    m.start()
    return m


def load(gear: str) -> float:
    """Return the torque against the driven shaft (N·m), which turns back if the carrier is held."""
    return LOAD if gear == "carrier held" else -LOAD


def differential() -> vm.Mechanism:
    """Build the differential; the resistances cl and cr of the wheels are parameters."""
    m = vm.Mechanism("differential", dimension=3)
    m.parameter("cl", 0.5, unit="N·m·s/rad", bounds=(0, None))
    m.parameter("cr", 5.0, unit="N·m·s/rad", bounds=(0, None))
    zero = (0.0, 0.0, 0.0)
    m.ground_point("O", zero)
    points: dict[str, Any] = {"cage": {"O": zero, "S": (0, 0, SPIDER_RADIUS)}}
    points |= {name: {"O": zero, "rim": (0.0, 0.3, 0.0)} for name in ("left", "right")}
    points |= {"spider": {"S": zero}}
    for name, inertia in INERTIAS.items():
        mass = SPIDER_MASS if name == "spider" else 1.0
        m.body(name, mass=mass, inertia=(inertia,) * 3, points=points[name])
    m.revolute("axle", "ground.O", "cage.O", axis=(1, 0, 0))
    m.revolute("of left", "cage.O", "left.O", axis=(1, 0, 0))
    m.revolute("of right", "cage.O", "right.O", axis=(-1, 0, 0))  # seen from its own side
    m.revolute("of spider", "cage.S", "spider.S", axis=(0, 0, 1))
    for side in ("left", "right"):
        m.gear(f"mesh {side}", f"of {side}", "of spider", teeth=(SIDE, SPIDER), mesh="crossed")
        c = f"c{side[0]}"
        m.torque(f"road {side}", side, [f"-{c}*angular_velocity('{side}')[0]", 0.0, 0.0])
    m.torque("engine", "cage", (CAGE_TORQUE, 0, 0))
    m.start(angle={"axle": 0.0, "of left": 0.0})
    return m


def torques(run: vm.Run, gear: str) -> dict[str, float]:
    """Return the torques on the three shafts at the end (N·m)."""
    held, driving, driven = GEARS[gear]
    on = {held: "held", driving: "motor"}
    return {name: float(run.effort(driver)[-1]) for name, driver in on.items()} | {
        driven: load(gear)
    }


def draw_set(ax: Axes, run: vm.Run) -> None:
    """Draw sun, planet and ring at the end of a run."""
    radii = {name: MODULE * z / 2 for name, z in (("sun", SUN), ("planet", PLANET), ("ring", RING))}
    place = run.position("planet.P").to_numpy()[-1]
    ax.add_patch(Circle((0, 0), radii["ring"], fill=False, edgecolor=GREEN, linewidth=4))
    for name, centre, colour in (("sun", (0.0, 0.0), BLUE), ("planet", place, RED)):
        r, angle = radii[name], float(run.angle(name)[-1])
        ax.add_patch(Circle(tuple(centre), r, facecolor=colour, alpha=0.25, edgecolor=INK))
        end = np.array(centre) + r * np.array([np.cos(angle), np.sin(angle)])
        ax.plot([centre[0], end[0]], [centre[1], end[1]], color=colour)
    ax.plot([0, place[0]], [0, place[1]], color=INK, linewidth=3)
    reach = 1.1 * radii["ring"]
    ax.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
    ax.set_title("planetary set", fontsize=10)
    ax.axis("off")


def picture(runs: dict[str, vm.Run], wheels: vm.Run) -> Figure:
    """Draw the set, its turns in three gears, and the wheels of the differential."""
    figure = Figure(figsize=(10.0, 3.4), layout="constrained", dpi=110)
    axes = figure.subplots(1, 3)
    draw_set(axes[0], runs["ring held"])
    for (gear, run), colour in zip(runs.items(), (BLUE, RED, GREEN), strict=True):
        _, driving, driven = GEARS[gear]
        turns = [run.angle(name).to_numpy() / (2 * np.pi) for name in (driving, driven)]
        axes[1].plot(turns[0], turns[1], color=colour, label=f"{gear}: {driven}")
    axes[1].set(xlabel="turns of the driving shaft", ylabel="turns of the driven shaft")
    for name, colour in (("left", BLUE), ("right", RED), ("cage", INK)):
        speed = wheels.angular_velocity(name).to_numpy()[:, 0]
        style = ":" if name == "cage" else "-"
        axes[2].plot(wheels.time, speed, color=colour, linestyle=style, label=name)
    axes[2].set(xlabel="time (s)", ylabel="speed (rad/s)", title="differential, left wheel on ice")
    axes[2].title.set_fontsize(10)
    for ax in axes[1:]:
        ax.grid(color=GREY, linewidth=0.6)
        ax.legend(frameon=False, fontsize=8)
        ax.spines[["top", "right"]].set_visible(False)
    return figure


def main(out: Path = Path("out/planetary_gear")) -> dict[str, vm.Run]:
    """Run the set in its three gears and the differential; print ratios, torques and derivatives."""
    runs = {gear: planetary(gear).simulate(DURATION) for gear in GEARS}
    for gear, run in runs.items():
        _, driving, driven = GEARS[gear]
        ratio = float(run.angular_velocity(driving)[-1] / run.angular_velocity(driven)[-1])
        shown = ", ".join(f"{name} {T:+.4f}" for name, T in torques(run, gear).items())
        print(f"{gear}: ratio {ratio:+.4f}; torques (N·m): {shown}")
    m = differential()
    wheels = m.simulate(2.0)
    for method in ("direct", "adjoint"):
        g = m.sensitivity(SPEEDS, duration=2.0, method=method)
        print(f"wheels after 2 s, by {method}:")
        for k, name in enumerate(SPEEDS):
            changes = zip(m.parameters.values(), g.final_gradient[k], strict=True)
            shown = ", ".join(
                f"{0.01 * p.value * d:+.5f} for 1 % more {p.name}" for p, d in changes
            )
            print(f"  {name} {g.final_values[k]:.4f} rad/s; {shown}")
    out.mkdir(parents=True, exist_ok=True)
    picture(runs, wheels).savefig(out / "planetary_gear.png")
    return runs


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))  # the folder for figures, if it is another one
