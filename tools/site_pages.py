"""For the website: formulas as MathML, which browsers set without scripts or fonts of their own, and
pages from files at the top of the repository (a hook of MkDocs, named in mkdocs.yml).

Formulas are LaTeX: blocks fenced as ```math, one line of the formula each, and `$…$` within text.
"""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[1]
FROM_THE_TOP = {"CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
INLINE = re.compile(r'<span class="arithmatex">\\\((.*?)\\\)</span>', flags=re.DOTALL)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Blocks fenced as math are formulas."""
    fences = config.mdx_configs.setdefault("pymdownx.superfences", {})
    fences["custom_fences"] = [{"name": "math", "class": "math", "format": display}]
    return config


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the pages that are files at the top."""
    for source, page in FROM_THE_TOP.items():
        text = (ROOT / source).read_text(encoding="utf-8").replace("](docs/", "](")
        files.append(File.generated(config, page, content=text))
    return files


def on_page_content(content: str, **_: Any) -> str:
    """Set the formulas within text."""
    return INLINE.sub(lambda found: convert(html.unescape(found[1])), content)


def display(source: str, *_: Any, **__: Any) -> str:
    """MathML of a block, one formula for each line."""
    return "".join(
        f'<div class="math">{convert(formula, display="block")}</div>'
        for formula in formulas(source)
    )


def formulas(block: str) -> list[str]:
    """Lines of a block; lines with a label before & are one formula with two columns."""
    lines = [line.strip() for line in block.splitlines() if line.strip()]
    if any("&" in line for line in lines):
        return [r"\begin{array}{ll}" + r" \\ ".join(lines) + r"\end{array}"]
    return lines
