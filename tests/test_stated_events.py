"""Events and modes that a model states, objectives at events, and friction in joints, against closed
forms.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import varimech as vm
from varimech.backends.sample_events import SampleEvents

G = 9.81
X, V = "displacement('guide')", "displacement_rate('guide')"
each_method = pytest.mark.parametrize("method", ["direct", "adjoint"])


def carriage(**event: Any) -> vm.Mechanism:
    """A carriage of 2 kg that a motor of 8 N pushes from rest; an event at x = 0.5 m."""
    m = vm.Mechanism("carriage", dimension=2)
    m.parameter("F", 8.0, unit="N")
    m.parameter("x", 0.5, unit="m")
    m.ground_point("O", (0, 0))
    m.body("carriage", mass=2.0, inertia=0.1, points={"P": (0, 0)})
    m.prismatic("guide", "ground.O", "carriage.P", axis=(1, 0))
    m.mode("motor", initial=1)
    m.force("push", "carriage.P", ["F*mode('motor')", "0"])
    m.event("off", f"{X} - x", direction="rising", **event)
    m.start(displacement={"guide": 0.0})
    return m


@each_method
def test_an_event_switches_a_motor_off(method: str) -> None:
    """t = √(2 m x/F),  v = √(2 F x/m),  x(1 s) = x + v (1 s − t)."""
    m = carriage(do={"motor": 0})
    objectives: dict[str, vm.Objective] = {
        "end": vm.final(X),
        "time": vm.time_of("off"),
        "speed": vm.at("off", V),
        "peak": vm.peak(V),
        "range": vm.range(X),
        "lowest": vm.lowest(V),
    }
    result = m.sensitivity(objectives, duration=1.0, method=method)
    np.testing.assert_allclose(result.final_values, [1.5, 0.5, 2.0, 2.0, 1.5, 0.0], atol=1e-10)
    by_force = [1 / 8, -1 / 32, 1 / 8, 1 / 8, 1 / 8, 0.0]
    expected = np.column_stack([by_force, [1.0, 0.5, 2.0, 2.0, 1.0, 0.0]])
    np.testing.assert_allclose(result.final_gradient, expected, atol=1e-8)
    (event,) = result.run.events
    assert (event.name, event.what, event.impulse) == ("off", "event", 0.0)
    np.testing.assert_allclose([event.time, event.before, event.after], [0.5, 2.0, 2.0], rtol=1e-9)


@pytest.mark.parametrize(
    ("do", "rate"), [({"guide": f"-0.5*{V}"}, -1.0), ({"guide": 0.0, "motor": 0}, 0.0)]
)
def test_an_event_resets_the_speed_of_a_joint(do: dict[str, Any], rate: float) -> None:
    run = carriage(do=do).simulate(1.2)
    assert run.events[0].after == pytest.approx(rate, abs=1e-10)
    if rate:  # it comes back as after an impact: 2 v/a later
        np.testing.assert_allclose(run.events.times, [0.5, 1.0], rtol=1e-8)
    else:
        assert run.displacement("guide").values[-1] == pytest.approx(0.5, abs=1e-9)


def test_an_event_resets_the_speed_of_a_body() -> None:
    m = vm.Mechanism("rotor", dimension=2)
    m.ground_point("O", (0, 0))
    m.body("rotor", mass=1.0, inertia=0.2, points={"O": (0, 0)})
    m.revolute("O")
    m.event("slower", lambda s: s.angle("O") - 1.0, do={"rotor": 1.0})
    m.start(angle={"O": 0.0}, speed={"O": 2.0})
    run = m.simulate(2.0)
    assert run.angle("O").values[-1] == pytest.approx(2.5, rel=1e-9)


def test_an_event_ends_the_run() -> None:
    run = carriage(do="stop").simulate(1.0)
    assert run.time[-1] == pytest.approx(0.5, rel=1e-12)
    assert run.displacement("guide").values[-1] == pytest.approx(0.5, rel=1e-12)


def test_a_relay_with_hysteresis() -> None:
    """Thrust twice the weight below 0.1 m, off above 0.2 m: the acceleration is ± g."""
    m = vm.Mechanism("hover", gravity=(0, -G))
    m.ground_point("O", (0, 0))
    m.body("mass", mass=1.0, inertia=0.1, points={"P": (0, 0)})
    m.prismatic("guide", "ground.O", "mass.P", axis=(0, 1))
    m.mode("thrust")
    m.force("jet", "mass.P", lambda s: (0, 2 * G * s.mode("thrust")))
    m.event("on", f"{X} - 0.1", direction="falling", do={"thrust": 1})
    m.event("off", f"{X} - 0.2", direction="rising", do={"thrust": 0})
    m.start(displacement={"guide": 0.15})
    run = m.simulate(1.0)
    v1 = math.sqrt(2 * G * 0.05)  # on: at 0.1 m, 0.05 m below the start
    v2 = math.sqrt(v1**2 + 2 * G * 0.1)  # off: it returns with v1, and rises by 0.1 m
    v3 = math.sqrt(v2**2 + 2 * G * 0.1)
    times = np.cumsum([v1 / G, (v1 + v2) / G, (v2 + v3) / G])
    assert [e.name for e in run.events] == ["on", "off", "on"]
    np.testing.assert_allclose(run.events.times, times, rtol=1e-8)
    assert set(run.measure(lambda s: s.mode("thrust")).values) == {0.0, 1.0}


def test_events_and_modes_are_in_files(tmp_path: Path) -> None:
    m = carriage(do={"motor": 0, "guide": f"-0.5*{V}"})
    again = vm.Mechanism.from_file(m.to_file(tmp_path / "m.yaml"))
    assert again.to_text() == m.to_text() and "modes:" in m.to_text() and "events:" in m.to_text()
    first, second = m.simulate(1.0), again.simulate(1.0)
    np.testing.assert_array_equal(first.displacement("guide"), second.displacement("guide"))
    assert list(first.events) == list(second.events)


@pytest.mark.parametrize(
    ("when", "options", "words"),
    [
        ("t - 1", {"direction": "up"}, "direction = 'up' must be one of 'both', 'falling', 'risi"),
        (
            "t - 1",
            {"do": 3},
            'do = 3 is not an action; use "stop", or values by name such as {"mot',
        ),
        ("t - 1", {"do": {"motr": 0}}, "no mode, state, joint or body is called 'motr'; did you"),
        ("t - 1", {"do": {"motor": math.nan}}, "event 'it': 'motor' = nan is not finite"),
        (
            "t - 1",
            {"do": {"motor": "P"}},
            "'motor' = 'P': no parameter or quantity is called 'P'; known: 'F', 'pi'",
        ),
        ("velocity('carriage.P')", {}, "returned 2 components; it must return a scalar"),
        ("mode('motr')", {}, "no mode is called 'motr'; did you mean 'motor'?"),
    ],
)
def test_bad_events(when: str, options: dict[str, Any], words: str) -> None:
    m = carriage()
    before = m.to_text()
    with pytest.raises(vm.ModelError) as caught:
        m.event("it", when, **options)
    assert words in str(caught.value) and m.to_text() == before


def test_objectives_name_events_that_occur() -> None:
    m = carriage()
    with pytest.raises(vm.ModelError, match="no contact, friction or event is called 'of'"):
        m.sensitivity({"t": vm.time_of("of")}, duration=1.0)
    with pytest.raises(vm.SimulationError, match="needs event 'off', which does not occur up to"):
        m.sensitivity({"t": vm.time_of("off")}, duration=0.1)


# --- friction in joints


@each_method
def test_friction_of_a_bearing(method: str) -> None:
    """Under its weight a rotor stops at  t = I ω / (μ r m g),  after the angle  ω t/2."""
    m = vm.Mechanism("rotor", gravity=(0, -G))
    μ = m.parameter("mu", 0.1)
    m.ground_point("O", (0, 0))
    m.body("rotor", mass=5.0, inertia=0.02, points={"O": (0, 0)})
    m.revolute("O", friction=μ, friction_radius="10 mm")
    m.start(angle={"O": 0.0}, speed={"O": 10.0})
    objectives = {"angle": vm.final("angle('O')"), "time": vm.time_of("friction of O")}
    result = m.sensitivity(objectives, duration=6.0, method=method)
    t = 0.02 * 10 / (0.1 * 0.01 * 5 * G)
    np.testing.assert_allclose(result.final_values, [5 * t, t], rtol=1e-8)
    np.testing.assert_allclose(result.final_gradient[:, 0], [-50 * t, -10 * t], rtol=1e-7)
    assert [e.what for e in result.run.events] == ["stick"]


@each_method
@pytest.mark.parametrize("coordinates", ["natural", "rtdyn1"])
def test_friction_of_a_guide(method: str, coordinates: str) -> None:
    """Down a slope of 1 : 2,  s = g (1 − 2 μ) t²/(2 √5);  from μ = 1/2 on it stays."""
    m = vm.Mechanism("slope", gravity=(0, -G))
    m.ground_point("O", (0, 0))
    m.body("block", mass=2.0, inertia=0.01, points={"P": (0, 0)})
    m.prismatic("guide", "ground.O", "block.P", axis=(2, -1), friction=m.parameter("mu", 0.2))
    m.start(displacement={"guide": 0.0})
    s = vm.final(X)
    result = m.sensitivity(s, duration=1.0, method=method, coordinates=coordinates)
    assert result.final_values[0] == pytest.approx(0.3 * G / math.sqrt(5), rel=1e-8)
    assert result.final_gradient[0, 0] == pytest.approx(-G / math.sqrt(5), rel=1e-8)
    stays = m.simulate(1.0, parameters={"mu": 0.6})
    assert abs(stays.displacement("guide").values[-1]) < 1e-9


def test_friction_of_a_hinge_needs_a_radius() -> None:
    m = carriage()
    m.bar("rod", "P", "Q", length=1.0, mass=1.0)
    with pytest.raises(vm.ModelError, match="'P': friction in a hinge needs the radius of its pin"):
        m.revolute("P", friction=0.1)


def fast_rod() -> tuple[vm.Mechanism, vm.Objective]:
    """A rod that turns at 100 rad/s, and the peak of an acceleration, whose rate is found from
    accelerations beside the motion: a millionth of the run, 1e-4 rad, away.
    """
    m = vm.Mechanism("rod", dimension=2)
    m.ground_point("O", (0, 0))
    m.bar("rod", "O", "tip", length=m.parameter("L", 1.0), mass=1.0)
    m.revolute("O")
    m.start(angle={"rod": 0.0}, speed={"rod": 100.0})
    return m, vm.peak(lambda s: s.acceleration("tip")[1])


def test_residuals_are_those_of_the_motion() -> None:
    m, peak = fast_rod()
    native, slow = (
        m.sensitivity(peak, duration=1.0, tolerance=1e-6, backend=backend)
        for backend in ("native", "interpreted")
    )
    residuals = native.run.info["residuals"]
    assert residuals == slow.run.info["residuals"]
    assert residuals[1] < 1e-12  # 5e-11 beside the motion
    assert native.final_values[0] == pytest.approx(1e4, rel=1e-6)


def test_the_rate_of_a_sample_leaves_residuals_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where steps end with the chain that gives accelerations."""
    rate, changes = SampleEvents.rate, list[float]()

    def watched(self: SampleEvents, time: float, state: np.ndarray, k: int) -> float:
        residuals = self._workspace.finish.residuals
        before = residuals.copy()
        result = rate(self, time, state, k)
        changes.append(float(np.abs(residuals - before).max()))
        return result

    monkeypatch.setattr(SampleEvents, "rate", watched)
    m, peak = fast_rod()
    m.sensitivity(peak, duration=0.05, formulation="penalty", backend="interpreted")
    assert changes and max(changes) == 0.0
