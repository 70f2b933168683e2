"""Names that can be used everywhere: in files, tables, drawings, expressions, reports and generated
source; and texts within C comments.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from .errors import ModelError

LONGEST = 60
"""Characters of a name: drawings and tables have no space for more."""
SLASH = "/"
"""Separates folders, so that no mechanism and no part of one has it in its name: names become those
of files. Parameters and objectives are free, as their names are of ratios, such as 'k/m'.
"""
DOT = "."
"""Separates a body from its point ('rod.tip'), so that neither of them has one in its name."""


def check_name(kind: str, name: Any, without: str = SLASH) -> None:
    """Refuse what is no usable name.

    Args:
        kind: the sort of thing that gets the name, such as "point".
        name: what was given.
        without: characters that it must not contain, besides those that cannot be seen.

    Raises:
        ModelError: with the reason and the remedy.
    """
    if isinstance(name, str) and _is_usable(name, without):
        return
    a_kind = f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"
    if not isinstance(name, str) or not name.strip():
        raise ModelError(f"{a_kind} needs a name (a non-empty text), not {name!r}")
    shown = repr(name if len(name) <= LONGEST else f"{name[:40]}…")
    if len(name) > LONGEST:
        raise ModelError(
            f"the name {shown} of {a_kind} has {len(name)} characters; use at most {LONGEST}"
        )
    if name != name.strip():
        raise ModelError(
            f"the name {shown} of {a_kind} begins or ends with a blank; leave it out:"
            f" {name.strip()!r}"
        )
    if not name.isprintable():
        hidden = next(c for c in name if not c.isprintable())
        raise ModelError(
            f"the name {shown} of {a_kind} contains the character U+{ord(hidden):04X}, which cannot"
            " be seen; use letters, digits, plain blanks and signs"
        )
    if found := next((c for c in name if c in without), ""):
        reason = (
            "which separates a body from its point, as in 'rod.tip'"
            if found == DOT
            else "which separates folders"
        )
        raise ModelError(
            f"the name {shown} of {a_kind} contains {found!r}, {reason}; use another character,"
            " such as '_'"
        )


@lru_cache(maxsize=1024)  # names of objectives are checked in every run
def _is_usable(name: str, without: str) -> bool:
    return (
        bool(name)
        and len(name) <= LONGEST
        and name == name.strip()
        and name.isprintable()
        and not set(without) & set(name)
    )


def comment_text(text: str) -> str:
    """A text for a C comment: on one line, and whatever it contains, it ends no comment and begins
    none.

    What cannot be seen becomes a blank, a backslash (which joins lines) a slash; then no `*/`, no
    `/*` and no trigraph `??` is left.
    """
    visible = "".join(c if c.isprintable() else " " for c in text).replace("\\", "/")
    for pair in ("*/", "/*", "??"):
        while pair in visible:
            visible = visible.replace(pair, f"{pair[0]} {pair[1]}")
    return visible
