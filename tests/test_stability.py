"""Objectives of small motions: growth rates, frequencies, damping and critical speeds against closed
forms, in gradients, optimisation, moments and files.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import varimech as vm
from varimech.benchmarks import bicycle, bicycle_matrices


def oscillator(damping: float = -0.3) -> vm.Mechanism:
    """m ẍ + c ẋ + k x = 0; the damping may be negative."""
    m = vm.Mechanism("oscillator", dimension=2)
    m.parameter("k", 50.0, unit="N/m")
    m.parameter("c", damping, unit="N*s/m")
    m.parameter("m", 2.0, unit="kg")
    m.ground_point("O", (0, 0))
    m.body("block", mass="m", inertia=1.0, points={"C": (0, 0)})
    m.prismatic("guide", "ground.O", "block.C", axis=(1, 0))
    law = "-k*displacement('guide') - c*displacement_rate('guide')"
    m.force("law", "block.C", [law, 0])
    m.start(displacement={"guide": 0.0})
    return m


def ziegler(**tolerances: float) -> vm.Mechanism:
    """Two rods with masses 2 and 1 kg at their ends, and a load that follows the second one."""
    m = vm.Mechanism("Ziegler's column", dimension=2)
    for name, value, unit in (
        ("k", 3.0, "N*m/rad"),
        ("b", 0.1, "N*m*s/rad"),
        ("l", 0.5, "m"),
        ("load", 1.0, "N"),
    ):
        spread = vm.Tolerance(tolerances[name]) if name in tolerances else None
        m.parameter(name, value, unit=unit, distribution=spread)
    m.ground_point("O", (0, 0))
    m.body("one", mass=2.0, inertia=0.0, com=("l", 0), points={"O": (0, 0), "P": ("l", 0)})
    m.body("two", mass=1.0, inertia=0.0, com=("l", 0), points={"P": (0, 0), "Q": ("l", 0)})
    for joint in "OP":
        m.revolute(joint)
        m.torsional_spring(f"spring {joint}", joint, stiffness="k", damping="b")
    m.force("follower", "two.Q", ["-load*cos(angle('two'))", "-load*sin(angle('two'))"])
    m.start(angle={"one": 0.0, "two": 0.0})
    return m


def flutter_load(k: np.ndarray | float, b: np.ndarray | float, l: float = 0.5) -> np.ndarray:
    """(41/28 + b²/(2 m k l²)) k/l; G. Herrmann and I.-C. Jong, J. Appl. Mech. 32 (1965) 592–597."""
    return 41 / 28 * np.asarray(k) / l + np.asarray(b) ** 2 / (2 * l**3)


def isolator() -> vm.Mechanism:
    """m ẍ + k x + f = 0, ḟ = k₂ ẋ − (k₂/c) f: a spring beside a spring and a damper in series."""
    m = vm.Mechanism("isolator", dimension=2)
    k, k2, c = m.parameter("k", 100.0), m.parameter("k2", 120.0), m.parameter("c", 3.0)
    m.ground_point("O", (0, 0))
    m.body("block", mass=1.0, inertia=1.0, points={"C": (0, 0)})
    m.prismatic("guide", "ground.O", "block.C", axis=(1, 0))
    m.state(
        "f", initial=0.0, rate=lambda s: k2 * s.displacement_rate("guide") - k2 / c * s.state("f")
    )
    m.force("law", "block.C", lambda s: (-k * s.displacement("guide") - s.state("f"), 0))
    m.start(displacement={"guide": 0.0})
    return m


def test_an_oscillator_with_negative_damping() -> None:
    """λ = −c/2m ± i √(k/m − c²/4m²), and all derivatives of it."""
    k, c, m = 50.0, -0.3, 2.0
    p = oscillator().problem(
        {
            "x": vm.final("displacement('guide')"),
            "growth": vm.growth_rate("start"),
            "frequency": vm.frequency("start"),
            "ratio": vm.damping_ratio("start"),
            "limit": vm.critical_speed("c", between=("-1 N*s/m", 0.7)),
            "twice": -2.0 * vm.growth_rate("start", near=0.8),
        },
        duration=0.1,
    )
    g = p.gradient()
    ω, ζ = np.sqrt(k / m - c**2 / (4 * m**2)), c / (2 * np.sqrt(k * m))
    f_ = np.array([1 / m, -c / (2 * m**2), -k / m**2 + c**2 / (2 * m**3)]) / (4 * np.pi * ω)
    growth_ = np.array([0, -1 / (2 * m), c / (2 * m**2)])
    values = {
        "growth": (-c / (2 * m), growth_),
        "frequency": (ω / (2 * np.pi), f_),
        "ratio": (ζ, ζ * np.array([-0.5 / k, 1 / c, -0.5 / m])),
        "limit": (0.0, np.zeros(3)),
        "twice": (c / m, -2 * growth_),
    }
    for name, (value, derivatives) in values.items():
        np.testing.assert_allclose(g.values.sel(objective=name), value, rtol=1e-11, atol=1e-13)
        np.testing.assert_allclose(
            g.gradient.sel(objective=name), derivatives, rtol=1e-10, atol=1e-12
        )
    assert g.objective_names[0] == "x"
    assert dict(zip(g.objective_names, g.units, strict=True))["limit"] == "N*s/m"
    history = g.history["value"].sel(objective="growth")
    np.testing.assert_array_equal(history, g.values.sel(objective="growth"))
    assert g.history["gradient"].shape == (g.time.size, 6, 3)


def test_the_flutter_load_of_zieglers_column() -> None:
    g = ziegler().sensitivity(
        vm.critical_speed("load", between=(0.5, 20.0)), ["k", "b", "l"], duration=0.01
    )
    k, b, l = 3.0, 0.1, 0.5
    np.testing.assert_allclose(g.final_values, [flutter_load(k, b)], rtol=1e-12)
    slopes = [41 / 28 / l, b / l**3, -41 / 28 * k / l**2 - 1.5 * b**2 / l**4]
    np.testing.assert_allclose(g.final_gradient, [slopes], rtol=1e-10)


def test_critical_speeds_of_a_bicycle() -> None:
    """The published speeds, and complex steps through the published matrices."""
    m = bicycle.mechanism(tap=0.0)
    limits = {
        "weave": vm.critical_speed("v", between=(3.0, 5.0)),
        "capsize": vm.critical_speed("v", between=(5.0, 8.0)),
    }
    g = m.sensitivity(limits, ["w", "c"], duration=0.01)
    np.testing.assert_allclose(g.final_values, list(bicycle.CRITICAL.values()), rtol=1e-11)
    expected = [
        [bicycle_matrices.critical_speed_derivative(kind, p) for p in "wc"] for kind in limits
    ]
    np.testing.assert_allclose(g.final_gradient, expected, rtol=1e-9)


def test_a_damper_for_the_largest_decay() -> None:
    """Against the roots of s³ + (k₂/c) s² + (k + k₂) s + k k₂/c, by a search without derivatives."""
    from scipy.optimize import minimize_scalar

    best = isolator().optimize(
        {"growth": vm.growth_rate()}, "c", duration=1.0, bounds={"c": (1.0, 30.0)}
    )
    assert best.converged

    def growth(c: float) -> float:
        return float(np.roots([1.0, 120 / c, 220, 12000 / c]).real.max())

    other = minimize_scalar(growth, bounds=(1, 30), method="bounded", options={"xatol": 1e-10})
    np.testing.assert_allclose(best.objective, other.fun, rtol=1e-9)
    np.testing.assert_allclose(best.parameters["c"], other.x, rtol=1e-6)
    assert best.plot().axes
    assert best.gradient.small_motions == ("growth",)


def test_a_stability_limit_as_a_constraint_beside_a_run() -> None:
    """The shortest travel of a braked block whose damping ratio has to be 0.2 at most: c = 0.4 √(k m)."""
    m = oscillator(damping=0.5)
    travel = vm.integral("displacement_rate('guide')**2")
    m.start(displacement={"guide": 0.0}, speed={"guide": 1.0})
    best = m.optimize(
        {"travel": travel},
        "c",
        duration=1.0,
        bounds={"c": (0.1, 15.0)},
        constraints={"ratio": vm.damping_ratio("start") <= 0.2},
    )
    assert best.converged
    np.testing.assert_allclose(best.parameters["c"], 0.4 * np.sqrt(50.0 * 2.0), rtol=1e-7)
    assert best.multipliers["ratio"] > 0


def test_moments_of_a_flutter_load_against_samples_of_its_closed_form() -> None:
    m = ziegler(k=0.03, b=0.002)
    limit = {"P": vm.critical_speed("load", between=(0.5, 20.0))}
    moments = m.moments(limit, order=1, duration=0.01)
    rng = np.random.default_rng(1)
    samples = flutter_load(rng.normal(3.0, 0.01, 400_000), rng.normal(0.1, 0.002 / 3, 400_000))
    np.testing.assert_allclose(moments.mean[-1], [samples.mean()], rtol=2e-5)
    np.testing.assert_allclose(moments.std[-1], [samples.std()], rtol=5e-3)
    shares = moments.contributions[-1, 0].to_numpy()
    parts = np.array([(41 / 28 / 0.5 * 0.01) ** 2, (0.1 / 0.125 * 0.002 / 3) ** 2])
    np.testing.assert_allclose(shares, parts / parts.sum(), rtol=1e-8)


def test_a_largest_eigenvalue_that_switches_has_no_derivative() -> None:
    """Two oscillators with the same decay, each with a parameter of its own."""
    m = vm.Mechanism("two blocks", dimension=2)
    for k in (1, 2):
        m.parameter(f"c{k}", 0.4)
        m.ground_point(f"O{k}", (0, k))
        m.body(f"block {k}", mass=1.0, inertia=1.0, points={f"C{k}": (0, 0)})
        m.prismatic(f"g{k}", f"ground.O{k}", f"block {k}.C{k}", axis=(1, 0))
        law = f"-{10 * k}*displacement('g{k}') - c{k}*displacement_rate('g{k}')"
        m.force(f"law {k}", f"block {k}.C{k}", [law, 0])
    m.start(displacement={"g1": 0.0, "g2": 0.0})
    growth = {"growth": vm.growth_rate()}
    with pytest.raises(vm.VarimechError, match=r"'growth' has no derivative.*equally large"):
        m.sensitivity(growth, "all", duration=0.1)
    apart = m.sensitivity(growth, "all", duration=0.1, parameters={"c2": 0.41})
    np.testing.assert_allclose(apart.final_gradient, [[-0.5, 0.0]], atol=1e-10)
    near = vm.growth_rate(near=np.sqrt(20) / (2 * np.pi))
    one = m.sensitivity(near, "all", duration=0.1)
    np.testing.assert_allclose(one.final_gradient, [[0.0, -0.5]], atol=1e-10)


def test_undamped_modes_neither_grow_nor_change() -> None:
    """All of them have the growth rate zero, whatever the length."""
    m = vm.Mechanism("double pendulum", gravity=(0, -9.81))
    L = m.parameter("L", 0.7)
    m.ground_point("O", (0, 0))
    m.bar("one", "O", "P", length=L, mass=2.0)
    m.bar("two", "P", "Q", length=1.1, mass=3.0)
    m.revolute("O")
    m.revolute("P")
    m.start(angle={"one": -1.5, "two": -1.6})
    g = m.sensitivity(vm.growth_rate(), "L", duration=0.1)
    np.testing.assert_allclose([g.final_values, g.final_gradient[0]], 0, atol=1e-12)


def test_critical_damping_has_no_derivative() -> None:
    with pytest.raises(vm.VarimechError, match=r"'growth' has no derivative.*critical damping"):
        oscillator(damping=20.0).sensitivity({"growth": vm.growth_rate()}, duration=0.1)


def test_a_free_shaft_counts_no_neutral_rotation() -> None:
    """Two discs on a shaft: λ² + c J λ + k J = 0 with J = 1/I₁ + 1/I₂; the rotation of both is neutral,
    also where a parameter turns the shape of it."""
    m = vm.Mechanism("shaft", dimension=2)
    n = m.parameter("n", 1.5)
    m.parameter("k", 40.0)
    for k in (1, 2):
        m.ground_point(f"O{k}", (k, 0))
        m.body(f"disc {k}", mass=1.0, inertia=0.1 * k, points={f"C{k}": (0, 0)})
        m.revolute(f"b{k}", f"ground.O{k}", f"disc {k}.C{k}")
    twist = "(k*(angle('b1') - n*angle('b2')) + 0.2*(angular_velocity('disc 1') - n*angular_velocity('disc 2')))"
    m.torque("t1", "disc 1", f"-{twist}")
    m.torque("t2", "disc 2", f"n*{twist}")
    m.start(angle={"b1": 0.0, "b2": 0.0})
    g = m.sensitivity({"growth": vm.growth_rate("start")}, ["n", "k"], duration=0.1)
    J = 1 / 0.1 + float(n.value) ** 2 / 0.2
    np.testing.assert_allclose(g.final_values, [-0.1 * J], rtol=1e-10)
    np.testing.assert_allclose(g.final_gradient, [[-0.1 * 2 * 1.5 / 0.2, 0.0]], atol=1e-9)


@pytest.mark.parametrize("analysis", ["hessian", "monte_carlo", "moments", "openturns"])
def test_analyses_that_need_runs_refuse_by_name(analysis: str) -> None:
    p = oscillator().problem({"growth": vm.growth_rate()}, duration=0.1)
    with pytest.raises(vm.ModelError, match=f"{analysis}: objective 'growth' is one of small"):
        getattr(p, analysis)()


def test_bad_input_is_refused_at_the_call() -> None:
    m = oscillator()
    with pytest.raises(vm.ModelError, match=r"growth_rate.*equilibrum"):
        vm.growth_rate("equilibrum")
    with pytest.raises(vm.ModelError, match="near = -1"):
        vm.frequency(near=-1)
    with pytest.raises(vm.ModelError, match="two different values"):
        vm.critical_speed("c", between=(1.0, 1.0))
    with pytest.raises(vm.ModelError, match="is not added"):
        vm.growth_rate() + vm.final("t")
    with pytest.raises(vm.ModelError, match="is not added"):
        vm.final("t") - vm.growth_rate()
    with pytest.raises(vm.ModelError, match="'speed'"):
        m.problem(vm.critical_speed("speed", between=(0, 1)), duration=1.0)
    with pytest.raises(vm.ModelError, match="dimension"):
        m.problem(vm.critical_speed("c", between=("1 m", 2.0)), duration=1.0)
    limit = m.problem({"limit": vm.critical_speed("c", between=(0.1, 2.0))}, duration=0.1)
    with pytest.raises(vm.VarimechError, match="'limit': the largest growth rate does not change"):
        limit.gradient()
    growth = m.problem({"growth": vm.growth_rate("start")}, duration=0.1)
    with pytest.raises(vm.ModelError, match="complex-step"):
        growth.gradient("complex-step")
    with pytest.raises(vm.ModelError, match="certificates are of runs"):
        growth.certify()
    with pytest.raises(vm.ModelError, match=r"first derivatives only.*hessian='approximate'"):
        growth.optimize("c", hessian="exact", bounds={"c": (-1, 1)}, solver="trust-constr")


FILE = """
varimech: 1
name: isolator
dimension: 2
parameters:
  k: {value: 100 N/m, tolerance: 2 N/m}
  k2: {value: 120 N/m, tolerance: 2 N/m}
  c: {value: 3 N*s/m, bounds: [1 N*s/m, 30 N*s/m]}
ground: {O: [0, 0]}
bodies:
  block: {mass: 1 kg, inertia: 1, points: {C: [0, 0]}}
joints:
  guide: {prismatic: [ground.O, block.C], axis: [1, 0]}
states:
  f: {rate: "k2*displacement_rate('guide') - k2/c*state('f')", initial: 0}
forces:
  law: {force: block.C, value: ["-k*displacement('guide') - state('f')", 0]}
start: {displacement: {guide: 0}}
studies:
  objectives:
    growth: {growth_rate: equilibrium}
    mode: {frequency: equilibrium, near: 1.5 Hz}
    ratio: {damping_ratio: start}
    limit: {critical_speed: k, between: [-20 N/m, 40 N/m], about: start}
  simulate: {duration: 0.1 s}
  uncertainty: {order: 1, objectives: [growth, mode]}
  optimize: {minimize: growth, over: [c], constraints: {mode: {at_least: 1.2}}}
"""


def test_files_give_the_same_numbers(tmp_path: Path) -> None:
    path = tmp_path / "isolator.yaml"
    path.write_text(FILE, encoding="utf-8")
    m = vm.Mechanism.from_file(path)
    made = {
        "growth": vm.growth_rate(),
        "mode": vm.frequency(near=1.5),
        "ratio": vm.damping_ratio("start"),
        "limit": vm.critical_speed("k", between=(-20, 40)),
    }
    expected = isolator().sensitivity(made, ["k", "k2", "c"], duration=0.1)
    read = m.study("sensitivity")
    assert read.objective_names == tuple(made)
    np.testing.assert_allclose(read.final_values, expected.final_values, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(read.final_gradient, expected.final_gradient, rtol=1e-9, atol=1e-12)
    assert m.study("uncertainty").std.shape[1] == 2
    np.testing.assert_allclose(m.study("optimize").parameters["c"], 7.5, rtol=1e-6)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("{growth_rate: rest}", "growth_rate"),
        ("{critical_speed: q, between: [0, 1]}", "'q'"),
        ("{critical_speed: k}", "two different values"),
        ("{growth_rate: start, final: t}", "objective of small motions"),
        ("{final: t, near: 1}", "near"),
    ],
)
def test_wrong_objectives_in_files_are_placed(tmp_path: Path, wrong: str, message: str) -> None:
    path = tmp_path / "wrong.yaml"
    path.write_text(FILE.replace("{growth_rate: equilibrium}", wrong), encoding="utf-8")
    with pytest.raises(vm.ModelError, match=message):
        vm.Mechanism.from_file(path)
