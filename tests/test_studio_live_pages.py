"""Handles, tolerances and designs in a browser."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import varimech as vm
from varimech.benchmarks import BENCHMARKS
from varimech.studio.session import Session

CHROMIUM = shutil.which("chromium")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium to look at the studio with")
FIVE_BAR = (
    BENCHMARKS["five-bar"]
    .model_file.read_text(encoding="utf-8")
    .replace("49979, unit: m}", "49979, unit: m, tolerance: 3 mm}")
)
SEEN = """(name) => {
  const { animation } = window.studio.player;
  const [point] = [...animation.labels].find(([, texts]) => texts.includes(name));
  const box = document.getElementById("stage").getBoundingClientRect();
  const [x, y] = animation.camera.project(animation.place(animation.places, point));
  return [box.left + x, box.top + y];
}"""


class Opened:
    """A page, and the session that it shows."""

    def __init__(self, page: Any, session: Session):
        self.page, self.session = page, session
        self.errors: list[str] = []
        page.on("pageerror", lambda error: self.errors.append(str(error)))

    def until(self, condition: Callable[[], Any], what: str) -> None:
        """Wait for something; the pages' policy forbids waiting for scripts given as texts."""
        for _ in range(600):
            if condition():
                return
            self.page.wait_for_timeout(50)
        raise AssertionError(f"{what} has not come")


@pytest.fixture(scope="module")
def opened() -> Iterator[Opened]:
    import socket

    import uvicorn
    from playwright.sync_api import sync_playwright

    from varimech.studio.server import Studio

    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    session = Session(vm.Mechanism, FIVE_BAR)
    studio = Studio(session, listening.getsockname()[1])
    server = uvicorn.Server(
        uvicorn.Config(studio.application(), log_level="warning", ws="websockets-sansio")
    )
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    with sync_playwright() as p:
        browser = p.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_context(viewport={"width": 1400, "height": 950}).new_page()
        seen = Opened(page, session)
        page.goto(studio.address)
        seen.until(lambda: page.evaluate("Boolean(window.studio.derived)"), "the mechanism")
        yield seen
        assert not seen.errors
        browser.close()
    server.should_exit = True
    thread.join(timeout=20)


def test_the_path_is_dragged_through_a_point(opened: Opened) -> None:
    page, session = opened.page, opened.session
    page.locator("input[name=handle][value=path]").check(force=True)
    x, y = page.evaluate(SEEN, "2")
    page.mouse.move(x, y)
    page.mouse.down()
    for k in range(1, 5):
        page.mouse.move(x + 2 * k, y - 3 * k)
        page.wait_for_timeout(40)
    page.mouse.up()
    opened.until(lambda: page.inner_text("#handle-note") == "reached", "the place")
    assert session.handle is not None and session.engine is not None
    wanted = np.array(session.handle["place"])
    run = session.engine.problem(session.values).run()  # of the values in the text
    path = run.position("2").to_numpy()
    a, d = path[:-1], np.diff(path, axis=0)
    share = np.clip(((wanted - a) * d).sum(1) / np.maximum((d * d).sum(1), 1e-300), 0, 1)
    away = np.linalg.norm(a + share[:, None] * d - wanted, axis=1).min()
    assert away < 1e-6
    assert np.linalg.norm(wanted - (0.5, -2)) > 0.02  # that is where the path began
    for p in session.state()["parameters"]:
        assert p["low"] <= p["now"] <= p["high"]
    page.click("#undo")
    opened.until(lambda: session.text == FIVE_BAR, "the design before")


def test_tolerances_are_live(opened: Opened) -> None:
    page, session = opened.page, opened.session
    page.click("#tab-tolerances")
    opened.until(lambda: "2000 samples" in page.inner_text("#tolerances"), "the histogram")
    page.get_by_label("at most").first.fill("0")
    assert "fails: 100.00 %" in page.inner_text("#tolerances")
    field = page.get_by_label("Tolerance of Ls2")
    field.fill("2 mm")
    field.press("Enter")
    opened.until(lambda: "tolerance: 0.002" in session.text, "the tolerance in the text")
    opened.until(lambda: page.locator("#tolerances .effect >> text=Ls2").count() > 0, "its share")


def test_a_design_is_kept_and_compared(opened: Opened) -> None:
    page = opened.page
    page.click("#tab-designs")
    page.click("text=Keep this design")
    page.locator(".designs button:has-text('ghost')").click()
    opened.until(
        lambda: page.evaluate("Boolean(window.studio.player.animation.before)"), "the ghost"
    )
    assert opened.session.ghost == "A"


def test_hovering_shows_derivatives(opened: Opened) -> None:
    page = opened.page
    area = page.locator("#plots .plot-box").first
    area.scroll_into_view_if_needed()
    time.sleep(0.3)
    area.hover(position={"x": 150, "y": 60})
    opened.until(lambda: "Ls1" in page.locator(".slopes").first.inner_text(), "derivatives")
    box, card = area.bounding_box(), page.locator(".readout:not([hidden])").bounding_box()
    assert box["x"] <= card["x"] and card["x"] + card["width"] <= box["x"] + box["width"]
    for number in page.locator(".readout:not([hidden]) b").all():
        assert number.evaluate("b => b.scrollWidth <= b.clientWidth + 1")


def test_a_model_without_a_file_is_downloaded(opened: Opened) -> None:
    page = opened.page
    with page.expect_download() as download:
        page.get_by_role("button", name="Download", exact=True).click()
    assert download.value.suggested_filename == "five-bar.yaml"
    assert download.value.path().read_text(encoding="utf-8") == opened.session.text


def test_an_objective_is_brought_to_a_typed_value(opened: Opened) -> None:
    page, session = opened.page, opened.session
    page.click("#tab-numbers")
    field = page.get_by_label("Wanted value of psi1")
    field.fill("0.6")
    field.press("Enter")
    opened.until(lambda: page.inner_text("#handle-note") == "psi1: reached", "the value")
    opened.until(lambda: "0.6 m²·s" in page.inner_text("#numbers .number >> nth=0"), "the number")
    assert session.engine is not None
    problem = session.engine.problem(session.values)
    assert float(problem.gradient("adjoint").final_values[0]) == pytest.approx(0.6, abs=1e-7)
