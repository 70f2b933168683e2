"""A slider-crank with clearance in its guide: the slider may move by ± 1 mm across the guide, and
hits it; three degrees of freedom.

P. Flores, R. Leine and C. Glocker, Multibody System Dynamics 23 (2010) 165–190; parameters as in the
example of Siconos. Crank 0.153 m, rod 0.306 m, both with their centres of
mass in the middle; masses 0.038, 0.038 and 0.076 kg; moments of inertia about the centres of mass
7.4e-5, 5.9e-4 and 2.7e-6 kg·m²; g = 9.81 m/s² along −y. Initially all angles are zero, with 150 rad/s
of the crank, −75 rad/s of the rod, 0 of the slider. Contact without friction, restitution 0.4. All
impacts within 8 ms are on the upper side.

Checked: the times of the first three impacts; at 8 ms the position of the slider and the angle of the
crank, each with derivatives with respect to the clearance c, the restitution e and the length of the
crank; and the derivative of the first impact time with respect to the clearance, which is 1/ẏ there,
because the clearance has no influence on the motion before. The references were computed
independently, in the angles of crank and rod, with complex steps (DOP853, tolerance 3e-14;
`tests/support/clearance_reference.py`).
"""

from __future__ import annotations

import varimech as vm

from . import outcome as o

SETTINGS: o.Settings = {"tolerance": 1e-11}
DURATION = 8e-3
PARAMETERS = ("c", "e", "L_crank")
IMPACTS = (2.69250275202e-3, 5.60779786807e-3, 7.46563516956e-3)
"""Times of the impacts (s)."""
FIRST_IMPACT_BY_CLEARANCE = 1.18819553115
"""Derivative of the first impact time with respect to the clearance (s/m)."""
FINAL: dict[str, tuple[float, dict[str, float]]] = {
    "x of the slider": (
        0.39119746341,
        {"c": 0.254634221236, "e": -0.000177249886059, "L_crank": 0.499470218473},
    ),
    "y of the slider": (
        0.000992531145764,
        {"c": 0.946796116116, "e": -0.000280888193399, "L_crank": 0.0106034285883},
    ),
    "angle of the crank": (
        0.809397781423,
        {"c": 0.721568765522, "e": 0.000458083692153, "L_crank": -0.552609727134},
    ),
}
"""Objective → value at 8 ms (m, rad), and derivatives with respect to the parameters."""


def mechanism() -> vm.Mechanism:
    """The mechanism; clearance c, restitution e and the length of the crank are parameters (its
    centre of mass stays in the middle, its inertia stays).
    """
    m = vm.Mechanism("slider-crank with clearance", gravity=(0, -9.81))
    c = m.parameter("c", 1e-3, unit="m")
    e = m.parameter("e", 0.4)
    L_crank = m.parameter("L_crank", 0.153, unit="m")
    m.ground_point("O", (0, 0))
    m.bar("crank", "O", "A", length=L_crank, mass=0.038, inertia=7.4e-5)
    m.bar("rod", "A", "B", length=0.306, mass=0.038, inertia=5.9e-4)
    m.body("slider", mass=0.076, inertia=2.7e-6, points={"B": (0, 0)})
    for joint in "OAB":
        m.revolute(joint)
    m.clearance_joint("guide", "ground.O", "slider.B", clearance=c, axis=(1, 0), restitution=e)
    m.start(
        angle={"crank": 0.0, "rod": 0.0, "slider": 0.0},
        speed={"crank": 150.0, "rod": -75.0, "slider": 0.0},
    )
    return m


def objectives() -> dict[str, vm.Objective]:
    """Final position of the slider and angle of the crank."""
    return {
        "x of the slider": vm.final('position("slider.B")[0]', unit="m"),
        "y of the slider": vm.final('position("slider.B")[1]', unit="m"),
        "angle of the crank": vm.final('angle("crank")', unit="rad"),
    }


def run(settings: o.Settings = SETTINGS) -> o.Checked:
    """Solve the benchmark with its sensitivities."""
    solutions = o.both_methods(
        mechanism(), objectives(), PARAMETERS, DURATION, o.stored_at(settings, 2e-5)
    )
    motion = solutions["direct"].run
    impacts = motion.events["guide.left"]
    checks = [
        o.Check(f"time of impact {k + 1} (s)", impacts[k].time, reference, 1e-9 * reference)
        for k, reference in enumerate(IMPACTS)
    ]
    checks += [
        o.Check("number of events", len(motion.events), len(IMPACTS), 1e-9),
        o.Check(
            "∂(time of impact 1)/∂c (s/m)",
            -1 / impacts[0].before,
            FIRST_IMPACT_BY_CLEARANCE,
            1e-9 * FIRST_IMPACT_BY_CLEARANCE,
        ),
    ]
    checks += o.check_both_methods(solutions, FINAL)
    return o.Checked(
        "clearance-slider-crank",
        tuple(s.run for s in solutions.values()),
        tuple(checks),
        lambda: figures(motion),
    )


def figures(run: vm.Run) -> o.Figures:
    """Position and velocity of the slider across its guide, and the mechanism."""
    t = run.time
    panels = [
        vm.Panel(label, [vm.Line("", t, f("slider.B").sel(component="y").to_numpy())])
        for label, f in (("slider y (m)", run.position), ("slider ẏ (m/s)", run.velocity))
    ]
    return {
        "motion": vm.line_figure(panels, title="Slider-crank with clearance in its guide"),
        "mechanism": run.draw(times=(0.0, 4e-3, 8e-3), title="Slider-crank within 8 ms"),
    }
