"""Tolerance analysis of two mechanisms: effect on motion and loads, contributions, validity.

A five-bar has bars of 1.4 to 1.8 m with tolerances of ± 1 mm, and springs with ± 2 mm: how much does
the position of point 2 vary after 5 s of free motion? Andrews' squeezer has seven bodies of 7 to
40 mm with tolerances of ± 0.05 mm and a spring with ± 0.5 mm; a motor drives it through five turns
in 0.05 s: how much do the angle of the crank and the load of bearing B vary?

Tolerances are 3σ of normal distributions. Second-order moments come from exact derivatives, with
one run per length; a Monte Carlo study checks them. The loads of the squeezer are peaks that occur
earlier or later: late in the run the moments are not valid, and the horizon gives the time.
"""

from __future__ import annotations

import math
import sys
import warnings
from pathlib import Path
from typing import Any

import varimech as vm
from varimech.benchmarks import andrews

BARS = {
    "A1": (math.sqrt(2), 1.0),
    "12": (math.sqrt(3.25), 1.5),
    "23": (math.sqrt(3.25), 1.5),
    "3B": (math.sqrt(2), 1.0),
}
"""Lengths (m) and masses (kg) of the five-bar."""
SPRINGS = {"Ls1": math.sqrt(5), "Ls2": math.sqrt(4.25)}
"""Natural lengths (m)."""


def five_bar() -> vm.Mechanism:
    """Build the five-bar; all lengths are parameters with tolerances, masses are constant."""
    m = vm.Mechanism("five-bar", gravity=(0, -9.81))
    m.ground_point("A", (0, 0))
    m.ground_point("B", (1, 0))
    for name, (length, mass) in BARS.items():
        m.bar(
            name,
            *name,
            length=m.parameter(f"L_{name}", length, unit="m", distribution=vm.Tolerance(1e-3)),
            mass=mass,
        )
    for joint in ("A", "1", "2", "3", "B"):
        m.revolute(joint)
    for (name, natural), point in zip(SPRINGS.items(), ("1", "2"), strict=True):
        spring = m.parameter(name, natural, unit="m", distribution=vm.Tolerance(2e-3))
        m.spring(f"s{point}", point, "B", stiffness=100, natural_length=spring)
    m.start(angle={"A1": -3 * math.pi / 4, "12": math.atan2(-1, 1.5)}, near={"3": (2, -1)})
    return m


def squeezer() -> vm.Mechanism:
    """Build Andrews' squeezer; all joint distances are parameters."""
    return andrews.mechanism(lengths=True)


SQUEEZER_TOLERANCES = {"rr": vm.Tolerance(5e-5), "l0": vm.Tolerance(5e-4)} | {
    f"L_{name}": vm.Tolerance(5e-5) for name in andrews.LENGTHS
}


def deviation(s: vm.State) -> Any:
    """Return the squared distance of point 2 of the five-bar from its initial position (m²)."""
    distance = s.position("2") - vm.vector(0.5, -2)
    return vm.dot(distance, distance)


FIVE_BAR = {
    "x of point 2": vm.final(lambda s: s.position("2")[0], unit="m"),
    "y of point 2": vm.final(lambda s: s.position("2")[1], unit="m"),
    "ψ": vm.integral(deviation, unit="m²·s"),
}
SQUEEZER = {
    "turned": vm.integral(lambda s: s.angular_velocity("OF"), unit="rad"),
    "reaction at B": vm.final(lambda s: vm.norm(s.reaction("B")), unit="N"),
}


def five_bar_moments() -> vm.Moments:
    """Compute the moments of point 2 and ψ over 5 s."""
    return five_bar().moments(FIVE_BAR, duration=5.0)


def squeezer_moments() -> vm.Moments:
    """Compute the moments of rotation and reaction over 0.05 s, also beyond the horizon."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", vm.HorizonWarning)
        # interpreted: compiling the second derivatives takes longer than eight runs
        return squeezer().moments(
            SQUEEZER,
            SQUEEZER_TOLERANCES,
            duration=andrews.DURATION,
            output=2.5e-4,
            backend="interpreted",
        )


def main(out: Path = Path("out/tolerances")) -> tuple[vm.Moments, vm.Moments]:
    """Print and draw both, each with a Monte Carlo study."""
    results = five_bar_moments(), squeezer_moments()
    studies = (
        five_bar().monte_carlo(FIVE_BAR, duration=5.0, samples=2000, control=True, tolerance=1e-7),
        squeezer().monte_carlo(
            SQUEEZER,
            SQUEEZER_TOLERANCES,
            duration=andrews.DURATION,
            samples=2048,
            sampling="sobol",
            tolerance=1e-7,
        ),
    )
    out.mkdir(parents=True, exist_ok=True)
    for moments, study in zip(results, studies, strict=True):
        print(moments)
        print(study)
        moments.plot().savefig(out / f"{moments.label}.png")
        moments.save(out / f"{moments.label}.nc")
    return results


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))  # the folder for figures, if it is another one
