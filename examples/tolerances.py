"""Tolerances on every length of two mechanisms: how far do they spread motion and loads, which of
them matter, and how long is that known?

A five-bar of bars of 1.4 to 1.8 m, each true to ± 1 mm, its springs to ± 2 mm: where is point 2
after 5 s of free swinging? And Andrews' squeezer, seven bodies of 7 to 40 mm that a motor drives
through five turns in 0.05 s, each length true to ± 0.05 mm, its spring to ± 0.5 mm: how far has the
crank turned, and what does bearing B carry?

Tolerances are 3σ of normal distributions. Moments of second order come from exact derivatives, by
one run for each length; a Monte Carlo study tells whether they are right. The squeezer's loads are
peaks that come earlier or later: late in the run moments no longer hold, and the horizon says from
when on.
"""

from __future__ import annotations

import argparse
import math
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
"""Of the five-bar: lengths (m) and masses (kg)."""
SPRINGS = {"Ls1": math.sqrt(5), "Ls2": math.sqrt(4.25)}
"""Natural lengths (m)."""


def five_bar() -> vm.Mechanism:
    """The five-bar; all its lengths are parameters with spreads. Bars are uniform, and their masses
    stay.
    """
    m = vm.Mechanism("five-bar", gravity=(0, -9.81))
    m.ground_point("A", (0, 0))
    m.ground_point("B", (1, 0))
    for name, (length, mass) in BARS.items():
        m.bar(
            name,
            *name,
            length=m.parameter(f"L_{name}", length, unit="m", spread=vm.Tolerance(1e-3)),
            mass=mass,
        )
    for joint in ("A", "1", "2", "3", "B"):
        m.revolute(joint)
    for (name, natural), point in zip(SPRINGS.items(), ("1", "2"), strict=True):
        spring = m.parameter(name, natural, unit="m", spread=vm.Tolerance(2e-3))
        m.spring(f"s{point}", point, "B", stiffness=100, natural_length=spring)
    m.start(angle={"A1": -3 * math.pi / 4, "12": math.atan2(-1, 1.5)}, near={"3": (2, -1)})
    return m


def squeezer() -> vm.Mechanism:
    """Andrews' squeezer with all distances between its joints as parameters."""
    return andrews.mechanism(lengths=True)


SQUEEZER_SPREADS = {"rr": vm.Tolerance(5e-5), "l0": vm.Tolerance(5e-4)} | {
    f"L_{name}": vm.Tolerance(5e-5) for name in andrews.LENGTHS
}


def straying(s: vm.State) -> Any:
    """Squared distance of point 2 of the five-bar from its place at the start (m²)."""
    away = s.position("2") - vm.vector(0.5, -2)
    return vm.dot(away, away)


FIVE_BAR = {
    "x of point 2": vm.final(lambda s: s.position("2")[0], unit="m"),
    "y of point 2": vm.final(lambda s: s.position("2")[1], unit="m"),
    "ψ": vm.integral(straying, unit="m²·s"),
}
SQUEEZER = {
    "turned": vm.integral(lambda s: s.angular_velocity("OF"), unit="rad"),
    "reaction at B": vm.final(lambda s: vm.norm(s.reaction("B")), unit="N"),
}


def five_bar_moments() -> vm.Moments:
    """Of point 2 and ψ, over 5 s."""
    return five_bar().moments(FIVE_BAR, duration=5.0)


def squeezer_moments() -> vm.Moments:
    """Of turn and reaction, over 0.05 s; also beyond the horizon, to draw it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", vm.HorizonWarning)
        # interpreted: to compile second derivatives of this mechanism takes longer than eight runs
        return squeezer().moments(
            SQUEEZER,
            SQUEEZER_SPREADS,
            duration=andrews.DURATION,
            output=2.5e-4,
            backend="interpreted",
        )


def main(out: Path) -> tuple[vm.Moments, vm.Moments]:
    """Print and draw both, with a Monte Carlo study beside each."""
    found = five_bar_moments(), squeezer_moments()
    studies = (
        five_bar().monte_carlo(FIVE_BAR, duration=5.0, samples=2000, control=True, tolerance=1e-7),
        squeezer().monte_carlo(
            SQUEEZER,
            SQUEEZER_SPREADS,
            duration=andrews.DURATION,
            samples=2048,
            sampling="sobol",
            tolerance=1e-7,
        ),
    )
    out.mkdir(parents=True, exist_ok=True)
    for moments, study in zip(found, studies, strict=True):
        print(moments)
        print(study)
        moments.plot().savefig(out / f"{moments.label}.png")
        moments.save(out / f"{moments.label}.nc")
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description="Tolerances on every length of a five-bar and of Andrews' squeezer."
    )
    parser.add_argument(
        "--out", type=Path, default=Path("out/tolerances"), help="folder for pictures"
    )
    main(parser.parse_args().out)
