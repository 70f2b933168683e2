"""Bricard's mechanism: five rods and six hinges in a closed spatial loop. Counting
constraints gives 0 degrees of freedom; it has one (overconstrained).

IFToMM Library of Computational Benchmark Problems, A04. Rods of 1 m and 1 kg with a square section
of 0.1 m (inertia 1/600 kg·m² along, 1.01/12 kg·m² across), at rest, gravity 9.81 m/s² along −y, 10
s. Checked: the third hinge P3 at 1 and 2 s, computed independently (DOP853/Radau at tolerances
1e-11 to 1e-13), the largest constraint residuals and the energy over the whole run.

OpenSim 3.2 needed 0.258 s for it (Intel i5-4570).
"""

from __future__ import annotations

import varimech as vm

from . import outcome as o

SETTINGS: o.Settings = {"tolerance": 1e-10}
DURATION = 10.0
PLACES = {
    1.0: (0.274481319, -0.886707939, -0.462330003),
    2.0: (-0.778135373, -0.980352683, -0.197252671),
}
"""P3 (m) at two times (s)."""


def mechanism() -> vm.Mechanism:
    """The mechanism, all rods initially with axes along the global ones; the mass of rod 3 is
    the parameter m3 (its inertia stays).
    """
    return o.read_model("bricard")


def run(settings: o.Settings = SETTINGS) -> o.Checked:
    """Solve the benchmark."""
    motion = mechanism().simulate(DURATION, **settings)
    checks = [c for t, place in PLACES.items() for c in o.check_point(motion, "P3", t, place, 2e-9)]
    levels = {"position (m)": 1e-12, "velocity (m/s)": 1e-11, "acceleration (m/s²)": 1e-7}
    residuals = motion.info["residuals"]
    checks += [
        o.Check(f"residual of the {n}", r, 0.0, levels[n])
        for n, r in zip(levels, residuals, strict=True)
    ]
    checks.append(o.check_energy(motion, 1e-9))
    return o.Checked("bricard", (motion,), tuple(checks), lambda: figures(motion))


def figures(run: vm.Run) -> o.Figures:
    """Path of P3 and energies over time, and the mechanism."""
    t, place = run.time, run.position("P3")
    panels = [
        vm.Panel(
            "P3 (m)", [vm.Line(c, t, place.sel(component=c).to_numpy()) for c in ("x", "y", "z")]
        ),
        o.energy_panel(run),
    ]
    drawing = run.draw(trace="P3", title="Bricard's mechanism in its initial position")
    drawing.axes[0].locator_params(nbins=5)
    return {"motion": vm.line_figure(panels, title="Bricard's mechanism"), "mechanism": drawing}
