"""Writes the typed builder methods and the tables of arguments on the pages of elements, both from
the fields of the elements:  python tools/write_elements.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from textwrap import indent
from typing import Any

from varimech.elements.registry import BUILT_IN
from varimech.model.body_element import BodyElement
from varimech.model.element import Element
from varimech.model.fields import Field

WIDTH = 100
"""Length of a line, as for the formatter."""
ROOT = Path(__file__).resolve().parents[1]
METHODS = ROOT / "src" / "varimech" / "elements" / "methods.pyi"
PAGES = ROOT / "docs" / "elements"
HEADING = '''"""Types of the builder methods. `python tools/write_elements.py` writes this file from the fields of
the elements; change the fields, not this file.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from ..model.beam import Beam
from ..model.body import Body, Point, RigidBody
from ..model.element import Element
from ..model.joint import Joint
from ..model.model_data import PointLike
from ..model.parameter import Number, Vector
from ..model.solids import Solid
'''


def methods_text() -> str:
    """The module of builder methods."""
    modules: dict[str, list[str]] = {}
    for kind in (k for k in BUILT_IN if not issubclass(k, BodyElement)):
        modules.setdefault(_module(kind), []).append(kind.__name__)
    imports = [
        f"from .{name} import {', '.join(sorted(modules[name]))}" for name in sorted(modules)
    ]
    methods = "\n".join(_method(kind) for kind in BUILT_IN)
    return (
        HEADING
        + "\n".join(imports)
        + "\n\ndef method_of(kind: type[Element]) -> Any: ...\n"
        + '\nclass ElementMethods:\n    """A method for every built-in element."""\n\n'
        + methods
    )


def _module(kind: type[Element]) -> str:
    return kind.__module__.rpartition(".")[2]


def _method(kind: type[Element]) -> str:
    positional = [f for f in kind.fields() if f.positional]
    named = [f for f in kind.fields() if not f.positional]
    arguments = ["self", "name: str", *map(_argument, positional)]
    arguments += ["*", *map(_argument, named)] if named else []
    text = kind.documentation()
    docstring = indent(f'"""{text}\n"""', " " * 8).replace("\n        \n", "\n\n")
    made = kind.makes if issubclass(kind, BodyElement) else kind
    return f"{_signature(kind.method(), arguments, made.__name__)}\n{docstring}\n"


def _signature(name: str, arguments: list[str], made: str) -> str:
    """A signature on one line, with all arguments on a second line, or with one line for each argument, as
    the formatter writes it.
    """
    joined = ", ".join(arguments)
    if len(line := f"    def {name}({joined}) -> {made}:") <= WIDTH:
        return line
    inside = f"        {joined}"
    if len(inside) > WIDTH:
        inside = "\n".join(f"        {argument}," for argument in arguments)
    return f"    def {name}(\n{inside}\n    ) -> {made}:"


def _argument(field: Field[Any]) -> str:
    default = "" if field.required else f" = {_shown(field.default)}"
    return f"{field.name}: {field.annotation}{default}"


def _shown(value: Any) -> str:
    return repr(value).replace("'", '"')


def table(kind: type[Element]) -> str:
    """The arguments of an element as a table in Markdown."""
    lines = ["| argument | description | unit | default |", "|---|---|---|---|"]
    for field in kind.fields():
        default = "required" if field.required else f"`{_shown(field.default)}`"
        lines.append(f"| `{field.name}` | {field.description} | {field.unit} | {default} |")
    return "\n".join(lines) + "\n"


def with_tables(text: str, kinds: Iterable[type[Element]]) -> str:
    """A page with its tables updated from the fields."""
    for kind in kinds:
        begin, end = (f"<!-- {word} of {kind.method()} -->" for word in ("arguments", "end"))
        before, computed, rest = text.partition(begin)
        if computed:
            text = f"{before}{begin}\n\n{table(kind)}\n{end}{rest.partition(end)[2]}"
    return text


if __name__ == "__main__":
    METHODS.write_text(methods_text(), encoding="utf-8")
    print(METHODS.relative_to(ROOT))
    for page in sorted(PAGES.glob("*.md")):
        text = page.read_text(encoding="utf-8")
        page.write_text(with_tables(text, BUILT_IN), encoding="utf-8")
