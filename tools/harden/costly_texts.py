"""Texts that are made to cost much: pieces of the grammar, repeated side by side or one in the
other, as quantities and expressions.
"""

from __future__ import annotations

import random

FRAGMENTS = (
    *(
        "1",
        "1.5e-3",
        "a",
        "t",
        "-a",
        " ",
        "1 ",
        "0",
        "1/",
        "m",
        "m ",
        "(",
        "²",
        "'a'",
        "µ",
        "#",
        "\\",
        "\n",
    ),
    *(
        "a**2",
        "a<b",
        "[a]",
        "[a, b]",
        "[[1, 2], [3, 4]]",
        "sin(a)",
        "norm([a, b])",
        "rotation([0, 0, 1], a)",
        "cross([1, 2, 3], [a, b, 1])",
    ),
    *(
        "energy()",
        "position('P')",
        "rate(t)",
        "rate(energy())",
        "rate(rate(t))",
        "reaction('O')",
        "parameter('a')",
        "lambda: a",
        "a if a else a",
    ),
)
WRAPPERS = (
    *(("", between, "") for between in ("+", "*", "@", "**", ",", "/", "", " ", "<")),
    *(("[", between, "]") for between in (",", "]@[", "][")),
    *(("[[", between, "]]") for between in (",", "],[", "]]@[[")),
    ("(", ")*(", ")"),
    ("minimum(", ",", ")"),
    ("norm([", ",", "])"),
    *(("1 ", between, "") for between in ("*", "/")),
    ("dot([", ",", "],[1])"),
    ("f(", "=", ")"),
    ("1", " ", "x"),
    *(
        (before, None, ")")
        for before in (
            *("(", "sin(", "a+(", "rate(", "1 ("),
            *("where(a<b, a, ", "rotation([0,0,1],"),
        )
    ),
    *((before, None, "]") for before in ("[", "a[", "[a,")),
    *((before, None, "") for before in ("-", "[a, b]@", "2**")),
)
"""What stands before, between and after the pieces; nothing between where they stand one in the
other.
"""


def repeated(piece: str, wrapper: tuple[str, str | None, str], size: int) -> str:
    """As many of a piece as fit into some number of characters."""
    before, between, after = wrapper
    if between is None:
        count = max(1, (size - len(piece)) // (len(before) + len(after)))
        return before * count + piece + after * count
    count = max(1, (size - len(before) - len(after)) // (len(piece) + len(between) or 1))
    return before + between.join([piece] * count) + after


def costly(dice: random.Random, longest: int = 9000) -> str:
    """A text of up to some length, of pieces of pieces."""
    text = repeated(dice.choice(FRAGMENTS), dice.choice(WRAPPERS), dice.choice((1, 10, 100, 1000)))
    if dice.random() < 0.7:
        text = repeated(text, dice.choice(WRAPPERS), dice.choice((100, 1000, longest)))
    return text[:longest]
