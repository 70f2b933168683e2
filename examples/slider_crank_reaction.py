"""A crank in space that is a fifth of a millimetre too long: what does its bearing carry then?

The spatial slider-crank of the IFToMM library: a crank of 80 mm about x, a rod of 300 mm in space,
a slider of 2 kg along x, two springs. One run with its derivative tells the reaction for all cranks
nearby, R(L + ΔL) ≈ R + ∂R/∂L ΔL; a run with the longer crank shows how far that holds.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

import varimech as vm
from varimech.benchmarks import spatial_slider_crank

DURATION, LONGER = 1.5, 2e-4
"""s, m."""


def reaction(s: vm.State) -> Any:
    """Size of the force in the crank's bearing (N)."""
    return vm.norm(s.reaction("A"))


def solve(m: vm.Mechanism) -> vm.Gradient:
    """The motion, with its derivatives with respect to the crank's length."""
    return m.sensitivity(wrt="L_crank", duration=DURATION, tolerance=1e-9)


def main(out: Path) -> vm.Gradient:
    """Compare what the derivative foretells with a longer crank."""
    m = spatial_slider_crank.mechanism()
    found = solve(m)
    run = found.run
    longer = m.simulate(DURATION, tolerance=1e-9, parameters={"L_crank": 0.08 + LONGER})
    R, R_longer = (r.measure(reaction).to_numpy() for r in (run, longer))
    foretold = R + LONGER * run.measure(reaction, wrt="L_crank").to_numpy()
    k = int(np.abs(foretold - R).argmax())
    print(f"the bearing carries up to {R.max():.2f} N")
    print(
        f"a crank 0.2 mm longer changes that by up to {foretold[k] - R[k]:+.2f} N, at"
        f" {run.time[k]:.3f} s"
    )
    print(
        f"there {foretold[k]:.2f} N are foretold, {R_longer[k]:.2f} N come true; at no time is it"
        " off by more than ",
        end="",
    )
    print(f"{np.abs(foretold - R_longer).max():.2f} N")

    panels = [
        vm.Panel("|reaction at A| (N)", [vm.Line("as drawn", run.time, R)]),
        vm.Panel(
            "change by 0.2 mm (N)",
            [vm.Line("foretold", run.time, foretold - R), vm.Line("true", run.time, R_longer - R)],
        ),
    ]
    figure = vm.line_figure(panels, title="What the crank's bearing carries")
    figure.axes[1].lines[1].set(linestyle="none", marker=".", markevery=3, color="#333333")
    figure.axes[1].legend(frameon=False, fontsize=9, loc="upper left")
    out.mkdir(parents=True, exist_ok=True)
    figure.savefig(out / "reaction.png")
    picture = run.draw(times=(0.3, 0.2, 0.1, 0.0), trace="B", title="The slider-crank")
    picture.axes[0].locator_params(axis="y", nbins=3)  # a narrow box
    picture.savefig(out / "mechanism.png")
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="A crank in space that is a little too long.")
    parser.add_argument(
        "--out", type=Path, default=Path("out/slider_crank_reaction"), help="folder for pictures"
    )
    main(parser.parse_args().out)
