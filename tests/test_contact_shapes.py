"""Arcs, boxes and capsules in contact, against closed forms and against the same shapes stated
otherwise.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

import varimech as vm

G = 9.81
each_method = pytest.mark.parametrize("method", ["direct", "adjoint"])
R, T, BALL = 1.0, 0.05, 0.1


def ball_over_arc(angles: Any, turned: float = 0.0, **options: Any) -> vm.Mechanism:
    """A ball, and an arc around the origin on a body that is turned and held."""
    m = vm.Mechanism("arc", gravity=(0, -G))
    m.parameter("R", R, unit="m")
    m.parameter("x", 0.3, unit="m")
    m.parameter("a", 0.4, unit="rad")
    m.ground_point("O", (0, 0))
    m.body("plate", mass=1.0, inertia=1.0, points={"O": (0, 0)})
    m.revolute("hinge", "ground.O", "plate.O")
    m.drive_angle("hold", "hinge", turned)
    m.body("ball", mass=1.0, inertia=0.01, points={"C": (0, 0)}, floating=True)
    m.contact(
        "it",
        "ball.C",
        "plate.O",
        arc=angles,
        arc_radius="R",
        radius=BALL,
        second_radius=T,
        **options,
    )
    return m


def falls(x: float, y: float, arc: tuple[float, float], radius: float = R) -> tuple[float, float]:
    """Time and speed along the normal of a ball that falls from rest and meets the arc, found by steps
    and bisection.
    """
    angles = np.linspace(*arc, 101)

    def apart(t: float) -> tuple[float, np.ndarray]:
        place = np.array([x, y - G * t * t / 2])

        def from_rod(φ: Any) -> np.ndarray:
            return place - radius * np.array([np.cos(φ), np.sin(φ)])

        k = int(np.argmin([np.hypot(*from_rod(φ)) for φ in angles]))
        near = (angles[max(k - 1, 0)], angles[min(k + 1, 100)])
        best = minimize_scalar(
            lambda φ: np.hypot(*from_rod(φ)), bounds=near, options={"xatol": 1e-12}
        )
        d = min((from_rod(φ) for φ in (best.x, *near)), key=lambda d: float(np.hypot(*d)))
        return float(np.hypot(*d)) - T - BALL, d

    low, high = 0.0, 1e-2
    while apart(high)[0] > 0 and high < 2:
        low, high = high, high + 1e-2
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if apart(middle)[0] > 0 else (low, middle)
    n = apart(low)[1]
    return low, -G * low * float(n[1] / np.hypot(*n))


CASES = {
    "outside": (0.3, 1.6, (0.3, 2.8)),
    "inside": (0.3, 0.0, (-2.8, -0.3)),
    "end from above": (0.92, 1.6, (0.5, 2.6)),
    "end from within": (-0.82, 0.3, (-2.4, -0.3)),
    "more than half a turn": (-0.2, 0.1, (-3.0, 2.0)),
}


@pytest.mark.parametrize("turned", [0.0, 0.7])
@pytest.mark.parametrize("case", CASES)
def test_a_ball_falls_on_an_arc(case: str, turned: float) -> None:
    x, y, (first, last) = CASES[case]
    m = ball_over_arc((first - turned, last - turned), turned, restitution=0.5)
    m.start(position={"ball.C": (x, y)}, angle={"ball": 0.0})
    time, speed = falls(x, y, (first, last))
    impact = m.simulate(1.1 * time).events[0]
    np.testing.assert_allclose([impact.time, impact.before], [time, speed], rtol=1e-6)
    np.testing.assert_allclose([impact.after, impact.impulse], [-speed / 2, -1.5 * speed], 1e-6)


def test_a_ball_passes_beside_an_arc() -> None:
    """Where a whole circle would be hit."""
    m = ball_over_arc((0.3, 1.2))
    m.start(position={"ball.C": (-0.5, 1.6)}, angle={"ball": 0.0})
    assert not m.simulate(1.0).events


@pytest.mark.parametrize("law", [{}, {"stiffness": 1e6, "damping": 1.0}])
def test_a_ball_slides_inside_an_arc_as_a_pendulum(law: dict[str, Any]) -> None:
    """Of the length R − r₁ − r₂, as long as there is no friction."""
    length, φ = R - T - BALL, 0.5
    m = ball_over_arc((-3.0, -0.1), **law)
    place = (length * math.sin(φ), -length * math.cos(φ))
    m.start(position={"ball.C": place}, angle={"ball": 0.0})
    p = vm.Mechanism("pendulum", gravity=(0, -G))
    p.ground_point("O", (0, 0))
    p.body("rod", mass=1.0, inertia=0.0, points={"O": (0, length)})
    p.revolute("O")
    p.start(angle={"O": φ})
    found, expected = m.simulate(2.0), p.simulate(2.0)
    x = found.position("ball.C").values[-1, 0] / length
    tolerance = 1e-3 if law else 1e-8  # compliant, it sinks in a little
    assert x == pytest.approx(math.sin(expected.angle("O").values[-1]), abs=tolerance)


@each_method
def test_derivatives_with_respect_to_an_arc(method: str) -> None:
    """At its end, which the angle and the radius move, and beside it."""
    for angles, start in (((0.5, 2.6), (0.92, 1.6)), (("a", 2.6), ("3*x", 1.6))):
        m = ball_over_arc(angles, restitution=0.5)
        m.start(position={"ball.C": start}, angle={"ball": 0.0})
        objectives = {"t": vm.time_of("it"), "x": vm.final("position('ball.C')[0]")}
        result = m.sensitivity(objectives, duration=0.5, method=method)
        check = m.sensitivity(objectives, duration=0.5, method="finite-difference", tolerance=1e-11)
        assert np.abs(check.final_gradient[:, 0]).min() > 0.01
        np.testing.assert_allclose(
            result.final_gradient, check.final_gradient, rtol=1e-5, atol=1e-7
        )


def block(dimension: int, **options: Any) -> vm.Mechanism:
    """A tilted block that falls on a plane."""
    down, up = ((0, -G), (0, 1)) if dimension == 2 else ((0, 0, -G), (0, 0, 1))
    sides = (0.3, 0.2, 0.25)[:dimension]
    signs = np.array(np.meshgrid(*[(-0.5, 0.5)] * dimension)).reshape(dimension, -1).T
    points = {f"P{k}": tuple(s) for k, s in enumerate(signs * sides)}
    m = vm.Mechanism("block", gravity=down)
    m.ground_point("O", (0,) * dimension)
    inertia = 0.02 if dimension == 2 else (0.02, 0.03, 0.04)
    m.body(
        "block", mass=2.0, inertia=inertia, points={"C": (0,) * dimension, **points}, floating=True
    )
    if options.pop("box"):
        m.contact("floor", "block.C", "ground.O", box=sides, normal=up, **options)
    else:
        first, *others = [f"block.{name}" for name in points]
        m.contact("floor", first, "ground.O", also=others, normal=up, **options)
    if dimension == 2:
        m.start(position={"block.C": (0, 0.5)}, angle={"block": 0.3})
    else:
        turned = vm.rotation((1, 2, 0.5), 0.4)
        m.start(position={"block.C": (0, 0, 0.5)}, orientation={"block": turned})
    return m


@pytest.mark.parametrize("dimension", [2, 3])
def test_a_box_is_its_corners(dimension: int) -> None:
    one, two = (block(dimension, box=box, restitution=0.4).simulate(0.6) for box in (True, False))
    assert len(one.events) >= 2
    np.testing.assert_allclose(one.events.times, two.events.times, rtol=1e-9)
    np.testing.assert_allclose(
        one.position("block.C").values[-1], two.position("block.C").values[-1], rtol=1e-7
    )
    assert one.events[0].name.startswith("floor.corner ")


def test_a_capsule_falls_on_a_circle_and_on_a_line() -> None:
    """Two ways to state a capsule: by its ends over a line, and as the second body of a circle."""
    m = vm.Mechanism("rod", gravity=(0, -G))
    m.ground_point("O", (0, 0))
    m.ground_point("Q", (0.5, 0))
    points = {"A": (-0.3, 0), "B": (0.3, 0), "C": (0, 0)}
    m.body("rod", mass=1.0, inertia=0.05, points=points, floating=True)
    m.contact("floor", "rod.A", "ground.O", also=["rod.B"], radius=0.04, normal=(0, 1))
    m.contact("peg", "ground.Q", "rod.A", to="rod.B", radius=0.1, second_radius=0.04)
    m.start(position={"rod.C": (0.4, 0.6)}, angle={"rod": 0.0})
    first, *_ = m.simulate(0.4).events
    assert first.name == "peg"
    assert first.time == pytest.approx(math.sqrt(2 * (0.6 - 0.14) / G), rel=1e-9)
    m.start(position={"rod.C": (0.4, 0.6)}, angle={"rod": -1.2}, speed={"rod.C": (-5.0, 0.0)})
    first, *_ = m.simulate(0.4).events
    assert first.name == "floor.B"
    lowest = 0.6 - 0.3 * math.sin(1.2) - 0.04
    assert first.time == pytest.approx(math.sqrt(2 * lowest / G), rel=1e-9)


def test_arcs_and_boxes_are_in_files(tmp_path: Path) -> None:
    m = ball_over_arc(("a", "150 deg"), friction=0.2, restitution=0.5)
    m.contact("corners", "plate.O", "ball.C", box=("x", "20 mm"), second_radius=0.01)
    m.start(position={"ball.C": (0.3, 1.6)}, angle={"ball": 0.0})
    again = vm.Mechanism.from_file(m.to_file(tmp_path / "m.yaml"))
    assert again.to_text() == m.to_text() and "arc: [a, 150 deg]" in m.to_text()
    first, second = m.simulate(0.5), again.simulate(0.5)
    np.testing.assert_array_equal(first.position("ball.C"), second.position("ball.C"))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"arc": (0, 1), "second_radius": 0.1}, "needs two angles and a radius; give arc and arc_"),
        ({"arc": (1, 0), "arc_radius": 1, "second_radius": 0.1}, "last − first angle = -1 must be"),
        (
            {"arc": (0, 7), "arc_radius": 1, "second_radius": 0.1},
            "2π − (last − first angle) = -0.7",
        ),
        ({"arc": (0, 1), "arc_radius": 1, "normal": (0, 1)}, "is a rod that is bent, with two sid"),
        ({"arc": (0, 1), "arc_radius": 0, "second_radius": 0.1}, "arc_radius = 0 must be positive"),
        ({"box": (1, 0), "normal": (0, 1)}, "box, component 2 = 0 must be positive"),
        (
            {"box": (1, 1), "also": ["ball.C"], "normal": (0, 1)},
            "box and also both give further po",
        ),
    ],
)
def test_bad_shapes(options: dict[str, Any], words: str) -> None:
    m = ball_over_arc((0.0, 1.0))
    before = m.to_text()
    with pytest.raises(vm.ModelError) as caught:
        m.contact("bad", "ball.C", "plate.O", **options)
    assert words in str(caught.value) and m.to_text() == before


def test_an_arc_belongs_to_the_plane() -> None:
    m = block(3, box=True)
    with pytest.raises(vm.ModelError, match="an arc belongs to the plane; give capsules"):
        m.contact("a", "block.C", "ground.O", arc=(0, 1), arc_radius=1.0, second_radius=0.1)


@pytest.mark.parametrize("backend", ["auto", "interpreted"])
@pytest.mark.parametrize("height", [0.1, 0.3, 0.7])
def test_a_ball_that_begins_on_a_compliant_slope(height: float, backend: str) -> None:
    """At a gap of nothing but rounding, at which its sign changes with every step: it slides down."""
    m = vm.Mechanism("slope", gravity=(0, -G))
    m.ground_point("O", (0, 0))
    m.body("ball", mass=1.0, inertia=0.01, points={"C": (0, 0)}, floating=True)
    n = (-math.sin(0.5), math.cos(0.5))
    m.contact("it", "ball.C", "ground.O", radius=height, normal=n, stiffness=1e4, damping=1.0)
    m.start(position={"ball.C": (height * n[0], height * n[1])}, angle={"ball": 0.0})
    v = m.simulate(0.5, backend=backend).velocity("ball.C").values[-1]
    assert v @ [math.cos(0.5), math.sin(0.5)] == pytest.approx(-G * math.sin(0.5) * 0.5, rel=1e-7)
