"""States, signals and control: blocks against closed forms, controllers against SciPy, derivatives
by every method in every kind of coordinates.
"""

from __future__ import annotations

import math
import time
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import solve_ivp
from scipy.linalg import expm
from scipy.optimize import brentq
from scipy.signal import lsim

import varimech as vm

COORDINATES = ["natural", "rtdyn0", "rtdyn1"]
FORMULATIONS = ["index1", "index1-stabilised", "independent", "penalty"]


def slider() -> vm.Mechanism:
    """A mass of 2 kg on a guide, for blocks that need a mechanism around them."""
    m = vm.Mechanism("slider", dimension=2)
    m.ground_point("O", (0, 0))
    m.body("mass", mass=2.0, inertia=1.0, points={"P": (0, 0)})
    m.prismatic("guide", "ground.O", "mass.P", axis=(1, 0))
    m.start(displacement={"guide": 1.0})
    return m


def output(m: vm.Mechanism, name: str, duration: float = 1.5) -> tuple[np.ndarray, np.ndarray]:
    """Times and values of a signal."""
    run = m.simulate(duration, tolerance=1e-10)
    return run.time, run.signal(name).to_numpy()


# --- states


def test_a_state_decays_from_a_parameter() -> None:
    m = slider()
    m.parameter("z0", 3.0)
    m.parameter("T", 0.4)
    m.state("z", rate=lambda s: -s.state("z") / s.parameter("T"), initial="z0", unit="K")
    g = m.sensitivity({"z": vm.final("state('z')")}, ["z0", "T"], duration=0.7, tolerance=1e-10)
    z = 3.0 * math.exp(-0.7 / 0.4)
    assert g.values.item() == pytest.approx(z, rel=1e-9)
    assert g.gradient.to_numpy()[0] == pytest.approx([z / 3.0, z * 0.7 / 0.16], rel=1e-8)
    assert g.run.state("z").attrs["units"] == "K"


def test_states_and_signals_may_come_later(tmp_path: Path) -> None:
    m = slider()
    m.state("x", rate="signal('y')", initial=1.0)
    m.signal("y", "-4*state('v')")
    m.state("v", rate="state('x')")
    assert m.simulate(0.9, tolerance=1e-10).state("x")[-1] == pytest.approx(math.cos(1.8), abs=1e-8)
    again = vm.Mechanism.from_file(m.to_file(tmp_path / "m.yaml"))
    assert again.to_text() == m.to_text()


# --- blocks


def test_a_lag_answers_a_step() -> None:
    m = slider()
    T = m.parameter("T", 0.3, unit="s")
    m.lag("y", 2.0, time_constant=T, gain=1.5, initial=-1.0)
    t, y = output(m, "y")
    assert y == pytest.approx(3.0 - 4.0 * np.exp(-t / 0.3), abs=1e-8)


def test_a_lead_answers_a_step() -> None:
    m = slider()
    m.lead("y", 2.0, lead_time=0.6, lag_time=0.2, gain=1.5)
    t, y = output(m, "y")
    assert y == pytest.approx(3.0 * (1 + 2.0 * np.exp(-t / 0.2)), abs=1e-8)


def test_a_transfer_function_of_second_order() -> None:
    ω, ζ = 9.0, 0.2
    m = slider()
    m.transfer_function("y", 1.0, [ω**2], [1, 2 * ζ * ω, ω**2])
    t, y = output(m, "y")
    damped = ω * math.sqrt(1 - ζ**2)
    exact = 1 - np.exp(-ζ * ω * t) * (np.cos(damped * t) + ζ * ω / damped * np.sin(damped * t))
    assert y == pytest.approx(exact, abs=1e-7)


def test_a_transfer_function_with_a_numerator_and_an_integrator() -> None:
    m = slider()
    m.transfer_function("y", "sin(5*t)", [3, 0, 2, 7], [2, 4, 30, 0])
    t, y = output(m, "y")
    fine = np.linspace(0, t[-1], 200_001)
    _, reference, _ = lsim(([3, 0, 2, 7], [2, 4, 30, 0]), np.sin(5 * fine), fine)
    assert y == pytest.approx(np.interp(t, fine, reference), abs=1e-6)


def test_a_transfer_function_begins_at_rest() -> None:
    m = slider()
    m.transfer_function("y", 3.0, [1, 8], [1, 3, 4], initial=6.0)  # 6 = 3 · 8/4: stays
    assert output(m, "y")[1] == pytest.approx(6.0, abs=1e-10)


def test_equations_of_state_with_two_inputs_and_outputs() -> None:
    A, B = [[0.0, 1.0], [-4.0, -0.5]], [[1.0, 0.0], [0.0, 2.0]]
    C, D = [[1.0, 0.0], [0.5, -1.0]], [[0.0, 0.0], [0.25, 0.0]]
    m = slider()
    m.state_space("x", ["sin(3*t)", "cos(2*t)"], A, B, C, D, initial=[0.3, -0.2])
    run = m.simulate(1.5, tolerance=1e-10)
    fine = np.linspace(0, 1.5, 100_001)
    u = np.column_stack([np.sin(3 * fine), np.cos(2 * fine)])
    _, y, _ = lsim((A, B, C, D), u, fine, X0=[0.3, -0.2])
    for k in range(2):
        expected = np.interp(run.time, fine, y[:, k])
        assert run.signal(f"x [{k}]").to_numpy() == pytest.approx(expected, abs=1e-7)


def test_a_delay_is_a_pade_approximation() -> None:
    """Of order 2, (12 − 6 x + x²)/(12 + 6 x + x²) with x = T s, and near the delayed input."""
    T = 0.3
    m = slider()
    m.delay("two", "sin(4*t)", time=T)
    m.delay("six", "sin(4*t)", time=T, order=6)
    run = m.simulate(3.0, tolerance=1e-10)
    fine = np.linspace(0, 3.0, 200_001)
    pade = ([T**2, -6 * T, 12], [T**2, 6 * T, 12])
    _, y, _ = lsim(pade, np.sin(4 * fine), fine)
    expected = np.interp(run.time, fine, y)
    assert run.signal("two").to_numpy() == pytest.approx(expected, abs=1e-6)
    late = run.time > 2.0
    delayed = np.sin(4 * (run.time - T))[late]
    assert run.signal("six").to_numpy()[late] == pytest.approx(delayed, abs=1e-6)


def test_a_rate_limit_rises_and_then_follows() -> None:
    r, T, u = 2.0, 0.05, 1.0
    m = slider()
    m.rate_limit("y", u, rising=r, time_constant=T)
    t, y = output(m, "y")
    until = u / r - T  # where (u − y)/T is the limit
    exact = np.where(t < until, r * t, u - r * T * np.exp(-(t - until) / T))
    assert y == pytest.approx(exact, abs=1e-7)


def held(h: complex, k: complex, duration: float) -> complex:
    """A mass of 2 kg under a sampled force −k x − 1.5 v: exact within each interval."""
    x, v = 1.0 + 0 * h, 0.0 + 0 * h
    count = math.floor(duration / h.real + 1e-9)
    for interval in [h] * count + [duration - count * h]:
        a = (-k * x - 1.5 * v) / 2.0
        x, v = x + v * interval + a * interval**2 / 2, v + a * interval
    return x


@pytest.mark.parametrize("backend", ["interpreted", "auto"])
@pytest.mark.parametrize("method", ["direct", "adjoint"])
def test_sample_and_hold_is_a_difference_equation(backend: str, method: str) -> None:
    m = slider()
    m.parameter("h", 0.2, unit="s")
    m.parameter("k", 4.0)
    m.sample_and_hold(
        "u", "-k*displacement('guide') - 1.5*displacement_rate('guide')", period="h", unit="N"
    )
    m.force("push", "mass.P", ["signal('u')", 0])
    end = {"x": vm.final(lambda s: s.displacement("guide"))}
    g = m.sensitivity(end, ["h", "k"], duration=1.7, method=method, backend=backend)
    assert g.values.item() == pytest.approx(held(0.2, 4.0, 1.7).real, rel=1e-8)
    exact = [held(0.2 + 1e-30j, 4.0, 1.7).imag, held(0.2, 4.0 + 1e-30j, 1.7).imag]
    assert g.gradient.to_numpy()[0] == pytest.approx(np.array(exact) / 1e-30, rel=1e-7)
    assert g.run.events.times == pytest.approx(0.2 * np.arange(1, 9), rel=1e-9)


def test_runs_of_whole_periods_end() -> None:
    m = slider()
    m.sample_and_hold("u", "-4*displacement('guide')", period=0.05)
    m.force("push", "mass.P", ["signal('u')", 0])
    for count in (1, 3, 7, 20, 33, 80):
        run = m.simulate(0.05 * count)
        assert len(run.events) == count - 1
        run = m.simulate(0.05 * count, output=0.05)
        assert run.time.size == count + 1


# --- controllers


def pid_system(kp: float, ki: float, kd: float) -> np.ndarray:
    """ẋ = A x for (x, v, z) of a mass of 2 kg with error −x."""
    return np.array([[0, 1, 0], [-kp / 2, -kd / 2, 0.5], [-ki, 0, 0]])


@pytest.mark.parametrize("coordinates", COORDINATES)
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_pid_controlled_mass(formulation: str, coordinates: str) -> None:
    m = slider()
    gains = {"kp": 30.0, "ki": 20.0, "kd": 6.0}
    for name, value in gains.items():
        m.parameter(name, value)
    m.pid("u", "-displacement('guide')", kp="kp", ki="ki", kd="kd", unit="N")
    m.force("push", "mass.P", ["signal('u')", 0])
    end = vm.final(lambda s: s.displacement("guide"))
    options: Any = {"coordinates": coordinates, "formulation": formulation}
    options |= {"step": 2e-4} if formulation == "penalty" else {"tolerance": 1e-9}
    g = m.sensitivity({"x": end}, list(gains), duration=0.8, **options)

    def x(p: np.ndarray) -> float:
        return float((expm(pid_system(*p) * 0.8) @ [1.0, 0, 0])[0])

    nominal = np.array(list(gains.values()))
    steps = 1e-3 * np.eye(3)
    exact = [(x(nominal + h) - x(nominal - h)) / 2e-3 for h in steps]
    rel = 2e-5 if formulation == "penalty" else 1e-6
    assert g.values.item() == pytest.approx(x(nominal), rel=rel)
    assert g.gradient.to_numpy()[0] == pytest.approx(exact, rel=20 * rel, abs=1e-8)


def limited(tracking: float, duration: float) -> Any:
    """A limited PI-D controller with a filtered derivative on a mass of 2 kg, by SciPy."""
    kp, ki, kd, filtered, high = 40.0, 60.0, 12.0, 0.02, 5.0

    def demand(y: np.ndarray) -> float:
        x, _, z, f = y
        return kp * -x + z + kd * (-x - f) / filtered

    def rate(t: float, y: np.ndarray) -> list[float]:
        u = demand(y)
        limit = min(max(u, -high), high)
        return [y[1], limit / 2, ki * -y[0] + (limit - u) / tracking, (-y[0] - y[3]) / filtered]

    start = [1.0, 0, 0, -1.0]
    return solve_ivp(rate, (0, duration), start, rtol=1e-9, atol=1e-10, max_step=2e-3)


def test_windup_is_prevented_by_back_calculation() -> None:
    lowest = {}
    for tracking in (None, 1e6):
        m = slider()
        m.pid(
            "u",
            lambda s: -s.displacement("guide"),
            kp=40.0,
            ki=60.0,
            kd=12.0,
            filter_time=0.02,
            initial_input=-1.0,
            low=-5,
            high=5,
            tracking_time=tracking,
        )
        m.force("push", "mass.P", lambda s: (s.signal("u"), 0))
        run = m.simulate(3.0, tolerance=1e-9)
        reference = limited(tracking or 40.0 / 60.0, 3.0)
        x = run.displacement("guide").to_numpy()
        assert x[-1] == pytest.approx(reference.y[0, -1], abs=1e-6)
        assert np.abs(run.signal("u")).max() <= 5.0
        lowest[tracking] = x.min()
    assert lowest[None] > lowest[1e6] / 2  # overshoots, less than half of that with windup


def arm(**how: Any) -> vm.Mechanism:
    """An arm with a PID controller that turns it to 0.5 rad."""
    m = vm.Mechanism("arm", gravity=(0, -9.81))
    for name, value in {"kp": 40.0, "ki": 30.0, "kd": 8.0, "T": 0.02, "L": 0.6}.items():
        m.parameter(name, value, bounds=(value / 10, value * 10))
    m.ground_point("O", (0, 0))
    m.bar("arm", "O", "tip", length="L", mass=2.0)
    m.revolute("O")
    if how.get("text"):
        m.signal("error", "0.5 - angle('O')", unit="rad")
        m.pid("controller", "signal('error')", kp="kp", ki="ki", kd="kd", filter_time="T")
        m.torque("motor", "arm", "signal('controller')")
    else:
        p = m.parameters
        m.signal("error", lambda s: 0.5 - s.angle("O"), unit="rad")
        m.pid(
            "controller",
            lambda s: s.signal("error"),
            kp=p["kp"],
            ki=p["ki"],
            kd=p["kd"],
            filter_time=p["T"],
        )
        m.torque("motor", "arm", lambda s: s.signal("controller"))
    m.start(angle={"O": 0.0})
    return m


GAINS = ["kp", "ki", "kd", "T", "L"]
ERROR = {"J": vm.integral("signal('error')**2 + 1e-4*signal('controller')**2")}


def test_python_and_yaml_give_the_same_numbers(tmp_path: Path) -> None:
    m = arm()
    again = vm.Mechanism.from_file(arm(text=True).to_file(tmp_path / "arm.yaml"))
    first, second = (x.sensitivity(ERROR, GAINS, duration=2.0, tolerance=1e-8) for x in (m, again))
    assert first.values.to_numpy() == second.values.to_numpy()
    assert (first.gradient.to_numpy() == second.gradient.to_numpy()).all()


@pytest.mark.parametrize("coordinates", COORDINATES)
def test_derivatives_of_a_controlled_arm(coordinates: str) -> None:
    m = arm()
    options: Any = {"duration": 1.0, "tolerance": 1e-9, "coordinates": coordinates}
    direct, adjoint = (
        m.sensitivity(ERROR, GAINS, method=method, **options) for method in ("direct", "adjoint")
    )
    assert direct.gradient.to_numpy() == pytest.approx(adjoint.gradient.to_numpy(), rel=1e-6)
    H = m.hessian(ERROR, GAINS, **options).hessian.to_numpy()[0]
    for k, name in enumerate(GAINS):
        value = m.parameters[name].value
        h = 1e-4 * value
        values = [
            m.sensitivity(ERROR, GAINS, parameters={name: value + sign * h}, **options)
            for sign in (1, -1)
        ]
        difference = (values[0].values.item() - values[1].values.item()) / (2 * h)
        assert direct.gradient.to_numpy()[0, k] == pytest.approx(difference, rel=1e-5)
        row = (values[0].gradient.to_numpy()[0] - values[1].gradient.to_numpy()[0]) / (2 * h)
        assert H[k] == pytest.approx(row, rel=1e-4, abs=1e-5 * np.abs(H[k]).max())


def test_gains_are_optimised() -> None:
    m = arm()
    began = time.perf_counter()
    best = m.optimize(ERROR["J"], ["kp", "ki", "kd"], duration=2.0)
    print(f"gains optimised in {time.perf_counter() - began:.2f} s")
    before = m.sensitivity(ERROR, duration=2.0, tolerance=1e-8).values.item()
    after = {name: float(best.parameters[name]) for name in ("kp", "ki", "kd")}
    tuned = m.sensitivity(ERROR, duration=2.0, tolerance=1e-8, parameters=after)
    assert tuned.values.item() < 0.8 * before


def test_ensembles_of_controllers() -> None:
    m, kp = arm(), np.array([20.0, 40.0, 80.0])
    ensemble = m.ensemble(ERROR, {"kp": kp}, duration=1.0, tolerance=1e-8)
    for value, k in zip(ensemble.values.to_numpy().ravel(), kp, strict=True):
        alone = m.sensitivity(ERROR, duration=1.0, tolerance=1e-8, parameters={"kp": k})
        assert value == pytest.approx(alone.values.item(), rel=1e-6)


def test_an_arm_comes_to_rest_and_is_linearised_there() -> None:
    """The integral carries the weight; A is that of a pendulum with a PID."""
    m = arm()
    rest = m.equilibrium(wrt="L")
    assert rest.angle("O")[-1] == pytest.approx(0.5, abs=1e-12)
    weight = 9.81 * 0.6 * math.cos(0.5)
    assert rest.state("controller integral")[-1] == pytest.approx(weight, rel=1e-12)
    slope = rest.state("controller integral", wrt="L").to_numpy().item()
    assert slope == pytest.approx(9.81 * math.cos(0.5), rel=1e-10)
    for coordinates in COORDINATES:
        A = m.linearize(coordinates=coordinates).to_matrices()[0]
        J, fall = 2 * 0.36 / 3, 9.81 * 0.6 * math.sin(0.5)
        stiffness = (40 + 8 / 0.02 - fall) / J
        exact = [
            [0, 1, 0, 0],
            [-stiffness, 0, 1 / J, -8 / 0.02 / J],
            [-30, 0, 0, 0],
            [-50, 0, 0, -50],
        ]
        assert pytest.approx(np.array(exact), rel=1e-9, abs=1e-9) == A


# --- motors


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("coordinates", COORDINATES)
def test_a_motor_answers_a_step(dimension: int, coordinates: str) -> None:
    U, R, k, L, J = 6.0, 0.8, 0.3, 0.05, 0.02
    m = vm.Mechanism("motor", dimension=dimension)
    m.parameter("L", L, unit="H")
    m.ground_point("O", (0,) * dimension)
    inertia: Any = J if dimension == 2 else (0.03, 0.03, J)
    m.body("rotor", mass=1.0, inertia=inertia, points={"O": (0,) * dimension})
    m.revolute("J", "ground.O", "rotor.O", axis=None if dimension == 2 else (0, 0, 1))
    m.dc_motor("M", "J", voltage="6 V", resistance=R, constant=k, inductance="L")
    m.start(angle={"J": 0.0})
    g = m.sensitivity(
        {"ω": vm.final("angular_velocity('J')"), "i": vm.final("signal('M current')")},
        "L",
        duration=0.3,
        tolerance=1e-10,
        coordinates=coordinates,
    )

    def exact(L: float) -> np.ndarray:
        A = np.array([[0, k / J], [-k / L, -R / L]])
        rest = np.linalg.solve(A, [0, -U / L])
        return np.asarray(rest - expm(A * 0.3) @ rest)

    assert g.values.to_numpy() == pytest.approx(exact(L), rel=1e-8)
    difference = (exact(L + 1e-6) - exact(L - 1e-6)) / 2e-6
    assert g.gradient.to_numpy()[:, 0] == pytest.approx(difference, rel=1e-6)


def test_a_motor_without_inductance() -> None:
    m = vm.Mechanism("motor", dimension=2)
    m.ground_point("O", (0, 0))
    m.body("rotor", mass=1.0, inertia=0.02, points={"O": (0, 0)})
    m.revolute("O")
    m.dc_motor("M", "O", voltage=6.0, resistance=0.8, constant=0.3)
    m.start(angle={"O": 0.0})
    run = m.simulate(0.4, tolerance=1e-10)
    ω = 20.0 * (1 - np.exp(-(0.3**2) / (0.8 * 0.02) * run.time))
    assert run.angular_velocity("O").to_numpy() == pytest.approx(ω, abs=1e-7)
    assert run.signal("M current").to_numpy() == pytest.approx((6 - 0.3 * ω) / 0.8, abs=1e-7)


@pytest.mark.parametrize("coordinates", COORDINATES)
def test_a_servo_is_a_spring_and_a_damper_about_its_target(coordinates: str) -> None:
    """2 ẍ = −k e − c ė about x = 0.3 t, where e = x − 0.3 t."""
    m = slider()
    m.servo("S", "guide", "0.3*t", kp=50.0, kd=8.0)
    run = m.simulate(0.9, tolerance=1e-10, coordinates=coordinates)
    A = np.array([[0, 1], [-25, -4]])
    e = expm(A * 0.9) @ [1.0, -0.3]
    assert run.displacement("guide")[-1] == pytest.approx(e[0] + 0.27, abs=1e-9)
    assert run.signal("S")[-1] == pytest.approx(-50 * e[0] - 8 * e[1], rel=1e-7)
    assert run.signal("S").attrs["units"] == "N"


def test_a_servo_with_a_limit_turns_a_joint() -> None:
    m = arm()
    m.ground_point("Q", (2, 0))
    m.bar("other", "Q", "end", length=0.5, mass=1.0)
    m.revolute("Q")
    m.servo("S", "Q", 1.0, kp=30.0, ki=40.0, kd=4.0, limit=4.0)
    m.start(angle={"O": 0.0, "Q": 0.0})
    run = m.simulate(6.0)
    assert np.abs(run.signal("S")).max() <= 4.0
    assert run.angle("Q")[-1] == pytest.approx(1.0, abs=2e-3)
    assert run.signal("S")[-1] == pytest.approx(9.81 * 0.25 * math.cos(1.0), rel=1e-2)


# --- memoryless blocks


def test_saturation_and_dead_band() -> None:
    m = slider()
    m.signal("x", lambda s: 3 * vm.sin(4 * s.time))
    m.signal("low", "saturation(signal('x'), -1, 2)")
    m.signal("dead", "dead_band(signal('x'), 2)")
    run = m.simulate(1.5)
    x = 3 * np.sin(4 * run.time)
    assert run.signal("low").to_numpy() == pytest.approx(np.clip(x, -1, 2), abs=1e-12)
    exact = np.sign(x) * np.maximum(np.abs(x) - 1, 0)
    assert run.signal("dead").to_numpy() == pytest.approx(exact, abs=1e-12)


# --- margins


def loop(ω: complex, kp: complex = 40.0, kd: complex = 8.0, T: complex = 0.02) -> complex:
    """PID times the arm about 0.5 rad, by hand."""
    s = 1j * ω
    control = kp + 30.0 / s + kd * s / (T * s + 1)
    return control / (2 * 0.36 / 3 * s**2 - 9.81 * 0.6 * math.sin(0.5))


def test_margins_of_a_pole_on_a_free_cart() -> None:
    """The controller holds the pole, and nothing holds the cart: zero eigenvalues, one of which
    rounding makes positive, say nothing about the stability of the loop.
    """
    M, b, c, k = (
        0.8,
        0.25,
        0.3,
        0.4,
    )  # masses of cart and pole, half the length, damping of the cart
    kp, ki, kd = 60.0, 20.0, 8.0
    m = vm.Mechanism("pole", gravity=(0, -9.81))
    gain = m.parameter("kp", kp)
    mass = m.parameter("b", b, unit="kg", tolerance=0.01)
    m.ground_point("O", (0, 0))
    m.body("cart", mass=M, inertia=1e-3, points={"A": (0, 0)})
    m.bar("pole", "A", "B", length=2 * c, mass=mass)
    m.prismatic("rail", "ground.O", "cart.A", axis=(1, 0))
    m.revolute("A")
    m.pid("control", "angle('pole') - pi/2", kp=gain, ki=ki, kd=kd)
    m.force("motor", "cart.A", ["-signal('control')", 0])
    m.force("drag", "cart.A", [f"-{k}*velocity('cart.A')[0]", 0])
    m.start(displacement={"rail": 0.0}, angle={"pole": math.pi / 2})
    given: Any = {"inputs": "motor", "outputs": {"u": "-signal('control')"}}
    linear = m.linearize("start", wrt=["kp", "b"], **given)
    margins = linear.open_loop("motor.x", "u").margins("motor.x", "u")

    def by_hand(ω: float, b: float = b) -> complex:
        s, J = 1j * ω, b * (2 * c) ** 2 / 3
        equations = [
            [(M + b) * s**2 + k * s, -b * c * s**2],
            [-b * c * s**2, J * s**2 - 9.81 * b * c],
        ]
        return complex(np.linalg.solve(equations, [1, 0])[1] * (kp + ki / s + kd * s))

    def phase(b: float) -> tuple[float, float]:
        ω = brentq(lambda ω: abs(by_hand(ω, b)) - 1, 5, 200, xtol=1e-13)
        return ω, float(np.angle(-by_hand(ω, b)))

    ω, angle = phase(b)
    assert margins.phase_frequency == pytest.approx(ω / (2 * math.pi), rel=1e-9)
    assert margins.phase_margin == pytest.approx(angle, rel=1e-9)
    # x'' and θ'' without x, and without the integral, whose zero the cart cancels: s³ + …
    J = b * (2 * c) ** 2 / 3
    d = (M + b) * J - (b * c) ** 2
    rates = [
        d,
        b * c * kd + k * J,
        b * c * kp - (M + b) * 9.81 * b * c,
        b * c * ki - k * 9.81 * b * c,
    ]
    assert np.roots(rates).real.max() < 0  # by Newton's equations
    assert margins.is_stable and margins.zero_eigenvalues == 2
    assert str(margins).startswith("gain margin ∞ (no phase crossover), phase margin 72.99° at")
    assert str(margins).endswith("the closed loop is stable, apart from 2 zero eigenvalues")
    h = 1e-6
    slope = (phase(b + h)[1] - phase(b - h)[1]) / (2 * h)
    assert margins.std().phase_margin == pytest.approx(abs(slope) * 0.01 / 3, rel=1e-6)
    degrees = math.degrees(slope) * 0.01 / 3
    assert str(margins.std()).endswith(
        f"of the phase margin {-degrees:.4g}°, by parameter:\n  b: {degrees:+.3g}°"
    )
    ratios = m.modes("start").damping_ratio.to_numpy()
    assert np.isnan(ratios[:2]).all() and (ratios[2:] > 0).all()


def test_a_free_cart_that_runs_away_is_unstable() -> None:
    """Positive feedback of its speed."""
    m = vm.Mechanism("cart", dimension=2)
    m.ground_point("O", (0, 0))
    m.body("cart", mass=2.0, inertia=1.0, points={"P": (0, 0)})
    m.prismatic("guide", "ground.O", "cart.P", axis=(1, 0))
    law = "1e-3*displacement_rate('guide')"
    m.force("push", "cart.P", [law, 0])
    m.start(displacement={"guide": 0.0})
    loop = m.linearize("start", inputs="push", outputs={"u": law}).open_loop("push.x", "u")
    margins = loop.margins("push.x", "u")
    assert not margins.is_stable and margins.zero_eigenvalues == 1
    assert "the closed loop is unstable" in str(margins)


def test_margins_of_an_arm() -> None:
    m, wrt = arm(), ["kp", "kd", "T"]
    given: Any = {"inputs": "motor", "outputs": {"u": "signal('controller')"}}
    margins = m.linearize(wrt=wrt, **given).open_loop("motor", "u").margins("motor", "u")
    assert margins.is_stable
    nominal = [40.0, 8.0, 0.02]

    def phase(p: list[float]) -> tuple[float, float]:
        ω = brentq(lambda ω: abs(loop(ω, *p)) - 1, 5, 500, xtol=1e-13)
        return ω, math.pi + float(np.angle(loop(ω, *p)))

    def gain(p: list[float]) -> tuple[float, float]:
        ω = brentq(lambda ω: loop(ω, *p).imag, 0.3, 10, xtol=1e-13)
        return ω, -1 / loop(ω, *p).real

    assert margins.phase_frequency == pytest.approx(phase(nominal)[0] / (2 * math.pi), rel=1e-9)
    assert margins.phase_margin == pytest.approx(phase(nominal)[1], rel=1e-9)
    assert margins.gain_frequency == pytest.approx(gain(nominal)[0] / (2 * math.pi), rel=1e-9)
    assert margins.gain_margin == pytest.approx(gain(nominal)[1], rel=1e-9)
    for k, value in enumerate(nominal):
        h = 1e-5 * value
        sides = [[*nominal[:k], value + sign * h, *nominal[k + 1 :]] for sign in (1, -1)]
        for derivatives, exact in (
            (margins.phase_margin_derivatives, phase),
            (margins.gain_margin_derivatives, gain),
        ):
            assert derivatives is not None
            difference = (exact(sides[0])[1] - exact(sides[1])[1]) / (2 * h)
            assert derivatives[k] == pytest.approx(difference, rel=1e-6)


def test_deviations_of_margins_are_those_of_sampled_loops() -> None:
    """σ of 1e-4 of each gain: a quadratic term would be 1e-4 of the linear one."""
    m, nominal = arm(), np.array([40.0, 8.0, 0.02])
    given: Any = {"inputs": "motor", "outputs": {"u": "signal('controller')"}}
    opened = m.linearize(wrt=["kp", "kd", "T"], **given).open_loop("motor", "u")
    margins = opened.margins("motor", "u")
    σ = 1e-4 * nominal
    deviations = margins.std(
        {
            "kp": vm.Tolerance(3 * σ[0]),
            "kd": vm.Tolerance(2 * σ[1], sigmas=2),
            "T": stats.uniform(0.02 - math.sqrt(3) * σ[2], 2 * math.sqrt(3) * σ[2]),
        }
    )
    # all ± σ have exactly these covariances
    corners = nominal + σ * np.array(list(product((-1, 1), repeat=3)))

    def phase(p: np.ndarray) -> float:
        ω = brentq(lambda ω: abs(loop(ω, *p)) - 1, 5, 500, xtol=1e-13)
        return math.pi + float(np.angle(loop(ω, *p)))

    def gain(p: np.ndarray) -> float:
        ω = brentq(lambda ω: loop(ω, *p).imag, 0.3, 10, xtol=1e-13)
        return -1 / loop(ω, *p).real

    assert deviations.phase_margin == pytest.approx(np.std([phase(p) for p in corners]), rel=1e-3)
    assert deviations.gain_margin == pytest.approx(np.std([gain(p) for p in corners]), rel=1e-3)
    assert np.linalg.norm(deviations.phase_margin_contributions) == deviations.phase_margin
    assert "of the phase margin" in str(deviations)


def test_deviations_of_margins_take_the_tolerances_of_the_mechanism() -> None:
    m = slider()
    m.parameter("k", 20.0, tolerance=3.0)
    m.force("push", "mass.P", ["-k*displacement('guide') - displacement_rate('guide')", 0])
    m.signal("y", "50*displacement('guide')")
    linear = m.linearize(inputs="push", outputs={"y": "signal('y')"}, wrt=["k"])
    margins = linear.margins("push.x", "y")
    assert margins.phase_margin_derivatives is not None
    expected = abs(margins.phase_margin_derivatives[0])  # σ = 3/3
    assert margins.std().phase_margin == pytest.approx(expected, rel=1e-12)
    half = margins.std({"k": vm.Tolerance(1.5)})
    assert half.phase_margin == pytest.approx(expected / 2, rel=1e-12)
    assert math.isnan(half.gain_margin)  # infinite: the phase never reaches 180°
    with pytest.raises(vm.ModelError, match="do not vary with any parameter"):
        margins.std({"k": None})
    with pytest.raises(vm.ModelError, match="no parameter of these margins is called 'K'"):
        margins.std({"K": vm.Tolerance(1.0)})
    with pytest.raises(vm.ModelError, match=r"'k'.*no finite standard deviation"):
        margins.std({"k": stats.cauchy()})
    without = m.linearize(inputs="push", outputs={"y": "signal('y')"}).margins("push.x", "y")
    with pytest.raises(vm.ModelError, match="have no derivatives; linearize with wrt"):
        without.std()


def test_a_loop_without_crossovers_has_infinite_margins() -> None:
    m = slider()
    m.force("push", "mass.P", ["-20*displacement('guide') - 4*displacement_rate('guide')", 0])
    m.signal("y", "0.5*displacement_rate('guide')")
    linear = m.linearize(inputs="push", outputs={"y": "signal('y')"})
    margins = linear.margins("push.x", "y")
    assert margins.gain_margin == math.inf and margins.phase_margin == math.inf
    with pytest.raises(vm.ModelError, match="no input is called 'pull'"):
        linear.margins("pull", "y")
    with pytest.raises(vm.ModelError, match="no output is called 'z'"):
        linear.open_loop("push.x", "z")


# --- bad input


def test_what_is_refused() -> None:
    m: Any = slider()
    m.lag("fine", 1.0, time_constant=0.1)
    m.signal("a", "signal('b') + 1")
    before = dict(m.forces)
    bad: list[tuple[str, Any]] = [
        (
            "the numerator has degree 2, but the denominator only 1",
            lambda: m.transfer_function("x", 1, [1, 0, 0], [1, 1]),
        ),
        ("denominator.*must not be zero", lambda: m.transfer_function("x", 1, [1], [0, 1])),
        ("must be a list of numbers", lambda: m.transfer_function("x", 1, 1, [1, 1])),
        (
            "initial.*must not be zero",
            lambda: m.transfer_function("x", 1, [1, 0], [1, 1], initial=2),
        ),
        ("'b' → 'a' → 'b'", lambda: m.signal("b", "2*signal('a')")),
        ("loop: 'c' → 'c'", lambda: m.signal("c", "2*signal('c')")),
        ("A is 1×2 but must be 1×1", lambda: m.state_space("x", 1, [[1, 2]], [[1]], [[1]])),
        ("B is 1×2 but must be 1×1", lambda: m.state_space("x", 1, [[1]], [[1, 2]], [[1]])),
        ("must be rows of numbers", lambda: m.state_space("x", 1, [1], [[1]], [[1]])),
        (
            "initial has 2 values for 1 states",
            lambda: m.state_space("x", 1, [[1]], [[1]], [[1]], initial=[1, 2]),
        ),
        ("time_constant = 0.* must be positive", lambda: m.lag("x", 1, time_constant=0)),
        ("lag_time = -1.* must be positive", lambda: m.lead("x", 1, lead_time=1, lag_time=-1)),
        ("period = 0.* must be positive", lambda: m.sample_and_hold("x", 1, period=0)),
        ("time = -1.* must be positive", lambda: m.delay("x", 1, time=-1)),
        ("order", lambda: m.delay("x", 1, time=1, order=0)),
        ("rising = 0.* must be positive", lambda: m.rate_limit("x", 1, rising=0, time_constant=1)),
        (
            "upper limit − lower limit.*must be positive",
            lambda: m.pid("x", 1, kp=1, low=1, high=1),
        ),
        ("give tracking_time", lambda: m.pid("x", 1, kp=0, ki=1, high=1)),
        ("initial applies only with ki", lambda: m.pid("x", 1, kp=1, initial=1)),
        (
            "initial_input applies only with filter_time",
            lambda: m.pid("x", 1, kp=1, kd=1, initial_input=1),
        ),
        ("give filter_time", lambda: m.pid("x", "displacement_rate('guide')", kp=1, kd=1)),
        ("give target_rate", lambda: m.servo("x", "guide", "signal('fine')", kp=1, kd=1)),
        ("'stone' is not an SI unit|is not an SI unit", lambda: m.signal("x", 1, unit="stone")),
        ("the name 'fine' is already used", lambda: m.signal("fine", 1)),
        (
            "inductance",
            lambda: m.dc_motor("x", "mass", voltage=1, resistance=1, constant=1, initial=1),
        ),
        ("must be below the upper one", lambda: vm.saturation(1, 2, 1)),
        ("must not be negative", lambda: vm.dead_band(1, -1)),
    ]
    for message, call in bad:
        with pytest.raises(vm.ModelError, match=message):
            call()
        assert dict(m.forces) == before, message
    with pytest.raises(vm.ModelError, match="no signal is called 'b'"):
        m.simulate(0.1)


def test_a_file_names_the_line_of_an_unknown_signal(tmp_path: Path) -> None:
    m = slider()
    m.lag("y", "signal('error')", time_constant=1.0)
    path = m.to_file(tmp_path / "m.yaml")
    with pytest.raises(vm.FileError, match=r"m\.yaml:\d+.*no signal is called 'error'"):
        vm.Mechanism.from_file(path)


def test_saved_runs_have_states_and_signals(tmp_path: Path) -> None:
    m = slider()
    m.state("z", rate=2.0, unit="J")
    m.signal("y", "3*state('z')", unit="N")
    loaded = vm.load_run(m.simulate(0.5).save(tmp_path / "run.nc"))
    assert loaded.state("z")[-1] == pytest.approx(1.0, rel=1e-9)
    assert loaded.signal("y")[-1] == pytest.approx(3.0, rel=1e-9)
    assert loaded.signal("y").attrs["units"] == "N"


def test_samples_have_no_equilibrium_and_no_linear_equations() -> None:
    """Their rate is zero, so a held value would pass for one that stays."""
    m = vm.Mechanism("cart", dimension=2)
    m.ground_point("O", (0, 0))
    m.body("cart", mass=2.0, inertia=1.0, points={"P": (0, 0)})
    m.prismatic("guide", "ground.O", "cart.P", axis=(1, 0))
    m.sample_and_hold("held", lambda s: s.displacement("guide"), period=0.1)
    m.force("push", "cart.P", lambda s: [-8 * s.signal("held"), 0])
    m.start(displacement={"guide": 0.3})
    for analysis in (m.equilibrium, m.linearize, m.modes):
        with pytest.raises(vm.ModelError, match="signal 'held' is sampled"):
            analysis()
