"""Andrews' squeezer: which of its lengths matter for how hard it swings?

Seven bodies, driven by a motor of constant torque through almost three turns in 0.03 s. One sweep
backwards gives the derivatives of the kinetic energy at the end with respect to all numbers of the
drawing at once; the bars tell what each would do if it changed by 1 %.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

import varimech as vm
from varimech.benchmarks import andrews

DURATION = 0.03
"""s."""
ENERGY = {"kinetic energy": vm.final(lambda s: s.kinetic_energy, unit="J")}


def mechanism() -> vm.Mechanism:
    """The squeezer with all distances between its joints, and the places of its pivots, as
    parameters.
    """
    return andrews.mechanism(lengths=True, pivots=("A", "B", "C"))


def solve(m: vm.Mechanism) -> vm.Gradient:
    """The kinetic energy at the end, and its derivatives with respect to all parameters."""
    return m.sensitivity(ENERGY, duration=DURATION, tolerance=1e-8, method="adjoint")


def main(out: Path) -> vm.Gradient:
    """What matters, and the motion."""
    m = mechanism()
    found = solve(m)
    values, run = found.run.info["parameters"], found.run
    energy, slopes = found.values.item(), found.gradient.to_numpy()[0]
    effect = {
        name: 0.01 * values[name] * slope / energy
        for name, slope in zip(found.parameter_names, slopes, strict=True)
    }
    turned = float(np.ptp(run.angle("OF").to_numpy()))
    motor, spring = (
        values["torque"] * turned,
        -float(np.diff(run.energy("potential").to_numpy()[[0, -1]])[0]),
    )
    print(
        f"{turned:.3f} rad in {1e3 * DURATION:g} ms; the motor gave {motor:.4f} J, the spring"
        f" {spring:.4f} J: {energy:.4f} J of motion"
    )
    for name in sorted(effect, key=lambda n: -abs(effect[n]))[:6]:
        print(f"  {name:6} 1 % more: {100 * effect[name]:+7.2f} % energy")

    out.mkdir(parents=True, exist_ok=True)
    found.bars().savefig(out / "lengths.png")
    moments = (0.0, 0.0023, 0.0046, 0.0069)
    run.draw(
        times=moments[::-1], trace=["F", "E", "G", "H"], title="Andrews' squeezer, its first turn"
    ).savefig(out / "mechanism.png")
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Which lengths of Andrews' squeezer matter.")
    parser.add_argument(
        "--out", type=Path, default=Path("out/andrews_lengths"), help="folder for pictures"
    )
    main(parser.parse_args().out)
