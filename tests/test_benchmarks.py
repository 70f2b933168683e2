"""The benchmark library: every benchmark passes with its own settings, none passes vacuously, and
the command line tells what it found.
"""

from __future__ import annotations

import json
import math
import runpy
import sys
from functools import cache
from pathlib import Path
from typing import Any

import casadi as ca
import chain_reference
import clearance_reference
import numpy as np
import pytest
import slider_crank_exact
import tree_reference
from scipy.integrate import solve_ivp
from typer.testing import CliRunner

import varimech as vm
from varimech.benchmarks import (
    BENCHMARKS,
    Entry,
    Outcome,
    andrews,
    bouncing_ball,
    chain,
    clearance_slider_crank,
    find_benchmark,
    four_bar,
    friction_oscillator,
    pendulum,
    rocking_block,
    slider_crank_tolerance,
    spatial_slider_crank,
    tree,
)
from varimech.benchmarks.outcome import Check, Checked, check_point, row_at, stored_every, worst
from varimech.cli.app import app


@cache
def solved(name: str) -> Outcome:
    return find_benchmark(name).solve(backend="auto")  # for the times, they compile by default


# every benchmark, through the registry


@pytest.mark.parametrize("name", BENCHMARKS)
def test_passes_with_its_own_settings(name: str) -> None:
    outcome = solved(name)
    assert outcome.passed, [c for c in outcome.checks if not c.passed]
    assert len(outcome.checks) >= 4


@pytest.mark.parametrize("name", BENCHMARKS)
def test_json_has_what_every_benchmark_has(name: str) -> None:
    data = json.loads(json.dumps(solved(name).to_json(), allow_nan=False))
    assert {"benchmark", "method", "passed", "checks", "seconds"} <= set(data)
    assert data["benchmark"] == name
    assert data["method"]
    assert data["passed"] is True
    assert set(data["seconds"]) == {"build", "run"}
    assert all(seconds > 0 for seconds in data["seconds"].values())
    for check in data["checks"]:
        assert set(check) == {"name", "value", "reference", "tolerance", "passed"}
        assert all(type(check[key]) is float for key in ("value", "reference", "tolerance"))
        assert check["passed"] is (abs(check["value"] - check["reference"]) <= check["tolerance"])
    names = [check["name"] for check in data["checks"]]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("five-bar", {"Ls1": 2.2362}),
        ("pendulum", {"L": 1.000001}),
        ("four-bar", {"m_rod": 1.001}),
        ("andrews", {"k": 4530.01}),
        ("bricard", {"m3": 1.000001}),
        ("governor", {"l0": 0.50001}),
        ("spatial-slider-crank", {"k1": 100.001}),
        ("flexible-slider-crank", {"E": 2.00001e9}),
        ("tree", {"z_bell": -0.100001}),
        ("chain", {"m_last": 1.000001}),
        ("two-balls", {"x1": 1e-6}),
        ("bouncing-ball", {"e": 0.900001}),
        ("friction-oscillator", {"F": 1.000001}),
        ("clearance-slider-crank", {"c": 1.000001e-3}),
        ("newtons-cradle", {"v1": 1.000001}),
        ("rocking-block", {"h": 0.500001}),
        ("sliding-block", {"mu": 0.400001}),
        ("rotating-pendulum", {"L": 0.400001}),
        ("cam-follower", {"e": 0.01000001}),
        ("rolling-disc", {"r": 0.300001}),
        ("gear-train", {"r": 0.040001}),
        ("bicycle", {"c": 0.0800001}),
    ],
)
def test_a_slightly_wrong_mechanism_fails(name: str, parameters: dict[str, float]) -> None:
    assert not find_benchmark(name).solve(parameters=parameters, backend="auto").passed


@pytest.mark.parametrize("name", BENCHMARKS)
def test_no_tolerance_is_as_large_as_what_it_checks(name: str) -> None:
    for check in solved(name).checks:
        assert check.tolerance < 1e-2 * abs(check.reference) or check.reference == 0
        moved = Check(
            check.name, check.value, check.reference + 10 * check.tolerance, check.tolerance
        )
        assert not moved.passed


# one by one


def test_andrews_has_the_documented_start() -> None:
    run = andrews.mechanism().simulate(1e-4, step=1e-5, integrator="dopri5")
    β, FE = (float(run.angular_acceleration(body)[0]) for body in ("OF", "FE"))
    assert β == pytest.approx(14222.4439199541, rel=1e-13)
    assert FE - β == pytest.approx(-10666.8329399656, rel=1e-13)
    points = {
        "F": (0.0069866741, -0.0004317231),
        "E": (-0.0209600223, 0.0012951692),
        "G": (-0.0339972039, 0.0164619717),
    }
    points |= {"H": (-0.0316331345, -0.0156188687), "D": (-0.0104723939, 0.0253577885)}
    for point, place in points.items():
        np.testing.assert_allclose(run.position(point)[0], place, atol=1e-10, rtol=0)


def test_slider_crank_with_a_tolerance_has_references_by_hand() -> None:
    b = slider_crank_tolerance
    times = np.array([0.0, *b.EXACT])
    force = slider_crank_exact.reaction(times, b.MASS)
    mean, deviation = slider_crank_exact.exact_moments(times, b.MASS, b.TOLERANCE / 3)
    np.testing.assert_allclose(
        np.column_stack([force, mean, deviation])[1:], list(b.EXACT.values()), rtol=0, atol=2e-9
    )


def test_andrews_closes_at_the_rounded_start_too() -> None:
    run = andrews.mechanism(andrews.ROUNDED_START).simulate(1e-4, step=1e-5, integrator="dopri5")
    expected = {"β": -0.0620, "Θ": 2.14587e-4, "γ": 0.4552798121, "Φ": 0.2226683759}
    expected |= {"δ": 0.4873649811, "Ω": -0.2226683759, "ε": 1.2305474392}
    computed = andrews.angles(run, 0.0)
    assert computed == pytest.approx(expected, abs=2e-10)


def test_andrews_can_be_differentiated_for_each_of_its_parameters() -> None:
    objectives = {"x of F": vm.final(lambda s: s.position("F")[0], unit="m")}
    both = {
        method: andrews.mechanism().sensitivity(
            objectives, duration=0.01, step=1e-4, integrator="dopri5", method=method
        )
        for method in ("direct", "finite-difference")
    }
    direct, differences = (gradient.gradient_history[-1, 0] for gradient in both.values())
    assert direct.shape == (5,)
    assert np.abs(direct).min() > 0
    np.testing.assert_allclose(direct, differences, rtol=1e-5)


def test_four_bar_equation_agrees_with_the_published_points() -> None:
    for windows, places in four_bar.PLACES.items():
        θ = four_bar.crank_angle(windows, np.array([0.0, *places]))[1:]
        np.testing.assert_allclose(
            np.column_stack([np.cos(θ), np.sin(θ)]), list(places.values()), atol=1e-10
        )


def test_four_bar_has_one_degree_of_freedom_and_all_its_links() -> None:
    m = four_bar.mechanism(5)
    assert m.dofs == 1
    assert len(m.data.moving_bodies) == 11
    run = m.simulate(0.01, step=1e-3)
    np.testing.assert_allclose(run.velocity("B0")[0], (1, 0), atol=1e-14)
    np.testing.assert_allclose(run.position("B5")[0], (5, 1), atol=1e-14)


def slider_crank_alone(times: list[float]) -> dict[str, np.ndarray]:
    """The spatial slider-crank with one coordinate: M(θ) θ̈ + ½ M' θ̇² + V' = 0, and its
    sensitivities, by SciPy's DOP853.

    The crank turns by θ about x. B follows; C is where the rod meets the x axis; the universal
    joint keeps the rod's second axis at right angles to x. All derivatives by CasADi.
    """
    θ, ω, ψ = (ca.SX.sym(s) for s in ("θ", "ω", "ψ"))
    ρ = ca.SX.sym("ρ", 4)
    k1, k2, r, m = ca.vertsplit(ρ)
    A, D, E = ca.DM([0, 0.1, 0.12]), ca.DM([0.5, 0, 0]), ca.DM([0, 0.1, 0.4])
    arm = ca.vertcat(0, -ca.sin(θ), ca.cos(θ))
    B, crank = A + r * arm, A + 0.04 * arm
    C = ca.vertcat(ca.sqrt(0.3**2 - B[1] ** 2 - B[2] ** 2), 0, 0)
    rod = (B + C) / 2
    along = (C - B) / 0.3
    across = ca.cross(ca.DM([1, 0, 0]), along)
    across = across / ca.norm_2(across)
    R = ca.horzcat(along, across, ca.cross(along, across))
    spin = R.T @ ca.reshape(ca.jacobian(ca.vec(R), θ), 3, 3)
    turn = ca.vertcat(spin[2, 1], spin[0, 2], spin[1, 0])

    def squared_rate(point: ca.SX) -> ca.SX:
        return ca.sumsqr(ca.jacobian(point, θ))

    M = 0.12 * squared_rate(crank) + 1e-4 + 0.5 * squared_rate(rod) + m * squared_rate(C)
    M += ca.dot(ca.DM([4e-4, 4e-3, 4e-3]), turn**2)
    V = 9.81 * (0.12 * crank[2] + 0.5 * rod[2])
    V += k1 / 2 * (ca.norm_2(C - D) - 0.3) ** 2 + k2 / 2 * (ca.norm_2(B - E) - 0.2) ** 2
    speed = ca.jacobian(C[0], θ) * ω
    y = ca.vertcat(θ, ω, ψ)
    f = ca.vertcat(ω, -(ca.jacobian(M, θ) * ω**2 / 2 + ca.jacobian(V, θ)) / M, speed**2)
    S = ca.SX.sym("S", 3, 4)
    derivatives = ca.vertcat(f, ca.vec(ca.jacobian(f, y) @ S + ca.jacobian(f, ρ)))
    rates = ca.Function("rates", [ca.vertcat(y, ca.vec(S)), ρ], [derivatives])
    nominal = [100.0, 50.0, 0.08, 2.0]
    start = np.array([0.0, 6.0, 0.0, *np.zeros(12)])
    solution = solve_ivp(
        lambda t, z: rates(z, nominal).full().ravel(),
        (0.0, times[-1]),
        start,
        method="DOP853",
        rtol=1e-12,
        atol=1e-12,
        t_eval=times,
    )
    measures = ca.Function("measures", [θ, ω, ρ], [C[0], speed, R @ turn * ω])
    return {
        "crank": solution.y[0],
        "slider": np.array([float(measures(z[0], z[1], nominal)[0]) for z in solution.y.T]),
        "ψ": solution.y[2],
        "gradient": solution.y[3:].T.reshape(-1, 4, 3)[:, :, 2],
        "start": np.concatenate([x.full().ravel() for x in measures(0.0, 6.0, nominal)]),
    }


def test_slider_crank_references_come_from_one_equation_of_motion() -> None:
    alone = slider_crank_alone(list(spatial_slider_crank.SLIDER))
    np.testing.assert_allclose(alone["start"], (0.2, 0.24, 1.92, -0.96, 0.48), atol=1e-14)
    np.testing.assert_allclose(
        alone["slider"], list(spatial_slider_crank.SLIDER.values()), atol=2e-11
    )
    np.testing.assert_allclose(
        alone["crank"], list(spatial_slider_crank.CRANK.values()), atol=2e-11
    )
    assert alone["ψ"][-1] == pytest.approx(spatial_slider_crank.PSI, abs=2e-11)
    np.testing.assert_allclose(
        alone["gradient"][-1], list(spatial_slider_crank.PSI_GRADIENT.values()), rtol=1e-8
    )


def test_tree_references_come_from_another_program() -> None:
    times = [1.0, 2.0]
    alone = tree_reference.reference(times, tolerance=1e-11)
    for point, places in tree.PLACES.items():
        np.testing.assert_allclose(alone["places"][point], [places[t] for t in times], atol=2e-11)
    assert alone["ψ"] == pytest.approx(tree.PSI, abs=2e-11)
    assert alone["gradient"] == pytest.approx(tree.PSI_GRADIENT, rel=1e-9)


def test_tree_has_all_its_degrees_of_freedom() -> None:
    m = tree.mechanism()
    assert m.dofs == 1 + 1 + 3 + 2 + 2 + 0 + 3 + 6
    assert len(m.data.moving_bodies) == 8


def test_chain_references_come_from_its_equations_of_motion() -> None:
    for bars, places in chain.PLACES.items():
        alone = chain_reference.places(bars, chain.DURATIONS[bars], tolerance=1e-12)
        for point, place in places.items():
            np.testing.assert_allclose(alone[int(point[1:]) - 1], place, atol=1e-10)
    ψ, gradient = chain_reference.objective(10, chain.DURATIONS[10])
    assert ψ == pytest.approx(chain.PSI, abs=1e-10)
    assert gradient == pytest.approx(chain.PSI_GRADIENT, rel=1e-10)


def test_pendulum_has_the_exact_period() -> None:
    # 4 √(L/g) K(k = sin 45°) by the arithmetic-geometric mean, K = π / (2 agm(1, cos 45°))
    a, b = 1.0, math.cos(math.pi / 4)
    for _ in range(6):
        a, b = (a + b) / 2, math.sqrt(a * b)
    assert pendulum.period() == pytest.approx(4 / math.sqrt(9.81) * math.pi / (2 * a), rel=1e-14)


def test_slider_crank_with_clearance_has_references_by_hand() -> None:
    b = clearance_slider_crank
    values, gradients = clearance_reference.reference(b.DURATION)
    np.testing.assert_allclose([values[f"t{k}"] for k in (1, 2, 3)], b.IMPACTS, rtol=1e-11)
    assert gradients["c"]["t1"] == pytest.approx(b.FIRST_IMPACT_BY_CLEARANCE, rel=1e-11)
    for name, (value, derivatives) in zip(("x", "y", "crank"), b.FINAL.values(), strict=True):
        assert values[name] == pytest.approx(value, rel=1e-11)
        assert {p: gradients[p][name] for p in b.PARAMETERS} == pytest.approx(derivatives, rel=1e-9)


def test_closed_forms_of_impacts_and_friction_agree_with_known_numbers() -> None:
    """Computed independently, and given with the problems."""
    height, derivatives = bouncing_ball.flight(2.0)
    assert height == pytest.approx(0.2709775163542642, rel=1e-14)
    assert derivatives == pytest.approx({"h": -1.93983693535874, "e": -3.74859448896392}, rel=1e-13)
    assert bouncing_ball.accumulation() == pytest.approx(8.13870580068427, rel=1e-14)
    x, by = friction_oscillator.references()["final x"]
    assert x == pytest.approx(0.682178936723647, rel=1e-13)
    assert (by["x0"], by["v0"]) == pytest.approx((-13 / 205**0.5, -6 / 205**0.5), rel=1e-14)
    assert friction_oscillator.reversal_times()[-1] == pytest.approx(22.4235563506991, rel=1e-14)


def test_rocking_block_has_its_times_and_angle_by_integration_too() -> None:
    b = rocking_block
    block = b.Block(**b.NOMINAL)
    assert b.first_impact() == pytest.approx(block.times[0].real, rel=1e-13)
    α, p = block.α.real, block.p.real

    def impact(t: float, y: np.ndarray) -> float:
        return float(y[0])

    impact.terminal, impact.direction = True, -1  # type: ignore[attr-defined]
    t, y, times = 0.0, np.array([b.NOMINAL["theta0"], 0.0]), []  # the size of the angle
    while t < b.DURATION:
        solution = solve_ivp(
            lambda _, y: (y[1], -(p**2) * math.sin(α - y[0])),
            (t, b.DURATION),
            y,
            method="DOP853",
            rtol=1e-13,
            atol=1e-15,
            events=impact,
        )
        t, y = solution.t[-1], solution.y[:, -1]
        if solution.status == 1:
            times.append(t)
            y = np.array([0.0, -y[1] * block.r.real])
    np.testing.assert_allclose(times, [z.real for z in block.times[: b.IMPACTS]], rtol=1e-12)
    assert (-1) ** len(times) * y[0] == pytest.approx(block.angle.real, rel=1e-10)


# what they are made of


def test_a_value_that_is_not_a_number_does_not_pass() -> None:
    checks = [
        Check("fine", 1.0, 1.0, 1e-3),
        Check("broken", math.nan, 1.0, 1e-3),
        Check("off", 2.0, 1.0, 1e-3),
    ]
    assert [c.passed for c in checks] == [True, False, False]
    assert worst(checks).name == "broken"


def test_only_stored_times_are_checked() -> None:
    run = pendulum.mechanism().simulate(0.1, step=0.01)
    assert row_at(run, 0.03) == 3
    with pytest.raises(vm.ModelError, match=r"0\.035 s is not among the stored times"):
        check_point(run, "mass", 0.035, (0, 0), 1.0)


def test_rows_are_stored_at_whole_intervals_where_steps_fit() -> None:
    assert stored_every({"step": 1e-3}, 0.01) == {"step": 1e-3, "every": 10}
    assert stored_every({"step": 3e-3}, 0.01) == {"step": 3e-3}
    assert stored_every({"tolerance": 1e-8}, 0.01) == {"tolerance": 1e-8}
    assert stored_every({"step": 1e-3, "every": 2}, 0.01)["every"] == 2


@pytest.mark.parametrize(
    ("own", "given", "used"),
    [
        ({"tolerance": 1e-10}, {"step": 0.1}, {"step": 0.1}),
        (
            {"integrator": "dopri5", "step": 0.1},
            {"tolerance": 1e-8},
            {"integrator": "dopri5", "tolerance": 1e-8},
        ),
        ({"step": 0.1}, {"integrator": "rk4"}, {"step": 0.1, "integrator": "rk4"}),
        ({"step": 0.1}, {}, {"step": 0.1}),
    ],
)
def test_a_step_replaces_a_tolerance_and_the_other_way_round(
    own: dict[str, object],
    given: dict[str, Any],
    used: dict[str, object],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[object] = []
    monkeypatch.setattr(pendulum, "SETTINGS", own)
    monkeypatch.setattr(pendulum, "run", seen.append)
    Entry("", "pendulum").solve(backend="auto", **given)
    assert seen == [{**used, "backend": "auto"}]


# the command line


def test_studies_count_among_seconds() -> None:
    study = pendulum.mechanism().monte_carlo(
        vm.final(lambda s: s.parameter("L")),
        {"L": vm.Tolerance(0.01)},
        duration=0.1,
        step=0.1,
        samples=2,
    )
    assert Checked("none", (), (), dict, (study,)).seconds == study.seconds


def test_the_package_can_be_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["varimech", "benchmark", "list", "--json"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("varimech", run_name="__main__")
    assert ended.value.code == 0
    assert "pendulum" in capsys.readouterr().out


def test_list_names_all_benchmarks() -> None:
    result = CliRunner().invoke(app, ["benchmark", "list", "--json"])
    assert [entry["benchmark"] for entry in json.loads(result.stdout)] == list(BENCHMARKS)


def test_command_writes_figures_9_and_10_of_andrews(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["benchmark", "andrews", "--out", str(tmp_path)])
    assert result.exit_code == 0, result.output
    pictures = {"figure9_energy.png", "figure10_point_f.png", "mechanism.png"}
    assert {p.name for p in tmp_path.iterdir()} == {*pictures, "results.json", "report.html"}
    assert all(p.stat().st_size > 10_000 for p in tmp_path.glob("*.png"))
    assert json.loads((tmp_path / "results.json").read_text())["passed"] is True
    assert "1 result files and 3 figures" in result.stdout


def only(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Leave out the other benchmarks, which take their time."""
    for name in set(BENCHMARKS) - set(names):
        monkeypatch.delitem(BENCHMARKS, name)


def test_all_prints_one_list_and_writes_a_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    only(monkeypatch, "pendulum", "bricard")
    page = tmp_path / "docs" / "library.md"
    result = CliRunner().invoke(
        app, ["benchmark", "all", "--json", "--page", str(page), "--out", str(tmp_path)]
    )
    assert result.exit_code == 0, result.output
    assert [data["benchmark"] for data in json.loads(result.stdout)] == ["pendulum", "bricard"]
    text = page.read_text(encoding="utf-8")
    assert "## pendulum" in text and "| [bricard](#bricard) | 10 |" in text
    assert text.count("passed |") == 2 + sum(len(solved(name).checks) for name in BENCHMARKS)
    assert (tmp_path / "bricard" / "mechanism.png").exists()


def test_all_fails_where_one_fails_and_says_which_check(monkeypatch: pytest.MonkeyPatch) -> None:
    only(monkeypatch, "pendulum", "five-bar")
    result = CliRunner().invoke(
        app,
        ["benchmark", "all", "--step", "2e-2", "--integrator", "trapezoidal"],
        env={"COLUMNS": "160"},
    )
    assert result.exit_code == 1
    assert "five-bar" in result.stdout and "failed" in result.stdout


def test_all_goes_on_where_one_cannot_be_run(monkeypatch: pytest.MonkeyPatch) -> None:
    only(monkeypatch, "pendulum", "andrews")
    result = CliRunner().invoke(
        app, ["benchmark", "all", "--step", "0.1", "--json"]
    )  # longer than the whole run of one
    assert result.exit_code == 2
    assert "error: andrews" in result.output
    assert '"benchmark": "pendulum"' in result.output
