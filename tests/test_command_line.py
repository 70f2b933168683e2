"""The command line over model files: what a new user types, what programs read, and what happens to
mistakes.
"""

from __future__ import annotations

import json
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
import typer
from typer.main import get_command
from typer.testing import CliRunner

import varimech as vm
from varimech.benchmarks import BENCHMARKS
from varimech.cli import benchmark, studies, study_output
from varimech.cli.app import app
from varimech.cli.output_files import give_json
from varimech.cli.study_output import StudyOutput, StudyRequest, conduct
from varimech.core.atomic_files import atomic_write

pytestmark = pytest.mark.usefixtures("ctrl_c_heard")

COMMANDS = list(get_command(app).commands)  # type: ignore[attr-defined]
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


@pytest.mark.parametrize("name", COMMANDS)
def test_help_fits_in_80_columns_and_its_examples_have_options_that_exist(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = CliRunner().invoke(app, [name, "--help"]).output.splitlines()
    assert max(len(line) for line in lines) <= 80
    command = get_command(app).commands[name]  # type: ignore[attr-defined]
    examples = re.findall(r"^ *(varimech .+)$", command.help, flags=re.MULTILINE)
    assert examples == [line.strip() for line in lines if line.startswith("   varimech ")]
    for example in (part for line in examples for part in line.split(" && ")):
        program, *words = shlex.split(example)
        if program == "varimech":
            get_command(app).commands[words[0]].make_context(words[0], words[1:])  # type: ignore[attr-defined]


def test_run_writes_a_report_the_run_and_the_model(model: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    result = CliRunner().invoke(app, ["run", str(model), "--out", str(out), *SHORT])
    assert result.exit_code == 0, result.output
    assert "report:" in result.output and {p.name for p in out.iterdir()} == {
        "report.html",
        "run.nc",
        "run.csv",
        "model.yaml",
    }
    assert "<canvas" in (out / "report.html").read_text(encoding="utf-8")
    meant = vm.Mechanism.from_file(model).simulate(0.05, tolerance=1e-6, backend="interpreted")
    np.testing.assert_array_equal(vm.load_run(out / "run.nc").position("P"), meant.position("P"))


def test_the_model_beside_the_results_is_the_one_that_ran(model: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    data = called("run", model, "--set", "rod=260 mm", *SHORT, "--json", "--out", out)
    written = vm.Mechanism.from_file(out / "model.yaml")
    assert written.parameters["rod"].value == 0.26 and "value: 0.26" in (
        out / "report.html"
    ).read_text(encoding="utf-8")
    again = called("run", out / "model.yaml", "--json")
    assert all(again[key] == data[key] for key in ("duration", "steps", "tolerance", "parameters"))
    assert again["energy_change"] == pytest.approx(data["energy_change"], rel=1e-6)


def test_a_value_that_is_given_leaves_others_of_the_file(model: Path, tmp_path: Path) -> None:
    text = model.read_text(encoding="utf-8").replace(
        "simulate: {", "simulate: {parameters: {rod: 260 mm}, "
    )
    model.write_text(text, encoding="utf-8")
    data = called("run", model, *SHORT, "--set", "crank=0.11", "--json", "--out", tmp_path / "out")
    assert data["parameters"] == {"crank": 0.11, "rod": 0.26, "stiffness": 200.0}
    written = vm.Mechanism.from_file(tmp_path / "out" / "model.yaml")
    assert {name: p.value for name, p in written.parameters.items()} == data["parameters"]


def test_what_cannot_be_written_or_shown_is_refused_before_anything_is_computed(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        vm.Mechanism, "study", lambda self, kind, **changes: pytest.fail("it was computed")
    )
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert "give a writable folder" in refused("run", model, "--out", tmp_path / "file")
    assert "backend = 'slow'" in refused(
        "run", model, "--backend", "slow", "--out", tmp_path / "out"
    )
    for show in ("{trace: [Z]}", "{reaction: [Z]}", "{angle: [Z]}", "{effort: [Z]}"):
        text = model.read_text(encoding="utf-8").split("  show:")[0]
        (tmp_path / "bad.yaml").write_text(f"{text}  show: {show}\n", encoding="utf-8")
        words = refused("run", tmp_path / "bad.yaml", "--out", tmp_path / "out")
        assert f"studies.show.{show[1:].partition(':')[0]}" in words and "'Z'" in words


def test_run_reports_results_to_programs(model: Path) -> None:
    data = called("run", model, *SHORT, "--set", "rod=260 mm", "--set", "crank=0.11", "--json")
    assert data["mechanism"] == "crank-slider" and data["duration"] == 0.05
    assert (data["parameters"]["rod"], data["parameters"]["crank"]) == (0.26, 0.11)
    equal = called(
        "run", model, "--duration", "0.05", "--step", "1e-3", "--backend", "interpreted", "--json"
    )
    assert equal["steps"] == 50 and equal["step"] == 1e-3


def test_sensitivity(model: Path, tmp_path: Path) -> None:
    data = called(
        "sensitivity",
        model,
        *SHORT,
        "--objective",
        "wear",
        "--wrt",
        "rod",
        "--json",
        "--out",
        tmp_path / "s",
    )
    meant = vm.Mechanism.from_file(model).study(
        "sensitivity",
        objectives=["wear"],
        wrt=["rod"],
        duration=0.05,
        tolerance=1e-6,
        backend="interpreted",
    )
    assert data["gradient"] == {"wear": {"rod": float(meant.gradient_history[-1, 0, 0])}}
    assert (tmp_path / "s" / "report.html").exists()


def test_uncertainty_by_moments_and_by_samples_that_are_kept(model: Path, tmp_path: Path) -> None:
    data = called("uncertainty", model, *SHORT, "--order", "1", "--json")
    assert sum(data["contributions"]["travel"].values()) == pytest.approx(1.0)
    options = ("--method", "monte-carlo", "--sampling", "sobol", "--json", "--out", tmp_path / "u")
    native = ("--duration", "50 ms", "--tolerance", "1e-6")
    few = called("uncertainty", model, *native, *options, "--samples", "64")
    more = called("uncertainty", model, *native, *options, "--samples", "128")
    assert (few["samples"], more["samples"]) == (64, 128) and (tmp_path / "u" / "samples").is_dir()
    assert more["at_end"]["travel"]["std"] == pytest.approx(
        data["at_end"]["travel"]["std"], rel=0.2
    )


def test_values_that_are_given_move_tolerances_and_starts(model: Path, tmp_path: Path) -> None:
    options = (*SHORT, "--set", "rod=260 mm", "--json")
    moved = called("uncertainty", model, *options, "--order", "1", "--out", tmp_path / "u")
    again = called("uncertainty", tmp_path / "u" / "model.yaml", "--json")
    nominal = called("run", model, *options)
    meant = vm.Mechanism.from_file(model).study(
        "sensitivity",
        objectives=["travel"],
        parameters=nominal["parameters"],
        duration=0.05,
        tolerance=1e-6,
        backend="interpreted",
    )
    sigmas = np.array([0.5e-3, 1e-3, 10.0]) / 3
    assert moved["at_end"]["travel"]["std"] == pytest.approx(
        float(np.linalg.norm(meant.gradient_history[-1, 0] * sigmas)), rel=1e-6
    )
    assert again["at_end"]["travel"] == {
        key: pytest.approx(value) for key, value in moved["at_end"]["travel"].items()
    }
    best = vm.Mechanism.from_file(model).study(
        "optimize",
        parameters={"rod": "260 mm", "stiffness": 100.0},
        duration=0.02,
        step=1e-3,
        constraints={},
        max_iterations=1,
    )
    assert best.before.info["parameters"] == {"crank": 0.1, "rod": 0.26, "stiffness": 100.0}
    model.write_text(
        model.read_text(encoding="utf-8").replace(
            "tolerance: 1 mm", "distribution: {name: uniform, loc: 0.24, scale: 0.015}"
        ),
        encoding="utf-8",
    )
    assert "has a distribution with a mean of its own; change it in the file" in refused(
        "uncertainty", model, *options
    )


def test_certify_a_file(model: Path, tmp_path: Path) -> None:
    options = ("--duration", "0.05", "--tolerance", "1e-8", "--wrt", "rod", "--objective", "travel")
    data = called("certify", model, *options, "--json", "--out", tmp_path / "c")
    assert data["trusted"] and (tmp_path / "c" / "certificate.png").exists()


def test_compare(model: Path) -> None:
    data = called("compare", model, "--duration", "20 ms", "--backend", "interpreted", "--json")
    ways = {row["scheme"]: row for row in data["schemes"]}
    assert len(ways) == 10 and not any(row["error"] for row in ways.values())
    assert ways["tolerance=1e-08"]["deviation"] < 1e-8
    assert (
        0 < 50 * ways["10000 steps"]["deviation"] < ways["1000 steps"]["deviation"] < 1e-9
    )  # order 2


def test_new_starts_from_a_benchmark_and_replaces_nothing(model: Path, tmp_path: Path) -> None:
    before = model.read_text(encoding="utf-8")
    assert "exists already" in refused("new", model) and model.read_text(encoding="utf-8") == before
    assert (
        CliRunner().invoke(app, ["new", str(model), "--force", "--like", "pendulum"]).exit_code == 0
    )
    assert vm.Mechanism.from_file(model).name == "pendulum"
    assert "did you mean 'pendulum'" in refused("new", tmp_path / "b.yaml", "--like", "pendulumm")


def test_new_from_urdf_in_any_case(tmp_path: Path) -> None:
    robot = tmp_path / "R.URDF"
    robot.write_text('<robot name="r"><link name="base"/></robot>', encoding="utf-8")
    assert f"`varimech new R.yaml --like {robot}`" in refused("run", robot)
    result = CliRunner().invoke(app, ["new", str(tmp_path / "r.yaml"), "--like", str(robot)])
    assert "benchmark or URDF" not in str(result.exception)


def test_a_folder_hides_no_benchmark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pendulum").mkdir()
    assert called("topology", "pendulum", "--json")


def test_names_are_not_markup(model: Path) -> None:
    text = model.read_text(encoding="utf-8").replace("name: crank-slider", "name: '[bold] [red]x'")
    model.write_text(text, encoding="utf-8")
    result = CliRunner().invoke(
        app, ["compare", str(model), "--duration", "2 ms", "--backend", "interpreted"]
    )
    assert result.exit_code == 0 and "[bold] [red]x, 0.002 s" in result.output


MONTE_CARLO = ["--duration", "50 ms", "--tolerance", "1e-6", "--method", "monte-carlo"]


def test_json_has_no_nan(model: Path, tmp_path: Path) -> None:
    def strict(text: str) -> Any:
        return json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))

    arguments = ["uncertainty", str(model), *MONTE_CARLO, "--samples", "1", "--json"]
    result = CliRunner().invoke(app, arguments)
    assert strict(result.output)["at_end"]["travel"]["std"] is None
    give_json({"a": [float("inf"), 1.0]}, False, tmp_path / "new" / "a.json")
    assert strict((tmp_path / "new" / "a.json").read_text(encoding="utf-8")) == {"a": [None, 1.0]}


def test_more_samples_than_requested_are_reported(model: Path, tmp_path: Path) -> None:
    options = (*MONTE_CARLO, "--out", tmp_path / "u", "--json", "--samples")
    called("uncertainty", model, *options, 20)
    assert (
        "20 samples from earlier runs exceed the 10 requested"
        in called("uncertainty", model, *options, 10)["notes"][0]
    )


def test_every_command_speaks_to_programs(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "new.yaml"
    assert called("new", path, "--json") == {"files": [str(path)]} and path.exists()
    called("methods", "--json", "--out", tmp_path / "a" / "methods.json")
    assert json.loads((tmp_path / "a" / "methods.json").read_text(encoding="utf-8"))["methods"]
    for name in set(COMMANDS) - {"studio"}:  # which has a page, and no result
        options = {option for p in get_command(app).commands[name].params for option in p.opts}  # type: ignore[attr-defined]
        assert "--json" in options or name == "schema", name
        assert "--out" in options or name == "new", name


def test_the_report_of_a_benchmark_compares_and_has_its_model(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["benchmark", "pendulum", "--out", str(tmp_path)])
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert (
        result.exit_code == 0 and "Compared with reference values" in text and "passed</td>" in text
    )
    assert 'id="download-model"' in text


def test_a_full_disk_is_reported_after_the_result(model: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    arguments = ["varimech", "run", str(model), "--out", str(out), *SHORT]
    code = f"""
import resource, sys
from varimech.cli import main
from varimech.core.atomic_files import atomic_write

sys.argv = {arguments!r}
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
main()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and done.stdout.startswith("<Run of 'crank-slider'"), done.stderr
    assert (
        done.stderr.count("\n") == 1 and "run.nc cannot be written: File too large" in done.stderr
    )
    assert [p.name for p in out.iterdir()] == ["model.yaml"]


def test_a_file_that_cannot_be_written_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: Path, text: str, encoding: str) -> None:
        self.write_bytes(text[:1].encode())
        raise OSError(27, "File too large")

    monkeypatch.setattr(Path, "write_text", full)
    assert (
        "File too large" in refused("schema", "--out", tmp_path / "s.json")
        and list(tmp_path.iterdir()) == []
    )


def test_schema(tmp_path: Path) -> None:
    CliRunner().invoke(app, ["schema", "--out", str(tmp_path / "deep" / "s.json")])
    assert (
        json.loads((tmp_path / "deep" / "s.json").read_text(encoding="utf-8"))["title"]
        == "Varimech model file"
    )


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
    done = subprocess.run(
        [sys.executable, "-m", "varimech", "run", str(path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"error: {path}:3: bodeis: there is no such key; did you mean 'bodies'?\n"


def test_what_the_starter_promises(model: Path, tmp_path: Path) -> None:
    """As a new user types it, with nothing shortened; the better model is written too."""
    result = CliRunner().invoke(app, ["run", str(model), "--out", str(tmp_path / "run")])
    assert result.exit_code == 0, result.output
    data = called("optimize", model, "--json", "--out", tmp_path / "optimum")
    best = vm.Mechanism.from_file(tmp_path / "optimum" / "best.yaml")
    assert (
        data["converged"]
        and data["objective"] < data["objective_before"]
        and (tmp_path / "optimum" / "report.html").exists()
    )
    assert {name: best.parameters[name].value for name in ("crank", "rod")} == data["parameters"]
    assert best.parameters["stiffness"].value == 200.0


def asked_of(model: Path, *, as_json: bool = False, out: Path | None = None) -> StudyRequest:
    settings = {"duration": 0.02, "step": 1e-3, "backend": "interpreted"}
    return StudyRequest(vm.Mechanism.from_file(model), "simulate", settings, as_json, out)


def ctrl_c(*_: Any) -> None:
    signal.raise_signal(signal.SIGINT)


def test_ctrl_c_while_a_result_is_shown_does_not_lose_it(
    model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def tell(run: vm.Run) -> StudyOutput:
        ctrl_c()
        return StudyOutput(f"{run.time.size} times", {}, (run,))

    asked = asked_of(model)
    with pytest.raises(typer.Exit) as ended:
        conduct(asked, asked.executed, tell)
    assert ended.value.exit_code == 130 and capsys.readouterr() == ("21 times\n", "stopped\n")


def half_written(then: Callable[[Path], None]) -> Callable[[Path], None]:
    """Write half of a file, and then do something else with it."""

    def save(path: Path) -> None:
        with atomic_write(path) as beside:
            beside.write_text("half", encoding="utf-8")
            then(beside)

    return save


def test_ctrl_c_while_files_are_written_leaves_those_that_are_whole(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    asked = asked_of(model, as_json=True, out=out)
    with pytest.raises(typer.Exit) as ended:
        conduct(
            asked,
            asked.executed,
            lambda run: StudyOutput(
                "told", {}, (run,), {"run.nc": run.save, "x": half_written(lambda _: ctrl_c())}
            ),
        )
    data = json.loads(capsys.readouterr().out)
    assert (
        ended.value.exit_code == 130 and data["stopped"] == "stopped before all files were written"
    )
    assert data["files"] == [str(out / name) for name in ("model.yaml", "run.nc")]
    assert sorted(p.name for p in out.iterdir()) == ["model.yaml", "run.nc"]


def test_files_that_cannot_be_written_leave_the_result_shown(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(beside: Path) -> None:
        raise OSError(27, "File too large", str(beside))

    out = tmp_path / "out"
    asked = asked_of(model, out=out)
    with pytest.raises(vm.ModelError, match=r"out/x cannot be written: File too large"):
        conduct(
            asked,
            asked.executed,
            lambda run: StudyOutput("told", {}, (run,), {"x": half_written(full)}),
        )
    assert capsys.readouterr().out.startswith("told\n") and [p.name for p in out.iterdir()] == [
        "model.yaml"
    ]


@pytest.mark.parametrize("few", [20, 21])
def test_long_runs_have_small_files(
    few: int, model: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    run = asked_of(model).executed()
    width = sum(array.size for array in run.dataset.values()) // 21
    monkeypatch.setattr(study_output, "FEW", few)
    monkeypatch.setattr(study_output, "MOST_NUMBERS", 11 * width)
    monkeypatch.setattr(study_output, "MOST_IN_TABLES", 10 * width)
    files, notes = study_output.run_files(run)
    assert (
        list(files) == ["run.nc"]
        and "run.nc has 11 of 21 stored times" in notes[0]
        and "run.csv" in notes[1]
    )
    files["run.nc"](tmp_path / "run.nc")
    np.testing.assert_array_equal(
        vm.load_run(tmp_path / "run.nc").angle("rod"), run.angle("rod")[::2]
    )


def test_a_gradient_survives_the_end_of_its_certificate() -> None:
    class Gradient:
        def certify(self, wanted: float) -> None:
            ctrl_c()

    gradient = Gradient()
    with pytest.raises(vm.Interrupted, match="before the gradient was certified") as caught:
        studies.certified(cast(vm.Gradient, gradient), 3.0)
    assert caught.value.result == (gradient, None)


def test_ctrl_c_before_there_is_a_result_is_reported(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vm.Mechanism, "study", ctrl_c)
    result = CliRunner().invoke(app, ["uncertainty", str(model)])
    assert (result.exit_code, result.stdout, result.stderr) == (
        130,
        "",
        "stopped; nothing was computed yet\n",
    )


def test_ctrl_c_leaves_the_ways_and_benchmarks_up_to_then(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, calls = vm.Problem.run, iter(range(100))

    def third(self: vm.Problem) -> Any:
        if next(calls) == 3:
            ctrl_c()
        return run(self)

    monkeypatch.setattr(vm.Problem, "run", third)
    result = CliRunner().invoke(
        app, ["compare", str(model), "--duration", "2 ms", "--backend", "interpreted", "--json"]
    )
    assert (
        result.exit_code == 130
        and len(json.loads(result.stdout)["schemes"]) == 2
        and "stopped after 2 of 10 schemes" in result.stderr
    )

    class Other:
        solve = staticmethod(ctrl_c)

    monkeypatch.setattr(
        benchmark, "BENCHMARKS", {"pendulum": BENCHMARKS["pendulum"], "other": Other()}
    )
    result = CliRunner().invoke(app, ["benchmark", "all", "--json"])
    assert result.exit_code == 130 and [row["benchmark"] for row in json.loads(result.stdout)] == [
        "pendulum"
    ]
    assert "stopped after 1 of 2 benchmarks" in result.stderr


def test_ctrl_c_while_commands_are_imported() -> None:
    code = """
import signal, sys
import varimech.cli

class Interrupting:
    def find_spec(self, name, *others):
        if name == "varimech.cli.studies":
            signal.raise_signal(signal.SIGINT)

sys.meta_path.insert(0, Interrupting())
varimech.cli.main()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (
        130,
        "",
        "stopped; nothing was computed yet\n",
    )
