"""Five parts that act in one direction only: bumper, cable, one-way clutch, ratchet and latch.

- Bumper: a spring that only pushes, F = k max(0, −x), as a function of the state.
- Cable: it limits a distance from above (`stop`), so that it pulls or goes slack. A bob is launched
  around its pivot too slowly for a full circle; the cable goes slack, and is taut again later.
- One-way clutch: dry friction of ± T and a constant torque T between the same two bodies add up to a
  torque of 0 if the wheel is faster than its driver, of 2 T if it is slower, and of any value
  between them if both turn together.
- Ratchet: a pawl pressed against asymmetric teeth, S(φ) = atan(a sin φ / (1 − a cos φ)). Their back
  is (1 + a)/(1 − a) = 19 times as steep as their front: an alternating torque turns the wheel in
  one direction.
- Latch: a bolt on a drawer passes a strike plate with a flat ramp in front and a steep one behind
  it, if the drawer is fast enough.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import varimech as vm

G = 9.81
BLUE, RED, INK = "#0b6fb8", "#d1495b", "#333333"
TEETH, HEIGHT, STEEP = 12, 1e-3, 0.9
"""Number and height factor (m) of the ratchet's teeth, and their asymmetry a."""


def plane(name: str, gravity: float = 0.0) -> vm.Mechanism:
    """Begin a planar mechanism with a ground point O."""
    m = vm.Mechanism(name, gravity=(0, -gravity))
    m.ground_point("O", (0, 0))
    return m


def slider(m: vm.Mechanism, name: str, mass: float, joint: str, first: str, along: Any) -> None:
    """Add a body that slides on another one."""
    m.body(name, mass=mass, inertia=1e-4, points={"P": (0, 0)})
    m.prismatic(joint, first, f"{name}.P", axis=along)


def wheel(m: vm.Mechanism, name: str, inertia: float) -> None:
    """Add a wheel about O."""
    m.body(name, mass=1, inertia=inertia, points={"O": (0, 0)})
    m.revolute(f"{name} bearing", "ground.O", f"{name}.O")


def bumper(ax: Axes) -> None:
    """A cart of 2 kg at 0.5 m/s meets a spring of 800 N/m that is not attached to it."""
    m = plane("bumper")
    slider(m, "cart", 2.0, "rail", "ground.O", (1, 0))
    m.force("spring", "cart.P", lambda s: (800 * vm.maximum(0, -s.displacement("rail")), 0))
    m.start(displacement={"rail": 0.05}, speed={"rail": -0.5})
    run = m.simulate(0.35, tolerance=1e-9, output=1e-4)
    x = 1e3 * run.displacement("rail").to_numpy()
    v = float(run.displacement_rate("rail")[-1])
    print(f"bumper: compressed by {-x.min():.3f} mm, speed afterwards {v:.6f} m/s")
    ax.plot(1e3 * run.time, x, color=BLUE)
    ax.axhline(0, color=INK, linewidth=0.8, linestyle="--")
    ax.set(xlabel="time (ms)", ylabel="position (mm)", title="Bumper: pushes below 0")


def cable(ax: Axes) -> None:
    """A bob on a cable of 1 m is launched at 6 m/s; the taut cable does not bounce."""
    m = plane("cable", G)
    m.body("bob", mass=0.5, inertia=1e-4, floating=True, points={"C": (0, 0)})
    m.stop("cable", lambda s: s.distance("O", "bob.C"), upper=1.0, restitution=0.0)
    start = {"bob.C": (6.0, 0.0)}
    m.start(position={"bob.C": (0.0, -1.0)}, angle={"bob": 0.0}, speed=start)
    run = m.simulate(2.2, tolerance=1e-10, output=1e-3)
    slack, taut = run.events.times[:2]
    print(f"cable: slack at {slack:.6f} s, taut at {taut:.6f} s")
    loose = (slack < run.time) & (run.time < taut)
    x, y = run.position("bob.C").to_numpy().T
    ax.plot(np.where(loose, np.nan, x), y, color=BLUE, label="taut")
    ax.plot(np.where(loose, x, np.nan), y, color=RED, linestyle="--", label="slack")
    ax.plot(0, 0, "o", color=INK)
    ax.legend(frameon=False, loc="center", bbox_to_anchor=(0.5, 0.42))
    ax.set(xlabel="x (m)", ylabel="y (m)", title="Cable: path of the bob", aspect="equal")


def clutch(ax: Axes) -> None:
    """A driver that oscillates turns a wheel with drag of 0.1 N·m in one direction."""
    m = plane("clutch")
    wheel(m, "driver", 0.01)
    wheel(m, "wheel", 0.02)
    m.drive_angle("motor", "driver", lambda t: vm.sin(6 * t))
    m.dry_friction(
        "rollers", lambda s: s.angular_velocity("wheel") - s.angular_velocity("driver"), sliding=2.5
    )
    m.torque("wedge", "wheel", 2.5, against="driver")
    m.torque("drag", "wheel", -0.1)
    m.start(angle={"wheel": 0.0}, speed={"wheel": 6.0})
    run = m.simulate(3.0, tolerance=1e-10, output=2e-3)
    overruns, locks = run.events.times[:2]
    print(f"clutch: overruns from {overruns:.6f} s to {locks:.6f} s")
    for name, colour in (("driver", RED), ("wheel", BLUE)):
        ax.plot(run.time, run.angular_velocity(name).to_numpy(), color=colour, label=name)
    ax.legend(frameon=False, loc="lower left", ncols=2)
    ax.set(xlabel="time (s)", ylabel="speed (rad/s)", ylim=(-9.5, 7), title="One-way clutch")


def ratchet(ax: Axes) -> None:
    """A torque of ± 0.3 N·m turns a wheel by one tooth in each cycle."""
    m = plane("ratchet")
    wheel(m, "wheel", 1e-3)
    slider(m, "pawl", 0.02, "lift", "ground.O", (0, 1))
    m.force("pawl spring", "pawl.P", lambda s: (0, -20 - 2000 * s.displacement("lift")))

    def tooth(φ: Any) -> Any:
        return HEIGHT * vm.atan2(STEEP * vm.sin(φ), 1 - STEEP * vm.cos(φ))

    m.stop("teeth", lambda s: s.displacement("lift") + tooth(TEETH * s.angle("wheel")), lower=0.0)
    m.torsional_damper("drag", "wheel", damping=0.08)
    m.torque("hand", "wheel", lambda s: 0.3 * vm.sin(2 * math.pi * s.time))
    m.start(angle={"wheel": 0.0}, displacement={"lift": 0.0})
    run = m.simulate(4.0, tolerance=1e-9, output=2e-3)
    turned = TEETH / (2 * math.pi) * run.angle("wheel").to_numpy()
    print("ratchet: teeth after each cycle:", *(f"{x:.4f}" for x in turned[500::500]))
    ax.plot(run.time, turned, color=BLUE)
    ax.set(xlabel="time (s)", ylabel="rotation (teeth)", title="Ratchet")


def latch(ax: Axes) -> None:
    """A drawer of 1 kg that a force of 3 N opens is closed at two speeds."""
    m = plane("latch")
    v = m.parameter("v", 1.2, unit="m/s")
    slider(m, "drawer", 1.0, "rail", "ground.O", (1, 0))
    slider(m, "bolt", 0.02, "lift", "drawer.P", (0, 1))
    m.force("bolt spring", "bolt.P", lambda s: (0, -5 - 1000 * s.displacement("lift")))
    m.force("opening", "drawer.P", lambda s: (-3 - 12 * s.displacement_rate("rail"), 0))

    def plate(x: Any) -> Any:
        front, back = 1 + vm.tanh((x - 0.01) / 0.004), 1 - vm.tanh((x - 0.024) / 0.0005)
        return 2e-3 * front * back

    m.stop(
        "strike plate", lambda s: s.displacement("lift") - plate(s.displacement("rail")), lower=0
    )
    m.stop("end", lambda s: s.displacement("rail"), upper=0.03, restitution=0.3)
    m.start(displacement={"rail": -0.02, "lift": plate(-0.02)}, speed={"rail": v})
    for speed, colour in ((0.8, RED), (1.2, BLUE)):
        run = m.simulate(2.0, tolerance=1e-9, output=1e-3, parameters={"v": speed})
        x = 1e3 * run.displacement("rail").to_numpy()
        print(f"latch: closed at {speed} m/s, the drawer is at {x[-1]:.3f} mm after 2 s")
        ax.plot(run.time, x, color=colour, label=f"{speed} m/s")
    ax.axhline(24, color=INK, linewidth=0.8, linestyle="--")
    ax.legend(frameon=False, loc="center right")
    ax.set(xlabel="time (s)", ylabel="drawer (mm)", xlim=(0, 1), ylim=(-45, 35), title="Latch")


def main(out: Path = Path("out/one_way_parts")) -> Figure:
    """Simulate all parts and draw them in one figure."""
    figure = Figure(figsize=(11.0, 5.6), layout="constrained", dpi=100)
    axes = figure.subplot_mosaic(
        [["cable", "bumper", "clutch"], ["cable", "ratchet", "latch"]], width_ratios=[1.15, 1, 1]
    )
    for part in (bumper, cable, clutch, ratchet, latch):
        ax = axes[part.__name__]
        part(ax)
        ax.grid(color="#d9d9d9", linewidth=0.6)
        ax.spines[["top", "right"]].set_visible(False)
    out.mkdir(parents=True, exist_ok=True)
    figure.savefig(out / "parts.png")
    return figure


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))  # the folder for figures, if it is another one
