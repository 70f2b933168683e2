"""What an acceptance figure is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """A measured number and the bound it must keep."""

    what: str
    value: float
    bound: float
    at_least: bool = False
    shown: str = "{:.2e}"

    @property
    def holds(self) -> bool:
        return self.value >= self.bound if self.at_least else self.value <= self.bound
