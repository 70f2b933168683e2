"""A straight-line linkage that beats Chebyshev's: synthesis of a path over a given stroke.

Chebyshev's four-bar has ground, crank, coupler and rocker of lengths 4 : 5 : 2 : 5, and the middle of
its coupler follows a line nearly. Over a stroke that is given, synthesis finds proportions whose
point stays closer to the line, with the same ground points.
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np

import varimech as vm

STROKE = 0.16
"""Length of the line (m); the ground points are 0.2 m apart."""
HEIGHT = 0.2


def linkage() -> vm.Mechanism:
    """Chebyshev's proportions; lengths and the place of the tracing point may change."""
    m = vm.Mechanism("straight line", dimension=2)
    m.parameter("crank", 0.25, unit="m", bounds=(0.2, 0.32))
    m.parameter("coupler", 0.1, unit="m", bounds=(0.06, 0.16))
    m.parameter("rocker", 0.25, unit="m", bounds=(0.2, 0.32))
    m.parameter("x", 0.05, unit="m", bounds=(0.0, 0.12))
    m.parameter("y", 0.0, unit="m", bounds=(-0.05, 0.05))
    m.ground_point("A", (0, 0))
    m.ground_point("D", (0.2, 0))
    m.bar("a", "A", "B", length="crank")
    m.bar("b", "B", "C", length="coupler", points={"P": ("x", "y")})
    m.bar("c", "D", "C", length="rocker")
    for name in "ABCD":
        m.revolute(name)
    m.start(angle={"a": np.arctan2(0.2, 0.15)}, near={"b": np.pi, "c": 2.2})
    return m


def main(picture: Path | None = None) -> tuple[float, float]:
    """Largest deviation from the line before and after (m); drawn if a file is named."""
    m = linkage()
    x = 0.1 + np.linspace(-STROKE / 2, STROKE / 2, 17)
    line = np.column_stack([x, np.full(x.size, HEIGHT)])
    best = m.synthesize("a", {"P": line}, starts=2, span=(0.5, 1.4))
    print(best)
    before = largest_deviation(m, {}, x)
    after = largest_deviation(m, best.parameters, x)
    print(f"deviation from the line: {1e6 * before:.1f} µm by Chebyshev, {1e6 * after:.2f} µm now")
    if picture is not None:
        figure(m, best.parameters, best.values).savefig(picture, dpi=150)
    return before, after


def largest_deviation(m: vm.Mechanism, parameters: dict[str, float], x: np.ndarray) -> float:
    """Along the stroke, at 1000 positions of the crank."""
    k = m.kinematics("a", (1.4, 0.3, 1000), parameters=parameters, unreachable="truncate")
    path = k.position("P").to_numpy()
    inside = (path[:, 0] >= x[0]) & (path[:, 0] <= x[-1])
    return float(np.abs(path[inside, 1] - HEIGHT).max())


def figure(m: vm.Mechanism, parameters: dict[str, float], values: np.ndarray) -> Any:
    """The linkage, and both deviations over the stroke."""
    from matplotlib.figure import Figure

    picture = Figure(figsize=(7.2, 3.4), layout="constrained")
    left, right = picture.subplots(1, 2)
    for label, given, colour in (
        ("Chebyshev", {}, "#8a8a8a"),
        ("synthesis", parameters, "#0b6fb8"),
    ):
        k = m.kinematics("a", (1.4, 0.3, 400), parameters=given, unreachable="truncate")
        path = k.position("P").to_numpy()
        row = len(path) // 2
        points = [k.position(p)[row].to_numpy() for p in ("A", "B", "P", "C", "D")]
        left.plot(*np.array(points).T, "o-", color=colour, markersize=4)
        left.plot(*path.T, color=colour, linewidth=1, label=label)
        inside = np.abs(path[:, 0] - 0.1) <= STROKE / 2
        right.plot(
            1e3 * path[inside, 0], 1e6 * (path[inside, 1] - HEIGHT), color=colour, label=label
        )
    left.set(xlabel="x (m)", ylabel="y (m)", aspect="equal")
    right.set(xlabel="x (mm)", ylabel="deviation (µm)")
    right.legend(frameon=False)
    return picture


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
