"""Compliant contact that remembers its impact speed (Lankarani and Nikravesh), against a closed form of
its energy balance, an independent integration, and differences.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import varimech as vm

G = 9.81
LAW = "lankarani-nikravesh"
Y, V = "displacement('guide')", "displacement_rate('guide')"
each_method = pytest.mark.parametrize("method", ["direct", "adjoint"])
each_backend = pytest.mark.parametrize("backend", ["auto", "interpreted"])


def mass(gravity: float = G, **start: Any) -> vm.Mechanism:
    """A mass of 2 kg above a compliant floor."""
    m = vm.Mechanism("mass", gravity=(0, -gravity))
    m.parameter("h", 0.1, unit="m")
    m.parameter("e", 0.6)
    m.parameter("k", 1e6)
    m.parameter("n", 1.5)
    m.ground_point("O", (0, 0))
    m.body("mass", mass=2.0, inertia=0.1, points={"P": (0, 0)})
    m.prismatic("guide", "ground.O", "mass.P", axis=(0, 1))
    m.stop("floor", Y, lower=0.0, restitution="e", stiffness="k", exponent="n", law=LAW)
    m.start(displacement={"guide": start.get("height", "h")}, speed={"guide": start.get("v", 0.0)})
    return m


def rebound(e: float) -> float:
    """Speed after the impact over that before it. With  x = v/v₀  and  c = 3 (1 − e²)/4,

        m v dv = −K δⁿ (1 + c x) dδ,   so   ∫ x/(1 + c x) dx = 0   from 1 to −r,

    whatever m, K, n and v₀ are.
    """
    c = 0.75 * (1 - e * e)

    def work(x: float) -> float:
        return x / c - np.log1p(c * x) / c**2

    return float(brentq(lambda r: work(-r) - work(1.0), 1e-6, 1.0, xtol=1e-15))


@each_method
def test_the_rebound_is_that_of_the_energy_balance(method: str) -> None:
    m = mass(gravity=0.0, v=-0.7)
    result = m.sensitivity({"v": vm.final(V)}, duration=0.3, method=method, tolerance=1e-11)
    r = rebound(0.6)
    assert result.final_values[0] == pytest.approx(0.7 * r, rel=1e-10)
    slope = (rebound(0.6 + 1e-5) - rebound(0.6 - 1e-5)) / 2e-5
    # neither height, stiffness nor exponent change the rebound
    expected = np.array([0.0, 0.7 * slope, 0.0, 0.0])
    np.testing.assert_allclose(result.final_gradient[0], expected, rtol=1e-8, atol=1e-8)
    (event,) = result.run.events
    assert (event.name, event.what) == ("floor", "contact")
    assert event.time == pytest.approx(0.1 / 0.7, rel=1e-12)
    assert result.run.state("impact speed of floor").values[-1] == pytest.approx(0.7, rel=1e-12)


def falling(h: float, e: float, k: float, n: float, end: float = 0.5) -> list[float]:
    """Place and speed at the end, and the time of the second contact, by another program."""
    t = float(np.sqrt(2 * h / G))
    v, times = -G * t, [t]
    while True:
        u = -v

        def rates(_: float, x: np.ndarray, u: float = u) -> list[float]:
            force = k * max(-x[0], 0.0) ** n * (1 - 0.75 * (1 - e * e) * x[1] / u)
            return [x[1], force / 2.0 - G]

        def apart(s: float, x: np.ndarray) -> float:
            return float(x[0]) if s > 1e-9 else -1.0

        apart.terminal, apart.direction = True, 1  # type: ignore[attr-defined]
        motion = solve_ivp(
            rates, (0, end - t), [0.0, v], "DOP853", events=apart, rtol=1e-13, atol=1e-16
        )
        t, v = t + motion.t[-1], motion.y[1, -1]
        left = end - t
        if 2 * v / G > left:
            return [v * left - G * left**2 / 2, v - G * left, times[1]]
        t, v = t + 2 * v / G, -v
        times.append(t)


OBJECTIVES: dict[str, vm.Objective] = {
    "y": vm.final(Y),
    "v": vm.final(V),
    "t": vm.time_of("floor", occurrence=2),
}


@each_backend
@each_method
def test_a_fall_with_two_contacts(backend: str, method: str) -> None:
    options: dict[str, Any] = {"duration": 0.5, "tolerance": 1e-11}
    result = mass().sensitivity(OBJECTIVES, method=method, backend=backend, **options)
    values = np.array([0.1, 0.6, 1e6, 1.5])
    np.testing.assert_allclose(result.final_values, falling(*values), rtol=1e-9)
    for j, step in enumerate(1e-5 * values):
        nearby = [np.array(falling(*(values + np.eye(4)[j] * s))) for s in (step, -step)]
        slope = (nearby[0] - nearby[1]) / (2 * step)
        np.testing.assert_allclose(result.final_gradient[:, j], slope, rtol=2e-6)


def test_direct_adjoint_and_differences_agree() -> None:
    methods = ("direct", "adjoint", "finite-difference")
    found = [
        mass().sensitivity(OBJECTIVES, duration=0.5, method=x, tolerance=1e-12).final_gradient
        for x in methods
    ]
    np.testing.assert_allclose(found[1], found[0], rtol=1e-9)
    np.testing.assert_allclose(found[2], found[0], rtol=1e-6)


def test_both_backends_are_the_same_to_the_last_bit() -> None:
    first, second = (mass().simulate(0.5, backend=b) for b in ("native", "interpreted"))
    np.testing.assert_array_equal(
        first.displacement("guide").values, second.displacement("guide").values
    )
    assert list(first.events) == list(second.events)


def test_it_comes_to_rest_and_energy_never_grows() -> None:
    """The weight rests on  δ = (m g/K)^(1/n)."""
    run = mass().simulate(3.0)
    speeds = np.array([event.before for event in run.events])
    assert len(speeds) > 5 and (np.diff(np.abs(speeds)) < 0).all()
    rest = -((2.0 * G / 1e6) ** (1 / 1.5))
    assert run.displacement("guide").values[-1] == pytest.approx(rest, rel=1e-3)
    y, v = run.displacement("guide").values, run.displacement_rate("guide").values
    energy = v**2 + 2 * G * y + 1e6 * np.maximum(-y, 0) ** 2.5 / 2.5
    assert (np.diff(energy) < 1e-7 * energy[0]).all()


def test_surfaces_that_overlap_at_the_start_have_the_least_impact_speed() -> None:
    """Around its rest, a mass in contact is damped as by  D = 3 (1 − e²)/(4 δ̇⁻)  of Hunt and
    Crossley.
    """

    def resting(**law: Any) -> np.ndarray:
        m = vm.Mechanism("mass", gravity=(0, -G))
        m.ground_point("O", (0, 0))
        m.body("mass", mass=2.0, inertia=0.1, points={"P": (0, 0)})
        m.prismatic("guide", "ground.O", "mass.P", axis=(0, 1))
        m.stop("floor", Y, lower=0.0, stiffness=1e6, exponent=1.5, **law)
        m.start(displacement={"guide": -5e-4})
        return m.simulate(0.05).displacement("guide").values

    found = resting(law=LAW, restitution=0.5, least_impact_speed=0.02)
    assert (found < 0).all()
    expected = resting(damping=0.75 * 0.75 / 0.02)
    np.testing.assert_allclose(found[-1], expected[-1], rtol=1e-7)


@each_backend
@each_method
def test_surfaces_that_touch_at_the_start_have_the_speed_of_the_start(
    backend: str, method: str
) -> None:
    m = mass(gravity=0.0, height=0.0, v="-7*h")
    result = m.sensitivity(
        vm.final(V), duration=0.1, method=method, backend=backend, tolerance=1e-11
    )
    assert result.final_values[0] == pytest.approx(0.7 * rebound(0.6), rel=1e-10)
    assert result.final_gradient[0, 0] == pytest.approx(7 * rebound(0.6), rel=1e-9)


def test_a_mass_that_is_put_down_gently() -> None:
    """A contact without any speed is no error, and the mass comes to rest."""
    run = mass(height=0.0).simulate(3.0)
    rest = -((2.0 * G / 1e6) ** (1 / 1.5))
    assert run.displacement("guide").values[-1] == pytest.approx(rest, rel=1e-3)
    run = mass(height=1e-13).simulate(3.0)
    assert run.displacement("guide").values[-1] == pytest.approx(rest, rel=1e-3)


@each_method
def test_a_pin_in_a_bore(method: str) -> None:
    """A pendulum on a pin with clearance: derivatives over many contacts are those of differences."""
    m = vm.Mechanism("pendulum", gravity=(0, -G))
    m.parameter("c", 2e-3, unit="m")
    m.parameter("e", 0.5)
    m.ground_point("O", (0, 0))
    m.body("rod", mass=1.0, inertia=0.02, points={"A": (0, 0.2)}, floating=True)
    m.clearance_joint(
        "pin", "ground.O", "rod.A", clearance="c", stiffness=1e6, law=LAW, restitution="e"
    )
    m.start(
        position={"rod.A": (0.0, 0.0)}, angle={"rod": 0.5}, speed={"rod.A": (0.0, 0.0), "rod": 0.0}
    )
    what = vm.final("angle('rod')")
    result = m.sensitivity(what, duration=0.1, method=method, tolerance=1e-11)
    assert len(result.run.events["pin"]) >= 2
    check = m.sensitivity(what, duration=0.1, method="finite-difference", tolerance=1e-12)
    np.testing.assert_allclose(result.final_gradient, check.final_gradient, rtol=1e-5)


def test_it_is_in_files(tmp_path: Path) -> None:
    m = mass()
    again = vm.Mechanism.from_file(m.to_file(tmp_path / "m.yaml"))
    assert again.to_text() == m.to_text() and f"law: {LAW}" in m.to_text()
    np.testing.assert_array_equal(
        m.simulate(0.3).displacement("guide"), again.simulate(0.3).displacement("guide")
    )


def test_the_exponent_is_hertz_s_if_not_given() -> None:
    def speed(**exponent: Any) -> float:
        m = vm.Mechanism("mass", dimension=2)
        m.ground_point("O", (0, 0))
        m.body("mass", mass=2.0, inertia=0.1, points={"P": (0, 0)})
        m.prismatic("guide", "ground.O", "mass.P", axis=(0, 1))
        m.stop("floor", Y, lower=0.0, stiffness=1e6, law=LAW, restitution=0.8, **exponent)
        m.start(displacement={"guide": 0.0}, speed={"guide": -1.0})
        return float(m.simulate(1e-3).displacement_rate("guide").values[-1])

    assert speed() == speed(exponent=1.5) != speed(exponent=1.0)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"stiffness": 1e6, "restitution": 1.2}, "restitution = 1.2 must be between 0 and 1"),
        ({"stiffness": 1e6, "damping": 2.0}, "give restitution instead, or law='hunt-crossley'"),
        ({"restitution": 0.5}, "law = 'lankarani-nikravesh' is a law for compliant surfaces, but"),
        (
            {"stiffness": 1e6, "least_impact_speed": 0.0},
            "least_impact_speed = 0 must be positive",
        ),
    ],
)
def test_bad_arguments(options: dict[str, Any], words: str) -> None:
    m = mass()
    before = m.to_text()
    with pytest.raises(vm.ModelError) as caught:
        m.stop("it", Y, lower=0.0, law=LAW, **options)
    assert words in str(caught.value) and m.to_text() == before
