"""The adjoint: the transpose of the direct method, so both give the same derivatives of the same
steps but for the order of sums.

They agree to rounding with every method on every benchmark, and not to the last bit: what is
compared is computed by two methods.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from loops import EQUAL_ONLY, OBJECTIVES, four_bar
from random_trees import Tree, mechanism, random_state, trees

import varimech as vm
from test_regimes import driven, everything, three_legs
from varimech.backends import compiler
from varimech.backends.bound import evaluated
from varimech.backends.program import ChainFunctions, Program
from varimech.benchmarks import BENCHMARKS, chain
from varimech.benchmarks import flexible_slider_crank as slider
from varimech.core.schedule import Schedule
from varimech.schemes import FORMULATIONS, INTEGRATORS, choose, integrators_of
from varimech.solving.derivative_request import DerivativeRequest
from varimech.solving.runners import Runners
from varimech.solving.solver import Solver
from varimech.solving.task import Task
from varimech.stages.plan import Plan, padded

Array = np.ndarray
AGREE = 1e-10
"""Largest difference over the largest entry of a gradient, each parameter changed by its size."""

needs_compiler = pytest.mark.skipif(
    compiler.find_compiler() is None, reason="no C compiler on this machine"
)


def apart(first: Array, second: Array, m: vm.Mechanism) -> float:
    """Largest difference of gradients (objective, parameter), for each objective by the largest of
    its entries.
    """
    sizes = np.where(m.data.parameter_set.nominal != 0, np.abs(m.data.parameter_set.nominal), 1.0)
    largest = np.abs(first * sizes).max(axis=1)
    assert (largest > 0).all()
    return float((np.abs((first - second) * sizes).max(axis=1) / largest).max())


def objectives(m: vm.Mechanism) -> dict[str, vm.Objective]:
    """Integrals and final values, of positions, velocities, accelerations and energies; of some
    points, each with its own weight.
    """
    points = [p.label for b in m.data.moving_bodies for p in b.points.values()]
    points = points[:: -max(1, len(points) // 4)]

    def weighed(measure: str) -> Callable[[Any], Any]:
        return lambda s: sum(
            (k + 1) / len(points) * getattr(s, measure)(point) for k, point in enumerate(points)
        )

    x, v, a = (weighed(measure) for measure in ("position", "velocity", "acceleration"))
    named = {
        "swing": vm.integral(lambda s: vm.dot(v(s), v(s))),
        "reach": vm.final(lambda s: x(s)[0] * (1 + v(s)[1])),
        "both": vm.integral(lambda s: s.time * x(s)[1]) + vm.final(lambda s: s.kinetic_energy),
    }
    # accelerations of beams are small differences of large forces, whose rounding they show
    return named if m.data.beams else named | {"jolt": vm.integral(lambda s: vm.norm(a(s)))}


def gradients(
    solver: Solver, named: dict[str, vm.Objective], schedule: Schedule, backend: str = "interpreted"
) -> tuple[Array, Array]:
    """By the direct method and by the adjoint, with respect to all parameters."""
    ρ = solver.model.parameter_set.nominal
    task = Task(schedule, named, list(range(ρ.size)), backend, progress=False)
    direct, adjoint = (
        solver.run(replace(task, method=scheme), ρ)[0] for scheme in ("direct", "adjoint")
    )
    np.testing.assert_array_equal(direct.objectives, adjoint.objectives)
    assert direct.gradients is not None and adjoint.gradients is not None
    assert adjoint.gradients.shape[0] == 1
    return direct.gradients[-1], adjoint.gradients[-1]


# every method on every benchmark

STEPS = {
    "five-bar": 1e-2,
    "flexible-five-bar": 1e-4,
    "pendulum": 5e-2,
    "four-bar": 2e-2,
    "andrews": 1e-4,
    "bricard": 5e-3,
    "governor": 1e-4,
    "spatial-slider-crank": 5e-3,
    "flexible-slider-crank": 1e-4,
    "tree": 5e-3,
    "chain": 1e-2,
    "pendulum-tolerance": 5e-2,
    "slider-crank-tolerance": 1e-2,
    "rolling-disc": 1e-2,
    "gear-train": 1e-2,
    "rotating-pendulum": 1e-2,
}
"""Of each benchmark with given steps, s."""
CONTACTS = (
    "two-balls",
    "bouncing-ball",
    "friction-oscillator",
    "clearance-slider-crank",
    "newtons-cradle",
    "rocking-block",
    "sliding-block",
    "cam-follower",
)
"""Benchmarks with located events, which choose their steps; they compare both methods themselves."""
LINEAR = ("bicycle",)
"""Benchmarks of small motions about a steady one: their motion itself has no accelerations."""
RELATIVE = ("bricard", "governor", "spatial-slider-crank", "tree")
"""Mechanisms in space, whose natural coordinates take long to derive."""
EXPLICIT = ("rk4", "dopri5", "dop853")
GROUPS: list[tuple[str, tuple[str, ...]]] = []
"""A formulation with integrators; explicit schemes share what is derived."""
for _name, _formulation in FORMULATIONS.items():
    _known = [i for i in integrators_of(_formulation) if INTEGRATORS[i].traits.adjoint]
    GROUPS += [(_name, (i,)) for i in _known if i not in EXPLICIT]
    if _shared := tuple(i for i in _known if i in EXPLICIT):
        GROUPS.append((_name, _shared))
HEAVY = ("bricard", "governor", "spatial-slider-crank", "flexible-slider-crank")
"""Benchmarks that take long to derive: half of the groups each, the first two the ones that the
others leave out.
"""


def groups_of(name: str) -> list[tuple[str, tuple[str, ...]]]:
    """What a benchmark is solved with; the tree, which takes longest, by sweeps, and what is much
    like others by these too.
    """
    if name == "tree" or name.endswith("-tolerance"):
        return [("index1", EXPLICIT)]
    return GROUPS[HEAVY.index(name) // 2 :: 2] if name in HEAVY else GROUPS


SMALL: dict[str, Callable[[], vm.Mechanism]] = {
    "chain": lambda: chain.mechanism(4),
    "flexible-slider-crank": lambda: slider.mechanism(2),
}
"""Benchmarks that are made as large as one likes."""


def with_scheme(solver: Solver, integrator: str) -> Solver:
    """The same with another explicit scheme, on which no chain depends."""
    other, programs = copy(solver), copy(solver.programs)
    other.method = programs.method = replace(solver.method, integrator=INTEGRATORS[integrator])
    other.programs, other._runners = programs, Runners(programs)
    if "second_order" in vars(solver):
        second, wide = copy(solver.second_order), copy(solver.second_order._programs)
        second._method = wide.method = other.method
        second._programs, second._runners, other.second_order = wide, Runners(wide), second
    return other


def test_every_method_is_compared() -> None:
    pairs = {(f, i) for f, integrators in GROUPS for i in integrators}
    assert pairs == {
        (f, i)
        for f in FORMULATIONS
        for i in integrators_of(FORMULATIONS[f])
        if i not in ("cvodes", "idas")
    }
    assert set(STEPS) == set(BENCHMARKS) - set(CONTACTS) - set(LINEAR)


@pytest.mark.parametrize(
    ("name", "formulation", "integrators"),
    [(name, *group) for name in STEPS for group in groups_of(name)],
    ids=lambda x: x if isinstance(x, str) else "+".join(x),
)
def test_direct_and_adjoint_agree(
    name: str, formulation: str, integrators: tuple[str, ...]
) -> None:
    """Over a few steps: equal ones, and different ones where the integrator takes such."""
    m, h = SMALL.get(name, BENCHMARKS[name].mechanism)(), STEPS[name]
    coordinates, named = "rtdyn1" if name in RELATIVE else "natural", objectives(m)
    first: Solver | None = None
    for integrator in integrators:
        options: dict[str, Any] = (
            {"step": h}
            if integrator in EQUAL_ONLY
            else {"output": 5 * h, "ends": 5 * h * np.array([0, 0.1, 0.35, 0.4, 0.75, 1])}
        )
        method, schedule = choose(
            5 * h,
            formulation=formulation,
            integrator=integrator,
            coordinates=coordinates,
            **options,
        )
        solver = Solver(m.data, method) if first is None else with_scheme(first, integrator)
        first = first or solver
        direct, adjoint = gradients(solver, named, schedule)
        assert apart(direct, adjoint, m) < AGREE, integrator
        assert not np.array_equal(direct, adjoint), integrator


def test_bodies_of_spatial_benchmarks_in_natural_coordinates() -> None:
    """With redundant constraints: their start is found outside the program."""
    m = BENCHMARKS["bricard"].mechanism()
    method, schedule = choose(0.06, step=2e-2)
    assert apart(*gradients(Solver(m.data, method), objectives(m), schedule), m) < AGREE


@pytest.mark.parametrize("integrator", ["trapezoidal", "hht"])
def test_plain_penalties(integrator: str) -> None:
    m = BENCHMARKS["four-bar"].mechanism()
    method, schedule = choose(
        0.1,
        step=1e-2,
        formulation=vm.Penalty(inertial=False, xi=0, factor=1e6),
        integrator=integrator,
    )
    direct, adjoint = gradients(Solver(m.data, method), objectives(m), schedule)
    assert apart(direct, adjoint, m) < AGREE
    assert not np.array_equal(direct, adjoint)


# regimes


@pytest.mark.parametrize(
    ("make", "integrator"),
    [
        (everything, "trapezoidal"),
        (driven, "rk4"),
        (three_legs, "trapezoidal"),
    ],
    ids=lambda x: getattr(x, "__name__", x),
)
def test_written_out_and_assembled(make: Callable[[], vm.Mechanism], integrator: str) -> None:
    """Drivers, torsional springs, forces that make the tangent unsymmetric, and redundant
    constraints.
    """
    m = make()
    method, schedule = choose(0.02, step=5e-3, integrator=integrator)
    (direct, written_out), (_, assembled) = (
        gradients(Solver(m.data, method, large=large), objectives(m), schedule)
        for large in (False, True)
    )
    assert apart(direct, written_out, m) < AGREE
    assert apart(direct, assembled, m) < AGREE


def chain_of(count: int) -> vm.Mechanism:
    """Bars with a length each, and a coil."""
    m = vm.Mechanism("chain", gravity=(0, -9.81))
    points = [f"P{k}" for k in range(count + 1)]
    m.ground_point("P0", (0, 0))
    for k, (first, second) in enumerate(pairwise(points)):
        m.bar(f"b{k}", first, second, length=m.parameter(f"L{k}", 0.4 + 0.01 * k), mass=1 + k / 10)
        m.revolute(first)
    m.torsional_spring("coil", "P3", stiffness=20.0, damping=m.parameter("c", 0.1))
    m.start(angle={f"b{k}": 0.1 * k for k in range(count)}, speed={f"b{count - 1}": 2.0})
    return m


@needs_compiler
@pytest.mark.parametrize(
    ("m", "options"),
    [
        (
            chain.mechanism(18),
            {"integrator": "trapezoidal", "step": 2e-3, "coordinates": "natural"},
        ),
        (chain_of(27), {"integrator": "rk4", "step": 2e-3, "coordinates": "rtdyn0"}),
    ],
    ids=["assembled", "swept, with a start from outside"],
)
def test_backends_agree_on_plans(m: vm.Mechanism, options: dict[str, Any]) -> None:
    method, schedule = choose(0.05, **options)
    solver, ρ = Solver(m.data, method), m.data.parameter_set.nominal
    assert solver.programs.large
    named = {
        "place": vm.final(lambda s: s.position("P4")[1]),
        "swing": vm.integral(lambda s: vm.dot(s.velocity("P3"), s.velocity("P3"))),
    }
    task = Task(schedule, named, list(range(ρ.size)), progress=False)
    direct, slow, native = (
        solver.run(replace(task, backend=backend, method=scheme), ρ)[0].gradients
        for backend, scheme in (
            ("interpreted", "direct"),
            ("interpreted", "adjoint"),
            ("native", "adjoint"),
        )
    )
    assert direct is not None and slow is not None and native is not None
    assert apart(direct[-1], native[-1], m) < AGREE
    assert apart(slow[-1], native[-1], m) < 1e-12


@needs_compiler
@pytest.mark.parametrize(
    ("options", "twin"),
    [
        ({"integrator": "hht", "step": 1e-2}, False),
        ({"tolerance": 1e-6, "output": 0.1}, False),
        ({"formulation": "independent", "integrator": "rk4", "step": 5e-3}, True),
    ],
    ids=["hht", "index1", "independent, redundant"],
)
def test_backends_agree_to_the_last_bit(options: dict[str, Any], twin: bool) -> None:
    m = four_bar(twin=twin)
    native, slow = (
        m.sensitivity(OBJECTIVES, duration=0.5, method="adjoint", backend=b, **options)
        for b in ("native", "interpreted")
    )
    np.testing.assert_array_equal(native.gradient, slow.gradient)
    np.testing.assert_array_equal(native.run.step_ends, slow.run.step_ends)
    np.testing.assert_array_equal(native.value_history, slow.value_history)
    if "tolerance" in options:
        replayed = {k: v for k, v in options.items() if k != "tolerance"} | {
            "ends": native.run.step_ends
        }
        direct = m.sensitivity(OBJECTIVES, duration=0.5, backend="interpreted", **replayed)
        np.testing.assert_allclose(direct.gradient, native.gradient, rtol=AGREE)
    if options.get("formulation") == "independent":
        assert native.run.info["selections"] > 1


@needs_compiler
def test_backends_agree_where_forces_depend_on_time() -> None:
    m = vm.Mechanism("pushed", gravity=(0, -9.81))
    m.ground_point("O", (0, 0))
    m.bar("rod", "O", "tip", length=m.parameter("L", 1.0), mass=3.0)
    m.revolute("O")
    m.force("push", "tip", lambda s: vm.vector(3 * vm.sin(5 * s.time), 0))
    m.start(angle={"rod": -1.0})
    options: dict[str, Any] = {"integrator": "rk4", "step": 1e-2}
    late = {
        "late": vm.integral(lambda s: s.time * s.position("tip")[0]),
        "last": vm.final(lambda s: s.acceleration("tip")[0]),
    }
    native, slow = (
        m.sensitivity(late, duration=0.2, method="adjoint", backend=b, **options)
        for b in ("native", "interpreted")
    )
    direct = m.sensitivity(late, duration=0.2, backend="interpreted", **options)
    np.testing.assert_array_equal(native.gradient, slow.gradient)
    np.testing.assert_allclose(direct.gradient, native.gradient, rtol=AGREE)


# transposes


def examples(count: int) -> Callable[[Any], Any]:
    """The same ones in every run."""
    slow = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
    return settings(
        max_examples=count, deadline=None, suppress_health_check=slow, phases=[Phase.generate]
    )


def check_transposed(solver: Solver, state: Array, seed: int) -> None:
    """⟨A s + B, μ⟩ = ⟨s, Aᵀ μ⟩ + Bᵀ μ for the start, the rates and the step, wherever they are
    linearised.
    """
    rng, ρ, count = np.random.default_rng(seed), solver.model.parameter_set.nominal, 3
    program = solver.runner(
        OBJECTIVES_OF_TIME, DerivativeRequest(np.eye(ρ.size), True, count)
    ).program
    assert isinstance(program, Program)
    for c in program.chains:
        size = c.finish.numel_in(0)
        given = [state[:size]]
        if c.iterate is not None:
            given += [rng.standard_normal(c.iterate.numel_out(j)) for j in range(2)]
        s, μ = rng.standard_normal((size, ρ.size)), rng.standard_normal((program.state_size, count))
        further = [1 + rng.random(program.penalty.numel_out(0)), ρ, np.array([0.3])]
        if program.scheme is None and c is not program.start:
            further.insert(0, np.array([0.02]))
        moved, (pulled, gained) = along(c, given, s, further), back(c, given, μ, further)
        if c is program.start:  # where it starts from is only a guess
            pulled = np.zeros((size, count))
        assert np.isfinite(moved).all()
        sums = np.abs(moved).T @ np.abs(μ) + np.abs(s).T @ np.abs(pulled) + np.abs(gained)
        assert (np.abs(moved.T @ μ - s.T @ pulled - gained) <= 1e-11 * sums + 1e-14).all()


def along(c: ChainFunctions, given: list[Array], s: Array, further: list[Array]) -> Array:
    """A s + B, one column a parameter."""
    if isinstance(c.finish, Plan):
        columns = padded(s)
        result = evaluated(c.finish, *given, columns, *further)[2]
        return result.reshape(-1, columns.shape[1])[:, : s.shape[1]]
    assert c.tangent is not None
    coefficients, column = c.finish(*given, *further)[2], c.tangent
    return np.hstack(
        [np.array(column(coefficients, s[:, k], e)) for k, e in enumerate(np.eye(s.shape[1]))]
    )


def back(
    c: ChainFunctions, given: list[Array], μ: Array, further: list[Array]
) -> tuple[Array, Array]:
    """Aᵀ μ and Bᵀ μ, one column a costate."""
    if isinstance(c.pullback, Plan):
        rows = padded(μ)
        pulled, gained = (
            x.reshape(-1, rows.shape[1])[:, : μ.shape[1]]
            for x in evaluated(c.pullback, *given, rows, *further)
        )
        return pulled, gained
    assert c.linearise is not None and c.pullback is not None
    coefficients = c.linearise(*given, *further)
    columns = [c.pullback(coefficients, column) for column in μ.T]
    return np.hstack([np.array(x) for x, _ in columns]), np.hstack(
        [np.array(x) for _, x in columns]
    )


OBJECTIVES_OF_TIME = {f"{k}": vm.final(lambda s: s.time) for k in range(3)}


@examples(3)
@given(tree=trees(4))
def test_what_is_written_out_is_transposed(tree: Tree) -> None:
    solver = Solver(
        mechanism(tree).data, choose(1.0, step=0.1, coordinates="rtdyn1")[0], large=False
    )
    e = solver.equations
    assume(0 < e.q.numel() <= 12)
    q, v = random_state(e, tree.seed)
    check_transposed(
        solver, np.concatenate([q, v, np.ones(q.size), np.ones(e.λ.numel())]), tree.seed
    )


@examples(2)
@given(tree=trees(3))
def test_what_is_assembled_is_transposed(tree: Tree) -> None:
    """In natural coordinates, away from all constraints."""
    solver = Solver(mechanism(tree).data, choose(1.0, step=0.1)[0], large=True)
    e = solver.equations
    assume(e.λ.numel() > 0)
    check_transposed(
        solver, np.random.default_rng(tree.seed).standard_normal(e.packed.numel()), tree.seed
    )


@pytest.mark.parametrize("coordinates", ["rtdyn0", "rtdyn1"])
@examples(2)
@given(tree=trees(5))
def test_what_is_swept_is_transposed(tree: Tree, coordinates: str) -> None:
    solver = Solver(
        mechanism(tree).data,
        choose(1.0, step=0.1, integrator="rk4", coordinates=coordinates)[0],
        large=True,
    )
    e = solver.equations
    assume(e.q.numel() > 0)
    assert solver.programs.recursive
    check_transposed(solver, np.concatenate(random_state(e, tree.seed)), tree.seed)
