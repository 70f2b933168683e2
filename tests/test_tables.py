"""Tables as functions: values and derivatives against SciPy, in runs, and in model files."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import casadi as ca
import numpy as np
import pytest
from scipy.interpolate import (
    CubicSpline,
    PchipInterpolator,
    RectBivariateSpline,
    RegularGridInterpolator,
)

import varimech as vm

X = np.cumsum(np.random.default_rng(1).uniform(0.1, 1.0, 12))
Y = np.random.default_rng(2).normal(size=12)
INSIDE = np.concatenate([X, np.random.default_rng(3).uniform(X[0], X[-1], 100)])


@pytest.mark.parametrize("ends", ["not-a-knot", "natural", "clamped", None])
def test_values_and_two_derivatives_are_scipys(ends: Any) -> None:
    reference = PchipInterpolator(X, Y) if ends is None else CubicSpline(X, Y, bc_type=ends)
    f = vm.table(X, Y, kind="pchip") if ends is None else vm.table(X, Y, kind="cubic", ends=ends)
    x = ca.SX.sym("x")
    value = f(x)
    derivatives = [value, ca.jacobian(value, x), ca.hessian(value, x)[0]]
    for order, expression in enumerate(derivatives):
        found = np.array(ca.Function("f", [x], [expression])(INSIDE[None])).ravel()
        # at the last row, SciPy takes the piece before, which is what its slope goes on from
        compared = X[-1] != INSIDE if order == 2 else np.ones(INSIDE.size, bool)
        np.testing.assert_allclose(
            found[compared], reference(INSIDE, order)[compared], rtol=1e-11, atol=1e-11
        )
    np.testing.assert_allclose(f(INSIDE), reference(INSIDE), rtol=1e-13, atol=1e-14)


def test_linear_tables_and_what_is_outside() -> None:
    np.testing.assert_allclose(
        vm.table(X, Y)(INSIDE), np.interp(INSIDE, X, Y), rtol=1e-14, atol=1e-15
    )
    f = vm.table([0, 1, 3], [1, 2, 0], kind="pchip")
    slope = PchipInterpolator([0, 1, 3], [1, 2, 0])(3, 1)
    assert f(5.0) == pytest.approx(2 * slope, rel=1e-14)
    assert vm.table([0, 1], [1, 2])(-1.0) == 0.0
    assert vm.table([0, 1], [1, 2], outside="hold")(7) == 2.0
    wave = vm.table([0, 1, 2, 3], [0, 1, -1, 0], kind="cubic", outside="repeat")
    assert wave(7.3) == pytest.approx(wave(1.3), rel=1e-13)
    exact = CubicSpline([0, 1, 2, 3], [0, 1, -1, 0], bc_type="periodic")
    assert wave(1.3) == pytest.approx(exact(1.3), rel=1e-13)
    with pytest.raises(vm.ModelError, match=r"x = 1\.5 is outside of its range, 0 to 1"):
        vm.table([0, 1], [1, 2], outside="error")(1.5)


@pytest.mark.parametrize("kind", ["linear", "pchip", "cubic"])
def test_two_variables_are_scipys(kind: Any) -> None:
    x, y = np.linspace(0, 1, 6) ** 2, np.linspace(0, 2, 7)
    z = np.random.default_rng(4).normal(size=(6, 7))
    at = np.random.default_rng(5).uniform(size=(40, 2)) * [1, 2]
    grid = RegularGridInterpolator((x, y), z, method="linear" if kind == "cubic" else kind)
    # not-a-knot splines in both directions; those of the grid are solved by iteration
    expected = RectBivariateSpline(x, y, z).ev(*at.T) if kind == "cubic" else grid(at)
    np.testing.assert_allclose(
        vm.table(x, y, z, kind=kind)(*at.T), expected, rtol=1e-11, atol=1e-12
    )


@pytest.mark.parametrize("kind", ["linear", "pchip", "cubic"])
def test_values_may_be_expressions(kind: Any) -> None:
    y, x = ca.SX.sym("y", X.size), ca.SX.sym("x")
    f = ca.Function("f", [x, y], [vm.table(X, y, kind=kind)(x)])
    gradient = ca.Function("g", [x, y], [ca.jacobian(f(x, y), y)])
    for at in INSIDE[12:20]:
        assert float(f(at, Y)) == pytest.approx(vm.table(X, Y, kind=kind)(at), rel=1e-12)
        moved = np.array([vm.table(X, Y + 1e-6 * e, kind=kind)(at) for e in np.eye(X.size)])
        back = np.array([vm.table(X, Y - 1e-6 * e, kind=kind)(at) for e in np.eye(X.size)])
        np.testing.assert_allclose(
            np.array(gradient(at, Y)).ravel(), (moved - back) / 2e-6, rtol=1e-6, atol=1e-8
        )


def pendulum(torque: object = None, motion: object = None) -> vm.Mechanism:
    m = vm.Mechanism("pendulum", gravity=(0, -9.81))
    length, height = m.parameter("L", 1.0, unit="m"), m.parameter("height", 2.0)
    m.table("law", [-2, -1, 0.2, 1, 2], ["-height", 1, 0.5, "height", 0], kind="cubic")
    m.table("kinked", [-2, -1, 0.2, 1, 2], ["-height", 1, 0.5, "height", 0])
    m.table("map", [-1, 0, 1], [0, 1, 2], [[0, "height", 2], [1, 0, 0], [3, 1, "height"]])
    m.ground_point("O", (0, 0))
    m.bar("bar", "O", "P", length=length + 0 * height, mass=1.0)
    m.revolute("O")
    if motion is None:
        m.torque("torque", "bar", torque)
        m.start(angle={"bar": 0.3})
    else:
        m.drive_angle("drive", "bar", motion)
    return m


@pytest.mark.parametrize(
    "torque", ["law(angle('bar'))", "kinked(angle('bar'))", "map(angle('bar'), t)"]
)
def test_derivatives_agree_by_all_methods(torque: str) -> None:
    m = pendulum(torque)
    gradients = {
        method: m.sensitivity(
            {"end": vm.final("angle('bar')")},
            wrt=["L", "height"],
            duration=0.9,
            tolerance=1e-11,
            method=method,
        ).final_gradient.ravel()
        for method in ("direct", "adjoint", "complex-step", "finite-difference")
    }
    assert np.abs(gradients["direct"]).min() > 1e-3
    for method, accuracy in {"adjoint": 1e-8, "complex-step": 1e-8}.items():
        np.testing.assert_allclose(gradients[method], gradients["direct"], rtol=accuracy)
    np.testing.assert_allclose(gradients["finite-difference"], gradients["direct"], rtol=1e-4)


def test_backends_agree() -> None:
    ends = [
        float(
            pendulum("kinked(angle('bar'))")
            .simulate(duration=0.7, tolerance=1e-9, backend=backend)
            .angle("bar")[-1]
        )
        for backend in ("interpreted", "auto")
    ]
    assert ends[0] == pytest.approx(ends[1], rel=1e-13)


def test_a_driver_by_a_table_moves_as_its_spline() -> None:
    times = np.linspace(0, 1, 9)
    angles = 0.3 + times**2 * np.sin(3 * times)
    spline = CubicSpline(times, angles)
    run = pendulum(motion=vm.table(times, angles, kind="cubic")).simulate(
        duration=1.0, tolerance=1e-9
    )
    t, φ = np.asarray(run.time), np.asarray(run.angle("bar"))
    np.testing.assert_allclose(φ, spline(t), atol=1e-9)
    # torque about O: inertia of a bar 1/3, weight at half of its length
    torque = spline(t, 2) / 3 + 9.81 / 2 * np.cos(spline(t))
    inner = (np.abs(t[:, None] - times[None]) > 1e-9).all(axis=1)
    np.testing.assert_allclose(np.asarray(run.effort("drive"))[inner], torque[inner], rtol=1e-7)


def test_files_hold_tables(tmp_path: Path) -> None:
    m = pendulum("map(angle('bar'), t) + law(angle('bar')) + 3 N·m * t")
    m.to_file(tmp_path / "model.yaml")
    again = vm.Mechanism.from_file(tmp_path / "model.yaml")
    assert again.to_text() == m.to_text()
    ends = [
        float(each.simulate(duration=0.5, tolerance=1e-9).angle("bar")[-1]) for each in (m, again)
    ]
    assert ends[0] == ends[1]
    (tmp_path / "lift.csv").write_text("angle; lift\n0; 0\n90; 5\n180; 1\n", encoding="utf-8")
    text = (tmp_path / "model.yaml").read_text(encoding="utf-8")
    entry = "tables:\n  lift: {file: lift.csv, units: [deg, mm], kind: pchip}\n"
    (tmp_path / "model.yaml").write_text(text.replace("tables:\n", entry), encoding="utf-8")
    read = vm.Mechanism.from_file(tmp_path / "model.yaml").data.parameter_set.tables["lift"]
    np.testing.assert_allclose(read.x, np.pi * np.array([0, 0.5, 1]), rtol=1e-15)
    np.testing.assert_allclose(read.y, [0, 5e-3, 1e-3], rtol=1e-15)
    (tmp_path / "lift.csv").write_text("0,0\n1,x\n", encoding="utf-8")
    with pytest.raises(vm.FileError, match=r"model.yaml:\d+: tables.lift.*line 2.*'x' is not"):
        vm.Mechanism.from_file(tmp_path / "model.yaml")


@pytest.mark.parametrize(
    ("text", "t", "expected"),
    [
        ("60 rpm * t", 0.5, np.pi),
        ("30 mm + t", 1.0, 1.03),
        ("5 N/(m*s)*t + 2*30 mm", 2.0, 10.06),
        ("sin(90 deg)*t", 2.0, 2.0),
    ],
)
def test_quantities_in_expressions(text: str, t: float, expected: float) -> None:
    m = pendulum(motion=text)
    run = m.simulate(duration=t, tolerance=1e-8)
    assert float(run.angle("bar")[-1]) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("30 mm/t", "'t' "),
        ("3 foo + t", "'foo' is not a unit"),
        ("t + 4 m s", "a unit follows its number"),
    ],
)
def test_units_that_mean_nothing_are_refused(text: str, says: str) -> None:
    with pytest.raises(vm.ModelError, match=says):
        pendulum(motion=text)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (([0, 1, 1, 2], [0, 1, 2, 3]), r"x\[2\] = 1\.0 repeats x\[1\] = 1; keep one"),
        (([0, 2, 1], [0, 1, 2]), r"x\[2\] = 1\.0 is less than x\[1\] = 2; sort"),
        (([0, 1, 2], [0, np.nan, 2]), r"y\[1\] = nan is not finite; remove"),
        (([0], [1]), "x has 1 values; a table has a list of two or more"),
        (([0, 1], [1, 2, 3]), r"y has the shape \(3,\), and x has 2 values"),
        (([0, 1], [0, 1, 2], [[1, 2], [3, 4]]), r"z has the shape \(2, 2\)"),
        (([0, 1], [0, "a"]), r"y\[1\] = 'a' is not a number"),
        (("missing.csv",), "'missing.csv' cannot be read: No such file"),
    ],
)
def test_bad_tables_are_refused(arguments: tuple[Any, ...], says: str) -> None:
    with pytest.raises(vm.ModelError, match=says):
        vm.table(*arguments)


def test_bad_options_are_refused() -> None:
    with pytest.raises(vm.ModelError, match="did you mean 'cubic'"):
        vm.table([0, 1], [0, 1], kind=cast(Any, "cubik"))
    with pytest.raises(vm.ModelError, match="differ; a table that repeats"):
        vm.table([0, 1], [0, 1], outside="repeat")
    with pytest.raises(vm.ModelError, match="has a meaning in texts already"):
        vm.Mechanism("m", gravity=(0, 0)).table("sin", [0, 1], [0, 1])


def test_a_kink_in_time_at_the_end_of_a_run_ends_no_step() -> None:
    """The last step would have no length; gradients failed, with or without tables."""
    bends = (
        "(maximum(angle('bar'), 0) + maximum(1 - angle('bar'), 0))*(1 + maximum(1 - t, 0))"
        " + height*maximum(t - 0.5, 0)"
    )
    objective = {"end": vm.final("angle('bar') + maximum(t - 0.5, 0) + maximum(1 - t, 0)")}
    ends = [
        pendulum(bends)
        .sensitivity(objective, wrt=["L", "height"], duration=duration, tolerance=1e-9)
        .final_gradient
        for duration in (1.0, 1.0 - 1e-7)
    ]
    np.testing.assert_allclose(ends[0], ends[1], rtol=1e-5)


def test_a_run_that_leaves_a_table_says_which_force_ends() -> None:
    m = vm.Mechanism("cart", dimension=2)
    m.ground_point("O", (0, 0))
    m.body("cart", mass=1.0, inertia=1.0, points={"P": (0, 0)})
    m.prismatic("guide", "ground.O", "cart.P", axis=(1, 0))
    push = vm.table([0, 0.5, 1.0], [1.0, 1.0, 1.0], outside="error")
    m.force("push", "cart.P", lambda s: vm.vector(push(s.displacement("guide")), 0))
    m.start(displacement={"guide": 0.0})
    with pytest.raises(vm.SimulationError, match=r"'push' is not finite .* beyond") as caught:
        m.simulate(3.0)
    assert caught.value.time == pytest.approx(2**0.5, abs=1e-6)  # x = t²/2 = 1


def test_errors_of_files_name_the_column(tmp_path: Path) -> None:
    file = tmp_path / "lift.csv"
    file.write_text("angle, lift, force\n0, 0, 1\n1, x, 2\n", encoding="utf-8")
    with pytest.raises(vm.ModelError, match="line 3, column 'lift': 'x' is not a number"):
        vm.table(file, columns=("angle", 1))
    with pytest.raises(vm.ModelError, match=r"no column 3; .* last one 2: angle, lift, force"):
        vm.table(file, columns=(0, 3))
    file.write_text("0, 0\n1, x\n", encoding="utf-8")
    with pytest.raises(vm.ModelError, match="line 2, column 2 of 2: 'x' is not a number"):
        vm.table(file)


def test_tables_without_a_mechanism_refuse_texts_and_name_those_that_take_them() -> None:
    with pytest.raises(vm.ModelError, match=r"y\[1\] = 'h' is not a number; .*m.table\(name, …\)"):
        vm.table([0, 1], [0, "h"])
    m = vm.Mechanism("texts", dimension=2)
    m.parameter("h", 0.5)
    assert (
        float(m.data.parameter_set.evaluate(m.table("lift", [0, 1], [0, "h"])(0.5)).item()) == 0.25
    )
