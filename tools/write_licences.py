"""Writes docs/licences.md: the licences of the packages that Varimech needs, as they state them.

    python tools/write_licences.py

It lists what is installed in this environment, which `make test` fills.
"""

from __future__ import annotations

import tomllib
from importlib.metadata import PackageNotFoundError, metadata, requires
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "licences.md"
OFF_RUN = {"dev", "docs"}
"""Extras for work on Varimech itself."""
ABSENT = {"cupy-cuda12x": "MIT"}
"""Needs a GPU; licence as of version 13."""
NO_EXTRA = {"extra": ""}
LONGEST = 60
"""Characters of a licence's name; beyond that it is the text of the licence."""

HEAD = """# Licences of dependencies

Varimech itself is under the [MIT licence](citing.md). It contains no code from other projects. pip installs the packages below, each of which has its own licence. `python tools/write_licences.py` writes this page from the metadata of the installed packages. Check the licences again before you redistribute the packages.
"""


def main() -> None:
    PAGE.write_text(page(), encoding="utf-8")


def page() -> str:
    """The text of the page."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    direct = [_name(r) for r in project["dependencies"]]
    extras = {
        _name(r): extra
        for extra, needed in reversed(project["optional-dependencies"].items())
        if extra not in OFF_RUN
        for r in needed
    }
    needed = sorted(_closure(direct) - set(direct), key=str.lower)
    sections = {
        "Required": _rows(direct),
        "Required indirectly": _rows(needed),
        "Extras": [
            f"| {name} | `{extra}` | {licence(name)} |" for name, extra in sorted(extras.items())
        ],
    }
    heads = {"Extras": "| package | extra | licence |\n|---|---|---|"}
    plain = "| package | licence |\n|---|---|"
    return HEAD + "".join(
        f"\n## {title}\n\n{heads.get(title, plain)}\n" + "\n".join(rows) + "\n"
        for title, rows in sections.items()
    )


def licence(name: str) -> str:
    """What a package states: an expression, a short name, or a classifier."""
    try:
        facts = metadata(name)
    except PackageNotFoundError:
        return ABSENT[name]
    stated = (facts[key] for key in ("License-Expression", "License") if key in facts)
    known = next(filter(None, stated), "")
    first = known.strip().splitlines()[0] if known.strip() else ""
    if first and len(known) <= LONGEST:
        return first
    classified = [
        c.rpartition(" :: ")[2] for c in facts.get_all("Classifier", []) if c.startswith("License")
    ]
    return ", ".join(classified) or first or "not stated in its metadata"


def _rows(names: list[str]) -> list[str]:
    return [f"| {name} | {licence(name)} |" for name in names]


def _closure(names: list[str]) -> set[str]:
    """Packages with all that they require here, without extras."""
    found, waiting = set[str](), list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            needed = map(Requirement, requires(name) or ())
            waiting += [_name(r) for r in needed if r.marker is None or r.marker.evaluate(NO_EXTRA)]
    return found


def _name(requirement: Requirement | str) -> str:
    return canonicalize_name(Requirement(str(requirement)).name)


if __name__ == "__main__":
    main()
