"""Double wishbone: camber and toe over the travel of the wheel, and the effect of
tolerances of the mounts.

Two arms turn about axes of the chassis and hold an upright between their ball joints; a tie rod keeps it
from steering. When the wheel moves up, it leans inwards (camber) and steers a little (bump steer). How much
of that comes from mounts that are half a millimetre off?
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

import varimech as vm

POINTS: dict[str, tuple[float, float, float]] = {
    "LF": (0.15, -0.30, 0.20),
    "LR": (-0.20, -0.30, 0.20),
    "LO": (0.0, -0.70, 0.18),
    "UF": (0.12, -0.38, 0.45),
    "UR": (-0.18, -0.38, 0.46),
    "UO": (-0.02, -0.66, 0.48),
    "TI": (0.12, -0.33, 0.24),
    "TO": (0.13, -0.68, 0.22),
    "W": (0.0, -0.76, 0.30),
    "SB": (0.0, -0.50, 0.185),
    "ST": (0.0, -0.42, 0.60),
}
"""Mounts (front and rear) and ball joints of lower and upper arm, ends of the tie rod, centre of the wheel,
ends of the spring: forwards, to the left, upwards (m).
"""
OFF = ("LFz", "LRz", "UFy", "URy", "UFz", "URz", "TIz")
"""Coordinates of mounts that are parameters; the last one is the height of the rack."""
TOLERANCE = 0.5e-3
"""Of mounts and of the tie rod's length: three standard deviations (m)."""
TRAVEL = 0.06
"""Of the wheel to both sides (m)."""
DURATION = 1.0
"""One period of the wheel's motion (s)."""
BLUE, RED, GREEN, INK, GREY = "#0b6fb8", "#d1495b", "#3a9d5d", "#333333", "#d9d9d9"


def _mount(m: vm.Mechanism, name: str) -> tuple[Any, ...]:
    """Coordinates of a point of the chassis."""
    return tuple(
        m.parameter(f"{name}{axis}", x, unit="m", tolerance=TOLERANCE)
        if f"{name}{axis}" in OFF
        else x
        for axis, x in zip("xyz", POINTS[name], strict=True)
    )


def wheel() -> list[vm.Solid]:
    """Shape a tyre as two half rings, with five spokes."""
    φ = np.linspace(0, np.pi, 25)
    half = [(0.30 * np.cos(a), 0.30 * np.sin(a)) for a in φ]
    half += [(0.19 * np.cos(a), 0.19 * np.sin(a)) for a in φ[::-1]]
    upright = vm.rotation((1, 0, 0), np.pi / 2)
    tyre = [vm.extrusion(half, 0.19, rotation=upright)]
    tyre += [vm.extrusion([(x, -z) for x, z in half], 0.19, rotation=upright)]
    spokes = [
        vm.box(
            (0.19, 0.03, 0.035),
            at=(0.1 * np.cos(a), -0.06, 0.1 * np.sin(a)),
            rotation=vm.rotation((0, 1, 0), -a),
        )
        for a in 2 * np.pi * np.arange(5) / 5
    ]
    return tyre + spokes


def suspension() -> vm.Mechanism:
    """Build the suspension of a right wheel on a rig that moves the wheel up and down."""
    m = vm.Mechanism("double wishbone", gravity=(0, 0, -9.81))
    at = {name: _mount(m, name) for name in ("LF", "LR", "UF", "UR", "TI", "ST")}
    for name, place in at.items():
        m.ground_point(name, place)
    arms = {"lower": ("LF", "LR", "LO"), "upper": ("UF", "UR", "UO")}
    for (arm, points), mass in zip(arms.items(), (3.0, 2.0), strict=True):
        front, rear, ball = points
        own = {name: POINTS[name] for name in (*points, *(("SB",) if arm == "lower" else ()))}
        m.body(arm, mass=mass, inertia=(0.02, 0.02, 0.02), com=POINTS[ball], points=own)
        along = tuple(a - b for a, b in zip(at[front], at[rear], strict=True))
        as_made = tuple(np.subtract(POINTS[front], POINTS[rear]))
        ends = f"ground.{front}", f"{arm}.{front}"
        m.revolute(front, *ends, axis=along, axis_on_second=as_made)
    hub = {name: POINTS[name] for name in ("LO", "UO", "TO", "W")}
    m.body("upright", mass=15.0, inertia=(0.3, 0.3, 0.3), com=POINTS["W"], points=hub)
    m.body("wheel", mass=18.0, inertia=(0.6, 1.0, 0.6), points={"W": (0, 0, 0)}, shape=wheel())
    m.revolute("W", "upright.W", "wheel.W", axis=(0, 1, 0))
    m.spherical("LO", "lower.LO", "upright.LO")
    m.spherical("UO", "upper.UO", "upright.UO")
    rod = float(np.linalg.norm(np.subtract(POINTS["TI"], POINTS["TO"])))
    length = m.parameter("tie", rod, unit="m", tolerance=TOLERANCE)
    m.distance("tie rod", "ground.TI", "upright.TO", length=length)
    m.spring("spring", "ground.ST", "lower.SB", stiffness=60e3, natural_length=0.5, damping=3e3)
    height = POINTS["W"][2]
    m.drive_coordinate(
        "travel",
        "upright.W",
        (0, 0, 1),
        lambda t: height + TRAVEL * vm.sin(2 * np.pi * t / DURATION),
    )
    m.drive_angle("spin", "W", lambda t: 2 * np.pi * t / DURATION)
    m.start(near={f"upright.{name}": place for name, place in hub.items()})
    return m


def camber(s: vm.State) -> Any:
    """Return by how much the top of the wheel leans outwards (rad)."""
    return vm.asin(s.rotation("upright")[2, 1])


def toe(s: vm.State) -> Any:
    """Return by how much the front of the wheel points inwards (rad)."""
    heading = s.rotation("upright")[:, 0]
    return vm.atan2(heading[1], heading[0])


def over_travel(m: vm.Mechanism, count: int = 25) -> vm.Kinematics:
    """Move the wheel without masses, with derivatives for all parameters."""
    heights = POINTS["W"][2] + np.linspace(-TRAVEL, TRAVEL, count)
    return m.kinematics("travel", heights, wrt="all")


def deviation(k: vm.Kinematics, output: Any) -> tuple[xr.DataArray, xr.DataArray]:
    """Return an output (rad) and its standard deviation by the mounts, to first order."""
    slopes = k.measure(output, wrt="all")
    return k.measure(output), ((slopes * TOLERANCE / 3) ** 2).sum("parameter") ** 0.5


def picture(k: vm.Kinematics) -> Figure:
    """Draw camber and toe over the travel with three standard deviations, and what they come from."""
    figure = Figure(figsize=(9.0, 3.4), layout="constrained", dpi=110)
    *axes, bars = figure.subplots(1, 3)
    travel = 1e3 * (k.values[:, 0] - POINTS["W"][2])
    for ax, (name, output), colour in zip(
        axes, {"camber": camber, "toe-in": toe}.items(), (BLUE, RED), strict=True
    ):
        middle, σ = (np.degrees(x.to_numpy()) for x in deviation(k, output))
        ax.fill_between(travel, middle - 3 * σ, middle + 3 * σ, color=colour, alpha=0.25, lw=0)
        ax.plot(travel, middle, color=colour)
        ax.set(xlabel="travel (mm)", ylabel=f"{name} (°), band ± 3 σ")
    slopes = k.measure(toe, wrt="all")
    shares = np.degrees((slopes[-1] - slopes[0]).to_numpy()) * 1e-3
    names = [str(name) for name in slopes["parameter"].to_numpy()]
    order = np.argsort(abs(shares))
    bars.barh([names[i] for i in order], shares[order], color=GREEN)
    bars.set(xlabel="bump steer over the travel (° per mm)")
    for ax in (*axes, bars):
        ax.grid(color=GREY, linewidth=0.6)
        ax.spines[["top", "right"]].set_visible(False)
    return figure


def main(out: Path = Path("out/double_wishbone")) -> vm.Kinematics:
    """Print camber and toe at both ends of the travel, and what the mounts do to bump steer."""
    m = suspension()
    k = over_travel(m)
    for name, output in (("camber", camber), ("toe-in", toe)):
        value, σ = (np.degrees(x.to_numpy()) for x in deviation(k, output))
        print(
            f"{name}: {value[0]:+.3f}° down, {value[-1]:+.3f}° up; standard deviation"
            f" {σ[0]:.3f}°, {σ[-1]:.3f}°"
        )
    slopes = k.measure(toe, wrt="all")
    steer = (slopes[-1] - slopes[0]) * TOLERANCE / 3
    total = float((steer**2).sum()) ** 0.5
    print(f"bump steer over the travel: standard deviation {np.degrees(total):.4f}°, of it")
    for name in steer["parameter"].to_numpy()[np.argsort(-abs(steer.to_numpy()))][:3]:
        share = float(steer.sel(parameter=name) ** 2) / total**2
        print(f"  {100 * share:.0f} % from {name}")
    run = m.simulate(DURATION, output=DURATION / 200)
    print(f"largest force at the lower ball joint: {_largest(run.reaction('LO')):.0f} N")
    out.mkdir(parents=True, exist_ok=True)
    picture(k).savefig(out / "double_wishbone.png")
    vm.report(out / "double_wishbone.html", run, show={"reaction": ["LO"], "trace": ["W"]})
    return k


def _largest(force: xr.DataArray) -> float:
    return float(((force**2).sum("component") ** 0.5).max())


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))  # the folder for figures, if it is another one
