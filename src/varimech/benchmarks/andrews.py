"""Andrews' squeezing mechanism: seven bodies, three loops, one degree of freedom, a motor
and a spring; milliseconds and many turns.

IFToMM Library of Computational Benchmark Problems, A03, with the data of the DAE test sets (W.
Schiehlen (ed.), Multibody Systems Handbook, 1990; E. Hairer and G. Wanner, Solving Ordinary
Differential Equations II, VII.7; F. Mazzia and C. Magherini, Test Set for IVP Solvers). From rest,
0.05 s; no gravity.

Checked: point F at 0.01, 0.03 and 0.05 s and β(0.03), computed independently (DOP853/Radau at
tolerances 1e-11 to 1e-13); the seven angles of the test set at 0.03 s, which carry an error of up
to 1.4e-9 themselves; and the energy balance of the library,

    ΔU = T + V − E₀ − τ (β − β₀) = 0.

Two initial states: Θ₀ = 0 with β₀ = −0.0617138900142764, and the rounded β₀ = −0.0620 of the
library, for which Θ₀ = 2.14587e-4 closes the loop. Not copied from the published text: B has x =
−0.03635 m (with + the mechanism cannot be assembled), body BDE weighs 0.02373 kg and has its centre
of mass at y = −0.01874 m, β₀ = −0.0620 is inconsistent with an angle OFE of zero, and the angle EHA
is π − 1.348.

OpenSim 3.2 needed 0.384 s for it (Intel i5-4570).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

import varimech as vm

from .outcome import Check, Checked, Figures, Settings, check_point, legend_beside, row_at

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SETTINGS: Settings = {"tolerance": 1e-10}
DURATION = 0.05
TORQUE = 0.033
EXACT_START, ROUNDED_START = -0.06171389001427645, -0.0620
"""β₀ (rad)."""

GROUND = {"O": (0.0, 0.0), "A": (-0.06934, -0.00227), "B": (-0.03635, 0.03273), "C": (0.014, 0.072)}
"""Points of the ground (m)."""
LENGTHS = {"FE": 0.028, "BE": 0.035, "EG": 0.020, "AG": 0.040, "HE": 0.020, "AH": 0.040}
"""Distances between joints of a body (m), besides rr."""
POINT_F = {
    0.01: (-0.003890552389, 0.005819244119),
    0.03: (-0.006963039427, -0.000718388431),
    0.05: (-0.005208504722, 0.004676695260),
}
POINT_F_ROUNDED = (-0.005158985250, 0.004731265284)
"""F (m) at 0.05 s from the rounded initial angle."""
CRANK_ANGLE = 15.8107711951540
"""β (rad) at 0.03 s, converged."""
TEST_SET = {
    "β": 15.81077119629904,
    "Θ": -15.75637105984298,
    "γ": 0.04082224013073101,
    "Φ": -0.5347301163226948,
    "δ": 0.5244099658805304,
    "Ω": 0.5347301163226948,
    "ε": 1.048080741042263,
}
"""Angles (rad) at 0.03 s."""


def mechanism(
    start: float = EXACT_START, *, pivots: Sequence[str] = (), lengths: bool = False
) -> vm.Mechanism:
    """The mechanism, initially at rest with an angle β₀ (rad) of body OF.

    Parameters: stiffness k and natural length l0 of the spring, the motor's torque, the distance rr
    from O to F (mass, centre of mass and inertia of OF stay, and so does β₀), and the mass of AG
    (its inertia about the centre of mass stays). For those of the ground points O, A, B and C that
    are named in `pivots`, coordinates x_A, y_A, … are parameters as well, and with `lengths` so are
    the distances between joints L_FE, L_BE, … (masses, centres of mass and inertias stay).
    """
    m = vm.Mechanism("andrews", dimension=2)
    k = m.parameter("k", 4530.0, unit="N/m")
    l0 = m.parameter("l0", 0.07785, unit="m")
    torque = m.parameter("torque", TORQUE, unit="N·m")
    rr = m.parameter("rr", 0.007, unit="m")
    m_AG = m.parameter("m_AG", 0.0705, unit="kg")

    for name, position in GROUND.items():
        is_parameter = name in pivots
        m.ground_point(
            name,
            [
                m.parameter(f"{c}_{name}", x, unit="m") if is_parameter else x
                for c, x in zip("xy", position, strict=True)
            ],
        )

    L = {
        name: m.parameter(f"L_{name}", x, unit="m") if lengths else x for name, x in LENGTHS.items()
    }

    def body(
        name: str, mass: object, inertia: float, com: tuple[float, float], **points: object
    ) -> None:
        outline = (*points, *tuple(points)[:1]) if len(points) > 2 else None
        m.body(name, mass=mass, inertia=inertia, com=com, points=points, spine=outline)

    body("OF", 0.04325, 2.194e-6, (0.00092, 0), O=(0, 0), F=(rr, 0))
    body("FE", 0.00365, 4.410e-7, (-0.0115, 0), F=(0, 0), E=(-L["FE"], 0))
    body("BDE", 0.02373, 5.255e-6, (0.01043, -0.01874), B=(0, 0), E=(0, -L["BE"]), D=(0.02, -0.018))
    body("EG", 0.00706, 5.667e-7, (0, 0.01421), E=(0, 0), G=(0, L["EG"]))
    body("AG", m_AG, 1.169e-5, (0.02308, 0.00916), A=(0, 0), G=(L["AG"], 0))
    body("HE", 0.00706, 5.667e-7, (-0.01421, 0), E=(0, 0), H=(-L["HE"], 0))
    body("AH", 0.05498, 1.912e-5, (-0.00449, -0.01228), A=(0, 0), H=(0, -L["AH"]))
    for pin in ("O", "F", "B"):
        m.revolute(pin)
    for other in ("BDE", "EG", "HE"):
        m.revolute(f"E {other}", "FE.E", f"{other}.E")
    for other in ("AG", "AH"):
        m.revolute(f"A {other}", "ground.A", f"{other}.A")
    for pin in ("G", "H"):
        m.revolute(pin)
    m.spring("spring", "BDE.D", "ground.C", stiffness=k, natural_length=l0)
    m.torque("motor", "OF", torque)
    γ, Φ, δ, Ω, ε = 0.45528, 0.22267, 0.48736, -0.22267, 1.23055
    m.start(
        angle={"OF": start},
        near={"FE": start, "BDE": γ, "EG": Φ + δ, "AG": δ, "HE": Ω + ε, "AH": ε},
    )
    return m


def run(settings: Settings = SETTINGS) -> Checked:
    """Solve the benchmark from both initial states."""
    exact = mechanism().simulate(DURATION, **settings)
    rounded = mechanism(ROUNDED_START).simulate(DURATION, **settings)
    checks = [c for t, F in POINT_F.items() for c in check_point(exact, "F", t, F, 1e-10)]
    computed = angles(exact, 0.03)
    checks.append(Check("β at 0.03 s (rad)", computed["β"], CRANK_ANGLE, 5e-9))
    checks += [
        Check(f"{name} of the test set at 0.03 s (rad)", computed[name], x, 5e-9)
        for name, x in TEST_SET.items()
    ]
    work = TORQUE * float(np.ptp(exact.angle("OF").to_numpy()))
    drift = float(np.abs(energy_balance(exact)).max()) / work
    checks.append(Check("largest ΔU / supplied energy", drift, 0.0, 1e-8))
    checks += check_point(rounded, "F", 0.05, POINT_F_ROUNDED, 1e-10, called="F from β₀ = −0.0620")
    return Checked("andrews", (exact, rounded), tuple(checks), lambda: figures(exact))


def angles(run: vm.Run, time: float) -> dict[str, float]:
    """Relative angles of the test set (rad) at a stored time (s)."""
    row = row_at(run, time)
    of = {
        body: float(run.angle(body).to_numpy()[row])
        for body in ("OF", "FE", "BDE", "EG", "AG", "HE", "AH")
    }
    return {
        "β": of["OF"],
        "Θ": of["FE"] - of["OF"],
        "γ": of["BDE"],
        "Φ": of["EG"] - of["AG"],
        "δ": of["AG"],
        "Ω": of["HE"] - of["AH"],
        "ε": of["AH"],
    }


def energy_balance(run: vm.Run) -> np.ndarray:
    """ΔU (J) at all stored times."""
    energy, β = run.energy().to_numpy(), run.angle("OF").to_numpy()
    return energy - energy[0] - TORQUE * (β - β[0])


def figures(run: vm.Run) -> Figures:
    """Figures 9 and 10 of the library's page on OpenSim, and the mechanism."""
    t, energy, β = run.time, run.energy().to_numpy(), run.angle("OF").to_numpy()
    theory = [
        vm.Line("supplied, τ (β − β₀)", t, TORQUE * (β - β[0])),
        vm.Line("theory", t, np.zeros_like(t)),
    ]
    balance = [
        vm.Panel("energy (J)", [vm.Line("E − E₀", t, energy - energy[0]), theory[0]]),
        vm.Panel("ΔU (J)", [vm.Line("computed", t, energy_balance(run)), theory[1]]),
    ]
    F = 1e3 * run.position("F").transpose("time", "component").to_numpy()
    times, places = np.array(list(POINT_F)), 1e3 * np.array(list(POINT_F.values()))
    displacement = [
        vm.Panel(
            f"{c} of F (mm)",
            [vm.Line("computed", t, F[:, k]), vm.Line("reference", times, places[:, k])],
        )
        for k, c in enumerate(("x", "y"))
    ]
    return {
        "figure9_energy": _second_line(
            vm.line_figure(balance, title="Energy balance"), linestyle="--"
        ),
        "figure10_point_f": _second_line(
            vm.line_figure(displacement, title="Point F"), linestyle="none", marker="o"
        ),
        "mechanism": run.draw(
            trace="F", title="Andrews' squeezing mechanism in its initial position"
        ),
    }


def _second_line(figure: Figure, **options: object) -> Figure:
    """Draw the second line of each panel, the expected one, in black with given options; update
    legends.
    """
    for ax in figure.axes:
        ax.lines[1].set(color="black", **options)
        legend_beside(ax)
    return figure
