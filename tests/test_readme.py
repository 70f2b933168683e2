"""The README tells the truth: its code prints what it shows, its commands and its figures exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from markdown_pages import ROOT, run_and_capture, run_page, same

README = ROOT / "README.md"
TEXT = README.read_text(encoding="utf-8")


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_readme_prints_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    pairs = run_and_capture(README, capsys)
    assert pairs
    for stated, printed in pairs:
        assert same(stated, printed), f"the README says\n{stated}\nbut this is printed:\n{printed}"


def test_loads_of_the_readme_do_not_depend_on_the_scale() -> None:
    """Only gravity moves the mechanism: with the same masses, and lengths that are all multiplied
    by one factor, forces are the same. Hence Σ L ∂F/∂L = 0, and F is that of twice the lengths.
    """
    left = run_page(README)
    m, load = left["m"], left["load"]
    result = m.sensitivity(load, duration=0.5, tolerance=1e-10)
    L = m.parameters["crank"].value, m.parameters["rod"].value
    first, second = (a * b for a, b in zip(L, result.gradient.values[0], strict=True))
    assert abs(first) > 1.0 and first + second == pytest.approx(0.0, abs=1e-6)

    doubled = dict(zip(("crank", "rod"), (2 * x for x in L), strict=True))
    longer = m.sensitivity(load, duration=0.5 * 2**0.5, tolerance=1e-10, parameters=doubled)
    assert longer.values.item() == pytest.approx(result.values.item(), rel=1e-8)


def test_readme_commands_are_targets_of_the_makefile() -> None:
    commands = re.findall(r"^make (\w+)", TEXT, flags=re.MULTILINE)
    makefile = README.with_name("Makefile").read_text(encoding="utf-8")
    assert commands == ["demo", "test"]
    for command in commands:
        assert re.search(rf"^{command}:", makefile, flags=re.MULTILINE)


def test_readme_figures_are_those_of_the_pages_that_measured_them() -> None:
    """Pages are measured anew now and then; the README follows."""
    rows = [line for line in TEXT.splitlines() if re.match(r"\| \[", line)]
    assert len(rows) == 3
    for row in rows:
        page = re.search(r"\(docs/(\w+\.md)\)", row)
        assert page
        measured = (ROOT / "docs" / page[1]).read_text(encoding="utf-8")
        times = re.findall(r"([\d.,]+) ms", row)
        assert len(times) >= 2
        for time in times:
            assert re.search(rf"\| {re.escape(time)}( ms)?\b", measured), f"{page[1]}: no {time} ms"


def test_readme_fits_one_screen() -> None:
    """Its prose, without code and tables."""
    prose = re.sub(r"```.*?```", "", TEXT, flags=re.DOTALL)
    prose = "\n".join(line for line in prose.splitlines() if not line.startswith("|"))
    assert len(prose.split()) < 250
