"""The five-bar benchmark: Table 1, order of convergence, independently computed trajectories,
invariants, two methods for every derivative.
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import varimech as vm
from varimech.benchmarks import five_bar
from varimech.cli.app import app
from varimech.schemes import choose

Pair = tuple[vm.Gradient, vm.Gradient]
Reference = dict[str, np.ndarray]
CONVERGED_VALUES = np.array([0.7268774613, 7.342287793, 304.9206932])
"""ψ(5 s), computed independently (see data/README.md)."""
CONVERGED_GRADIENT = np.array(
    [
        [-4.2288109, 3.2116041, 0.3186567, 0.4423507, 3.3598099],
        [-15.4520691, 50.3087849, 0.9701235, 0.7456023, -27.3592400],
        [221.6400682, 2436.6073476, -32.4975227, -85.6567185, -2546.5902029],
    ]
)


@pytest.fixture(scope="module")
def fine() -> five_bar.FiveBar:
    return five_bar.run({"step": 1e-3})


@pytest.fixture(scope="module")
def reference() -> Reference:
    with (Path(__file__).parent / "data" / "five_bar.csv").open() as file:
        rows = list(csv.DictReader(file))
    return {key: np.array([float(row[key]) for row in rows]) for key in rows[0]}


def test_six_unknowns_and_four_constraints_without_the_user_doing_anything() -> None:
    mechanism = five_bar.mechanism()
    equations = mechanism._solvers.of(choose(1.0)[0]).equations
    assert equations.q.numel() == 6
    assert equations.constraints.numel() == 4
    assert mechanism.dofs == 2


def test_table_1_with_a_tenth_of_the_tolerance(fine: five_bar.FiveBar) -> None:
    assert fine.passed
    assert (fine.errors < five_bar.TOLERANCES / 10).all()
    assert fine.combined_error < 0.21


def test_a_wrong_sensitivity_fails_the_benchmark(
    fine: five_bar.FiveBar, monkeypatch: pytest.MonkeyPatch
) -> None:
    shifted = five_bar.REFERENCE.copy()
    shifted[0, 0] += 2e-3
    monkeypatch.setattr(five_bar, "REFERENCE", shifted)
    assert not fine.passed


def test_order_two_of_objectives_and_gradients() -> None:
    coarse, finer = (five_bar.run({"step": h}).solution for h in (4e-3, 1e-3))
    for get, exact in (
        (lambda s: s.value_history[-1][:, None], CONVERGED_VALUES[:, None]),
        (lambda s: s.gradient_history[-1], CONVERGED_GRADIENT),
    ):
        errors = [np.linalg.norm(get(s) - exact, axis=-1) for s in (coarse, finer)]
        order = np.log(errors[0] / errors[1]) / np.log(4)
        np.testing.assert_allclose(order, 2.0, atol=0.1)


@pytest.fixture(scope="module")
def pair(fine: five_bar.FiveBar) -> Pair:
    """Solutions with two steps, for Richardson's extrapolation: the h² error cancels, what remains
    is of order h⁴.
    """
    return five_bar.run({"step": 2e-3}).solution, fine.solution


def extrapolated(pair: Pair, get: Callable[[vm.Gradient], Any]) -> np.ndarray:
    coarse, fine = (np.asarray(get(s)) for s in pair)
    assert not np.array_equal(coarse, fine)  # two solutions, not one
    return (4 * fine - coarse) / 3


@pytest.mark.parametrize(
    ("kind", "prefix", "atol"),
    [("position", "", 2e-8), ("velocity", "d", 1e-7), ("acceleration", "dd", 1e-6)],
)
@pytest.mark.parametrize("point", ["1", "2", "3"])
def test_points_agree_with_the_independent_solution(
    pair: Pair, reference: Reference, kind: str, prefix: str, atol: float, point: str
) -> None:
    np.testing.assert_allclose(pair[1].time, reference["t"], atol=1e-12)
    for c in ("x", "y"):
        ours = extrapolated(pair, lambda s, c=c: getattr(s.run, kind)(point).sel(component=c))  # type: ignore[misc]
        np.testing.assert_allclose(ours, reference[f"{prefix}{c}{point}"], atol=atol, rtol=0)


@pytest.mark.parametrize(
    ("bar", "column", "turn"),
    [("A1", "thA1", 0), ("12", "th12", 0), ("23", "th23", 0), ("3B", "thB3", math.pi)],
)
def test_angles_agree_with_the_independent_solution(
    pair: Pair, reference: Reference, bar: str, column: str, turn: Any
) -> None:
    # bar 3B is drawn from 3 to B here, from B to 3 there: half a turn apart
    np.testing.assert_allclose(
        extrapolated(pair, lambda s: s.run.angle(bar)), reference[column] + turn, atol=2e-8
    )
    np.testing.assert_allclose(
        extrapolated(pair, lambda s: s.run.angular_velocity(bar)),
        reference[f"d{column}"],
        atol=1e-7,
    )


def test_distances_agree_with_the_independent_solution(pair: Pair, reference: Reference) -> None:
    for point, name in (("1", "s1"), ("2", "s2")):
        columns = extrapolated(
            pair,
            lambda s, point=point: five_bar.FiveBar(s)._distance_rates(point),  # type: ignore[misc]
        )
        for column, prefix, atol in zip(columns, ("", "d", "dd"), (2e-8, 1e-7, 1e-6), strict=True):
            np.testing.assert_allclose(column, reference[f"{prefix}{name}"], atol=atol)


@pytest.mark.parametrize("i", range(3))
def test_objectives_and_gradients_over_time_agree_with_the_independent_solution(
    pair: Pair, reference: Reference, i: int
) -> None:
    objective = five_bar.OBJECTIVES[i]
    column = reference[objective]
    np.testing.assert_allclose(
        extrapolated(pair, lambda s: s.value_history[:, i]),
        column,
        atol=1e-7 * np.abs(column).max(),
    )
    for j, parameter in enumerate(five_bar.PARAMETERS):
        column = reference[f"d{objective}_d{parameter}"]
        ours = extrapolated(pair, lambda s, j=j: s.gradient_history[:, i, j])  # type: ignore[misc]
        np.testing.assert_allclose(ours, column, atol=1e-7 * np.abs(column).max())


def test_start_is_the_published_one(fine: five_bar.FiveBar) -> None:
    start = (
        fine.solution.run.acceleration("1").isel(time=0),
        fine.solution.run.acceleration("2").isel(time=0),
    )
    np.testing.assert_allclose(start[0], [5.07413793, -5.07413793], atol=1e-8)
    np.testing.assert_allclose(start[1], [0, -12.68534483], atol=1e-8)
    moved = fine.solution.run.position("3", wrt="L_A1").isel(time=0)
    np.testing.assert_allclose(moved, [-math.sqrt(0.5), -math.sqrt(0.5)], atol=1e-12)


def test_constraints_hold_at_all_three_levels(fine: five_bar.FiveBar) -> None:
    assert max(fine.solution.run.info["residuals"]) < 1e-9


def test_energy_drift_falls_with_order_two() -> None:
    drifts = []
    for h in (8e-3, 4e-3, 2e-3):
        energy = five_bar.mechanism().simulate(5.0, step=h).energy()
        drifts.append(float(abs(energy - energy[0]).max()))
    orders = np.log2(np.array(drifts[:-1]) / drifts[1:])
    np.testing.assert_allclose(orders, 2.0, atol=0.15)
    assert drifts[-1] < 1e-3


def generously_parametrised() -> vm.Mechanism:
    """The five-bar with stiffnesses, every mass, an initial angle and a joint on the ground as
    parameters.
    """
    m = vm.Mechanism("five-bar", gravity=(0, -9.81))
    k1, k2 = m.parameter("k1", 100.0), m.parameter("k2", 100.0)
    masses = {
        bar: m.parameter(f"m_{bar}", value)
        for bar, value in (("A1", 1.0), ("12", 1.5), ("23", 1.5), ("3B", 1.0))
    }
    angle = m.parameter("angle_A1", -3 * math.pi / 4)
    x_B, y_B = m.parameter("x_B", 1.0), m.parameter("y_B", 0.0)
    m.ground_point("A", (0, 0))
    m.ground_point("B", (x_B, y_B))
    for bar, length in (("A1", 2**0.5), ("12", 3.25**0.5), ("23", 3.25**0.5), ("3B", 2**0.5)):
        m.bar(bar, bar[0], bar[1], length=length, mass=masses[bar])
    for joint in "A123B":
        m.revolute(joint)
    m.spring("s1", "1", "B", stiffness=k1, natural_length=5**0.5)
    m.spring("s2", "2", "B", stiffness=k2, natural_length=4.25**0.5)
    m.start(angle={"A1": angle, "12": math.atan2(-1, 1.5)}, near={"3": (2, -1)})
    return m


@pytest.mark.parametrize("build", [five_bar.mechanism, generously_parametrised])
def test_direct_equals_central_differences_of_the_program(build: object) -> None:
    assert callable(build)
    m: vm.Mechanism = build()
    reaction = {
        "reaction": vm.integral(lambda s: vm.dot(s.reaction("B"), s.reaction("B"))),
        "end": vm.final(lambda s: s.angle("23")),
    }
    objectives = {**five_bar.objectives(), **reaction}
    direct, differences = (
        m.sensitivity(objectives, duration=2.0, step=4e-3, method=method)
        for method in ("direct", "finite-difference")
    )
    np.testing.assert_allclose(
        direct.gradient_history[-1], differences.gradient_history[-1], rtol=1e-6
    )
    assert not np.array_equal(direct.gradient_history[-1], differences.gradient_history[-1])
    path, path_by_differences = (g.run.position("2", wrt="all") for g in (direct, differences))
    np.testing.assert_allclose(path, path_by_differences, atol=2e-7 * float(abs(path).max()))


def test_command_prints_one_json_object_and_nothing_else() -> None:
    result = CliRunner().invoke(app, ["benchmark", "five-bar", "--step", "5e-3", "--json"])
    assert result.exit_code == 0
    data = json.loads(result.stdout)
    common = {"benchmark", "method", "passed", "checks", "seconds"}
    assert set(data) == common | {"step", "objectives", "sensitivities", "error", "combined_error"}
    assert data["benchmark"] == "five-bar"
    assert data["step"] == pytest.approx(5e-3)
    assert np.array(data["sensitivities"]).shape == (3, 5)
    assert len(data["objectives"]) == len(data["error"]) == 3
    assert data["passed"] is True
    assert set(data["seconds"]) == {"build", "run"}


def test_command_fails_where_the_tolerance_is_missed() -> None:
    result = CliRunner().invoke(app, ["benchmark", "five-bar", "--step", "2e-2", "--json"])
    assert result.exit_code == 1
    assert json.loads(result.stdout)["passed"] is False


def test_command_writes_the_files_of_the_benchmark(tmp_path: Path, reference: Reference) -> None:
    result = CliRunner().invoke(
        app, ["benchmark", "five-bar", "--step", "1e-3", "--out", str(tmp_path)]
    )
    assert result.exit_code == 0, result.output
    assert (
        "figures" in result.stdout.splitlines()[-2]
        and (tmp_path / "report.html").stat().st_size > 5e5
    )
    names = {
        "DynDistances",
        "DynAngles",
        "Dynp2",
        "Dyndp2dt",
        "Dynd2p2dt2",
        "SensitObjfunc1",
        "SensitObjfunc2",
        "SensitObjfunc3",
    }
    assert {p.stem for p in tmp_path.glob("*.csv")} == names
    assert len(list(tmp_path.glob("figure[2-6]_*.png"))) == 5
    rows = np.loadtxt(tmp_path / "results.txt")
    assert rows.shape == (3, 6)
    np.testing.assert_allclose(rows[:, :5], five_bar.REFERENCE, rtol=2e-4)
    table = np.genfromtxt(tmp_path / "DynDistances.csv", delimiter=",", names=True)
    for column in ("s1", "ds1", "dds1", "s2", "ds2", "dds2"):
        # the step leaves an error of order h² in the motion
        np.testing.assert_allclose(
            table[column], reference[column], atol=2e-4 * np.abs(reference[column]).max(), rtol=0
        )
