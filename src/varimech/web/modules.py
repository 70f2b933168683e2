"""Scripts and styles of pages. Scripts are modules; the studio serves them as they are, and a page
that has to stand alone gets them as one text.
"""

from __future__ import annotations

import re
from importlib.resources import files

IMPORT = re.compile(r'^import \{ ([\w, ]+) \} from "\./([\w.]+)";\n', re.MULTILINE)
"""The only form of import that scripts use."""
EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const) )", re.MULTILINE)


def asset(name: str) -> str:
    """Text of a script, style or fragment of a page."""
    return files(__package__).joinpath("assets", name).read_text(encoding="utf-8")


def in_one(entry: str) -> str:
    """A module and all that it imports as one script, each module once, after those it needs.

    Their names share one scope, so each is defined in one module only.
    """
    return "\n".join(EXPORT.sub("", IMPORT.sub("", asset(name))) for name in needed(entry))


def needed(entry: str, found: tuple[str, ...] = ()) -> tuple[str, ...]:
    """A module and those that it imports, in an order in which they can be executed."""
    for match in IMPORT.finditer(asset(entry)):
        if match[2] not in found:
            found = needed(match[2], found)
    return (*found, entry)
