"""Acceptance figures of reports: small and quick to make for 10⁴ steps, smooth to scrub, and
without a complaint of a real browser.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from acceptance import Figure

import varimech as vm
from varimech.benchmarks import five_bar

SCRUB = """() => { const p = varimech.player, a = p.animation, frames = 500, began = performance.now();
  for (let k = 0; k < frames; k++) { p.time = (a.duration * ((k * 7919) % frames)) / frames; a.draw(); }
  return (performance.now() - began) / frames; }"""
"""Milliseconds for a jump to another time, animation and plots."""


def report_of_a_long_run() -> Iterator[Figure]:
    """Report of a run of the five-bar with 10⁴ steps and five sensitivities."""
    gradient = five_bar.mechanism().sensitivity(
        five_bar.objectives(), five_bar.PARAMETERS, duration=5.0, step=5e-4
    )
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        path = vm.report(Path(folder) / "five-bar.html", gradient)
        yield Figure(
            "time to write the report (s)",
            time.perf_counter() - began,
            5.0,
            shown="{:.2f}",
        )
        yield Figure("size of the report (MB)", path.stat().st_size / 1e6, 10.0, shown="{:.2f}")
        if (chromium := shutil.which("chromium")) is not None:
            yield from _in_a_browser(path, chromium)


def _in_a_browser(path: Path, chromium: str) -> Iterator[Figure]:
    from playwright.sync_api import sync_playwright

    heard: list[str] = []
    with sync_playwright() as p:
        browser = p.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(offline=True)
        page.on(
            "console", lambda m: heard.append(m.text) if m.type in ("error", "warning") else None
        )
        page.on("pageerror", lambda e: heard.append(str(e)))
        page.on(
            "request",
            lambda r: None if r.url.startswith(("file:", "data:")) else heard.append(r.url),
        )
        page.goto(path.as_uri())
        yield Figure(
            "time to draw the mechanism at another time (ms)",
            page.evaluate(SCRUB),
            16.0,
            shown="{:.2f}",
        )
        yield Figure(
            "number of errors and network requests in an offline browser",
            len(heard),
            0,
            shown="{:.0f}",
        )
        browser.close()
