"""The widget of a result: its page, with a time that Python and the page share."""

from __future__ import annotations

import traitlets

from .frame import Frame


class ResultView(Frame):
    """Results in a notebook; created by `vm.widget`.

    Attributes:
        time: displayed instant (s); while the mechanism moves, the instant at which it was last set or paused.
        playing: whether the mechanism moves.
    """

    time = traitlets.Float(0.0).tag(sync=True)
    playing = traitlets.Bool(False).tag(sync=True)
