"""Cams and points on curves against closed forms, with every derivative method."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline

import varimech as vm

COORDINATES = ["natural", "rtdyn0", "rtdyn1"]
E, R, ROLLER, G, MASS, SPEED, PHASE = 0.01, 0.03, 0.008, 9.81, 0.5, 20.0, 0.3
FOLLOWERS: dict[str, dict[str, Any]] = {
    "knife": {},
    "roller": {"roller": ROLLER},
    "flat": {"face": (0, -1)},
    "support": {"face": (0, -1), "profile_kind": "support"},
}
OBJECTIVES = {"lift": vm.final('displacement("guide")'), "force": vm.final('effort("cam")')}


def cam(follower: str, closure: str = "form", speed: float = SPEED, **more: Any) -> vm.Mechanism:
    """An eccentric circular cam that turns at a given speed."""
    m = vm.Mechanism("cam", gravity=(0, -G))
    m.parameter("e", E, unit="m")
    m.parameter("w", speed, unit="rad/s")
    m.ground_point("O", (0, 0))
    m.ground_point("G", (0, R))
    m.body("shaft", mass=1.0, inertia=1e-3, points={"O": (0, 0)})
    m.body("tappet", mass=MASS, inertia=1e-4, points={"T": (0, 0)})
    m.revolute("O")
    m.prismatic("guide", "ground.G", "tappet.T", axis=(0, 1))
    circle = f"e*cos(u) + sqrt({R}**2 - (e*sin(u))**2)"
    profile = f"{R} + e*cos(u)" if follower == "support" else circle
    options = {"profile": profile, **FOLLOWERS[follower], **more}
    m.cam("cam", "shaft.O", "tappet.T", closure=closure, **options)
    m.drive_angle("motor", "O", f"w*t + {PHASE}")
    return m


def closed_form(follower: str, e: float = E, w: float = SPEED, t: float = 1.0) -> np.ndarray:
    """Lift and contact force: an edge or a roller moves on a circle of radius L about the eccentre, whose
    normal is inclined by arcsin(e cos φ / L).
    """
    s, c = math.sin(w * t + PHASE), math.cos(w * t + PHASE)
    if follower in ("flat", "support"):
        return np.array([e * s, MASS * (G - e * w**2 * s)])
    L = R + (ROLLER if follower == "roller" else 0.0)
    q = math.sqrt(L**2 - (e * c) ** 2)
    q1 = e**2 * s * c * w / q
    q2 = (e**2 * w**2 * (c**2 - s**2) - q1**2) / q
    return np.array([e * s + q - R, MASS * (G - e * w**2 * s + q2) * L / q])


def differences(follower: str) -> np.ndarray:
    h = 1e-6
    by_e = closed_form(follower, e=E + h * E) - closed_form(follower, e=E - h * E)
    by_w = closed_form(follower, w=SPEED + h) - closed_form(follower, w=SPEED - h)
    return np.column_stack([by_e / (2 * h * E), by_w / (2 * h)])


@pytest.mark.parametrize("coordinates", COORDINATES)
@pytest.mark.parametrize("follower", FOLLOWERS)
def test_an_eccentric_cam_moves_its_follower_as_the_closed_form(
    follower: str, coordinates: str
) -> None:
    m, gradients = cam(follower), []
    for method in ("direct", "adjoint"):
        g = m.sensitivity(
            OBJECTIVES, duration=1.0, tolerance=1e-9, coordinates=coordinates, method=method
        )
        assert g.values.to_numpy() == pytest.approx(closed_form(follower), rel=1e-8)
        gradients.append(g.gradient.to_numpy())
        assert gradients[-1] == pytest.approx(differences(follower), rel=1e-6)
    assert gradients[0] == pytest.approx(gradients[1], rel=1e-10)


@pytest.mark.parametrize("formulation", ["index1", "ali3p", "penalty"])
def test_a_cam_in_other_formulations(formulation: str) -> None:
    run = cam("roller").simulate(0.2, step=1e-4, formulation=formulation)
    lift, _ = closed_form("roller", t=0.2)
    assert float(run.displacement("guide")[-1]) == pytest.approx(lift, abs=1e-6)


def test_second_derivatives_of_a_cam() -> None:
    h = cam("flat").hessian({"lift": OBJECTIVES["lift"]}, duration=1.0, tolerance=1e-9)
    φ = SPEED + PHASE
    expected = [[0.0, math.cos(φ)], [math.cos(φ), -E * math.sin(φ)]]
    assert h.hessian.to_numpy().reshape(2, 2) == pytest.approx(np.array(expected), abs=1e-8)


def test_a_follower_closed_by_force_lifts_off() -> None:
    m = cam("flat", "force", speed=35.0)
    φ = PHASE
    m.start(displacement={"guide": E * math.sin(φ)}, speed={"guide": E * 35.0 * math.cos(φ)})
    first = m.simulate(0.05, tolerance=1e-10).events[0]
    expected = (math.asin(G / (E * 35.0**2)) - PHASE) / 35.0
    assert float(first.time) == pytest.approx(expected, abs=1e-8)


def test_the_contact_force_of_a_cam_is_its_effort_until_it_lifts_off() -> None:
    form = cam("roller").simulate(0.1)
    force = cam("roller", "force")
    force.start(
        displacement={"guide": float(form.displacement("guide")[0])},
        speed={"guide": float(form.displacement_rate("guide")[0])},
    )
    closed = force.simulate(0.1)
    assert len(closed.events) == 0
    np.testing.assert_allclose(
        closed.measure("contact_force('cam')")[-1], form.effort("cam")[-1], rtol=1e-6
    )


def test_a_cam_by_points_is_the_same_cam() -> None:
    angles = np.linspace(0, 2 * np.pi, 33)[:-1]
    points = [(E + R * math.cos(a), R * math.sin(a)) for a in angles]
    g = cam("roller", profile=points).simulate(1.0, tolerance=1e-8)
    # a periodic spline through 32 points of a circle is off by R h⁴/384, h = 2π/32
    assert float(g.displacement("guide")[-1]) == pytest.approx(closed_form("roller")[0], abs=5e-7)


def test_cams_are_written_to_files(tmp_path: Path) -> None:
    m = cam("roller")
    m.to_file(tmp_path / "cam.yaml")
    again = vm.Mechanism.from_file(tmp_path / "cam.yaml")
    assert again.to_text() == m.to_text()
    a, b = (x.simulate(0.1).displacement("guide").to_numpy() for x in (m, again))
    assert (a == b).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"roller": 0.0}, "roller = 0 must be positive"),
        ({"roller": 0.01, "face": (0, -1)}, "a roller and a flat face"),
        ({"profile": "0.03 + 0.02*cos(u)", "face": (0, -1)}, r"u = 3.14159 rad .* of -0.01 m"),
        ({"profile": "0.03 + 0.005*cos(3*u)", "roller": 0.05}, "undercutting"),
        ({"profile": "0.03 + 0.001*u"}, "does not close"),
        ({"profile": "0.03 - 0.05*cos(u)"}, r"radius of -0.02 m at u = 0 rad"),
        ({"profile": [(0, 0), (1, 0)]}, "has 2 points"),
        ({"profile": [(0.1, 0), (0.1, 0), (0, 0.1), (-0.1, 0)]}, "same position"),
        ({"profile": [(0.1, 0), (math.nan, 0.1), (-0.1, 0)]}, "finite"),
        ({"restitution": 0.5}, 'closure="force"'),
    ],
)
def test_bad_cams_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(vm.ModelError, match=message):
        cam("knife", **options)


# points on curves


def bead(dimension: int, **options: Any) -> vm.Mechanism:
    """A body that does not turn, on a wire."""
    m = vm.Mechanism("bead", gravity=(*(0.0,) * (dimension - 1), -G))
    m.parameter("a", 1.0, unit="m")
    inertia = 0.1 if dimension == 2 else (0.1, 0.1, 0.1)
    m.body("bead", mass=2.0, inertia=inertia, points={"P": (0.0,) * dimension}, floating=True)
    m.point_on_curve("wire", "bead.P", "ground", **options)
    return m


def pendulum(a: float) -> np.ndarray:
    """x and the vertical force on a bead that is released at x = sin 0.5 on a circle."""
    y0 = [math.asin(math.sin(0.5) / a), 0.0]
    y = solve_ivp(lambda t, y: [y[1], -G / a * math.sin(y[0])], (0, 1), y0, rtol=1e-12, atol=1e-13)
    θ, ω = y.y[:, -1]
    return np.array([a * math.sin(θ), 2 * (G * math.cos(θ) + a * ω**2) * math.cos(θ)])


@pytest.mark.parametrize("coordinates", COORDINATES)
@pytest.mark.parametrize("method", ["direct", "adjoint"])
def test_a_bead_on_a_circle_is_a_pendulum(coordinates: str, method: str) -> None:
    m = bead(2, curve=("a*cos(u)", "a*sin(u)"), interval=(0, 2 * math.pi), closed=True)
    m.constraint("upright", lambda s: s.angle("bead"), unit="rad")
    x, y = math.sin(0.5), -math.cos(0.5)
    m.start(position={"bead.P": (x, None)}, near={"bead.P": (x, y)})
    objectives = {"x": vm.final('position("bead.P")[0]'), "N": vm.final('effort("wire.y")')}
    g = m.sensitivity(
        objectives, duration=1.0, tolerance=1e-9, coordinates=coordinates, method=method
    )
    assert g.values.to_numpy() == pytest.approx(pendulum(1.0), rel=1e-7)
    expected = (pendulum(1 + 1e-5) - pendulum(1 - 1e-5)) / 2e-5
    assert g.gradient.to_numpy().ravel() == pytest.approx(expected, rel=1e-6)


def test_a_bead_on_a_helix() -> None:
    """ü (a² + h²) = −g h."""
    m = bead(3, curve=("a*cos(u)", "a*sin(u)", "0.5*u"), interval=(-20, 20))
    m.start(
        position={"bead.P": (None, None, 0.5)},
        near={"bead.P": (math.cos(1), math.sin(1), 0.5)},
        orientation={"bead": np.eye(3)},
    )
    run = m.simulate(1.0, tolerance=1e-9)
    u = 1.0 - 0.5 * G * 0.5 / 1.25
    assert float(run.state("wire parameter")[-1]) == pytest.approx(u, abs=1e-7)


def test_a_spline_depends_on_its_points() -> None:
    x = [0.0, 0.5, 1.0, 1.5, 2.0]

    def reached(a: float) -> float:
        """x of a bead on the same spline by SciPy, after 0.4 s."""
        points = np.column_stack([x, [1.0, 0.6, 0.4 * a, 0.6, 1.0]])
        nominal = np.column_stack([x, [1.0, 0.6, 0.4, 0.6, 1.0]])
        knots = np.r_[0, np.cumsum(np.hypot(*np.diff(nominal, axis=0).T))]
        c = CubicSpline(knots, points)

        def rates(t: float, y: np.ndarray) -> list[float]:
            c1, c2 = c(y[0], 1), c(y[0], 2)
            return [y[1], -(c1 @ c2 * y[1] ** 2 + G * c1[1]) / (c1 @ c1)]

        at = float(CubicSpline(knots, points[:, 0] - 0.25).roots(extrapolate=False)[0])
        y = solve_ivp(rates, (0, 0.4), [at, 0.0], rtol=1e-11, atol=1e-12).y[:, -1]
        return float(c(y[0])[0])

    curve = [(0.0, 1.0), (0.5, 0.6), (1.0, "0.4*a"), (1.5, 0.6), (2.0, 1.0)]
    m = bead(2, curve=curve)
    m.constraint("upright", lambda s: s.angle("bead"), unit="rad")
    m.start(position={"bead.P": (0.25, None)}, near={"bead.P": (0.25, 0.8)})
    g = m.sensitivity(vm.final('position("bead.P")[0]'), duration=0.4, tolerance=1e-10)
    assert g.values.item() == pytest.approx(reached(1.0), rel=1e-7)
    expected = (reached(1 + 1e-5) - reached(1 - 1e-5)) / 2e-5
    assert g.gradient.item() == pytest.approx(expected, rel=1e-5)


def test_the_end_of_an_open_curve_is_an_error() -> None:
    m = bead(2, curve=[(0.0, 1.0), (1.0, 0.5), (2.0, 0.0)])
    m.constraint("upright", lambda s: s.angle("bead"), unit="rad")
    m.start(position={"bead.P": (0.5, None)}, near={"bead.P": (0.5, 0.75)})
    with pytest.raises(vm.SimulationError, match="t = "):
        m.simulate(5.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"curve": [(0, 0), (0, 0), (1, 1)]}, "same position"),
        ({"curve": [(0, 0)]}, "has 1 points"),
        ({"curve": ("u**2", "u**3"), "interval": (-1, 1)}, "has no tangent at u = 0"),
        ({"curve": ("u", "u"), "interval": (1, 0)}, "interval = .* is empty"),
        ({"curve": ("u", "u")}, "interval is missing"),
        ({"curve": ("u", "log(u)"), "interval": (-1, 1)}, "is not finite at u = -1"),
        ({"curve": ("1e300*u", "u"), "interval": (-1, 1)}, "is not finite at u = -1"),
        ({"curve": ("u", "u"), "interval": (0, 1), "closed": True}, "does not close"),
    ],
)
def test_bad_curves_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(vm.ModelError, match=message):
        bead(2, **options)
