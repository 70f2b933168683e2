"""Names that are valid everywhere: in files, tables, drawings, expressions, reports and generated
source; a base class for named objects; and texts within C comments.
"""

from __future__ import annotations

from functools import lru_cache

from .errors import ModelError

LONGEST = 60
"""Longest name (characters): drawings and tables have no space for more."""
SLASH = "/"
"""Not allowed in names of mechanisms and elements, which become file names. Parameters and
objectives may be ratios, such as 'k/m'.
"""
DOT = "."
"""Separates a body from its point ('rod.tip'), so it is not allowed in the names of either."""


def check_name(kind: str, name: object, without: str = SLASH) -> None:
    """Raise an error for an unusable name.

    Args:
        kind: kind of the named thing, such as "point".
        name: the name.
        without: characters that it must not contain, besides non-printable ones.

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
            f"the name {shown} of {a_kind} has {len(name)} characters",
            remedy=f"use at most {LONGEST}",
        )
    if name != name.strip():
        raise ModelError(
            f"the name {shown} of {a_kind} begins or ends with a blank",
            remedy=f"use {name.strip()!r}",
        )
    if not name.isprintable():
        hidden = next(c for c in name if not c.isprintable())
        problem = (
            f"the name {shown} of {a_kind} contains the character U+{ord(hidden):04X}, which is"
            " not printable"
        )
        raise ModelError(problem, remedy="use letters, digits, plain blanks and signs")
    if forbidden := next((c for c in name if c in without), ""):
        reason = (
            "which separates a body from its point, as in 'rod.tip'"
            if forbidden == DOT
            else "which separates folders"
        )
        problem = f"the name {shown} of {a_kind} contains {forbidden!r}, {reason}"
        raise ModelError(problem, remedy="use another character, such as '_'")


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
    """Text that is safe within a C comment: one line that neither ends nor begins a comment.

    Non-printable characters become blanks and backslashes (which join lines) become slashes; then
    no `*/`, no `/*` and no trigraph `??` remains.
    """
    visible = "".join(c if c.isprintable() else " " for c in text).replace("\\", "/")
    for pair in ("*/", "/*", "??"):
        while pair in visible:
            visible = visible.replace(pair, f"{pair[0]} {pair[1]}")
    return visible


class Named:
    """Base class of the named parts of a mechanism; `details` follow the name in `repr`."""

    name: str

    @property
    def details(self) -> str:
        """Text that `repr` shows after the name."""
        return ""

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}{self.details}>"
