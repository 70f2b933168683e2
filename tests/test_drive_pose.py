"""Driven poses: the force and torque of the driver by Newton's and Euler's equations."""

from pathlib import Path

import numpy as np
import pytest

import varimech as vm


@pytest.mark.parametrize("coordinates", ["natural", "rtdyn1"])
def test_efforts_in_the_plane(coordinates: str) -> None:
    """r_P = (0.3 t², 0.1 t³), φ = 2.8 + t²: m r̈_G and I φ̈, about P."""
    m = vm.Mechanism("hand", gravity=(0, -9.81))
    m.parameter("M", 2.0, unit="kg")
    m.ground_point("O", (0, 0))
    m.body("hand", mass="M", inertia=0.3, points={"P": (-0.2, 0.1)}, floating=True)
    m.drive_pose("pose", "hand.P", ("0.3 * t**2", "0.1 * t**3"), "2.8 + t**2")
    run = m.sensitivity(
        wrt="M", duration=1.0, step=1e-3, coordinates=coordinates, method="direct"
    ).run
    t = run.time
    φ, ω, α = 2.8 + t**2, 2 * t, 2.0
    np.testing.assert_allclose(run.position("hand.P")[:, 0], 0.3 * t**2, atol=1e-9)
    np.testing.assert_allclose(run.rotation("hand")[:, 0, 0], np.cos(φ), atol=1e-9)
    arm = np.array([0.2, -0.1])  # from P to the centre of mass
    c, s = np.cos(φ), np.sin(φ)
    rx, ry = c * arm[0] - s * arm[1], s * arm[0] + c * arm[1]
    ax = 0.6 - α * ry - ω**2 * rx
    ay = 0.6 * t + α * rx - ω**2 * ry
    fx, fy = 2.0 * ax, 2.0 * (ay + 9.81)
    torque = 0.3 * α + rx * fy - ry * fx
    for name, expected in (("x", fx), ("y", fy), ("torque", torque)):
        effort = run.effort(f"pose.{name}")
        np.testing.assert_allclose(effort[5:], expected[5:], atol=2e-4 * np.abs(expected).max())
    slope = run.effort("pose.y", wrt="M")
    np.testing.assert_allclose(slope[5:], (fy / 2.0)[5:], atol=2e-3)


def test_efforts_in_space() -> None:
    """A principal axis that turns at a growing rate: torque I α about z, and m r̈ at the centre."""
    m = vm.Mechanism("hand", gravity=(0, 0, -9.81))
    m.ground_point("O", (0, 0, 0))
    m.body("hand", mass=2.0, inertia=(0.3, 0.2, 0.4), points={"P": (0, 0, 0)}, floating=True)
    m.drive_pose("pose", "hand.P", ("sin(t)", "0", "t**2"), ("0", "0", "2.5 + t**2"))
    run = m.simulate(1.0, tolerance=1e-9)
    t = run.time
    assert run.rotation("hand")[0, 0, 0] == pytest.approx(np.cos(2.5), abs=1e-9)
    np.testing.assert_allclose(run.effort("pose.x"), -2 * np.sin(t), atol=1e-6)
    np.testing.assert_allclose(run.effort("pose.z"), 2 * (2 + 9.81), atol=1e-6)
    np.testing.assert_allclose(run.effort("pose.torque_z"), 0.8, atol=1e-6)
    np.testing.assert_allclose(run.effort("pose.torque_x"), 0.0, atol=1e-6)


def test_roll_pitch_and_yaw() -> None:
    from scipy.spatial.transform import Rotation

    m = vm.Mechanism("hand", dimension=3)
    m.ground_point("O", (0, 0, 0))
    m.body("hand", mass=2.0, inertia=(0.3, 0.2, 0.4), points={"P": (0, 0, 0)}, floating=True)
    m.drive_pose("pose", "hand.P", (0, 0, 0), ("0.3 + t", "-0.4", "2.9 - t"))
    run = m.simulate(0.5, step=0.05)
    expected = Rotation.from_euler("xyz", [0.8, -0.4, 2.4]).as_matrix()
    np.testing.assert_allclose(run.rotation("hand")[-1], expected, atol=1e-9)


def test_bad_poses(tmp_path: Path) -> None:
    m = vm.Mechanism("hand", dimension=2)
    m.ground_point("O", (0, 0))
    m.body("hand", mass=2.0, inertia=0.1, points={"P": (0, 0)}, floating=True)
    with pytest.raises(vm.ModelError, match="not a moving rigid body"):
        m.drive_pose("pose", "O", (0, 0), 0)
    with pytest.raises(vm.ModelError, match="more than time"):
        m.drive_pose("pose", "hand.P", lambda s: (s.position("O")[0] + s.velocity("P")[0], 0), 0)
    m.drive_pose("pose", "hand.P", ("t", 0), "t")
    m.to_file(tmp_path / "hand.yaml")
    again = vm.Mechanism.from_file(tmp_path / "hand.yaml").simulate(0.1, step=0.01)
    np.testing.assert_array_equal(
        again.position("hand.P"), m.simulate(0.1, step=0.01).position("hand.P")
    )
