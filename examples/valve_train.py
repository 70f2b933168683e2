"""A valve train: at which speed does the tappet leave the cam, and which spring prevents it?

A cam lifts a flat tappet; the tappet lifts one end of a rocker arm, whose other end opens a valve against
a spring. Both ends of the rocker have round pads that slide on flat faces (two curves in contact). The
spring has to decelerate all masses near the greatest lift: above a certain speed its force does not
suffice, the tappet leaves the cam, and the valve floats. That speed is where the smallest force between
cam and tappet over a turn, of a train that is closed by form, vanishes:

    N(ω, k, F₀) = min over t of N(t) = 0,     dω/dk = −N_k / N_ω,     dω/dF₀ = −N_F₀ / N_ω

with the stiffness k and the preload F₀ of the spring. Closed by force, the same train shows what happens
beyond it.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle

import varimech as vm

BASE, LIFT = 0.018, 0.008
"""Radius of the base circle and lift of the tappet (m)."""
ARMS, PAD = (0.030, 0.045), 0.006
"""Arms of the rocker on the sides of tappet and valve, radius of its pads (m)."""
TAPPET, VALVE, ROCKER = 0.05, 0.10, 8e-5
"""Masses (kg) and moment of inertia (kg·m²)."""
STEM, SPRING = 0.05, 0.04
"""Length of the tappet and of the spring with the valve closed (m)."""
SPEED, FAST = 400.0, 1.1
"""Speed of the cam (rad/s), at which the spring is too weak; and speed of a run with float, over the lift-off
speed.
"""
RATED, LEAST = 420.0, 50.0
"""Speed (rad/s) at which the force on the cam has to be at least so large (N)."""
DESIGN = ["w", "k", "F0"]
BLUE, RED, INK, GREY = "#0b6fb8", "#d1495b", "#333333", "#d9d9d9"


def mechanism(closure: str = "form") -> vm.Mechanism:
    """Build the train; speed w, stiffness k and preload F0 are parameters.

    Args:
        closure: what keeps the tappet on the cam: "form", or "force", so that it can lift off.
    """
    m = vm.Mechanism("valve train", dimension=2)
    m.parameter("w", SPEED, unit="rad/s")
    m.parameter("k", 30e3, unit="N/m", bounds=(5e3, 100e3))
    m.parameter("F0", 200.0, unit="N", bounds=(50.0, 1000.0))
    pivot = (ARMS[0], BASE + STEM + PAD + LIFT / 2)  # the rocker swings evenly about the horizontal
    seat = pivot[1] + LIFT / 2 * ARMS[1] / ARMS[0] - PAD
    m.ground_point("O", (0, 0))
    m.ground_point("G", (0, BASE))
    m.ground_point("P", pivot)
    m.ground_point("V", (pivot[0] + ARMS[1], seat))
    m.ground_point("S", (pivot[0] + ARMS[1], seat - SPRING))
    m.body("cam", mass=1.0, inertia=1e-3, points={"O": (0, 0)})
    m.body("tappet", mass=TAPPET, inertia=1e-5, points={"G": (0, 0), "top": (0, STEM)})
    ends = {"P": (0, 0), "Q": (-ARMS[0], 0), "R": (ARMS[1], 0)}
    m.body("rocker", mass=0.1, inertia=ROCKER, points=ends)
    m.body("valve", mass=VALVE, inertia=1e-5, points={"V": (0, 0)})
    m.revolute("O")
    m.revolute("P")
    m.prismatic("tappet guide", "ground.G", "tappet.G", axis=(0, 1))
    m.prismatic("valve guide", "ground.V", "valve.V", axis=(0, -1))
    m.cam(
        "cam face",
        "cam.O",
        "tappet.G",
        profile=f"{BASE} + {LIFT}*((1 + cos(u))/2)**4",
        profile_kind="support",
        face=(0, -1),
        closure=closure,
    )
    for name, pad, face in (("Q", "rocker.Q", "tappet.top"), ("R", "rocker.R", "valve.V")):
        m.curve_contact(
            f"pad {name}",
            pad,
            face,
            first_curve=(f"{PAD}*cos(u)", f"{PAD}*sin(u)"),
            first_interval=(0, 2 * math.pi),
            first_closed=True,
            second_curve=[(-0.01, 0), (0.01, 0)],
            second_side="right",  # tappet and valve are below
        )
    m.spring("spring", "ground.S", "valve.V", stiffness="k", natural_length=f"{SPRING} + F0/k")
    m.drive_angle("motor", "O", "w*t - pi/2")  # begins opposite to the greatest lift
    start = {"tappet guide": 0.0} if closure == "force" else {}
    m.start(displacement=start, near={"rocker": math.asin(LIFT / 2 / ARMS[0])})
    return m


def contact(s: vm.State) -> Any:
    """Return the force between cam and tappet (N)."""
    return s.effort("cam face")


def smallest(m: vm.Mechanism, w: float, method: str = "direct") -> vm.Gradient:
    """Differentiate the smallest force of a turn at a speed (rad/s)."""
    return m.sensitivity(
        {"N": vm.lowest(contact, unit="N")},
        DESIGN,
        duration=2 * math.pi / w,
        parameters={"w": w},
        method=method,
        tolerance=1e-9,
    )


def lift_off(m: vm.Mechanism, method: str = "direct") -> tuple[float, np.ndarray]:
    """Find the lift-off speed (rad/s) by Newton's method, and its derivatives for k and F0."""
    w = SPEED  # above it: far below, the smallest force is the preload on the base circle
    while True:
        g = smallest(m, w, method)
        N_w, N_k, N_F = (float(x) for x in g.final_gradient[0])
        step = -float(g.final_values[0]) / N_w
        w += step
        if abs(step) < 1e-8 * w:
            return w, -np.array([N_k, N_F]) / N_w


def solve(m: vm.Mechanism) -> vm.Optimum:
    """Find the preload with the smallest peak force that keeps contact at the rated speed."""
    duration = 2 * math.pi / RATED
    return m.optimize(
        {"peak": vm.peak(contact, unit="N")},
        over=["F0"],
        duration=duration,
        parameters={"w": RATED},
        constraints={"contact": vm.path(contact, unit="N") >= LEAST},
        output=duration / 90,
    )


def float_of(w: float) -> vm.Run:
    """Simulate a turn of the train that can lift off."""
    duration = 2 * math.pi / w
    return mechanism("force").simulate(duration, parameters={"w": w}, output=duration / 720)


def draw(ax: Axes) -> None:
    """Draw the train with the valve closed."""
    u = np.linspace(0, 2 * np.pi, 361)
    f = BASE + LIFT * ((1 + np.cos(u)) / 2) ** 4
    slope = np.gradient(f, u)
    cam = (f + 1j * slope) * np.exp(1j * (u - np.pi))  # its nose to the left
    cam *= 1j  # downwards
    ax.fill(cam.real, cam.imag, facecolor="#e6b8a8", edgecolor=INK)
    x, y = ARMS[0], BASE + STEM + PAD + LIFT / 2
    tilt = LIFT / 2 / ARMS[0]
    ends = [(x - ARMS[0], y - tilt * ARMS[0]), (x + ARMS[1], y + tilt * ARMS[1])]
    ax.plot([0, 0], [BASE, BASE + STEM], color=BLUE, linewidth=5)
    ax.plot([-0.014, 0.014], [BASE, BASE], color=BLUE, linewidth=4)
    ax.plot(*zip(*ends, strict=True), color="#8f8f8f", linewidth=5)
    for end in ends:
        ax.add_patch(Circle(end, PAD, facecolor="#d9d9d9", edgecolor=INK, zorder=3))
    top = ends[1][1] - PAD
    ax.plot([ends[1][0]] * 2, [top, top - 0.08], color=RED, linewidth=4)
    ax.fill(
        ends[1][0] + np.array([-0.016, 0.016, 0.004, -0.004]),
        top + np.array([-0.09, -0.09, -0.078, -0.078]),
        facecolor=RED,
    )
    coil = np.linspace(0, 1, 15)
    side = 0.01 * np.where(np.arange(15) % 2, 1, -1)
    ax.plot(ends[1][0] + side, top - SPRING * coil, color=INK, linewidth=1.2, zorder=4)
    ax.plot([0, x], [0, y], "o", color=INK, markersize=4, zorder=5)
    ax.set(aspect="equal")
    ax.axis("off")


def picture(m: vm.Mechanism, critical: float, best: vm.Optimum) -> Figure:
    """Draw the train, forces over a turn for three speeds, float, and forces with both preloads."""
    figure = Figure(figsize=(11.0, 3.3), layout="constrained", dpi=110)
    train, left, middle, right = figure.subplots(1, 4, width_ratios=[0.75, 1, 1, 1])
    draw(train)
    colours = {0.6: BLUE, 1.0: INK, FAST: RED}
    for factor, colour in colours.items():
        w = factor * critical
        turn(left, m, {"w": w}, colour, f"{w * 30 / math.pi:.0f} rpm")
    left.set(title="force on the cam (N)", ylim=(-550, None))
    for factor, colour in ((FAST, RED), (1.2, "#8c2d8c")):
        w = factor * critical
        run = float_of(w)
        gap = 1e3 * run.measure('gap("cam face")').to_numpy()
        middle.plot(
            np.degrees(w * run.time), gap, color=colour, label=f"{w * 30 / math.pi:.0f} rpm"
        )
    middle.set(title="gap of cam and tappet (mm)", xlim=(90, 360))
    turn(right, m, {"w": RATED}, INK, "200 N preload")
    F0 = best.parameters["F0"]
    turn(right, m, {"w": RATED, "F0": F0}, BLUE, f"{F0:.0f} N preload")
    right.axhline(LEAST, color=RED, linewidth=0.8, linestyle="--")
    right.set(title=f"force at {RATED * 30 / math.pi:.0f} rpm (N)", ylim=(-550, None))
    for ax in (left, middle, right):
        ax.set_xlabel("cam (°)")
        ax.axhline(0, color=INK, linewidth=0.8)
        ax.grid(color=GREY, linewidth=0.6)
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(frameon=False, fontsize=8)
        ax.title.set_fontsize(10)
    return figure


def turn(ax: Axes, m: vm.Mechanism, values: dict[str, float], colour: str, label: str) -> None:
    """Draw the force on the cam over a turn."""
    duration = 2 * math.pi / values["w"]
    run = m.simulate(duration, parameters=values, output=duration / 360)
    ax.plot(np.degrees(values["w"] * run.time), run.measure(contact), color=colour, label=label)


def main(out: Path = Path("out/valve_train")) -> vm.Optimum:
    """Print the lift-off speed and its derivatives, float beyond it, and the best preload."""
    m = mechanism()
    for method in ("direct", "adjoint"):
        w, slopes = lift_off(m, method)
        print(f"lift-off at {w:.4f} rad/s ({w * 30 / math.pi:.0f} rpm of the cam); by {method}:")
        print(f"  {1e3 * slopes[0]:+.5f} rad/s per N/mm of stiffness")
        print(f"  {slopes[1]:+.6f} rad/s per N of preload")
    floating = float_of(FAST * w)
    gap = 1e3 * floating.measure('gap("cam face")').to_numpy()
    impact = min(e.before for e in floating.events if e.before is not None)
    print(f"at {FAST:.0%} of it: float of {gap.max():.3f} mm, impact at {-impact:.2f} m/s")
    optimum = solve(m)
    print(f"preload for {LEAST:.0f} N at {RATED:.0f} rad/s: {optimum.parameters['F0']:.2f} N")
    print(f"  peak force on the cam: {optimum.objective:.1f} N")
    out.mkdir(parents=True, exist_ok=True)
    picture(m, w, optimum).savefig(out / "valve_train.png")
    return optimum


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))  # the folder for figures, if it is another one
