"""Flexible mechanisms: what the beam is worth, steps and times, and the question that a paper left
open; docs/flexible.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from flexible_question import IMAGES, NAMES, question, x1
from pages import DOCS, machine, markdown, show
from rich.console import Console

import varimech as vm
from varimech.benchmarks import flexible_slider_crank
from varimech.benchmarks.flexible_five_bar import (
    LENGTH,
    PARAMETERS,
    SOFT,
    STIFF,
    mechanism,
    scaled_derivative,
)

PAGE = DOCS / "flexible.md"
SEGMENTS = (2, 4, 8, 16, 32, 64)
LENGTHS = (10, 30, 100, 250, 500, 1000, 2000)
"""Segments of the beam that is timed."""


# what the authors announced


def parameters() -> str:
    """All parameters, over time."""
    run = (
        mechanism(16)
        .sensitivity((), PARAMETERS, duration=5.0, step=5e-4, every=4, backend="native")
        .run
    )
    panels = [
        vm.Panel(f"{NAMES[p]} ∂x₁/∂{NAMES[p]} (m)", [vm.Line("", run.time, x1(run, p))])
        for p in ("E", "a0", "I", "rho", "L")
    ]
    vm.line_figure(panels, title="Flexible five-bar, 16 segments: all parameters").savefig(
        IMAGES / "flexible_parameters.png"
    )
    rows = []
    for n in SEGMENTS:
        computed = (
            mechanism(n)
            .sensitivity((), PARAMETERS, duration=1.0, step=1e-4, every=100, backend="native")
            .run
        )
        values = [
            f"{scaled_derivative(computed, p, 1.0):.6f}" for p in ("E", "a0", "I", "rho", "L")
        ]
        rows.append([str(n), f"{x1(computed)[-1]:.6f}", *values])
    headings = [
        "n",
        "x₁ (m)",
        *[f"{NAMES[p]} ∂x₁/∂{NAMES[p]}" for p in ("E", "a0", "I", "rho", "L")],
    ]
    show("Segments, t = 1 s", headings, rows, 1)
    soft = []
    for E in (STIFF, STIFF / 10, SOFT):
        computed = (
            mechanism(16, E=E)
            .sensitivity((), PARAMETERS, duration=2.0, step=2e-4, every=10, backend="native")
            .run
        )
        deflection = float(np.abs(_deflection(computed)).max())
        soft.append((E, computed, deflection))
    panel = [vm.Line(f"{E / 1e9:.4g} GPa", r.time, x1(r, "E")) for E, r, _ in soft]
    bent = [vm.Line(f"{E / 1e9:.4g} GPa", r.time, _deflection(r)) for E, r, _ in soft]
    title = "Flexible five-bar, 16 segments: softer beams"
    picture = vm.line_figure(
        [vm.Panel("E ∂x₁/∂E (m)", panel), vm.Panel("deflection at mid-span (m)", bent)], title=title
    )
    picture.savefig(IMAGES / "flexible_softer.png")
    drawing = soft[-1][1].draw(
        times=(0.0, 0.2, 0.35, 0.5),
        title="Flexible five-bar, E = 2.0694 GPa, 16 segments, at 0.5 s and before",
    )
    drawing.savefig(IMAGES / "flexible_soft_motion.png")
    deflections = [f"{1e3 * d:.3g} mm for {E / 1e9:.4g} GPa" for E, _, d in soft]
    deflections[0] = deflections[0].replace("for", "for E =")
    return f"""\
## All parameters, more segments, softer beams

The figure shows the derivatives of the five-bar's motion with respect to all parameters, computed by direct differentiation. The derivative with
respect to the density contains the term M' q̈, where M' is the derivative of the mass matrix. It is accurate because the computed accelerations are
free of numerical noise.

![All parameters](images/flexible_parameters.png)

The table shows the x coordinate of point 1, x₁, at t = 1 s for several numbers of segments (ALI3-P, h = 0.1 ms). It also shows the derivatives of x₁, each
multiplied by the value of the parameter (m):

{markdown(headings, rows, 1)}

With two segments, positions are accurate to 2e-4 m, and derivatives with respect to mass and geometry to 1 %. Derivatives with respect to E and I depend on
the vibrations of the beam, and therefore need 16 segments or more: with two segments, the frequencies of these vibrations have an error of 22 %.

![Softer beams](images/flexible_softer.png)

![The motion of the softest beam](images/flexible_soft_motion.png)

The bar is {LENGTH:.2f} m long. Its largest mid-span deflection is {deflections[0]}, {deflections[1]} and {deflections[2]}.
"""


def _deflection(run: vm.Run) -> np.ndarray:
    """Of the middle node from the line between the ends (m)."""
    one, two, middle = (
        run.position(f"12.{p}").transpose("time", "component").to_numpy() for p in ("1", "2", "n8")
    )
    c = two - one
    return np.asarray(
        (c[:, 0] * (middle - one)[:, 1] - c[:, 1] * (middle - one)[:, 0])
        / np.linalg.norm(c, axis=1)
    )


# what the element is worth


def straight(n: int, ends: str, **options: Any) -> vm.Mechanism:
    """A beam of unit length, stiffness and mass per length, hardly extensible."""
    m = vm.Mechanism("beam", gravity=(0, -options.pop("gravity", 0.0)))
    m.ground_point("A", (0, 0))
    m.ground_point("B", (1, 0))
    m.beam("b", "A", "B", segments=n, E=1.0, area=1e6, inertia=1.0, mass=1.0, length=1.0, **options)
    if ends == "simply supported":
        m.revolute("A", "ground.A", "b.A")
        m.point_on_line("B", "ground.B", "b.B", axis=(1, 0))
    else:
        m.clamp("A", "ground.A", "b.A", direction=(1, 0))
    if ends == "clamped":
        m.clamp("B", "ground.B", "b.B", direction=(-1, 0))
    return m


def statics() -> str:
    """Deflections and frequencies over the number of segments, beside those of Euler
    and Bernoulli.
    """
    tiny = 1e-7

    def deflection(n: int, ends: str, load: str) -> float:
        m = straight(n, ends, gravity=tiny if load == "uniform" else 0.0)
        point = "b.B" if ends == "cantilever" else f"b.n{n // 2}"
        if load == "point":
            m.force("P", point, (0, -tiny))
        elif load == "moment":
            m.torque("M", "b.B", -tiny)
        return -float(m.equilibrium().position(point).sel(component="y").item()) / tiny

    cases: dict[str, tuple[str, str, float]] = {
        "simply supported, mid load": ("simply supported", "point", 1 / 48),
        "simply supported, uniform": ("simply supported", "uniform", 5 / 384),
        "cantilever, end load": ("cantilever", "point", 1 / 3),
        "cantilever, end moment": ("cantilever", "moment", 1 / 2),
        "cantilever, uniform": ("cantilever", "uniform", 1 / 8),
        "clamped, mid load": ("clamped", "point", 1 / 192),
        "clamped, uniform": ("clamped", "uniform", 1 / 384),
    }
    rows = [
        [name, *[f"{deflection(n, ends, load) / exact:.5f}" for n in SEGMENTS]]
        for name, (ends, load, exact) in cases.items()
    ]
    headings = ["deflection / exact", *[f"n = {n}" for n in SEGMENTS]]
    show("Statics", headings, rows, 1)
    roots = {
        "simply supported": math.pi,
        "cantilever": 1.875104068711961,
        "clamped": 4.730040744862704,
    }
    frequency_rows = [
        [f"{ends}, {masses}", *[f"{_first(n, ends, masses) / root**2:.5f}" for n in SEGMENTS]]
        for ends, root in roots.items()
        for masses in ("consistent", "lumped")
    ]
    frequency_headings = ["first frequency / exact", *headings[1:]]
    show("Frequencies", frequency_headings, frequency_rows, 1)
    return f"""\
## Accuracy of the element

The tables show deflections under small loads (`m.equilibrium()`) and first natural frequencies (`m.frequencies()`) for n segments. All values are divided by
the values of Euler–Bernoulli theory:

{markdown(headings, rows, 1)}
{markdown(frequency_headings, frequency_rows, 1)}

The bending potential is calibrated for a simply supported beam under a load at mid-span; in this case, the deflection is exact if n is even. In all
other cases, the error decreases as 1/n².

A clamped beam is modelled as one half of a beam that is symmetric about the clamp, which gives the clamp a
stiffness of 2 E I (1 + 2/n²)/ℓ³. Under an end load, the end deflection of a cantilever is therefore (2 n² + 1)/(2 n² + 4) times the exact value; the error is
less than 0.1 % for n ≥ 39. The deflection of beams clamped at both ends is too large by a factor of about 1 + 6/n².
"""


def _first(n: int, ends: str, masses: str) -> float:
    return float(straight(n, ends, masses=masses).frequencies(1).item()) * 2 * math.pi


# steps and times


def steps() -> str:
    """Which steps each formulation takes, on the five-bar over 5 s."""
    pure = vm.Penalty(factor=1e7, xi=0.0, inertial=False)
    ways: dict[str, dict[str, Any]] = {
        "ALI3-P, trapezoidal": {},
        "ALI3-P, generalised-α": {"integrator": "generalised-alpha"},
        "penalty, trapezoidal": {"formulation": "penalty"},
        "pure penalty, trapezoidal": {"formulation": pure},
        "index 1, rk4": {"integrator": "rk4"},
        "index 1, dop853": {"integrator": "dop853"},
    }
    tried = (1e-2, 5e-3, 2e-3, 1e-3, 1e-4, 1e-5)
    counts = (2, 8, 32)
    reference = {
        n: mechanism(n)
        .simulate(1.0, step=1e-5, every=100000, backend="native")
        .position("1")
        .to_numpy()[-1]
        for n in counts
    }

    def cell(n: int, h: float, scheme: Mapping[str, Any]) -> str:
        try:
            run = mechanism(n).simulate(
                1.0, step=h, every=round(1.0 / h), backend="native", **scheme
            )
        except vm.SimulationError as error:
            return f"stops at {error.time:.2g} s"
        return f"{np.linalg.norm(run.position('1').to_numpy()[-1] - reference[n]):.0e}"

    rows = [
        [name, str(n), *[cell(n, h, scheme) for h in tried]]
        for name, scheme in ways.items()
        for n in counts
    ]
    headings = ["method", "n", *[f"h = {h:g} s" for h in tried]]
    show("Error of point 1 after 1 s (m)", headings, rows, 2)
    fastest = ", ".join(f"{8.0e4 / 8 * n:.2g} (n = {n})" for n in counts)
    return f"""\
## Axial vibrations and steps

The segments vibrate axially, much faster than the mechanism moves. The frequencies of these vibrations reach √12 n/L √(E/ρ) (with lumped masses,
√4 n/L √(E/ρ)). In the five-bar, they reach {fastest} rad/s, whereas the mechanism moves at about 3 rad/s. The table shows
the error of the position of point 1 after 1 s (m). The reference solution was computed with ALI3-P and the trapezoidal rule with steps of 10 µs:

{markdown(headings, rows, 2)}

- **Implicit integrators** (selected by `step=` alone) need not resolve these vibrations, so you can choose h for the motion of interest.
  For example, h = 2 ms resolves a bending vibration of 61 rad/s to 1 %. With many segments and long steps, the Newton iteration eventually
  fails, because the trapezoidal rule conserves the energy of the axial vibrations. If this happens, halve h or use `integrator="generalised-alpha"`, which
  damps the vibrations.
- **Explicit integrators** must resolve these vibrations. The highest frequency ω limits the step h: h ω ≤ 2.8 (`rk4`), 6.0 (`dop853`), 1.1 (`dopri5`).
  With `tolerance=`, Varimech chooses such steps automatically; use this option for few segments and accuracies of 1e-10 or better. Lumped masses allow steps
  that are longer by a factor of √3.
- **Penalty formulations** add vibrations, in which the constraints act as springs. With the Φ̈ term (the default), these vibrations are slow. In the pure
  penalty formulation of the paper, they are fast, so this formulation is suitable only for implicit integrators. The vibrations also disturb the
  accelerations; for this reason, the paper does not consider the density as a parameter. ALI3-P removes such vibrations by projection.
- **If a run diverges**, it stops with an error. The error names the beam, its highest frequency and the required step, or suggests an integrator that does
  not need such a short step.
"""


def times() -> str:
    """Time per step over the number of segments."""

    def per_step(m: vm.Mechanism, integrator: str, *, wrt: bool = False) -> tuple[float, float]:
        """Seconds, and Newton iterations."""
        settings: dict[str, Any] = {
            "step": 1e-3,
            "every": 100,
            "backend": "native",
            "integrator": integrator,
        }
        runs = [
            m.sensitivity((), ["E"], duration=0.1, **settings).run
            if wrt
            else m.simulate(0.1, **settings)
            for _ in range(7)
        ]
        return min(r.info["seconds"]["run"] for r in runs) / 100, runs[0].info["iterations"] / 100

    rows = []
    for n in LENGTHS:
        m = vm.Mechanism("beam", gravity=(0, -9.81))
        m.ground_point("A", (0, 0))
        E = m.parameter("E", 2e9, unit="Pa")
        m.beam("b", "A", "tip", segments=n, E=E, section=vm.circle(0.02), density=7800, length=1.0)
        m.revolute("A")
        m.start(angle={"b": 0.0})
        cells = []
        for integrator in ("trapezoidal", "generalised-alpha"):
            seconds, iterations = per_step(m, integrator)
            derived, _ = per_step(m, integrator, wrt=True)
            cells += [f"{1e6 * seconds:,.3g} ({iterations:.1f})", f"{1e6 * derived:,.3g}"]
        rows.append([f"{n:,}", *cells])
    headings = ["segments", "trapezoidal", "with ∂/∂E", "generalised-α", "with ∂/∂E"]
    show("µs per step (iterations)", headings, rows, 0)
    return f"""\
## Time per step

In this example, a beam pinned at one end falls from a horizontal position (planar, ALI3-P, h = 1 ms). The table shows the time per step in µs for compiled code
on one thread (the fastest of seven runs of 100 steps). The number of Newton iterations per step is in parentheses:

{markdown(headings, rows, 0)}

The time per iteration grows linearly with n. The sudden load excites vibrations of individual segments, which the trapezoidal rule does not damp. These
vibrations change sign from one step to the next, so beams with more segments need more iterations.
"""


def compare_flexible() -> None:
    """Measure, and write the page."""
    parts: list[Callable[[], str]] = [statics, steps, times, parameters, question]
    with Console().status("flexible mechanisms"):
        texts = [part() for part in parts]
    from importlib.metadata import version

    introduction = """\
# Flexible mechanisms

`m.beam(…)` models a flexible bar by a rotation-free beam (J. C. García Orden and J. Cuenca Queipo, J. Comput. Nonlinear Dyn. 12 (2017) 051005). The
positions of its nodes are natural coordinates. The beam can stretch and bend during large motions; shear and torsion are not modelled.

This page shows how to choose the number of segments and the step size. The advice is based on the measured accuracy of deflections and frequencies of single
beams, and of the motion of a five-bar whose bar 12 is flexible (benchmark `flexible-five-bar`). The last section answers a question about sensitivities that
J. C. García Orden, J. J. Arribas Montejo, F. Gabaldón Castillo and D. Dopico (CILAMCE 2023) left open. `python tools/compare/compare.py flexible` repeats
the measurements on this page; `make compare` repeats the measurements on all pages.

## Number of segments and step

| purpose | recommended choice |
|---|---|
| the motion, and derivatives with respect to masses and lengths | 2 segments: in the five-bar below, positions are accurate to 2e-4 m and derivatives to 1 % |
| deflections and first frequencies with an accuracy of about 3 % | 8 segments; 16 segments for beams clamped at both ends |
| derivatives with respect to E and I, higher frequencies | 16 segments or more |
| large bending | enough segments to keep the angle between adjacent segments well below 90° |
| runs with fixed steps | `step=` (ALI3-P); fifty steps per period of the motion of interest give an error of 1 %. Axial vibrations need not be resolved |
| long runs with many segments | `step=` with `integrator="generalised-alpha"`, which damps axial vibrations |
| high accuracy | few segments, and `tolerance=`; the steps then resolve all vibrations |

"""
    crank = flexible_slider_crank.run().figures()
    for name in ("mechanism", "motion"):
        crank[name].savefig(IMAGES / f"flexible_slider_crank_{name}.png")
    spatial = """\
## Spatial beams

The benchmark `flexible-slider-crank` is a spatial slider-crank with a flexible rod. The command `varimech benchmark flexible-slider-crank`
compares its motion, and the derivatives with respect to all five parameters, with an independent solution.

![Spatial slider-crank with a flexible rod](images/flexible_slider_crank_mechanism.png)

![Its motion, and the deflection of the rod](images/flexible_slider_crank_motion.png)
"""
    versions = {name: version(name) for name in ("varimech", "casadi", "numpy")}
    order = [*texts[:4], spatial, texts[4]]
    PAGE.write_text(introduction + "\n".join(order) + "\n" + machine(versions), encoding="utf-8")
    Console().print(f"wrote {PAGE.name}")
