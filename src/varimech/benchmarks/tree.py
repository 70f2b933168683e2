"""A branched tree of eight bodies in space, without loops: a joint of every kind that a tree can
have, and a body on a spring alone.

    ground ─ revolute ─ mast ┬ prismatic ─ slider ─ spherical ─ bell
                             ├ cylindrical ─ sleeve
                             ├ universal ─ arm ─ fixed ─ weight
                             └ planar ─ plate ~ spring ~ bob

18 degrees of freedom; all axes are oblique, and no centre of mass is on one. Springs and dampers
act on the bodies, and on the weight a force that varies with time; g = 9.81 m/s² along −z. The mast
starts at rest, turned by 0.4 rad, and its spring pulls it on; slider, sleeve, bell and bob start
with a speed; 2 s.

Checked: the ends of bell, weight and bob at 1 and 2 s; ψ = ∫ |v_bell|² + |v_bob|² dt with its
derivatives with respect to a stiffness, a mass, the position of a joint and a damping; and that the
energy changes by the work of the force and of the dampers. The references were computed
independently: 18 coordinates, each a turn about an axis or a slide along one, Kane's equations and
complex steps (DOP853, tolerance 1e-13; `tests/support/tree_reference.py`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

import varimech as vm

from . import outcome as o

SETTINGS: o.Settings = {"tolerance": 1e-10, "coordinates": "rtdyn1"}
DURATION = 2.0
ENDS = ("bell", "weight", "bob", "sleeve", "plate")
"""Points at the ends of bodies, with the names of the bodies."""
MAST_START = 0.4
"""Initial angle of the mast (rad)."""
MAST_AXIS, NORMAL = (0.2, -0.1, 1.0), (0.2, -0.3, 1.0)
SLIDER_TURN, WEIGHT_TURN, PLATE_TURN = (
    ((1.0, 2.0, -0.5), 0.5),
    ((0.3, -1.0, 0.4), 0.9),
    ((1.0, 0.6, 0.3), 0.4),
)
BELL_TURN, BOB_TURN = ((0.5, 1.0, 0.2), 0.5), ((1.0, -0.4, 0.6), 0.3)
"""Axis and angle (rad) of the initial rotations: of slider, weight and plate relative to the bodies
that carry them, of bell and bob in space.
"""
STRUTS = {
    "slider spring": ("mast.A", "slider.com", 3.0),
    "sleeve spring": ("mast.U", "sleeve", 2.0),
    "arm spring": ("ground.G", "arm.W", 1.0),
    "plate spring 1": ("mast.T1", "plate.P", 2.0),
    "plate spring 2": ("mast.T2", "plate", 2.0),
    "bob spring": ("plate", "bob.H", 1.5),
    "link": ("bell", "weight", 0.6),
}
"""Springs with dampers, and a damper alone: the points between which they act, and their damping
(N·s/m).
"""
PUSH = ["3*sin(4*t)", 1.5, "2*cos(3*t)"]
"""The force on the tip of the weight (N)."""
SLEEVE_DAMPING = 0.05
"""Damping of the sleeve (N·m·s/rad)."""
SLEEVE_INERTIA = ((0.02, 0.002, 0), (0.002, 0.015, -0.001), (0, -0.001, 0.018))
"""Inertia of the sleeve about its centre of mass (kg·m²)."""
PLACES = {
    "bell": {
        1.0: (0.07520396257, 0.13724830073, 0.60435058303),
        2.0: (-0.04047926474, 0.00246600335, 0.64662116511),
    },
    "weight": {
        1.0: (0.33685695152, -0.26053520883, 0.33984453785),
        2.0: (0.64571797131, -0.19349837029, 0.47225581248),
    },
    "bob": {
        1.0: (-0.18703570513, -0.58420794888, 0.08333890199),
        2.0: (-0.31218669604, 0.11549678675, 0.09517561278),
    },
}
"""Point → time (s) → position (m)."""
PSI = 6.38765411767
PSI_GRADIENT = {
    "k_bob": -1.85298467946e-03,
    "m_weight": -0.250813622786,
    "z_bell": -3.34050556520e-02,
    "c_mast": -0.856845660043,
}
"""ψ (m²/s) and its derivatives with respect to the parameters (in their SI units)."""


def mechanism() -> vm.Mechanism:
    """The tree; parameters are the stiffness k_bob of the spring of the bob, the mass m_weight (its
    inertia is constant), the position z_bell of the bell's joint on the slider, and the damping
    c_mast of the mast.
    """
    m = vm.Mechanism("tree", gravity=(0, 0, -9.81))
    k_bob = m.parameter("k_bob", 80.0, unit="N/m")
    m_weight = m.parameter("m_weight", 0.8, unit="kg")
    z_bell = m.parameter("z_bell", -0.1, unit="m")
    c_mast = m.parameter("c_mast", 1.5, unit="N·m·s/rad")
    _add_mast(m)
    _add_branches(m, m_weight, z_bell)
    _add_joints(m)
    _add_forces(m, k_bob, c_mast)
    _add_start(m)
    return m


def _add_mast(m: vm.Mechanism) -> None:
    m.ground_point("O", (0, 0, 0))
    m.ground_point("G", (0.6, -0.9, 0.1))
    m.body(
        "mast",
        mass=4.0,
        inertia=((0.5, 0.03, -0.02), (0.03, 0.45, 0.04), (-0.02, 0.04, 0.2)),
        com=(0.05, 0.03, 0.5),
        points={
            "O": (0, 0, 0),
            "M": (0.05, 0, 0.6),
            "A": (0.1, 0, 1.0),
            "S": (0, 0.2, 0.8),
            "U": (0.1, -0.4, 0.9),
            "T": (-0.4, 0.1, 0.6),
            "T1": (-0.7, -0.1, 0.6),
            "T2": (-0.5, 0.5, 0.8),
        },
        spine=("O", "M", "A", "M", "S", "M", "U", "M", "T", "T1", "T", "T2"),
    )


def _add_branches(m: vm.Mechanism, m_weight: vm.Parameter, z_bell: vm.Parameter) -> None:
    points: dict[str, dict[str, object]] = {
        "slider": {"R": (0, 0.02, 0), "B": (0.1, 0.05, z_bell)},
        "bell": {"B": (0, 0, 0), "bell": (0.05, 0, -0.4)},
        "sleeve": {"S": (0, 0, 0), "sleeve": (0.1, 0.15, -0.25)},
        "arm": {"U": (0, 0, 0), "W": (0.1, -0.1, -0.4)},
        "weight": {"W": (0, 0, 0), "weight": (0.05, 0, -0.15)},
        "plate": {"P": (0, 0, 0), "plate": (-0.15, 0.2, -0.05)},
    }
    bodies: dict[str, tuple[object, object, object]] = {
        "slider": (1.2, (0.02, 0.03, 0.025), (0.06, -0.04, 0.05)),
        "bell": (0.9, (0.03, 0.02, 0.012), (0.03, 0.02, -0.25)),
        "sleeve": (1.1, SLEEVE_INERTIA, (0.08, 0.05, -0.12)),
        "arm": (1.0, (0.04, 0.035, 0.01), (0.04, -0.03, -0.2)),
        "weight": (m_weight, (0.008, 0.005, 0.006), (0.02, 0.03, -0.06)),
        "plate": (1.5, (0.02, 0.03, 0.045), (0.05, 0.04, 0.03)),
    }
    for name, (mass, inertia, com) in bodies.items():
        m.body(name, mass=mass, inertia=inertia, com=com, points=points[name])
    bob, com = {"H": (0, 0, 0), "bob": (0.05, -0.02, -0.28)}, (0.03, -0.02, -0.15)
    m.body("bob", mass=0.6, inertia=(0.009, 0.011, 0.006), com=com, points=bob, floating=True)


def _add_joints(m: vm.Mechanism) -> None:
    m.revolute("O", axis=MAST_AXIS)
    m.prismatic(
        "rail", "mast.A", "slider.R", axis=(1.0, 0.3, 0.5), rotation=vm.rotation(*SLIDER_TURN)
    )
    m.spherical("B")
    m.cylindrical("S", axis=(0.3, 1.0, 0.2))
    m.universal("U", axis=(1.0, 0.2, -0.3), axis_on_second=(0.1, 1.0, 1.0))
    m.fixed("W", rotation=vm.rotation(*WEIGHT_TURN))
    m.planar(
        "table",
        "mast.T",
        "plate.P",
        normal=NORMAL,
        normal_on_second=vm.rotation(*PLATE_TURN).T @ vm.vector(*NORMAL),
    )


def _add_forces(m: vm.Mechanism, k_bob: vm.Parameter, c_mast: vm.Parameter) -> None:
    m.torsional_spring("mast spring", "O", stiffness=40.0, rest_angle=0.75, damping=c_mast)
    m.torsional_damper("sleeve damper", "S", damping=SLEEVE_DAMPING)
    springs: dict[str, tuple[object, float]] = {
        "slider spring": (250.0, 0.3),
        "sleeve spring": (120.0, 0.85),
        "arm spring": (60.0, 0.5),
        "plate spring 1": (200.0, 0.35),
        "plate spring 2": (150.0, 0.3),
        "bob spring": (k_bob, 0.25),
    }
    for name, (first, second, c) in STRUTS.items():
        k, natural = springs.get(name, (0.0, 0.0))
        m.spring(name, first, second, stiffness=k, natural_length=natural, damping=c)
    m.force("push", "weight", PUSH)


def _add_start(m: vm.Mechanism) -> None:
    """Set the initial conditions. Arm and plate are given by coordinates of their points: a
    universal joint has no angle, and the angle between two different normals is not unique.
    """
    mast = vm.rotation(MAST_AXIS, MAST_START)
    W = mast @ vm.vector(0.2, -0.5, 0.5)  # the arm is parallel to the mast
    P = mast @ vm.vector(-0.4, 0.1, 0.6)
    plate = mast @ vm.rotation(*PLATE_TURN)
    Q = P + plate @ vm.vector(-0.15, 0.2, -0.05)
    m.start(
        angle={"O": MAST_START, "S": 0.2},
        displacement={"rail": 0.3, "S": 0.1},
        position={
            "arm.W": (W[0], W[1], None),
            "plate.P": (P[0], P[1], None),
            "plate": (Q[0], None, None),
            "bob.H": (-0.62, -0.02, 0.32),
        },
        orientation={"bell": vm.rotation(*BELL_TURN), "bob": vm.rotation(*BOB_TURN)},
        speed={
            "rail": -0.5,
            "S": (1.5, 0.4),
            "bell": (1.0, -2.0, 0.8),
            "bob.H": (0.2, -0.1, 0.3),
            "bob": (-0.6, 0.5, 0.8),
        },
        near={"arm": mast, "plate": plate},
    )


def objectives() -> dict[str, vm.Objective]:
    """ψ, and the energy that dampers dissipate minus the work of the force, ∫ Σ c ẋ² − F·v dt (J)."""
    lost = [f'{c}*distance_rate("{first}", "{second}")**2' for first, second, c in STRUTS.values()]
    lost += [f'{SLEEVE_DAMPING}*angular_velocity("S")**2', 'c_mast*angular_velocity("O")**2']
    return {
        "psi": vm.integral(
            " + ".join(f'dot(velocity("{p}"), velocity("{p}"))' for p in ("bell", "bob")),
            unit="m²/s",
        ),
        "lost": vm.integral(
            f'{" + ".join(lost)} - dot([{", ".join(map(str, PUSH))}], velocity("weight"))', unit="J"
        ),
    }


def run(settings: o.Settings = SETTINGS) -> o.Checked:
    """Solve the benchmark with its sensitivities."""
    solution = mechanism().sensitivity(
        objectives(), list(PSI_GRADIENT), duration=DURATION, **settings
    )
    motion = solution.run
    checks = [
        c
        for point, places in PLACES.items()
        for t, r in places.items()
        for c in o.check_point(motion, point, t, r, 1e-9)
    ]
    checks.append(o.Check("ψ (m²/s)", float(solution.final_values[0]), PSI, 1e-9))
    nominal = motion.info["parameters"]
    # relative to ψ and the parameter, since single derivatives are small by cancellation
    checks += o.check_gradient(
        solution, PSI_GRADIENT, lambda name, _: 1e-8 * PSI / abs(nominal[name])
    )
    energy, lost = motion.energy().to_numpy(), solution.value_history[:, 1]
    off = float(np.abs(energy + lost - energy[0]).max() / motion.energy("kinetic").to_numpy().max())
    checks.append(o.Check("balance of the energy over the largest kinetic energy", off, 0.0, 1e-10))
    return o.Checked("tree", (motion,), tuple(checks), lambda: figures(solution))


def figures(solution: vm.Gradient) -> o.Figures:
    """The motion, the sensitivities of ψ, and the mechanism."""
    r, t = solution.run, solution.run.time
    heights = [
        vm.Line(p, t, r.position(p).sel(component="z").to_numpy())
        for p in ("bell", "weight", "bob")
    ]
    panels = [
        vm.Panel("height z (m)", heights),
        vm.Panel(
            "angle (rad)",
            [
                vm.Line(label, t, r.angle(j).to_numpy())
                for label, j in (("mast", "O"), ("sleeve", "S"))
            ],
        ),
        vm.Panel(
            "slide (m)",
            [
                vm.Line(label, t, r.displacement(j).to_numpy())
                for label, j in (("slider", "rail"), ("sleeve", "S"))
            ],
        ),
        o.energy_panel(r),
    ]
    sensitivities = o.sensitivity_panels(solution)
    drawing = r.draw(trace=("bell", "weight", "bob"), title="Tree of eight bodies at its start")
    axes: Any = drawing.axes[0]
    axes.view_init(elev=25, azim=-40)  # no branch hides another
    for label in axes.texts:  # label the ends of bodies only; joints are too close together
        label.set_visible(label.get_text().strip() in ENDS)
    return {
        "motion": vm.line_figure(panels, title="Tree of eight bodies"),
        "sensitivities": vm.line_figure(
            sensitivities, title="ψ = ∫ |v_bell|² + |v_bob|² dt and its sensitivities"
        ),
        "mechanism": drawing,
    }
