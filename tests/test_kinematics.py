"""Kinematics without masses, against independent closed forms and loop closures."""

import json
import re
from pathlib import Path
from typing import Any

import kinematic_mechanisms as km
import numpy as np
import pytest

import varimech as vm

U = np.linspace(0, 2 * np.pi, 73)


def test_four_bar_against_its_closed_form() -> None:
    lengths = {"a": 0.5, "b": 1.8, "c": 1.2, "d": 2.0}
    m = km.four_bar(**lengths)
    m.start(angle={"crank": 1.0}, near={"coupler": 0.3})
    k = m.kinematics("crank", (0, "360 deg", 73), wrt="all")
    expected = km.four_bar_positions(U, **lengths)
    np.testing.assert_allclose(k.position("P"), expected, rtol=0, atol=1e-12)
    for name in lengths:
        slope = km.complex_step(lambda **v: km.four_bar_positions(U, **v), lengths, name)
        np.testing.assert_allclose(k.position("P", wrt=name), slope, rtol=0, atol=1e-9)
    first = np.imag(km.four_bar_positions(U + 1e-30j, **lengths)) / 1e-30
    np.testing.assert_allclose(k.velocity("P"), first, rtol=0, atol=1e-9)
    assert k.velocity("P").attrs["units"] == "m/rad"
    assert k.angle("crank")[-1] == pytest.approx(2 * np.pi, abs=1e-12)


def test_coefficients_and_their_derivatives() -> None:
    lengths = {"a": 0.5, "b": 1.8, "c": 1.2, "d": 2.0}
    m = km.four_bar(**lengths)
    m.start(angle={"crank": 1.0}, near={"coupler": 0.3})
    k = m.kinematics("crank", U, wrt="a")

    def velocity(u: np.ndarray, **v: float) -> Any:
        h = 1e-30j  # nested: a real central difference of an exact derivative
        return np.imag(km.four_bar_positions(u + h, **v)) / 1e-30

    h = 1e-5
    second = (velocity(U + h, **lengths) - velocity(U - h, **lengths)) / (2 * h)
    np.testing.assert_allclose(k.acceleration("P"), second, rtol=0, atol=1e-8)
    mixed = [velocity(U, **{**lengths, "a": 0.5 + s * h}) for s in (1, -1)]
    np.testing.assert_allclose(
        k.velocity("P", wrt="a"), (mixed[0] - mixed[1]) / (2 * h), rtol=0, atol=1e-8
    )
    np.testing.assert_allclose(
        k.coefficients(lambda s: s.position("P"))[:, :, 0], k.velocity("P"), rtol=0, atol=1e-12
    )
    # real speeds: those of a crank at 3 rad/s that speeds up by 2 rad/s²
    fast = m.kinematics("crank", U, rates=3.0, accelerations=2.0)
    expected = 9 * k.acceleration("P").to_numpy() + 2 * k.velocity("P").to_numpy()
    np.testing.assert_allclose(fast.acceleration("P"), expected, rtol=0, atol=1e-11)
    assert fast.velocity("P").attrs["units"] == "m/s"
    ratio, again = k.speed_ratio(angle="rocker"), fast.speed_ratio(angle="rocker")
    np.testing.assert_allclose(ratio, again, rtol=0, atol=1e-12)


def test_ratio_and_transmission_angle() -> None:
    """In a four-bar, ω₃/ω₁ = a sin(φ₂ − φ₁) / (c sin(φ₂ − φ₃)); μ = angle between coupler and rocker."""
    m = km.four_bar(0.5, 1.8, 1.2, 2.0)
    m.start(angle={"crank": 1.0}, near={"coupler": 0.3})
    k = m.kinematics("crank", U)
    φ, ψ = k.angle("coupler").to_numpy(), k.angle("rocker").to_numpy()
    expected = 0.5 * np.sin(φ - U) / (1.2 * np.sin(φ - ψ))
    np.testing.assert_allclose(k.speed_ratio(angle="rocker"), expected, rtol=0, atol=1e-12)
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(k.mechanical_advantage(angle="rocker"), 1 / expected, rtol=1e-9)
    distance = 4 + 0.25 - 2 * np.cos(U)  # between B and D, squared
    μ = np.arccos(np.abs((1.8**2 + 1.2**2 - distance) / (2 * 1.8 * 1.2)))
    np.testing.assert_allclose(k.transmission_angle("C"), μ, rtol=0, atol=1e-12)


def test_a_slot_has_no_transmission_angle() -> None:
    k = km.whitworth().kinematics("crank", U)
    for name in ("slot", "guide"):
        with pytest.raises(vm.ModelError, match=f"{name!r} is prismatic: two bars do not meet"):
            k.transmission_angle(name)


def test_whitworth_drive() -> None:
    k = km.whitworth().kinematics("crank", U, wrt="all")
    expected = km.whitworth_ram(U, **km.WHITWORTH)
    np.testing.assert_allclose(k.displacement("guide"), expected, rtol=0, atol=1e-12)
    for name in km.WHITWORTH:
        slope = km.complex_step(lambda **v: km.whitworth_ram(U, **v), km.WHITWORTH, name)
        np.testing.assert_allclose(k.displacement("guide", wrt=name), slope, rtol=0, atol=1e-9)


def test_rack_steering() -> None:
    turns = np.linspace(-4.0, 4.0, 41)
    k = km.steering().kinematics("S", turns, wrt="all")
    values = {("set_" if n == "set" else n): x for n, x in km.STEERING.items()}
    cosine_sine = km.steering_arm(turns, **values)
    φ = k.angle("armR").to_numpy()
    np.testing.assert_allclose(np.column_stack([np.cos(φ), np.sin(φ)]), cosine_sine, atol=1e-12)
    for name in values:
        slope = km.complex_step(lambda **v: km.steering_arm(turns, **v), values, name)
        expected = np.cos(φ) * slope[:, 1] - np.sin(φ) * slope[:, 0]
        actual = k.angle("armR", wrt=name.rstrip("_"))
        np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-9)
    np.testing.assert_allclose(k.displacement("slide"), 0.008 * turns, rtol=0, atol=1e-12)
    # mirror images: the arms point to the other side for the opposite turn
    np.testing.assert_allclose(k.position("TL")[:, 0], -k.position("TR")[::-1, 0], atol=1e-12)


def test_double_wishbone() -> None:
    m = km.wishbone()
    m.drive_coordinate("travel", "upright.B", (0, 0, 1), 0.2)
    m.start(near={"B": (0.35, 0.35, 0.2), "U": (0.3, 0.4, 0.5), "T": (0.3, 0.25, 0.3)})
    z = np.linspace(0.14, 0.26, 13)
    k = m.kinematics("travel", z, wrt="all")
    guess = {name: k.position(f"upright.{name}")[0].to_numpy() for name in "BUTW"}
    points = km.wishbone_points(z, guess, **km.WISHBONE)
    for name in "BUTW":
        actual = k.position(f"upright.{name}")
        np.testing.assert_allclose(actual, points[name].real, rtol=0, atol=1e-12)
        for parameter in km.WISHBONE:
            slope = km.complex_step(
                lambda name=name, **v: km.wishbone_points(z, guess, **v)[name],
                km.WISHBONE,
                parameter,
            )
            derivative = k.position(f"upright.{name}", wrt=parameter)
            np.testing.assert_allclose(derivative, slope, rtol=0, atol=1e-9)


def test_limit_of_a_four_bar_that_does_not_turn_fully() -> None:
    """Coupler and rocker in line: cos φ = (a² + d² − (b + c)²) / (2 a d)."""
    m = km.four_bar(1.5, 1.8, 1.2, 2.0)
    m.start(angle={"crank": 1.0}, near={"coupler": 0.3})
    limit = np.arccos((1.5**2 + 4 - 9) / (2 * 1.5 * 2))
    with pytest.raises(vm.VarimechError, match=r"last value.*coupler") as caught:
        m.kinematics("crank", (1.0, 3.0, 21))
    last = re.search(r"crank = (\S+) rad is the last value", str(caught.value))
    assert last is not None
    assert float(last[1]) == pytest.approx(limit, abs=1e-8)
    k = m.kinematics("crank", (1.0, 3.0, 21), unreachable="truncate")
    assert k.values[-1, 0] == pytest.approx(2.0)
    assert len(k.values) == 11
    assert "dead centre" in k.stopped
    assert k.position("P").sizes["input"] == 11


def test_dead_centre_of_a_slider_crank_that_the_slider_drives() -> None:
    m = vm.Mechanism("slider-crank", dimension=2)
    m.ground_point("O", (0, 0))
    m.bar("crank", "O", "P", length=0.1)
    m.bar("rod", "P", "S", length=0.3)
    m.body("block", points={"S": (0, 0)})
    for name in "OPS":
        m.revolute(name)
    m.prismatic("guide", "O", "block.S", axis=(1, 0))
    m.start(angle={"crank": 1.0}, near={"S": (0.35, 0)})
    with pytest.raises(vm.VarimechError, match=r"guide = 0\.(3999999|4)\d* m is the last value"):
        m.kinematics("guide", (0.3, 0.45, 16))
    k = m.kinematics("guide", (0.21, 0.39, 19))
    x = k.values[:, 0]
    φ = np.arccos((x**2 + 0.01 - 0.09) / (2 * x * 0.1))
    np.testing.assert_allclose(k.angle("crank"), φ, rtol=0, atol=1e-12)


def test_change_point_of_a_parallelogram() -> None:
    m = km.four_bar(0.5, 2.0, 0.5, 2.0)
    m.start(angle={"crank": 1.0}, near={"coupler": 0.0, "rocker": 1.0})
    k = m.kinematics("crank", (0.3, 2.8, 11))
    np.testing.assert_allclose(k.angle("rocker"), k.values[:, 0], rtol=0, atol=1e-12)
    with pytest.raises(vm.VarimechError, match=r"change point|singular position"):
        m.kinematics("crank", (0.3, 3.5, 11))


def test_several_drivers_and_turns() -> None:
    """A planar arm of two links, over more than a turn."""
    m = vm.Mechanism("arm", dimension=2)
    m.ground_point("A", (0, 0))
    m.bar("upper", "A", "B", length=0.5)
    m.bar("lower", "B", "tip", length=0.4)
    m.revolute("A")
    m.revolute("B")
    α, β = np.linspace(0, 9, 7), np.linspace(0.3, -8, 7)
    k = m.kinematics({"A": α, "B": β}, rates={"A": 2.0, "B": -1.0})
    tip = np.column_stack([f(α) * 0.5 + f(α + β) * 0.4 for f in (np.cos, np.sin)])
    np.testing.assert_allclose(k.position("tip"), tip, rtol=0, atol=1e-12)
    np.testing.assert_allclose(k.angle("A"), α, rtol=0, atol=1e-12)
    np.testing.assert_allclose(k.angle("B"), β, rtol=0, atol=1e-12)
    coefficients = k.coefficients(lambda s: s.position("tip")[0])
    np.testing.assert_allclose(coefficients.sel(driver="A"), -tip[:, 1], rtol=0, atol=1e-12)
    speed = 2 * coefficients.sel(driver="A") - coefficients.sel(driver="B")
    np.testing.assert_allclose(k.velocity("tip")[:, 0], speed, rtol=0, atol=1e-12)


def test_no_masses_only_here() -> None:
    m = km.four_bar(0.5, 1.8, 1.2, 2.0)
    m.start(angle={"crank": 1.0}, near={"coupler": 0.3})
    for analysis in (
        lambda: m.simulate(1.0),
        lambda: m.equilibrium(),
        lambda: m.frequencies(),
        lambda: m.linearize(),
        lambda: m.equations(),
    ):
        with pytest.raises(vm.ModelError, match="'crank', 'coupler', 'rocker' without mass"):
            analysis()


def test_masses_change_nothing() -> None:
    """The same positions with masses, springs and a driver that moves."""
    m = km.four_bar(0.5, 1.8, 1.2, 2.0)
    other = vm.Mechanism("heavy", gravity=(0, -9.81))
    other.ground_point("A", (0, 0))
    other.ground_point("D", (2, 0))
    for name, ends, length in (("crank", "AB", 0.5), ("coupler", "BC", 1.8), ("rocker", "DC", 1.2)):
        other.bar(name, *ends, length=length, mass=1.0)
    for name in "ABCD":
        other.revolute(name)
    other.spring("spring", "A", "C", stiffness=100, natural_length=1.0)
    other.drive_angle("motor", "crank", "2*t + 1")
    for each in (m, other):
        each.start(near={"coupler": 0.3, "rocker": 1.5})
    k = m.kinematics("crank", (1.0, 3.0, 5), rates=2.0)
    heavy = other.kinematics("motor", (1.0, 3.0, 5), rates=2.0)
    run = other.simulate(1.0, output=[0.25, 0.5, 0.75])
    for positions in (heavy.position("C"), run.position("C")):
        np.testing.assert_allclose(k.position("C"), positions, rtol=0, atol=1e-7)
    np.testing.assert_allclose(k.acceleration("C"), run.acceleration("C"), rtol=0, atol=1e-5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda m: m.kinematics("cranc", [1.0]),
            "no driver, joint or planar body is called 'cranc'.*crank",
        ),
        (lambda m: m.kinematics("crank", [1.0, np.nan]), "must be finite"),
        (lambda m: m.kinematics("crank", []), "has no values"),
        (lambda m: m.kinematics("crank", (0, 1, 1)), "2 or more"),
        (lambda m: m.kinematics("crank"), "values.*missing"),
        (lambda m: m.kinematics("crank", object()), "must be a list"),
        (
            lambda m: m.kinematics("crank", (1.0, 2.0)),
            r"must be \(start, stop, count\); add the number",
        ),
        (lambda m: m.kinematics("crank", (1.0, 2.0, 3.0)), "count = 3.0 must be a whole number, 2"),
        (lambda m: m.kinematics("crank", ("0 deg", "9 deg", "3")), "count = '3' must be a whole"),
        (
            lambda m: m.kinematics({"crank": [1.0], "rocker": [1.5]}),
            "1 degree of freedom, and 2 drivers.*too many",
        ),
        (
            lambda m: m.kinematics({"crank": [1.0], "rocker": [1.5, 2.0]}),
            "1 degree of freedom|different numbers",
        ),
        (lambda m: m.kinematics(("A", "D"), [2.0]), "no independent degrees of freedom|do not"),
        (lambda m: m.kinematics(("A", "C"), [-2.0]), "positive distances"),
        (lambda m: m.kinematics("crank", [1.0], unreachable="skip"), "must be one of"),
        (lambda m: m.kinematics("crank", [1.0], accelerations=1.0), "need rates"),
        (lambda m: m.kinematics("crank", [1.0], wrt="Z"), "'Z'"),
        (lambda m: m.kinematics("crank", [1.0]).position("P", wrt="a"), "not differentiated"),
        (lambda m: m.kinematics("crank", [1.0]).measure(lambda s: s.effort("A")), "no forces"),
        (lambda m: m.kinematics("crank", [1.0]).measure(lambda s: s.energy), "no forces"),
        (lambda m: m.kinematics("crank", [1.0]).transmission_angle("A"), "is not a bar"),
        (lambda m: m.kinematics("crank", [1.0]).speed_ratio(), "needs one output"),
    ],
)
def test_bad_input(call: Any, message: str) -> None:
    m = km.four_bar(0.5, 1.8, 1.2, 2.0)
    m.start(angle={"crank": 1.0}, near={"coupler": 0.3})
    with pytest.raises(vm.ModelError, match=message):
        call(m)


def test_too_few_drivers() -> None:
    m = vm.Mechanism("arm", dimension=2)
    m.ground_point("A", (0, 0))
    m.bar("upper", "A", "B", length=0.5)
    m.bar("lower", "B", "tip", length=0.4)
    m.revolute("A")
    m.revolute("B")
    with pytest.raises(vm.ModelError, match=r"2 degrees of freedom, and 1 driver.*too few"):
        m.kinematics("A", [0.0, 1.0])


def test_files_and_pictures(tmp_path: Path) -> None:
    m = km.four_bar(0.5, 1.8, 1.2, 2.0)
    m.start(angle={"crank": 1.0}, near={"coupler": 0.3})
    m.to_file(tmp_path / "four.yaml")
    read = vm.Mechanism.from_file(tmp_path / "four.yaml")
    k = read.kinematics("crank", (0, 6, 13), wrt="a")
    np.testing.assert_array_equal(k.position("P"), m.kinematics("crank", (0, 6, 13)).position("P"))
    k.save(tmp_path / "k.nc")
    saved = type(k).load(tmp_path / "k.nc")
    np.testing.assert_array_equal(saved.dataset["position"], k.dataset["position"])
    assert len(k.plot(path="P").axes) == 1
    assert len(k.plot(angle=["rocker"], velocity="P", wrt="a").axes) == 2
    assert "13 positions" in str(k)


def test_command(tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from varimech.cli.app import app

    m = km.four_bar(0.5, 1.8, 1.2, 2.0)
    m.start(angle={"crank": 1.0}, near={"coupler": 0.3})
    file = m.to_file(tmp_path / "four.yaml")
    base = ["kinematics", str(file), "--driver", "crank", "--from", "0", "--to", "360 deg"]
    out = tmp_path / "out"
    result = CliRunner().invoke(app, [*base, "--count", "5", "--wrt", "a", "--out", str(out)])
    assert result.exit_code == 0
    assert "5 positions" in result.output
    written = {p.name for p in out.iterdir()}
    assert written == {"kinematics.csv", "kinematics.nc", "kinematics.png"}
    data = json.loads(CliRunner().invoke(app, [*base, "--count", "5", "--json"]).output)
    assert data["info"]["count"] == 5
    failed = CliRunner().invoke(app, [*base, "--set", "a=1.5"])
    assert "last value that it reaches" in str(failed.exception)


def test_a_mass_needs_an_inertia() -> None:
    with pytest.raises(vm.ModelError, match="body 'a': inertia is missing"):
        vm.Mechanism("m", dimension=2).body("a", mass=1.0)
