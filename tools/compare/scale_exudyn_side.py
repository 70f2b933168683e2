"""Exudyn's side of the comparison of scale: one mechanism of a given size, with several settings of
its solver.

Trapezoidal rule with index-2 constraints, one thread, the build without range checks, nothing
written or stored. Swept: modified and full Newton's method, its tolerance, and for few bodies the
dense solvers beside the sparse one. The first setting has the default tolerance.
"""

from __future__ import annotations

from functools import partial
from importlib import import_module
from itertools import product

import numpy as np
from exudyn_side import exudyn, implicit
from problem import GRAVITY, fastest, timed
from scale_problem import (
    FINER,
    GROUND,
    LENGTH,
    MASS,
    MEASURING,
    STEP,
    Case,
    Problem,
    ScaleReport,
    Setting,
    case_asked,
    distance,
    peak_megabytes,
)

NEWTON = (
    ("modified", 1e-8),
    ("modified", 1e-6),
    ("modified", 1e-5),
    ("modified", 1e-4),
    ("full", 1e-4),
)
"""Newton's method and its relative tolerance; the absolute one is a hundredth of it, as in Exudyn's
defaults.
"""
SPARSE, DENSE = ("EigenSparse",), ("EXUdense", "EigenDense")
DENSE_UP_TO = 50
"""Bodies up to which the dense solvers are tried."""


class Model:
    """The mechanism, assembled."""

    def __init__(self, problem: Problem):
        self.exu = exudyn()
        u = import_module("exudyn.utilities")
        self.container = self.exu.SystemContainer()
        self.system = system = self.container.AddSystem()
        self.bodies = {GROUND: system.AddObject(u.ObjectGround())}
        self.places = {(GROUND, name): [*place, 0.0] for name, place in problem.anchors.items()}

        def marker(place: tuple[str, str]) -> int:
            return system.AddMarker(
                u.MarkerBodyPosition(
                    bodyNumber=self.bodies[place[0]], localPosition=self.places[place]
                )
            )

        for link in problem.links:
            node = u.NodeRigidBody2D(
                referenceCoordinates=[*link.middle, link.angle],
                initialVelocities=[*link.velocity, link.turning],
            )
            body = u.ObjectRigidBody2D(
                mass=MASS, inertia=MASS * LENGTH**2 / 12, nodeNumber=system.AddNode(node)
            )
            self.bodies[link.name] = system.AddObject(body)
            self.places |= {
                (link.name, "start"): [-LENGTH / 2, 0, 0],
                (link.name, "end"): [LENGTH / 2, 0, 0],
            }
            weight = system.AddMarker(u.MarkerBodyPosition(bodyNumber=self.bodies[link.name]))
            system.AddLoad(
                u.LoadForceVector(markerNumber=weight, loadVector=[0, -MASS * GRAVITY, 0])
            )
        for first, second in problem.pins:
            system.AddObject(u.ObjectJointRevolute2D(markerNumbers=[marker(first), marker(second)]))
        system.Assemble()

    def run(self, steps: int, step: float, newton: str, tolerance: float, solver: str) -> None:
        settings = implicit(steps, steps * step, tolerance, solver, modified=newton == "modified")
        settings.solution.sensors.active = False
        settings.linearSolver.reuseAnalyzedPattern = True
        self.system.SolveDynamic(
            settings, solverType=self.exu.DynamicSolverType.TrapezoidalIndex2, showHints=False
        )

    def ends(self, problem: Problem) -> np.ndarray:
        kind = self.exu.OutputVariableType.Position
        places = [(name, "end") for name in problem.watched]
        return np.array(
            [
                self.system.GetObjectOutputBody(self.bodies[p[0]], kind, self.places[p])[:2]
                for p in places
            ]
        )


def measured(case: Case, problem: Problem, model: Model, report: ScaleReport) -> None:
    """Fills in the settings, the memory and the positions."""
    solvers = (*SPARSE, *(DENSE if case.bodies <= DENSE_UP_TO else ()))
    results = []
    for solver, (newton, tolerance) in product(solvers, NEWTON):
        run = partial(model.run, case.steps, STEP, newton, tolerance, solver)
        seconds, _ = fastest(run, MEASURING / len(NEWTON), at_most=10**6)
        results.append(
            (
                f"{solver}, {newton}, {tolerance:.0e}",
                1e3 * seconds / case.steps,
                model.ends(problem),
            )
        )
    report.megabytes = peak_megabytes()
    model.run(FINER * case.steps, STEP / FINER, "modified", 1e-10, "EigenSparse")
    fine = model.ends(problem)
    report.settings = [
        Setting(name, milliseconds, distance(at, fine)) for name, milliseconds, at in results
    ]
    report.positions = fine.tolist()


def main() -> None:
    case = case_asked()
    problem = case.build()
    version = exudyn().__version__
    import_module("exudyn.utilities")
    report = ScaleReport({"exudyn": version}, peak_megabytes())
    report.stating_seconds, model = timed(lambda: Model(problem))
    first_seconds, _ = timed(lambda: model.run(1, STEP, *NEWTON[0], SPARSE[0]))
    report.build_seconds = report.stating_seconds + first_seconds
    measured(case, problem, model, report)
    report.print()


if __name__ == "__main__":
    main()
