"""The public interface: it is what the list says, and what users are shown needs nothing else."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterator

from markdown_pages import DOCS, ROOT, blocks
from public_api import LIST, public_api

import varimech

INSIDE = {"architecture.md", "extending.md"}
"""Pages for those who change Varimech itself."""
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
    listed, found = LIST.read_text(encoding="utf-8"), public_api()
    changed = [
        line for line in difflib.ndiff(listed.splitlines(), found.splitlines()) if line[0] in "+-"
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


def test_public_names_exist_once() -> None:
    assert len(set(varimech.__all__)) == len(varimech.__all__)
    for name in varimech.__all__:
        assert getattr(varimech, name) is not None


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
