"""Draws who imports whom among the packages, from the code itself, as
docs/images/architecture.svg.

A row and a column for each package, in layer order. A square says that the package of its row
imports from the package of its column; the darker, the more of its files do. That a package imports
only from packages before it is seen at once: nothing stands above the diagonal.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator
from html import escape
from itertools import accumulate
from pathlib import Path

from packages import LAYERS, LEVEL, SOURCE, imports

PICTURE = Path(__file__).resolve().parents[2] / "docs" / "images" / "architecture.svg"
CELL = 19
"""Side of a square (px)."""
LETTERS = 70
"""Of the words at the right."""
LEFT, TOP, WORDS, MARGIN = 232, 96, 470, 14
"""Space for names at the left and above, for words at the right, and around the page (px)."""
SHADES = ("#b9c9ee", "#7e9ade", "#3f5fae")
"""Of one file, of a few, of many."""
FEW, MANY = 3, 10
INK, PALE, RULE = "#1a2b5f", "#5a6478", "#d5dbe6"


def drawing() -> str:
    """The picture as SVG."""
    order = list(LEVEL)
    computed = imports()
    side = CELL * len(order)
    wide, tall = LEFT + side + WORDS, TOP + side + MARGIN
    parts = [f'<rect width="{wide}" height="{tall}" fill="#ffffff"/>', *_layers(side)]
    for i, package in enumerate(order):
        y = TOP + CELL * i
        parts.append(_text(LEFT - 8, y + 13.5, _name(package), anchor="end", weight=600))
        parts.append(
            _text(
                0,
                0,
                _name(package),
                place=f"translate({LEFT + CELL * i + 13.5},{TOP - 7}) rotate(-55)",
            )
        )
        parts.append(_text(LEFT + side + 12, y + 13.5, _what(package), colour=PALE))
        parts.append(
            f'<rect x="{LEFT + CELL * i + 1}" y="{y + 1}" width="{CELL - 2}" height="{CELL - 2}"'
            ' fill="#e9ebf0"/>'
        )
        parts.extend(
            _square(package, other, LEFT + CELL * order.index(other), y, files)
            for other, files in sorted(computed[package].items())
        )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {tall}"'
        ' font-family="system-ui, sans-serif">\n' + "\n".join(parts) + "\n</svg>\n"
    )


def _layers(side: int) -> Iterator[str]:
    """Lines between layers, and their names."""
    sizes = [sum(map(len, layer)) for layer in LAYERS.values()]
    for name, size, end in zip(LAYERS, sizes, accumulate(sizes), strict=True):
        top, bottom = TOP + CELL * (end - size), TOP + CELL * end
        yield (
            f'<path d="M{MARGIN},{bottom} H{LEFT + side + WORDS - MARGIN}'
            f' M{LEFT + CELL * end},{TOP} V{TOP + side}" stroke="{RULE}"/>'
        )
        yield _text(MARGIN, (top + bottom) / 2 + 4, name, colour="#5b7f3a")


def _square(package: str, other: str, x: int, y: int, files: int) -> str:
    shade = SHADES[(files >= FEW) + (files >= MANY)]
    stated = (
        f"{_name(package)} imports from {_name(other)} in {files} file{'s' if files > 1 else ''}"
    )
    return (
        f'<rect x="{x + 1}" y="{y + 1}" width="{CELL - 2}" height="{CELL - 2}" rx="3"'
        f' fill="{shade}"><title>{stated}</title></rect>'
    )


def _text(
    x: float,
    y: float,
    words: str,
    *,
    anchor: str = "start",
    weight: int = 400,
    colour: str = INK,
    place: str | None = None,
) -> str:
    where = f'transform="{place}"' if place else f'x="{x:g}" y="{y:g}"'
    return (
        f'<text {where} font-size="11.5" font-weight="{weight}" text-anchor="{anchor}"'
        f' fill="{colour}">{escape(words)}</text>'
    )


def _name(package: str) -> str:
    return (
        "varimech"
        if package == "__init__"
        else f"{package}/"
        if (SOURCE / package).is_dir()
        else package
    )


def _what(package: str) -> str:
    """What a package says of itself in its first sentence."""
    path = (
        SOURCE / package / "__init__.py"
        if (SOURCE / package).is_dir()
        else SOURCE / f"{package}.py"
    )
    stated = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    sentence = (
        stated.split("\n\n")[0].replace("\n", " ").replace("`", "").split(". ")[0].rstrip(".")
    )
    return textwrap.shorten(sentence, LETTERS, placeholder=" …")


if __name__ == "__main__":
    PICTURE.write_text(drawing(), encoding="utf-8")
    print(f"written: {PICTURE.relative_to(PICTURE.parents[2])}")
