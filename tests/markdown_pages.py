"""Code of the pages: blocks fenced as ```python run, in order, in one namespace; those whose title ends with "not run" are only looked at."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
FENCE = re.compile(r"^( *)```(\S*) *(.*)\n(.*?)^\1```", flags=re.DOTALL | re.MULTILINE)


def blocks(page: Path, language: str = "python") -> list[tuple[str, str]]:
    """(title, text) of the fenced blocks of a language."""
    found = []
    for indent, kind, info, text in FENCE.findall(page.read_text(encoding="utf-8")):
        if kind == language:
            title = re.fullmatch(r'title="(.*)"', info)
            assert title or not info, f"{page.name}: {info!r} says neither nothing nor a title"
            found.append((title[1] if title else "", re.sub(f"^{indent}", "", text, flags=re.MULTILINE)))
    return found


def not_run(title: str) -> bool:
    """Whether readers are told so."""
    return title.endswith("not run")


def run_page(page: Path) -> dict[str, Any]:
    """What its blocks leave behind."""
    namespace: dict[str, Any] = {"__name__": page.stem}
    for title, text in blocks(page):
        if not not_run(title):
            exec(compile(text, str(page), "exec"), namespace)
    return namespace
