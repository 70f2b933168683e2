"""Predict a bearing reaction for a crank that is 0.2 mm too long.

The spatial slider-crank of the IFToMM library: a crank of 80 mm about x, a rod of 300 mm, a slider
of 2 kg along x, two springs. One run with its derivative predicts the reaction for small changes of
the length, R(L + ΔL) ≈ R + ∂R/∂L ΔL; a run with the longer crank checks the prediction.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

import varimech as vm
from varimech.benchmarks import spatial_slider_crank

DURATION, LONGER = 1.5, 2e-4
"""Duration (s); increase of the crank length (m)."""


def reaction(s: vm.State) -> Any:
    """Return the magnitude of the force in the crank bearing (N)."""
    return vm.norm(s.reaction("A"))


def solve(m: vm.Mechanism) -> vm.Gradient:
    """Simulate with derivatives with respect to the crank length."""
    return m.sensitivity(wrt="L_crank", duration=DURATION, tolerance=1e-9)


def main(out: Path = Path("out/slider_crank_reaction")) -> vm.Gradient:
    """Compare the prediction with a run of the longer crank."""
    m = spatial_slider_crank.mechanism()
    gradient = solve(m)
    run = gradient.run
    longer = m.simulate(DURATION, tolerance=1e-9, parameters={"L_crank": 0.08 + LONGER})
    R, R_longer = (r.measure(reaction).to_numpy() for r in (run, longer))
    predicted = R + LONGER * run.measure(reaction, wrt="L_crank").to_numpy()
    k = int(np.abs(predicted - R).argmax())
    print(f"largest reaction: {R.max():.2f} N")
    print(
        f"predicted change for a crank 0.2 mm longer: up to {predicted[k] - R[k]:+.2f} N, at"
        f" {run.time[k]:.3f} s"
    )
    print(
        f"there: {predicted[k]:.2f} N predicted, {R_longer[k]:.2f} N simulated; largest error over"
        f" time: {np.abs(predicted - R_longer).max():.2f} N"
    )

    panels = [
        vm.Panel("|reaction at A| (N)", [vm.Line("nominal", run.time, R)]),
        vm.Panel(
            "change by 0.2 mm (N)",
            [
                vm.Line("predicted", run.time, predicted - R),
                vm.Line("simulated", run.time, R_longer - R),
            ],
        ),
    ]
    figure = vm.line_figure(panels, title="Reaction in the crank bearing")
    figure.axes[1].lines[1].set(linestyle="none", marker=".", markevery=3, color="#333333")
    figure.axes[1].legend(frameon=False, fontsize=9, loc="upper left")
    out.mkdir(parents=True, exist_ok=True)
    figure.savefig(out / "reaction.png")
    picture = run.draw(times=(0.3, 0.2, 0.1, 0.0), trace="B", title="The slider-crank")
    picture.axes[0].locator_params(axis="y", nbins=3)  # a narrow box
    picture.savefig(out / "mechanism.png")
    return gradient


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))  # the folder for figures, if it is another one
