"""The rooms of the house: in which order they stand, and who imports whom, read from the code itself."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2] / "src" / "varimech"
FLOORS: dict[str, list[tuple[str, ...]]] = {
    "what everybody uses": [
        ("errors", "interrupts", "symbols", "progress", "angles", "sizes", "markup"),
        ("mathematics", "memory", "names", "units", "whole_files"),
        ("expressions",),
        ("schedule",),
        ("elimination",),
    ],
    "what is written": [("model",)],
    "equations": [("stages",), ("coordinates",), ("integrators",), ("formulations",), ("methods",)],
    "derivatives": [("sensitivity",)],
    "carried out": [("backends",)],
    "what comes out": [("view",), ("results",)],
    "solving": [("solving",), ("verbs",)],
    "studies": [("optimization",), ("uncertainty",)],
    "in and out": [("files",), ("reports",), ("interchange",)],
    "what users hold": [("mechanism",), ("doctor",), ("__init__",), ("benchmarks",), ("cli",), ("__main__",)],
}
"""Rooms in their order: one imports only from rooms before it, and not from those that it shares a place with."""
LEVEL = {room: level for level, rooms in enumerate(rooms for floor in FLOORS.values() for rooms in floor) for room in rooms}


def room_of(path: Path) -> str:
    """The room that a file belongs to."""
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported_rooms(path: Path) -> set[str]:
    """Rooms that a file imports from, wherever in the file the import stands (also under TYPE_CHECKING)."""
    package = ["varimech", *path.relative_to(SOURCE).parts[:-1]]
    found = set()
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
                found.add(words[1] if len(words) > 1 else "__init__")
    return found


def imports() -> dict[str, Counter[str]]:
    """Room → rooms that it imports from, with how many of its files do."""
    found: dict[str, Counter[str]] = {room: Counter() for room in LEVEL}
    for path in SOURCE.rglob("*.py"):
        found[room_of(path)].update(imported_rooms(path) - {room_of(path)})
    return found
