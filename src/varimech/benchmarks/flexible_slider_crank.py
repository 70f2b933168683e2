"""The spatial slider-crank with a flexible rod: a crank about x, a slider along x, between them a
beam that bends by 2 % of its length.

Crank AB of 0.08 m about the x axis through A = (0, 0.1, 0.12) m, initially upright with 6 rad/s;
mass 0.12 kg, 1e-4 kg·m² across it about its middle. Slider C of 2 kg on the x axis. Rod BC of 0.3 m
and 0.5 kg with spherical joints at both ends: a rotation-free beam of n segments (E = 2 GPa, 1e-4
m², 8e-10 m⁴, consistent masses, logarithmic strain), initially straight, unstressed and moving as
a rigid one; n = 4. g = 9.81 m/s² along −z; 1 s, in which the crank turns by 610°. No friction,
no damping.

Checked: slider and middle node of the rod at 0.5 and 1 s; ψ = ∫ |v_C|² dt with its derivatives with
respect to modulus, area, second moment of area, density and length of the rod; and energy
conservation. With the length, the initial position of the slider changes, and with it positions and
velocities of all nodes; angle and speed of the crank stay. The references were computed
independently: 11 coordinates without constraints (angle of the crank, positions of the slider and
of the inner nodes), Lagrange's equations by hand and complex steps (40000 equal steps of order 8,
converged to 1e-12 m; `tests/support/flexible_slider_crank_reference.py`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

import varimech as vm

from . import outcome as o

SETTINGS: o.Settings = {"tolerance": 1e-9}
DURATION = 1.0
SEGMENTS = 4
MIDDLE = f"rod.n{SEGMENTS // 2}"
SLIDER = {0.5: 0.18465620094150, 1.0: 0.22551372568687}
"""x of the slider (m) at two times (s)."""
PLACES = {
    0.5: (0.0923477505874, 0.0777106386730, 0.0890094212687),
    1.0: (0.1121545514562, 0.0878246014446, 0.0440136149995),
}
"""Position of the middle node (m) at two times (s)."""
ROD = {
    "E": (2e9, "Pa"),
    "area": (1e-4, "m²"),
    "inertia": (8e-10, "m⁴"),
    "density": (0.5 / (1e-4 * 0.3), "kg/m³"),
}
"""Parameters of the rod other than its length, with their units."""
PSI = 0.15529292424975
PSI_GRADIENT = {
    "E": -3.577134001e-11,
    "area": 1913.836279706,
    "inertia": -8.75925087348e07,
    "density": 1.157113806e-05,
    "L": 1.37228601807,
}
"""ψ (m²/s) and its derivatives with respect to the parameters (in their SI units)."""


def mechanism(segments: int = SEGMENTS, *, material: str = "logarithmic") -> vm.Mechanism:
    """The mechanism; parameters are modulus, area, second moment of area, density and length of the
    rod.
    """
    m = vm.Mechanism("flexible slider-crank", gravity=(0, 0, -9.81))
    rod: dict[str, Any] = {
        name: m.parameter(name, value, unit=unit) for name, (value, unit) in ROD.items()
    }
    L = m.parameter("L", 0.3, unit="m")

    m.ground_point("A", (0, 0.1, 0.12))
    m.ground_point("O", (0, 0, 0))
    ends = {"A": (0, 0, 0), "B": (0, 0, 0.08)}
    m.body("crank", mass=0.12, inertia=(1e-4, 1e-4, 1e-5), com=(0, 0, 0.04), points=ends)
    m.beam("rod", "B", "C", segments=segments, length=L, material=material, **rod)
    # the slider never turns, so its inertia does not matter
    m.body("slider", mass=2.0, inertia=(1e-4, 1e-4, 1e-4), points={"C": (0, 0, 0)})
    m.revolute("A", axis=(1, 0, 0))
    m.spherical("B")
    m.spherical("C")
    m.prismatic("guide", "ground.O", "slider.C", axis=(1, 0, 0))
    m.start(angle={"A": 0.0}, speed={"A": 6.0}, near={"slider.C": (0.2, 0, 0)})
    return m


def objectives() -> dict[str, vm.Objective]:
    """ψ."""
    return {"psi": vm.integral('dot(velocity("slider.C"), velocity("slider.C"))', unit="m²/s")}


def run(settings: o.Settings = SETTINGS) -> o.Checked:
    """Solve the benchmark with its sensitivities."""
    stored = o.stored_every(settings, DURATION / 500)
    solution = mechanism().sensitivity(
        objectives(), list(PSI_GRADIENT), duration=DURATION, **stored
    )
    motion = solution.run
    x = motion.displacement("guide").to_numpy()
    checks = [
        o.Check(f"x of the slider at {t:g} s (m)", float(x[o.row_at(motion, t)]), r, 1e-11)
        for t, r in SLIDER.items()
    ]
    for t, place in PLACES.items():
        checks += o.check_point(motion, MIDDLE, t, place, 1e-11, called="the middle node")
    checks.append(o.Check("ψ (m²/s)", float(solution.final_values[0]), PSI, 1e-11))
    checks += o.check_gradient(solution, PSI_GRADIENT, lambda _, reference: 2e-9 * abs(reference))
    checks.append(o.check_energy(motion, 1e-10))
    return o.Checked("flexible-slider-crank", (motion,), tuple(checks), lambda: figures(solution))


def deflection(run: vm.Run, node: int = SEGMENTS // 2, segments: int = SEGMENTS) -> np.ndarray:
    """Deflection of a node from the straight line between the ends of the rod (m), (time,
    component).
    """
    r, B, C = (
        run.position(p).transpose("time", "component").to_numpy()
        for p in (f"rod.n{node}", "crank.B", "slider.C")
    )
    return np.asarray(r - B + (B - C) * (node / segments))


def figures(solution: vm.Gradient) -> o.Figures:
    """The motion with the deflection of the rod, shapes of the rod, the sensitivities of ψ, and the
    mechanism.
    """
    r, t = solution.run, solution.run.time
    ends = np.zeros((t.size, 3))
    d = 1000 * np.stack([ends, *(deflection(r, k) for k in range(1, SEGMENTS)), ends], axis=1)
    panels = [
        vm.Panel("slider x (m)", [vm.Line("", t, r.displacement("guide").to_numpy())]),
        vm.Panel(
            "middle of the rod\nfrom its chord (mm)",
            [vm.Line(f"along {c}", t, d[:, 2, k]) for k, c in enumerate(o.COMPONENTS)],
        ),
        o.energy_panel(r),
    ]
    along, rows = (
        np.linspace(0, 1, SEGMENTS + 1),
        [int(np.abs(t - when).argmin()) for when in (0.86, 0.87, 0.88, 0.89, 0.9)],
    )
    shapes = [
        vm.Panel(
            f"from the chord,\nalong {o.COMPONENTS[k]} (mm)",
            [vm.Line(f"{t[row]:.2f} s", along, d[row, :, k]) for row in rows],
        )
        for k in (1, 2)
    ]
    nominal, derivatives = r.info["parameters"], solution.gradient_history[:, 0]
    scaled = {p: nominal[p] * derivatives[:, k] for k, p in enumerate(PSI_GRADIENT)}
    # the motion depends on E A, E I and the mass per length: the curves of E and inertia differ
    # by the stretch only, and so do those of density and area
    shown = {"E": "p = E, inertia", "density": "p = density, area", "L": "p = L"}
    sensitivities = [
        vm.Panel("ψ (m²/s)", [vm.Line("", t, solution.value_history[:, 0])]),
        vm.Panel("p ∂ψ/∂p (m²/s)", [vm.Line(label, t, scaled[p]) for p, label in shown.items()]),
    ]
    drawing = r.draw(
        times=(0.0, 0.1, 0.2, 0.3, 0.4, 0.5),
        trace=("B", MIDDLE),
        title="Flexible slider-crank at 0.5 s, and before",
    )
    drawing.axes[0].locator_params(axis="y", nbins=3)  # the box is narrow
    return {
        "motion": vm.line_figure(panels, title="Spatial slider-crank with a flexible rod"),
        "shapes": vm.line_figure(
            shapes, title="Shapes of the rod", xlabel="share of the rod's length from B"
        ),
        "sensitivities": vm.line_figure(
            sensitivities, title="ψ = ∫ |v_C|² dt and its sensitivities"
        ),
        "mechanism": drawing,
    }
