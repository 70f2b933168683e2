"""Build a rigid body with named points in one call."""

from __future__ import annotations

from typing import Any

import varimech as vm


def add_body(
    m: vm.Mechanism, name: str, mass: Any, inertia: Any, com: Any, /, **points: Any
) -> None:
    """Add a body with its points by name."""
    m.body(name, mass=mass, inertia=inertia, com=com, points=points)
