"""Small motions in the studio: modes that move, and eigenvalues that follow a slider."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from studio_pages import served, wait_until

import varimech as vm
from varimech.benchmarks import BENCHMARKS
from varimech.studio.live import Live
from varimech.studio.session import Session
from varimech.studio.worker import OutOfDate, Worker

CHROMIUM = shutil.which("chromium")
ISOLATOR = """\
varimech: 1
name: isolator
parameters:
  k: {value: 800 N/m, unit: N/m, bounds: [200 N/m, 1800 N/m]}
  c: {value: 4 N*s/m, unit: N*s/m, bounds: [-2, 80]}
ground:
  O: [0, 0]
bodies:
  machine: {mass: 2, inertia: 1, points: {P: [0, 0], Q: [0.1, 0.1]}}
joints:
  guide: {prismatic: [ground.O, machine.P], axis: [1, 0]}
forces:
  mount: {force: machine.P, value: [-k*displacement("guide") - c*displacement_rate("guide"), 0]}
start:
  displacement: {guide: 0.1}
studies:
  simulate: {duration: 0.5, step: 0.01}
"""
"""2 ẍ + c ẋ + k x = 0: λ² + c/2 λ + k/2 = 0."""


def roots(k: float, c: float) -> np.ndarray:
    return np.roots([2.0, c, k])


@pytest.fixture(scope="module")
def session() -> Session:
    return Session(vm.Mechanism, ISOLATOR)


def engine_of(session: Session) -> Any:
    assert session.engine is not None
    return session.engine


def test_modes_follow_the_values(session: Session) -> None:
    engine = engine_of(session)
    for values in ({}, {"k": 1250.0, "c": 10.0}):
        content: Any = engine.modes(values).content
        (mode,) = content["modes"]
        λ = max(roots(values.get("k", 800.0), values.get("c", 4.0)), key=np.imag)
        assert mode["growth"] == pytest.approx(λ.real, rel=1e-9)
        assert mode["frequency"] == pytest.approx(λ.imag / (2 * np.pi), rel=1e-9)
        assert mode["damping"] == pytest.approx(-λ.real / abs(λ), rel=1e-9)


def test_the_locus_is_that_of_the_quadratic(session: Session) -> None:
    session.look_at(parameter="c")
    message = engine_of(session).locus({"k": 800.0, "c": 7.0})
    content: Any = message.content
    assert content["ends"] == (-2.0, 80.0) and content["unit"] == "N*s/m"
    arrays = [np.frombuffer(part, "<f8") for _, part in message._parts]
    λ = np.array(arrays[0::2]).T + 2j * np.pi * np.array(arrays[1::2]).T
    for c, row in zip(np.linspace(-2.0, 80.0, len(λ)), λ, strict=True):
        np.testing.assert_allclose(
            np.sort_complex(row), np.sort_complex(roots(800.0, c)), rtol=1e-8
        )
    (crossing,) = content["crossings"]
    assert crossing["value"] == pytest.approx(0.0, abs=1e-9)
    assert crossing["frequency"] == pytest.approx(20 / (2 * np.pi), rel=1e-9)


@pytest.mark.parametrize("coordinates", ["natural", "rtdyn0"])
def test_a_mode_as_a_motion_is_the_mode_that_is_drawn(coordinates: str) -> None:
    m = vm.Mechanism.from_file(BENCHMARKS["five-bar"].model_file)
    modes = m.modes("start", coordinates=coordinates)
    run = modes.motion(2, amplitude=1e-3, frames=8)
    frequency = float(modes.frequency[1])
    assert run.time[-1] == pytest.approx(1 / frequency)
    places = run.paths(list(modes.point_names))
    rates = run.path_rates(list(modes.point_names))
    shape = modes.shapes.sel(mode=2)
    scale = 1e-3 / float(np.linalg.norm(shape, axis=-1).max())
    for point, rest in zip(modes.point_names, modes.position_array, strict=True):
        u = (
            shape.sel(point=point).to_numpy()
            * scale
            * np.exp(2j * np.pi * np.arange(9) / 8)[:, None]
        )
        # relative coordinates turn points on circles: (1 mm)² over lengths of about 1 m
        np.testing.assert_allclose(places[point], rest + u.real, atol=2e-6)
        np.testing.assert_allclose(
            rates[point], (2j * np.pi * frequency * u).real, atol=2e-6 * 2 * np.pi * frequency
        )


def test_motions_of_modes_refuse_what_makes_no_sense(tmp_path: Any, session: Session) -> None:
    modes = engine_of(session).mechanism.modes()
    for wrong in ({"mode": 2}, {"frames": 1}, {"seconds": 0.0}, {"amplitude": -1.0}):
        with pytest.raises(vm.ModelError):
            modes.motion(**wrong)
    modes.save(tmp_path / "modes.nc")
    with pytest.raises(vm.ModelError, match="read from a file"):
        vm.Modes.load(tmp_path / "modes.nc").motion()


def test_what_has_no_linear_equations_is_refused_with_a_reason() -> None:
    session = Session(
        vm.Mechanism, BENCHMARKS["clearance-slider-crank"].model_file.read_text(encoding="utf-8")
    )
    for kind in ("modes", "locus"):
        content: Any = getattr(engine_of(session), kind)({}).content
        assert "rigid contacts or dry friction" in content["refused"]
        assert "modes" not in content and "branches" not in content


def test_wrong_choices_are_refused(session: Session) -> None:
    before = session.linear
    for wrong in ({"at": "end"}, {"mode": 0}, {"mode": "1"}, {"parameter": "z"}):
        with pytest.raises(vm.ModelError):
            session.look_at(**wrong)
    assert session.linear == before


def test_a_locus_that_is_out_of_date_is_given_up(session: Session) -> None:
    """The listener ends the work as soon as the design has changed, in its own thread only."""
    live = Live(session)
    worker = Worker(session, live.publish, (), ())
    listen = worker._listener("locus", session.state_of("locus"))
    listen("root_locus", 1.0, 21.0, "")
    session.set_values({"k": 900.0}, final=True)
    other = threading.Thread(target=listen)
    other.start()
    other.join()  # pytest reports exceptions of threads
    with pytest.raises(OutOfDate):
        listen("root_locus", 2.0, 21.0, "")
    worker._listener("modes", -1)()
    worker.end()
    session.undo()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as p:
        running = p.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield running
        running.close()


@pytest.fixture
def context(browser: Any) -> Iterator[Any]:
    opened = browser.new_context(viewport={"width": 1400, "height": 900})
    complaints: list[str] = []
    opened.on("weberror", lambda problem: complaints.append(str(problem.error)))
    yield opened
    opened.close()
    assert complaints == []


NOW = "studio.modes.plot && studio.modes.plot.spec.curves.find((c) => c.name === 'now')"


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium to look at the studio with")
def test_eigenvalues_move_with_the_slider_and_a_mode_moves(context: Any) -> None:
    with served(ISOLATOR) as studio:
        page = context.new_page()
        page.goto(studio.address)
        wait_until(page, "studio.drawn.length > 0")
        page.get_by_role("tab", name="Modes").click()
        page.get_by_label("Over the range of").select_option("c")
        wait_until(page, "Boolean(studio.modes.locus) && studio.modes.locus.parameter === 'c'")
        assert "passes zero at 0 N·s/m" in page.locator("#modes").inner_text()
        wait_until(page, f"Boolean({NOW})")
        slider = page.get_by_role("slider", name="c", exact=True)
        slider.evaluate("(s) => { s.value = 12; s.dispatchEvent(new Event('input')); }")
        wait_until(page, f"Math.abs({NOW}.x[0] + 3) < 1e-6")  # −c / 2m, while it is held
        assert page.evaluate(f"{NOW}.y[0]") == pytest.approx(max(roots(800, 12).imag) / (2 * np.pi))
        slider.evaluate("(s) => s.dispatchEvent(new Event('change'))")

        path = "studio.player.animation.place(studio.player.animation.places, studio.player.animation.data.points.findIndex((p) => p.includes('P')))[0]"
        page.get_by_role("button", name="Mode 1").click()
        wait_until(page, "Boolean(studio.mode) && studio.player.playing")
        places = []
        for _ in range(12):
            page.wait_for_timeout(60)
            places.append(page.evaluate(path))
        assert max(places) - min(places) > 0.005  # 0.015 m to both sides
        assert not page.locator("#scrub").is_visible()
        page.get_by_role("tab", name="Numbers").click()
        wait_until(page, "!studio.mode && studio.player.animation.duration === 0.5")
        assert page.locator("#scrub").is_visible() and not page.evaluate("studio.player.playing")
        page.get_by_role("tab", name="Modes").click()
        wait_until(page, "Boolean(studio.mode)")
        page.get_by_role("button", name="Stop the mode").click()
        wait_until(page, "!studio.mode && studio.player.animation.duration === 0.5")


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium to look at the studio with")
def test_modes_in_space_and_none_where_there_are_contacts(context: Any) -> None:
    with served(
        BENCHMARKS["spatial-slider-crank"].model_file.read_text(encoding="utf-8")
    ) as studio:
        page = context.new_page()
        page.goto(studio.address)
        wait_until(page, "studio.drawn.length > 0")
        page.get_by_role("tab", name="Modes").click()
        page.get_by_label("Small motions about").select_option("start")
        page.get_by_role("button", name="Mode 1").click()
        wait_until(page, "Boolean(studio.mode) && studio.player.playing")
        page.get_by_role("slider", name="k1", exact=True).evaluate(
            "(s) => { s.value = 140; s.dispatchEvent(new Event('change')); }"
        )
        wait_until(page, "studio.text.source.value.includes('140') && Boolean(studio.mode)")
        page.get_by_role("tab", name="Text").click()
        text = BENCHMARKS["clearance-slider-crank"].model_file.read_text(encoding="utf-8")
        page.get_by_label("Text of the model file").fill(text)
        page.get_by_role("tab", name="Modes").click()
        wait_until(page, "!studio.modes.refused.hidden && !studio.mode")
        assert "no linear equations describe" in page.locator("#modes").inner_text()
