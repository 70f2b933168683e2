"""Events, jumps and kinks with steps that are given, by explicit and implicit integrators: steps are divided
where a mode ends or a force jumps. Expected values are closed forms, and motions by a tolerance of 1e-12.
"""

from __future__ import annotations

import math
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from both_backends import both_backends
from fake_gpu import COMPILER, fake_cupy

import varimech as vm
from varimech.benchmarks import clearance_slider_crank, friction_oscillator, rocking_block
from varimech.formulations.ali3p import ALI3P

G = 9.81
X, V = "displacement('g')", "displacement_rate('g')"
SCHEMES: dict[str, tuple[dict[str, Any], int]] = {
    "trapezoidal": ({}, 2),
    "generalised α": ({"integrator": vm.GeneralisedAlpha()}, 2),
    "HHT": ({"integrator": "hht"}, 2),
    "Newmark": ({"integrator": vm.Newmark()}, 1),
    "RK4": ({"integrator": "rk4"}, 4),
    "order 5": ({"integrator": "dopri5"}, 5),
    "order 8": ({"integrator": "dop853"}, 8),
    "independent": ({"integrator": "rk4", "formulation": "independent"}, 4),
}
"""Options of a run with equal steps, and the order of the scheme."""
by_schemes = pytest.mark.parametrize(("options", "order"), SCHEMES.values(), ids=SCHEMES.keys())
Gradients = dict[str, vm.Gradient]


def on_a_guide(name: str, axis: tuple[int, int] = (0, 1), **options: Any) -> vm.Mechanism:
    """1 kg on a guide 'g'."""
    m = vm.Mechanism(name, dimension=2, **options)
    m.ground_point("O", (0, 0))
    m.body("b", mass=1.0, inertia=0.1, points={"C": (0, 0)})
    m.prismatic("g", "ground.O", "b.C", axis=axis)
    return m


def ball() -> vm.Mechanism:
    """The ball of the page about events."""
    m = on_a_guide("ball", gravity=(0, -G))
    h, e = m.parameter("h", 0.9), m.parameter("e", 0.5)
    m.stop("floor", X, lower=0.0, restitution=e)
    m.start(displacement={"g": h})
    return m


BALL = {
    "first": vm.time_of("floor"),
    "second": vm.time_of("floor", occurrence=2),
    "speed": vm.at("floor", V),
    "end": vm.final(X),
    "top": vm.range(V),
}


def ball_at(h: Any, e: Any, T: float = 1.0) -> list[Any]:
    """After two impacts."""
    t = (2 * h / G) ** 0.5
    v, second = G * t, t * (1 + 2 * e)
    τ = T - second
    return [t, second, -v, e * e * v * τ - G * τ * τ / 2, (1 + e) * v]


def both(m: vm.Mechanism, goals: dict[str, vm.Objective], T: float, **options: Any) -> Gradients:
    """Gradients by the direct and by the adjoint method, which are the same but for rounding."""
    found = {
        method: m.sensitivity(goals, duration=T, method=method, **options)
        for method in ("direct", "adjoint")
    }
    direct, adjoint = (g.final_gradient for g in found.values())
    scale = np.abs(direct).max(axis=1, keepdims=True)
    np.testing.assert_allclose(adjoint / scale, direct / scale, atol=1e-11)
    return found


@both_backends
@by_schemes
def test_a_ball_bounces_at_the_right_times(
    options: dict[str, Any], order: int, backend: str
) -> None:
    """Its flight is a parabola, which all schemes integrate exactly: nothing is left of its impacts."""
    g = both(ball(), BALL, 1.0, step=0.01, backend=backend, **options)["direct"]
    δ = 1e-30j
    columns = [ball_at(0.9 + δ, 0.5), ball_at(0.9, 0.5 + δ)]
    derivatives = np.array([[complex(x).imag / 1e-30 for x in c] for c in columns]).T
    np.testing.assert_allclose(g.final_values, ball_at(0.9, 0.5), rtol=1e-11)
    np.testing.assert_allclose(g.final_gradient, derivatives, rtol=1e-10, atol=1e-11)
    assert [e.what for e in g.run.events] == ["impact"] * 2
    np.testing.assert_allclose(g.run.time, np.arange(101) * 0.01, rtol=1e-14)  # the grid is kept
    assert g.run.info["steps"] == 102


def test_backends_divide_steps_alike() -> None:
    for options, _ in SCHEMES.values():
        one, other = (
            friction_oscillator.mechanism().sensitivity(
                friction_oscillator.objectives(),
                duration=30.0,
                step=0.1,
                backend=backend,
                **options,
            )
            for backend in ("auto", "interpreted")
        )
        np.testing.assert_array_equal(one.run.step_ends, other.run.step_ends)
        np.testing.assert_allclose(one.final_gradient, other.final_gradient, rtol=1e-12, atol=1e-13)


def orders(errors: np.ndarray, ratio: float = 2.0) -> np.ndarray:
    """Orders of convergence from errors (step, …)."""
    return np.asarray(np.log(errors[:-1] / errors[1:]) / math.log(ratio))


@pytest.mark.parametrize("name", ["trapezoidal", "generalised α", "RK4"])
def test_derivatives_converge_with_the_order_of_the_scheme(name: str) -> None:
    """Oscillator with Coulomb friction: seven reversals, then it sticks; the integral sees them all."""
    options, order = SCHEMES[name]
    value, derivatives = friction_oscillator.references()["∫x dt"]
    exact = np.array([derivatives[p] for p in ("x0", "v0", "F")])
    values, slopes = [], []
    for step in (0.2, 0.1, 0.05):
        g = both(
            friction_oscillator.mechanism(),
            friction_oscillator.objectives(),
            30.0,
            step=step,
            **options,
        )["direct"]
        assert [e.what for e in g.run.events] == ["slip"] * 7 + ["stick"]
        values.append(abs(g.final_values[1] - value))
        slopes.append(np.abs(g.final_gradient[1] - exact).max())
    assert (orders(np.array(values)) > order - 0.3).all()
    assert (orders(np.array(slopes)) > order - 0.3).all()
    assert slopes[-1] < {2: 1e-3, 4: 1e-6}[order] * np.abs(exact).max()


@pytest.mark.parametrize("name", ["trapezoidal", "generalised α", "RK4"])
@pytest.mark.parametrize(
    ("benchmark", "steps"),
    [(rocking_block, (0.01, 0.005)), (clearance_slider_crank, (1e-4, 5e-5))],
    ids=["rocking block", "clearance"],
)
def test_contacts_converge_too(benchmark: Any, steps: tuple[float, float], name: str) -> None:
    """Corners with friction in impacts; a joint with clearance: against a tolerance of 1e-12."""
    options, order = SCHEMES[name]
    m, goals, T = benchmark.mechanism(), benchmark.objectives(), benchmark.DURATION
    reference = m.sensitivity(goals, duration=T, tolerance=1e-12)
    errors = []
    for step in steps:
        g = both(m, goals, T, step=step, **options)["direct"]
        assert [e.name for e in g.run.events] == [e.name for e in reference.run.events]
        errors.append(np.abs(g.final_gradient - reference.final_gradient).max(axis=1))
    assert (orders(np.array(errors)) > order - 0.3).all()
    scale = np.abs(reference.final_gradient).max(axis=1)
    assert (errors[-1] < {2: 5e-3, 4: 1e-6}[order] * scale).all()


def disc() -> vm.Mechanism:
    """It falls on an incline, spinning, slides, and rolls from some time on."""
    m = vm.Mechanism("disc", gravity=(G * math.sin(0.2), -G * math.cos(0.2)))
    h, μ = m.parameter("h", 0.2), m.parameter("μ", 0.3)
    m.ground_point("O", (0, 0))
    m.body("d", mass=2.0, inertia=0.01, points={"C": (0, 0)}, floating=True)
    m.contact("floor", "d.C", "ground.O", radius=0.1, normal=(0, 1), friction=μ)
    m.start(
        position={"d.C": (0, 0.1 + h)},
        angle={"d": 0.0},
        speed={"d.C": (0.0, 0.0), "d": m.parameter("ω", 60.0)},
    )
    return m


DISC = {
    "x": vm.final("position('d.C')[0]"),
    "ω": vm.final("angular_velocity('d')"),
    "rolls": vm.time_of("friction of floor"),
}


@pytest.mark.parametrize("name", ["trapezoidal", "generalised α", "RK4"])
def test_a_disc_slides_and_rolls(name: str) -> None:
    """ALI3-P holds friction that sticks, a constraint of velocities, and the one that slides. With an
    angle as coordinate all parts of the motion are parabolas, which all schemes integrate exactly.
    """
    reference = disc().sensitivity(DISC, duration=1.0, tolerance=1e-12)
    options = {"step": 0.01, "coordinates": "rtdyn1", **SCHEMES[name][0]}
    g = both(disc(), DISC, 1.0, **options)["direct"]
    for run in (reference.run, g.run):
        assert [e.what for e in run.events] == ["impact", "stick"]
    np.testing.assert_allclose(g.final_values, reference.final_values, rtol=1e-10)
    scale = np.abs(reference.final_gradient).max(axis=1, keepdims=True)
    np.testing.assert_allclose(
        g.final_gradient / scale, reference.final_gradient / scale, atol=1e-9
    )
    rolling = g.run.angular_velocity("d").to_numpy() * 0.1 + g.run.velocity("d.C").to_numpy()[:, 0]
    late = g.run.time > g.final_values[2]
    assert np.abs(rolling[late]).max() < 1e-10 < np.abs(rolling[~late]).max()


@pytest.mark.parametrize("name", ["trapezoidal", "generalised α"])
def test_sliding_and_rolling_converge_in_natural_coordinates(name: str) -> None:
    reference, errors = disc().sensitivity(DISC, duration=1.0, tolerance=1e-12), []
    for step in (1e-3, 5e-4):
        g = disc().sensitivity(DISC, duration=1.0, step=step, **SCHEMES[name][0])
        values = np.abs(g.final_values - reference.final_values)
        errors.append([*values, *np.abs(g.final_gradient - reference.final_gradient).max(axis=1)])
    assert (orders(np.array(errors)) > 1.8).all()


def socket() -> vm.Mechanism:
    """A disc that slides down inside a circle: its normal force changes all the time."""
    m = vm.Mechanism("socket", gravity=(0, -G))
    μ = m.parameter("μ", 0.2)
    m.ground_point("O", (0, 0))
    m.body("d", mass=2.0, inertia=0.01, points={"C": (0, 0)}, floating=True)
    m.contact("wall", "d.C", "ground.O", radius=0.1, second_radius=1.0, inside=True, friction=μ)
    m.start(position={"d.C": (-0.9, 0.0)}, angle={"d": 0.0}, speed={"d.C": (0.0, 0.0), "d": 0.0})
    return m


@pytest.mark.parametrize("coordinates", ["natural", "rtdyn1"])
@pytest.mark.parametrize("name", ["trapezoidal", "generalised α", "HHT"])
def test_sliding_on_a_curved_surface_is_of_order_2(name: str, coordinates: str) -> None:
    """Friction by the multipliers of the first stage of ALI3-P would make it 1."""
    goals = {"x": vm.final("position('d.C')[0]"), "v": vm.final("velocity('d.C')[1]")}
    reference, errors = socket().sensitivity(goals, duration=0.5, tolerance=1e-12), []
    for step in (4e-3, 2e-3, 1e-3):
        options = {"step": step, "coordinates": coordinates, **SCHEMES[name][0]}
        g = both(socket(), goals, 0.5, **options)["direct"]
        values = np.abs(g.final_values - reference.final_values)
        errors.append([*values, *np.abs(g.final_gradient - reference.final_gradient).ravel()])
    assert (orders(np.array(errors)) > 1.8).all()


# --- jumps and kinks


def block(force: Any) -> vm.Mechanism:
    """1 kg on a guide, at 0, with 1 m/s."""
    m = on_a_guide("block", (1, 0))
    p, v = m.parameter("p", 0.5), m.parameter("v0", 1.0)
    m.force("force", "b.C", lambda s: (force(s, p), 0))
    m.start(displacement={"g": 0.0}, speed={"g": v})
    return m


END = {"x": vm.final(X), "v": vm.final(V)}


def brake(s: Any, p: Any) -> Any:
    """−1 N beyond p."""
    return vm.where(s.displacement("g") > p, -1.0, 0.0)


def push(s: Any, p: Any) -> Any:
    """3 N between p and p + 0.2 s."""
    return vm.where(s.time > p, 3.0, 0.0) - vm.where(s.time > p + 0.2, 3.0, 0.0)


def wall(s: Any, p: Any) -> Any:
    """A one-sided spring beyond p, and a brake before it: a jump, and a kink that is passed twice."""
    return -40 * vm.maximum(s.displacement("g") - p, 0.0) + brake(s, 0.6 * p)


def touch(s: Any, p: Any) -> Any:
    """A place that is passed and left again within a step: x reaches 0.25, the place is at 0.248."""
    return -2.0 - vm.where(s.displacement("g") > 0.496 * p, 30.0, 0.0)


@both_backends
@by_schemes
def test_a_jump_that_the_motion_decides(options: dict[str, Any], order: int, backend: str) -> None:
    """x = p + v d − d²/2 with d = t − p/v: parabolas, so that only the jump could be wrong."""
    for step in (0.03, 0.015, 0.17):
        g = both(block(brake), END, 1.0, step=step, backend=backend, **options)["direct"]
        np.testing.assert_allclose(g.final_values, [0.875, 0.5], rtol=1e-11)
        np.testing.assert_allclose(
            g.final_gradient, [[0.5, 0.75], [1.0, 0.5]], rtol=1e-9, atol=1e-10
        )


@by_schemes
def test_a_jump_that_a_parameter_moves_in_time(options: dict[str, Any], order: int) -> None:
    g = both(block(push), END, 1.0, step=0.03, **options)["direct"]
    np.testing.assert_allclose(g.final_values, [1.0 + 0.06 + 0.6 * 0.3, 1.6], rtol=1e-9)
    np.testing.assert_allclose(g.final_gradient, [[-0.6, 1.0], [0.0, 1.0]], rtol=1e-9, atol=1e-9)


@by_schemes
def test_both_sides_of_a_jump_within_one_step(options: dict[str, Any], order: int) -> None:
    """Two changes of one side that the ends of the step do not show."""
    reference = block(touch).sensitivity(END, duration=1.0, tolerance=1e-12)
    for step in (0.2, 0.1):
        g = both(block(touch), END, 1.0, step=step, **options)["direct"]
        np.testing.assert_allclose(g.final_values, reference.final_values, rtol=1e-9)
        np.testing.assert_allclose(g.final_gradient, reference.final_gradient, rtol=1e-7)


@pytest.mark.parametrize("name", ["trapezoidal", "generalised α", "RK4", "order 8"])
def test_kinks_do_not_spoil_derivatives(name: str) -> None:
    """Stages beyond a kink would, even where the end of a step is before it."""
    options, order = SCHEMES[name]
    reference = block(wall).sensitivity(END, duration=1.0, tolerance=1e-12)
    errors = []
    for step in (0.04, 0.02, 0.01):
        g = both(block(wall), END, 1.0, step=step, **options)["direct"]
        errors.append(np.abs(g.final_gradient - reference.final_gradient).max())
    assert errors[-1] < {2: 1e-3, 4: 1e-6, 8: 1e-11}[order]
    assert order == 8 or (orders(np.array(errors)) > order - 0.5).all()


@pytest.mark.parametrize("formulation", ["penalty", vm.Penalty(inertial=False, xi=0.0)])
def test_compliant_constraints_pass_jumps(formulation: Any) -> None:
    options = {"formulation": formulation, "integrator": "trapezoidal", "step": 0.015}
    g = both(block(brake), END, 1.0, **options)["direct"]
    np.testing.assert_allclose(g.final_values, [0.875, 0.5], rtol=1e-9)
    np.testing.assert_allclose(g.final_gradient, [[0.5, 0.75], [1.0, 0.5]], rtol=1e-8)


def test_a_large_mechanism_passes_jumps_by_implicit_steps() -> None:
    """Assembled programs: twenty pendulums, of which one meets a brake."""
    m = vm.Mechanism("pendulums", gravity=(0, -G))
    c = m.parameter("c", 0.3)
    for k in range(20):
        m.ground_point(f"O{k}", (3.0 * k, 0))
        m.bar(f"rod{k}", f"O{k}", f"P{k}", length=1.0, mass=1.0)
        m.revolute(f"O{k}")
    m.torque("brake", "rod0", lambda s: vm.where(s.position("P0")[0] > c, -3.0, 0.0))
    m.start(angle={f"rod{k}": -math.pi / 2 - 0.5 for k in range(20)})
    place = {"x": vm.final("position('P0')[0]")}
    exact = m.sensitivity(place, duration=1.0, coordinates="natural", tolerance=1e-10)
    errors = [
        abs((both(m, place, 1.0, step=h)["direct"].final_gradient - exact.final_gradient).item())
        for h in (0.02, 0.01)
    ]
    assert errors[1] < 1e-2 * abs(exact.final_gradient.item())
    assert orders(np.array(errors)).item() > 1.7


def test_a_sliding_mode_ends_with_a_message() -> None:
    """Dry friction as a sign: the motion would switch without end."""
    m = block(lambda s, p: -2.0 * vm.sign(s.velocity("b.C")[0]))
    every: tuple[dict[str, Any], ...] = ({}, {"integrator": "rk4"})
    for options in every:
        with pytest.raises(
            vm.SimulationError,
            match=r"less than 1e-08 of the duration where steps are.*m\.dry_friction",
        ):
            m.simulate(1.0, step=1e-2, **options)


# --- everything around it


def test_steps_that_are_given_end_at_events_too() -> None:
    ends = np.sort(np.append(np.random.default_rng(3).uniform(0, 1, 40), [0.0, 1.0]))
    g = both(ball(), BALL, 1.0, ends=ends)["direct"]
    np.testing.assert_allclose(g.final_values, ball_at(0.9, 0.5), rtol=1e-11)
    taken = g.run.step_ends
    assert taken is not None and np.isin(ends, taken).all()


def test_the_same_steps_give_the_same_results() -> None:
    """Of a run that has ended its steps at a jump."""
    first = block(brake).simulate(1.0, step=0.03, integrator="dop853")
    again = block(brake).simulate(1.0, ends=first.step_ends, integrator="dop853")
    np.testing.assert_array_equal(again.step_ends, first.step_ends)


@pytest.mark.parametrize("options", [{}, {"integrator": "rk4"}])
def test_little_memory_gives_the_same_adjoint(options: dict[str, Any]) -> None:
    """Steps and events are executed once more where their records do not fit."""
    m, goals = friction_oscillator.mechanism(), friction_oscillator.objectives()
    run: dict[str, Any] = {"duration": 30.0, "step": 0.02, "method": "adjoint", **options}
    whole, little = (m.sensitivity(goals, **run, memory=memory) for memory in (1e9, 5e4))
    np.testing.assert_array_equal(little.final_gradient, whole.final_gradient)


@pytest.mark.parametrize(
    "options", [{}, {"integrator": vm.GeneralisedAlpha()}, {"integrator": "rk4"}]
)
def test_samples_equal_their_own_runs(options: dict[str, Any]) -> None:
    heights = np.array([0.7, 0.9, 1.1])
    goals = {name: BALL[name] for name in ("first", "speed", "end")}
    many = ball().ensemble(goals, {"h": heights}, duration=1.0, step=0.01, **options)
    for k, h in enumerate(heights):
        one = ball().sensitivity(goals, duration=1.0, step=0.01, parameters={"h": h}, **options)
        np.testing.assert_allclose(many.values[k], one.final_values, rtol=1e-14)


@pytest.mark.skipif(COMPILER is None, reason="needs a C++ compiler")
@pytest.mark.parametrize(
    "options", [{}, {"integrator": vm.GeneralisedAlpha()}, {"integrator": "rk4"}]
)
def test_a_gpu_divides_steps_too(options: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """A ball on the floor, on which it comes to rest, with a brake that jumps."""
    monkeypatch.setitem(sys.modules, "cupy", fake_cupy())
    m = on_a_guide("ball", gravity=(0, -G))
    m.stop(
        "floor", X, lower=0.0, restitution=m.parameter("e", 0.4, distribution=vm.Tolerance(0.05))
    )
    m.force("brake", "b.C", lambda s: (0, vm.where(s.displacement("g") > 0.2, 2.0, 0.0)))
    m.start(displacement={"g": m.parameter("h", 0.9, distribution=vm.Tolerance(0.1))})
    goals = {"x": vm.final(X), "first": vm.time_of("floor"), "top": vm.peak(V)}
    here, there = (
        m.monte_carlo(
            goals,
            duration=1.0,
            samples=40,
            step=0.01,
            keep=True,
            executor=by,
            backend="native",
            **options,
        )
        for by in (1, "cuda")
    )
    np.testing.assert_allclose(
        there.samples["values"], here.samples["values"], rtol=1e-10, atol=1e-11
    )
    assert there.failed == here.failed == 0


def test_a_bundle_in_c_divides_steps_too(tmp_path: Path) -> None:
    ball().problem({"x": BALL["end"]}, duration=1.0, step=0.01).export(tmp_path / "b", target="c")
    ran = subprocess.run(
        [sys.executable, "-I", tmp_path / "b/run.py"], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0 and "good" in ran.stdout, ran.stderr


@pytest.mark.parametrize("options", [{}, {"integrator": "rk4"}])
def test_differences_locate_events_anew(options: dict[str, Any]) -> None:
    g = ball().sensitivity(BALL, duration=1.0, step=0.01, **options)
    other = ball().sensitivity(BALL, duration=1.0, step=0.01, method="finite-difference", **options)
    np.testing.assert_allclose(other.final_gradient, g.final_gradient, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("options", [{}, {"integrator": "rk4"}])
def test_an_event_ends_the_run(options: dict[str, Any]) -> None:
    m = on_a_guide("fall", gravity=(0, -G))
    h = m.parameter("h", 0.9)
    m.event("floor", X, do="stop")
    m.start(displacement={"g": h})
    goals = {"t": vm.final("t"), "v": vm.final(V), "T": vm.time_of("floor")}
    g = both(m, goals, 2.0, step=0.01, **options)["direct"]
    t = math.sqrt(1.8 / G)
    np.testing.assert_allclose(g.final_values, [t, -G * t, t], rtol=1e-12)
    np.testing.assert_allclose(
        g.final_gradient.ravel(), [t / 1.8, -G * t / 1.8, t / 1.8], rtol=1e-11
    )
    assert g.run.time[-1] == pytest.approx(t, rel=1e-14)


class WithoutVelocities(ALI3P):
    """ALI3-P as if it held constraints of positions only."""

    traits = replace(ALI3P.traits, sticks=False)


def test_a_formulation_that_does_not_hold_friction_is_refused() -> None:
    options: dict[str, Any] = {"formulation": WithoutVelocities(), "step": 0.01}
    assert len(ball().simulate(1.0, **options).events) == 2
    with pytest.raises(vm.ModelError, match=r"'friction oscillator' has friction that sticks.*use"):
        friction_oscillator.mechanism().simulate(1.0, **options)


def test_all_methods_include_jumps_with_equal_steps() -> None:
    for options in ({"step": 0.03}, {"step": 0.03, "integrator": "rk4"}):
        for m in (block(brake), block(push)):
            reference = m.sensitivity(END, duration=1.0, **options).final_gradient
            for method in ("complex-step", "composite"):
                g = m.sensitivity(END, duration=1.0, method=method, **options)
                np.testing.assert_allclose(g.final_gradient, reference, atol=1e-11)
            forward, backward = (
                m.hessian(END, duration=1.0, method=method, **options).hessian.values
                for method in ("forward", "backward")
            )
            np.testing.assert_allclose(forward, backward, atol=1e-10)
            adaptive = m.hessian(END, duration=1.0, tolerance=1e-11).hessian.values
            np.testing.assert_allclose(forward, adaptive, atol=1e-8)


@pytest.mark.parametrize("integrator", ["cvodes", "idas"])
def test_solvers_with_their_own_steps_refuse_derivatives_across_jumps(integrator: str) -> None:
    run = block(brake).simulate(1.0, integrator=integrator)
    assert run.displacement("g").values[-1] == pytest.approx(0.875, rel=1e-7)
    with pytest.raises(
        vm.ModelError, match=r"'force' jumps \(comparison\) before t = 0\.5\d* s.*'trapezoidal'"
    ):
        block(brake).sensitivity(END, duration=1.0, integrator=integrator)
    spring = block(lambda s, p: vm.where(s.displacement("g") > p, wall_only(s, p), 0.0))  # no jump
    g = spring.sensitivity(END, duration=1.0, integrator=integrator)
    ω, d = math.sqrt(10), 0.5
    exact = [1 - math.cos(ω * d), math.sin(ω * d) / ω + 0.5 * math.cos(ω * d)]
    np.testing.assert_allclose(g.final_gradient[0], exact, rtol=1e-4)


def test_complex_steps_take_kinks() -> None:
    direct, other = (
        block(wall_only).sensitivity(
            END, duration=1.0, method=method, step=0.01, integrator="dop853"
        )
        for method in ("direct", "complex-step")
    )
    np.testing.assert_allclose(other.final_gradient, direct.final_gradient, rtol=1e-11)


def wall_only(s: Any, p: Any) -> Any:
    """A one-sided spring beyond p."""
    return -10 * vm.maximum(s.displacement("g") - p, 0.0)
