"""For the API pages: doctests of docstrings become examples, set as code (an extension of Griffe,
named in mkdocs.yml).
"""

from __future__ import annotations

import re
from typing import Any

import griffe


class DoctestSections(griffe.Extension):
    """Puts lines that begin with >>> under a heading that Griffe knows."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        if obj.docstring and ">>>" in obj.docstring.value:
            obj.docstring.value = with_section(obj.docstring.value)


def with_section(text: str) -> str:
    """The docstring with its first block of doctests, and all that follows, as a section of
    examples.
    """
    head, doctest = re.split(r"(?=^>>>)", text, maxsplit=1, flags=re.MULTILINE)
    return head + "Examples:\n" + re.sub(r"^(?=.)", "    ", doctest, flags=re.MULTILINE)
