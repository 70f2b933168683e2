"""Forces that begin from nothing: a block gets an impulse, and its velocity is known whatever the
shape, width and place of the pulse, wherever it starts, at any scale of length and time, by every
integrator and tolerance. The closed forms are those of a free block.
"""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import varimech as vm

Pulse = Callable[[Any], Any]


def _between(t: Any, a: float, b: float, inside: Any) -> Any:
    return vm.where(t > a, vm.where(t < b, inside, 0), 0)


SHAPES: dict[str, Callable[[float, float], Pulse]] = {
    # of unit impulse, about c, of width w; bells are within w to nine digits
    "rectangle": lambda c, w: lambda t: _between(t, c - w / 2, c + w / 2, 1 / w),
    "haversine": lambda c, w: (
        lambda t: _between(
            t, c - w / 2, c + w / 2, (1 - vm.cos(2 * math.pi * (t - c + w / 2) / w)) / w
        )
    ),
    "half sine": lambda c, w: (
        lambda t: _between(
            t, c - w / 2, c + w / 2, vm.sin(math.pi * (t - c + w / 2) / w) * math.pi / 2 / w
        )
    ),
    "triangle": lambda c, w: lambda t: vm.maximum(1 - vm.absolute(2 * (t - c) / w), 0) * 2 / w,
    "bell": lambda c, w: lambda t: vm.exp(-((9 * (t - c) / w) ** 2)) * 9 / (w * math.sqrt(math.pi)),
    "soliton": lambda c, w: lambda t: 11 / w * (1 - vm.tanh(22 * (t - c) / w) ** 2),
}
EQUAL = ("rk4", "trapezoidal", "hht", "generalised-alpha", "newmark")


def _block(
    pulse: Pulse, impulse: float, mass: float = 1.0, x0: float = 0.0, v0: float = 0.0
) -> vm.Mechanism:
    m = vm.Mechanism("block", dimension=2)
    p = m.parameter("p", impulse)
    m.ground_point("O", (0, 0))
    m.body("b", mass=mass, inertia=0.01, points={"P": (0, 0)})
    m.prismatic("guide", "ground.O", "b.P", axis=(1, 0))
    m.force("push", "b.P", lambda s: vm.vector(p * pulse(s.time), 0))
    m.start(displacement={"guide": x0}, speed={"guide": v0})
    return m


END = {
    "x": vm.final(lambda s: s.displacement("guide")),
    "v": vm.final(lambda s: s.displacement_rate("guide")),
}


def _random_case(rng: np.random.Generator) -> dict[str, Any]:
    width = 10 ** rng.uniform(-5, -0.3)
    return {
        "shape": str(rng.choice(list(SHAPES))),
        "width": width,
        "place": rng.uniform(width / 2, 1 - width / 2),
        "duration": float(10 ** rng.choice([rng.uniform(-9, 9), 0.0])),
        "length": float(10 ** rng.choice([rng.uniform(-9, 9), 0.0])),
        "impulse": 10 ** rng.uniform(-2, 2),
        "mass": 10 ** rng.uniform(-3, 3),
        "x0": float(rng.choice([0.0, 0.0, 1.0, -30.0])),
        "v0": float(rng.choice([0.0, 0.0, 1.0])),
    }


def _errors(case: dict[str, Any], **options: Any) -> float:
    """The largest error of end, velocity and their derivatives, relative to what they are measured
    by.
    """
    T, L, mass = case["duration"], case["length"], case["mass"]
    unit, c = L / T, case["place"] * T
    v0, dv, x0 = case["v0"] * unit, case["impulse"] * unit, case["x0"] * L
    m = _block(SHAPES[case["shape"]](c, case["width"] * T), dv * mass, mass, x0, v0)
    g = m.sensitivity(END, duration=T, **options)
    x, v = g.value_history[-1]
    dx_dp, dv_dp = g.gradient_history[-1][:, 0]
    sizes = max(abs(x0), abs(v0 * T), dv * T), max(abs(x0) / T, v0, dv)
    return max(
        abs(x - (x0 + v0 * T + dv * (T - c))) / sizes[0],
        abs(v - (v0 + dv)) / sizes[1],
        abs(dx_dp - (T - c) / mass) * dv * mass / sizes[0],
        abs(dv_dp - 1 / mass) * dv * mass / sizes[1],
    )


@pytest.mark.parametrize("seed", range(24))
def test_chosen_steps_see_every_pulse(seed: int) -> None:
    rng = np.random.default_rng(seed)
    tolerance = float(rng.choice([1e-4, 1e-6, 1e-8, 1e-10, 1e-12]))
    options = {
        "backend": "native" if seed % 8 == 0 else "auto",  # to compile takes longer than to run
        "tolerance": tolerance,
        "integrator": str(rng.choice(["dop853", "dopri5"])),
        "coordinates": str(rng.choice(["natural", "rtdyn1"])),
        "method": str(rng.choice(["direct", "adjoint"])),
    }
    case = _random_case(rng)
    # rounding of time makes the impulse of a narrow pulse uncertain by 1e-16 over its width
    assert _errors(case, **options) < 30 * tolerance + 1e-15 / case["width"], (case, options)


@pytest.mark.parametrize("integrator", EQUAL)
def test_equal_steps_see_every_pulse(integrator: str) -> None:
    """To the accuracy of schemes of order 2 (newmark: 1) with a hundred steps a pulse, however long
    the steps asked for are.
    """
    rng = np.random.default_rng(EQUAL.index(integrator))
    for _ in range(4):
        case = {**_random_case(rng), "duration": 1.0, "length": 1.0}
        step = 10 ** rng.uniform(-3, -1.5)
        assert _errors(case, step=step, integrator=integrator) < (
            1e-2 if integrator == "newmark" else 5e-3
        ), (case, step)


@pytest.mark.parametrize("x0", [0.0, 1.0])
@pytest.mark.parametrize("tolerance", [1e-6, 1e-9, 1e-12])
def test_a_bell_far_ahead_is_reached(x0: float, tolerance: float) -> None:
    """It begins below the smallest number there is; at the origin such a run did not end."""
    run = _block(lambda t: vm.exp(-(((t - 3.333) / 0.1) ** 2)), 1.0, x0=x0).simulate(
        10.0, tolerance=tolerance
    )
    assert run.velocity("b.P").values[-1, 0] == pytest.approx(
        0.1 * math.sqrt(math.pi), rel=30 * tolerance
    )
    assert run.info["steps"] < 1000


def test_both_backends_take_the_same_steps_over_a_pulse() -> None:
    ends = [
        _block(SHAPES["half sine"](0.4, 1e-3), 1.0).simulate(1.0, backend=backend).step_ends
        for backend in ("native", "interpreted")
    ]
    assert ends[0] is not None and ends[1] is not None and np.array_equal(ends[0], ends[1])


def test_steps_end_at_both_sides_of_an_edge() -> None:
    ends = _block(SHAPES["rectangle"](0.5, 0.25), 1.0).simulate(1.0).step_ends
    assert ends is not None
    for edge in (0.375, 0.625):
        assert (
            any(abs(e - edge) <= 2e-16 for e in ends)
            and np.diff(ends[np.abs(ends - edge) < 1e-12]).max() <= 2e-16
        )


def test_a_shock_isolator_at_the_origin() -> None:
    """A half sine of 5 ms on a mass on a spring: its motion afterwards follows from Duhamel's
    integral.
    """
    ω, w, c = 20.0, 5e-3, 0.2
    m = vm.Mechanism("isolator", dimension=2)
    m.ground_point("O", (0, 0))
    m.body("b", mass=2.0, inertia=1.0)
    m.prismatic("g", "ground.O", "b.com", axis=(1, 0))
    pulse = SHAPES["half sine"](c, w)
    m.force("f", "b.com", lambda s: vm.vector(pulse(s.time) - 2.0 * ω**2 * s.displacement("g"), 0))
    m.start(displacement={"g": 0.0})
    T = 1.0
    τ = np.linspace(c - w / 2, c + w / 2, 20001)
    force = np.sin(math.pi * (τ - τ[0]) / w) * math.pi / 2 / w
    exact = np.trapezoid(force * np.sin(ω * (T - τ)), τ) / (2.0 * ω)
    assert m.simulate(T).displacement("g").values[-1] == pytest.approx(exact, rel=1e-6)


def test_square_waves_and_kinks_in_time() -> None:
    """∫∫ of a square wave of eight periods is exact where steps end at its edges; so is that of
    |sin|.
    """
    n, T = 8, 2.0
    square = _block(lambda t: vm.where(vm.sin(2 * math.pi * n * t / T) > 0, 1, -1), 1.0)
    assert square.simulate(T).displacement("guide").values[-1] == pytest.approx(
        T**2 / (4 * n), rel=1e-8
    )
    kinked = _block(lambda t: vm.absolute(vm.sin(math.pi * n * t / T)), 1.0)
    assert kinked.simulate(T).velocity("b.P").values[-1, 0] == pytest.approx(
        2 * T / math.pi, rel=1e-9
    )


def test_integrands_with_edges_are_integrated_to_them() -> None:
    m = _block(lambda t: 0 * t, 1.0, v0=1.0)
    window = vm.integral(
        lambda s: vm.where(s.time > 0.31, vm.where(s.time < 0.3101, s.displacement("guide"), 0), 0)
    )
    g = m.sensitivity({"w": window}, duration=1.0)
    assert g.value_history[-1, 0] == pytest.approx((0.3101**2 - 0.31**2) / 2, rel=1e-9)


def test_derivatives_by_what_moves_a_jump_are_known() -> None:
    m = vm.Mechanism("block", dimension=2)
    τ, ramp = m.parameter("τ", 0.3), m.parameter("ramp", 0.7)
    m.ground_point("O", (0, 0))
    m.body("b", mass=1.0, inertia=0.01)
    m.prismatic("guide", "ground.O", "b.com", axis=(1, 0))
    m.force(
        "push",
        "b.com",
        lambda s: vm.vector(vm.where(s.time > τ, 2.0, 0) + vm.maximum(s.time - ramp, 0), 0),
    )
    m.start(displacement={"guide": 0.0})
    end = {"x": END["x"]}
    for method in ("direct", "adjoint", "complex-step", "composite"):
        known = m.sensitivity(end, ["τ"], duration=1.0, method=method)
        assert known.final_gradient.item() == pytest.approx(-2.0 * 0.7, rel=1e-9)
        # a kink moves without harm: x = (T − r)³/6
        g = m.sensitivity(end, ["ramp"], duration=1.0, method=method)
        assert g.gradient_history[-1, 0, 0] == pytest.approx(-(0.3**2) / 2, rel=1e-8)
    differences = m.sensitivity(end, ["τ"], duration=1.0, method="finite-difference")
    assert differences.gradient_history[-1, 0, 0] == pytest.approx(-2.0 * 0.7, rel=1e-6)
    # x = (T − τ)² for each sample, whose edges differ
    ensemble = m.ensemble(end, {"τ": [0.2, 0.3, 0.45]}, duration=1.0)
    assert np.allclose(
        ensemble.values.sel(objective="x").values.ravel(),
        (1 - np.array([0.2, 0.3, 0.45])) ** 2 + 0.3**3 / 6,
        rtol=1e-8,
    )


@pytest.mark.parametrize("stiffness", [1e4, 1e6])
def test_a_one_sided_stop_is_differentiated_right(stiffness: float) -> None:
    """A ball dropped from h on an elastic floor: ẏ is known in closed form before, in and after
    contact.
    """
    h, g, T = 0.5, 9.81, 0.5
    ω = math.sqrt(stiffness)

    def height(h: float) -> float:
        fall, v = math.sqrt(2 * h / g), math.sqrt(2 * g * h)
        # in contact y = −A sin(ωτ) + g/ω² (cos ωτ − 1), until y = 0 again: symmetric about the
        # lowest point
        contact = 2 * (math.pi - math.atan2(v * ω, g)) / ω
        rest = T - fall - contact
        return v * rest - g * rest**2 / 2

    exact = (height(h + 1e-6) - height(h - 1e-6)) / 2e-6
    m = vm.Mechanism("ball", gravity=(0, -g))
    p = m.parameter("h", h)
    m.ground_point("O", (0, 0))
    m.body("ball", mass=1.0, inertia=1e-3, points={"P": (0, 0)})
    m.prismatic("rail", "ground.O", "ball.P", axis=(0, 1))
    m.start(displacement={"rail": p})
    m.force(
        "floor",
        "ball.P",
        lambda s: vm.vector(0, stiffness * vm.maximum(-s.displacement("rail"), 0)),
    )
    end = {"y": vm.final(lambda s: s.displacement("rail"))}
    assert m.sensitivity(end, duration=T).gradient_history[-1, 0, 0] == pytest.approx(
        exact, rel=1e-4
    )
    for every in (1, 100):
        # the time of contact is off by (ω h)²/12 of it
        equal = m.sensitivity(end, duration=T, step=min(1e-4, 0.05 / ω), every=every)
        assert equal.gradient_history[-1, 0, 0] == pytest.approx(exact, rel=1e-4)
        other = m.sensitivity(
            end, duration=T, step=min(1e-4, 0.05 / ω), every=every, method="complex-step"
        )
        assert other.final_gradient[0, 0] == pytest.approx(exact, rel=1e-4)


def test_equal_steps_across_a_soft_kink_are_taken() -> None:
    m = vm.Mechanism("soft", dimension=2)
    k = m.parameter("k", 1.0)
    m.ground_point("O", (0, 0))
    m.body("b", mass=1.0, inertia=1.0)
    m.prismatic("g", "ground.O", "b.com", axis=(1, 0))
    m.force("stop", "b.com", lambda s: vm.vector(-k * vm.maximum(s.displacement("g") - 0.3, 0), 0))
    m.start(displacement={"g": 0.0}, speed={"g": 1.0})
    end = {"x": vm.final(lambda s: s.displacement("g"))}
    # x = 0.3 + sin(√k τ)/√k,  τ = 0.7
    exact = (0.7 * math.cos(0.7) - math.sin(0.7)) / 2
    assert m.sensitivity(end, duration=1.0, step=1e-3).gradient_history[-1, 0, 0] == pytest.approx(
        exact, rel=1e-4
    )


def test_longest_step_bounds_chosen_steps() -> None:
    m = _block(lambda t: 0 * t, 1.0, v0=1.0)
    ends = m.simulate(1.0, longest_step=1e-3).step_ends
    assert ends is not None and np.diff(ends).max() <= 1e-3 * (1 + 1e-9) and ends.size >= 1001
    for options, words in (
        ({"longest_step": 0.0}, "longest_step = 0.0 must be a positive"),
        ({"longest_step": "1"}, "longest_step = '1' must be a positive"),
        ({"longest_step": 1e-14}, "longest_step = 1e-14 s is too short"),
        ({"longest_step": 0.1, "step": 0.01}, "with equal steps give a smaller step="),
    ):
        with pytest.raises(vm.ModelError, match=words):
            m.simulate(1.0, **options)


def test_a_run_without_progress_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a bound that no run can meet: the interpreted driver stops there, and the message names
    tolerance and remedy.
    """
    monkeypatch.setattr("varimech.backends.step_length.TRIES", 50)
    monkeypatch.setattr("varimech.backends.step_length.PROGRESS", 2.0)
    m = _block(lambda t: vm.sin(3000 * t), 1.0, x0=1.0)
    with pytest.raises(
        vm.SimulationError,
        match=r"the last 2000 steps brought less than 1e-08 of the duration at tolerance 1e-08",
    ):
        m.simulate(1.0, backend="interpreted")


@pytest.mark.parametrize("integrator", ["cvodes", "idas"])
def test_sundials_sees_bells_and_refuses_edges(integrator: str) -> None:
    case = {
        "shape": "bell",
        "width": 2e-3,
        "place": 0.6,
        "duration": 1.0,
        "length": 1.0,
        "impulse": 1.0,
        "mass": 2.0,
        "x0": 1.0,
        "v0": 0.0,
    }
    assert _errors(case, integrator=integrator, tolerance=1e-8) < 1e-6
    with pytest.raises(
        vm.ModelError, match=r"jumps or has a kink at t = 0\.599 s.*integrator='dop853'"
    ):
        _errors({**case, "shape": "rectangle"}, integrator=integrator, tolerance=1e-8)


def test_edges_at_both_ends_of_a_run() -> None:
    """At the start one side of a jump holds for an instant only, and so does the other
    at the end.
    """
    m = _block(lambda t: vm.where(t < 1.0, 2.0, 7.0) + vm.where(t > 0, 1.0, 50.0), 1.0)
    for options, error in (({}, 1e-9), ({"integrator": "dopri5"}, 1e-9), ({"step": 0.1}, 5e-3)):
        run = m.simulate(1.0, **options)
        assert float(run.time[-1]) == pytest.approx(1.0, abs=1e-15)
        assert float(run.displacement("guide").values[-1]) == pytest.approx(1.5, abs=error)


def _shaken_block() -> vm.Mechanism:
    """A pulse of a width w, and a vibration of a frequency o."""
    m = vm.Mechanism("block", dimension=2)
    w, o = m.parameter("w", 1.0), m.parameter("o", 3.0)
    m.ground_point("O", (0, 0))
    m.body("b", mass=1.0, inertia=0.01, points={"P": (0, 0)})
    m.prismatic("guide", "ground.O", "b.P", axis=(1, 0))
    push = lambda t: vm.exp(-(((t - 1.1) / w) ** 2)) / w + vm.sin(o * t)  # noqa: E731
    m.force("push", "b.P", lambda s: vm.vector(push(s.time), 0))
    m.start(displacement={"guide": 0.0}, speed={"guide": 0.0})
    return m


FAR: dict[str, dict[str, Any]] = {
    "equal steps": {"step": 0.01},
    "chosen steps": {"tolerance": 1e-9},
    "trapezoidal": {"step": 0.01, "integrator": "trapezoidal"},
}


@pytest.mark.parametrize("options", FAR.values(), ids=FAR)
def test_samples_far_from_nominal_values_have_steps_of_their_own(options: dict[str, Any]) -> None:
    """A pulse that is wide for the nominal width, and a vibration that is slow for the nominal
    frequency: runs with other values cannot take the steps that suffice for these.
    """
    T, m = 2.0, _shaken_block()

    def speed(w: float, o: float) -> float:
        return (
            math.sqrt(math.pi) / 2 * (math.erf(0.9 / w) + math.erf(1.1 / w))
            + (1 - math.cos(o * T)) / o
        )

    values = {"w": [1.0, 0.7, 1.0, 1e-3, 2e-4, 1.0], "o": [3.0, 3.3, 800.0, 3.0, 500.0, -3.0]}
    expected = [speed(*pair) for pair in zip(*values.values(), strict=True)]
    v = {"v": END["v"]}
    found = m.ensemble(v, values, duration=T, **options)
    equal = "step" in options  # of which few cross the narrow pulses
    np.testing.assert_allclose(np.ravel(found.values)[:6], expected, rtol=2e-3 if equal else 1e-8)
    alone = [
        m.sensitivity(v, "w", duration=T, parameters={"w": w, "o": o}, **options).final_values[0]
        for w, o in zip(*values.values(), strict=True)
    ]
    np.testing.assert_allclose(np.ravel(found.values)[:6], alone, rtol=1e-8)
    single = m.sensitivity(
        v, "w", duration=T, parameters={"w": 0.05, "o": 628.0}, method="direct", **options
    )
    other = m.sensitivity(
        v,
        "w",
        duration=T,
        parameters={"w": 0.05, "o": 628.0},
        method="finite-difference",
        **options,
    )
    assert single.final_values == pytest.approx([speed(0.05, 628.0)], rel=1e-4)
    assert other.final_gradient == pytest.approx(single.final_gradient, abs=1e-5)


def test_exported_steps_have_bounds(tmp_path: Path) -> None:
    m = _shaken_block()
    m.problem({"v": END["v"]}, duration=2.0, step=0.01).export(tmp_path, target="c")
    about = json.loads((tmp_path / "bundle.json").read_text(encoding="utf-8"))
    bounds = {p["name"]: p["bounds"] for p in about["parameters"]}
    assert bounds["o"][0] < 3.0 < bounds["o"][1] < 800.0 and 0.1 > bounds["w"][0] > 1e-3


@pytest.mark.parametrize("options", FAR.values(), ids=FAR)
def test_samples_of_vibrations_beside_a_jump(options: dict[str, Any]) -> None:
    """Steps end at the jump, and are still too long for a faster vibration."""
    T, m = 2.0, vm.Mechanism("block", dimension=2)
    o = m.parameter("o", 3.0)
    m.ground_point("O", (0, 0))
    m.body("b", mass=1.0, inertia=0.01, points={"P": (0, 0)})
    m.prismatic("guide", "ground.O", "b.P", axis=(1, 0))
    push = lambda t: vm.where(t > 0.7, 1.0, 0.0) + vm.sin(o * t)  # noqa: E731
    m.force("push", "b.P", lambda s: vm.vector(push(s.time), 0))
    m.start(displacement={"guide": 0.0}, speed={"guide": 0.0})
    values = [3.0, 4.0, 628.0]
    found = m.ensemble({"v": END["v"]}, {"o": values}, duration=T, **options)
    expected = [1.3 + (1 - math.cos(x * T)) / x for x in values]
    np.testing.assert_allclose(np.ravel(found.values)[:3], expected, rtol=1e-4)
