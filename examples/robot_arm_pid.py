"""A robot arm with PID controllers: optimal gains, and stability margins over tolerances.

Two links are turned by controllers at shoulder and elbow. Gains of the shoulder are optimised for a
step of the target. The loop of the shoulder is then opened at its torque: its gain and phase margins
have derivatives with respect to payload, masses and the delay of the amplifier, so tolerances of these
give standard deviations of the margins, which a Monte Carlo study confirms.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import varimech as vm

if TYPE_CHECKING:
    from matplotlib.figure import Figure

UPPER, FORE = 0.5, 0.4
"""Lengths of the links (m)."""
TARGETS = {"shoulder": 0.6, "elbow": 0.5}
"""rad"""
NOMINAL = {"payload": "0.5 kg", "upper": "1.5 kg", "fore": "0.8 kg", "lag": "5 ms"}
TOLERANCES = {"payload": "0.3 kg", "upper": "90 g", "fore": "60 g", "lag": "1.5 ms"}
"""Three standard deviations each."""
GAINS = ["kp", "ki", "kd"]
SAMPLES = 100


def mechanism() -> vm.Mechanism:
    """Build the arm at rest, stretched out horizontally."""
    m = vm.Mechanism("robot arm", gravity=(0, -9.81))
    for name, nominal in NOMINAL.items():
        m.parameter(name, nominal, tolerance=TOLERANCES[name])
    for name, value in zip(GAINS, (120.0, 100.0, 20.0), strict=True):
        m.parameter(name, value, bounds=(value / 20, 4 * value))
    m.ground_point("shoulder", (0, 0))
    m.bar("upper arm", "shoulder", "elbow", length=UPPER, mass="upper")
    m.bar("forearm", "elbow", "hand", length=FORE, mass="fore")
    m.body("load", mass="payload", inertia=1e-3, points={"hand": (0, 0)})
    m.revolute("shoulder")
    m.revolute("elbow", "upper arm.elbow", "forearm.elbow")
    m.fixed("hand", "forearm.hand", "load.hand")
    for name, target in TARGETS.items():
        m.signal(f"{name} error", f"{target} - angle('{name}')", unit="rad")
    m.pid(
        "shoulder control", "signal('shoulder error')", kp="kp", ki="ki", kd="kd", filter_time=0.005,
        initial_input=TARGETS["shoulder"], unit="N·m",
    )  # fmt: skip
    m.pid("elbow control", "signal('elbow error')", kp=60, ki=60, kd=6, unit="N·m")
    m.lag("shoulder torque", "signal('shoulder control')", time_constant="lag", unit="N·m")
    m.torque("shoulder motor", "upper arm", "signal('shoulder torque')")
    m.torque("elbow motor", "forearm", "signal('elbow control')", against="upper arm")
    m.start(angle={"shoulder": 0.0, "elbow": 0.0})
    return m


def margins(
    m: vm.Mechanism, parameters: dict[str, float], wrt: list[str] | None = None
) -> vm.Margins:
    """Return the margins of the shoulder's loop about the final position."""
    return loop(m, parameters, wrt).margins("shoulder motor", "u")


def loop(
    m: vm.Mechanism, parameters: dict[str, float], wrt: list[str] | None = None
) -> vm.LinearModel:
    """Return the shoulder's loop, opened at its torque, about the final position."""
    linear = m.linearize(
        inputs="shoulder motor",
        outputs={"u": "signal('shoulder torque')"},
        wrt=wrt,
        parameters=parameters,
    )
    return linear.open_loop("shoulder motor", "u")


def _loops(m: vm.Mechanism, gains: dict[str, float]) -> Figure:
    """Gain and phase of the loop for payloads at the ends of their tolerance."""
    decades = np.linspace(-0.5, 2.0, 301)
    size, angle = vm.Panel("loop gain (dB)"), vm.Panel("phase (°)")
    for load in (0.2, 0.5, 0.8):
        L = (
            loop(m, gains | {"payload": load})
            .frequency_response(10**decades)["response"]
            .to_numpy()[:, 0, 0]
        )
        size.lines.append(vm.Line(f"payload {load} kg", decades, 20 * np.log10(np.abs(L))))
        angle.lines.append(
            vm.Line(f"payload {load} kg", decades, np.degrees(np.unwrap(np.angle(L))) - 360)
        )
    title = "Open loop of the shoulder"
    return vm.line_figure([size, angle], title=title, xlabel="log₁₀ of the frequency in Hz")


def main(out: Path = Path("out/robot_arm_pid"), samples_count: int = SAMPLES) -> dict[str, float]:
    """Optimise the gains, print margins with their deviations, and draw the loop."""
    m = mechanism()
    cost = vm.integral("signal('shoulder error')**2 + 2e-5*signal('shoulder control')**2")
    began = time.perf_counter()
    best = m.optimize(cost, GAINS, duration=2.0)
    seconds = time.perf_counter() - began
    gains = {name: float(best.parameters[name]) for name in GAINS}
    print("gains:", ", ".join(f"{name} = {value:.1f}" for name, value in gains.items()))

    names = list(TOLERANCES)
    nominal = margins(m, gains, names)
    deviations = nominal.std()
    print(nominal)
    print(deviations)
    linear = float(np.degrees(deviations.phase_margin))
    rng = np.random.default_rng(1)
    values, σ = np.array(
        [(p.value, p.distribution.sigma) for p in (m.parameters[name] for name in names)]
    ).T
    samples = values + σ * rng.standard_normal((samples_count, len(names)))
    phases = [
        float(np.degrees(margins(m, gains | dict(zip(names, row, strict=True))).phase_margin))
        for row in samples
    ]
    sampled = float(np.std(phases, ddof=1))
    print(
        f"standard deviation of the phase margin: {linear:.2f}°, by {samples_count} samples {sampled:.2f}°"
    )

    out.mkdir(parents=True, exist_ok=True)
    _loops(m, gains).savefig(out / "loop.png")
    return {
        "seconds": seconds,
        "phase margin": float(np.degrees(nominal.phase_margin)),
        "first order": linear,
        "sampled": sampled,
        **gains,
    }


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))  # the folder for figures, if it is another one
    else:
        main()
