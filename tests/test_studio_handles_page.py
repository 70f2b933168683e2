"""Handles in a browser: points of spatial mechanisms in the plane of the view, and whole bars."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import varimech as vm
from test_studio_live_pages import Opened
from varimech.studio.launch import prepared

CHROMIUM = shutil.which("chromium")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium to look at the studio with")
SOFTWARE = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
ROD = """
varimech: 1
name: rod
dimension: {dimension}
parameters:
  x: {{value: 0.1 m, bounds: [-0.5, 0.5]}}
  y: {{value: 0.2 m, bounds: [-0.5, 0.5]}}
  turn: {{value: 0.3 rad, bounds: [-2, 2]}}
ground: {{O: {origin}}}
bodies:
  rod: {{bar: [O, P], length: 0.4 m, mass: 1 kg}}
joints:
  O: {joint}
drivers:
  motor: {{angle: {driven}, motion: turn + 0.1*t}}
studies:
  simulate: {{duration: 1, step: 0.05}}
"""
PLANE = ROD.format(dimension=2, origin="[x, y]", joint="revolute", driven="rod")
SPACE = ROD.format(
    dimension=3,
    origin="[x, y, 0.1]",
    joint="{revolute: [ground.O, rod.O], axis: [0, 0, 1]}",
    driven="O",
)
SEEN = """(points) => {
  const { animation } = window.studio.player, { camera } = animation, box = document.getElementById("stage").getBoundingClientRect();
  return points.map((name) => {
    const place = animation.place(animation.places, animation.data.points.indexOf(name)), [x, y] = camera.project(place);
    return { seen: [box.left + x, box.top + y], place: [...place].map((c, k) => c + animation.data.origin[k]), eye: camera.global(camera.towards).map((c, k) => 3 * camera.size * c + camera.middle[k] + (animation.data.origin[k] ?? 0)) };
  });
}"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as p:
        computed = p.chromium.launch(executable_path=CHROMIUM, args=SOFTWARE)
        yield computed
        computed.close()


def dragged(browser: Any, text: str, name: str, *, share: float, shift: bool = False) -> Any:
    """Drag the rod at a share of its length by (40, −30) pixels; what the points were and what became
    of them.
    """
    with prepared(vm.Mechanism, text) as studio:
        studio.serve_in_background()
        page = browser.new_context(viewport={"width": 1400, "height": 950}).new_page()
        session = studio._live.session
        opened = Opened(page, session)
        page.goto(studio.address)
        opened.until(lambda: page.evaluate("Boolean(window.studio.derived)"), "the mechanism")
        page.locator("input[name=handle][value=point]").check(force=True)
        page.evaluate("window.studio.player.animation.draw()")
        before = page.evaluate(SEEN, ["rod.O", "rod.P"])
        (a, b), (c, d) = (point["seen"] for point in before)
        x, y = a + share * (c - a), b + share * (d - b)
        if shift:
            page.keyboard.down("Shift")
        page.mouse.move(x, y)
        page.mouse.down()
        for k in range(1, 5):
            page.mouse.move(x + 10 * k, y - 7.5 * k)
            page.wait_for_timeout(30)
        page.mouse.up()
        opened.until(lambda: session.text != text and session.handle is not None, "the design")
        opened.until(lambda: page.inner_text("#handle-note") != "", "the note")
        handle, values = session.handle, dict(session.values)
        assert not opened.errors
        page.close()
    return before, (x, y), handle, values


def test_a_bar_is_dragged_as_a_whole(browser: Any) -> None:
    before, _, handle, values = dragged(browser, PLANE, "rod", share=0.5)
    assert handle["reached"] and handle["points"] == ["rod.O", "rod.P"]
    by = np.array(handle["places"]) - [point["place"] for point in before]
    assert by[0] == pytest.approx(by[1], abs=1e-6)
    assert by[0][0] > 0 and by[0][1] > 0  # to the right and upwards
    assert (values["x"], values["y"]) == pytest.approx(tuple(handle["places"][0]), abs=1e-7)
    assert values["turn"] == pytest.approx(0.3, abs=1e-6)


def test_a_bar_turns_about_its_first_end(browser: Any) -> None:
    before, pressed, handle, values = dragged(browser, PLANE, "rod", share=0.75, shift=True)
    assert handle["reached"]
    assert (values["x"], values["y"]) == pytest.approx((0.1, 0.2), abs=1e-6)
    a, b = before[0]["seen"]
    angles = [np.arctan2(b - v, u - a) for u, v in (pressed, (pressed[0] + 40, pressed[1] - 30))]
    assert values["turn"] - 0.3 == pytest.approx(angles[1] - angles[0], abs=2e-3)


def test_points_in_space_move_in_the_plane_of_the_view(browser: Any) -> None:
    before, _, handle, values = dragged(browser, SPACE, "rod", share=1.0)
    by = np.array(handle["place"]) - before[1]["place"]
    ray = np.array(before[1]["eye"]) - before[1]["place"]
    assert np.linalg.norm(by) > 0.01
    assert abs(by @ ray) < 0.02 * np.linalg.norm(by) * np.linalg.norm(ray)
    # the rod stays at its height: what is nearest to the wanted place is above or below it
    end = np.array([values["x"], values["y"]]) + 0.4 * np.array(
        [np.cos(values["turn"]), np.sin(values["turn"])]
    )
    wanted = np.array(handle["place"])
    assert end == pytest.approx(wanted[:2], abs=1e-6)
    assert handle["left"] == pytest.approx(abs(wanted[2] - 0.1), rel=1e-6)
