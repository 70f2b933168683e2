"""Global sensitivity and reliability of a five-bar with loose tolerances.

The five-bar of the sensitivity benchmark, ψ¹ = ∫ |r₂ − r₂₀|² dt over 5 s, with tolerances of ±5 %
(three standard deviations) on the natural lengths of its springs and on the mass, the centre of
mass and the length of bar A1. OpenTURNS computes Sobol indices by polynomial chaos and the
probability that ψ¹ exceeds a limit by FORM and SORM; Monte Carlo samples check the results.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import varimech as vm
from varimech.benchmarks import five_bar

WIDTH = 0.05
"""Relative tolerance of all parameters."""
LIMIT = 1.3
"""Limit of ψ¹ (m²·s)."""
LIMITS = np.linspace(0.8, 1.8, 11)
"""Limits of the figure (m²·s)."""

BLUE, ORANGE, GREEN, INK = "#0b6fb8", "#e08a00", "#2a9d5c", "#333333"


class Exceeded(NamedTuple):
    """Probabilities of exceeding each limit, with half-widths of 95 % intervals for samples."""

    form: np.ndarray
    sorm: np.ndarray
    around: np.ndarray
    """From samples around the design point of each limit, (limit, [probability, half-width])."""
    share: np.ndarray
    """From samples of the distributions, likewise."""


def tolerances(m: vm.Mechanism) -> dict[str, vm.Tolerance]:
    """Return the same relative tolerance for all parameters."""
    return {name: vm.Tolerance(WIDTH * p.value) for name, p in m.parameters.items()}


def study() -> tuple[vm.Mechanism, vm.Objective, vm.GlobalStudy]:
    """Return the mechanism, ψ¹, and the function for OpenTURNS."""
    m, psi1 = five_bar.mechanism(), five_bar.objectives()["psi1"]
    return m, psi1, m.problem({"ψ¹": psi1}, duration=five_bar.DURATION).openturns(tolerances(m))


def exceeded(
    m: vm.Mechanism, psi1: vm.Objective, s: vm.GlobalStudy, samples: int, around: int
) -> Exceeded:
    """Compute probabilities by FORM, SORM and both kinds of samples."""
    results = [s.probability(psi1 >= float(limit), samples=around) for limit in LIMITS]
    T = five_bar.DURATION
    drawn = m.monte_carlo(psi1, tolerances(m), duration=T, samples=samples, keep=True, output=T)
    share = (drawn.samples["values"].to_numpy()[:, -1] >= LIMITS).mean(axis=0)
    near = [
        (r.sampled.probability, (r.sampled.upper - r.sampled.lower) / 2)
        for r in results
        if r.sampled is not None
    ]
    halves = 1.96 * np.sqrt(share * (1 - share) / samples)
    return Exceeded(
        np.array([r.form for r in results]),
        np.array([r.sorm for r in results]),
        np.array(near),
        np.column_stack([share, halves]),
    )


def picture(indices: vm.SobolIndices, e: Exceeded, samples: int, around: int) -> Figure:
    """Draw shares of the variance, probabilities over the limit, and their differences."""
    figure = Figure(figsize=(10.0, 5.2), layout="constrained", dpi=120)
    left, right, below = figure.subplot_mosaic(
        [["s", "p"], ["s", "r"]], height_ratios=[5, 4]
    ).values()
    positions = np.arange(indices.first.sizes["parameter"])
    left.bar(positions - 0.2, indices.first[0], 0.38, color=BLUE, label="first order")
    left.bar(positions + 0.2, indices.total[0], 0.38, color=ORANGE, label="total")
    left.set_xticks(positions, [str(name) for name in indices.first["parameter"].values])
    left.set_ylabel("share of the variance of ψ¹")
    left.set_title("Sobol indices of ψ¹", fontsize=11, color=INK)
    right.set_title("Probability that ψ¹ exceeds a limit", fontsize=11, color=INK)
    enough = e.share[:, 0] * samples >= 10  # fewer samples are not meaningful
    for ax, unit in ((right, np.ones(len(LIMITS))), (below, e.sorm)):
        ax.plot(LIMITS, e.form / unit, color=ORANGE, linestyle="--", label="FORM")
        ax.plot(LIMITS, e.sorm / unit, color=BLUE, label="SORM")
        for (p, half), shift, colour, label, shown in (
            (e.around.T, 0.008, GREEN, f"{around} samples around each design point", enough | True),
            (e.share.T, -0.008, INK, f"{samples} samples of the distributions", enough),
        ):
            bars = ((half / unit)[shown], (LIMITS + shift)[shown], (p / unit)[shown])
            ax.errorbar(
                bars[1],
                bars[2],
                bars[0],
                fmt="o",
                color=colour,
                markersize=3.5,
                capsize=3,
                label=label,
            )
    right.set_yscale("log")
    right.set_ylabel("probability")
    right.tick_params(labelbottom=False)
    below.set_ylabel("relative to SORM")
    below.set_xlabel("limit of ψ¹ (m²·s)")
    for ax in (left, right, below):
        _quiet(ax)
    left.grid(visible=False, axis="x")
    left.legend(frameon=False)
    right.legend(frameon=False, fontsize=8.5, loc="lower left")
    return figure


def _quiet(ax: Axes) -> None:
    ax.grid(color="#d9d9d9", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)


def main(
    out: Path = Path("out/five_bar_reliability"), samples: int = 40_000, around: int = 2000
) -> tuple[vm.Chaos, Exceeded]:
    """Print indices and probabilities, and draw them."""
    m, psi1, s = study()
    print(s)
    chaos = s.chaos(runs=512)
    print(chaos)
    print(chaos.sobol)
    print(s.probability(psi1 >= LIMIT, samples=around))
    e = exceeded(m, psi1, s, samples, around)
    print(f"limit (m²·s)      FORM      SORM   {around} around         {samples} samples")
    for limit, form, sorm, near, share in zip(LIMITS, *e, strict=True):
        print(
            f"{limit:12.1f} {form:9.2e} {sorm:9.2e} "
            + " ".join(f"{p:9.2e} ± {half:.1e}" for p, half in (near, share))
        )
    out.mkdir(parents=True, exist_ok=True)
    picture(chaos.sobol, e, samples, around).savefig(out / "reliability.png")
    return chaos, e


if __name__ == "__main__":
    main(Path(*sys.argv[1:2] or ["out/five_bar_reliability"]))
