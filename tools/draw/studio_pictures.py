"""Pictures of the studio in docs/images: the starter file, the five-bar, and a short film in which a
slider moves.

    python tools/draw/studio_pictures.py
"""

from __future__ import annotations

import io
import shutil
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import sync_playwright

import varimech as vm
from varimech.benchmarks import BENCHMARKS
from varimech.studio.launch import prepared

ROOT = Path(__file__).resolve().parents[2]
IMAGES = ROOT / "docs" / "images"
STARTER = ROOT / "src" / "varimech" / "files" / "starter.yaml"
SIZE = {"width": 1360, "height": 850}
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
            ("five_bar", BENCHMARKS["five-bar"].model_file, 1.2),
        ):
            with prepared(vm.Mechanism, path.read_text(encoding="utf-8")) as studio:
                studio.serve_in_background()
                page = show(browser, studio.address, time)
                page.screenshot(path=IMAGES / f"studio_{name}.png")
                if name == "starter":
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
        browser.close()
    for picture in sorted(IMAGES.glob("studio*")):
        print(f"written: docs/images/{picture.name}, {picture.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
