"""Modes and states that events set, to expressions too, against closed forms."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import varimech as vm

X, V = "displacement('guide')", "displacement_rate('guide')"
each_method = pytest.mark.parametrize("method", ["direct", "adjoint"])
each_backend = pytest.mark.parametrize("backend", ["auto", "interpreted"])
VALUES = np.array([8.0, 0.5, 3.0])
END = 1.3


def carriage(*actions: dict[str, Any], initial: Any = 1) -> vm.Mechanism:
    """A carriage of 2 kg that a motor of F times its mode pushes from rest; the first action is at
    x, the second one at 1 m.
    """
    m = vm.Mechanism("carriage", dimension=2)
    for name, value in zip(("F", "x", "w"), VALUES, strict=True):
        m.parameter(name, float(value))
    m.ground_point("O", (0, 0))
    m.body("carriage", mass=2.0, inertia=0.1, points={"P": (0, 0)})
    m.prismatic("guide", "ground.O", "carriage.P", axis=(1, 0))
    m.mode("motor", initial=initial)
    m.force("push", "carriage.P", ["F*mode('motor')", "0"])
    for place, do in zip(("x", "1"), actions, strict=False):
        m.event(f"at {place}", f"{X} - {place}", direction="rising", do=do)
    m.start(displacement={"guide": 0.0})
    return m


def motion(F: float, x: float, first: float, second: Callable[[float], float]) -> list[float]:
    """Place and speed at the end, where the mode is `first` up to x and `second` of the speed after
    it.
    """
    a = F * first / 2
    t, v = np.sqrt(2 * x / a), np.sqrt(2 * a * x)
    a, left = F * second(v) / 2, END - t
    return [x + v * left + a * left**2 / 2, v + a * left]


CASES: dict[str, tuple[Any, Any, Callable[[np.ndarray], list[float]]]] = {
    "parameters": (1, "w/4", lambda p: motion(p[0], p[1], 1.0, lambda v: p[2] / 4)),
    "state": (1, f"-w*{V}/8", lambda p: motion(p[0], p[1], 1.0, lambda v: -p[2] * v / 8)),
    "initial": ("w/2", 0.25, lambda p: motion(p[0], p[1], p[2] / 2, lambda v: 0.25)),
}


@each_backend
@each_method
@pytest.mark.parametrize("case", CASES)
def test_an_event_sets_a_mode_to_an_expression(case: str, method: str, backend: str) -> None:
    initial, value, expected = CASES[case]
    m = carriage({"motor": value}, initial=initial)
    objectives = {"x": vm.final(X), "v": vm.final(V)}
    options: dict[str, Any] = {"duration": END, "method": method, "backend": backend}
    result = m.sensitivity(objectives, **options)
    np.testing.assert_allclose(result.final_values, expected(VALUES), rtol=1e-9)
    for j, step in enumerate(1e-6 * VALUES):
        there, back = (np.array(expected(VALUES + s * np.eye(3)[j])) for s in (step, -step))
        slope = (there - back) / (2 * step)
        np.testing.assert_allclose(result.final_gradient[:, j], slope, rtol=1e-8, atol=1e-8)


def test_numbers_and_expressions_for_the_same_mode() -> None:
    """Whether a number is given before or after an expression: both set the mode."""
    for actions in (({"motor": 0.0}, {"motor": "w/4"}), ({"motor": "w/4"}, {"motor": 0.0})):
        run = carriage(*actions).simulate(END)
        modes = run.measure(lambda s: s.mode("motor")).values
        assert list(dict.fromkeys(modes.round(12))) == [
            1.0,
            *[0.75 if do["motor"] else 0.0 for do in actions],
        ]
        assert [event.name for event in run.events] == ["at x", "at 1"]
        x, v = run.displacement("guide").values[-1], run.displacement_rate("guide").values[-1]
        if actions[0]["motor"] == 0.0:  # 2 m/s from 0.5 s on, 3 m/s² from 0.75 s on
            assert x == pytest.approx(1 + 2 * 0.55 + 1.5 * 0.55**2, rel=1e-9)
        else:
            assert v == pytest.approx(np.sqrt(4 + 2 * 3 * 0.5), rel=1e-9)


def test_a_mode_counts() -> None:
    """A ball that bounces; each bounce takes as much off its restitution as has been before."""
    m = vm.Mechanism("ball", gravity=(0, -9.81))
    m.ground_point("O", (0, 0))
    m.body("ball", mass=1.0, inertia=0.1, points={"P": (0, 0)})
    m.prismatic("guide", "ground.O", "ball.P", axis=(0, 1))
    m.mode("bounces")
    actions = {
        "guide": f"-(0.9 - 0.1*mode('bounces'))*{V}",
        "bounces": lambda s: s.mode("bounces") + 1,
    }
    m.event("floor", X, direction="falling", do=actions)
    m.start(displacement={"guide": 1.0})
    run = m.simulate(2.0)
    events = run.events["floor"]
    ratios = [-event.after / event.before for event in events]
    np.testing.assert_allclose(ratios, 0.9 - 0.1 * np.arange(len(events)), rtol=1e-10)
    assert run.measure(lambda s: s.mode("bounces")).values[-1] == pytest.approx(len(events))


@each_method
def test_an_event_resets_the_bristle_of_friction(method: str) -> None:
    """Under a small force a block rests on bristles with the deflection of that force; reset, they
    return to it.
    """

    def block(*, reset: bool) -> vm.Mechanism:
        m = vm.Mechanism("block", dimension=2)
        m.parameter("z", 2e-6)
        m.ground_point("O", (0, 0))
        m.body("block", mass=1.0, inertia=0.1, points={"P": (0, 0)})
        m.prismatic("guide", "ground.O", "block.P", axis=(1, 0))
        m.force("push", "block.P", (0.5, 0))
        m.dry_friction(
            "rub", V, sliding=2.0, law="lugre", bristle_stiffness=1e5, bristle_damping=300.0
        )
        if reset:
            m.event("shake", "t - 0.2", do={"deflection of rub": "z", "guide": 0.0})
        m.start(displacement={"guide": 0.0})
        return m

    run = block(reset=True).simulate(0.25)
    z = run.state("deflection of rub").values
    rest = 0.5 / 1e5
    before, after = z[run.time < 0.2][-1], z[run.time > 0.2][0]
    assert before == pytest.approx(rest, rel=1e-6) and 2e-6 < after < rest
    what = vm.at("later", "state('deflection of rub')")
    m = block(reset=True)
    m.event("later", "t - 0.201")
    options: dict[str, Any] = {"duration": 0.21, "tolerance": 1e-11}
    result = m.sensitivity(what, method=method, **options)
    check = m.sensitivity(what, method="finite-difference", **options)
    assert 0.1 < check.final_gradient[0, 0] < 1
    np.testing.assert_allclose(result.final_gradient, check.final_gradient, rtol=1e-6)


def test_modes_that_are_expressions_are_in_files(tmp_path: Path) -> None:
    m = carriage({"motor": 0.0}, {"motor": "w/4"}, initial="w/3")
    again = vm.Mechanism.from_file(m.to_file(tmp_path / "m.yaml"))
    assert again.to_text() == m.to_text() and "motor: w/4" in m.to_text()
    first, second = m.simulate(1.0), again.simulate(1.0)
    np.testing.assert_array_equal(first.displacement("guide"), second.displacement("guide"))


def test_a_model_that_grows_leaves_older_results_alone() -> None:
    """An expression makes a state of a mode, for the model as it is then."""
    m = carriage({"motor": 0.0})
    run = m.simulate(END)
    before = run.measure(lambda s: s.mode("motor")).values
    m.event("again", f"{X} - 1", do={"motor": "w/4"})
    after = m.simulate(END)
    np.testing.assert_array_equal(run.measure(lambda s: s.mode("motor")).values, before)
    assert after.measure(lambda s: s.mode("motor")).values[-1] == pytest.approx(0.75)


def test_events_without_end() -> None:
    """Two events that reverse each other; and resets of a speed that become ever smaller."""
    m = carriage()
    m.mode("first")
    m.mode("second")
    m.event("begin", "t - 0.1", do={"first": 1})
    m.event("to", "mode('first') - 0.5", do={"second": "1 - mode('second')"})
    m.event("fro", "mode('second') - 0.5", do={"first": "1 - mode('first')"})
    with pytest.raises(vm.SimulationError, match=r"t = 0\.1 s: '(to|fro)' has events without end"):
        m.simulate(1.0)
    m = carriage({"guide": f"-0.5*{V}"})
    with pytest.raises(
        vm.SimulationError, match=r"'at x' has events without end at this time; .* as a"
    ):
        m.simulate(3.0)


# jumps whose place depends on a mode


PLACE, BRAKE = 0.5, 0.4
"""Place of the brake (m) while the mode is 0, and its force (N)."""


def braked(moved: float, q: float) -> vm.Mechanism:
    """1 kg on a guide, with 1 m/s, and a brake beyond p; an event at q moves the brake."""
    m = vm.Mechanism("block", dimension=2)
    p, v, event = m.parameter("p", PLACE), m.parameter("v", 1.0), m.parameter("q", q)
    m.ground_point("O", (0, 0))
    m.body("block", mass=1.0, inertia=1.0, points={"P": (0, 0)})
    m.prismatic("guide", "ground.O", "block.P", axis=(1, 0))
    m.mode("moved")

    def brake(s: vm.State) -> Any:
        beyond = s.displacement("guide") > p + moved * s.mode("moved")
        return vm.where(beyond, -BRAKE, 0.0), 0.0

    m.force("brake", "block.P", brake)
    m.event("e", lambda s: s.displacement("guide") - event, direction="rising", do={"moved": 1.0})
    m.start(displacement={"guide": 0.0}, speed={"guide": v})
    return m


def braked_motion(moved: float, p: float, v: float, q: float) -> list[float]:
    """Place and speed at `END`: the brake acts between p and q, where these are in this order, and
    beyond the later one of q and p + moved.
    """
    left, x = END, min(p, q)
    left -= x / v
    for until, a in ((q, -BRAKE), (max(q, p + moved), 0.0)):
        if until > x:
            faster = np.sqrt(v**2 + 2 * a * (until - x))
            left -= 2 * (until - x) / (v + faster)
            x, v = until, faster
    return [x + v * left - BRAKE * left**2 / 2, v - BRAKE * left]


PLACES = {
    "not reached yet": (0.2, 0.3),
    "left and reached again": (0.2, 0.6),
    "reached again within a step": (0.103, 0.6),
    "reached at the event": (-0.3, 0.4),
}
STEPS: dict[str, dict[str, Any]] = {
    "chosen": {},
    "given": {"step": 0.01},
    "given and long": {"step": 0.05},
    "explicit": {"step": 0.01, "integrator": "rk4"},
}


@each_backend
@pytest.mark.parametrize("method", ["direct", "adjoint", "finite-difference", "complex-step"])
@pytest.mark.parametrize("steps", STEPS)
@pytest.mark.parametrize("case", PLACES)
def test_a_mode_moves_the_place_of_a_jump(case: str, steps: str, method: str, backend: str) -> None:
    """Also where the mode, and not the motion, takes the brake away or sets it on."""
    (moved, q), h = PLACES[case], 1e-6
    g = braked(moved, q).sensitivity(
        {"x": vm.final(X), "v": vm.final(V)},
        ["p", "v", "q"],
        duration=END,
        method=method,
        backend=backend,
        **STEPS[steps],
    )
    at = np.array([PLACE, 1.0, q])
    np.testing.assert_allclose(g.final_values, braked_motion(moved, *at), rtol=1e-12)
    for j, d in enumerate(h * np.eye(3)):
        there, back = (np.array(braked_motion(moved, *(at + s * d))) for s in (1, -1))
        slope = (there - back) / (2 * h)
        np.testing.assert_allclose(g.final_gradient[:, j], slope, rtol=1e-8, atol=1e-8)
    assert steps != "chosen" or g.run.info["rejected"] < 12  # nothing else is taken for a jump


@each_backend
@pytest.mark.parametrize("case", PLACES)
def test_second_derivatives_where_a_mode_moves_the_place_of_a_jump(case: str, backend: str) -> None:
    (moved, q), h = PLACES[case], 1e-4
    H = braked(moved, q).hessian({"x": vm.final(X)}, ["p", "v", "q"], duration=END, backend=backend)
    at, steps = np.array([PLACE, 1.0, q]), h * np.eye(3)
    expected = [
        [
            sum(
                i * j * braked_motion(moved, *(at + i * first + j * second))[0]
                for i in (1, -1)
                for j in (1, -1)
            )
            / (4 * h**2)
            for second in steps
        ]
        for first in steps
    ]
    np.testing.assert_allclose(np.asarray(H.hessian)[0], expected, rtol=1e-6, atol=1e-6)


def test_lanes_pass_jumps_that_modes_move() -> None:
    speeds = [1.0, 1.01, 0.97]
    study = braked(0.2, 0.6).ensemble(
        {"x": vm.final(X)}, {"v": speeds}, wrt=["v"], duration=END, backend="auto"
    )
    assert not study.failures and study.gradient is not None
    for k, v in enumerate(speeds):
        assert study.values[k, 0] == pytest.approx(braked_motion(0.2, PLACE, v, 0.6)[0], rel=1e-12)
        there, back = (braked_motion(0.2, PLACE, v + h, 0.6)[0] for h in (1e-6, -1e-6))
        assert study.gradient[k, 0, 0] == pytest.approx((there - back) / 2e-6, rel=1e-8)


@each_backend
@pytest.mark.parametrize("steps", STEPS)
@pytest.mark.parametrize("reset", [False, True])
def test_a_force_that_is_not_finite_after_an_event(reset: bool, steps: str, backend: str) -> None:
    """The error gives the time of the event, and its name."""
    m = carriage({"motor": 2.0} | ({"guide": f"-{V}"} if reset else {}))
    m.force("root", "carriage.P", lambda s: (vm.sqrt(1.5 - s.mode("motor")), 0.0))
    with pytest.raises(vm.SimulationError, match=r"at an event of 'at x': .* not finite") as error:
        m.simulate(END, backend=backend, **STEPS[steps])
    a = (VALUES[0] + np.sqrt(0.5)) / 2
    assert error.value.time == pytest.approx(np.sqrt(2 * VALUES[1] / a), rel=1e-9)
    assert error.value.worst == "at x"
