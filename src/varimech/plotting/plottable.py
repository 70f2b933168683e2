"""Results with a text and a plot, which notebooks show together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.markup import Displayed, html_text
from .figure import picture

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Plotted(Displayed):
    """A result that notebooks display as its text and its plot."""

    def plot(self, *args: Any, **options: Any) -> Figure:
        """Plot the result."""
        raise NotImplementedError

    def _display(self) -> str:
        return html_text(repr(self)) + picture(self.plot())
