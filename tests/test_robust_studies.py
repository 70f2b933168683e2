"""Statistics, robust designs and allocated tolerances stated in model files: in Python, on the
command line and in reports.
"""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from chosen_bars import COSTS, TEXT, WIDTHS, C, cheapest
from scipy import stats
from typer.testing import CliRunner

import varimech as vm
from varimech.cli.app import app
from varimech.files.reading import mechanism_of_text

NATIVE = ("--backend", "native")
"""Backend for thousands of samples."""
RISK = "  reliability: {limits: {reach: {above: 1323.7 mm}}, samples: 100}\n"
MEAN = 1 + 0.3 * C[0] + 0.2 * C[1]
DEVIATION = float(np.linalg.norm(C * WIDTHS / 3))
SHORTEST = 0.1 + float(stats.norm.isf(1e-7)) * WIDTHS[0] / 3
"""Smallest nominal value of a (m) for which all but one in ten million values respect its lower
bound.
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "bars.yaml"
    path.write_text(TEXT, encoding="utf-8")
    return path


def read(text: str = TEXT) -> vm.Mechanism:
    return mechanism_of_text(vm.Mechanism, text)


def called(*arguments: Any, code: int = 0) -> dict[str, Any]:
    result = CliRunner().invoke(app, [str(a) for a in arguments])
    assert result.exit_code == code, (result.output, result.exception)
    data: dict[str, Any] = json.loads(result.output)
    return data


# --- statistics as objectives of files


def test_statistics_of_a_file_against_closed_forms() -> None:
    s = read().study("robust")
    assert isinstance(s, vm.Statistics)
    assert set(s.statistics) == {"middle", "deviation", "most", "worst_reach", "inside", "band"}
    assert s["middle"] == pytest.approx(MEAN, rel=1e-12)
    assert s["deviation"] == pytest.approx(DEVIATION, rel=1e-9)
    assert s["most"] == pytest.approx(MEAN + 3.090232306167813 * DEVIATION, rel=1e-9)
    assert s["worst_reach"] == pytest.approx(MEAN - 2 * DEVIATION, rel=1e-9)
    z = (1.3237 - MEAN) / DEVIATION
    assert s["inside"] == pytest.approx(0.5 * math.erfc(-z / math.sqrt(2)), abs=1e-9)
    assert s.bands["value"].to_numpy()[0] == pytest.approx(C[0] * 2e-4, rel=1e-9)


def test_limits_of_files_are_quantities() -> None:
    """Limits are numbers in the unit of the limited quantity."""
    exact = read().study("robust", objectives=["inside"])["inside"]
    text = TEXT.replace("at_most: 1.3237", "at_most: 1323.7 mm")
    assert read(text).study("robust", objectives=["inside"])["inside"] == pytest.approx(exact)
    with pytest.raises(vm.FileError, match="bound of 'reach': at_most = '2 kg' has the wrong dim"):
        read(TEXT.replace("at_most: 1.3237", "at_most: 2 kg"))
    m = read(TEXT + RISK)
    assert m.study("reliability").form == pytest.approx(1 - exact, rel=1e-4)


def test_values_that_are_given_move_the_tolerances_with_them() -> None:
    s = read().study("robust", objectives=["middle", "deviation"], parameters={"a": "0.4 m"})
    assert s["middle"] == pytest.approx(MEAN + 0.1 * C[0], rel=1e-12)
    assert s["deviation"] == pytest.approx(DEVIATION, rel=1e-9)


def test_correlations_of_a_robust_study() -> None:
    text = TEXT.replace(
        "robust: {statistics: moments}",
        "robust: {objectives: [deviation], correlation: [{between: [a, b], value: 0.5}]}",
    )
    parts = C * WIDTHS / 3
    expected = math.sqrt(parts @ np.array([[1, 0.5], [0.5, 1]]) @ parts)
    assert read(text).study("robust")["deviation"] == pytest.approx(expected, rel=1e-6)


def test_other_studies_leave_statistics_out_and_refuse_them_by_name() -> None:
    g = read().study("sensitivity")
    assert list(g.objective_names) == ["reach"]
    with pytest.raises(vm.ModelError, match="'deviation' is a statistic, which only robust"):
        read().study("sensitivity", objectives=["deviation"])
    with pytest.raises(vm.ModelError, match=r"statistic over the tolerances.*studies\.robust"):
        read().study("optimize", minimize="deviation")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("{std: reach}", "{std: raech}", "did you mean 'reach'"),
        ("{std: reach}", "{std: most}", "'most' is a statistic itself"),
        ("{std: reach}", "{std: deviation}", "'deviation' is a statistic itself"),
        ("{std: reach}", "{std: reach, unit: m}", "unit does not go with std"),
        ("{std: reach}", "{std: reach, mean: reach}", "std does not go with mean"),
        ("{std: reach}", "{std: {final: angle(no)}}", "'no'"),
        ("{std: reach}", "{probability: {}}", "no bounds"),
        ("{std: reach}", "{probability: {reach: {}}}", "at_least, at_most, both"),
        ("{std: reach}", "{probability: {reach: {equals: 1}}}", "exactly 1 is 0"),
        ("{std: reach}", "{quantile: reach}", "quantile needs p"),
        ("{std: reach}", "{final: t, p: 0.9}", "p belongs to statistics"),
        ("{std: reach}", "{final: t, sigma: 2}", "sigma belongs to statistics"),
    ],
)
def test_wrong_statistics_are_refused_with_their_line(old: str, new: str, message: str) -> None:
    with pytest.raises(vm.FileError, match=message) as caught:
        read(TEXT.replace(f"deviation: {old}", f"deviation: {new}"))
    assert caught.value.line == TEXT[: TEXT.index("deviation: {std")].count("\n") + 1


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("robust: {statistics: moments}", "robust: {statistics: guess}", "guess"),
        ("robust: {statistics: moments}", "robust: {over: [± c]}", "'± c'"),
        ("robust: {statistics: moments}", "robust: {objectives: [none]}", "'none'"),
        ("constraints: {deviation:", "constraints: {none:", "'none'"),
        ("curve: {deviation:", "curve: {none:", "'none'"),
        ("verify: false", "tolerances: [c]", "'c'"),
        ("verify: false", "grades: [c]", "'c'"),
    ],
)
def test_wrong_settings_are_refused_with_their_place(old: str, new: str, message: str) -> None:
    with pytest.raises(vm.FileError, match=message) as caught:
        read(TEXT.replace(old, new))
    assert caught.value.line == TEXT[: TEXT.index(old)].count("\n") + 1


def test_studies_without_what_they_need_say_what_to_give() -> None:
    m = read()
    with pytest.raises(vm.ModelError, match=r"over belongs to an optimisation.*minimize"):
        m.study("robust", over=["a"])
    with pytest.raises(vm.ModelError, match=r"'reach' is not a statistic.*\{std: reach\}"):
        m.study("robust", objectives=["reach"])
    with pytest.raises(vm.ModelError, match=r"no target.*studies\.allocate\.constraints"):
        m.study("allocate", constraints={})
    with pytest.raises(vm.ModelError, match="needs the bounds of one constraint"):
        m.study("allocation_curve", curve={})
    plain = TEXT[: TEXT.index("    middle:")] + "  simulate: {duration: 1}\n"
    with pytest.raises(vm.ModelError, match=r"no statistic among the objectives.*\{std: force\}"):
        read(plain).study("robust")


def test_names_of_statistics_are_refused_where_something_is_minimised() -> None:
    """They would have no effect, and the design would be optimised instead."""
    minimising = TEXT.replace(
        "robust: {statistics: moments}",
        "robust: {statistics: moments, minimize: worst_reach, over: [a], verify: false}",
    )
    with pytest.raises(
        vm.ModelError, match=r"objectives='deviation' has no effect.*minimises 'wor"
    ):
        read(minimising).study("robust", objectives=["deviation"])
    with pytest.raises(vm.ModelError, match=r"minimize is 'most'; leave objectives= out"):
        read().study("robust", objectives=["deviation"], minimize="most", over=["a"])
    naming = TEXT.replace("robust: {", "robust: {objectives: [deviation], ")
    assert set(read(naming).study("robust").statistics) == {"deviation"}
    goal = {"minimize": "worst_reach", "over": ["a"], "verify": False, "solver": "scipy"}
    assert isinstance(read(naming).study("robust", **goal), vm.RobustOptimum)


def test_objective_beside_a_goal_is_refused_on_the_command_line(file: Path) -> None:
    options = ["--objective", "deviation", "--minimize", "most", "--over", "a"]
    refused = CliRunner().invoke(app, ["robust", str(file), *options])
    assert isinstance(refused.exception, vm.ModelError)
    said = str(refused.exception)
    assert "--objective deviation has no effect" in said and "leave --objective out" in said


def test_files_with_statistics_are_written_as_they_were_read() -> None:
    m = read()
    again = read(m.to_text())
    assert again.to_text() == m.to_text()
    assert again.study("robust", objectives=["most"])["most"] == m.study("robust")["most"]


# --- designs


def test_allocation_of_a_file_meets_lagrange(file: Path) -> None:
    a = vm.Mechanism.from_file(file).study("allocate")
    assert isinstance(a, vm.Allocation) and a.converged
    np.testing.assert_allclose(list(a.tolerances.values()), cheapest(1e-4), rtol=1e-6)
    curve = vm.Mechanism.from_file(file).study("allocation_curve")
    assert isinstance(curve, vm.AllocationCurve)
    for s, cost in zip((5e-5, 1e-4, 2e-4), curve.cost.to_numpy(), strict=True):
        assert cost == pytest.approx(3 + (COSTS / cheapest(s)).sum(), rel=1e-7)


def test_a_robust_design_with_a_tolerance_as_a_variable() -> None:
    best = read().study(
        "robust",
        minimize="worst_reach",
        over=["a", "± b"],
        bounds={"± b": ("0.1 mm", "1 mm")},
        verify=False,
        solver="scipy",
    )
    # the lower side decreases with shorter a and with a wider tolerance of b
    assert isinstance(best, vm.RobustOptimum)
    assert best.parameters["a"] == pytest.approx(SHORTEST, rel=1e-6)
    assert best.widths["b"] == pytest.approx(1e-3, rel=1e-6)


# --- the command line and reports


def test_robust_on_the_command_line(file: Path, tmp_path: Path) -> None:
    data = called("robust", file, "--objective", "deviation", "--json", "--out", tmp_path / "r")
    row = data["statistics"]["deviation"]
    assert row["value"] == pytest.approx(DEVIATION, rel=1e-9) and row["unit"] == "m"
    derivatives = data["derivatives"]["deviation"]  # ∂s/∂t = c² t/(9 s)
    for name, expected in zip("ab", C**2 * WIDTHS / (9 * DEVIATION), strict=True):
        assert derivatives[f"± {name}"] == pytest.approx(expected, rel=1e-6)
    page = (tmp_path / "r" / "report.html").read_text(encoding="utf-8")
    assert '<section id="statistics">' in page and "effects on deviation" in page
    assert {"statistics.nc", "statistics.csv"} <= {p.name for p in (tmp_path / "r").iterdir()}


def test_a_robust_design_on_the_command_line(file: Path, tmp_path: Path) -> None:
    options = ("--minimize", "most", "--over", "a", "--verify", "500", *NATIVE)
    data = called("robust", file, *options, "--json", "--out", tmp_path / "r")
    assert data["parameters"]["a"] == pytest.approx(SHORTEST, rel=1e-6)
    assert data["verification"]["samples"] == 500
    best = vm.Mechanism.from_file(tmp_path / "r" / "best.yaml")
    assert best.parameters["a"].value == pytest.approx(SHORTEST, rel=1e-6)
    page = (tmp_path / "r" / "report.html").read_text(encoding="utf-8")
    assert "Not verified by independent samples" not in page
    refused = CliRunner().invoke(app, ["robust", str(file), "--verify", "some"])
    assert refused.exit_code == 2


def test_allocate_on_the_command_line(file: Path, tmp_path: Path) -> None:
    out = tmp_path / "a"
    data = called("allocate", file, "--curve", "--verify", "200", *NATIVE, "--json", "--out", out)
    assert data["tolerances"] == pytest.approx(
        dict(zip("ab", cheapest(1e-4), strict=True)), rel=0.2
    )  # targets are shifted if samples show an error of the method
    assert data["verification"]["samples"] == 200 and len(data["curve"]) == 3
    rows = list(csv.DictReader((out / "tolerances.csv").read_text(encoding="utf-8").splitlines()))
    assert [row["parameter"] for row in rows] == ["a", "b"] and rows[0]["unit"] == "mm"
    tolerance = float(rows[0]["tolerance"].removeprefix("±"))
    assert 0 < 1e3 * data["tolerances"]["a"] - tolerance < 2e-3 * 1e3 * data["tolerances"]["a"] + 1
    allocated = vm.Mechanism.from_file(out / "allocated.yaml")
    for name, t in data["tolerances"].items():
        assert allocated.parameters[name].distribution.width == pytest.approx(t, rel=1e-12)
        assert allocated.parameters[name].distribution.cost is not None
    page = (out / "report.html").read_text(encoding="utf-8")
    for key in ("allocation", "verification", "curve"):
        assert f'<section id="{key}">' in page
    assert "before and after" in page


def test_a_target_that_no_tolerance_reaches_says_how_close_it_comes(file: Path) -> None:
    file.write_text(TEXT.replace("at_most: 1e-4", "at_most: 1e-7"), encoding="utf-8")
    result = CliRunner().invoke(app, ["allocate", str(file)])
    assert isinstance(result.exception, vm.InfeasibleError)


def test_distributions_before_and_after_are_those_of_the_designs() -> None:
    a = read().study("allocate")
    assert a.designs is not None
    with pytest.raises(vm.ModelError, match="samples = 0 must be a whole number"):
        a.designs.distributions(0)
    (d,) = a.designs.distributions(300)
    assert d.name == "deviation" and d.unit == "m"
    assert d.before.std() == pytest.approx(DEVIATION, rel=0.15)
    assert d.after.std() == pytest.approx(1e-4, rel=0.15)
