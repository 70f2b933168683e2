"""`Mechanism`: the model together with what can be done with it."""

from __future__ import annotations

from typing import Any, final

from .analyses.at_rest import AtRest
from .core.errors import VarimechError
from .core.markup import Displayed, counted, html_heading, html_table, html_text
from .files.model_files import Filed
from .interchange.analyses import Exchanging
from .optimization.analyses import Designing
from .plotting.figure import picture
from .uncertainty.analyses import Uncertain

MOST_DRAWN = 200
"""Bodies up to which a notebook shows a drawing."""


@final
class Mechanism(Displayed, AtRest, Designing, Exchanging, Uncertain, Filed):
    """A mechanism: bodies, joints, forces and a start, written once; motion and derivatives follow.

    Two components of gravity (or `dimension=2`) make it planar, three (or `dimension=3`) spatial.
    SI units throughout.

    >>> import varimech as vm
    >>> m = vm.Mechanism("pendulum", gravity=(0, -9.81))
    >>> L = m.parameter("L", 1.0, unit="m")
    >>> origin = m.ground_point("O", (0, 0))
    >>> rod = m.bar("rod", "O", "tip", length=L, mass=3.0)
    >>> joint = m.revolute("O")
    >>> m.start(angle={"rod": -1.0})
    >>> run = m.simulate(1.0, step=0.01)
    >>> run.position("tip").sizes["time"]
    101
    """

    def __init__(
        self, name: str, *, gravity: Any = None, dimension: int | None = None
    ):  # what Python calls it in errors
        super().__init__(name, gravity=gravity, dimension=dimension)

    def __repr__(self) -> str:
        kind = "planar" if self.dimension == 2 else "spatial"
        counts = (
            (len(self.data.moving_bodies) - len(self.data.beams), "body", "bodies"),
            (len(self.data.beams), "beam", "beams"),
            (len(self.joints), "joint", "joints"),
            (len(self.forces), "force", "forces"),
            (len(self.drivers), "driver", "drivers"),
            (len(self.parameters), "parameter", "parameters"),
        )
        told = [counted(*count) for count in counts if count[0]]
        return f"<Mechanism {self.name!r}: {', '.join([kind, *told])}>"

    def _display(self) -> str:
        heading = html_heading(self.name, repr(self).partition(": ")[2].rstrip(">"))
        parameters = self.parameters._display() if self.parameters else ""
        if len(self.data.moving_bodies) > MOST_DRAWN:
            return heading + parameters
        try:
            return heading + picture(self.draw()) + parameters
        except VarimechError as error:
            parts = [[b.name, "body", ", ".join(b.points)] for b in self.data.moving_bodies]
            parts += [
                [j.name, j.kind, " – ".join(b.name for b in j.bodies)] for j in self.joints.values()
            ]
            return (
                heading
                + html_text(f"not drawn: {error}")
                + html_table(["name", "kind", "points or bodies"], parts)
                + parameters
            )
