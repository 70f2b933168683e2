"""Stop: a scalar output y stays within limits,  y ≥ lower,  y ≤ upper."""

from __future__ import annotations

from collections.abc import Sequence

from ..core.symbols import SX
from ..model import fields
from ..model.body import Frames
from ..model.contact_law import Contact, ContactLabel
from ..model.force import Force
from ..model.state import State


class Stop(Force):
    """Limits of a scalar output."""

    kind = "stop"
    output = fields.StateFunction("Output that it limits.", size="scalar", positional=True)
    lower = fields.OptionalScalar("Smallest value.")
    upper = fields.OptionalScalar("Largest value.")
    restitution = fields.Scalar("Restitution.", default=0.0)

    def contact_labels(self) -> tuple[ContactLabel, ...]:
        sides = ("lower", "upper")
        return tuple(
            ContactLabel(f"{self.name}.{side}") for side in sides if getattr(self, side) is not None
        )

    def contacts(self, frames: Frames, state: State) -> Sequence[Contact]:
        y = self.output(state)
        gaps = [] if self.lower is None else [y - self.lower]
        gaps += [] if self.upper is None else [self.upper - y]
        return [Contact(SX(gap), self.restitution) for gap in gaps]
