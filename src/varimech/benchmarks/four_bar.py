"""A row of N four-bar windows: N + 1 cranks on the ground, N couplers between them; all links 1 m,
1 kg, uniform. One degree of freedom.

IFToMM Library of Computational Benchmark Problems, A02. The cranks are initially upright, B0 moves
with 1 m/s, and they rotate; 10 s, g = 9.81 m/s². Twice in each turn all links lie on one line:
there the constraints become dependent and further motions are possible, and a solver must continue
with parallelograms. These obey, with θ the angle of the cranks from the horizontal,

    I θ̈ = −g ((N + 1)/2 + N) cos θ,   I = (N + 1)/3 + N.

Checked for N = 2 and N = 40: B0 at 1 s (and 5 s for N = 2), computed independently (DOP853/Radau at
tolerances 1e-11 to 1e-13); the angle of the first crank against this equation at all stored times;
energy conservation; and that the last crank is parallel to the first.

OpenSim 3.2 needed 0.455 s for N = 2 (Intel i5-4570).
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

import varimech as vm

from .outcome import Check, Checked, Figures, Settings, check_energy, check_point, stored_every

SETTINGS: Settings = {"tolerance": 1e-8}
DURATION, G = 10.0, 9.81
PLACES = {
    2: {1.0: (-0.195020301950, -0.980799205662), 5.0: (-0.811310461002, -0.584615545354)},
    40: {1.0: (-0.115356880632, -0.993324111300)},
}
"""N → time (s) → B0 (m)."""


def mechanism(windows: int = 2) -> vm.Mechanism:
    """The mechanism with N windows; the mass m_rod of the couplers is a parameter (they stay
    uniform).
    """
    N = windows
    m = vm.Mechanism(f"four-bar with {N} windows", gravity=(0, -G))
    m_rod = m.parameter("m_rod", 1.0, unit="kg")
    for i in range(N + 1):
        m.ground_point(f"A{i}", (i, 0))
        m.bar(f"crank {i}", f"A{i}", f"B{i}", length=1, mass=1)
        m.revolute(f"A{i}")
    for i in range(N):
        m.bar(f"rod {i}", f"B{i}", f"B{i + 1}", length=1, mass=m_rod)
        m.revolute(f"B{i} left", f"crank {i}.B{i}", f"rod {i}.B{i}")
        m.revolute(f"B{i + 1} right", f"crank {i + 1}.B{i + 1}", f"rod {i}.B{i + 1}")
    # an approximate angle for every link: each window could also be assembled crossed
    near = {f"crank {i}": math.pi / 2 for i in range(1, N + 1)} | {
        f"rod {i}": 0.0 for i in range(N)
    }
    m.start(angle={"crank 0": math.pi / 2}, speed={"crank 0": -1.0}, near=near)
    return m


def run(settings: Settings = SETTINGS) -> Checked:
    """Solve the benchmark for N = 2 and N = 40."""
    runs = {N: mechanism(N).simulate(DURATION, **stored_every(settings, 0.01)) for N in PLACES}
    checks: list[Check] = []
    for N, motion in runs.items():
        for t, place in PLACES[N].items():
            checks += check_point(motion, "B0", t, place, 1e-4, called=f"B0 for N = {N}")
        θ = motion.angle("crank 0").to_numpy()
        off = float(np.abs(θ - crank_angle(N, motion.time)).max())
        apart = float(np.abs(motion.angle(f"crank {N}").to_numpy() - θ).max())
        checks += [
            Check(f"largest error of the angle within 10 s for N = {N} (rad)", off, 0.0, 1e-4),
            Check(f"angle between first and last crank for N = {N} (rad)", apart, 0.0, 1e-6),
            check_energy(motion, 2e-5, f" for N = {N}"),
        ]
    return Checked("four-bar", tuple(runs.values()), tuple(checks), lambda: figures(runs))


def crank_angle(windows: int, times: np.ndarray) -> np.ndarray:
    """θ (rad) at given times (s) from the equation of motion with one degree of freedom."""
    from scipy.integrate import solve_ivp

    N = windows
    factor = G * ((N + 1) / 2 + N) / ((N + 1) / 3 + N)
    solution = solve_ivp(
        lambda t, y: (y[1], -factor * math.cos(y[0])),
        (0.0, times[-1]),
        (math.pi / 2, -1.0),
        method="DOP853",
        rtol=1e-12,
        atol=1e-12,
        t_eval=times,
    )
    return np.asarray(solution.y[0])


def figures(runs: Mapping[int, vm.Run]) -> Figures:
    """Angles with their errors, and the small mechanism."""
    panels = [
        vm.Panel(
            "angle (rad)",
            [vm.Line(f"N = {N}", r.time, r.angle("crank 0").to_numpy()) for N, r in runs.items()],
        ),
        vm.Panel(
            "error (rad)",
            [
                vm.Line(f"N = {N}", r.time, r.angle("crank 0").to_numpy() - crank_angle(N, r.time))
                for N, r in runs.items()
            ],
        ),
    ]
    return {
        "angle": vm.line_figure(panels, title="Angle of the cranks, and its error"),
        "mechanism": runs[2].draw(
            times=(0.5, 0.3, 0.0), trace="B0", title="Two windows in their initial position"
        ),
    }
