"""Exudyn's side: central differences, for it has no sensitivities to parameters.

Trapezoidal rule with index-2 constraints, modified Newton's method, dense solver, one thread, the
build without range checks. A model is built once and solved again and again; in the ensemble every
process keeps its model and changes one number of it.
"""

from __future__ import annotations

import math
import multiprocessing
import sys
from contextlib import suppress
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
import problem

STEPS = (250, 500, 700, 1000, 2000, 4000, 16500)
TOLERANCES = (1e-4, 1e-10)
"""Relative tolerances of Newton's method; the loose one pays with few steps only."""
LOOSE_UP_TO = 1000
PERTURBATION = 1e-4
PROCESSES = 2
RUNS = 100


def exudyn() -> Any:
    vars(sys)["exudynFast"] = True  # how Exudyn is told to leave out its range checks
    return import_module("exudyn")


def implicit(
    steps: int, duration: float, tolerance: float, solver: str, *, modified: bool = True
) -> Any:
    """Settings for equal steps by an implicit integrator, one thread, nothing written."""
    exu = exudyn()
    settings = exu.SimulationSettings()
    time = settings.timeIntegration
    time.numberOfSteps, time.endTime, time.adaptiveStep = steps, duration, False
    time.verboseMode = time.stepInformation = 0
    time.newton.useModifiedNewton = modified
    time.newton.relativeTolerance, time.newton.absoluteTolerance = tolerance, tolerance / 100
    settings.solution.file.write = False
    settings.linearSolver.solverType = getattr(exu.LinearSolverType, solver)
    settings.parallel.numberOfThreads = 1
    return settings


class Model:
    """The five-bar mechanism for one set of parameter values."""

    def __init__(self, ρ: np.ndarray):
        self.exu = exudyn()
        u = import_module("exudyn.utilities")
        self.container = self.exu.SystemContainer()
        self.system = system = self.container.AddSystem()
        ground, moving = system.AddObject(u.ObjectGround()), []

        def marker(body: int, x: float, y: float = 0.0) -> int:
            return system.AddMarker(u.MarkerBodyPosition(bodyNumber=body, localPosition=[x, y, 0]))

        for bar in problem.bars(ρ):
            direction = np.array([math.cos(bar.angle), math.sin(bar.angle)])
            node = system.AddNode(
                u.NodeRigidBody2D(
                    referenceCoordinates=[*(bar.start + bar.com * direction), bar.angle]
                )
            )
            body = system.AddObject(
                u.ObjectRigidBody2D(mass=bar.mass, inertia=bar.inertia, nodeNumber=node)
            )
            system.AddLoad(
                u.LoadForceVector(
                    markerNumber=marker(body, 0), loadVector=[0, -bar.mass * problem.GRAVITY, 0]
                )
            )
            moving.append((body, -bar.com, bar.length - bar.com))
        start = [marker(body, at) for body, at, _ in moving]
        end = [marker(body, at) for body, _, at in moving]
        at_B = marker(ground, *problem.B)
        for pair in (
            (marker(ground, 0), start[0]),
            (end[0], start[1]),
            (end[1], start[2]),
            (end[2], end[3]),
            (at_B, start[3]),
        ):
            system.AddObject(u.ObjectJointRevolute2D(markerNumbers=list(pair)))
        self.springs = [
            system.AddObject(
                u.ObjectConnectorSpringDamper(
                    markerNumbers=[at_B, m],
                    stiffness=problem.STIFFNESS,
                    damping=0,
                    referenceLength=length,
                )
            )
            for m, length in ((end[0], ρ[0]), (end[1], ρ[1]))
        ]
        kinds = self.exu.OutputVariableType
        self.sensors = [
            system.AddSensor(
                u.SensorBody(
                    bodyNumber=moving[1][0],
                    localPosition=[moving[1][2], 0, 0],
                    storeInternal=True,
                    outputVariableType=kind,
                )
            )
            for kind in (kinds.Position, kinds.Velocity, kinds.Acceleration)
        ]
        system.Assemble()

    def psi(self, steps: int, tolerance: float) -> np.ndarray:
        settings = implicit(steps, problem.DURATION, tolerance, "EXUdense")
        settings.solution.sensors.writePeriod = problem.DURATION / steps
        self.system.SolveDynamic(
            settings, solverType=self.exu.DynamicSolverType.TrapezoidalIndex2, showHints=False
        )
        r, v, a = (self.system.GetSensorStoredData(sensor)[:, 1:3] for sensor in self.sensors)
        squares = np.array(
            [((x - origin) ** 2).sum(axis=1) for x, origin in ((r, problem.TARGET), (v, 0), (a, 0))]
        )
        assert squares.shape[1] == steps + 1
        return np.trapezoid(squares, dx=problem.DURATION / steps)

    def psi_with(self, natural_length: float, steps: int, tolerance: float) -> np.ndarray:
        """ψ with another natural length of the first spring."""
        self.system.SetObjectParameter(self.springs[0], "referenceLength", natural_length)
        return self.psi(steps, tolerance)


def gradient_curve() -> problem.Curve:
    build_seconds, models = problem.timed(
        lambda: [Model(ρ) for ρ in problem.perturbed(PERTURBATION)]
    )

    def all_psi(steps: int, tolerance: float) -> list[np.ndarray]:
        return [model.psi(steps, tolerance) for model in models]

    curve = problem.Curve("Exudyn", "central differences, trapezoidal rule, index 2", build_seconds)
    for steps, tolerance in (
        (n, t) for t in TOLERANCES for n in STEPS if t < 1e-4 or n <= LOOSE_UP_TO
    ):
        seconds, values = problem.fastest(partial(all_psi, steps, tolerance))
        setting = f"{steps} steps, Newton {tolerance:.0e}"
        curve.points.append(
            problem.Point(setting, 1e3 * seconds, problem.central(values, PERTURBATION).tolist())
        )
    return curve


_kept: list[Model] = []


def keep_model() -> None:
    _kept.append(Model(problem.NOMINAL))


def run_sample(task: tuple[float, int, float]) -> np.ndarray:
    return _kept[0].psi_with(*task)


def throughput(exact: np.ndarray, tolerance: float) -> problem.Throughput:
    model = Model(problem.NOMINAL)

    def psi(steps: int) -> np.ndarray:
        return np.array(
            [model.psi_with(s, steps, tolerance) for s in problem.SAMPLES[problem.TESTED]]
        )

    steps, error = problem.coarsest(
        (round(300 * 1.05**k) for k in range(40)), psi, exact, problem.ENSEMBLE_ERROR
    )
    tasks = [(float(s), steps, tolerance) for s in problem.SAMPLES[:: len(problem.SAMPLES) // RUNS]]
    with multiprocessing.Pool(PROCESSES, initializer=keep_model) as pool:
        seconds, _ = problem.fastest(lambda: pool.map(run_sample, tasks, chunksize=10), 3.0)
    return problem.Throughput(
        "Exudyn", f"{PROCESSES} processes", f"{steps} steps", error, len(tasks), seconds
    )


def throughputs(exact: np.ndarray) -> list[problem.Throughput]:
    """The faster of both tolerances."""
    results = []
    for tolerance in TOLERANCES:
        with suppress(RuntimeError):  # never accurate enough
            results.append(throughput(exact, tolerance))
    return [min(results, key=lambda t: t.seconds)]


if __name__ == "__main__":
    exact = problem.reference_values()
    problem.Report({"exudyn": exudyn().__version__}, [gradient_curve()], throughputs(exact)).print()
