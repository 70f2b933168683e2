"""Workspaces against closed forms, and boundaries that are integrated independently."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq

import varimech as vm
from varimech.solving.covered_area import CoveredArea

PI = np.pi
BOTH = {"A": (1.7, 3.4), "E": (-0.3, 1.4)}


def arm() -> vm.Mechanism:
    """Two bars, a = 1 m and b = 0.6 m."""
    m = vm.Mechanism("arm", dimension=2)
    m.parameter("a", 1.0, unit="m")
    m.parameter("b", 0.6, unit="m")
    m.ground_point("O", (0, 0))
    m.bar("upper", "O", "A", length="a")
    m.bar("lower", "A", "P", length="b")
    m.revolute("O")
    m.revolute("A")
    m.start(angle={"O": 1.0, "A": 0.5})
    return m


def five_bar() -> vm.Mechanism:
    """Two cranks on the ground, 2 d apart, and two couplers that meet at P."""
    m = vm.Mechanism("five-bar", dimension=2)
    for name, value in {"a": 1.0, "b": 1.2, "d": 0.4}.items():
        m.parameter(name, value, unit="m")
    m.ground_point("A", ("-d", 0))
    m.ground_point("E", ("d", 0))
    m.bar("left", "A", "B", length="a")
    m.bar("right", "E", "D", length="a")
    m.bar("left coupler", "B", "P", length="b")
    m.bar("right coupler", "D", "P", length="b")
    for name in "ABEDP":
        m.revolute(name)
    m.start(angle={"A": 2.2, "E": 0.9}, near={"P": (0, 1.7)})
    return m


def five_bar_point(s: Any, t: Any, a: float, b: float, d: float) -> np.ndarray:
    """P above the line between the ends of the cranks; NaN where couplers are too short."""
    x, y = 2 * d + a * (np.cos(t) - np.cos(s)), a * (np.sin(t) - np.sin(s))
    length = np.hypot(x, y)
    square = b**2 - length**2 / 4
    height = np.sqrt(np.where(square < -1e-9, np.nan, np.maximum(square, 0.0)))
    centre = np.array([a * (np.cos(s) + np.cos(t)) / 2, a * (np.sin(s) + np.sin(t)) / 2])
    return np.asarray(centre + np.array([-y, x]) / length * height)


def five_bar_area(a: float, b: float, d: float) -> float:
    """Polygon with 20,000 corners along limits and dead centres, which P passes once around."""
    (s0, s1), (t0, t1) = BOTH.values()

    def stretched(s: float, t: float) -> float:
        x, y = 2 * d + a * (np.cos(t) - np.cos(s)), a * (np.sin(t) - np.sin(s))
        return float(np.hypot(x, y) - 2 * b)

    n = 4001
    w = np.linspace(0, 1, n)
    s_end = brentq(lambda s: stretched(s, t0), s0, s1, xtol=1e-15)
    t_end = brentq(lambda t: stretched(s1, t), t0, t1, xtol=1e-15)
    s = s_end + (s1 - s_end) * w
    t = np.array([brentq(lambda t, s=x: stretched(s, t), t0 - 1e-9, t1) for x in s[1:-1]])
    curves = [
        (s0 + (s_end - s0) * (1 - (1 - w) ** 2), np.full(n, t0)),
        (s, np.array([t0, *t, t_end])),
        (np.full(n, s1), t_end + (t1 - t_end) * w**2),
        (np.linspace(s1, s0, n), np.full(n, t1)),
        (np.full(n, s0), np.linspace(t1, t0, n)),
    ]
    x, y = np.concatenate([five_bar_point(*curve, a, b, d) for curve in curves], axis=1)
    return float(abs(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y)) / 2)


def slope(f: Callable[..., float], values: dict[str, float], name: str, h: float = 1e-4) -> float:
    up, down = ({**values, name: values[name] + s * h} for s in (1, -1))
    return (f(**up) - f(**down)) / (2 * h)


def test_the_area_of_two_circles_that_overlap() -> None:
    def circles(n: int) -> CoveredArea:
        t = np.linspace(0, 2 * PI, 2 * n + 1)
        one = np.column_stack([np.cos(t), np.sin(t)])
        both = [
            np.stack([c[:-1:2], c[1::2], c[2::2]], 1) for c in (one, one + np.array([1.0, 0.0]))
        ]
        return CoveredArea(np.concatenate(both), np.ones(2 * n))

    exact = 2 * PI - (2 * PI / 3 - np.sqrt(3) / 2)
    errors = [abs(circles(n).area - exact) for n in (24, 48)]
    assert errors[1] < 3e-6
    assert np.log2(errors[0] / errors[1]) == pytest.approx(4, abs=0.1)
    covered = circles(48)
    np.testing.assert_array_equal(covered.count(np.array([[0.5, 0], [-0.5, 0], [3, 0]])), [2, 1, 0])
    # the centre of a chord, by symmetry to the last bit
    chord = (covered.points[::12, 0] + covered.points[::12, 2]) / 2
    assert (covered.count(chord) >= 1).all()
    # both radii grow: the length of the outer boundary
    centres = np.repeat([[0.0, 0.0], [1.0, 0.0]], 48, axis=0)[:, None]
    grown = covered.area_derivatives((covered.points - centres)[..., None])
    assert grown[0] == pytest.approx(2 * (2 * PI - 2 * PI / 3), abs=1e-5)


def test_an_arm_that_turns_fully() -> None:
    """A = π ((a + b)² − (a − b)²) = 4π a b, with an error of the fourth order."""
    m, ranges = arm(), {"O": (0, "360 deg"), "A": (0, "180 deg")}
    coarse, fine = (m.workspace("P", ranges, count=n, wrt="all") for n in (10, 19))
    exact = PI * (1.6**2 - 0.4**2)
    errors = [abs(w.area - exact) / exact for w in (coarse, fine)]
    assert errors[1] < 4e-5
    assert np.log2(errors[0] / errors[1]) == pytest.approx(4, abs=0.2)
    np.testing.assert_allclose(fine.area_derivatives, 4 * PI * np.array([0.6, 1.0]), rtol=4e-5)
    assert fine.reached.all()


def test_nodes_have_the_closed_form_of_an_arm() -> None:
    w = arm().workspace("P", {"O": (-0.5, 0.5, 5), "A": (-1.0, 1.3, 7)}, wrt=["a", "b"])
    assert w.shape == (5, 7)
    u, v = w.dataset["value"].to_numpy().T
    c = [np.column_stack([np.cos(x), np.sin(x)]) for x in (u, u + v)]
    np.testing.assert_allclose(w.position, c[0] + 0.6 * c[1], atol=1e-12)
    np.testing.assert_allclose(w.position_wrt, np.stack(c, axis=2), atol=1e-12)
    np.testing.assert_allclose(w.manipulability, 0.6 * np.abs(np.sin(v)), atol=1e-12)
    J = w.jacobian.to_numpy()
    np.testing.assert_allclose(
        J[:, :, 1], 0.6 * np.column_stack([-np.sin(u + v), np.cos(u + v)]), atol=1e-12
    )
    expected = [1 / np.linalg.cond(j) for j in J]
    np.testing.assert_allclose(w.conditioning, expected, atol=1e-12)


def test_positions_that_are_reached_twice_count_once() -> None:
    """Elbow up and elbow down: the outer circle is singular, the inner one a limit."""
    w = arm().workspace("P", {"O": (0, 2 * PI, 25), "A": (-2.1, 2.9, 13)}, wrt="all")
    inner = 1 + 0.36 + 1.2 * np.cos(2.9)
    assert w.area == pytest.approx(PI * (1.6**2 - inner), rel=5e-5)
    exact = [PI * (3.2 - 2 - 1.2 * np.cos(2.9)), PI * (3.2 - 1.2 - 2 * np.cos(2.9))]
    np.testing.assert_allclose(w.area_derivatives, exact, rtol=1e-4)
    pieces = w.boundary
    radius = np.linalg.norm(pieces, axis=2)
    np.testing.assert_allclose(radius[pieces["source"] == "singular position"], 1.6, atol=1e-10)
    np.testing.assert_allclose(radius[pieces["source"] == "A = 2.9 rad"], inner**0.5, atol=1e-10)
    assert "A = -2.1 rad" not in pieces["source"]


def test_a_sector_has_derivatives_of_its_area_by_differences() -> None:
    m, ranges = arm(), {"O": (-0.5, 0.5), "A": (-1.0, 1.3)}
    w = m.workspace("P", ranges, count=17, wrt="all")
    nominal = {"a": 1.0, "b": 0.6}
    for k, name in enumerate(nominal):
        difference = slope(
            lambda **v: m.workspace("P", ranges, count=17, parameters=v).area, nominal, name
        )
        assert w.area_derivatives[k] == pytest.approx(difference, rel=1e-5)
    assert {"singular position", "A = 1.3 rad", "O = 0.5 rad"} <= set(w.boundary["source"].values)


def test_a_slide_that_turns_passes_its_centre() -> None:
    """A half disc on either side, of different radii; J vanishes along the driver at the centre."""
    m = vm.Mechanism("polar", dimension=2)
    m.ground_point("O", (0, 0))
    m.body("arm", points={"O": (0, 0)})
    m.body("slide", points={"P": (0, 0)})
    m.revolute("O")
    m.prismatic("S", "arm.O", "slide.P", axis=(1, 0))
    m.start(angle={"O": 0.1}, displacement={"S": 0.3})
    w = m.workspace("P", {"O": (0, PI), "S": ("-300 mm", "500 mm")}, count=13)
    assert w.area == pytest.approx(PI / 2 * (0.3**2 + 0.5**2), rel=2e-5)
    twice = m.workspace("P", {"O": (0, 2 * PI, 25), "S": (-0.3, 0.5, 5)})
    assert twice.area == pytest.approx(PI * 0.5**2, rel=2e-5)


def test_a_five_bar_that_ends_at_dead_centres() -> None:
    w = five_bar().workspace("P", BOTH, count=17, wrt="all")
    lengths = {"a": 1.0, "b": 1.2, "d": 0.4}
    expected = five_bar_point(*w.dataset["value"].to_numpy().T, **lengths).T
    np.testing.assert_array_equal(w.reached, np.isfinite(expected[:, 0]))
    assert 0.4 < float(w.reached.mean()) < 0.6
    np.testing.assert_allclose(w.position, expected, atol=1e-12)
    assert w.area == pytest.approx(five_bar_area(**lengths), rel=1e-5)
    for k, name in enumerate(lengths):
        exact = slope(five_bar_area, lengths, name, 1e-5)
        assert float(w.area_derivatives[k]) == pytest.approx(exact, abs=5e-5)
    # dead centres: both couplers in line
    dead = w.boundary[w.boundary["source"] == "dead centre"]
    assert len(dead) > 10
    assert "dead centre" in str(w)
    np.testing.assert_allclose(dead[:, :, 1].max(), 0.6, atol=0.01)


def test_a_boundary_that_is_not_resolved_is_reported() -> None:
    """The ends of both cranks meet within these ranges, and P is free to turn there."""
    for count in (9, 13):
        w = five_bar().workspace("P", {"A": (0.5, 3.5), "E": (-0.5, 2.5)}, count=count)
        assert "area not known" in str(w)
        with pytest.raises(vm.VarimechError, match=r"area is not known; take more values"):
            _ = w.area
        assert "area" not in w.dataset


def test_three_drivers_in_space() -> None:
    m = vm.Mechanism("arm", dimension=3)
    m.parameter("L", 1.0, unit="m")
    m.ground_point("O", (0, 0, 0))
    m.body("base", points={"O": (0, 0, 0)})
    m.body("upper", points={"O": (0, 0, 0), "A": ("L", 0, 0)})
    m.body("lower", points={"A": (0, 0, 0), "P": (0.8, 0, 0)})
    m.revolute("turn", "ground.O", "base.O", axis=(0, 0, 1))
    m.revolute("shoulder", "base.O", "upper.O", axis=(0, -1, 0))
    m.revolute("elbow", "upper.A", "lower.A", axis=(0, -1, 0))
    m.start(angle={"turn": 0.0, "shoulder": 0.0, "elbow": 0.5})
    w = m.workspace(
        "P", {"turn": (0, 1.5), "shoulder": (-1, 1), "elbow": (0.1, 2)}, count=4, wrt="L"
    )
    a, b, c = w.dataset["value"].to_numpy().T
    reach, height = np.cos(b) + 0.8 * np.cos(b + c), np.sin(b) + 0.8 * np.sin(b + c)
    expected = np.column_stack([reach * np.cos(a), reach * np.sin(a), height])
    np.testing.assert_allclose(w.position, expected, atol=1e-12)
    volume = np.abs(reach * 0.8 * np.sin(c))  # det J
    np.testing.assert_allclose(w.manipulability, volume, atol=1e-12)
    with pytest.raises(vm.ModelError, match="two drivers in the plane"):
        _ = w.area
    assert len(w.plot().axes) == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("P", {"O": (0, 1)}), "two or three drivers"),
        (("P", [("O", 0, 1)]), "two or three drivers"),
        (("Q", {"O": (0, 1), "A": (0, 1)}), "no point is called 'Q'"),
        (("P", {"O": (0, 1), "B": (0, 1)}), "'B'"),
        (("P", {"O": (1, 0), "A": (0, 1)}), "must increase, and goes from 1 to 0"),
        (("P", {"O": (0, 1), "A": 1.0}), r"must be \(start, stop\)"),
        (("P", {"O": (0, 1), "A": (0, np.nan)}), "finite"),
        (("P", {"O": (0, 1), "A": (0, "1 m")}), "wrong dimension"),
        (("P", {"O": (0, 1), "A": (0, 1, 2)}), "count = 2 must be a whole number, 3 or more"),
    ],
)
def test_bad_input(arguments: Any, message: str) -> None:
    with pytest.raises(vm.ModelError, match=message):
        arm().workspace(*arguments)
    with pytest.raises(vm.ModelError, match=r"count = 2\.5"):
        arm().workspace("P", {"O": (0, 1), "A": (0, 1)}, count=2.5)  # type: ignore[arg-type]


def test_ranges_out_of_reach() -> None:
    with pytest.raises(vm.VarimechError, match=r"none of the values .* is reached"):
        five_bar().workspace("P", {"A": (3.2, 3.4), "E": (-0.3, -0.1)}, count=3)


def test_files_pictures_and_the_command(tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from varimech.cli.app import app

    w = arm().workspace("P", {"O": (0, 1), "A": (0.5, 1.5)}, count=4, wrt="a")
    saved = vm.Workspace.load(w.save(tmp_path / "w.nc"))
    np.testing.assert_array_equal(saved.dataset["position"], w.position)
    assert list(w.table().columns[:4]) == ["O", "A", "x", "y"]
    assert len(w.plot(style="paper").axes) == 2
    file = str(arm().to_file(tmp_path / "arm.yaml"))
    base = ["workspace", file, "--point", "P", "--range", "O=0:1", "--count", "4"]
    out = tmp_path / "out"
    both = [*base, "--range", "A=0.5:1.5"]
    result = CliRunner().invoke(app, [*both, "--wrt", "a", "--out", str(out)])
    assert result.exit_code == 0
    assert f"area {w.area:.8g} m²" in result.output
    names = {p.name for p in out.iterdir()}
    assert names == {"workspace.csv", "workspace.nc", "workspace.png"}
    data = json.loads(CliRunner().invoke(app, [*both, "--json"]).output)
    assert data["info"]["reached"] == 16
    failed = CliRunner().invoke(app, [*base, "--range", "A"])
    assert "--range 'A' must be a driver and its range" in str(failed.exception)
