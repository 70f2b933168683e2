"""Code of documentation pages: blocks fenced as ```python run in order, in one namespace.

Titles of blocks mark exceptions: "name.py" shows a file next to the page, "from examples/name.py"
lines of a file that is tested elsewhere, and "…, not run" code that needs another program or
machine.
"""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
FENCE = re.compile(r"^( *)```(\w*) *([^\n]*)\n(.*?)^\1```$", flags=re.DOTALL | re.MULTILINE)


def blocks(page: Path, language: str = "python") -> list[tuple[str, str]]:
    """(title, text) of the fenced blocks of a language."""
    results = []
    for indent, kind, info, text in FENCE.findall(page.read_text(encoding="utf-8")):
        if kind == language:
            title = re.fullmatch(r'title="(.*)"', info)
            assert title or not info, f"{page.name}: {info!r} says neither nothing nor a title"
            results.append(
                (title[1] if title else "", re.sub(f"^{indent}", "", text, flags=re.MULTILINE))
            )
    return results


def not_run(title: str) -> bool:
    """Whether the title states that the block does not run, or that it is part of a file that runs
    elsewhere.
    """
    return title.endswith("not run") or title.startswith("from ")


def run_page(page: Path) -> dict[str, Any]:
    """Run the blocks of a page and return their namespace."""
    namespace: dict[str, Any] = {"__name__": page.stem}
    for title, text in blocks(page):
        if not not_run(title):
            exec(compile(text, str(page), "exec"), namespace)
    return namespace


def run_and_capture(page: Path, capture: Any) -> list[tuple[str, str]]:
    """(stated, printed) output for each text block that follows a code block."""
    namespace: dict[str, Any] = {"__name__": page.stem}
    pairs: list[tuple[str, str]] = []
    printed = ""
    for _, kind, info, text in FENCE.findall(page.read_text(encoding="utf-8")):
        if kind == "python" and not not_run(info.removeprefix('title="').rstrip('"')):
            exec(compile(text, str(page), "exec"), namespace)
            printed = capture.readouterr().out
        elif kind == "text":
            pairs.append((text, printed))
    return pairs


def same(stated: str, printed: str) -> bool:
    """Compare word by word: equal, equal up to "…", or numbers that agree in six digits."""
    words = stated.split(), printed.split()
    return len(words[0]) == len(words[1]) and all(map(_agree, *words))


def _agree(stated: str, printed: str) -> bool:
    if stated == printed or ("…" in stated and printed.startswith(stated.split("…")[0])):
        return True
    try:
        return math.isclose(
            float(stated.strip("[](){},;")), float(printed.strip("[](){},;")), rel_tol=1e-6
        )
    except ValueError:
        return False
