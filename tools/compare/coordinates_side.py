"""One mechanism in one set of coordinates: what the generated functions compute, how long a step
takes, and how long it takes to set up.

Reads a case (a JSON object) from the standard input and prints a JSON object: a `Report`, or why
the case is refused. Every case has a process of its own, with an empty cache.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from importlib import import_module
from importlib.metadata import version

import casadi as ca
import numpy as np
from problem import timed

import varimech as vm
from varimech.backends.program import ChainFunctions
from varimech.benchmarks import BENCHMARKS, chain, four_bar
from varimech.coordinates.relative.spanning_tree import spanning_tree
from varimech.formulations.formulation import Conditioning
from varimech.results.live_run import LiveRun
from varimech.schemes import choose
from varimech.solving.derivative_request import DerivativeRequest
from varimech.solving.solver import Solver
from varimech.solving.task import Task
from varimech.stages.plan import Factor, Plan, Solve

INTEGRATORS = {"index1": "rk4", "ali3p": "trapezoidal"}
"""Formulation → integrator."""
STEPS = 300
AT_LEAST = 5
MEASURING = 0.5
"""Seconds over which a run is repeated, at the least."""
LAST_ONLY = 10**9
NO_ARITHMETIC = {ca.OP_CONST, ca.OP_INPUT, ca.OP_OUTPUT, ca.OP_PARAMETER}
AXES = (0.2, 1.0, -0.3), (-0.3, 0.4, 1.0)


def branched(
    bodies: int,
    parent_of: Callable[[int], int | None],
    ends: tuple[tuple[float, float, float], ...],
) -> vm.Mechanism:
    """Bodies in space that hang on their parents' ends, one after the other, by hinges of two
    alternating oblique axes; at rest.
    """
    m = vm.Mechanism(f"{bodies} bodies in space", gravity=(0, 0, -9.81))
    m.ground_point("root", (0, 0, 0))
    hanging: dict[int | None, int] = {}
    for k in range(bodies):
        parent = parent_of(k)
        points = {"base": (0, 0, 0)} | {f"end{i}": end for i, end in enumerate(ends)}
        m.body(
            f"body{k}", mass=1.0, inertia=(0.02, 0.08, 0.07), com=(0.5, 0.02, -0.05), points=points
        )
        place = "ground.root" if parent is None else f"body{parent}.end{hanging.get(parent, 0)}"
        hanging[parent] = hanging.get(parent, 0) + 1
        m.revolute(f"hinge{k}", place, f"body{k}.base", axis=AXES[k % 2])
    m.start(angle={f"hinge{k}": 0.3 if k % 3 else -0.2 for k in range(bodies)})
    return m


def spatial_chain(bodies: int) -> vm.Mechanism:
    return branched(bodies, lambda k: k - 1 if k else None, ((1.0, 0.0, 0.0),))


def binary_tree(bodies: int) -> vm.Mechanism:
    """Two children for each body, as far as they go."""
    return branched(
        bodies, lambda k: (k - 1) // 2 if k else None, ((1.0, 0.2, 0.0), (0.9, -0.3, 0.1))
    )


FAMILIES: dict[str, Callable[[int], vm.Mechanism]] = {
    "chain": chain.mechanism,
    "spatial chain": spatial_chain,
    "binary tree": binary_tree,
    "four-bars": four_bar.mechanism,
}


@dataclass(frozen=True)
class Case:
    """What is asked for: a family with its size, or a benchmark; in which coordinates and by which
    formulation.
    """

    name: str
    size: int | None
    coordinates: str
    formulation: str
    sensitivities: bool = False

    def mechanism(self) -> vm.Mechanism:
        if self.size is not None:
            return FAMILIES[self.name](self.size)
        built: vm.Mechanism = import_module(
            f"varimech.benchmarks.{BENCHMARKS[self.name].module}"
        ).mechanism()
        return built

    @property
    def step(self) -> float:
        """s; that of the benchmarks suits the fastest of them."""
        return 1e-4 if self.size is None else 1e-3


@dataclass(frozen=True)
class Report:
    """What was measured."""

    bodies: int
    loops: int
    parameters: int
    """That it is differentiated for."""
    unknowns: int
    """Coordinates and multipliers."""
    operations: float
    """Of one evaluation of the accelerations (index 1), or of one step (ALI3-P)."""
    iterations: float
    """A step, of ALI3-P."""
    setup_seconds: float
    microseconds: float
    """A step; what comes before and with the first one is not counted."""
    position: list[float]
    """Of the last body's last point in the end."""
    version: str


def arithmetic(function: ca.Function) -> int:
    """Operations of straight-line code: instructions that compute something."""
    return sum(
        function.instruction_id(k) not in NO_ARITHMETIC for k in range(function.n_instructions())
    )


def operations(function: ca.Function | Plan | None) -> int:
    """The same of any function. Of a plan: kernels times elements; a factorisation by its entries,
    a solution too; moving data is free.
    """
    if not isinstance(function, Plan):
        return arithmetic(function) if function is not None else 0
    total = sum(op.count * arithmetic(op.kernel) for op in function.maps)
    for op in function.operations:
        if isinstance(
            op, Factor
        ):  # a product and a difference for each target, a quotient for each entry of L, and for each pivot
            p = op.factors.pattern
            total += 2 * p.targets.size + p.upper.size + p.size
        elif isinstance(op, Solve):
            p = op.factors.pattern
            total += op.x.width * (2 * (p.upper.size + p.lower.size) + p.size)
    return total


def cost(functions: ChainFunctions, iterations: float, parameters: int) -> float:
    """Operations of a chain; its tangent, where it is a function of its own, is carried out for
    each parameter.
    """
    tangent = parameters * operations(functions.tangent)
    return (
        operations(functions.predict)
        + iterations * operations(functions.iterate)
        + operations(functions.finish)
        + tangent
    )


def measured(case: Case) -> Report:
    m = case.mechanism()
    method, schedule = choose(
        STEPS * case.step,
        step=case.step,
        every=LAST_ONLY,
        integrator=INTEGRATORS[case.formulation],
        formulation=case.formulation,
        coordinates=case.coordinates,
    )
    ρ, indices = (
        m.data.parameter_set.nominal,
        list(range(len(m.parameters))) if case.sensitivities else None,
    )
    task = Task(schedule, {}, indices, "native", progress=False)
    first_step = replace(task, schedule=schedule.shortened())

    def set_up() -> Solver:
        solver = Solver(m.data, method)
        solver.run(first_step, ρ)
        return solver

    setup_seconds, solver = timed(set_up)
    trajectory, seconds = solver.run(task, ρ)
    _, start_seconds = solver.run(first_step, ρ)
    began, count = time.perf_counter(), 1
    while count < AT_LEAST or time.perf_counter() - began < MEASURING:
        seconds, start_seconds = (
            min(seconds, solver.run(task, ρ)[1]),
            min(start_seconds, solver.run(first_step, ρ)[1]),
        )
        count += 1
    regular = solver.programs.recursive or solver.start.regular(solver.start.assemble(ρ), ρ)
    program = solver.runner(
        {},
        DerivativeRequest(None if indices is None else np.eye(ρ.size)[:, indices]),
        Conditioning(regular, solver.programs.recursive or case.formulation != "index1"),
    ).program
    iterations = trajectory.iterations / STEPS
    live = LiveRun(solver.equations, trajectory, ρ, indices or [])
    label = list(m.data.moving_bodies[-1].points.values())[-1].label
    return Report(
        bodies=len(m.data.moving_bodies),
        loops=len(spanning_tree(solver.model).cuts),
        parameters=len(indices or []),
        unknowns=solver.programs.unknowns,
        operations=cost(program.rates or program.step, iterations, len(indices or [])),
        iterations=iterations,
        setup_seconds=setup_seconds,
        microseconds=1e6 * (seconds - start_seconds) / (STEPS - 1),
        position=live.evaluate(solver.equations.state.position(label))[-1].tolist(),
        version=version("varimech"),
    )


def main() -> None:
    try:
        print(json.dumps(asdict(measured(Case(**json.load(sys.stdin))))))
    except vm.ModelError as error:
        print(json.dumps({"refused": str(error)}))


if __name__ == "__main__":
    main()
