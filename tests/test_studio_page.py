"""The studio in a real browser: sliders, keyboard, tabs, small and dark screens, and servers that
come and go.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from studio_pages import CRANK, PATIENCE, served, wait_until

from varimech.studio.launch import OpenStudio

pytest.importorskip("uvicorn")
CHROMIUM = shutil.which("chromium")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium to look at the studio with")
ROOT = Path(__file__).resolve().parents[1]
STARTER = ROOT / "src" / "varimech" / "files" / "starter.yaml"
READY = "studio.drawn.length > 0 && document.querySelectorAll('#numbers .number').length > 0"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as p:
        running = p.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield running
        running.close()


@pytest.fixture
def context(browser: Any) -> Iterator[Any]:
    """A browser's windows with their cookies; nothing in them complains."""
    opened = browser.new_context(viewport={"width": 1400, "height": 900})
    complaints: list[str] = []
    opened.on("weberror", lambda problem: complaints.append(str(problem.error)))
    yield opened
    opened.close()
    assert complaints == []


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[OpenStudio]:
    with served(CRANK, tmp_path / "crank.yaml") as running:
        yield running


def opened(context: Any, studio: OpenStudio) -> Any:
    page = context.new_page()
    page.goto(studio.address)
    wait_until(page, READY)
    return page


def text_of(page: Any) -> str:
    return str(page.evaluate("studio.text.source.value"))


def wait_for_text(page: Any, text: str) -> None:
    wait_until(page, f"studio.text.source.value === {json.dumps(text)}")


def test_a_slider_moves_the_mechanism_and_the_text_undo_takes_it_back(
    context: Any, studio: OpenStudio, tmp_path: Path
) -> None:
    page = opened(context, studio)
    places = "JSON.stringify([...studio.player.animation.data.motion.places.slice(0, 20)])"
    before, frames = page.evaluate(places), page.evaluate("studio.drawn.length")
    slider = page.get_by_role("slider", name="crank", exact=True)
    slider.evaluate("(s) => { s.value = 0.12; s.dispatchEvent(new Event('input')); }")
    wait_until(page, f"studio.drawn.length > {frames}")
    wait_until(page, f"{places} !== {json.dumps(before)}")
    assert text_of(page) == CRANK  # it is still held
    slider.evaluate("(s) => s.dispatchEvent(new Event('change'))")
    wait_for_text(page, CRANK.replace("100 mm", "120 mm"))
    page.get_by_role("button", name="Undo").click()
    wait_for_text(page, CRANK)
    wait_until(page, f"{places} === {json.dumps(before)}")
    page.keyboard.press("Control+Shift+Z")
    wait_for_text(page, CRANK.replace("100 mm", "120 mm"))
    assert (tmp_path / "crank.yaml").read_text() == CRANK
    page.get_by_role("button", name="Save").click()
    wait_until(page, "document.getElementById('save').disabled")
    assert (tmp_path / "crank.yaml").read_text() == CRANK.replace("100 mm", "120 mm")


def test_the_keyboard_suffices(context: Any, studio: OpenStudio) -> None:
    page = opened(context, studio)
    focused = "document.activeElement.getAttribute('aria-label') || document.activeElement.id"
    order: list[str] = []
    for _ in range(8):
        page.keyboard.press("Tab")
        order.append(page.evaluate(focused))
    assert order.index("Value of crank") < order.index("crank") < order.index("Value of rod")
    page.get_by_role("slider", name="crank", exact=True).focus()
    page.keyboard.press("ArrowRight")
    wait_until(page, f"studio.text.source.value !== {json.dumps(CRANK)}")
    changed = re.findall(r"crank: \{value: ([\d.]+) mm", text_of(page))
    assert 100 < float(changed[0]) < 105
    page.keyboard.press("Control+z")
    wait_for_text(page, CRANK)
    value = page.get_by_label("Value of crank")
    value.fill("0.13 m")
    value.press("Enter")
    wait_for_text(page, CRANK.replace("100 mm", "130 mm"))
    value.fill("1 kg")
    value.press("Enter")
    wait_until(page, "document.getElementById('status').textContent.includes('kg')")
    assert text_of(page) == CRANK.replace("100 mm", "130 mm")
    assert value.get_attribute("aria-invalid") == "true"
    value.fill("125")  # in the unit that is shown
    value.press("Enter")
    wait_for_text(page, CRANK.replace("100 mm", "125 mm"))
    assert value.get_attribute("aria-invalid") is None


def test_a_mistake_in_the_text_is_marked_at_its_line(context: Any, studio: OpenStudio) -> None:
    page = opened(context, studio)
    page.get_by_role("tab", name="Text").click()
    wrong = CRANK.replace("mass: 0.8", "mas: 0.8")
    page.get_by_label("Text of the model file").fill(wrong)
    page.wait_for_selector("#mistake:not([hidden])")
    line = wrong.splitlines().index(next(x for x in wrong.splitlines() if "mas:" in x)) + 1
    assert page.locator("#lines b").inner_text() == str(line)
    assert "mas" in page.locator("#mistake").inner_text()
    page.get_by_label("Text of the model file").fill(CRANK)
    page.wait_for_selector("#mistake", state="hidden")


def test_a_file_with_a_mistake_opens_at_its_text(context: Any, tmp_path: Path) -> None:
    with served(CRANK.replace("mass: 0.8", "mas: 0.8"), tmp_path / "crank.yaml") as studio:
        page = context.new_page()
        page.goto(studio.address)
        page.wait_for_selector("#mistake:not([hidden])")  # in the tab that is shown
        assert "mas" in page.locator("#mistake").inner_text()
        page.get_by_label("Text of the model file").fill(CRANK)
        wait_until(page, READY)
        page.get_by_role("tab", name="Numbers").click()
        wait_until(page, "document.querySelectorAll('#numbers .number').length > 0")


def test_an_impossible_value_says_why(context: Any, studio: OpenStudio) -> None:
    page = opened(context, studio)
    page.get_by_label("Value of rod").fill("50 mm")
    page.get_by_label("Value of rod").press("Enter")
    page.wait_for_selector("#failure:not([hidden])")
    assert "assembly fails" in page.locator("#failure").inner_text()
    page.get_by_role("button", name="Undo").click()
    page.wait_for_selector("#failure", state="hidden")


def test_two_tabs_see_the_same(context: Any, studio: OpenStudio) -> None:
    first, second = opened(context, studio), opened(context, studio)
    second.get_by_label("Value of rod").fill("26")  # not finished
    first.get_by_label("Value of crank").fill("120")
    first.get_by_label("Value of crank").press("Enter")
    wait_for_text(second, CRANK.replace("100 mm", "120 mm"))
    wait_until(
        second,
        "document.querySelector('[aria-label=\"Value of crank\"]').value.startsWith('120 ')",
    )
    assert second.get_by_label("Value of rod").input_value() == "26"
    second.keyboard.press("Escape")
    first.close()
    second.get_by_role("button", name="Undo").click()
    wait_for_text(second, CRANK)


def test_a_server_that_is_started_again_gets_what_was_not_saved(
    context: Any, tmp_path: Path
) -> None:
    path = tmp_path / "crank.yaml"
    changed = CRANK.replace("100 mm", "120 mm")
    with served(CRANK, path) as first:
        port = int(first.address.split(":")[2].split("/")[0])
        page = opened(context, first)
        page.get_by_label("Value of crank").fill("120")
        page.get_by_label("Value of crank").press("Enter")
        wait_for_text(page, changed)
    wait_until(page, "document.body.classList.contains('offline')")
    page.get_by_role("tab", name="Text").click()
    page.get_by_label("Text of the model file").fill(changed + "# typed meanwhile\n")
    with served(CRANK, path, port) as second:
        another = opened(context, second)  # as the command does; it has the new token
        wait_until(page, "!document.body.classList.contains('offline')")
        for each in (page, another):
            wait_for_text(each, changed + "# typed meanwhile\n")
        assert path.read_text() == CRANK
    wait_until(page, "document.body.classList.contains('offline')")
    with served(CRANK, path, port) as third:
        another.goto(third.address)
        wait_for_text(page, changed + "# typed meanwhile\n")
        wait_for_text(another, changed + "# typed meanwhile\n")


def test_a_phone_shows_everything_within_its_width(context: Any, studio: OpenStudio) -> None:
    page = context.new_page()
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(studio.address)
    wait_until(page, READY)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    stage = page.locator("#stage").bounding_box()
    slider = page.get_by_role("slider", name="crank", exact=True).bounding_box()
    plots = page.locator("#plots").bounding_box()
    assert stage["y"] < slider["y"] < plots["y"]  # the mechanism and its sliders on one screen
    assert stage["width"] > 300 and slider["width"] > 250


def test_dark_screens_get_a_dark_page(context: Any, studio: OpenStudio) -> None:
    page = opened(context, studio)
    background = (
        "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).slice(0, 3).map(Number)"
    )
    page.emulate_media(color_scheme="light")
    light = page.evaluate(background)
    page.emulate_media(color_scheme="dark")
    dark = page.evaluate(background)
    assert min(light) > 200 and max(dark) < 60


def test_nothing_is_asked_of_the_network(context: Any, studio: OpenStudio) -> None:
    asked: list[str] = []
    context.on("request", lambda request: asked.append(request.url))
    opened(context, studio)
    assert asked and all(url.startswith(("http://127.0.0.1:", "data:")) for url in asked)


@pytest.mark.usefixtures("ctrl_c_heard")
def test_the_command_shows_a_page_soon(
    context: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The time from the command to a drawn mechanism is printed: it depends on the machine."""
    shutil.copy(STARTER, tmp_path / "my.yaml")
    begin = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, "-m", "varimech", "studio", str(tmp_path / "my.yaml"), "--no-browser"],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    ) as command:
        try:
            assert command.stdout is not None
            address = re.findall(r"http://\S+", command.stdout.readline())[0]
            page = context.new_page()
            page.goto(address)
            wait_until(page, "window.studio && studio.drawn.length > 0")
            with capsys.disabled():
                print(f" [from command to page: {time.perf_counter() - begin:.1f} s] ", end="")
        finally:
            command.send_signal(signal.SIGINT)
            assert command.wait(timeout=PATIENCE) in (0, 1, 130, -signal.SIGINT)
