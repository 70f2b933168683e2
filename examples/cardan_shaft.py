"""Cardan shafts: one universal joint makes the output uneven, two of them make it even again.

A shaft drives another one at an angle β through a universal joint. At constant input speed ω the output
turns with

    ω₂ = ω cos β / (1 − sin²β cos²φ),

φ counted from where the pin of the input fork is in the plane of both shafts. Two joints with a shaft
between them cancel the fluctuation if the forks of that shaft are parallel and both angles are equal: a
constant-velocity shaft. If its forks are twisted by ψ against each other, some of the fluctuation is
left: how much, and how fast does it grow?
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import varimech as vm

SPEED, BETA, SHAFT = 10.0, np.radians(30), 0.5
"""Input speed (rad/s), angle between shafts (rad), length of each (m)."""
DURATION = 2 * np.pi / SPEED
"""One turn of the input (s)."""
BLUE, RED, GREEN, INK, GREY = "#0b6fb8", "#d1495b", "#3a9d5d", "#333333", "#d9d9d9"


def _shaft(m: vm.Mechanism, name: str, points: dict[str, Any]) -> None:
    m.body(name, mass=1.0, inertia=(2e-3, 0.02, 0.02), points=points)


def single() -> vm.Mechanism:
    """Build two shafts at the angle beta, with one universal joint."""
    m = vm.Mechanism("universal joint", dimension=3)
    β = m.parameter("beta", BETA, unit="rad")
    m.ground_point("A", (-SHAFT, 0, 0))
    m.ground_point("B", (SHAFT * vm.cos(β), 0, SHAFT * vm.sin(β)))
    _shaft(m, "input", {"A": (-SHAFT, 0, 0), "U": (0, 0, 0), "fork": (0, 0, 0.1)})
    _shaft(m, "output", {"U": (0, 0, 0), "B": (SHAFT, 0, 0), "pin": (0, 0.1, 0)})
    m.revolute("A", axis=(1, 0, 0))
    m.universal("U", "input.U", "output.U", axis=(0, 0, 1), axis_on_second=(0, 1, 0))
    # a bearing that leaves the shaft free to slide and to tilt: its universal joint carries the rest
    m.point_on_line("B", "ground.B", "output.B", axis=(vm.cos(β), 0, vm.sin(β)))
    m.drive_angle("motor", "A", lambda t: SPEED * t)
    m.start(near={"output.B": (SHAFT * np.cos(BETA), 0, SHAFT * np.sin(BETA))})
    return m


def double() -> vm.Mechanism:
    """Build input and output, parallel, with a shaft between them at the angle beta; psi is the twist
    of its forks.
    """
    m = vm.Mechanism("double Cardan shaft", dimension=3)
    β = m.parameter("beta", BETA, unit="rad")
    ψ = m.parameter("psi", 0.0, unit="rad")
    m.ground_point("A", (-SHAFT, 0, 0))
    m.ground_point("B", (2 * SHAFT, 0, SHAFT * vm.sin(β)))
    _shaft(m, "input", {"A": (-SHAFT, 0, 0), "U": (0, 0, 0), "fork": (0, 0, 0.1)})
    _shaft(m, "middle", {"U": (0, 0, 0), "V": (SHAFT, 0, 0)})
    _shaft(m, "output", {"V": (0, 0, 0), "B": (0.2, 0, 0), "pin": (0, 0, 0.1)})
    m.revolute("A", axis=(1, 0, 0))
    m.universal("U", "input.U", "middle.U", axis=(0, 0, 1), axis_on_second=(0, 1, 0))
    twisted = (0, vm.cos(ψ), vm.sin(ψ))
    m.universal("V", "middle.V", "output.V", axis=twisted, axis_on_second=(0, 0, 1))
    m.cylindrical("B", "ground.B", "output.B", axis=(1, 0, 0))
    m.drive_angle("motor", "A", lambda t: SPEED * t)
    m.start(near={"middle.V": (SHAFT * np.cos(BETA), 0, SHAFT * np.sin(BETA))})
    return m


def single_ratio(φ: Any, β: float = BETA) -> Any:
    """Return output over input speed of one universal joint."""
    return np.cos(β) / (1 - np.sin(β) ** 2 * np.cos(φ) ** 2)


def output_speed(s: vm.State) -> Any:
    """Return the speed of the inclined output shaft about its own axis (rad/s)."""
    return vm.dot(s.rotation("output")[:, 0], s.angular_velocity("output"))


def unevenness(m: vm.Mechanism, twist: float, method: str = "direct") -> vm.Gradient:
    """Differentiate the range of the output speed over a turn, over the input speed."""
    ratio = vm.range(lambda s: s.angular_velocity("B") / SPEED, unit="1")
    return m.sensitivity(
        {"unevenness": ratio},
        duration=DURATION,
        method=method,
        tolerance=1e-9,
        parameters={"psi": twist},
    )


def picture(
    one: vm.Run, two: dict[float, vm.Run], twists: np.ndarray, ranges: list[float]
) -> Figure:
    """Draw speeds over a turn, and the unevenness by the twist of the forks."""
    figure = Figure(figsize=(9.0, 3.4), layout="constrained", dpi=110)
    left, right = figure.subplots(1, 2)
    φ = np.degrees(SPEED * one.time)
    left.plot(φ, one.measure(output_speed).to_numpy() / SPEED, color=RED, label="one joint")
    left.plot(φ, single_ratio(np.radians(φ)), color=INK, linestyle=":", label="closed form")
    for (twist, run), colour in zip(two.items(), (BLUE, GREEN), strict=True):
        ratio = run.angular_velocity("B").to_numpy() / SPEED
        label = f"two joints, forks twisted by {np.degrees(twist):.0f}°"
        left.plot(np.degrees(SPEED * run.time), ratio, color=colour, label=label)
    left.set(xlabel="input (°)", ylabel="output speed / input speed", ylim=(0.8, 1.32))
    right.plot(np.degrees(twists), ranges, ".-", color=BLUE)
    right.set(xlabel="twist of the forks (°)", ylabel="range of the speed ratio")
    right.set(xlim=(0, None), ylim=(0, None))
    for ax in (left, right):
        ax.grid(color=GREY, linewidth=0.6)
        ax.spines[["top", "right"]].set_visible(False)
    left.legend(frameon=False, fontsize=8, loc="upper center", ncols=2)
    return figure


def main(out: Path = Path("out/cardan_shaft")) -> vm.Run:
    """Run one and two joints; print their unevenness and its derivatives."""
    one = single().simulate(DURATION, output=DURATION / 360)
    ratio = one.measure(output_speed).to_numpy() / SPEED
    print(f"one joint: output over input speed {ratio.min():.6f} … {ratio.max():.6f}")
    m = double()
    two = {
        twist: m.simulate(DURATION, output=DURATION / 360, parameters={"psi": twist})
        for twist in (0.0, np.radians(10))
    }
    for twist, run in two.items():
        ratio = run.angular_velocity("B").to_numpy() / SPEED
        shown = f"{ratio.min():.9f} … {ratio.max():.9f}"
        print(f"two joints, forks twisted by {np.degrees(twist):.0f}°: {shown}")
    for method in ("direct", "adjoint"):
        g = unevenness(m, np.radians(10), method)
        per_degree = g.final_gradient[0] * np.pi / 180
        print(
            f"range {g.final_values[0]:.6f}; by {method}: {per_degree[0]:+.6f} per degree of beta,"
            f" {per_degree[1]:+.6f} per degree of psi"
        )
    twists = np.radians(np.linspace(0, 40, 9))
    ranges = [0.0, *(float(unevenness(m, x).final_values[0]) for x in twists[1:].tolist())]
    out.mkdir(parents=True, exist_ok=True)
    picture(one, two, twists, ranges).savefig(out / "cardan_shaft.png")
    return one


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))  # the folder for figures, if it is another one
