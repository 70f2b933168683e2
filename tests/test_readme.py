"""Every code block of the README runs, in order, in one namespace."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from markdown_pages import ROOT, run_page

README = ROOT / "README.md"


def test_readme_blocks_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    run_page(README)
    assert "travel" in capsys.readouterr().out
    assert (tmp_path / "crank-slider.png").stat().st_size > 10_000
    assert (tmp_path / "crank-slider.nc").exists()


def test_readme_commands_are_targets_of_the_makefile() -> None:
    commands = re.findall(r"^make (\w+)", README.read_text(encoding="utf-8"), flags=re.MULTILINE)
    makefile = README.with_name("Makefile").read_text(encoding="utf-8")
    assert commands == ["demo", "test"]
    for command in commands:
        assert re.search(rf"^{command}:", makefile, flags=re.MULTILINE)
