"""Relative coordinates in use: the same motions as in natural ones, by every method, wherever loops
are cut and bodies turn.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
import pytest
from bodies import add_body
from loops import OBJECTIVES, TOLERANCE_ONLY, add_four_bar, four_bar
from newton_euler import turned, unit

import varimech as vm
from test_regimes import MODELS, NAMES, difference, everything, run
from varimech.benchmarks import five_bar
from varimech.coordinates.relative.choice import CENTRE_OF_MASS, ORIGIN
from varimech.coordinates.relative.equations import relative_equations
from varimech.coordinates.relative.recursion_passes import RecursionPasses
from varimech.coordinates.systems import COORDINATES
from varimech.model.relative_motion import euler_parameters
from varimech.schemes import FORMULATIONS, choose, integrators_of
from varimech.solving.programs import DEEP
from varimech.solving.solver import Solver
from varimech.solving.task import Task

Array = np.ndarray
RELATIVE = ("rtdyn0", "rtdyn1")
SLOW: dict[str, Any] = {"backend": "interpreted"}


# bodies that turn freely


def rotation(p: Array) -> Array:
    """By the angle and the axis that Euler parameters stand for."""
    return turned(p[1:], 2 * np.arctan2(np.linalg.norm(p[1:]), p[0])) if p[1:].any() else AS_IT_IS


@pytest.mark.parametrize("largest", range(4))
@pytest.mark.parametrize("sign", [-1, 1])
def test_euler_parameters_of_any_rotation(largest: int, sign: int) -> None:
    rng = np.random.default_rng(largest)
    for others in (np.zeros(3), np.ones(3), *rng.uniform(-1, 1, (20, 3))):  # none, or all as large
        p = unit(sign * np.insert(others, largest, 1.0))
        computed = euler_parameters(rotation(p))
        np.testing.assert_allclose(computed * np.sign(computed @ p), p, rtol=0, atol=1e-15)


AS_IT_IS = np.eye(3)


def top(
    *, gravity: float = 0.0, spin: Any = (0, 0, 1), orientation: Any = AS_IT_IS, com: float = 0.0
) -> vm.Mechanism:
    """A body on a ball joint; without weight, and hung at its centre, a ball."""
    m = vm.Mechanism("top", gravity=(0, 0, -gravity))
    m.ground_point("O", (0, 0, 0))
    J = (0.2, 0.3, 0.4) if com else (0.3, 0.3, 0.3)
    m.body(
        "top", mass=2, inertia=J, com=(0, 0, com), points={"O": (0, 0, 0), "tip": (0.3, 0.2, 0.5)}
    )
    m.spherical("O")
    m.start(orientation={"top": orientation}, speed={"top": spin})
    return m


AXES = [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, -2, 0.5)]


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("first", [None, *AXES])
def test_a_ball_turns_through_every_orientation(
    axis: tuple[float, ...], first: tuple[float, ...] | None
) -> None:
    """About any axis, from where it is or from half a turn about any other one: two turns at 4π
    rad/s in 1 s.
    """
    start = AS_IT_IS if first is None else turned(np.array(first), np.pi)
    m = top(spin=4 * np.pi * unit(axis), orientation=start)
    motion = m.simulate(1.0, tolerance=1e-10, output=0.05, coordinates="rtdyn1", **SLOW)
    expected = [
        turned(np.array(axis), 4 * np.pi * t) @ start @ [0.3, 0.2, 0.5] for t in motion.time
    ]
    np.testing.assert_allclose(motion.position("top.tip"), expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("coordinates", RELATIVE)
@pytest.mark.parametrize("axis", AXES)
def test_a_heavy_top_is_the_same_in_natural_coordinates(
    axis: tuple[float, ...], coordinates: str
) -> None:
    m = top(
        gravity=9.81,
        spin=15 * unit(axis),
        orientation=turned(np.array([1, 1, 0.2]), np.pi),
        com=0.4,
    )
    one, other = (
        m.simulate(1.0, tolerance=1e-11, output=0.05, coordinates=c, **SLOW)
        for c in (coordinates, "natural")
    )
    for measure in ("position", "velocity", "acceleration"):
        computed, expected = (np.asarray(getattr(r, measure)("top.tip")) for r in (one, other))
        assert difference(computed[..., None], expected[..., None]) < 1e-8, measure
    computed, expected = (np.asarray(r.reaction("O")) for r in (one, other))
    assert difference(computed[..., None], expected[..., None]) < 1e-8


@pytest.mark.parametrize("large", [False, True], ids=["solved", "swept"])
@pytest.mark.parametrize("coordinates", RELATIVE)
def test_euler_parameters_stay_unit(coordinates: str, large: bool) -> None:
    """About a hundred turns; steps are coarse, so that they would not by themselves."""
    m = top(gravity=9.81, spin=(10, 20, -15), com=0.4)
    solver = Solver(
        m.data,
        choose(20.0, step=0.02, integrator="dopri5", coordinates=coordinates)[0],
        large=large,
    )
    assert solver.programs.recursive == large
    states = run(solver, steps=1000, step=0.02).states
    p, ṗ = states[:, :4], states[:, 4:8]
    np.testing.assert_allclose((p * p).sum(axis=1), 1, rtol=0, atol=1e-13)
    np.testing.assert_allclose((p * ṗ).sum(axis=1), 0, atol=1e-11)
    assert (np.abs(p).max(axis=0) > 0.6).all()  # each is the largest one at times


# the same motions in all coordinates


def tree(speed: float = 3.0) -> vm.Mechanism:
    """An open tree: a bell on a ball joint, and a plate on an oblique hinge, both on a mast."""
    m = vm.Mechanism("small tree", gravity=(0, 0, -9.81))
    k, L, M = m.parameter("k", 30.0), m.parameter("L", 0.5), m.parameter("M", 0.8)
    m.ground_point("O", (0, 0, 0))
    m.ground_point("G", (0.6, -0.9, 0.1))
    add_body(
        m, "mast", 2, (0.4, 0.3, 0.2), (0.1, 0, 0.3), O=(0, 0, 0), B=(L, 0, 0.4), P=(0, L, 0.2)
    )
    add_body(m, "bell", M, (0.05, 0.06, 0.08), (0, 0.1, -0.3), B=(0, 0, 0), end=(0.1, 0, -0.5))
    add_body(m, "plate", 1, (0.1, 0.1, 0.2), (0.2, 0, 0), P=(0, 0, 0), end=(0.4, 0.1, 0))
    m.revolute("O", axis=(0.1, 0.2, 1))
    m.spherical("B", "bell.B", "mast.B")
    m.revolute("P", axis=(1, 0.2, 0))
    m.torsional_spring("coil", "P", stiffness=k, rest_angle=0.2, damping=0.3)
    m.spring("tie", "bell.end", "ground.G", stiffness=k, natural_length=0.4, damping=0.5)
    m.force(
        "drag",
        "plate.end",
        lambda s: -0.4 * vm.norm(s.velocity("plate.end")) * s.velocity("bell.end"),
    )
    orientation = turned(np.array([1, 2, 0.5]), 0.4)
    m.start(
        angle={"O": 0.3, "P": 0.1},
        orientation={"bell": orientation},
        speed={"O": speed, "bell": (1, 2, -1)},
    )
    return m


pytestmark = pytest.mark.filterwarnings("ignore::varimech.RedundantReactionWarning")
TIMES: dict[str, Any] = {"tolerance": 1e-10, "output": 0.05, **SLOW}
Make = Callable[[], vm.Mechanism]


def seen(m: vm.Mechanism, run: vm.Run) -> dict[str, Array]:
    """All that can be measured of a motion."""
    computed = {
        name: np.array([getattr(run, name)(p.label) for p in m.data.all_points])
        for name in ("position", "velocity", "acceleration")
    }
    computed["reaction"] = np.array([run.reaction(j) for j in m.joints])
    return computed | {f"effort of {d}": np.asarray(run.effort(d)) for d in m.drivers}


@cache
def natural(make: Make) -> tuple[vm.Mechanism, dict[str, Array]]:
    """A mechanism, and its motion to many digits in natural coordinates."""
    m = make()
    return m, seen(m, m.simulate(0.1, **TIMES))


def check_alike(make: Make, coordinates: str | vm.Relative) -> None:
    """Points, joints and drivers, relative to the largest of each kind."""
    m, expected = natural(make)
    for name, computed in seen(m, m.simulate(0.1, coordinates=coordinates, **TIMES)).items():
        assert difference(computed[..., None], expected[name][..., None]) < 1e-7, name


def cases() -> list[Any]:
    return [
        *[pytest.param(make, id=name) for make, name in zip(MODELS, NAMES, strict=True)],
        pytest.param(tree, id="small tree"),
    ]


@pytest.mark.parametrize("coordinates", RELATIVE)
@pytest.mark.parametrize("make", cases())
def test_motions_are_those_of_natural_coordinates(make: Make, coordinates: str) -> None:
    check_alike(make, coordinates)


# methods


SCHEMES = [(f, i) for f, formulation in FORMULATIONS.items() for i in integrators_of(formulation)]
ERRORS = {"newmark": 3e-4, "trapezoidal": 3e-5, "hht": 3e-5, "generalised-alpha": 3e-5}
"""Of positions at steps of 2 ms, relative to the largest, by the order of the integrator; 1e-8 for
all others. Measured: half of it.
"""


@pytest.mark.parametrize(("formulation", "integrator"), SCHEMES)
@pytest.mark.parametrize(
    ("make", "coordinates"),
    [(five_bar.mechanism, "rtdyn0"), (tree, "rtdyn1")],
    ids=["five-bar", "small tree"],
)
def test_every_way_to_solve_agrees(
    make: Make, coordinates: str, formulation: str, integrator: str
) -> None:
    m, expected = natural(make)
    times: dict[str, Any] = (
        {"tolerance": 1e-7, "output": 0.05}
        if integrator in TOLERANCE_ONLY
        else {"step": 2e-3, "every": 25}
    )
    computed = m.simulate(
        0.1,
        formulation=formulation,
        integrator=integrator,
        coordinates=coordinates,
        **times,
        **SLOW,
    )
    places = np.array([computed.position(p.label) for p in m.data.all_points])
    assert difference(places[..., None], expected["position"][..., None]) < ERRORS.get(
        integrator, 1e-8
    )


TREE_OBJECTIVES = {
    "integral": vm.integral(lambda s: vm.dot(s.velocity("bell.end"), s.velocity("bell.end"))),
    "final": vm.final(lambda s: s.position("plate.end")[2]),
}


@cache
def exact(make: Make) -> tuple[vm.Mechanism, Any, vm.Gradient]:
    """A mechanism with objectives, and their derivatives to many digits in natural coordinates."""
    m, objectives = make(), OBJECTIVES if make is four_bar else TREE_OBJECTIVES
    return (
        m,
        objectives,
        m.sensitivity(objectives, duration=0.1, tolerance=1e-11, output=0.1, **SLOW),
    )


@pytest.mark.parametrize(
    ("times", "close"),
    [({"tolerance": 1e-9, "output": 0.1}, 1e-9), ({"step": 2e-3}, 1e-3)],
    ids=["index1", "ali3p"],
)
@pytest.mark.parametrize("coordinates", RELATIVE)
@pytest.mark.parametrize("make", [four_bar, tree], ids=["four-bar", "small tree"])
def test_sensitivities_by_all_methods(
    make: Make, coordinates: str, times: dict[str, Any], close: float
) -> None:
    """Direct ones are those of the discrete solution, others are as close as the motion is.
    Measured: 2e-14 and 3e-4.
    """
    m, objectives, expected = exact(make)
    direct, composite, differences = (
        m.sensitivity(
            objectives,
            duration=0.1,
            method=method,
            coordinates=coordinates,
            relative_steps=(1e-5,),
            **times,
            **SLOW,
        ).gradient.to_numpy()
        for method in ("direct", "composite", "finite-difference")
    )
    right = expected.gradient.to_numpy()
    assert difference(direct.T, differences.T) < 1e-7
    assert difference(direct.T, right.T) < close
    assert difference(composite.T, right.T) < close


@pytest.mark.parametrize("coordinates", RELATIVE)
def test_both_regimes_agree_on_an_open_tree(coordinates: str) -> None:
    m, objectives, expected = exact(tree)
    method, schedule = choose(0.1, tolerance=1e-10, output=0.1, coordinates=coordinates)
    ρ = m.data.parameter_set.nominal
    task = Task(schedule, objectives, list(range(ρ.size)), "interpreted", progress=False)
    for large in (False, True):
        solver = Solver(m.data, method, large=large)
        assert solver.programs.recursive == large
        computed, _ = solver.run(task, ρ)
        assert computed.gradients is not None
        assert difference(computed.objectives[-1:], expected.values.to_numpy()[None]) < 1e-11
        assert difference(computed.gradients[-1].T, expected.gradient.to_numpy().T) < 1e-10


# loops and drivers


LOOPS: list[tuple[Make, tuple[str, ...]]] = [
    (four_bar, ("A", "B", "C", "D")),
    (five_bar.mechanism, ("A", "1", "2", "3", "B")),
    (everything, ("O", "P", "Q", "R", "rail")),
]


@pytest.mark.parametrize(("make", "cut"), [(make, cut) for make, cuts in LOOPS for cut in cuts])
def test_a_loop_may_be_cut_anywhere(make: Make, cut: str) -> None:
    for reference in (CENTRE_OF_MASS, ORIGIN):
        check_alike(make, vm.Relative(reference, (cut,)))


def driven(driver: str) -> vm.Mechanism:
    """Its crank is driven where it turns on the ground, or its rocker where it turns on the
    coupler.
    """
    m = vm.Mechanism("driven four-bar", gravity=(0, -9.81))
    add_four_bar(m, 2, 0.5, 1.8, 1.2)
    m.drive_angle("motor", driver, lambda t: {"A": 1.0, "C": 1.4}[driver] + 0.3 * vm.sin(6 * t))
    m.start(near={"crank": 1.0, "C": (1.5, 1)})
    return m


@pytest.mark.parametrize("make", [partial(driven, "A"), partial(driven, "C")], ids=["A", "C"])
@pytest.mark.parametrize("cut", ["A", "B", "C", "D"])
def test_joints_are_driven_in_the_tree_and_where_it_is_cut(make: Make, cut: str) -> None:
    check_alike(make, vm.Relative(cut=(cut,)))


# size


def chain(n: int, kind: str) -> vm.Mechanism:
    """Equal bars, each on the one before it."""
    dimension = 2 if kind == "planar" else 3
    m = vm.Mechanism("chain", gravity=(*[0] * (dimension - 1), -9.81))
    m.ground_point("P0", (0,) * dimension)
    for k in range(n):
        m.bar(
            f"b{k}", f"P{k}", f"P{k + 1}", length=0.5, mass=1, radius=0.0 if dimension == 2 else 0.1
        )
        if kind == "balls":
            m.spherical(f"P{k}")
        else:
            m.revolute(f"P{k}", axis=None if dimension == 2 else (0, 1, 0.2))
    return m


def instructions(m: vm.Mechanism, reference: str) -> int:
    """Of one evaluation of accelerations."""
    return sum(
        op.count * op.kernel.n_instructions()
        for op in RecursionPasses(relative_equations(m.data, reference)).rates(None).maps
    )


@pytest.mark.parametrize(
    ("kind", "reference", "sizes"),
    [
        ("planar", ORIGIN, (10, 100, 1000)),
        ("hinges", CENTRE_OF_MASS, (10, 30, 100)),
        ("balls", ORIGIN, (10, 30, 100)),
    ],
)
def test_each_body_of_a_chain_costs_the_same(
    kind: str, reference: str, sizes: tuple[int, ...]
) -> None:
    counts = [instructions(chain(n, kind), reference) for n in sizes]
    first, second = np.diff(counts) / np.diff(sizes)
    assert first == second > 0


# refusals


def ladder(n: int) -> vm.Mechanism:
    """A chain closed to a loop."""
    m = chain(n, "planar")
    m.ground_point("end", (0.3 * n, 0))
    m.revolute("end", "ground.end", f"b{n - 1}.P{n}")
    return m


def test_deep_large_loops_say_what_to_use() -> None:
    with pytest.raises(
        vm.ModelError,
        match=(
            rf"bodies \d+ joints away .* take up to 50 .* or {DEEP} .*; use coordinates='natural'"
        ),
    ):
        ladder(60).simulate(0.1, coordinates="rtdyn1")


def test_deep_large_trees_say_what_to_use() -> None:
    with pytest.raises(
        vm.ModelError, match=r"60 joints away .*; use formulation='index1' or coordinates='natural'"
    ):
        chain(60, "planar").simulate(0.1, step=1e-2, coordinates="rtdyn0")


@pytest.mark.parametrize(
    ("name", "reference"), [("rtdyn0", "centre of mass"), ("rtdyn1", "origin")]
)
def test_names_tell_what_the_recursion_is_about(name: str, reference: str) -> None:
    assert COORDINATES[name] == vm.Relative(reference)


@pytest.mark.parametrize(
    ("coordinates", "words"),
    [
        ("rtdyn2", r"no set of coordinates is called 'rtdyn2'; did you mean 'rtdyn1'"),
        (3, r"no set of coordinates is called 3; known: .*Relative"),
        (vm.Relative(cut=("Z",)), r"no joint to cut is called 'Z'; known: 'A'"),
    ],
)
def test_unknown_coordinates_are_refused(coordinates: Any, words: str) -> None:
    with pytest.raises(vm.ModelError, match=words):
        four_bar().simulate(0.1, coordinates=coordinates)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"cut": "B"}, r"cut = 'B' must be a list of joints, such as \['B'\]"),
        ({"cut": 3}, "cut = 3 must be a list of joints"),
        ({"reference": "x"}, "reference = 'x' must be 'centre of mass' or 'origin'"),
    ],
)
def test_bad_relative_coordinates_are_refused(given: dict[str, Any], words: str) -> None:
    with pytest.raises(vm.ModelError, match=words):
        vm.Relative(**given)
