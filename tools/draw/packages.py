"""The packages of Varimech: their order, and which imports which, read from the code itself."""

from __future__ import annotations

import ast
from collections import Counter
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2] / "src" / "varimech"
LAYERS: dict[str, list[tuple[str, ...]]] = {
    "foundations": [("core",)],
    "model": [("model",), ("elements",)],
    "equations": [("stages",), ("coordinates",), ("integrators",), ("formulations",), ("schemes",)],
    "derivatives": [("sensitivity",)],
    "execution": [("backends",)],
    "presentation": [("plotting",), ("results",), ("certification",)],
    "solution": [("solving",), ("analyses",)],
    "studies": [
        ("optimization",),
        ("uncertainty",),
        ("robust",),
        ("identification",),
        ("frameworks",),
        ("problem",),
    ],
    "input and output": [
        ("files",),
        ("web",),
        ("reports",),
        ("notebook",),
        ("studio",),
        ("interchange",),
    ],
    "interfaces": [
        ("mechanism",),
        ("public_names",),
        ("__init__",),
        ("benchmarks",),
        ("testing",),
        ("cli",),
        ("__main__",),
    ],
}
"""Packages in their order: one imports only from packages before it, and not from those on its own
level.
"""
LEVEL = {
    package: level
    for level, packages in enumerate(packages for layer in LAYERS.values() for packages in layer)
    for package in packages
}


def package_of(path: Path) -> str:
    """The package that a file belongs to."""
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


@cache
def imported_packages(path: Path) -> set[str]:
    """Packages that a file imports from, wherever in the file the import stands (also under
    TYPE_CHECKING).
    """
    package = ["varimech", *path.relative_to(SOURCE).parts[:-1]]
    computed = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            names = [".".join([*base, *([node.module] if node.module else [])])]
        else:
            continue
        for name in names:
            words = name.split(".")
            if words[0] == "varimech":
                computed.add(words[1] if len(words) > 1 else "__init__")
    return computed


def imports() -> dict[str, Counter[str]]:
    """Package → packages that it imports from, with how many of its files do."""
    results: dict[str, Counter[str]] = {package: Counter() for package in LEVEL}
    for path in SOURCE.rglob("*.py"):
        results[package_of(path)].update(imported_packages(path) - {package_of(path)})
    return results
