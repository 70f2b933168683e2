"""A hanging chain of N uniform bars of 1 m and 1 kg, released at rest in a gentle zig-zag; N = 10
and 100, planar.

Bar i points 0.3 ± 0.2 rad (+ for the odd ones) below the horizontal; g = 9.81 m/s²; 1 s for N = 10,
0.5 s for N = 100. With the angles θ of the bars, their lengths l and masses m, and M_i the mass of
all bars after bar i, the chain obeys

    Σ_j a_ij cos(θ_i − θ_j) θ̈_j + a_ij sin(θ_i − θ_j) θ̇_j² + g l_i (m_i/2 + M_i) cos θ_i = 0,

    a_ii = l_i² (m_i/3 + M_i),     a_ij = l_i l_j (m_k/2 + M_k) with k = max(i, j).

Checked: points of the chain at the end (the free end of the long one is still in free fall then); ψ
= ∫ |v|² dt of the free end with its derivatives with respect to the mass of the last bar and the
length of the first one (N = 10); and energy conservation. The references were computed
independently, from these equations and complex steps (DOP853, tolerance 1e-13;
`tests/support/chain_reference.py`).
"""

from __future__ import annotations

from collections.abc import Mapping

import varimech as vm

from . import outcome as o

SETTINGS: o.Settings = {"tolerance": 1e-10}
DURATIONS = {10: 1.0, 100: 0.5}
DURATION = DURATIONS[10]
"""Duration (s) by number of bars."""
PLACES = {
    10: {"P5": (1.98964059881, -4.55577772313), "P10": (6.24798714243, -6.87879987762)},
    100: {
        "P3": (2.47631018277, -1.69062949178),
        "P10": (8.98095804754, -4.16826669221),
        "P100": (93.6293363584, -30.1891977626),
    },
}
"""Number of bars → point → final position (m); P0 is on the ground, PN is free."""
PSI = 35.2528917616
PSI_GRADIENT = {"m_last": -0.588293749229, "L_first": -1.60310790325}
"""ψ (m²/s) for N = 10 and its derivatives with respect to the parameters (in their SI units)."""


def mechanism(bars: int = 10) -> vm.Mechanism:
    """The chain; mass m_last of the last bar and length L_first of the first one are parameters
    (both bars stay uniform).
    """
    m = vm.Mechanism(f"chain of {bars} bars", gravity=(0, -9.81))
    m_last = m.parameter("m_last", 1.0, unit="kg")
    L_first = m.parameter("L_first", 1.0, unit="m")
    m.ground_point("P0", (0, 0))
    for i in range(1, bars + 1):
        length, mass = L_first if i == 1 else 1.0, m_last if i == bars else 1.0
        m.bar(f"bar {i}", f"P{i - 1}", f"P{i}", length=length, mass=mass)
        m.revolute(f"P{i - 1}")
    m.start(angle={f"bar {i}": _initial_angle(i) for i in range(1, bars + 1)})
    return m


def _initial_angle(i: int) -> float:
    """Angle of bar i from the horizontal (rad)."""
    return -0.5 if i % 2 else -0.1


def objectives(bars: int = 10) -> dict[str, vm.Objective]:
    """ψ."""
    end = f"bar {bars}.P{bars}"
    return {"psi": vm.integral(f'dot(velocity("{end}"), velocity("{end}"))', unit="m²/s")}


def run(settings: o.Settings = SETTINGS) -> o.Checked:
    """Solve the benchmark: N = 10 with its sensitivities, N = 100 without."""
    stored = o.stored_every(settings, 0.01)
    solution = mechanism(10).sensitivity(
        objectives(10), list(PSI_GRADIENT), duration=DURATIONS[10], **stored
    )
    runs = {10: solution.run, 100: mechanism(100).simulate(DURATIONS[100], **stored)}
    checks: list[o.Check] = []
    for N, motion in runs.items():
        for point, place in PLACES[N].items():
            checks += o.check_point(
                motion, point, DURATIONS[N], place, 1e-9, called=f"{point} for N = {N}"
            )
        checks.append(o.check_energy(motion, 1e-10, f" for N = {N}"))
    checks.append(o.Check("ψ (m²/s)", float(solution.final_values[0]), PSI, 1e-9))
    checks += o.check_gradient(solution, PSI_GRADIENT, lambda _, reference: 1e-8 * abs(reference))
    return o.Checked("chain", tuple(runs.values()), tuple(checks), lambda: figures(runs))


def figures(runs: Mapping[int, vm.Run]) -> o.Figures:
    """Angles and energies of the short chain, and its motion."""
    r = runs[10]
    angles = [
        vm.Line(bar, r.time, r.angle(bar).to_numpy())
        for bar in ("bar 1", "bar 2", "bar 5", "bar 10")
    ]
    panels = [vm.Panel("angle (rad)", angles), o.energy_panel(r)]
    drawing = r.draw(
        times=(0.0, 0.25, 0.5, 0.75, 1.0),
        trace="P10",
        title="Chain of 10 bars at the end, and before",
    )
    return {"motion": vm.line_figure(panels, title="Chain of 10 bars"), "mechanism": drawing}
