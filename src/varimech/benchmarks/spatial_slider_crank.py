"""The spatial slider-crank with springs, and its sensitivities: a crank about x, a rod in space, a
slider along x; one degree of freedom.

IFToMM Library of Computational Benchmark Problems. Crank AB of 0.08 m about the x axis through A =
(0, 0.1, 0.12) m, initially upright with 6 rad/s; rod BC of 0.3 m; slider C on the x axis, first
at 0.2 m; masses 0.12, 0.5 and 2 kg; a spherical joint at B, a universal joint at C (one axis along
x, the other across the rod); g = 9.81 m/s² along −z; 5 s.

The papers on semi-recursive sensitivities that use it with springs do not print them. Ours, both
initially unstressed:

    s1: from D = (0.5, 0, 0) m to the slider, 100 N/m, 0.3 m
    s2: from E = (0, 0.1, 0.4) m to B, 50 N/m, 0.2 m

Checked: the published initial speeds; slider and crank at 1, 2 and 5 s; and for ψ = ∫ ẋ² dt
over 5 s, with ẋ the speed of the slider, its value and its derivatives with respect to both
stiffnesses, the length of the crank and the mass of the slider. These references were computed
independently: the equation of motion of the crank angle alone, from the closed-form kinematics of
the loop, with its sensitivities (DOP853, tolerance 1e-12; the derivation is in
`tests/test_benchmarks.py`).
"""

from __future__ import annotations

import varimech as vm

from . import outcome as o

SETTINGS: o.Settings = {"tolerance": 1e-10}
DURATION = 5.0
PUBLISHED_START = {
    "ω_x of the rod": 1.92,
    "ω_y of the rod": -0.96,
    "ω_z of the rod": 0.48,
    "speed of the slider": 0.24,
}
"""Published initial speeds: rad/s and m/s."""
SLIDER = {1.0: 0.22274334982, 2.0: 0.21017254245, 5.0: 0.21628594949}
"""x of the slider (m) at three times (s)."""
CRANK = {1.0: -1.87192284474, 2.0: -1.62044093280, 5.0: 0.35596755817}
"""Angle of the crank (rad) from the upright at three times (s)."""
PSI = 0.21461528322
PSI_GRADIENT = {
    "k1": 4.58975712e-05,
    "k2": -1.31606936740e-03,
    "L_crank": 9.07600939208,
    "m_slider": -2.55461466224e-02,
}
"""ψ (m²/s) and its derivatives with respect to the parameters (in their SI units)."""


def mechanism() -> vm.Mechanism:
    """The mechanism; parameters are both stiffnesses, the crank's length and the slider's mass.

    L_crank is geometry only: mass, centre of mass and inertia of the crank stay, and so do its
    initial angle and speed.
    """
    return o.read_model("spatial_slider_crank")


def objectives() -> dict[str, vm.Objective]:
    """ψ."""
    return o.read_objectives(mechanism())


def run(settings: o.Settings = SETTINGS) -> o.Checked:
    """Solve the benchmark with its sensitivities."""
    solution = mechanism().sensitivity(
        objectives(), list(PSI_GRADIENT), duration=DURATION, **settings
    )
    motion = solution.run
    ω, v = (
        motion.angular_velocity("rod").to_numpy()[0],
        motion.displacement_rate("guide").to_numpy()[0],
    )
    checks = [
        o.Check(f"{n} at 0 s", float(x), r, 1e-12)
        for (n, r), x in zip(PUBLISHED_START.items(), (*ω, v), strict=True)
    ]
    x, θ = motion.displacement("guide").to_numpy(), motion.angle("A").to_numpy()
    checks += [
        o.Check(f"x of the slider at {t:g} s (m)", float(x[o.row_at(motion, t)]), r, 1e-9)
        for t, r in SLIDER.items()
    ]
    checks += [
        o.Check(f"angle of the crank at {t:g} s (rad)", float(θ[o.row_at(motion, t)]), r, 1e-8)
        for t, r in CRANK.items()
    ]
    checks.append(o.Check("ψ (m²/s)", float(solution.final_values[0]), PSI, 1e-8))
    nominal = motion.info["parameters"]
    # relative to ψ and the parameter, since single derivatives are small by cancellation
    checks += o.check_gradient(solution, PSI_GRADIENT, lambda name, _: 1e-7 * PSI / nominal[name])
    checks.append(o.check_energy(motion, 1e-8))
    return o.Checked("spatial-slider-crank", (motion,), tuple(checks), lambda: figures(solution))


def figures(solution: vm.Gradient) -> o.Figures:
    """The motion, the sensitivities of ψ, and the mechanism."""
    r, t = solution.run, solution.run.time
    panels = [
        vm.Panel("slider x (m)", [vm.Line("", t, r.displacement("guide").to_numpy())]),
        vm.Panel("crank (rad)", [vm.Line("", t, r.angle("A").to_numpy())]),
        o.energy_panel(r),
    ]
    sensitivities = o.sensitivity_panels(solution)
    drawing = r.draw(trace="B", title="Spatial slider-crank at its start")
    drawing.axes[0].locator_params(axis="y", nbins=3)  # the box is narrow
    return {
        "motion": vm.line_figure(panels, title="Spatial slider-crank with springs"),
        "sensitivities": vm.line_figure(sensitivities, title="ψ = ∫ ẋ² dt and its sensitivities"),
        "mechanism": drawing,
    }
