"""Shell completion: model files, benchmarks, methods, and names in the model file.

It runs at every key press, so it reads a file as plain YAML and builds no mechanism.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import entry_points
from pathlib import Path

import typer

from ..benchmarks import BENCHMARKS
from ..core.registry import GROUP, load_plugins

SCHEMES = {
    "integrators": "trapezoidal newmark hht generalised-alpha rk4 dopri5 dop853 cvodes idas",
    "formulations": "ali3p index1 index1-stabilised independent penalty",
    "coordinates": "auto natural rtdyn0 rtdyn1",
}
"""Names in the registries, which take 0.4 s to import."""
BACKENDS = ("native", "interpreted", "auto")
LARGEST = 1_000_000
"""Largest model file (bytes) that is read for names: a larger one would delay completion."""

Proposed = Callable[[str], list[str]]
ProposedOf = Callable[[typer.Context, str], list[str]]


def one_of(*names: str) -> Proposed:
    """Propose any of these names."""
    return lambda incomplete: _beginning(names, incomplete)


def schemes(kind: str) -> Proposed:
    """Names of integrators, formulations or coordinates, with those of installed packages."""

    def proposed(incomplete: str) -> list[str]:
        names: Iterable[str] = SCHEMES[kind].split()
        if entry_points(group=GROUP):
            from .. import schemes

            load_plugins()
            names = getattr(schemes, kind.upper())
        return _beginning(names, incomplete)

    return proposed


def models(incomplete: str) -> list[str]:
    """Model files and folders that match the input, and benchmarks."""
    return [*_paths(incomplete), *benchmarks(incomplete)]


def benchmarks(incomplete: str) -> list[str]:
    """Names of benchmarks."""
    return _beginning(BENCHMARKS, incomplete)


def named(*keys: str, ending: str = "") -> ProposedOf:
    """Propose names in the model file below nested keys, with an ending."""

    def proposed(context: typer.Context, incomplete: str) -> list[str]:
        # an option without a value leaves arguments unparsed
        model = context.params.get("model") or next(iter(context.args), "")
        section: object = _document(str(model))
        for key in keys:
            section = section.get(key) if isinstance(section, Mapping) else None
        return _beginning(
            (f"{name}{ending}" for name in section) if isinstance(section, Mapping) else (),
            incomplete,
        )

    return proposed


def _document(model: str) -> Mapping[str, object]:
    """The model file as plain data; empty if it cannot be read."""
    import yaml

    path = Path(model)
    if not path.is_file():
        if model not in BENCHMARKS:
            return {}
        path = BENCHMARKS[model].model_file
    try:
        if path.stat().st_size > LARGEST:
            return {}
        document = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    except (OSError, UnicodeDecodeError, yaml.YAMLError):
        return {}
    return document if isinstance(document, Mapping) else {}


def _paths(incomplete: str) -> list[str]:
    folder, _, start = incomplete.rpartition("/")
    try:
        entries = sorted(Path(folder or ("/" if incomplete.startswith("/") else ".")).iterdir())
    except OSError:
        return []
    matches = []
    for path in entries:
        shown = incomplete[: len(incomplete) - len(start)] + path.name
        if path.name.startswith(start) and (start or not path.name.startswith(".")):
            if path.is_dir():
                matches.append(f"{shown}/")
            elif path.suffix in (".yaml", ".yml"):
                matches.append(shown)
    return matches


def _beginning(names: Iterable[str], incomplete: str) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]
