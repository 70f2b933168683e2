"""Registries of schemes by name, which other packages may add to.

A package offers its schemes by an entry point of the group `varimech.schemes` that names a module;
the module registers them when it is imported. It is imported when a name is looked for that is not
known, and by `varimech methods`: commands and model files know its schemes, too.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import cache
from importlib.metadata import entry_points
from typing import TypeVar

from .errors import ModelError

GROUP = "varimech.schemes"
"""The group of entry points of packages that offer schemes."""

T = TypeVar("T")


def register(
    kind: str, registry: dict[str, T], name: object, scheme: T, faults: Sequence[str]
) -> T:
    """Add a scheme to a registry.

    Args:
        kind: "integrator" or "formulation", for messages.
        registry: name → scheme.
        name: its name.
        scheme: what is added.
        faults: what is wrong with it, if anything.

    Returns:
        The scheme.

    Raises:
        ModelError: if anything is wrong with it, or its name is taken.
    """
    if faults:
        called = repr(name) if isinstance(name, str) else f"{type(scheme).__name__}(…)"
        raise ModelError(
            f"{kind} {called} cannot be registered: {'; '.join(faults)}. docs/extending.md shows"
            " one that can"
        )
    assert isinstance(name, str)
    if not getattr(scheme, "suits", ""):
        raise ModelError(
            f"{kind} {name!r} cannot be registered: suits = '' must be a text that says what it is"
            " good for"
        )
    if name in registry:
        raise ModelError(f"{kind} {name!r} is registered already: choose another name")
    registry[name] = scheme
    return scheme


def lacking(scheme: object, names: Sequence[str]) -> list[str]:
    """What a scheme lacks of what every one must have: its facts, texts among them, and a hash by
    which its programs are found again.
    """
    if isinstance(scheme, type):
        return [f"it is a class: register an object, {scheme.__name__}(…)"]
    missing = [name for name in names if not hasattr(scheme, name)]
    faults = [f"it lacks {', '.join(missing)}"] if missing else []
    for name in ("name", "title"):
        if name not in missing and not (isinstance(text := getattr(scheme, name), str) and text):
            faults.append(f"{name} = {text!r} must be a text")
    if type(scheme).__hash__ is None:
        faults.append("it is not hashable: a frozen dataclass is")
    return faults


@cache
def load_plugins() -> None:
    """Import the modules by which installed packages register their schemes, once."""
    for entry in entry_points(group=GROUP):
        try:
            entry.load()
        except Exception as error:  # a broken package must not keep the others from working
            warnings.warn(
                f"{entry.value} offers schemes for varimech but cannot be imported:"
                f" {type(error).__name__}: {error}",
                stacklevel=2,
            )
