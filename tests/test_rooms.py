"""The house rules: a room imports only from the rooms before it; benchmarks and the command line use the public interface only."""

from __future__ import annotations

import ast
from pathlib import Path

import varimech

SOURCE = Path(varimech.__file__).parent
ROOMS = [
    ("errors", "interrupts", "symbols", "progress", "angles", "sizes", "markup"),
    ("unit_names",),
    ("expressions", "units"),
    ("schedule",),
    ("elimination",),
    ("stages",),
    ("model",),
    ("coordinates",),
    ("integrators",),
    ("formulations",),
    ("methods",),
    ("sensitivity",),
    ("backends",),
    ("view",),
    ("results",),
    ("task",),
    ("diagnosis",),
    ("composite",),
    ("programs",),
    ("second_order",),
    ("statics",),
    ("solver",),
    ("at_rest",),
    ("derivatives",),
    ("optimization",),
    ("uncertainty",),
    ("files",),
    ("reports",),
    ("interchange",),
    ("mechanism",),
    ("doctor",),
    ("__init__",),
    ("benchmarks",),
    ("cli",),
    ("__main__",),
]
LEVEL = {room: level for level, rooms in enumerate(ROOMS) for room in rooms}


def room_of(path: Path) -> str:
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


def test_every_room_is_in_the_plan() -> None:
    rooms = {room_of(p) for p in SOURCE.rglob("*.py")}
    assert rooms == set(LEVEL)


def test_rooms_import_only_from_rooms_before_them() -> None:
    wrong = [
        f"{path.relative_to(SOURCE)} imports {room}"
        for path in SOURCE.rglob("*.py")
        for room in imported_rooms(path) - {room_of(path)}
        if LEVEL[room] >= LEVEL[room_of(path)]
    ]
    assert not wrong


def test_benchmarks_use_the_public_interface_only() -> None:
    files = [p for p in (SOURCE / "benchmarks").glob("*.py") if p.name != "__init__.py"]
    assert files
    for path in files:
        assert imported_rooms(path) <= {"__init__", "benchmarks"}, path


def test_public_names_exist() -> None:
    assert len(set(varimech.__all__)) == len(varimech.__all__)
    for name in varimech.__all__:
        assert getattr(varimech, name) is not None
