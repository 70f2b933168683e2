"""A page in a frame of a notebook, as a widget that every front end with anywidget shows."""

from __future__ import annotations

from typing import Any

import anywidget
import traitlets

from ..web.modules import asset

VIEW = "application/vnd.jupyter.widget-view+json"


class Frame(anywidget.AnyWidget):
    """A self-contained page. Front ends without widgets show `instead`.

    Attributes:
        page: its text.
        title: for screen readers.
        height: of the frame (pixels); pages may change it.
    """

    _esm = asset("notebook.js")
    page = traitlets.Unicode().tag(sync=True)
    title = traitlets.Unicode().tag(sync=True)
    height = traitlets.Int(400).tag(sync=True)

    def __init__(self, page: str, title: str, instead: str, **traits: Any):
        super().__init__(page=page, title=title, **traits)
        self._instead = instead

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.title}>"

    def _repr_mimebundle_(self, **options: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """The widget, and the content for front ends that do not support widgets."""
        bundle = super()._repr_mimebundle_(**options)
        assert bundle is not None  # only widgets without views have no bundle
        data, metadata = bundle
        return {**data, "text/html": self._instead}, metadata
