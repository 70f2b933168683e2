"""A Geneva drive with clearance: a pin that turns at constant speed indexes a wheel by a quarter turn.

The pin enters a slot of the wheel tangentially, turns the wheel by 90°, and leaves. In the first
half it pushes one wall of the slot; in the second half the wheel is ahead, and the pin holds it back
by the other wall. In between, the pin crosses its clearance and hits that wall. How fast, and how
does this depend on clearance, brake and inertia?

Pin, walls and locking disc are rigid. Each wall is a capsule, so that its corner at the rim is round.
Between two turns, a disc on the crank locks the wheel: horns of the wheel touch its rim, which is
cut out towards the pin. A brake on the axle keeps the wheel from running ahead for long.

The motion is known in closed form: a wall that touches the pin determines the angle of the wheel,
and in between only the brake acts on it.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Polygon

import varimech as vm

CENTRES = 0.06
"""Distance of both axles (m)."""
CRANK = WHEEL = CENTRES * np.sqrt(0.5)
"""Radius at which the pin turns, and that of the wheel: the pin enters its slot tangentially (m)."""
PIN, CORNER, DISC, HUB = 0.004, 0.001, 0.030, 0.013
"""Radii of the pin, of the corners of slots, of the locking disc, and of its cut-out (m)."""
PLAY = 5e-5
"""Distance between disc and horns (m)."""
SPEED, START = 4 * np.pi, np.radians(-108)
"""Angular velocity of the crank (rad/s); its angle at the start, 0 where the pin is nearest (rad)."""
DURATION = 1.0
"""Two turns (s)."""
SLOTS = range(4)
CLEARANCES = np.geomspace(1e-5, 3e-4, 14)
"""Clearances of the map (m)."""
BLUE, RED, INK, GREY = "#0b6fb8", "#d1495b", "#333333", "#d9d9d9"


def mechanism() -> vm.Mechanism:
    """Build the drive; clearance c, torque T of the brake and inertia J of the wheel are parameters."""
    m = vm.Mechanism("Geneva drive", dimension=2)
    c = m.parameter("c", 1e-4, unit="m", bounds=(0, None))
    T = m.parameter("T", 0.004, unit="N·m", bounds=(0, None))
    J = m.parameter("J", 2e-5, unit="kg·m²", bounds=(0, None))
    m.ground_point("O", (0, 0))
    m.ground_point("C", (CENTRES, 0))
    points: dict[str, Any] = {"O": (0, 0)}
    for k in SLOTS:
        for side, sign in (("a", -1), ("b", 1)):
            across = sign * (PIN + CORNER + c)
            for end, along in (("in", CENTRES - CRANK - PIN), ("out", WHEEL - CORNER)):
                points[f"{side}{k}{end}"] = turned((along, across), 45 + 90 * k)
            points[f"{side}{k}horn"] = turned(horn(sign), 90 * k)
    m.body("wheel", mass=0.05, inertia=J, points=points)
    m.body("crank", mass=0.05, inertia=1e-5, points={"C": (0, 0), "P": (CRANK, 0)})
    m.revolute("axle", "ground.O", "wheel.O")
    m.revolute("shaft", "ground.C", "crank.C")
    m.drive_angle("motor", "crank", lambda t: np.pi + START + SPEED * t)
    m.dry_friction("brake", lambda s: s.angular_velocity("wheel"), sliding=T)
    for k in SLOTS:
        for side, name in (("a", "drives"), ("b", "holds")):
            wall = f"wheel.{side}{k}"
            m.contact(
                f"{name} {k}",
                "crank.P",
                f"{wall}in",
                to=f"{wall}out",
                radius=PIN,
                second_radius=CORNER,
                restitution=0.2,
            )
            m.stop(f"lock {side}{k}", lambda s, p=f"{wall}horn": above_disc(s, p), lower=0)
    m.start(angle={"wheel": 0.0})
    return m


def turned(point: tuple[Any, Any], degrees: float) -> tuple[Any, Any]:
    """Turn a point of the wheel."""
    x, y = point
    cosine, sine = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    return cosine * x - sine * y, sine * x + cosine * y


def horn(sign: float) -> tuple[float, float]:
    """Return the corner where the wheel's rim meets the hollow for the disc."""
    x = (WHEEL**2 + CENTRES**2 - DISC**2) / (2 * CENTRES)
    return x, sign * np.sqrt(WHEEL**2 - x**2)


def above_disc(s: vm.State, point: str) -> Any:
    """Return the distance of a point from the rim of the disc, which is cut out around the pin."""
    centre = s.position("crank.C")
    arm, towards_pin = s.position(point) - centre, s.position("crank.P") - centre
    cosine = vm.dot(arm, towards_pin) / (vm.norm(arm) * CRANK)
    u = vm.minimum(vm.maximum((cosine - 0.56) / 0.14, 0), 1)  # 0 at 56° from the pin, 1 at 46°
    share = u**3 * (10 - 15 * u + 6 * u**2)
    return vm.norm(arm) - (DISC - PLAY) + (DISC - PLAY - HUB) * share


def across(s: vm.State, slot: int = 0) -> Any:
    """Return the distance of the pin from the middle line of a slot (m): −c … c within it."""
    x, y = turned((1.0, 0.0), 45 + 90 * slot)
    local = s.rotation("wheel").T @ s.position("crank.P")
    return x * local[1] - y * local[0]


def crank_angle(t: Any) -> Any:
    """Return the crank's angle (rad), 0 where the pin is nearest to the wheel's axle."""
    return START + SPEED * t


def slot_angle(φ: Any) -> Any:
    """Return the angle (rad) of the wheel whose slot 0 has the pin in its middle line."""
    return np.arctan2(-CRANK * np.sin(φ), CENTRES - CRANK * np.cos(φ)) - np.pi / 4


def pin_radius(φ: Any) -> Any:
    """Return the distance of the pin from the wheel's axle (m)."""
    return np.sqrt(CENTRES**2 + CRANK**2 - 2 * CENTRES * CRANK * np.cos(φ))


HIT = {
    "speed": vm.at("holds 0", lambda s: s.rate(across(s)), unit="m/s"),
    "time": vm.time_of("holds 0"),
}


def hit(m: vm.Mechanism, method: str = "direct", c: float = 1e-4) -> vm.Gradient:
    """Differentiate speed and time at which the pin hits the wall that holds the wheel back."""
    end = 0.19
    return m.sensitivity(
        HIT, duration=end, method=method, tolerance=1e-10, parameters={"c": c}, output=end
    )


def wheel_outline(c: float = 1e-4) -> np.ndarray:
    """Return the outline of the wheel (m)."""
    half, bottom = PIN + c, CENTRES - CRANK - 0.001
    round_end = np.linspace(-np.pi / 2, np.pi / 2, 20)
    slot = [(bottom - half * np.cos(u), half * np.sin(u)) for u in round_end]
    rim = np.sqrt(WHEEL**2 - half**2)
    slot = [(rim, -half), *slot, (rim, half)]
    η = np.arctan2(horn(1)[1], CENTRES - horn(1)[0])
    hollow = [
        (CENTRES - DISC * np.cos(u), DISC * np.sin(u)) for u in np.linspace(-η, η, 40).tolist()
    ]
    outline: list[tuple[float, float]] = []
    for k in SLOTS:
        outline += [turned(p, 90 * k) for p in hollow] + [turned(p, 45 + 90 * k) for p in slot]
    return np.array(outline)


def disc_outline() -> np.ndarray:
    """Return the outline of the locking disc, with the pin along x (m)."""
    θ = np.linspace(0, 2 * np.pi, 361)
    u = np.clip((np.cos(θ) - 0.56) / 0.14, 0, 1)
    radius = DISC - PLAY - (DISC - PLAY - HUB) * u**3 * (10 - 15 * u + 6 * u**2)
    return np.column_stack([radius * np.cos(θ), radius * np.sin(θ)])


def draw(ax: Axes, run: vm.Run, t: float) -> None:
    """Draw wheel, disc and pin at a time."""
    k = int(np.abs(run.time - t).argmin())
    for body, outline, colour in (
        ("wheel", wheel_outline(), "#a9c9e4"),
        ("crank", disc_outline(), "#e6b8a8"),
    ):
        angle = float(run.angle(body)[k])
        x, y = turned((outline[:, 0], outline[:, 1]), float(np.degrees(angle)))
        origin = CENTRES if body == "crank" else 0.0
        ax.add_patch(Polygon(np.column_stack([x + origin, y]), facecolor=colour, edgecolor=INK))
        ax.plot([origin], [0], "o", color=INK, markersize=3)
    pin = run.position("crank.P").to_numpy()[k]
    ax.plot([CENTRES, pin[0]], [0, pin[1]], color=RED, linewidth=3, alpha=0.5)
    ax.add_patch(Circle((pin[0], pin[1]), PIN, facecolor=RED, edgecolor=INK, zorder=3))
    ax.set(xlim=(-0.046, 0.108), ylim=(-0.05, 0.05), aspect="equal")
    ax.set_title(f"crank at {np.degrees(crank_angle(run.time[k])):.0f}°", fontsize=10)
    ax.axis("off")


def picture(run: vm.Run, gradients: list[vm.Gradient]) -> Figure:
    """Draw four positions, the angle of the wheel, the pin in its slot, and the map."""
    figure = Figure(figsize=(10.0, 5.0), layout="constrained", dpi=110)
    rows = figure.subplot_mosaic("AAABBBCCCDDD;aaaabbbbcccc", height_ratios=[0.65, 1])
    for name, degrees in zip("ABCD", (-45, -12, 12, 60), strict=True):
        draw(rows[name], run, float((np.radians(degrees) - START) / SPEED))
    φ, angle = np.degrees(crank_angle(run.time)), np.degrees(run.angle("wheel").to_numpy())
    rows["a"].plot(φ, angle, color=BLUE, label="simulated")
    within = np.linspace(-45, 45, 100)
    for turn in (0, 1):
        ideal = np.degrees(slot_angle(np.radians(within))) - 90 * turn
        label = "closed form, no clearance" if turn == 0 else None
        rows["a"].plot(within + 360 * turn, ideal, color=INK, linestyle=":", label=label)
    rows["a"].set(xlabel="crank (°)", ylabel="wheel (°)")
    rows["a"].legend(frameon=False, fontsize=8)
    inside = np.abs(φ) < 44
    y = 1e3 * run.measure(across).to_numpy()
    rows["b"].plot(φ[inside], y[inside], color=BLUE)
    for wall in (-0.1, 0.1):
        rows["b"].axhline(wall, color=INK, linewidth=0.8, linestyle="--")
    for name, wall in (("drives 0", -0.1), ("holds 0", 0.1)):
        e = run.events[name][0]
        rows["b"].plot(np.degrees(crank_angle(e.time)), wall, "v", color=RED)
    rows["b"].set(xlabel="crank (°)", ylabel="pin in its slot (mm)", ylim=(-0.13, 0.13))
    c = 1e3 * CLEARANCES
    rows["c"].plot(c, [1e3 * g.final_values[0] for g in gradients], ".", color=BLUE)
    for g, x in zip(gradients[1::3], c[1::3], strict=True):
        near = np.array([0.7, 1.3]) * x
        tangent = 1e3 * g.final_values[0] + g.final_gradient[0, 0] * (near - x)  # 1/s: mm/s per mm
        rows["c"].plot(near, tangent, color=RED, label="gradient" if x == c[1] else None)
    rows["c"].legend(frameon=False, fontsize=8, loc="lower right")
    rows["c"].set(
        xlabel="clearance c (mm)", ylabel="speed of the hit (mm/s)", xlim=(0, None), ylim=(0, None)
    )
    for ax in (rows["a"], rows["b"], rows["c"]):
        ax.grid(color=GREY, linewidth=0.6)
        ax.spines[["top", "right"]].set_visible(False)
    return figure


def main(out: Path = Path("out/geneva_drive")) -> vm.Run:
    """Simulate two turns; print impacts and the derivatives of the hit by three methods."""
    m = mechanism()
    run = m.simulate(DURATION, output=DURATION / 2000)
    for name in ("drives 0", "holds 0", "lock b1", "drives 1", "holds 1", "lock b2"):
        e = run.events[name][0]
        φ = np.degrees(crank_angle(e.time))
        print(f"{name}: first impact at {φ:8.3f}° of the crank, {-1e3 * e.before:.2f} mm/s")
    for method in ("direct", "adjoint", "finite-difference"):
        g = hit(m, method)
        print(f"hit: {1e3 * g.final_values[0]:.4f} mm/s; by {method}, 1 % more")
        for p, change in zip(m.parameters.values(), g.final_gradient[0], strict=True):
            print(f"  {p.name}: {10 * p.value * change:+.6f} mm/s")
    gradients = [hit(m, c=c) for c in CLEARANCES.tolist()]
    out.mkdir(parents=True, exist_ok=True)
    picture(run, gradients).savefig(out / "geneva.png")
    return run


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))  # the folder for figures, if it is another one
