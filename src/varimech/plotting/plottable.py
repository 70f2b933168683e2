"""Results that are told in words and plotted: notebooks show both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.markup import Displayed, html_text
from .figure import picture

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Plotted(Displayed):
    """Shown as its text and its plot."""

    def plot(self, *args: Any, **how: Any) -> Figure:
        """A figure of it."""
        raise NotImplementedError

    def _display(self) -> str:
        return html_text(repr(self)) + picture(self.plot())
