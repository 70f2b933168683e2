"""How long a change takes in the studio, from the slider's event in the browser to the drawn frame.

    python tools/compare/studio_latency.py [--changes 60]

Prints medians and 95 % quantiles (ms) for the five-bar with 500 frames and three plots, and for a
vehicle of twenty bodies; and how long the computation takes of it, without a browser.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import time
from typing import Any

import studio_vehicle

import varimech as vm
from varimech.benchmarks import BENCHMARKS
from varimech.studio.launch import prepared
from varimech.studio.session import Session

MOVE = """async ([name, share]) => {
  const { range } = studio.sliders.rows.get(name), known = studio.shown, begin = performance.now();
  range.value = Number(range.min) + share * (range.max - range.min);
  range.dispatchEvent(new Event("input"));
  let frame; // derivatives of the design before may be drawn first
  while (!(frame = studio.drawn.find(({ revision }) => revision > known))) await new Promise((done) => setTimeout(done, 1));
  return frame.time - begin;
}"""
"""Moves a slider, and waits for the frame."""


COMPILED = 3_000
"""ms until programs are compiled, as after a designer's first look; `computed` has waited before."""


def five_bar() -> str:
    """500 frames, three plots."""
    m = vm.Mechanism.from_file(BENCHMARKS["five-bar"].model_file)
    studies = {
        "simulate": {"duration": 2.0, "tolerance": 1e-6, "output": 0.004},
        "show": {"position": ["2"], "velocity": ["2"], "acceleration": ["2"], "trace": ["2"]},
    }
    return m.to_text(studies=studies)


def computed(text: str, parameter: str, changes: int) -> list[float]:
    """ms that `Engine.motion` takes, with what is sent."""
    session, times = Session(vm.Mechanism, text), []
    engine = session.engine
    assert engine is not None
    known = {p["name"]: p["value"] for p in session.state()["parameters"]}
    value = known[parameter]
    engine.problem({}).with_options(backend="native").run()  # compiled, as after a first look
    engine.motion({}).encoded()
    for k in range(changes):
        begin = time.perf_counter()
        engine.motion({parameter: value * (1 + 0.1 * k / changes)}).encoded()
        times.append(1e3 * (time.perf_counter() - begin))
    return times


def drawn(text: str, parameter: str, changes: int) -> list[float]:
    """ms from the event of a slider to the drawn frame, in Chromium."""
    from playwright.sync_api import sync_playwright

    with prepared(vm.Mechanism, text) as studio, sync_playwright() as p:
        studio.serve_in_background()
        browser = p.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1400, "height": 900})
        page.goto(studio.address)
        while page.evaluate("studio.drawn.length") < 2:
            page.wait_for_timeout(50)
        page.wait_for_timeout(COMPILED)
        times = []
        for k in range(changes):
            times.append(page.evaluate(MOVE, [parameter, 0.4 + 0.2 * (k % 10) / 10]))
            page.wait_for_timeout(30)
        browser.close()
    return times


def row(name: str, times: list[float]) -> str:
    ordered = sorted(times)
    return f"{name:34} median {statistics.median(times):6.1f} ms, 95 % {ordered[int(0.95 * len(ordered))]:6.1f} ms"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--changes", type=int, default=60)
    parser.add_argument("--without-browser", action="store_true")
    given: Any = parser.parse_args()
    for name, text, parameter in (
        ("five-bar", five_bar(), "Ls1"),
        ("vehicle of 20 bodies", studio_vehicle.text(), "spring"),
    ):
        print(row(f"{name}: computed", computed(text, parameter, given.changes)))
        if not given.without_browser:
            print(row(f"{name}: event to frame", drawn(text, parameter, given.changes)))


if __name__ == "__main__":
    main()
