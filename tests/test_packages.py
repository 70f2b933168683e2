"""Import rules: a package imports only from the packages before it; benchmarks use the public
interface only; the drawing is up to date.
"""

from __future__ import annotations

import draw_architecture
import mutate
from packages import LEVEL, SOURCE, imported_packages, package_of


def test_every_package_has_a_level() -> None:
    assert {package_of(p) for p in SOURCE.rglob("*.py")} == set(LEVEL)


def test_packages_import_only_from_packages_before_them() -> None:
    wrong = [
        f"{path.relative_to(SOURCE)} imports {package}"
        for path in SOURCE.rglob("*.py")
        for package in imported_packages(path) - {package_of(path)}
        if LEVEL[package] >= LEVEL[package_of(path)]
    ]
    assert not wrong


def test_benchmarks_use_the_public_interface_only() -> None:
    files = [p for p in (SOURCE / "benchmarks").glob("*.py") if p.name != "__init__.py"]
    assert files
    for path in files:
        assert imported_packages(path) <= {"__init__", "benchmarks"}, path


def test_the_drawing_of_the_architecture_is_up_to_date() -> None:
    """`python tools/draw/draw_architecture.py` draws it anew."""
    assert draw_architecture.PICTURE.read_text(encoding="utf-8") == draw_architecture.drawing()


def test_mutants_are_made_of_files_that_are_there() -> None:
    assert len(mutate.numerics_files(mutate.NUMERICS)) > 100
