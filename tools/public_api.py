"""Lists the public interface: every public name with its signature, every public member, every
command with its options.

`python tools/public_api.py` writes the list that `tests/test_api.py` holds the package to. A line
that changes is a change for users: it belongs into CHANGELOG.md.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

import varimech

LIST = Path(__file__).resolve().parents[1] / "tests" / "data" / "public_api.txt"
MADE_BY_USERS = {
    "GeneralisedAlpha",
    "HHT",
    "Line",
    "Mechanism",
    "Newmark",
    "Panel",
    "Penalty",
    "Relative",
    "RungeKutta",
    "Stabilised",
    "Tolerance",
}
"""Classes that are called by their names; of all others, words and verbs make the objects."""


def public_api() -> str:
    """The whole list, a line each, in alphabetical order."""
    names = [line for name in varimech.__all__ for line in _lines(name, getattr(varimech, name))]
    return "\n".join([*sorted(names), *sorted(_commands(_app(), "varimech"))]) + "\n"


def _lines(name: str, thing: Any) -> Iterator[str]:
    if not inspect.isclass(thing):
        yield f"{name}{_signature(thing)}" if callable(thing) else name
        return
    yield f"{name}{_signature(thing)}" if name in MADE_BY_USERS else name
    for member, where in sorted(_members(thing).items()):
        value = inspect.getattr_static(where, member, None)
        function = value.__func__ if isinstance(value, (classmethod, staticmethod)) else value
        yield f"{name}.{member}{_signature(function) if inspect.isfunction(function) else ''}"


def _members(kind: type) -> dict[str, type]:
    """Public members that Varimech itself states, inherited ones included → the class that has
    them.
    """
    found: dict[str, type] = {}
    for base in reversed(kind.__mro__):
        if base.__module__.partition(".")[0] == "varimech":
            found.update(
                (name, base)
                for name in {**vars(base), **inspect.get_annotations(base)}
                if not name.startswith("_")
            )
    return found


def _signature(function: Any) -> str:
    """Names, kinds and defaults; types are the type checker's business."""
    signature = inspect.signature(function)
    bare = [
        p.replace(annotation=inspect.Parameter.empty)
        for p in signature.parameters.values()
        if p.name not in ("self", "cls")
    ]
    return str(inspect.Signature(bare))


def _app() -> Any:
    from varimech.cli import app

    return typer.main.get_command(app.app)


def _commands(command: Any, path: str) -> Iterator[str]:
    options = (
        "/".join([*p.opts, *p.secondary_opts])
        if p.param_type_name == "option"
        else str(p.name).upper()
        for p in command.params
    )
    yield f"$ {path}: {' '.join(options)}"
    for name, inner in getattr(command, "commands", {}).items():
        yield from _commands(inner, f"{path} {name}")


if __name__ == "__main__":
    LIST.write_text(public_api(), encoding="utf-8")
    print(f"written: {LIST.relative_to(LIST.parents[2])}")
