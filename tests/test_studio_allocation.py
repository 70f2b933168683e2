"""Tolerances that can be chosen in the studio: sliders with their cost, and an allocation as a job."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from chosen_bars import COSTS, TEXT, WIDTHS, cheapest
from studio_pages import served, wait_until

import varimech as vm
from varimech.files.reading import mechanism_of_text
from varimech.studio.live_actions import take_result
from varimech.studio.session import Session

CHROMIUM = shutil.which("chromium")


def test_an_allocation_is_a_job_whose_tolerances_are_taken_over() -> None:
    session = Session(vm.Mechanism, TEXT, None)
    session.start_job("allocate")
    state: dict[str, Any] = {}
    for _ in range(600):
        state = session.jobs.state() or {}
        if state["status"] != "running":
            break
        time.sleep(0.1)
    assert state["status"] == "done", state
    take_result(session)
    parameters = mechanism_of_text(vm.Mechanism, session.text).parameters
    found = [parameters[name].distribution.width for name in "ab"]
    np.testing.assert_allclose(found, cheapest(1e-4), rtol=1e-6)
    assert all(parameters[name].distribution.cost is not None for name in "ab")


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium to look at the studio with")
def test_sliders_of_tolerances_show_their_cost(tmp_path: Path) -> None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as p, served(TEXT, tmp_path / "bars.yaml") as studio:
        browser = p.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1400, "height": 900})
        page.goto(studio.address)
        wait_until(page, "studio.drawn.length > 0")
        page.get_by_role("tab", name="Tolerances").click()
        before = 3 + (COSTS / WIDTHS).sum()

        def shown() -> float:
            return float(page.locator("#tolerances .cost").inner_text().split(": ")[1])

        assert shown() == pytest.approx(before, rel=1e-3)
        slider = page.get_by_label("Tolerance of b, finer to wider")
        slider.focus()
        slider.press("End")
        wait_until(page, "studio.text.source.value.includes('9 mm, at_least')")
        assert shown() == pytest.approx(3 + COSTS[0] / WIDTHS[0] + COSTS[1] / 9e-3, rel=2e-3)
        page.locator("#tolerances").get_by_role("button", name="Allocate").click()
        wait_until(page, "!studio.tolerances.take.hidden")
        assert "Allocation for 'two bars'" in page.locator("#tolerances .result").inner_text()
        page.screenshot(path=str(tmp_path / "studio.png"))
        page.locator("#tolerances").get_by_role("button", name="Take over").click()
        wait_until(page, "!studio.text.source.value.includes('9 mm, at_least')")
        assert shown() == pytest.approx(3 + (COSTS / cheapest(1e-4)).sum(), rel=2e-3)
        browser.close()
