"""Scripts and styles of pages. Scripts are modules; the studio serves them as they are, and a
self-contained page gets them as one text.
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
    """Bundle a module and its imports as one script, each module once, after its imports.

    Their names share one scope, so each name must be defined in one module only.
    """
    return "\n".join(EXPORT.sub("", IMPORT.sub("", asset(name))) for name in needed(entry))


def needed(entry: str, modules: tuple[str, ...] = ()) -> tuple[str, ...]:
    """A module and its imports, in an order in which they can be executed."""
    for match in IMPORT.finditer(asset(entry)):
        if match[2] not in modules:
            modules = needed(match[2], modules)
    return (*modules, entry)
