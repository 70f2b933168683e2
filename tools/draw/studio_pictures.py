"""Pictures of the studio in docs/images: the starter file, the five-bar, a mode, an allocation of
tolerances, a widget of a notebook, and a short film in which a slider moves.

    python tools/draw/studio_pictures.py
"""

from __future__ import annotations

import io
import shutil
import sys
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import sync_playwright

import varimech as vm
from varimech.benchmarks import BENCHMARKS
from varimech.studio.launch import prepared

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
from notebook_pages import NotebookPage  # noqa: E402

IMAGES = ROOT / "docs" / "images"
STARTER = ROOT / "src" / "varimech" / "files" / "starter.yaml"
TOLERANCES = ROOT / "examples" / "crank_slider_tolerances.yaml"
SIZE = {"width": 1360, "height": 850}
WIDGET = {"width": 900, "height": 880}
FILM_WIDTH = 860
"""Pixels: readable, and a file of less than 1.5 MB."""
FRAMES, FRAME_TIME = 44, 70
"""Number of pictures, and ms for each."""
MOVE = """([name, share]) => {
  const { range } = studio.sliders.rows.get(name);
  range.value = Number(range.min) + share * (range.max - range.min);
  range.dispatchEvent(new Event("input"));
}"""


def show(browser: Any, address: str, time: float) -> Any:
    """A page that shows the mechanism at a time, with derivatives."""
    page = browser.new_page(viewport=SIZE, color_scheme="light")
    page.goto(address)
    while page.evaluate("studio.drawn.length") < 2:
        page.wait_for_timeout(50)
    page.wait_for_timeout(1500)
    page.evaluate("(time) => { studio.player.time = time; studio.player.update(); }", time)
    page.wait_for_timeout(200)
    return page


def show_mode(page: Any) -> None:
    """A mode in motion, with the root locus of a parameter."""
    page.get_by_role("tab", name="Modes").click()
    page.get_by_label("Over the range of").select_option("stiffness")
    page.get_by_role("button", name="Mode 1").click()
    while not page.evaluate("studio.mode && studio.modes.locus?.parameter === 'stiffness'"):
        page.wait_for_timeout(50)
    page.evaluate("() => { studio.player.play(false); studio.player.time = 0; }")
    page.wait_for_timeout(300)


def show_allocation(page: Any) -> None:
    """The cheapest tolerances, and distributions with those of the text."""
    page.get_by_role("tab", name="Tolerances").click()
    page.locator("#tolerances").get_by_role("button", name="Allocate").click()
    while page.evaluate(
        "studio.tolerances.take.hidden || !studio.tolerances.list.textContent.includes('fails')"
    ):
        page.wait_for_timeout(100)
    page.wait_for_timeout(500)


def widget_picture(browser: Any) -> bytes:
    """The widget of a gradient of the starter file, as a notebook shows it."""
    widget = vm.widget(vm.Mechanism.from_file(STARTER).study("sensitivity"))
    notebook = NotebookPage(browser.new_context(viewport=WIDGET, color_scheme="light"), widget)
    notebook.until("Boolean(window.varimech)")
    widget.time = 0.25
    notebook.until("varimech.player.time === 0.25")
    notebook.page.wait_for_timeout(500)
    notebook.pass_on()
    return bytes(notebook.page.screenshot())


def film(page: Any) -> list[Image.Image]:
    """The rod becomes longer and shorter again while the mechanism moves."""
    pictures = []
    for k in range(FRAMES):
        share = 0.5 + 0.42 * (1 - abs(2 * k / (FRAMES - 1) - 1))
        page.evaluate(MOVE, ["rod", share])
        page.evaluate(
            "(time) => { studio.player.time = time; studio.player.update(); }", k / FRAMES
        )
        page.wait_for_timeout(120)
        picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
        height = round(picture.height * FILM_WIDTH / picture.width)
        pictures.append(picture.resize((FILM_WIDTH, height), Image.Resampling.LANCZOS))
    return pictures


def main() -> None:
    with sync_playwright() as p:
        browser = p.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for name, path, time in (
            ("starter", STARTER, 0.25),
            ("tolerances", TOLERANCES, 0.05),
            ("five_bar", BENCHMARKS["five-bar"].model_file, 1.2),
        ):
            with prepared(vm.Mechanism, path.read_text(encoding="utf-8")) as studio:
                studio.serve_in_background()
                page = show(browser, studio.address, time)
                if name == "tolerances":
                    show_allocation(page)
                page.screenshot(path=IMAGES / f"studio_{name}.png")
                if name == "starter":
                    show_mode(page)
                    page.screenshot(path=IMAGES / "studio_modes.png")
                    page.get_by_role("tab", name="Numbers").click()
                    first, *rest = film(page)
                    first.save(
                        IMAGES / "studio.webp",
                        save_all=True,
                        append_images=rest,
                        duration=FRAME_TIME,
                        loop=0,
                        quality=60,
                        method=4,
                    )
                page.close()
        (IMAGES / "notebook_widget.png").write_bytes(widget_picture(browser))
        browser.close()
    for picture in sorted([*IMAGES.glob("studio*"), IMAGES / "notebook_widget.png"]):
        print(f"written: docs/images/{picture.name}, {picture.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
