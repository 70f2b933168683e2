"""Lists the public interface: every public name with its signature, every public member, every
command with its options.

`python tools/public_api.py` writes the list that `tests/test_api.py` holds the package to, and the
module of each public name, from which it is imported when it is first used. A line
that changes is a change for users: it belongs into CHANGELOG.md.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from textwrap import wrap
from types import ModuleType
from typing import Any

import typer

import varimech
from varimech.identification.experiment import ExperimentOptions
from varimech.identification.fitting import FitOptions
from varimech.identification.inference import PosteriorOptions
from varimech.optimization.design import DesignOptions, SearchOptions
from varimech.problem import ProblemOptions
from varimech.robust.allocate import AllocationOptions
from varimech.robust.design import RobustDesignOptions, RobustOptions
from varimech.robust.statistics import StatisticsArguments
from varimech.schemes import RunOptions
from varimech.uncertainty.monte_carlo import StudyOptions

LIST = Path(__file__).resolve().parents[1] / "tests" / "data" / "public_api.txt"
MADE_BY_USERS = {
    "GeneralisedAlpha",
    "GpuWorkers",
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
"""Classes that are called by their names; all others are made by element methods and analyses."""


OPTIONS = (
    RunOptions,
    ProblemOptions,
    StudyOptions,
    DesignOptions,
    SearchOptions,
    RobustDesignOptions,
    RobustOptions,
    StatisticsArguments,
    FitOptions,
    AllocationOptions,
    PosteriorOptions,
    ExperimentOptions,
)
"""What `**options` of analyses take."""
PACKAGE = Path(varimech.__file__ or "")
MODULES = PACKAGE.with_name("public_names.py")


def public_names() -> dict[str, str]:
    """The module of each public name, by the imports in `varimech/__init__.pyi`."""
    tree = ast.parse(PACKAGE.with_suffix(".pyi").read_text(encoding="utf-8"))
    return {
        alias.name: node.module or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname == alias.name
    }


def modules_text() -> str:
    """The same as the module that `varimech` reads."""
    names: dict[str, list[str]] = {}
    for name, module in sorted(public_names().items()):
        names.setdefault(module, []).append(name)
    lines = []
    for module, held in sorted(names.items()):
        first, *rest = wrap(" ".join(held), 80)
        if rest:
            wrapped = "\n".join(f'        " {line}"' for line in rest)
            lines.append(f'    "{module}": (\n        "{first}"\n{wrapped}\n    ),')
        else:
            lines.append(f'    "{module}": "{first}",')
    title = '"""The module of each public name; written by `python tools/public_api.py`."""'
    by_name = (
        "MODULES = {name: module for module, names in NAMES.items() for name in names.split()}"
    )
    return "\n".join([title, "", "NAMES = {", *lines, "}", by_name, ""])


def public_api() -> str:
    """The whole list, a line each, in alphabetical order."""
    names = [
        line
        for name, module in public_names().items()
        for line in _lines(name, _value(name, import_module(f"varimech.{module}")))
    ]
    options = [f"{kind.__name__}: {', '.join(sorted(kind.__annotations__))}" for kind in OPTIONS]
    commands = sorted(_commands(_app(), "varimech"))
    return "\n".join([*sorted(names), *sorted(options), *commands]) + "\n"


def _value(name: str, module: ModuleType) -> Any:
    """What has a public name: the module itself, or something in it."""
    return module if module.__name__ == f"varimech.{name}" else getattr(module, name)


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
    results: dict[str, type] = {}
    for base in reversed(kind.__mro__):
        if base.__module__.partition(".")[0] == "varimech":
            results.update(
                (name, base)
                for name in {**vars(base), **inspect.get_annotations(base)}
                if not name.startswith("_")
            )
    return results


def _signature(function: Any) -> str:
    """Names, kinds and defaults, and what `**options` takes; other types are the type checker's
    business.
    """
    signature = inspect.signature(function)
    bare = [
        p if "Unpack" in str(p.annotation) else p.replace(annotation=inspect.Parameter.empty)
        for p in signature.parameters.values()
        if p.name not in ("self", "cls")
    ]
    return str(inspect.Signature(bare)).replace("'Unpack[", "Unpack[").replace("]')", "])")


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
    MODULES.write_text(modules_text(), encoding="utf-8")
    LIST.write_text(public_api(), encoding="utf-8")
    print(f"written: {LIST.relative_to(LIST.parents[2])}")
