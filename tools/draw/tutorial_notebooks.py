"""Notebooks of the tutorial: its chapters as cells, in docs/notebooks.

    python tools/draw/tutorial_notebooks.py

Chapters are the only source: printed results and pictures are left out, because running the cells
shows them; the file that chapters import is a cell.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"
FOLDER = DOCS / "notebooks"
CHAPTERS = (
    "1_first_mechanism",
    "2_sensitivities",
    "3_tolerances",
    "4_optimisation",
    "5_flexible",
    "7_impacts",
)
FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", flags=re.DOTALL | re.MULTILINE)
IMPORT = "from crank_slider import crank_slider\n"
DOCSTRING = re.compile(r'^"""(.*)"""(?=\n)')
"""Of a file, which is no docstring in a cell."""
PRINTED = re.compile(r"^print\((\w+)\)$", flags=re.MULTILINE)
SAVED = re.compile(r'^(.*)\.savefig\("[^"]*"\)$', flags=re.MULTILINE)
"""Results and figures, which a notebook shows as they are."""
SHARED = DOCS / "tutorial" / "crank_slider.py"


def notebook(chapter: str) -> str:
    """A chapter as the text of a notebook."""
    page = (DOCS / "tutorial" / f"{chapter}.md").read_text(encoding="utf-8")
    cells: list[dict[str, object]] = []
    _add_code(cells, "%matplotlib inline")
    end = 0
    for block in FENCE.finditer(page):
        _add_words(cells, page[end : block.start()])
        end = block.end()
        if block[1] == "python":
            _add_code(cells, block[2])
    _add_words(cells, page[end:])
    content = {
        "cells": [{"id": f"cell-{k}", **cell} for k, cell in enumerate(cells)],
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def _add_words(cells: list[dict[str, object]], text: str) -> None:
    text = re.sub(r"^!\[.*\)\n?", "", text, flags=re.MULTILINE)
    text = re.sub(r"\]\((?!http)(\.\./)?([\w./#-]+)\)", _link, text).strip()
    if text:
        cells.append({"cell_type": "markdown", "metadata": {}, "source": text.splitlines(True)})


def _link(match: re.Match[str]) -> str:
    """A link of a chapter, as seen from the folder of the notebooks."""
    return f"](../{'' if match[1] else 'tutorial/'}{match[2]})"


def _add_code(cells: list[dict[str, object]], text: str) -> None:
    if IMPORT in text:
        shared = SHARED.read_text(encoding="utf-8")
        if not any("def crank_slider" in "".join(c["source"]) for c in cells):  # type: ignore[arg-type]
            _add_code(cells, shared)
        text = text.replace(IMPORT, "").lstrip("\n")
    text = DOCSTRING.sub(r"# \1", text)
    text = SAVED.sub(r"display(\1)", PRINTED.sub(r"display(\1)", text)).rstrip()
    cells.append(
        {
            "cell_type": "code",
            "execution_count": None,
            "metadata": {},
            "outputs": [],
            "source": text.splitlines(True),
        }
    )


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for chapter in CHAPTERS:
        (FOLDER / f"{chapter}.ipynb").write_text(notebook(chapter), encoding="utf-8")
        print(f"written: docs/notebooks/{chapter}.ipynb")


if __name__ == "__main__":
    main()
