"""Building a four-bar from nothing, by mouse, in a browser."""

from __future__ import annotations

import math
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from studio_pages import served
from typer.testing import CliRunner

import varimech as vm
from varimech.cli.app import app
from varimech.cli.studio import EMPTY

CHROMIUM = shutil.which("chromium")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium to build with")


class Hand:
    """A page, and a mouse that moves in metres."""

    def __init__(self, page: Any):
        self.page = page

    def pixels(self, place: tuple[float, float]) -> tuple[float, float]:
        u, v = self.page.evaluate("p => studio.build.board.seen(p)", list(place))
        box = self.page.locator("#board").bounding_box()
        return box["x"] + u, box["y"] + v

    def pick(self, tool: str) -> None:
        self.page.click(f"[data-tool={tool}]")

    def click(self, place: tuple[float, float]) -> None:
        self.page.mouse.click(*self.pixels(place))

    def drag(self, begin: tuple[float, float], end: tuple[float, float]) -> None:
        self.page.mouse.move(*self.pixels(begin))
        self.page.mouse.down()
        self.page.mouse.move(*self.pixels(end), steps=4)
        self.page.mouse.up()

    def wait(self, condition: str) -> None:
        """Until something holds of the drawing d. Asked from here: what waits within the page is made
        from a text there, which its content security policy forbids.
        """
        question = f"() => {{ const d = studio.build.board.drawing; return Boolean({condition}); }}"
        for _ in range(200):
            if self.page.evaluate(question):
                return
            self.page.wait_for_timeout(50)
        pytest.fail(f"never: {condition}")

    @property
    def text(self) -> str:
        return str(self.page.input_value("#source"))


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[tuple[Hand, Path]]:
    from playwright.sync_api import sync_playwright

    path = tmp_path / "drawn.yaml"
    with served(EMPTY, path) as studio, sync_playwright() as p:
        browser = p.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_context(viewport={"width": 1300, "height": 900}).new_page()
        complaints: list[str] = []
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(studio.address)
        hand = Hand(page)
        hand.wait("d !== null")
        yield hand, path
        assert not complaints
        browser.close()


def test_a_four_bar_from_nothing(opened: tuple[Hand, Path], tmp_path: Path) -> None:
    hand, path = opened
    page = hand.page
    assert "Draw a link" in page.inner_text("#findings")
    page.set_viewport_size({"width": 1440, "height": 900})
    board = page.locator("#board").bounding_box()
    hand.pick("ground")
    hand.click((0, 0))
    hand.wait("d.nodes.length === 1")
    hand.pick("link")
    hand.drag((0.3, 0.002), (0.262, 0.198))  # snaps to the grid
    hand.wait("d.links.length === 1")
    assert "not connected to the ground" in page.inner_text("#findings")
    assert page.locator("#board .wrong[data-name=L1]").count() == 1
    hand.pick("ground")
    hand.click((0.3, 0))  # the end of the link becomes a pivot
    hand.wait("d.dofs === 1")
    hand.pick("link")
    hand.drag((0, 0), (0.04, 0.1))
    hand.wait("d.dofs === 2")
    hand.drag((0.04, 0.1), (0.26, 0.2))
    hand.wait("d.links.length === 3 && d.dofs === 1")
    hand.pick("driver")
    hand.click((0.02, 0.05))
    hand.wait("d.drivers.length === 1 && d.free === 0")
    assert page.inner_text("#dofs") == "1 DOF, 1 driven"
    assert page.inner_text("#findings") == ""

    assert page.locator("#board").bounding_box() == board  # nothing moves under the pointer

    bodies = yaml.safe_load(hand.text)["bodies"]
    page.click("#undo")
    hand.wait("d.drivers.length === 0")
    page.click("#redo")
    hand.wait("d.drivers.length === 1")

    hand.pick("select")
    hand.click((0.15, 0.15))
    assert page.input_value("#chosen input >> nth=1").startswith("241.66")
    page.fill("#chosen input >> nth=1", "250")
    page.press("#chosen input >> nth=1", "Enter")
    hand.wait("d.links.find((l) => l.name === 'L3').typed.length === '250 mm'")
    hand.drag((0.3, 0), (0.32, 0))
    hand.wait("d.nodes.some((n) => n.fixed && Math.abs(n.place[0] - 0.32) < 1e-9)")
    assert yaml.safe_load(hand.text)["bodies"] == bodies

    page.locator("#source").evaluate(
        "s => { s.selectionStart = s.selectionEnd = s.value.indexOf('L2: {bar'); s.click(); }"
    )
    assert page.locator("#board .chosen").get_attribute("data-name") == "L2"

    page.click("#build-toggle")
    hand.wait("studio.player && studio.player.animation.duration > 0")
    page.click("#play")
    hand.wait("studio.player.time > 0.05")
    page.click("#save")
    hand.wait("document.getElementById('save').disabled")
    result = CliRunner().invoke(app, ["run", str(path), "--out", str(tmp_path / "run")])
    assert result.exit_code == 0, result.output
    run = vm.Mechanism.from_file(path).simulate(duration=1.0, step=0.01)
    turned = run.angle("L2").to_numpy()
    assert turned[0] == pytest.approx(math.atan2(0.1, 0.04), abs=1e-6)
    assert turned[-1] - turned[0] == pytest.approx(2 * math.pi, abs=1e-6)
