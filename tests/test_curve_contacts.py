"""Two curves in contact against closed forms: circles, ellipses, grooves and lines."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import varimech as vm

COORDINATES = ["natural", "rtdyn0", "rtdyn1"]
METHODS = ["direct", "adjoint"]
G, TURN = 9.81, (0, 2 * math.pi)
A, B, SPEED, MASS = 0.05, 0.03, 7.0, 0.4


def circle(radius: str) -> tuple[str, str]:
    return f"{radius}*cos(u)", f"{radius}*sin(u)"


def closed(which: str, curve: Any, **more: Any) -> dict[str, Any]:
    given = {"curve": curve, "closed": True, **more}
    if not isinstance(curve, list):
        given["interval"] = TURN
    return {f"{which}_{key}": value for key, value in given.items()}


# an ellipse turns beneath a flat plate, which slides up and down


def plate(closure: str = "form", **ellipse: Any) -> vm.Mechanism:
    m = vm.Mechanism("plate", gravity=(0, -G))
    m.parameter("a", A, unit="m")
    m.parameter("w", SPEED, unit="rad/s")
    m.ground_point("O", (0, 0))
    m.body("wheel", mass=1.0, inertia=1e-3, points={"O": (0, 0)})
    m.body("plate", mass=MASS, inertia=1e-3, points={"P": (0, 0)})
    m.revolute("O")
    m.prismatic("guide", "ground.O", "plate.P", axis=(0, 1))
    m.drive_angle("motor", "O", "w*t + 0.3")
    m.curve_contact(
        "touch",
        "wheel.O",
        "plate.P",
        **(ellipse or closed("first", ("a*cos(u)", f"{B}*sin(u)"))),
        second_curve=[(-0.1, 0), (0.1, 0)],
        second_side="left",
        closure=closure,
    )
    return m


def plate_closed_form(a: Any = A, w: Any = SPEED, t: float = 0.5) -> np.ndarray:
    """Height and force: the support function h(φ) = √(a² sin² φ + b² cos² φ) of an ellipse."""
    s, c = np.sin(w * t + 0.3), np.cos(w * t + 0.3)
    h = np.sqrt(a**2 * s**2 + B**2 * c**2)
    h1 = (a**2 - B**2) * s * c / h
    h2 = ((a**2 - B**2) * (c**2 - s**2) - h1**2) / h
    return np.array([h, MASS * (G + h2 * w**2)])


def complex_steps() -> np.ndarray:
    by_a = plate_closed_form(a=A + 1e-30j).imag
    by_w = plate_closed_form(w=SPEED + 1e-30j).imag
    return np.column_stack([by_a, by_w]) / 1e-30


PLATE = {"height": vm.final('displacement("guide")'), "force": vm.final('effort("touch")')}


@pytest.mark.parametrize("coordinates", COORDINATES)
@pytest.mark.parametrize("method", METHODS)
def test_an_ellipse_lifts_a_plate_by_its_support_function(method: str, coordinates: str) -> None:
    g = plate().sensitivity(
        PLATE, duration=0.5, tolerance=1e-9, coordinates=coordinates, method=method
    )
    assert g.values.to_numpy() == pytest.approx(plate_closed_form(), rel=1e-8)
    assert g.gradient.to_numpy() == pytest.approx(complex_steps(), rel=1e-7)


def test_complex_steps_agree() -> None:
    g = plate().sensitivity(PLATE, duration=0.5, tolerance=1e-9, method="complex-step")
    assert g.gradient.to_numpy() == pytest.approx(complex_steps(), rel=1e-7)


@pytest.mark.parametrize("formulation", ["index1", "ali3p", "penalty"])
def test_curves_in_other_formulations(formulation: str) -> None:
    run = plate().simulate(0.5, step=5e-4, formulation=formulation)
    assert float(run.displacement("guide")[-1]) == pytest.approx(plate_closed_form()[0], abs=1e-6)


def test_second_derivatives_of_a_curve_contact() -> None:
    h = plate().hessian(
        {"height": PLATE["height"]}, duration=0.5, tolerance=1e-9, coordinates="rtdyn1"
    )
    ε = 1e-5
    rows = [
        (plate_closed_form(a=A + da * A + 1e-30j * pa, w=SPEED + dw + 1e-30j * pw)[0].imag / 1e-30)
        for da, dw in ((ε, 0), (-ε, 0), (0, ε), (0, -ε))
        for pa, pw in ((1, 0), (0, 1))
    ]
    r = np.array(rows).reshape(4, 2)
    expected = np.array([(r[0] - r[1]) / (2 * ε * A), (r[2] - r[3]) / (2 * ε)])
    assert h.hessian.to_numpy().reshape(2, 2) == pytest.approx(expected, rel=1e-6, abs=1e-9)


def test_a_spline_is_nearly_the_ellipse() -> None:
    angles = np.linspace(0, 2 * np.pi, 65)[:-1]
    points = [(A * math.cos(x), B * math.sin(x)) for x in angles]
    run = plate(**closed("first", points)).simulate(0.5, tolerance=1e-8)
    # a spline by 64 points of an ellipse is off by a h⁴/384, h = 2π/64
    assert float(run.displacement("guide")[-1]) == pytest.approx(plate_closed_form()[0], abs=5e-8)
    assert float(run.displacement("guide")[-1]) != plate_closed_form()[0]


def test_where_they_touch_is_known() -> None:
    run = plate().simulate(0.5, tolerance=1e-9)
    φ = SPEED * 0.5 + 0.3
    h = plate_closed_form()[0]
    x = (A**2 - B**2) * math.sin(φ) * math.cos(φ) / h  # h n + h′ n′ at the top
    assert float(run.state("touch second parameter")[-1]) == pytest.approx(x + 0.1, abs=1e-8)


# two circles


def discs(joint: str, radii: tuple[float, float] = (0.2, 0.3)) -> vm.Mechanism:
    """A pendulum whose disc slides on a disc that is fixed beside its centre."""
    m = vm.Mechanism("discs", gravity=(0, -G))
    m.parameter("r", radii[0], unit="m")
    m.ground_point("O", (0, 0))
    m.ground_point("Q", (0.1, 0))
    m.body("lower", mass=1.0, inertia=0.02, points={"O": (0, 0), "C": (0.05, 0)})
    m.body("upper", mass=0.7, inertia=0.01, points={"C": (0, 0)}, floating=True)
    m.revolute("O")
    m.constraint("upright", lambda s: s.angle("upper"), unit="rad")
    if joint == "distance":
        m.distance("touch", "lower.C", "upper.C", length=f"r + {radii[1]}")
    else:
        m.curve_contact(
            "touch",
            "lower.C",
            "upper.C",
            **closed("first", circle("r")),
            **closed("second", circle(str(radii[1]))),
        )
    m.start(
        angle={"O": 0.4},
        position={"upper.C": (0.3, None)},
        near={"upper.C": (0.3, 0.4)},
        speed={"O": 2.0},
    )
    return m


@pytest.mark.parametrize("coordinates", COORDINATES)
def test_two_circles_keep_a_distance(coordinates: str) -> None:
    objectives = {
        "x": vm.final('position("upper.C")[0]'),
        "angle": vm.final('angle("O")'),
    }
    exact, g = (
        discs(joint).sensitivity(objectives, duration=0.3, tolerance=1e-10, coordinates=coordinates)
        for joint in ("distance", "curves")
    )
    assert g.values.to_numpy() == pytest.approx(exact.values.to_numpy(), rel=1e-8)
    assert g.gradient.to_numpy() == pytest.approx(exact.gradient.to_numpy(), rel=1e-6)
    energy = g.run.energy().to_numpy()
    assert np.ptp(energy) < 1e-8 * np.abs(energy).max()


# a circle in a groove, a circle on top of another


def pendulum(r: float, R: float = 1.0, θ0: float = 0.5, t: float = 0.8) -> np.ndarray:
    """x and force of a disc that slides in a circular groove, a pendulum of length R − r."""
    L = R - r
    y = solve_ivp(
        lambda t, y: [y[1], -G / L * math.sin(y[0])], (0, t), [θ0, 0], rtol=1e-12, atol=1e-13
    )
    θ, ω = y.y[:, -1]
    return np.array([L * math.sin(θ), 2 * (G * math.cos(θ) + L * ω**2)])


def sliding_disc(groove: bool, closure: str, θ0: str = "0.5", r: float = 0.3) -> vm.Mechanism:
    """A disc that does not turn, in a groove of radius 1 m or on a disc of that radius."""
    m = vm.Mechanism("disc", gravity=(0, -G))
    m.parameter("r", r, unit="m")
    m.ground_point("O", (0, 0))
    m.body("disc", mass=2.0, inertia=0.1, points={"C": (0, 0)}, floating=True)
    m.constraint("upright", lambda s: s.angle("disc"), unit="rad")
    side = "outside" if groove else "inside"
    first = closed("first", circle("1.0"), side=side)
    m.curve_contact(
        "touch", "ground.O", "disc.C", **first, **closed("second", circle("r")), closure=closure
    )
    L, down = ("(1 - r)", "-") if groove else ("(1 + r)", "")
    x, y = f"{L}*sin({θ0})", f"{down}{L}*cos({θ0})"
    place = m.data.parameter_set.evaluate(
        m.data.parameter_set.vector_of([x, y], 2, "place")
    ).ravel()
    near = {"disc.C": tuple(float(v) for v in place)}
    m.start(position={"disc.C": (x, y if closure == "force" else None)}, near=near)
    return m


@pytest.mark.parametrize("method", METHODS)
def test_a_circle_in_a_groove_is_a_pendulum(method: str) -> None:
    objectives = {"x": vm.final('position("disc.C")[0]'), "N": vm.final('effort("touch")')}
    g = sliding_disc(True, "form").sensitivity(
        objectives, duration=0.8, tolerance=1e-10, method=method
    )
    assert g.values.to_numpy() == pytest.approx(pendulum(0.3), rel=1e-8)
    expected = (pendulum(0.3 + 1e-5) - pendulum(0.3 - 1e-5)) / 2e-5
    assert g.gradient.to_numpy().ravel() == pytest.approx(expected, rel=1e-6)
    energy = g.run.energy().to_numpy()
    assert np.ptp(energy) < 1e-8 * np.abs(energy).max()


def flight(r: float, t: float = 0.9) -> np.ndarray:
    """Time of release, and x at t, of a disc that slides off a disc: cos θ = ⅔ cos θ₀ where the force on it
    vanishes.
    """
    L, θ0 = 1 + r, 0.3
    end = math.acos(2 / 3 * math.cos(θ0))
    y = solve_ivp(
        lambda t, y: [y[1], G / L * math.sin(y[0])],
        (0, 3),
        [θ0, 0],
        rtol=1e-12,
        atol=1e-13,
        events=lambda t, y: y[0] - end,
    )
    time, ω = float(y.t_events[0][0]), float(y.y_events[0][0][1])
    return np.array([time, L * math.sin(end) + (t - time) * L * ω * math.cos(end)])


@pytest.mark.parametrize("method", METHODS)
def test_a_disc_slides_off_a_disc(method: str) -> None:
    m = sliding_disc(False, "force", θ0="0.3")
    x = vm.final('position("disc.C")[0]')
    g = m.sensitivity(x, duration=0.9, tolerance=1e-10, method=method)
    (release,) = g.run.events
    values = float(release.time), g.values.item()
    assert values == pytest.approx(flight(0.3), rel=1e-8)
    expected = (flight(0.3 + 1e-5) - flight(0.3 - 1e-5)) / 2e-5
    assert g.gradient.item() == pytest.approx(expected[1], rel=1e-6)
    assert float(g.run.measure('gap("touch")')[-1]) > 0.01


def test_compliant_curves_are_compliant_surfaces() -> None:
    """A disc that bounces on a line, by curves and by the contact of a circle and a line."""
    law: dict[str, Any] = {"stiffness": 2e3, "exponent": 1.5, "damping": 0.3}
    ends = []
    for curves in (True, False):
        m = on_a_line("force", **law) if curves else on_a_line(None)
        if not curves:
            m.contact("touch", "disc.C", "ground.O", radius=0.1, normal=(0, 1), **law)
        m.start(position={"disc.C": (0.0, 0.3)}, speed={"disc.C": (0.4, 0.0)})
        ends.append(m.simulate(0.6, tolerance=1e-9).position("disc.C").to_numpy()[-1])
    assert ends[0] == pytest.approx(ends[1], abs=1e-7)
    fall = 0.3 - G * 0.6**2 / 2
    assert abs(ends[0][1] - fall) > 0.1  # it has bounced


def test_a_ball_bounces_on_a_parabola() -> None:
    """Dropped onto the bottom, with restitution ½: heights of bounces are quarters."""
    m = vm.Mechanism("bounce", gravity=(0, -G))
    m.ground_point("O", (0, 0))
    m.body("ball", mass=1.0, inertia=0.1, points={"C": (0, 0)}, floating=True)
    m.curve_contact(
        "floor",
        "ground.O",
        "ball.C",
        first_curve=("u", "u**2"),
        first_interval=(-1, 1),
        first_side="right",
        **closed("second", circle("0.1")),
        closure="force",
        restitution=0.5,
    )
    m.start(position={"ball.C": (0, 0.3)}, angle={"ball": 0.0})
    run = m.simulate(0.55, tolerance=1e-9)
    fall = math.sqrt(2 * 0.2 / G)
    assert [float(e.time) for e in run.events] == pytest.approx(
        [fall, 2 * fall, 2.5 * fall], rel=1e-8
    )


# ellipses that roll on each other


@pytest.mark.parametrize("coordinates", COORDINATES)
def test_two_ellipses_about_their_foci_turn_as_elliptic_gears(coordinates: str) -> None:
    """With axes 2a apart through foci, the point of contact stays between them: r₁ + r₂ = 2a with
    r = a (1 − e²) / (1 + e cos θ).
    """
    a, e = 0.1, 0.4
    b = a * math.sqrt(1 - e**2)
    m = vm.Mechanism("elliptic gears")
    m.parameter("speed", 1.0, unit="rad/s")
    m.ground_point("P", (0, 0))
    m.ground_point("Q", (2 * a, 0))
    for body, point in (("one", "P"), ("two", "Q")):
        m.body(body, mass=1.0, inertia=0.01, points={point: (0, 0)})
        m.revolute(point)
    ellipse = (f"{-a * e!r} + {a}*cos(u)", f"{b!r}*sin(u)")
    m.curve_contact(
        "mesh", "one.P", "two.Q", **closed("first", ellipse), **closed("second", ellipse)
    )
    m.drive_angle("motor", "P", "0.6 + speed*t")

    def other(θ1: float) -> float:
        """Anomaly of the point of contact on the other ellipse."""
        r1 = a * (1 - e**2) / (1 + e * math.cos(θ1))
        return math.acos(((a * (1 - e**2)) / (2 * a - r1) - 1) / e)

    # the point of contact is at θ = −φ₁ on one, and at π − φ₂ on two
    first = math.pi - other(0.6)
    m.start(near={"two": -first, "one": 0.6})
    g = m.sensitivity(vm.final('angle("Q")'), duration=1.0, tolerance=1e-9, coordinates=coordinates)
    turned = other(1.6) - math.pi
    assert g.values.item() == pytest.approx(turned, abs=1e-8)
    assert g.gradient.item() == pytest.approx(
        (other(1.6 + 1e-6) - other(1.6 - 1e-6)) / 2e-6, rel=1e-7
    )
    force = g.run.effort("mesh")
    assert np.isfinite(force.to_numpy()).all()


# files and bad input


def test_curve_contacts_are_written_to_files(tmp_path: Path) -> None:
    m = plate()
    m.to_file(tmp_path / "m.yaml")
    again = vm.Mechanism.from_file(tmp_path / "m.yaml")
    assert again.to_text() == m.to_text()
    x, y = (each.simulate(0.1).displacement("guide").to_numpy() for each in (m, again))
    assert (x == y).all()


ROUND = closed("first", circle("0.1"))
LINE: dict[str, Any] = {"second_curve": [(-1, 0), (1, 0)], "second_side": "left"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (ROUND | LINE | {"second_side": "inside"}, "second_side = 'inside' is not a side of an open"),
        (ROUND | LINE | {"first_side": "left"}, "first_side = 'left' is not a side of a closed"),
        (
            LINE | {"first_curve": [(0, 0), (1, 0)], "first_side": "left"},
            "no curvature .* and second_curve has no curvature",
        ),
        (
            ROUND | closed("second", circle("0.08"), side="outside"),
            r"second_curve has a concave radius of curvature of 0.08 m .* first_curve has a convex radius of curvature of 0.1 m",
        ),
        (ROUND | {"first_side": "outside"} | LINE, "first_curve has a concave radius of curvature of 0.1 m"),
        (LINE | closed("first", ("cos(u)**3", "sin(u)**3")), "first_curve has no tangent"),
        (LINE | closed("first", ("sin(u/2)*cos(u)", "sin(u/2)*sin(u)")), "has a corner of"),
        (LINE | {"first_curve": ("u", "u"), "first_side": "left"}, "first_interval is missing"),
        (ROUND | LINE | {"friction": 0.2, "closure": "force"}, "friction is not available"),
        (ROUND | LINE | {"restitution": 0.2}, 'closure="force"'),
        (ROUND | LINE | {"second": "disc.C"}, "both curves belong to 'disc'"),
    ],
)  # fmt: skip
def test_bad_curve_contacts_are_refused(options: dict[str, Any], message: str) -> None:
    m = vm.Mechanism("bad")
    m.ground_point("O", (0, 0))
    m.body("disc", mass=1.0, inertia=0.1, points={"C": (0, 0)})
    with pytest.raises(vm.ModelError, match=message):
        m.curve_contact("k", "disc.C", **({"second": "ground.O"} | options))


def test_curve_contacts_belong_to_the_plane() -> None:
    m = vm.Mechanism("space", dimension=3)
    m.ground_point("O", (0, 0, 0))
    m.body("disc", mass=1.0, inertia=(0.1, 0.1, 0.1), points={"C": (0, 0, 0)})
    with pytest.raises(vm.ModelError, match="belongs to the plane"):
        m.curve_contact("k", "disc.C", "ground.O", **ROUND, **LINE)


def on_a_line(closure: str | None = "form", **law: Any) -> vm.Mechanism:
    """A disc of 0.1 m on a line from x = −1 to 1 m; without contact if there is no closure."""
    m = vm.Mechanism("line", gravity=(0, -G))
    m.ground_point("O", (0, 0))
    m.body("disc", mass=2.0, inertia=0.1, points={"C": (0, 0)}, floating=True)
    m.constraint("upright", lambda s: s.angle("disc"), unit="rad")
    line: dict[str, Any] = {"first_curve": [(-1, 0), (1, 0)], "first_side": "right"}
    disc = closed("second", circle("0.1"))
    if closure is not None:
        m.curve_contact("touch", "ground.O", "disc.C", **line, **disc, closure=closure, **law)
    return m


@pytest.mark.parametrize(
    ("closure", "place", "message"),
    [
        ("form", (3.0, None), "touch .* is missed by 1.9; .* both curves have to reach"),
        ("form", (0.0, 0.5), "redundant or conflicting"),
        ("force", (3.0, 0.2), "touch .* is missed by 1.9; .* both curves have to reach"),
        ("force", (0.0, 0.05), "contact 'touch' overlap by 0.05 m"),
    ],
)
def test_starts_out_of_contact_are_refused(closure: str, place: Any, message: str) -> None:
    m = on_a_line(closure)
    m.start(position={"disc.C": place}, near={"disc.C": (place[0], 0.1)})
    with pytest.raises(vm.VarimechError, match=message):
        m.simulate(0.1)


def test_the_end_of_an_open_curve_ends_a_run() -> None:
    m = on_a_line()
    m.start(
        position={"disc.C": (0.9, None)}, near={"disc.C": (0.9, 0.1)}, speed={"disc.C": (1.0, None)}
    )
    with pytest.raises(vm.SimulationError, match=r"t = 0\.1.*'touch' is not finite.*an open curve"):
        m.simulate(0.5)
