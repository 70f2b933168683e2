"""Varimech's side of the comparison of scale: one mechanism of a given size, public calls only,
compiled backend.
"""

from __future__ import annotations

from importlib.metadata import version

import numpy as np
import scale_problem as scale
from problem import GRAVITY, fastest, timed

import varimech as vm

LAST_ONLY = 10**9


def stated(problem: scale.Problem) -> vm.Mechanism:
    m = vm.Mechanism("scale", gravity=(0, -GRAVITY))
    for name, place in problem.anchors.items():
        m.ground_point(name, place)
    for link in problem.links:
        m.bar(link.name, "start", "end", length=scale.LENGTH, mass=scale.MASS)
    for k, (first, second) in enumerate(problem.pins):
        m.revolute(f"pin{k}", ".".join(first), ".".join(second))
    given = [link for link in problem.links if link.name in problem.dofs]
    m.start(
        angle={link.name: link.angle for link in given},
        speed={link.name: link.turning for link in given},
        near={link.name: link.angle for link in problem.links if link.name not in problem.dofs},
    )
    return m


def simulate(mechanism: vm.Mechanism, duration: float, step: float) -> vm.Run:
    return mechanism.simulate(
        duration, step=step, every=LAST_ONLY, backend="native", progress=False
    )


def ends(run: vm.Run, problem: scale.Problem) -> np.ndarray:
    return np.array([run.position(f"{name}.end").to_numpy()[-1] for name in problem.watched])


def main() -> None:
    case = scale.case_asked()
    problem = case.build()
    report = scale.ScaleReport({"varimech": version("varimech")}, scale.peak_megabytes())
    report.stating_seconds, mechanism = timed(lambda: stated(problem))
    first_seconds, _ = timed(lambda: simulate(mechanism, scale.STEP, scale.STEP))
    report.build_seconds = report.stating_seconds + first_seconds
    seconds, run = fastest(
        lambda: simulate(mechanism, case.duration, scale.STEP), scale.MEASURING, at_most=10**6
    )
    report.megabytes = scale.peak_megabytes()
    fine = ends(simulate(mechanism, case.duration, scale.STEP / scale.FINER), problem)
    error = scale.distance(ends(run, problem), fine)
    report.settings = [
        scale.Setting("trapezoidal rule, compiled", 1e3 * seconds / case.steps, error)
    ]
    report.positions = fine.tolist()
    report.print()


if __name__ == "__main__":
    main()
