"""How the things of a mechanism are shown, where somebody prints one: by what they are and what
they are called.
"""

from __future__ import annotations


class Named:
    """Something of a mechanism that has a name; `told` says more about it."""

    name: str

    @property
    def told(self) -> str:
        """What is worth a word beside its name."""
        return ""

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}{self.told}>"
