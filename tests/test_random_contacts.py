"""Random small planar mechanisms with stops, contacts and friction: energy, momentum, gaps and
derivatives. Families differ in their bodies and joints, cases in all of their numbers; both are the
same in every run.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pytest

import varimech as vm

pytestmark = pytest.mark.filterwarnings("ignore::varimech.EventWarning")
G = 9.81
Values = dict[str, float]
Draw = Callable[[np.random.Generator], Values]
SLOW_IMPACT = 1e-3
"""Impacts slower than this share of the fastest one are nearly grazing: skipped."""
STEP = 2e-5
"""Of differences, over each parameter: of order four, so truncation is far below 1e-4."""
REFUSALS = re.compile(
    r"the surfaces of contact '.*' overlap|no modes of contacts and friction are consistent"
    r"|has events without end at this time"
)
"""What runs with contacts may end with."""


@dataclass(frozen=True)
class Family:
    """A mechanism whose numbers are all parameters, and how to draw them."""

    name: str
    mechanism: vm.Mechanism
    draw: Draw
    goals: dict[str, vm.Objective]
    duration: float
    gaps: Callable[[vm.Run, Values], list[np.ndarray]]
    size: float
    reduced_mass: Callable[[Values, str], float] | None = None
    """Mass that an impact acts on, of free bodies without friction that turns them."""
    momentum: Callable[[vm.Run, Values], np.ndarray] | None = None
    """Conserved over time."""


def named(m: vm.Mechanism, *names: str) -> list[Any]:
    return [m.parameter(name, 1.0) for name in names]


def uniform(**ranges: tuple[float, float]) -> Draw:
    return lambda rng: {name: float(rng.uniform(*range_)) for name, range_ in ranges.items()}


def box(friction: bool) -> Family:
    """A disc that is thrown into a box without a lid."""
    m = vm.Mechanism("box", gravity=(0, -G))
    x, y, u, v, ω, e, mass, r = named(m, "x", "y", "u", "v", "ω", "e", "mass", "r")
    μ = m.parameter("μ", 0.3)
    m.ground_point("A", (0, 0))
    m.ground_point("B", (2, 0))
    m.body("disc", mass=mass, inertia=mass * r**2 / 2, points={"C": (0, 0)}, floating=True)
    own: dict[str, Any] = {"radius": r, "restitution": e, "friction": μ if friction else 0.0}
    m.contact("floor", "disc.C", "ground.A", normal=(0, 1), **own)
    m.contact("left", "disc.C", "ground.A", normal=(1, 0), **own)
    m.contact("right", "disc.C", "ground.B", normal=(-1, 0), **own)
    m.start(position={"disc.C": (x, y)}, angle={"disc": 0.0}, speed={"disc.C": (u, v), "disc": ω})

    def gaps(run: vm.Run, values: Values) -> list[np.ndarray]:
        place = run.position("disc.C").values
        r = values["r"]
        return [place[:, 1] - r, place[:, 0] - r, 2 - r - place[:, 0]]

    return Family(
        f"box, friction {friction}",
        m,
        uniform(
            x=(0.5, 1.5),
            y=(0.4, 1.0),
            u=(-4, 4),
            v=(-2, 3),
            ω=(-10, 10),
            e=(0.4, 1.0),
            mass=(0.5, 3),
            r=(0.05, 0.3),
            μ=(0.05, 0.6),
        ),
        {
            "x": vm.final("position('disc.C')[0]"),
            "y": vm.final("position('disc.C')[1]"),
            "ω": vm.integral("angle('disc')**2 + position('disc.C')[0]**2"),
        },
        0.9,
        gaps,
        2.0,
        lambda values, name: values["mass"],
    )


def billiards(count: int) -> Family:
    """Free discs without gravity that approach each other."""
    m = vm.Mechanism(f"{count} discs", dimension=2)
    e = m.parameter("e", 1.0)
    ranges: dict[str, tuple[float, float]] = {"e": (0.3, 1.0)}
    m.ground_point("O", (0, 0))
    start: dict[str, Any] = {"position": {}, "angle": {}, "speed": {}}
    for k in range(count):
        x = m.parameter(f"x{k}", float(k))
        y, u, v, mass = named(m, *[f"{n}{k}" for n in ("y", "u", "v", "mass")])
        r = m.parameter(f"r{k}", 0.2)
        ranges |= {
            f"x{k}": (k - 0.1, k + 0.1),
            f"y{k}": (-0.1, 0.1),
            f"u{k}": (1.0 - 1.2 * k, 1.6 - 1.2 * k),
            f"v{k}": (-0.2, 0.2),
            f"mass{k}": (0.5, 2.0),
            f"r{k}": (0.1, 0.3),
        }
        m.body(f"b{k}", mass=mass, inertia=0.1, points={"C": (0, 0)}, floating=True)
        start["position"][f"b{k}.C"], start["speed"][f"b{k}.C"] = (x, y), (u, v)
        start["angle"][f"b{k}"] = 0.0
        for j in range(k):
            m.contact(
                f"{j}-{k}",
                f"b{j}.C",
                f"b{k}.C",
                radius=m.parameters[f"r{j}"],
                second_radius=r,
                restitution=e,
            )
    m.start(**start)

    def gaps(run: vm.Run, values: Values) -> list[np.ndarray]:
        places = [run.position(f"b{k}.C").values for k in range(count)]
        return [
            np.linalg.norm(places[j] - places[k], axis=1) - values[f"r{j}"] - values[f"r{k}"]
            for k in range(count)
            for j in range(k)
        ]

    def reduced(values: Values, name: str) -> float:
        return 1 / sum(1 / values[f"mass{k}"] for k in name.split("-"))

    def momentum(run: vm.Run, values: Values) -> np.ndarray:
        """Linear, and angular about the origin: discs without friction do not turn."""
        total = np.zeros((len(run.time), 3))
        for k in range(count):
            p, v = (getattr(run, q)(f"b{k}.C").values for q in ("position", "velocity"))
            spin = p[:, 0] * v[:, 1] - p[:, 1] * v[:, 0]
            total += values[f"mass{k}"] * np.column_stack([v, spin])
        return total

    return Family(
        f"{count} discs",
        m,
        uniform(**ranges),
        {
            "x": vm.final("position('b0.C')[0]"),
            "y": vm.final("position('b1.C')[1]"),
            "∫": vm.integral("distance('b0.C', 'b1.C')"),
        },
        1.2,
        gaps,
        count,
        reduced,
        momentum,
    )


def pendulums(count: int, friction: bool) -> Family:
    """A chain of rods whose first one swings between stops; friction in its hinges."""
    m = vm.Mechanism(f"{count} rods", gravity=(0, -G))
    low, high = m.parameter("low", -2.0), m.parameter("high", -1.0)
    e, μ = named(m, "e", "μ")
    ranges: dict[str, tuple[float, float]] = {
        "low": (-2.2, -1.9),
        "high": (-1.2, -0.9),
        "e": (0.4, 1.0),
        "μ": (0.05, 0.3),
    }
    m.ground_point("P0", (0, 0))
    angles: dict[str, Any] = {}
    for k in range(count):
        L, mass = named(m, f"L{k}", f"mass{k}")
        a = m.parameter(f"a{k}", -1.5)
        ranges |= {f"L{k}": (0.5, 1.2), f"mass{k}": (0.5, 2.0), f"a{k}": (-1.8, -1.3)}
        m.bar(f"rod{k}", f"P{k}", f"P{k + 1}", length=L, mass=mass)
        own = {"friction": μ, "friction_radius": 0.02} if friction else {}
        m.revolute(f"P{k}", **own)
        angles[f"rod{k}"] = a
    m.stop("stop", "angle('rod0')", lower=low, upper=high, restitution=e)
    speed = m.parameter("speed", 1.0)
    ranges["speed"] = (3.0, 7.0)
    m.start(angle=angles, speed={"rod0": speed})

    def gaps(run: vm.Run, values: Values) -> list[np.ndarray]:
        angle = run.angle("rod0").values
        return [angle - values["low"], values["high"] - angle]

    return Family(
        f"{count} rods, friction {friction}",
        m,
        uniform(**ranges),
        {
            "x": vm.final(f"position('P{count}')[0]"),
            "∫": vm.integral(f"position('P{count}')[0]**2"),
        },
        1.0,
        gaps,
        3.0,
    )


def rod_on_floor(friction: bool) -> Family:
    """A rod that falls on both ends; with friction without restitution, which cannot gain energy."""
    m = vm.Mechanism("rod", gravity=(0, -G))
    y, a, u, ω, L, e, μ = named(m, "y", "a", "u", "ω", "L", "e", "μ")
    m.ground_point("O", (0, 0))
    m.body(
        "rod",
        mass=1.0,
        inertia=L**2 / 12,
        points={"A": (-L / 2, 0), "B": (L / 2, 0)},
        floating=True,
    )
    own: dict[str, Any] = {"friction": μ} if friction else {"restitution": e}
    m.contact("floor", "rod.A", "ground.O", also=["rod.B"], normal=(0, 1), **own)
    m.start(position={"rod.com": (0, y)}, angle={"rod": a}, speed={"rod.com": (u, 0), "rod": ω})

    def gaps(run: vm.Run, values: Values) -> list[np.ndarray]:
        return [run.position(f"rod.{end}").values[:, 1] for end in "AB"]

    return Family(
        f"rod on a floor, friction {friction}",
        m,
        uniform(
            y=(0.7, 1.2),
            a=(0.2, 1.2),
            u=(-1, 1),
            ω=(-2, 2),
            L=(0.5, 1.0),
            e=(0.4, 1.0),
            μ=(0.05, 0.5),
        ),
        {"x": vm.final("position('rod.A')[0]"), "∫": vm.integral("position('rod.B')[1]**2")},
        0.6,
        gaps,
        1.0,
    )


def oscillator() -> Family:
    """A block on a spring with dry friction, with elastic stops at both ends."""
    m = vm.Mechanism("block", dimension=2)
    x = m.parameter("x", 0.0)
    v, k, F, wall, e = named(m, "v", "k", "F", "wall", "e")
    m.ground_point("O", (0, 0))
    m.body("b", mass=1.0, inertia=1.0, points={"C": (0, 0)})
    m.prismatic("g", "ground.O", "b.C", axis=(1, 0))
    m.force("spring", "b.C", lambda s: (-k * s.displacement("g"), 0))
    m.dry_friction("rub", "displacement_rate('g')", sliding=F, static=1.2 * F)
    m.stop("wall", "displacement('g')", lower=-wall, upper=wall, restitution=e)
    m.start(displacement={"g": x}, speed={"g": v})

    def gaps(run: vm.Run, values: Values) -> list[np.ndarray]:
        place = run.displacement("g").values
        return [place + values["wall"], values["wall"] - place]

    return Family(
        "block with dry friction",
        m,
        uniform(x=(-0.3, 0.3), v=(-4, 4), k=(5, 40), F=(0.1, 1.5), wall=(0.35, 0.6), e=(0.4, 1.0)),
        {"x": vm.final("displacement('g')"), "∫": vm.integral("displacement('g')**2")},
        1.5,
        gaps,
        1.0,
        lambda values, name: 1.0,
    )


FAMILIES: dict[str, Callable[[], Family]] = {
    "box": lambda: box(False),
    "rough box": lambda: box(True),
    "two discs": lambda: billiards(2),
    "three discs": lambda: billiards(3),
    "pendulum": lambda: pendulums(1, False),
    "pendulum with friction": lambda: pendulums(1, True),
    "double pendulum": lambda: pendulums(2, False),
    "double pendulum with friction": lambda: pendulums(2, True),
    "rod": lambda: rod_on_floor(False),
    "rough rod": lambda: rod_on_floor(True),
    "oscillator": oscillator,
}


SETTLING = ("box", "rough box", "pendulum", "double pendulum", "rod", "rough rod")
"""Those that come to rest on their contacts; hinges with friction and stops: test_joint_friction."""


def settling(name: str) -> Family:
    """With little restitution, for longer."""
    f = family(name)
    return replace(
        f, draw=lambda rng: {**f.draw(rng), "e": float(rng.uniform(0, 0.3))}, duration=2.0
    )


@cache
def family(name: str) -> Family:
    return FAMILIES[name]()


def stored_energy(run: vm.Run, values: Values, name: str) -> np.ndarray:
    """Kinetic and potential energy; the spring of a block is a force that the program cannot know."""
    energy = np.asarray(run.energy().values, dtype=float)
    if name == "oscillator":
        energy = energy + values["k"] * run.displacement("g").values ** 2 / 2
    return energy


def check_motion(name: str, run: vm.Run, values: Values) -> None:
    """Energy does not grow, nothing penetrates, and impulses balance momentum."""
    f = family(name)
    energy = stored_energy(run, values, name)
    scale = np.abs(energy).max() + 1.0
    assert np.diff(energy).max() <= 1e-8 * scale, "energy grows"
    for gap in f.gaps(run, values):
        assert gap.min() >= -1e-9 * f.size, "surfaces penetrate"
    impacts = [e for e in run.events if e.what == "impact"]
    for e in impacts:
        assert e.before < 0 <= e.after + 1e-9 and e.impulse > 0
        if f.reduced_mass is not None and name != "rough box":
            expected = f.reduced_mass(values, e.name) * (e.after - e.before)
            alone = sum(abs(e.time - other.time) < 1e-12 for other in impacts) == 1
            assert not alone or e.impulse == pytest.approx(expected, rel=1e-7)
    if f.momentum is not None:
        total = f.momentum(run, values)
        np.testing.assert_allclose(total, np.broadcast_to(total[0], total.shape), atol=1e-8)


def kinds(run: vm.Run) -> list[tuple[str, str]]:
    return [(e.name, e.what) for e in run.events]


def nearly_grazing(run: vm.Run) -> bool:
    speeds = [abs(e.before) for e in run.events if e.what == "impact"]
    return bool(speeds) and min(speeds) < SLOW_IMPACT * max(speeds)


def check_case(name: str, seed: int, settles: bool = False) -> str:
    """One case: what became of it."""
    f = settling(name) if settles else family(name)
    rng = np.random.default_rng([seed, *name.encode()])
    values = f.draw(rng)
    options: dict[str, Any] = {
        "duration": f.duration,
        "tolerance": 1e-11,
        "output": f.duration / 64,
    }
    try:
        direct = f.mechanism.sensitivity(f.goals, "all", parameters=values, **options)
    except vm.SimulationError as error:
        if REFUSALS.search(str(error)):
            return "refused"
        raise
    run = direct.run
    check_motion(name, run, values)
    adjoint = f.mechanism.sensitivity(
        f.goals, "all", parameters=values, method="adjoint", **options
    )
    names = [str(p) for p in direct.dataset["parameter"].values]
    sizes = np.array([max(abs(values[p]), 0.1) for p in names if p in values])
    computed = direct.final_gradient
    bound = 1e-7 * (np.abs(computed).max() + 1e-3)
    np.testing.assert_allclose(adjoint.final_gradient, computed, rtol=1e-7, atol=bound)
    if nearly_grazing(run):
        return "grazing"
    along = rng.uniform(-1, 1, len(names)) * sizes
    psi = []
    for multiple in (-2, -1, 1, 2):
        moved = {
            p: values[p] + multiple * STEP * float(d) for p, d in zip(names, along, strict=True)
        }
        try:
            other = f.mechanism.sensitivity(f.goals, names[0], parameters=moved, **options)
        except vm.SimulationError:
            return "other events"
        if kinds(other.run) != kinds(run) or nearly_grazing(other.run):
            return "other events"
        psi.append(np.asarray(other.final_values))
    expected = (psi[0] - 8 * psi[1] + 8 * psi[2] - psi[3]) / (12 * STEP)
    scale = np.abs(computed * along).max(axis=1) + np.abs(expected)
    np.testing.assert_allclose(
        (computed @ along) / scale, expected / scale, rtol=0, atol=1e-4, err_msg=f"seed {seed}"
    )
    return "compared" if run.events else "no events"


def check_cases(name: str, seeds: range, least: float = 0.6, settles: bool = False) -> None:
    """At least so large a share is compared with differences, and fewer than a tenth refused."""
    outcomes = Counter(check_case(name, seed, settles) for seed in seeds)
    assert outcomes["compared"] >= least * len(seeds), dict(outcomes)
    assert outcomes["refused"] <= 0.1 * len(seeds), dict(outcomes)


@pytest.mark.parametrize("name", FAMILIES)
def test_some_of_each_family(name: str) -> None:
    check_cases(name, range(2 if name == "double pendulum with friction" else 5))


EQUAL: dict[str, tuple[dict[str, Any], float]] = {
    "RK4": ({"integrator": "rk4"}, 1e-6),
    "trapezoidal": ({}, 2e-3),
}


@pytest.mark.parametrize(("options", "bound"), EQUAL.values(), ids=EQUAL.keys())
@pytest.mark.parametrize("name", FAMILIES)
def test_equal_steps_have_the_same_events(name: str, options: dict[str, Any], bound: float) -> None:
    """1,000 of them, beside a tolerance of 1e-11; both derivative methods agree."""
    if not options and name.endswith("pendulum with friction"):
        pytest.skip("ALI3-P does not take friction in joints")
    f, compared = family(name), 0
    for seed in range(2):
        values = f.draw(np.random.default_rng([seed, *name.encode()]))
        known: dict[str, Any] = {"duration": f.duration, "parameters": values}
        exact = f.mechanism.sensitivity(f.goals, "all", tolerance=1e-11, **known)
        if nearly_grazing(exact.run):
            continue
        step = f.duration / 1000
        direct, adjoint = (
            f.mechanism.sensitivity(f.goals, "all", step=step, method=method, **options, **known)
            for method in ("direct", "adjoint")
        )
        assert kinds(direct.run) == kinds(exact.run)
        check_motion_of_equal_steps(f, direct.run, values)
        scale = np.abs(exact.final_values).max()
        np.testing.assert_allclose(direct.final_values, exact.final_values, atol=bound * scale)
        size = np.abs(direct.final_gradient).max()
        np.testing.assert_allclose(
            adjoint.final_gradient, direct.final_gradient, atol=1e-10 * (size + 1e-3)
        )
        compared += 1
    assert compared


def check_motion_of_equal_steps(f: Family, run: vm.Run, values: Values) -> None:
    """Nothing penetrates: events are located to rounding by all schemes."""
    for gap in f.gaps(run, values):
        assert gap.min() >= -1e-9 * f.size, "surfaces penetrate"


@pytest.mark.parametrize("name", SETTLING)
def test_some_come_to_rest(name: str) -> None:
    """Impacts accumulate, the slowest ones are grazing; what they do to motion and both derivative
    methods is checked all the same.
    """
    check_cases(name, range(3), least=0.0, settles=True)


@pytest.mark.slow
@pytest.mark.parametrize("name", SETTLING)
def test_many_come_to_rest(name: str) -> None:
    check_cases(name, range(100, 130), least=0.0, settles=True)


@pytest.mark.slow
@pytest.mark.parametrize("name", FAMILIES)
def test_many_of_each_family(name: str) -> None:
    check_cases(name, range(100, 150))
