"""Writes what follows from the fields of elements: the typed builder methods, and the tables of
arguments on their pages:  python tools/write_elements.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from textwrap import indent
from typing import Any

from varimech.elements.registry import BUILT_IN
from varimech.model.element import Element
from varimech.model.fields import Field

ROOT = Path(__file__).resolve().parents[1]
METHODS = ROOT / "src" / "varimech" / "elements" / "methods.py"
PAGES = ROOT / "docs" / "elements"
HEADING = '''"""Builder methods of all elements, with types for editors and type checkers.

Written by `python tools/write_elements.py` from the fields of the elements; change those.
"""

from __future__ import annotations

from typing import Any

from ..model.model_data import PointLike
from ..model.writing import ModelBuilder, Number, change
'''


def methods_text() -> str:
    """The module of builder methods."""
    imports = sorted(f"from .{_module(kind)} import {kind.__name__}" for kind in BUILT_IN)
    methods = "\n".join(_method(kind) for kind in BUILT_IN)
    return (
        HEADING
        + "\n".join(imports)
        + '\n\n\nclass ElementMethods(ModelBuilder):\n    """A method for every element."""\n\n'
        + methods
    )


def _module(kind: type[Element]) -> str:
    return kind.__module__.rpartition(".")[2]


def _method(kind: type[Element]) -> str:
    positional = [f for f in kind.fields() if f.positional]
    named = [f for f in kind.fields() if not f.positional]
    arguments = ["self", "name: str", *map(_argument, positional)]
    arguments += ["*", *map(_argument, named)] if named else []
    signature = "".join(f"        {argument},\n" for argument in arguments)
    text = kind.documentation()
    docstring = indent(f'"""{text}\n"""', " " * 8).replace("\n        \n", "\n\n")
    return (
        f"    @change\n    def {kind.method()}(\n{signature}    ) -> {kind.__name__}:\n{docstring}\n"
        f"        return self._add({kind.__name__}, locals())\n"
    )


def _argument(field: Field[Any]) -> str:
    default = "" if field.required else f" = {_shown(field.default)}"
    return f"{field.name}: {field.annotation}{default}"


def _shown(value: Any) -> str:
    return repr(value).replace("'", '"')


def table(kind: type[Element]) -> str:
    """The arguments of an element as a table in Markdown."""
    lines = ["| argument | what | unit | if not given |", "|---|---|---|---|"]
    for field in kind.fields():
        default = "required" if field.required else f"`{_shown(field.default)}`"
        lines.append(f"| `{field.name}` | {field.description} | {field.unit} | {default} |")
    return "\n".join(lines) + "\n"


def page_of(kind: type[Element]) -> Path:
    """The page that shows an element; one page may show several."""
    return next(
        page
        for page in sorted(PAGES.glob("*.md"))
        if f"<!-- arguments of {kind.method()} -->" in page.read_text(encoding="utf-8")
    )


def with_tables(text: str, kinds: Iterable[type[Element]]) -> str:
    """A page with its tables as the fields have them."""
    for kind in kinds:
        begin, end = (f"<!-- {word} of {kind.method()} -->" for word in ("arguments", "end"))
        text = re.sub(
            rf"{begin}\n.*?{end}", lambda _, k=kind: f"{begin}\n{table(k)}{end}", text, flags=re.S
        )
    return text


if __name__ == "__main__":
    METHODS.write_text(methods_text(), encoding="utf-8")
    print(METHODS.relative_to(ROOT))
    for page in sorted(PAGES.glob("*.md")):
        text = page.read_text(encoding="utf-8")
        page.write_text(with_tables(text, BUILT_IN), encoding="utf-8")
