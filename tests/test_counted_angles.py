"""Angles count turns wherever they are used: in objectives, forces, measures, statistics, designs
and fits.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
import pytest
from loops import add_four_bar

import varimech as vm

SPEED, DURATION = 5.0, 2.0
METHODS: list[dict[str, Any]] = [
    {},
    {"method": "adjoint"},
    {"method": "composite"},
    {"method": "complex-step"},
    {"method": "finite-difference", "relative_steps": (1e-5,)},
    {"formulation": "independent"},
    {"formulation": "index1-stabilised"},
    {"integrator": "dopri5", "tolerance": 1e-10},
    {"integrator": "cvodes", "tolerance": 1e-10},
    {"integrator": "rk4", "step": 2e-3},
]


def _angle_and_square(name: str, s: vm.State) -> Any:
    return vm.vector(s.angle(name), s.angle(name) ** 2)


def rotor(first: float = 0.0, speed: float = SPEED) -> vm.Mechanism:
    m = vm.Mechanism("rotor", dimension=2)
    w = m.parameter("w", speed, unit="rad/s", distribution=vm.Tolerance(0.3))
    m.ground_point("O", (0, 0))
    m.bar("c", "O", "P", length=0.1, mass=1.0)
    m.revolute("O")
    m.start(angle={"c": first}, speed={"c": w})
    return m


def four_bar(rng: np.random.Generator) -> vm.Mechanism:
    m = vm.Mechanism("four-bar", gravity=(0, -9.81))
    L, w = (
        m.parameter("L", rng.uniform(0.08, 0.12)),
        m.parameter("w", rng.choice([-1, 1]) * rng.uniform(15.0, 25.0)),
    )
    add_four_bar(m, 0.4, L, 0.4, 0.3)
    m.start(
        angle={"crank": rng.uniform(-12.0, 12.0)},
        speed={"crank": w},
        near={"coupler": 0.6, "rocker": 1.5},
    )
    return m


END = vm.final(lambda s: s.angle("c"), unit="rad")
OBJECTIVES = {
    "end": END,
    "squared": vm.integral(lambda s: s.angle("c") ** 2),
    "rate": vm.final(lambda s: s.rate(s.angle("c") ** 2)),
    "periodic": vm.final(lambda s: vm.sin(s.angle("c"))),
}


def exact(
    first: float, w: float = SPEED, T: float = DURATION
) -> tuple[list[float], list[float], list[float]]:
    """Of θ = first + w t: values, first and second derivatives with respect to w."""
    θ = first + w * T
    integral = first**2 * T + first * w * T**2 + w**2 * T**3 / 3
    values = [θ, integral, 2 * θ * w, math.sin(θ)]
    derivatives = [T, first * T**2 + 2 * w * T**3 / 3, 2 * T * w + 2 * θ, T * math.cos(θ)]
    return values, derivatives, [0.0, 2 * T**3 / 3, 4 * T, -(T**2) * math.sin(θ)]


@pytest.mark.parametrize(
    ("options", "first"),
    [({"backend": "interpreted"}, -20.0), *[(options, 0.0) for options in METHODS]],
    ids=str,
)
def test_objectives_count_turns_with_every_method(options: dict[str, Any], first: float) -> None:
    values, derivatives, _ = exact(first)
    g = rotor(first).sensitivity(OBJECTIVES, duration=DURATION, **options)
    assert g.values.to_numpy() == pytest.approx(values, rel=1e-6)
    assert g.gradient.to_numpy().ravel() == pytest.approx(derivatives, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("method", ["forward", "backward"])
def test_second_derivatives_count_turns(method: str) -> None:
    hessian = rotor().hessian(OBJECTIVES, duration=DURATION, method=method)
    assert hessian.hessian.to_numpy().ravel() == pytest.approx(exact(0.0)[2], rel=1e-7, abs=1e-7)


def test_statistics_count_turns() -> None:
    m, half = (
        rotor(),
        math.pi / SPEED,
    )  # at the end some samples have passed half a turn, others have not
    assert m.moments({"a": END}, duration=half).std[-1].item() == pytest.approx(
        0.1 * half, rel=1e-6
    )
    w = SPEED + 0.1 * np.random.default_rng(1).standard_normal(64)
    ensemble = m.ensemble(END, {"w": w}, duration=half, wrt="all")
    assert ensemble.values.to_numpy().ravel() == pytest.approx(half * w, rel=1e-8)
    assert ensemble.gradient.to_numpy().ravel() == pytest.approx(np.full(64, half), rel=1e-8)
    study = m.monte_carlo(
        {"a": END, "w": vm.final(lambda s: s.parameter("w"))}, duration=half, samples=128, seed=3
    )
    assert study.std.sel(objective="a")[-1].item() == pytest.approx(
        half * study.std.sel(objective="w")[-1].item(), rel=1e-7
    )


def test_designs_and_fits_count_turns() -> None:
    m = rotor()
    aim = vm.final(lambda s: (s.angle("c") - 12.0) ** 2)
    optimum = m.optimize(aim, ["w"], bounds={"w": (4.0, 8.0)}, duration=DURATION)
    assert optimum.parameters["w"] == pytest.approx(6.0, rel=1e-4)
    below = m.optimize(
        vm.final(lambda s: -s.angle("c")),
        ["w"],
        bounds={"w": (4.0, 8.0)},
        duration=DURATION,
        constraints=[vm.path(lambda s: s.angle("c")) <= 11.0],
    )
    assert below.parameters["w"] == pytest.approx(5.5, rel=1e-5)
    times = [0.7, 1.5, 2.0]  # more than a turn apart
    fast = rotor(speed=11.0)
    for function in (lambda s: s.angle("c"), fast.data.find_angle("O")):
        data = vm.measurement(function, times, [11.3 * t for t in times], name="angle")
        assert fast.fit(data, ["w"], bounds={"w": (8.0, 15.0)}, duration=DURATION).parameters[
            "w"
        ] == pytest.approx(11.3, rel=1e-6)


@pytest.mark.parametrize(
    "seed", [0, pytest.param(1, marks=pytest.mark.slow), pytest.param(2, marks=pytest.mark.slow)]
)
def test_objectives_and_outputs_are_those_of_runs(seed: int) -> None:
    """Bodies and joints of a closed loop, some of which turn on and some of which swing; given at
    the start, or not.
    """
    rng = np.random.default_rng(seed)
    m, T = four_bar(rng), rng.uniform(0.5, 1.0)
    run = m.simulate(T)
    names = run.names_of("turn")
    ends = [float(run.angle(name)[-1]) for name in names]
    assert np.abs(ends).max() > 2 * math.pi
    g = m.sensitivity({name: vm.final(f"angle('{name}')") for name in names}, duration=T)
    assert g.values.to_numpy() == pytest.approx(ends, rel=1e-7)
    plain = m.sensitivity((), duration=T).run
    for k, name in enumerate(names):
        assert g.gradient.to_numpy()[k] == pytest.approx(
            plain.angle(name, wrt="all").to_numpy()[-1], rel=1e-5, abs=1e-7
        )
        both = plain.measure(partial(_angle_and_square, name)).to_numpy()
        assert both[:, 0] == pytest.approx(run.angle(name).to_numpy(), rel=1e-6, abs=1e-7)
        slope = plain.measure(partial(_angle_and_square, name), wrt="w").to_numpy()[:, 1]
        assert slope.ravel() == pytest.approx(
            2 * both[:, 0] * plain.angle(name, wrt="w").to_numpy(), rel=1e-9, abs=1e-9
        )


def test_angles_of_joints_in_space_count_turns() -> None:
    m = vm.Mechanism("wheel", gravity=(0, 0, -9.81))
    w = m.parameter("w", 7.0)
    m.ground_point("O", (0, 0, 0))
    m.body(
        "disc",
        mass=2.0,
        inertia=np.diag([0.1, 0.1, 0.2]),
        points={"O": (0, 0, 0), "P": (0.3, 0, 0)},
    )
    m.revolute("O", axis=(0, 0, 1))
    m.start(angle={"O": 1.0}, speed={"O": w})
    g = m.sensitivity(vm.final(lambda s: s.angle("O")), duration=3.0)
    assert (g.values.item(), g.gradient.item()) == pytest.approx((22.0, 3.0), rel=1e-8)


def test_large_mechanisms_count_turns() -> None:
    """A wheel that carries a chain: assembled, not unrolled."""
    m = rotor()
    for k in range(14):
        m.bar(f"bar {k}", "P" if k == 0 else f"P{k - 1}", f"P{k}", length=0.05, mass=1e-3)
        m.revolute("P" if k == 0 else f"P{k - 1}")
    m.start(
        angle={"c": 0.0, **{f"bar {k}": 0.0 for k in range(14)}},
        speed={"c": 9.0, **{f"bar {k}": 9.0 for k in range(14)}},
    )
    g = m.sensitivity(END, duration=1.0, step=2e-3)
    assert g.values.item() == pytest.approx(9.0, rel=1e-4)  # as a whole it turns on


STIFFNESS, INERTIA, FAST = 0.05, 0.1**2 / 3, 60.0
FREQUENCY = math.sqrt(STIFFNESS / INERTIA)


def clock(*, custom: bool) -> vm.Mechanism:
    """Wound by two and a half turns to either side."""
    m = rotor(speed=FAST)
    if custom:
        m.torque("spring", "c", lambda s: -STIFFNESS * s.angle("c"))
    else:
        m.torsional_spring("spring", "O", stiffness=STIFFNESS)
    return m


@pytest.mark.parametrize("options", [{}, {"integrator": "cvodes"}, {"step": 1e-4}], ids=str)
def test_torques_count_turns(options: dict[str, Any]) -> None:
    run = clock(custom=True).simulate(1.3, **options)
    turned = FAST / FREQUENCY * np.sin(FREQUENCY * run.time)
    assert turned.max() > 4 * math.pi
    assert run.angle("c").to_numpy() == pytest.approx(turned, abs=1e-6 if not options else 1e-3)


def test_what_needs_no_turns_has_no_further_coordinates() -> None:
    m = rotor()
    for function in (
        lambda s: vm.cos(3 * s.angle("c")),
        lambda s: s.angular_velocity("c"),
        lambda s: s.rate(s.angle("c")),
    ):
        assert m.sensitivity(vm.final(function), duration=0.1).run.live.equations.extra == 0
    assert m.sensitivity(END, duration=0.1).run.live.equations.extra == 1
