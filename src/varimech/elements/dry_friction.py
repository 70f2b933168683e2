"""Dry friction along a rate."""

from __future__ import annotations

from collections.abc import Sequence

from ..model import fields
from ..model.body import Frames
from ..model.contact_law import Contact, ContactLabel
from ..model.force import Force
from ..model.state import State


class DryFriction(Force):
    """Dry friction."""

    kind = "dry friction"
    rate = fields.StateFunction("Rate.", size="scalar", positional=True)
    sliding = fields.Scalar("Force.", unit="N", rule="non-negative")
    static = fields.OptionalScalar("Largest static force.", unit="N", rule="non-negative")

    def contact_labels(self) -> tuple[ContactLabel, ...]:
        return (ContactLabel(self.name, normal=False, friction=True),)

    def contacts(self, frames: Frames, state: State) -> Sequence[Contact]:
        static = self.sliding if self.static is None else self.static
        return [Contact(slip=self.rate(state), sliding=self.sliding, static=static)]
