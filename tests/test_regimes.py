"""Small models run as straight-line code, large ones as plans over kinds of elements: same numbers,
same errors, whatever the size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial

import casadi as ca
import numpy as np
import pytest
from bodies import add_body
from joint_cases import CASES

import varimech as vm
from varimech.backends import compiler
from varimech.backends.bound import evaluated
from varimech.backends.native import NativeProgram
from varimech.backends.runner import Runner
from varimech.backends.trajectory import Trajectory
from varimech.benchmarks import five_bar
from varimech.coordinates.dynamics import Dynamics, Element
from varimech.coordinates.element_types import pieces_of
from varimech.coordinates.equations import Equations
from varimech.coordinates.penalty import penalty_function, penalty_plan
from varimech.core.schedule import equal_steps
from varimech.schemes import choose
from varimech.solving.derivative_request import DerivativeRequest, unit_directions
from varimech.solving.programs import LARGE
from varimech.solving.solver import Solver
from varimech.solving.task import Task
from varimech.stages.chain import CONSTRAINTS, COORDINATES, PARAMETERS
from varimech.stages.elimination import Factorisation, minimum_degree
from varimech.stages.plan import Plan
from varimech.stages.saddle import Saddle

Array = np.ndarray
STEP = 5e-3  # a' and λ' carry the rounding of q' divided by h²/4: at 1e-3 they agree to 2e-13 only
STATES = 1e-13
"""Largest difference relative to the largest entry of q, q̇, q̈ and λ each. Measured: 2e-14, q̈ of
30 bars; 1e-15 for most models.
"""
SLOPES = 5e-13
"""The same for derivatives, by parameter. Measured: 4e-14. A q' that is still small, such as by a
mass after few steps, would need more.
"""

ROBUST, _ = choose(1.0, step=1e-3, coordinates="natural")

needs_compiler = pytest.mark.skipif(
    compiler.find_compiler() is None, reason="no C compiler on this machine"
)


def solvers(m: vm.Mechanism) -> tuple[Solver, Solver]:
    """In the small and in the large regime."""
    return Solver(m.data, ROBUST, large=False), Solver(m.data, ROBUST, large=True)


def run(
    solver: Solver,
    objectives: Mapping[str, vm.Objective] | None = None,
    *,
    steps: int = 10,
    step: float = STEP,
    indices: list[int] | None = None,
    backend: str = "interpreted",
) -> Trajectory:
    """With derivatives for all parameters, or those at `indices`."""
    ρ = solver.model.parameter_set.nominal
    indices = indices or list(range(ρ.size)) or None
    return solver.run(
        Task(
            equal_steps(steps * step, step, 1), objectives or {}, indices, backend, progress=False
        ),
        ρ,
    )[0]


# comparison


def difference(first: Array, second: Array) -> float:
    """Largest difference, for each column relative to its largest entry: (…, column)."""
    axes = tuple(range(first.ndim - 1))
    size = np.abs(first).max(axis=axes, initial=0.0)
    return float(
        (np.abs(first - second).max(axis=axes, initial=0.0) / np.where(size > 0, size, 1.0)).max(
            initial=0.0
        )
    )


def constraint_forces(e: Equations, trajectory: Trajectory) -> tuple[Array, Array]:
    """Φ_qᵀ λ, which is unique where λ is not, and its derivatives: (time, coordinate, 1 or
    parameter).
    """
    force, ρ, S = (
        e.constraint_jacobian.T @ e.λ,
        e.model.parameter_set.nominal,
        ca.SX.sym("S", e.packed.numel(), e.ρ.numel()),
    )
    slope = ca.jacobian(force, e.packed) @ S + ca.jacobian(force, e.ρ)
    f = ca.Function("f", [e.packed, S, e.ρ, e.t], [ca.densify(force), ca.densify(slope)])
    assert trajectory.sensitivities is not None
    results = [
        f(*values, ρ, t)
        for *values, t in zip(
            trajectory.states, trajectory.sensitivities, trajectory.time, strict=True
        )
    ]
    return np.array([x for x, _ in results]), np.array([x for _, x in results])


def check_same(e: Equations, first: Trajectory, second: Trajectory, *, unique: bool = True) -> None:
    """States, derivatives, objectives and their gradients; `unique`: multipliers are, too."""
    assert first.iterations == second.iterations
    np.testing.assert_array_equal(first.time, second.time)
    assert max(*first.residuals, *second.residuals) < 1e-9
    n = e.q.numel()
    blocks = {"q": slice(0, n), "v": slice(n, 2 * n), "a": slice(2 * n, 3 * n)} | (
        {"λ": slice(3 * n, None)} if unique else {}
    )
    for name, rows in blocks.items():
        assert difference(first.states[:, rows, None], second.states[:, rows, None]) < STATES, name
    assert difference(first.objectives, second.objectives) < STATES
    if (
        first.sensitivities is None
        or second.sensitivities is None
        or first.gradients is None
        or second.gradients is None
    ):
        assert first.sensitivities is second.sensitivities is None
        return
    for name, rows in blocks.items():
        assert difference(first.sensitivities[:, rows], second.sensitivities[:, rows]) < SLOPES, (
            f"{name}'"
        )
    for k in range(first.objectives.shape[1]):
        assert difference(first.gradients[:, k], second.gradients[:, k]) < SLOPES
    if not unique:
        forces, others = constraint_forces(e, first), constraint_forces(e, second)
        assert difference(forces[0], others[0]) < STATES
        assert difference(forces[1], others[1]) < SLOPES


# models


def chain(lengths: Array, angles: Array | float = 0.0) -> vm.Mechanism:
    """Bars hinged to each other, the first to the ground; with its numbers as numbers."""
    n = len(lengths)
    m = vm.Mechanism("chain", gravity=(0, -9.81))
    m.ground_point("P0", (0, 0))
    for k, length in enumerate(lengths):
        m.bar(f"b{k}", f"P{k}", f"P{k + 1}", length=float(length), mass=1.0)
        m.revolute(f"P{k}")
    m.start(angle={f"b{k}": float(x) for k, x in enumerate(np.broadcast_to(angles, n))})
    return m


def lengths(n: int) -> Array:
    """All different, but for the last: an element that is alone in its kind has its numbers in the
    code.
    """
    return np.append(0.5 + np.random.default_rng(0).random(n - 1), 1.0)


def everything() -> vm.Mechanism:
    """A loop with every kind of force: dampers and functions of the state make the tangent
    unsymmetric.
    """
    m = vm.Mechanism("everything", gravity=(0, -9.81))
    values = {"c": 3.0, "k": 20.0, "gain": 2.0, "torque": 1.5, "rate": 4.0, "L": 1.0, "angle": 1.0}
    p = {name: m.parameter(name, value) for name, value in values.items()}
    for name, place in {"O": (0, 0), "S": (2, 1), "T": (3, 1), "G": (0, -0.2)}.items():
        m.ground_point(name, place)
    m.bar("a", "O", "P", length=p["L"], mass=1)
    m.bar("b", "P", "Q", length=0.8, mass=2)
    m.bar("c", "Q", "R", length=1.6, mass=1.5)
    m.body("block", mass=1, inertia=0.1, points={"R": (0, 0)})
    for name in "OPQR":
        m.revolute(name)
    m.prismatic("rail", "ground.G", "block.R", axis=(1, 0.1))
    m.spring("damped", "Q", "S", stiffness=p["k"], natural_length=0.4, damping=p["c"])
    m.torsional_spring("coil", "P", stiffness=p["k"], rest_angle=0.3)
    m.torsional_damper("bearing", "Q", damping=p["c"])
    m.spring(
        "between ground points", "S", "T", stiffness=1, natural_length=0.5
    )  # an element without coordinates
    m.force(
        "wind",
        "b.com",
        lambda s: (
            p["gain"] * s.velocity("Q")[0] ** 3,
            vm.where(s.time > 0.025, 1, vm.sin(p["rate"] * s.time)),
        ),
    )
    for name, power in (("drag b", 1.5), ("drag c", 1.7)):  # alike but for a number
        body = name[-1]
        m.force(
            name,
            f"{body}.com",
            lambda s, b=body, x=power: (-(vm.absolute(s.velocity(f"{b}.com")[1]) ** x), 0),
        )
    m.force("thrust", "c.com", (p["torque"], -1), frame="body")
    m.torque("motor", "a", p["torque"], against="b")
    m.start(angle={"a": p["angle"], "b": 0.2}, speed={"a": 1.0}, near={"R": (3, 0)})
    return m


def driven() -> vm.Mechanism:
    """One driver of each kind, and one degree of freedom left."""
    m = vm.Mechanism("driven", gravity=(0, -9.81))
    A, ω = m.parameter("A", 0.3), m.parameter("ω", 3.0)
    m.ground_point("O", (0, 0))
    m.body("sledge", mass=1, inertia=0.1, points={"P0": (0, 0)})
    m.prismatic("rail", "ground.O", "sledge.P0", axis=(1, 0))
    for k in range(4):
        m.bar(f"b{k}", f"P{k}", f"P{k + 1}", length=1, mass=1 + k)
        m.revolute(f"P{k}")
    m.drive_displacement("x", "rail", lambda t: A * vm.sin(ω * t))
    m.drive_angle("turn", "b0", lambda t: 0.5 + A * vm.sin(ω * t))
    m.drive_distance("span", "P1", "P3", lambda t: 1.2 + A * t)
    m.drive_coordinate("height", "P4", (0.2, 1), lambda t: 1.0 + A * vm.cos(ω * t))
    m.start(angle={"b1": 1.0}, near={"b2": -0.5, "b3": 0.1})
    return m


def in_space() -> vm.Mechanism:
    """A free body, tied to a crank, with a torque between both."""
    m = vm.Mechanism("in space", gravity=(0, 0, -9.81))
    c, k, torque, J = (
        m.parameter(n, x) for n, x in {"c": 3.0, "k": 20.0, "torque": 1.5, "J": 0.3}.items()
    )
    m.ground_point("A", (0, 0, 0))
    add_body(m, "crank", 1, (0.1, 0.2, 0.2), (0.2, 0, 0), A=(0, 0, 0), P=(0.4, 0, 0))
    m.body(
        "free",
        mass=1.5,
        inertia=(0.2, J, 0.4),
        com=(0.1, 0, 0.2),
        points={"B": (0.3, 0, 0)},
        floating=True,
    )
    m.revolute("A", axis=(0, 0, 1))
    m.spring("tie", "free.B", "crank.P", stiffness=k, natural_length=0.3, damping=c)
    m.torque("couple", "crank", (torque, 0, 1), against="free", frame="body")
    turn = vm.rotation((1, 2, 0), 0.7)
    m.start(
        angle={"A": 0.7},
        position={"free.com": (0, 0, 1)},
        orientation={"free": turn},
        speed={"A": 1, "free": (1, 2, 0)},
    )
    return m


def three_legs() -> vm.Mechanism:
    """A beam on three parallel legs, one of which is redundant, and a damper."""
    m = vm.Mechanism("three legs", gravity=(0, -9.81))
    L, mass = m.parameter("L", 1.0), m.parameter("mass", 2.0)
    places = (0, 1.2, 3.0)
    m.body(
        "beam",
        mass=mass,
        inertia=0.5,
        com=(1, 0),
        points={f"B{k}": (x, 0) for k, x in enumerate(places)},
    )
    for k, x in enumerate(places):
        m.ground_point(f"A{k}", (x, 0))
        m.bar(f"leg{k}", f"A{k}", f"B{k}", length=L, mass=1)
        m.revolute(f"A{k}")
        m.revolute(f"B{k}")
    m.torsional_damper("damper", "A1", damping=0.3)
    m.start(angle={"leg0": 1.0}, speed={"leg0": 2.5})
    return m


def four_hinges() -> vm.Mechanism:
    """A planar loop of spatial bodies, with redundant constraints."""
    m = vm.Mechanism("four hinges", gravity=(0, 0, -9.81))
    ω, span = m.parameter("ω", 1.0), m.parameter("span", 2.0)
    m.ground_point("A", (0, 0, 0))
    m.ground_point("D", (span, 0, 0))
    for name, p, q, length in (
        ("crank", "A", "B", 0.5),
        ("coupler", "B", "C", 1.5),
        ("rocker", "D", "C", 1.2),
    ):
        inertia, com = (0.1, 0.2, 0.2), (length / 2, 0, 0)
        m.body(name, mass=1, inertia=inertia, com=com, points={p: (0, 0, 0), q: (length, 0, 0)})
    for name in "ABCD":
        m.revolute(name, axis=(0, 0.1, 1))
    m.start(angle={"A": 1.0}, speed={"A": ω}, near={"C": (1.5, 1, 0)})
    return m


MODELS: list[Callable[[], vm.Mechanism]] = [
    *[partial(getattr, c, "mechanism") for c in CASES],
    everything,
    driven,
    in_space,
    three_legs,
    four_hinges,
]
NAMES = [*[c.name for c in CASES], "everything", "driven", "in space", "three legs", "four hinges"]
REDUNDANT = {"three legs", "four hinges"}


# both regimes and both backends agree


@pytest.mark.parametrize("make", MODELS, ids=NAMES)
def test_both_regimes_agree(make: Callable[[], vm.Mechanism]) -> None:
    m = make()
    small, large = solvers(m)
    regular = small.start.regular(
        small.start.assemble(m.data.parameter_set.nominal), m.data.parameter_set.nominal
    )
    assert regular == (m.name not in REDUNDANT)
    check_same(small.equations, run(small), run(large), unique=regular)


@pytest.mark.parametrize(
    ("backend", "indices"),
    [
        ("interpreted", [0, 1, 2, 3, 4]),
        pytest.param("native", [4], marks=needs_compiler),
    ],  # more take longer to compile
    ids=["interpreted", "native"],
)
def test_both_regimes_agree_on_the_five_bar(backend: str, indices: list[int]) -> None:
    """Straight-line code gives the same bits with either backend (see `test_backends`), so it is
    not compiled here.
    """
    small, large = solvers(five_bar.mechanism())
    expected = run(small, five_bar.objectives(), indices=indices)
    check_same(
        small.equations,
        expected,
        run(large, five_bar.objectives(), indices=indices, backend=backend),
    )


@pytest.mark.parametrize("make", [everything, in_space])
def test_penalties_of_both_regimes_agree(make: Callable[[], vm.Mechanism]) -> None:
    small = solvers(make())[0]
    e, ρ, saddle = small.equations, small.model.parameter_set.nominal, Saddle(regular=True)
    given = small.start.assemble(ρ), ρ, np.zeros(1)
    expected, computed = (
        evaluated(penalty_function(e, saddle), *given)[0],
        evaluated(penalty_plan(pieces_of(e), saddle), *given)[0],
    )
    assert expected.max() > 2 * expected.min()
    np.testing.assert_allclose(computed, expected, rtol=1e-12)


@needs_compiler
def test_compiled_plans_agree_with_interpreted_ones() -> None:
    n = 30
    m = chain(lengths(n))
    m.torsional_damper("damper", "P10", damping=m.parameter("c", 0.5))
    m.start(
        angle={"b0": m.parameter("θ", 0.1)} | {f"b{k}": k / n for k in range(1, n)},
        speed={"b10": 5.0},
    )
    solver = Solver(m.data, ROBUST)
    assert solver.programs.large
    check_same(solver.equations, run(solver), run(solver, backend="native"))


# kinds


def test_a_longer_chain_has_no_more_kinds() -> None:
    kinds = [
        len(pieces_of(Solver(chain(lengths(n)).data, ROBUST).equations).kinds) for n in (5, 20, 60)
    ]
    assert (
        kinds[0] == kinds[1] == kinds[2] <= 6
    )  # bars and their start angles: first, between, last


@pytest.mark.parametrize(
    "make",
    [lambda: chain(lengths(20)), everything, in_space],
    ids=["chain", "everything", "in space"],
)
def test_kinds_hold_every_element_once(make: Callable[[], vm.Mechanism]) -> None:
    """Each row of constraints is in one place, and energies and constraints of all kinds are those
    of the whole.
    """
    e = Solver(make().data, ROBUST).equations
    pieces = pieces_of(e)
    moving = [x for x in e.elements if x.name != "between ground points"]
    assert sum(p.count for p in pieces.kinds) == len(moving)
    rows = np.concatenate([p.tables[CONSTRAINTS].ravel() for p in pieces.kinds])
    np.testing.assert_array_equal(np.sort(rows), np.arange(e.constraints.numel()))
    rng = np.random.default_rng(1)
    q, v, ρ = (
        rng.standard_normal(e.q.numel()),
        rng.standard_normal(e.v.numel()),
        e.model.parameter_set.nominal,
    )
    energy, Φ = 0.0, np.zeros(e.constraints.numel())

    def measured(d: Dynamics, elements: Iterable[Element], constants: ca.SX) -> ca.Function:
        energy = sum((x.kinetic + x.potential for x in elements), ca.SX(0))
        return ca.Function("f", [d.q, d.v, d.ρ, d.t, constants], [energy, d.constraints])

    for p in pieces.kinds:
        f = measured(p.local, p.local.elements, p.constants)
        for k in range(p.count):
            at, of = p.tables[COORDINATES][k], p.tables[PARAMETERS][k]
            computed, residuals = f(q[at], v[at], ρ[of], 0.3, p.values[k])
            energy += float(computed)
            Φ[p.tables[CONSTRAINTS][k]] = np.array(residuals).ravel()
    whole = measured(e, moving, ca.SX(0, 1))(q, v, ρ, 0.3, [])
    assert energy == pytest.approx(float(whole[0]), rel=1e-13)
    np.testing.assert_allclose(Φ, np.array(whole[1]).ravel(), rtol=1e-13, atol=1e-14)


@pytest.fixture(scope="module")
def programs() -> tuple[NativeProgram, NativeProgram]:
    """Of chains of 60 and 90 bars."""
    runners = [
        Solver(chain(lengths(n)).data, ROBUST).runner({}, DerivativeRequest()) for n in (60, 90)
    ]
    first, second = (runner.native for runner in runners if isinstance(runner, Runner))
    return first, second


def test_a_longer_chain_has_the_same_kernels(programs: tuple[NativeProgram, NativeProgram]) -> None:
    first, second = (p.kernels for p in programs)
    assert first.source() == second.source()
    assert [f.serialize() for f in first.of_numbers] == [f.serialize() for f in second.of_numbers]


def test_a_longer_chain_does_not_compile_again(
    programs: tuple[NativeProgram, NativeProgram],
) -> None:
    assert programs[0].source == programs[1].source


@pytest.mark.parametrize("coordinates", ["natural", "rtdyn1"])
def test_more_parameters_have_the_same_code(coordinates: str) -> None:
    """Kernels are code for one column of derivatives; how many there are is data."""
    n = 40
    m = vm.Mechanism("chain", gravity=(0, -9.81))
    m.ground_point("P0", (0, 0))
    for k in range(n):
        m.bar(f"b{k}", f"P{k}", f"P{k + 1}", length=m.parameter(f"L{k}", 1 + 0.1 * k), mass=1.0)
        m.revolute(f"P{k}")
    m.start(angle={f"b{k}": 0.0 for k in range(n)})
    solver = Solver(m.data, choose(1.0, step=STEP, integrator="rk4", coordinates=coordinates)[0])
    sources = []
    for count in (9, 40):
        runner = solver.runner({}, DerivativeRequest(unit_directions(n, list(range(count)))))
        assert isinstance(runner, Runner)
        sources.append(runner.native.source)
    assert sources[0] == sources[1]


# the switch


@pytest.mark.parametrize("n", [LARGE // 3, LARGE // 3 + 1])
def test_size_decides_how_a_model_is_run(n: int) -> None:
    """Each bar adds two coordinates and a constraint."""
    m = chain(lengths(n))
    m.simulate(3 * STEP, step=STEP, backend="interpreted")
    solver = m._solvers.of(ROBUST)
    assert solver.equations.q.numel() + solver.equations.λ.numel() == 3 * n
    program = solver.runner({}, DerivativeRequest()).program
    plans = [
        isinstance(f, Plan) for f in (program.step.iterate, program.step.finish, program.penalty)
    ]
    assert plans == [3 * n > LARGE] * 3


def test_a_long_chain_falls_as_it_should() -> None:
    """From rest, all bars horizontal: half of the Jacobian's entries are zero then."""
    m = chain(lengths(60))
    motion = m.simulate(0.1, step=2e-3, backend="interpreted")
    kinetic, total = motion.energy("kinetic").values, motion.energy().values
    assert kinetic[-1] > 10
    assert np.abs(total - total[0]).max() < 2e-6 * kinetic[-1]
    small, large = Solver(m.data, ROBUST, large=False), m._solvers.of(ROBUST)
    check_same(small.equations, *[run(s, steps=50, step=2e-3) for s in (small, large)])


# failures


def broken_force() -> vm.Mechanism:
    m = chain(np.ones(2), 0.3)
    m.force("pull", "b0.com", (1, 0))
    m.force("broken", "b1.com", lambda s: (vm.sqrt(0.0525 - s.time), s.velocity("b1.com")[0]))
    return m


def lost_logarithm() -> vm.Mechanism:
    """Not finite beyond a position, nor are its derivatives."""
    m = chain(np.ones(2), 0.3)
    m.force("logarithm", "P2", lambda s: (0, vm.log(s.position("P2")[1])))
    return m


def without_bounds() -> vm.Mechanism:
    """Forces that pull on one point from both sides, and are infinite at once."""
    m = chain(np.ones(2))
    m.force("left", "P2", lambda s: (-vm.exp(-1e7 * s.position("P2")[1]), 0))
    m.force("right", "P2", lambda s: (2 * vm.exp(-1e7 * s.position("P2")[1]), 0))
    return m


def stretched() -> vm.Mechanism:
    """A driver pulls two bars longer than they are."""
    m = chain(np.ones(2))
    m.drive_distance("winch", "P0", "P2", lambda t: 1.9 + 2 * t)
    m.start(angle={"b0": 0.3}, near={"b1": -0.3})
    return m


@pytest.mark.parametrize(
    ("make", "worst", "time", "words"),
    [
        (broken_force, "broken", 0.0525, "a value became not finite .* look at 'broken'"),
        (lost_logarithm, "logarithm", None, "a value became not finite .* look at 'logarithm'"),
        (without_bounds, "left", 0.005, "a value became not finite .* look at 'left'"),
        (
            stretched,
            "winch",
            0.05,
            "no convergence .* worst constraint 'winch', .* near a singular position",
        ),
    ],
    ids=["force", "logarithm", "infinite forces", "driver"],
)
def test_failures_are_explained_alike(
    make: Callable[[], vm.Mechanism], worst: str, time: float | None, words: str
) -> None:
    errors = []
    for solver in solvers(make()):
        with pytest.raises(vm.SimulationError, match=words) as caught:
            run(solver, steps=200)
        errors.append(caught.value)
    small, large = errors
    assert small.worst == large.worst == worst
    assert (small.time, small.step) == (large.time, large.step)
    assert time is None or large.time == pytest.approx(time)


# the order of elimination


@pytest.mark.parametrize("seed", range(5))
def test_late_rows_wait_for_all_their_neighbours(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, late = 40, range(25, 40)
    A = np.triu(rng.random((n, n)) < 0.08, 1)
    A |= A.T
    order = minimum_degree([set(np.flatnonzero(row).tolist()) for row in A], late)
    place = {row: k for k, (row, _) in enumerate(order)}
    assert sorted(place) == list(range(n))
    for row in late:
        assert all(place[k] < place[row] for k in np.flatnonzero(A[row]).tolist() if k not in late)
    for row, after in order:  # with the entries that fill in
        assert after == [k for k in np.flatnonzero(A[row]).tolist() if place[k] > place[row]]
        A[np.ix_(after, after)] = True


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("direction", [(0, 1), (1, 0), (1e-9, 1)])
def test_entries_that_happen_to_be_zero_cost_no_digits(
    direction: tuple[float, float], symmetric: bool
) -> None:
    """Saddle matrix of a chain along an axis: a multiplier that waits for one neighbour only may
    meet a zero, then its pivot is 1e-12.
    """
    bars, n = 12, 24
    A, entries = np.zeros((n + bars, n + bars)), np.eye(n + bars, dtype=bool)
    bar = np.kron([[2, 1], [1, 2]], np.eye(2)) / 6
    for k in range(bars):
        ends, multiplier = np.arange(2 * k - 2, 2 * k + 2), n + k
        J = (1 + 0.1 * k) * np.array([*(-np.array(direction)), *direction])
        there = ends >= 0  # the first bar begins on the ground
        ends, J, mass = ends[there], J[there], bar[np.ix_(there, there)]
        A[np.ix_(ends, ends)] += mass
        A[multiplier, ends] = A[ends, multiplier] = J
        A[multiplier, multiplier] = -1e-12
        entries[np.ix_(ends, ends)] |= mass > 0
        entries[multiplier, ends] = entries[ends, multiplier] = True
    b = np.random.default_rng(0).standard_normal((n + bars, 2))
    rows, columns = (x.tolist() for x in np.nonzero(entries))
    pattern = ca.Sparsity.triplet(n + bars, n + bars, rows, columns)
    symbols = ca.SX.sym("A", pattern)
    x = Factorisation(symbols, symmetric=symmetric, late=range(n, n + bars)).solve(ca.SX(b))
    solved = np.array(ca.Function("solve", [symbols], [x])(ca.project(ca.DM(A), pattern)))
    expected = np.linalg.solve(A, b)
    assert np.abs(solved - expected).max() < 1e-12 * np.abs(expected).max()


# the start


def test_degrees_of_freedom_of_a_long_chain() -> None:
    assert chain(lengths(200)).dofs == 200


@pytest.mark.parametrize("n", [3, 40])
def test_initial_conditions_that_are_incomplete(n: int) -> None:
    m = chain(lengths(n))
    m.start(angle={f"b{k}": 0.1 * k for k in range(n) if k != n // 2})
    given = rf"given: angle of 'b0', .*angle of 'b{n - 1}'"
    with pytest.raises(
        vm.ModelError,
        match=rf"leave 1 of {n} DOF undetermined \({given}\); .* a value that fixes 'P\d+\.[xy]'",
    ):
        m.simulate(0.01)


def test_without_initial_conditions_three_coordinates_are_suggested() -> None:
    m = chain(lengths(6))
    m.start()
    with pytest.raises(
        vm.ModelError,
        match=r"leave 6 of 6 DOF undetermined .* fixes 'P\d\.[xy]', 'P\d\.[xy]', 'P\d\.[xy]'$",
    ):
        m.simulate(0.01)


@pytest.mark.parametrize("n", [3, 40])
def test_initial_conditions_that_are_redundant(n: int) -> None:
    """The first joint turns as the first bar does, and nothing is said of the second bar."""
    m = chain(lengths(n))
    m.start(angle={f"b{k}": 0.1 * k for k in range(n) if k != 1} | {"P0": 0.0})
    words = (
        rf"redundant or conflicting \(angle of 'b0', .*angle of 'P0'\); the model has {n}"
        r" unconstrained DOF: specify exactly one initial value for each"
    )
    with pytest.raises(vm.ModelError, match=words):
        m.simulate(0.01)


def test_a_large_model_that_cannot_close_is_explained_without_delay() -> None:
    """A chain of 301 bars of 1 m and a rope of 0.5 m, from 2 · 301 m away."""
    n = 301
    m = chain(np.ones(n))
    m.ground_point("far", (2.0 * n, 0))
    m.distance("rope", "ground.far", f"b{n - 1}.P{n}", length=0.5)
    m.start(angle={f"b{k}": 0.0 for k in range(1, n)})
    loop = r"ground – b0 – b1 – b2 – b3 – b4 – ⋮ 291 more – b296 – .* – b300 \(joints 'P0', .*\)"
    with pytest.raises(vm.AssemblyError, match=rf"assembly fails: the loop {loop} stays open by"):
        m.simulate(0.01, step=1e-3)
