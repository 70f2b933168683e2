"""Least effort of redundant actuators, against virtual work that is computed independently."""

from typing import Any

import numpy as np
import pytest

import varimech as vm

G = 9.81
BASES = {"A": (-1.0, 0.0), "B": (1.0, 0.0), "C": (0.0, 1.8)}
ELBOWS = {"A": (-1.0, 0.9), "B": (1.0, 0.9), "C": (0.8, 1.4)}
NOMINAL = {"l": 0.9, "m": 1.3, "w": 2.0}
MOTORS = ["A", "B", "C"]


def robot(*, driven: bool = True) -> vm.Mechanism:
    """Three legs of two bars each, from motors on the ground to the common point P."""
    m = vm.Mechanism("robot", gravity=(0, -G))
    for (name, value), unit in zip(NOMINAL.items(), ("m", "kg", "rad/s"), strict=True):
        m.parameter(name, value, unit=unit)
    for leg, base in BASES.items():
        m.ground_point(leg, base)
        m.bar(f"upper {leg}", leg, f"K{leg}", length="l", mass="m")
        m.bar(f"lower {leg}", f"K{leg}", f"P{leg}", length="l", mass="m")
        m.revolute(leg)
        m.revolute(f"K{leg}")
    m.revolute("AB", "lower A.PA", "lower B.PB")
    m.revolute("AC", "lower A.PA", "lower C.PC")
    near = {f"K{leg}": place for leg, place in ELBOWS.items()}
    if not driven:
        m.start(position={"PA": (0.1, 0.65)}, near=near)
        return m
    m.drive_coordinate("x", "lower A.PA", (1, 0), "0.1 + 0.2*sin(w*t)")
    m.drive_coordinate("y", "lower A.PA", (0, 1), "0.5 + 0.15*cos(1.5*w*t)")
    m.start(near=near)
    return m


def forces(t: float, l: Any, m: Any, w: Any) -> tuple[np.ndarray, np.ndarray]:
    """Force at P that the motion takes, and rates of the motors per velocity of P, (2, motor): by
    d'Alembert's principle for uniform bars, leg by leg.
    """
    P = np.array([0.1 + 0.2 * np.sin(w * t), 0.5 + 0.15 * np.cos(1.5 * w * t)])
    v = np.array([0.2 * w * np.cos(w * t), -0.225 * w * np.sin(1.5 * w * t)])
    a = np.array([-0.2 * w**2 * np.sin(w * t), -0.3375 * w**2 * np.cos(1.5 * w * t)])
    force, rates = np.zeros(2, dtype=P.dtype), []
    for leg, base in BASES.items():
        d = P - np.array(base)
        normal = np.array([-d[1], d[0]])
        up = normal * np.sqrt(l**2 / (d @ d) - 0.25)
        K = np.array(ELBOWS[leg])
        side = np.sign((K - np.array(base) - (d / 2).real) @ normal.real)
        first = d / 2 + side * up
        second = d - first
        e1, e2 = (np.array([-x[1], x[0]]) for x in (first, second))  # derivatives by angle
        A = np.column_stack([e1, e2])
        B = np.linalg.inv(A)  # angular velocities per velocity of P
        ω = B @ v
        α = B @ (a + first * ω[0] ** 2 + second * ω[1] ** 2)
        gravity = np.array([0.0, G])
        a1 = (e1 * α[0] - first * ω[0] ** 2) / 2
        aK = e1 * α[0] - first * ω[0] ** 2
        a2 = aK + (e2 * α[1] - second * ω[1] ** 2) / 2
        v1, v2 = np.outer(e1, B[0]) / 2, np.outer(e1, B[0]) + np.outer(e2, B[1]) / 2
        I = m * l**2 / 12
        force = force + m * (v1.T @ (a1 + gravity) + v2.T @ (a2 + gravity)) + I * (B.T @ α)
        rates.append(B[0])
    return force, np.array(rates).T


def least(t: float, weights: np.ndarray, **v: Any) -> np.ndarray:
    """u = W⁻¹ Bᵀ (B W⁻¹ Bᵀ)⁻¹ τ."""
    τ, B = forces(t, **v)
    return np.asarray((B.T / weights[:, None]) @ np.linalg.solve((B / weights) @ B.T, τ))


@pytest.mark.parametrize("coordinates", ["natural", "rtdyn1"])
def test_three_motors_of_a_robot_with_two_degrees_of_freedom(coordinates: str) -> None:
    m = robot()
    still = {"end": vm.final(lambda s: s.effort("x"))}
    run = m.sensitivity(
        still, "all", duration=1.0, output=0.25, coordinates=coordinates, method="direct"
    ).run
    for weights in (np.ones(3), np.array([1.0, 4.0, 0.5])):
        u = run.actuation(MOTORS, weights=list(weights))
        assert u.dims == ("time", "actuator")
        assert u.attrs["units"] == "N·m"
        expected = [least(t, weights, **NOMINAL) for t in run.time]
        np.testing.assert_allclose(u, expected, rtol=0, atol=1e-9)
        u_ = run.actuation(MOTORS, weights=dict(zip(MOTORS, weights, strict=True)), wrt="all")
        for k, name in enumerate(NOMINAL):
            step = {**NOMINAL, name: NOMINAL[name] + 1e-30j}
            slopes = [least(t, weights, **step).imag / 1e-30 for t in run.time]
            np.testing.assert_allclose(u_[:, :, k], slopes, rtol=0, atol=1e-8)
    # less than any two of them
    two = run.actuation(["A", "B"])
    assert ((run.actuation(MOTORS) ** 2).sum("actuator") < (two**2).sum("actuator")).all()


def test_motors_move_it_as_the_drivers_do() -> None:
    """The torques at the start accelerate the robot without drivers as these do."""
    run = robot().simulate(0.5, output=0.1)
    u = run.actuation(MOTORS).isel(time=0)
    m = robot(driven=False)
    for motor in MOTORS:
        m.torque(f"motor {motor}", f"upper {motor}", float(u.sel(actuator=motor)))
    m.start(
        position={"PA": (0.1, 0.65)},
        speed={"PA": (0.4, 0.0)},
        near={f"K{leg}": place for leg, place in ELBOWS.items()},
    )
    free = m.simulate(1e-3)
    np.testing.assert_allclose(
        free.acceleration("PA")[0], run.acceleration("lower A.PA")[0], atol=1e-9
    )


def test_without_redundancy_it_is_the_effort_of_the_drivers() -> None:
    run = robot().simulate(1.0, output=0.25)
    expected = np.column_stack([run.effort("x"), run.effort("y")])
    np.testing.assert_allclose(run.actuation(["x", "y"]), expected, atol=1e-10)
    # two motors: B u = τ has one solution, whatever the weights
    τ, B = (np.array(x) for x in zip(*[forces(t, **NOMINAL) for t in run.time], strict=True))
    pair = np.linalg.solve(B[:, :, :2], τ[:, :, None])[:, :, 0]
    np.testing.assert_allclose(run.actuation(["A", "B"], weights=[1, 9]), pair, atol=1e-9)


def test_forces_cables_and_one_motor_too_many() -> None:
    """A slider on a rail: a motor, a cable along the rail and a force share the load; its component
    across does nothing.
    """
    m = vm.Mechanism("slider", dimension=2)
    m.ground_point("O", (0, 0))
    m.body("block", mass=2.0, inertia=0.1, points={"S": (0, 0)})
    m.prismatic("rail", "ground.O", "block.S", axis=(1, 0))
    m.force("push", "block.S", (0.0, 0.0))
    m.drive_displacement("move", "rail", "1 + 0.5*t**2")
    run = m.simulate(1.0, output=0.5)
    np.testing.assert_allclose(run.actuation("rail")[:, 0], 2.0, atol=1e-10)
    u = run.actuation(["rail", ("ground.O", "block.S"), "push"])
    assert list(u["actuator"].values) == ["rail", "ground.O–block.S", "push.x", "push.y"]
    np.testing.assert_allclose(u, np.tile([2 / 3, 2 / 3, 2 / 3, 0.0], (3, 1)), atol=1e-10)


def test_four_cables_carry_a_load_whose_pose_is_prescribed() -> None:
    posts = np.array([(1, 0, 2), (-1, 1, 2), (-1, -1, 2), (0.3, 1.5, 2.5)], dtype=float)
    m = vm.Mechanism("cables", gravity=(0, 0, -G))
    m.parameter("mass", 2.0, unit="kg")
    for k, place in enumerate(posts):
        m.ground_point(f"A{k}", place)
    m.body("load", mass="mass", inertia=(0.1, 0.2, 0.3), points={"C": (0, 0, 0)}, floating=True)
    motion = ["0.1*sin(t)", "0.1*t", "0.2*cos(t)"]
    m.drive_pose("pose", "load.C", motion, ["0*t", "0*t", "0.3*t"])
    height = {"z": vm.final(lambda s: s.position("load.C")[2])}
    run = m.sensitivity(height, "mass", duration=1.0, output=0.5, method="direct").run
    cables = [(f"ground.A{k}", "load.C") for k in range(4)]
    u = run.actuation(cables)
    t = run.time
    r = np.column_stack([0.1 * np.sin(t), 0.1 * t, 0.2 * np.cos(t)])
    a = np.column_stack([-0.1 * np.sin(t), 0 * t, -0.2 * np.cos(t) + G])
    for k in range(t.size):
        directions = (r[k] - posts) / np.linalg.norm(r[k] - posts, axis=1)[:, None]
        expected = np.linalg.pinv(directions.T) @ (2.0 * a[k])
        np.testing.assert_allclose(u[k], expected, rtol=0, atol=1e-9)
    np.testing.assert_allclose(run.actuation(cables, wrt="mass"), u / 2, rtol=0, atol=1e-9)


def test_what_drivers_leave_free_stays_free() -> None:
    """A cart that is driven, with a pole that swings: a motor at the pole cannot help."""
    m = vm.Mechanism("cart", gravity=(0, -G))
    m.ground_point("O", (0, 0))
    m.body("cart", mass=1.0, inertia=1.0, points={"C": (0, 0), "D": (0.2, 0)})
    m.prismatic("track", "ground.O", "cart.C", axis=(1, 0))
    m.bar("pole", "C", "T", length=1.0, mass=0.5)
    m.revolute("C", "cart.C", "pole.C")
    m.drive_displacement("move", "track", "0.3*sin(2*t)")
    m.start(angle={"C": 0.3})
    run = m.simulate(1.0, output=0.5)
    u = run.actuation(["track", "C"])
    np.testing.assert_allclose(u[:, 0], run.effort("move"), atol=1e-9)
    np.testing.assert_allclose(u[:, 1], 0.0, atol=1e-9)
    with pytest.raises(vm.VarimechError, match="'C' cannot exert"):
        run.actuation(["C"])


def test_what_cannot_be_is_refused() -> None:
    run = robot().simulate(0.2)
    with pytest.raises(vm.VarimechError, match=r"'A' cannot exert .* at t = 0 s; name more"):
        run.actuation(["A"])
    for arguments, message in (
        (([],), "names no actuator"),
        ((["A", "A"],), "is named twice"),
        ((["motor"],), "'motor'"),
        ((["A", "B"], [1.0]), "must be 2 numbers"),
        ((["A", "B"], [1.0, -1.0]), "weight of 'B' must be a positive number"),
        ((["A", "B"], {"D": 1.0}), "is not one of the actuators"),
    ):
        given: Any = arguments
        with pytest.raises(vm.ModelError, match=message):
            run.actuation(given[0], weights=given[1] if len(given) > 1 else None)
    with pytest.raises(vm.ModelError, match="not differentiated"):
        run.actuation(MOTORS, wrt="l")
    with pytest.raises(vm.ModelError, match="no driver prescribes"):
        robot(driven=False).simulate(0.01).actuation(MOTORS)
