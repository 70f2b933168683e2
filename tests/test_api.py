"""The public interface: it is what the list says, and what users are shown needs nothing else."""

from __future__ import annotations

import ast
import difflib
import inspect
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from markdown_pages import DOCS, ROOT, blocks
from public_api import LIST, MODULES, modules_text, public_api

import varimech

INSIDE = {"architecture.md", "extending.md"}
"""Pages for those who change Varimech itself."""
ENGINE = ("varimech.coordinates.", "varimech.formulations.", "varimech.integrators.")
"""Packages whose methods the engine calls, not the user: their contracts document the arguments."""
FOR_INTERFACES = {"text"}
"""Methods whose argument is for the interfaces of Varimech; `print` shows what they return."""
SHOWN = [
    *(
        (path, path.read_text(encoding="utf-8"))
        for path in sorted((ROOT / "examples").glob("*.py"))
    ),
    *(
        (page, code)
        for page in [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
        for _, code in blocks(page)
        if page.name not in INSIDE
    ),
]


def test_the_public_interface_is_the_one_that_is_listed() -> None:
    listed, computed = LIST.read_text(encoding="utf-8"), public_api()
    changed = [
        line
        for line in difflib.ndiff(listed.splitlines(), computed.splitlines())
        if line[0] in "+-"
    ]
    assert not changed, "\n".join(
        [
            (
                "the public interface changed; if that is meant, tell it in CHANGELOG.md and run"
                " python tools/public_api.py:"
            ),
            *changed,
        ]
    )


def test_public_names_are_those_that_type_checkers_see() -> None:
    """`python tools/public_api.py` writes the table anew."""
    assert MODULES.read_text(encoding="utf-8") == modules_text()
    for name in varimech.__all__:
        assert getattr(varimech, name) is not None


def test_completion_shows_the_public_names_and_only_these() -> None:
    code = "import varimech as vm; first = dir(vm); vm.peak, vm.Fit; print(*first); print(*dir(vm))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [" ".join(varimech.__all__)] * 2
    assert {"path", "peak", "report", "Fit", "Moments", "Problem"} <= set(varimech.__all__)
    with pytest.raises(AttributeError, match="no attribute 'Mechansim'"):
        getattr(varimech, "Mechansim")  # noqa: B009


def test_what_users_are_shown_is_public() -> None:
    """Examples and pages import `varimech` and its benchmarks, and nothing from within."""
    wrong = [
        f"{path.name}: {module}"
        for path, code in SHOWN
        for module in _imported(code)
        if module.partition(".")[0] == "varimech"
        and module not in ("varimech", "varimech.benchmarks")
    ]
    assert not wrong


def _imported(code: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield str(node.module)


def undocumented(function: Callable[..., Any]) -> list[str]:
    """Arguments without an entry under `Args:`, and "Returns:" where that is missing."""
    signature, doc = inspect.signature(function), inspect.getdoc(function) or ""
    section = re.search(r"^Args:\n((?: .*\n?|\n)*)", doc, re.MULTILINE)
    heads = re.findall(r"^ {4}(\w[\w, ]*):", section[1] if section else "", re.MULTILINE)
    entries = {name.strip() for head in heads for name in head.split(",")}
    missing = [
        p.name
        for p in signature.parameters.values()
        if p.name not in ("self", "cls", *entries) and p.kind != p.VAR_KEYWORD
    ]
    # builder methods have no annotation: they return their element
    returns = signature.return_annotation not in (None, "None", signature.empty)
    return missing + (["Returns:"] if returns and "\nReturns:\n" not in doc else [])


def public_functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Public functions and methods of public classes, inherited ones once."""
    seen = set()
    for name in varimech.__all__:
        thing = getattr(varimech, name)
        members = dir(thing) if inspect.isclass(thing) else []
        both = [(name, thing)] if inspect.isfunction(thing) else []
        both += [(f"{name}.{m}", inspect.getattr_static(thing, m)) for m in members if m[0] != "_"]
        for label, value in both:
            function = getattr(value, "__func__", value)
            if inspect.isfunction(function) and function not in seen:
                seen.add(function)
                yield label, function


def test_public_functions_document_arguments_and_values() -> None:
    functions = dict(public_functions())
    assert len(functions) > 200 and {"Mechanism.from_file", "Run.position", "sin"} <= {*functions}
    gaps = {
        name: missing
        for name, function in functions.items()
        if function.__module__.startswith("varimech.")
        and not function.__module__.startswith(ENGINE)
        and function.__name__ not in FOR_INTERFACES
        and (missing := undocumented(function))
    }
    assert not gaps


def test_a_missing_entry_is_reported() -> None:
    def half(first: int, second: int, third: int = 0) -> int:
        """Add.

        Args:
            first, third: numbers.

        Raises:
            second: is not an argument here.
        """
        return first + second + third

    assert undocumented(half) == ["second", "Returns:"]
