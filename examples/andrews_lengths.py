"""Andrews' squeezer: which lengths have the largest effect on its kinetic energy?

A motor of constant torque drives seven bodies through almost three turns in 0.03 s. One backward
(adjoint) pass computes the derivatives of the final kinetic energy with respect to all dimensions;
the bar chart shows the effect of a change of 1 % in each of them.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import varimech as vm
from varimech.benchmarks import andrews

DURATION = 0.03
"""s."""
ENERGY = {"kinetic energy": vm.final(lambda s: s.kinetic_energy, unit="J")}


def mechanism() -> vm.Mechanism:
    """Build the squeezer; joint distances and pivot positions are parameters."""
    return andrews.mechanism(lengths=True, pivots=("A", "B", "C"))


def solve(m: vm.Mechanism) -> vm.Gradient:
    """Compute the final kinetic energy and its derivatives with respect to all parameters."""
    return m.sensitivity(ENERGY, duration=DURATION, tolerance=1e-8, method="adjoint")


def main(out: Path = Path("out/andrews_lengths")) -> vm.Gradient:
    """Print the largest effects, and draw the bar chart and the motion."""
    m = mechanism()
    gradient = solve(m)
    run = gradient.run
    values = run.info["parameters"]
    energy, derivatives = gradient.values.item(), gradient.gradient.to_numpy()[0]
    effect = {
        name: 0.01 * values[name] * derivative / energy
        for name, derivative in zip(gradient.parameter_names, derivatives, strict=True)
    }
    turned = float(np.ptp(run.angle("OF").to_numpy()))
    motor, spring = (
        values["torque"] * turned,
        -float(np.diff(run.energy("potential").to_numpy()[[0, -1]])[0]),
    )
    print(
        f"{turned:.3f} rad in {1e3 * DURATION:g} ms; work of the motor {motor:.4f} J, of the spring"
        f" {spring:.4f} J; kinetic energy {energy:.4f} J"
    )
    for name in sorted(effect, key=lambda n: -abs(effect[n]))[:6]:
        print(f"  {name:6} +1 %: {100 * effect[name]:+7.2f} % energy")

    out.mkdir(parents=True, exist_ok=True)
    gradient.bars().savefig(out / "lengths.png")
    times = (0.0069, 0.0046, 0.0023, 0.0)
    run.draw(
        times=times, trace=["F", "E", "G", "H"], title="Andrews' squeezer, first turn"
    ).savefig(out / "mechanism.png")
    return gradient


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))  # the folder for figures, if it is another one
