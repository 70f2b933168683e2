"""The command line over model files: what a new user types, what programs read, and what happens to mistakes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import varimech as vm
from varimech.cli import PANELS, app

COMMANDS = [command.__name__ for commands in PANELS.values() for command in commands]
SHORT = ("--duration", "50 ms", "--backend", "interpreted", "--tolerance", "1e-6")


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "my.yaml"
    result = CliRunner().invoke(app, ["new", str(path)])
    assert result.exit_code == 0 and f"varimech run {path}" in result.output
    return path


def called(*arguments: Any, code: int = 0) -> dict[str, Any]:
    result = CliRunner().invoke(app, [str(a) for a in arguments])
    assert result.exit_code == code, result.output
    data: dict[str, Any] = json.loads(result.output)
    return data


def refused(*arguments: Any) -> str:
    """The message of a command that cannot be carried out; `main` prints it."""
    result = CliRunner().invoke(app, [str(a) for a in arguments])
    assert isinstance(result.exception, vm.VarimechError)
    return str(result.exception)


def test_every_command_teaches() -> None:
    assert {
        "run",
        "sensitivity",
        "uncertainty",
        "optimize",
        "certify",
        "benchmark",
        "methods",
        "compare",
        "doctor",
        "new",
    } <= set(COMMANDS)
    for name in COMMANDS:
        text = CliRunner().invoke(app, [name, "--help"]).output
        assert "Example" in text or name in ("methods", "doctor"), name


def test_run_writes_a_report_the_run_and_the_model(model: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    result = CliRunner().invoke(app, ["run", str(model), "--out", str(out), *SHORT])
    assert result.exit_code == 0, result.output
    assert "report:" in result.output and {p.name for p in out.iterdir()} == {"report.html", "run.nc", "run.csv", "model.yaml"}
    assert "<canvas" in (out / "report.html").read_text(encoding="utf-8")
    meant = vm.Mechanism.from_file(model).simulate(0.05, tolerance=1e-6, backend="interpreted")
    np.testing.assert_array_equal(vm.load_run(out / "run.nc").position("P"), meant.position("P"))
    assert vm.Mechanism.from_file(out / "model.yaml").to_text() == vm.Mechanism.from_file(model).to_text()


def test_run_tells_programs_what_it_found(model: Path) -> None:
    data = called("run", model, *SHORT, "--set", "rod=260 mm", "--set", "crank=0.11", "--json")
    assert data["mechanism"] == "crank-slider" and data["duration"] == 0.05
    assert (data["parameters"]["rod"], data["parameters"]["crank"]) == (0.26, 0.11)
    equal = called("run", model, "--duration", "0.05", "--step", "1e-3", "--backend", "interpreted", "--json")
    assert equal["steps"] == 50 and equal["step"] == 1e-3


def test_sensitivity(model: Path, tmp_path: Path) -> None:
    data = called("sensitivity", model, *SHORT, "--objective", "wear", "--wrt", "rod", "--json", "--out", tmp_path / "s")
    meant = vm.Mechanism.from_file(model).study(
        "sensitivity", objectives=["wear"], wrt=["rod"], duration=0.05, tolerance=1e-6, backend="interpreted"
    )
    assert data["gradient"] == {"wear": {"rod": float(meant.gradient_history[-1, 0, 0])}}
    assert (tmp_path / "s" / "report.html").exists()


def test_uncertainty_by_moments_and_by_samples_that_are_kept(model: Path, tmp_path: Path) -> None:
    data = called("uncertainty", model, *SHORT, "--order", "1", "--json")
    assert sum(data["contributions"]["travel"].values()) == pytest.approx(1.0)
    how = ("--method", "monte-carlo", "--sampling", "sobol", "--json", "--out", tmp_path / "u")
    native = ("--duration", "50 ms", "--tolerance", "1e-6")
    few = called("uncertainty", model, *native, *how, "--samples", "64")
    more = called("uncertainty", model, *native, *how, "--samples", "128")
    assert (few["samples"], more["samples"]) == (64, 128) and (tmp_path / "u" / "samples").is_dir()
    assert more["at_end"]["travel"]["std"] == pytest.approx(data["at_end"]["travel"]["std"], rel=0.2)


def test_optimize_writes_the_better_model(model: Path, tmp_path: Path) -> None:
    data = called("optimize", model, *SHORT, "--over", "rod", "--json", "--out", tmp_path / "o")
    best = vm.Mechanism.from_file(tmp_path / "o" / "best.yaml")
    assert data["converged"] and data["objective"] <= data["objective_before"]
    assert best.parameters["rod"].value == data["parameters"]["rod"] and best.parameters["crank"].value == 0.1


def test_certify_a_file(model: Path, tmp_path: Path) -> None:
    how = ("--duration", "0.05", "--tolerance", "1e-8", "--wrt", "rod", "--objective", "travel")
    data = called("certify", model, *how, "--json", "--out", tmp_path / "c")
    assert data["trusted"] and (tmp_path / "c" / "certificate.png").exists()


def test_compare(model: Path) -> None:
    data = called("compare", model, "--duration", "20 ms", "--backend", "interpreted", "--json")
    ways = {row["way"]: row for row in data["ways"]}
    assert len(ways) == 10 and not any(row["error"] for row in ways.values())
    assert ways["tolerance=1e-08"]["deviation"] < 1e-8
    assert 0 < 50 * ways["10000 steps"]["deviation"] < ways["1000 steps"]["deviation"] < 1e-9  # order 2


def test_new_starts_from_a_benchmark_and_replaces_nothing(model: Path, tmp_path: Path) -> None:
    before = model.read_text(encoding="utf-8")
    assert "is there already" in refused("new", model) and model.read_text(encoding="utf-8") == before
    assert CliRunner().invoke(app, ["new", str(model), "--force", "--like", "pendulum"]).exit_code == 0
    assert vm.Mechanism.from_file(model).name == "pendulum"
    assert "did you mean 'pendulum'" in refused("new", tmp_path / "b.yaml", "--like", "pendulumm")


def test_schema(tmp_path: Path) -> None:
    CliRunner().invoke(app, ["schema", "--out", str(tmp_path / "s.json")])
    assert json.loads((tmp_path / "s.json").read_text(encoding="utf-8"))["title"] == "Varimech model file"


def test_mistakes(model: Path, tmp_path: Path) -> None:
    assert "`varimech new none.yaml` writes one" in refused("run", "none.yaml")
    assert "did you mean 'five-bar'" in refused("run", "fivebar")
    assert "must be a parameter and its value" in refused("run", model, "--set", "rod")
    assert "did you mean 'rod'" in refused("run", model, "--set", "rodd=1")
    assert "no objective is called 'x'" in refused("sensitivity", model, "--objective", "x")
    pendulum = tmp_path / "p.yaml"
    CliRunner().invoke(app, ["new", str(pendulum), "--like", "pendulum"])
    assert "there are no objectives" in refused("sensitivity", pendulum)
    assert "nothing to minimise" in refused("optimize", pendulum)


def test_errors_are_one_line_and_code_2(tmp_path: Path) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text("varimech: 1\nname: x\nbodeis: {}\n", encoding="utf-8")
    done = subprocess.run([sys.executable, "-m", "varimech", "run", str(path)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"error: {path}:3: bodeis: there is no such key; did you mean 'bodies'?\n"


def test_all_that_the_starter_promises(model: Path, tmp_path: Path) -> None:
    """As a new user types it, with nothing shortened."""
    for command, written in (
        ("run", "run.nc"),
        ("sensitivity", "run.nc"),
        ("uncertainty", "moments.nc"),
        ("optimize", "best.yaml"),
    ):
        result = CliRunner().invoke(app, [command, str(model), "--out", str(tmp_path / command)])
        assert result.exit_code == 0, result.output
        assert {"report.html", written} <= {p.name for p in (tmp_path / command).iterdir()}
