"""The five-bar mechanism with a flexible bar: sensitivities to the properties of the beam, and a
comparison with the formulas of a paper.

J. C. García Orden, J. J. Arribas Montejo, F. Gabaldón Castillo and D. Dopico, "Sensitivity analysis
of flexible multibody systems with nonlinear beams", CILAMCE 2023: bar 12 of the five-bar is a
rotation-free beam, here and there of two segments, a₀ = 1.0628e-4 m², I = 9.4125e-10 m⁴, E = 206.94
GPa, ρ = 7829 kg/m³ (1.500 kg, like the rigid bar). Parameters are E, a₀, I, ρ and two lengths:

    L0   the unstressed length alone: stretches and stiffnesses change; the mass and the initial
         state do not
    L    the geometry changes with it: unstressed length, mass, and the initial state, in which
         the angles of bar A1 and of the beam are constant

The paper differentiates the bending force with respect to L0 as if φ = |a × b| changed with L0,
although it depends on the nodes alone. The force is −α φ ∂φ/∂q with α ∝ L0⁻⁵, so its derivative is
−(5/L0) times itself. The paper prints the derivative of a force with α ∝ L0² (its equation 18); its
own terms (16, 17) add up to that of α ∝ L0⁻². `formula` selects these variants, too: the nominal
stiffness is the same, with that power of L0.

Checked after 0.5 s, for this beam and for one a hundred times softer, for which the three formulas
differ even in sign: positions of points 1 and 2, and derivatives of x₁ times their parameters. The
references were computed independently, in minimal coordinates, by complex steps through a scheme of
order 8 with equal steps. Their errors, estimated by halving the step: positions 1e-13 m,
derivatives 3e-10 m, that with respect to L0 of the stiff beam 2e-7 m, since it oscillates with
5,900 rad/s when its unstressed length alone changes
(`tests/support/flexible_five_bar_reference.py`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import varimech as vm

from . import outcome as o

SETTINGS: o.Settings = {"tolerance": 1e-10}
DURATION = 0.5
DIGITS = 1e-6
"""Relative tolerance of derivatives."""
STIFF, SOFT = 206.94e9, 2.0694e9
"""Young's modulus (Pa)."""
LENGTH = math.sqrt(3.25)
PARAMETERS = ("E", "a0", "I", "rho", "L0", "L")
POWERS = {"exact": -5, "printed": 2, "summed": -2}
"""Formula → power of L0 in the differentiated bending stiffness."""
PLACES = {
    STIFF: {
        "1": (-0.6944977954625906, -1.2319386397453413),
        "2": (0.6092769138001706, -2.476962798712572),
    },
    SOFT: {
        "1": (-0.2655377990087366, -1.3890607176425356),
        "2": (0.39693479001825605, -2.2287939919712345),
    },
}
"""Young's modulus → point → position (m)."""
DERIVATIVES = {
    STIFF: {
        "E": -0.0007657299819006687,
        "a0": 0.1800428649744619,
        "I": -0.0008139096985012835,
        "rho": 0.17999468525786147,
        "L0": -0.5722839657352872,
        "L": -0.49707917025225384,
    },
    SOFT: {
        "E": -0.13094387251651812,
        "a0": 0.3560177929383538,
        "I": -0.13094450999595952,
        "rho": 0.3560171554589132,
        "L0": 0.20898648124775215,
        "L": 0.311531233856168,
    },
}
"""Young's modulus → parameter p → p ∂x₁/∂p (m)."""
WRONG = {"printed": -0.7076250887235342, "summed": -0.18384704873969446}
"""Formula of the paper → L0 ∂x₁/∂L0 (m) of the soft beam."""


def mechanism(
    segments: int = 2,
    *,
    E: float = STIFF,
    material: str = "logarithmic",
    formula: str = "exact",
    rigid: bool = False,
) -> vm.Mechanism:
    """The mechanism; with `rigid`, a uniform bar of the same mass replaces the beam."""
    m = vm.Mechanism("rigid five-bar" if rigid else "flexible five-bar", gravity=(0, -9.81))
    modulus = m.parameter("E", E, unit="Pa")
    a0 = m.parameter("a0", 1.0628e-4, unit="m²")
    inertia = m.parameter("I", 9.4125e-10, unit="m⁴")
    rho = m.parameter("rho", 7829, unit="kg/m³")
    L0 = m.parameter("L0", LENGTH, unit="m")
    L = m.parameter("L", LENGTH, unit="m")
    m.ground_point("A", (0, 0))
    m.ground_point("B", (1, 0))
    m.bar("A1", "A", "1", length=math.sqrt(2), mass=1.0)
    if rigid:
        m.bar("12", "1", "2", length=L, mass=rho * a0 * L)
    else:
        natural_length = L0 + L - LENGTH
        m.beam(
            "12",
            "1",
            "2",
            segments=segments,
            E=modulus,
            area=a0,
            inertia=inertia * (natural_length / LENGTH) ** (POWERS[formula] + 5),
            mass=rho * a0 * L,
            length=L,
            natural_length=natural_length,
            material=material,
        )
    m.bar("23", "2", "3", length=LENGTH, mass=1.5)
    m.bar("3B", "3", "B", length=math.sqrt(2), mass=1.0)
    for joint in ("A", "1", "2", "3", "B"):
        m.revolute(joint)
    m.spring("s1", "1", "B", stiffness=100, natural_length=math.sqrt(5))
    m.spring("s2", "2", "B", stiffness=100, natural_length=math.sqrt(4.25))
    m.start(angle={"A1": -3 * math.pi / 4, "12": math.atan2(-1, 1.5)}, near={"3": (2, -1)})
    return m


def scaled_derivative(run: vm.Run, parameter: str, time: float) -> float:
    """p ∂x₁/∂p (m) at a time (s)."""
    derivative = run.position("1", wrt=parameter).sel(component="x").to_numpy()[o.row_at(run, time)]
    return float(derivative) * run.info["parameters"][parameter]


def run(settings: o.Settings = SETTINGS) -> o.Checked:
    """Solve the benchmark: both beams with all parameters, and the soft one also with the formulas
    of the paper.
    """
    stored = o.stored_every(settings, 0.01)

    def solved(E: float, wrt: tuple[str, ...], formula: str = "exact") -> vm.Run:
        return mechanism(E=E, formula=formula).sensitivity((), wrt, duration=DURATION, **stored).run

    runs = {E: solved(E, PARAMETERS) for E in (STIFF, SOFT)}
    wrong = {formula: solved(SOFT, ("L0",), formula) for formula in WRONG}
    checks: list[o.Check] = []
    for E, motion in runs.items():
        for point, place in PLACES[E].items():
            checks += o.check_point(
                motion, point, DURATION, place, 1e-9, called=f"{point}, E = {E / 1e9:g} GPa,"
            )
        for p, reference in DERIVATIVES[E].items():
            name, value = (
                f"{p} ∂x₁/∂{p}, E = {E / 1e9:g} GPa (m)",
                scaled_derivative(motion, p, DURATION),
            )
            checks.append(o.Check(name, value, reference, DIGITS * abs(reference)))
        checks.append(o.check_energy(motion, 1e-9, f", E = {E / 1e9:g} GPa"))
    for formula, reference in WRONG.items():
        value = scaled_derivative(wrong[formula], "L0", DURATION)
        checks.append(
            o.Check(f"L0 ∂x₁/∂L0, {formula} formula (m)", value, reference, DIGITS * abs(reference))
        )
    return o.Checked(
        "flexible-five-bar", (*runs.values(), *wrong.values()), tuple(checks), lambda: figures(runs)
    )


def figures(runs: Mapping[float, vm.Run]) -> o.Figures:
    """Derivatives, bending moments and energies of both beams, and the motion of the soft one."""
    panels = []
    for E, r in runs.items():
        lines = [
            vm.Line(
                label,
                r.time,
                r.info["parameters"][p] * r.position("1", wrt=p).sel(component="x").to_numpy(),
            )
            for p, label in (("E", "E, nearly I"), ("rho", "rho, nearly a0"), ("L", "L"))
        ]
        panels.append(vm.Panel(f"p ∂x₁/∂p (m), E = {E / 1e9:g} GPa", lines))
    moments = [
        vm.Line(f"E = {E / 1e9:g} GPa", r.time, r.bending_moment("12").sel(node=1).to_numpy())
        for E, r in runs.items()
    ]
    soft = runs[SOFT]
    motion = [vm.Panel("bending moment (N·m)", moments), o.energy_panel(soft)]
    drawing = soft.draw(
        times=(0.0, 0.15, 0.3, 0.5),
        trace="12.n1",
        title="Flexible five-bar, E = 2.0694 GPa, at 0.5 s and before",
    )
    return {
        "derivatives": vm.line_figure(panels, title="Flexible five-bar: derivatives"),
        "motion": vm.line_figure(
            motion, title="Flexible five-bar: bending, and energies of the soft one"
        ),
        "mechanism": drawing,
    }
