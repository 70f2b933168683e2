"""The question that a paper left open about sensitivities of a flexible five-bar: its Figures 3 and
4 anew, and which of their curves are right.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from pages import DOCS, markdown, show

import varimech as vm
from varimech.benchmarks.flexible_five_bar import (
    DERIVATIVES,
    PARAMETERS,
    POWERS,
    SOFT,
    STIFF,
    mechanism,
    scaled_derivative,
)
from varimech.benchmarks.outcome import row_at

IMAGES = DOCS / "images"
TIMES = (0.5, 1.0, 2.0, 5.0)
EXACT: dict[str, Any] = {
    "duration": TIMES[-1],
    "tolerance": 1e-9,
    "output": 2e-4,
    "backend": "native",
}
NAMES = {"E": "E", "a0": "a₀", "I": "I", "rho": "ρ", "L0": "L0", "L": "L"}
COMPARED = ("E", "L", "L0")
"""Parameters whose derivatives are set against differences."""


@dataclass(frozen=True)
class Answers:
    """All runs that the question takes."""

    exact: vm.Run
    wrong: dict[str, vm.Run]
    """By the formulas of the paper."""
    soft: dict[str, vm.Run]
    """A beam a hundred times softer, by all formulas."""
    rigid: vm.Run
    raised: dict[str, np.ndarray]
    """Derivatives by differences of 0.1 %."""
    central: dict[str, vm.Run]

    @property
    def as_printed(self) -> np.ndarray:
        """L ∂x₁/∂L by the printed formula, without what the mass of the bar adds: M = ρ a₀ L is
        kept.
        """
        return np.asarray(x1(self.wrong["printed"], "L") - x1(self.wrong["printed"], "rho"))


def answers() -> Answers:
    """Run them."""

    def central(p: str) -> vm.Run:
        return (
            mechanism()
            .sensitivity((), [p], method="finite-difference", relative_steps=(1e-6,), **EXACT)
            .run
        )

    return Answers(
        mechanism().sensitivity((), PARAMETERS, **EXACT).run,
        {
            f: mechanism(formula=f).sensitivity((), ["L0", "L", "rho"], **EXACT).run
            for f in ("printed", "summed")
        },
        {f: mechanism(E=SOFT, formula=f).sensitivity((), ["L0"], **EXACT).run for f in POWERS},
        mechanism(rigid=True).sensitivity((), ["L"], **EXACT).run,
        {p: one_sided(p) for p in COMPARED},
        {p: central(p) for p in COMPARED},
    )


def x1(run: vm.Run, wrt: str | None = None) -> np.ndarray:
    """x₁ over time, or its derivative times the parameter."""
    computed: np.ndarray = run.position("1", wrt=wrt).sel(component="x").to_numpy()
    return computed if wrt is None else computed * run.info["parameters"][wrt]


def one_sided(parameter: str, E: float = STIFF) -> np.ndarray:
    """The derivative of x₁, times the parameter, as the paper takes it: from a second run with the
    parameter raised by 0.1 %.
    """
    m = mechanism(E=E)
    raised = {parameter: m.parameters[parameter].value * 1.001}
    plain, other = (x1(m.simulate(parameters=p, **EXACT)) for p in (None, raised))
    return np.asarray((other - plain) / 1e-3)


def smooth(y: np.ndarray, rows: int = 100) -> np.ndarray:
    """Mean over so many rows about each."""
    padded = np.pad(y, rows // 2, mode="edge")
    return np.convolve(padded, np.ones(rows + 1) / (rows + 1), mode="valid")


def draw(a: Answers) -> None:
    """Figures 3 and 4 anew, with what is exact beside them."""
    t = a.exact.time
    modulus = [
        vm.Line("direct", t, x1(a.exact, "E")),
        vm.Line("one-sided, 0.1 %", t, a.raised["E"]),
    ]
    geometry = [
        vm.Line("direct", t, x1(a.exact, "L")),
        vm.Line("one-sided, 0.1 %", t, a.raised["L"]),
        vm.Line("rigid bar, direct", a.rigid.time, x1(a.rigid, "L")),
        vm.Line("printed formula,\nwithout M'", t, a.as_printed),
    ]
    unstressed = [vm.Line("direct", t, smooth(x1(a.exact, "L0")))]
    unstressed += [vm.Line(f"{f} formula", t, smooth(x1(run, "L0"))) for f, run in a.wrong.items()]
    panels = [
        vm.Panel("E ∂x₁/∂E (m)", modulus),
        vm.Panel("L ∂x₁/∂L (m)", geometry),
        vm.Panel("L0 ∂x₁/∂L0 (m), mean of 20 ms", unstressed),
        vm.Panel(
            "the same, 100 times softer",
            [vm.Line(f"{f} formula", t, x1(run, "L0")) for f, run in a.soft.items()],
        ),
    ]
    picture = vm.line_figure(
        panels, title="Flexible five-bar, two segments: Figures 3 and 4 of the paper anew"
    )
    picture.savefig(IMAGES / "flexible_question.png")


def against_differences(a: Answers) -> str:
    """Direct derivatives, and how far differences are from them."""
    rows = []
    for p in COMPARED:
        for time in TIMES:
            value, k = scaled_derivative(a.exact, p, time), row_at(a.exact, time)
            shares = [
                (x, abs(x / value - 1))
                for x in (scaled_derivative(a.central[p], p, time), float(a.raised[p][k]))
            ]
            cells = [
                f"{x:.4e} ({share:.1%})" if share > 1e-3 else f"{x:.4e} ({share:.0e})"
                for x, share in shares
            ]
            rows.append([NAMES[p], f"{time:g}", f"{value:.6e}", *cells])
    headings = ["p", "t (s)", "direct", "central, 1e-6", "one-sided, 0.1 %"]
    show("p ∂x₁/∂p (m)", headings, rows, 2)
    return markdown(headings, rows, 2)


def by_formula(a: Answers) -> str:
    """Derivatives for the unstressed length by the three formulas."""
    rows = [
        [
            f"{E / 1e9:g} GPa",
            f"{time:g}",
            *[f"{scaled_derivative(runs[f], 'L0', time):.5f}" for f in POWERS],
        ]
        for E, runs in ((STIFF, {"exact": a.exact, **a.wrong}), (SOFT, a.soft))
        for time in TIMES
    ]
    headings = [
        "E",
        "t (s)",
        "exact (α ∝ L0⁻⁵)",
        "printed (18): α ∝ L0²",
        "sum of (16), (17): α ∝ L0⁻²",
    ]
    show("L0 ∂x₁/∂L0 (m) by three formulas", headings, rows, 2)
    return markdown(headings, rows, 2)


def question() -> str:
    """The part of the page about it."""
    a = answers()
    draw(a)
    differences, formulas = against_differences(a), by_formula(a)
    largest = float(np.abs(x1(a.exact, "E")).max()) / STIFF
    digits = abs(scaled_derivative(a.exact, "E", 0.5) / DERIVATIVES[STIFF]["E"] - 1)
    mass_kept, mass_moves = (curve[-1] for curve in (a.as_printed, x1(a.exact, "L")))
    penalty = (
        ", ".join(
            f"{_largest_by_penalty(factor, h):.1e}" for factor in (1e4, 1e7) for h in (1e-3, 1e-4)
        )
        + " m/Pa"
    )
    return f"""\
## An open question: which curve is correct

For the five-bar with a flexible bar 12, the paper (CILAMCE 2023) shows ∂x₁/∂E (its Figure 3) and ∂x₁/∂L0 (its Figure 4), where L0 is the unstressed length
of the bar. Each figure contains an "analytical" curve and a curve computed by finite differences, with the parameter increased by 0.1 %. In Figure 3, the
values of the analytical curve are considerably larger. In Figure 4, the two curves drift apart with time, and both are similar to the curve of a rigid bar.
The paper does not explain these differences. The following figure repeats the comparison and adds the exact derivatives:

![Figures 3 and 4 recomputed](images/flexible_question.png)

The table shows p ∂x₁/∂p in metres for each parameter p (n = 2), computed by direct differentiation, by central differences and by one-sided differences. L is
the length that defines the geometry. The relative differences from the direct derivatives are in parentheses.

{differences}

**E (Figure 3).** The derivative is small because E is large: at most {largest:.1e} m/Pa within 5 s, so E ∂x₁/∂E is at most a few millimetres.
Nevertheless, Varimech computes this derivative without loss of accuracy: central differences agree to within their own accuracy, and an independent solution in
minimal coordinates, differentiated by complex steps, agrees to {digits:.0e} (benchmark `flexible-five-bar`).

One-sided differences of 0.1 % have only one or two correct digits, and their error grows with time: the beam vibrates (61 rad/s in bending, 5,900 rad/s axially), and a change of E shifts the phase of these
vibrations. Even so, these differences are accurate enough to show that the smaller curve in Figure 3 is nearly correct. The larger curve, which reaches
1e-13 m/Pa, is not the derivative.

The cause is not in the paper's formulas for E, (12) and (14): they are correct, and Varimech uses them, too. The penalty
is not the cause either: with the pure penalty formulation, penalty factors of 1e4 and 1e7 and steps of 1 ms and 0.1 ms, the largest derivatives are {penalty}.

**The geometry (Figure 4).** Both curves are similar to the curve of a rigid bar, whose geometry changes with its length. The geometry must therefore also have
been changed for both curves of the figure, so they show L ∂x₁/∂L. One-sided differences of 0.1 % reproduce this derivative well: the first three lines in the
second panel of the figure above coincide.

The paper, however, differentiates only the forces with respect to L0 and omits the term M' q̈. (It does not consider the
density as a parameter, for which this term is also needed.) Without this term, and with (18) as printed, the analytical curve is the last line of the second
panel: {mass_kept:.2f} m instead of {mass_moves:.2f} m
after 5 s. This explains why the curves drift apart: the mass of the bar grows with its length, and the effect of the mass grows with time. If the curves
were computed as the paper describes, then the finite-difference curve is correct, and the analytical curve is not.

**The formula.** The bending force F depends on L0 only through α ∝ L0⁻⁵, because φ = |a × b| depends on the node positions and not on L0. The derivative of
F is therefore ∂F/∂L0 = −(5/L0) F. Equation (17) of the paper adds terms for φ. Its equation (18), in which the factor is −2, is not the sum of (16) and (17),
in which the factor is +2.

The table shows L0 ∂x₁/∂L0 (m) for the three formulas, computed with the same beam and α ∝ L0^p for p = −5, 2, −2. The stiff beam
hardly bends, so the three results differ little and the error of the printed formula is hard to see. For a beam that is a hundred times softer, the printed
formula gives the wrong sign:

{formulas}

**The unstressed length alone.** If L0 changes but the nodes keep their positions, the beam is initially prestressed. The derivative
then oscillates at the axial frequency of 5,900 rad/s without damping; the amplitude of this oscillation is as large as its mean. Only the mean appears if the
integrator does not resolve this vibration (with steps longer than 0.1 ms) or damps it.

Finite differences with respect to L0 need small perturbations. If L0
is increased by 0.1 % and the ends are fixed, the beam is compressed by E a₀/1000 = 22 kN, which is 37 times its buckling load π² E I/L² = 592 N. The beam then
buckles, and the difference is wrong by factors of up to 200.

In Varimech, both lengths can be parameters: `m.beam(…, length=L, natural_length=L0)`.
"""


def _largest_by_penalty(factor: float, h: float) -> float:
    """Largest ∂x₁/∂E (m/Pa) within 5 s by the pure penalty formulation."""
    pure = vm.Penalty(factor=factor, xi=0.0, inertial=False)
    settings: dict[str, Any] = {
        "duration": 5.0,
        "step": h,
        "every": round(1e-3 / h),
        "backend": "native",
    }
    return (
        float(
            np.abs(
                x1(mechanism().sensitivity((), ["E"], formulation=pure, **settings).run, "E")
            ).max()
        )
        / STIFF
    )
