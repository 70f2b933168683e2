"""Fits that model files state: data in the text or in CSV files, in Python, on the command line, and
as a job of the studio.
"""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from studio_pages import served, wait_until
from typer.testing import CliRunner

import varimech as vm
from varimech.cli.app import app
from varimech.files.reading import mechanism_of_text
from varimech.identification import fitting
from varimech.studio.session import Session

CHROMIUM = shutil.which("chromium")
PENDULUM = """\
varimech: 1
name: pendulum
gravity: [0, -9.81]
parameters:
  L: {value: 1.1 m, unit: m, bounds: [0.5, 2]}
  c: {value: 0.3, unit: N*m*s, bounds: [0, 2]}
ground: {O: [0, 0]}
bodies:
  rod: {bar: [O, tip], length: L, mass: 3}
joints: {O: revolute}
forces:
  loss: {torque: rod, value: -c*angular_velocity("rod")}
start: {angle: {rod: -1.0}}
studies:
  simulate: {duration: 2, tolerance: 1e-8}
  fit:
    over: [L, c]
    data:
      swing: {value: angle("rod"), file: swing.csv, columns: [time, angle], units: [ms, deg], unit: rad, sigma: 0.1 deg}
"""
TRUE = {"L": 0.9, "c": 0.5}


@pytest.fixture(scope="module")
def samples() -> tuple[np.ndarray, np.ndarray]:
    """Times (s) and angles (rad) of the true pendulum, by tighter steps, with noise of 0.1°."""
    m = mechanism_of_text(vm.Mechanism, PENDULUM)
    time = np.linspace(0.05, 2.0, 40)
    run = m.simulate(2.0, tolerance=1e-11, output=[0.0, *time], parameters=TRUE)
    noise = np.random.default_rng(0).normal(0.0, np.radians(0.1), time.size)
    return time, run.angle("rod").to_numpy()[1:] + noise


@pytest.fixture
def file(tmp_path: Path, samples: tuple[np.ndarray, np.ndarray]) -> Path:
    rows = [f"{1e3 * t:.6f},{np.degrees(a):.12f}" for t, a in zip(*samples, strict=True)]
    (tmp_path / "swing.csv").write_text("\n".join(["time,angle", *rows]), encoding="utf-8")
    (tmp_path / "pendulum.yaml").write_text(PENDULUM, encoding="utf-8")
    return tmp_path / "pendulum.yaml"


def test_a_fit_of_a_file_is_that_of_python(
    file: Path, samples: tuple[np.ndarray, np.ndarray]
) -> None:
    fit = vm.Mechanism.from_file(file).study("fit")
    assert isinstance(fit, vm.Fit) and fit.converged
    m = mechanism_of_text(vm.Mechanism, PENDULUM)
    data = vm.measurement(lambda s: s.angle("rod"), *samples, np.radians(0.1), unit="rad")
    stated = m.fit({"swing": data}, ["L", "c"], duration=2.0, tolerance=1e-8)
    for name, true in TRUE.items():
        assert fit.parameters[name] == pytest.approx(stated.parameters[name], rel=1e-7)
        low, high = (float(fit.dataset[side].sel(parameter=name)) for side in ("lower", "upper"))
        assert low < true < high and high - low < 0.03 * true
    assert fit.goodness.chi2 == pytest.approx(stated.goodness.chi2, rel=1e-6)


def test_a_fit_ends_with_its_data(file: Path) -> None:
    """As in Python: no duration is needed."""
    with_one = vm.Mechanism.from_file(file).study("fit")
    assert isinstance(with_one, vm.Fit)
    file.write_text(PENDULUM.replace("duration: 2, ", ""), encoding="utf-8")
    fit = vm.Mechanism.from_file(file).study("fit")
    assert isinstance(fit, vm.Fit) and fit.run.time[-1] == 2.0
    assert fit.parameters == with_one.parameters
    file.write_text(PENDULUM.replace("duration: 2", "duration: 1"), encoding="utf-8")
    with pytest.raises(
        vm.ModelError, match=r"ends before the last sample, at 2 s; simulate longer"
    ):
        vm.Mechanism.from_file(file).study("fit")


def test_data_in_the_text(samples: tuple[np.ndarray, np.ndarray], file: Path) -> None:
    times, values = ([round(float(x), 12) for x in column] for column in samples)
    text = PENDULUM.replace(
        "file: swing.csv, columns: [time, angle], units: [ms, deg]",
        f"times: {times}, values: {values}",
    )
    found = mechanism_of_text(vm.Mechanism, text).study("fit", over=["L"], parameters={"c": 0.5})
    assert set(found.parameters) == {"L", "c"} and found.parameters["c"] == 0.5
    assert found.parameters["L"] == pytest.approx(0.9, abs=2e-3)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("file: swing.csv", "file: none.csv"), "none.csv.*cannot be read"),
        (("columns: [time, angle]", "columns: [time, angel]"), "angel"),
        (("file: swing.csv, ", ""), "either a file, or times and values"),
        (("file: swing.csv", "file: swing.csv, times: [1], values: [1]"), "either a file, or"),
        (("sigma: 0.1 deg", "sigma: 0.1 kg"), "kg"),
        (("units: [ms, deg]", "units: [ms]"), "units"),
        (("units: [ms, deg]", "units: [ms, mm]"), "units = 'mm' has the wrong dim.* expected rad"),
        (("units: [ms, deg]", "units: [deg, ms]"), "units = 'deg' has the wrong dim.* expected s"),
    ],
)
def test_wrong_data_are_refused_when_they_are_used(
    file: Path, change: tuple[str, str], message: str
) -> None:
    file.write_text(PENDULUM.replace(*change), encoding="utf-8")
    m = vm.Mechanism.from_file(file)  # a model without its data is still one
    with pytest.raises(vm.ModelError, match=message):
        m.study("fit")


def test_wrong_expressions_are_refused_with_their_line(file: Path) -> None:
    file.write_text(PENDULUM.replace('angle("rod"), file', 'angle("rot"), file'), encoding="utf-8")
    with pytest.raises(vm.FileError, match=r"studies\.fit\.data\.swing.*rot") as caught:
        vm.Mechanism.from_file(file)
    assert caught.value.line == PENDULUM[: PENDULUM.index("swing:")].count("\n") + 1


def test_models_without_data_say_how_to_state_some() -> None:
    text = PENDULUM[: PENDULUM.index("  fit:")]
    with pytest.raises(vm.ModelError, match=r"no measured data.*studies\.fit\.data"):
        mechanism_of_text(vm.Mechanism, text).study("fit")


def test_the_command_writes_the_fitted_model(file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    result = CliRunner().invoke(app, ["fit", str(file), "--json", "--out", str(out)])
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)["parameters"]
    assert found["L"] == pytest.approx(0.9, abs=2e-3)
    assert (out / "report.html").is_file()
    fitted = vm.Mechanism.from_file(out / "fitted.yaml")  # its data are found from there
    assert fitted.parameters["L"].value == pytest.approx(found["L"], rel=1e-9)
    again = fitted.study("fit")
    assert again.parameters["L"] == pytest.approx(found["L"], rel=1e-6)


def test_pages_read_no_data_outside_the_folder(file: Path, tmp_path: Path) -> None:
    session = Session(vm.Mechanism, PENDULUM, file)
    session.edit(PENDULUM.replace("file: swing.csv", "file: ../secret.csv"))
    assert session.problem is not None and "outside the folder" in str(session.problem["message"])
    with pytest.raises(vm.ModelError, match="errors"):
        session.start_job("fit")
    outside = PENDULUM.replace("file: swing.csv", f"file: {tmp_path.parent / 'x.csv'}")
    assert Session(vm.Mechanism, outside, file).problem is None  # the opened file itself names it


def finished(session: Session) -> dict[str, Any]:
    for _ in range(600):
        state = session.jobs.state()
        assert state is not None
        if state["status"] != "running":
            return state
        time.sleep(0.1)
    raise AssertionError("the job does not end")


def test_a_fit_is_a_job_that_can_be_cancelled(file: Path) -> None:
    session = Session(vm.Mechanism, PENDULUM, file)
    session.start_job("fit")
    session.jobs.cancel()
    assert finished(session)["status"] == "cancelled" and session.values == {}


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium to look at the studio with")
def test_a_fit_is_started_on_the_page_and_taken_over(file: Path) -> None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as p, served(PENDULUM, file) as studio:
        browser = p.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1400, "height": 900})
        page.goto(studio.address)
        wait_until(page, "studio.drawn.length > 0")
        page.get_by_role("tab", name="Designs").click()
        page.get_by_role("button", name="Fit", exact=True).click()
        wait_until(page, "!studio.designs.take.hidden")
        assert "χ²" in page.locator("#designs .result").inner_text()
        page.get_by_role("button", name="Take over").click()
        wait_until(page, f"studio.text.source.value !== {json.dumps(PENDULUM)}")
        browser.close()
    found = mechanism_of_text(vm.Mechanism, studio.text, file).parameters
    for name, true in TRUE.items():
        assert found[name].value == pytest.approx(true, rel=0.01)


def test_posteriors_of_a_file(file: Path, tmp_path: Path) -> None:
    m = vm.Mechanism.from_file(file)
    found = m.study("fit", posterior="laplace", seed=3)
    same = m.study("fit").posterior(seed=3)
    assert found.mean.to_numpy() == pytest.approx(same.mean.to_numpy(), rel=1e-7)
    with pytest.raises(vm.ModelError, match="draws belongs to the posterior; give posterior="):
        m.study("fit", draws=10)
    out = tmp_path / "out"
    arguments = ["fit", str(file), "--posterior", "laplace", "--out", str(out), "--json"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    table = json.loads(result.output)["posterior"]["table"]
    assert table["L"]["lower"] < 0.9 < table["L"]["upper"]
    assert (out / "posterior.nc").exists() and (out / "fitted.yaml").exists()
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "Posterior distribution" in page and "prediction of swing" in page


def test_a_posterior_that_fails_keeps_the_fit(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(self: vm.Fit, **options: Any) -> vm.Posterior:
        raise vm.ModelError("not curved like a normal distribution", element="posterior")

    monkeypatch.setattr(vm.Fit, "posterior", failing)
    out = tmp_path / "out"
    arguments = ["fit", str(file), "--posterior", "laplace", "--out", str(out)]
    result = CliRunner().invoke(app, arguments)
    assert isinstance(result.exception, vm.ModelError) and "not curved" in str(result.exception)
    assert "χ²" in result.stdout and (out / "fitted.yaml").exists()


def test_ctrl_c_keeps_the_best_values(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    evaluated, calls = fitting._Residuals._evaluated, []

    def stopped(self: Any, x: np.ndarray) -> Any:
        calls.append(1)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return evaluated(self, x)

    monkeypatch.setattr(fitting._Residuals, "_evaluated", stopped)
    result = CliRunner().invoke(app, ["fit", str(file), "--json"])
    assert result.exit_code == 130, result.output
    data = json.loads(result.stdout)
    assert data["stopped"] == "stopped after 4 runs" and not data["converged"]
