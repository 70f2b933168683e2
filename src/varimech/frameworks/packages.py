"""Frameworks are optional packages, imported when they are first requested."""

from __future__ import annotations

from importlib.util import find_spec

from ..core.errors import ModelError


def check_installed(package: str, title: str) -> None:
    """Refuse a framework that is not installed.

    Args:
        package: its name, which is also the name of the extra.
        title: its name in messages.

    Raises:
        ModelError: with the command that installs it.
    """
    try:
        missing = find_spec(package) is None
    except ValueError:  # as where tests put None into sys.modules
        missing = True
    if missing:
        raise ModelError(
            f"{title} is not installed",
            element=package,
            remedy=f"pip install 'varimech[{package}]'",
        )
