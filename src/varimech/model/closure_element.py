"""Planar contacts with form or force closure: a gap g, and equations that determine coordinates of
the element itself, which locate where its surfaces touch or are nearest.

    form closure    g = 0, a constraint; `effort` is its force −λ, which pushes the second body off the first one
    force closure   g ≥ 0, a contact: the surfaces can separate

Wherever these equations hold, g does not change with these coordinates, so the equations exert no
force.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar

import casadi as ca

from ..core.errors import Label, ModelError
from ..core.symbols import SX
from . import fields
from .body import Frames
from .contact_element import ContactElement, Gap
from .model_data import ModelData
from .state import State

CLOSURES = ("form", "force")


class ClosureElement(ContactElement):
    """Two surfaces that stay in contact, or can separate."""

    dimensions: ClassVar[tuple[int, ...]] = (2,)
    spatial_remedy: ClassVar[str]
    """What to use in space instead."""
    friction_remedy: ClassVar[str]
    """What to use here instead of friction."""
    closure = fields.Choice(
        'How contact is maintained: "form" (a constraint, such as a groove) or "force" (a contact,'
        " which can lift off).",
        options=CLOSURES,
        default="form",
    )

    @abstractmethod
    def contact(self, frames: Frames, state: State) -> tuple[SX, SX]:
        """Gap g, and the equations that determine its own coordinates; all are lengths."""

    def check_given(self, model: ModelData) -> None:
        """Refuse the element in space, and contact fields under form closure."""
        if model.dimension not in self.dimensions:
            raise ModelError("belongs to the plane", element=self.label, remedy=self.spatial_remedy)
        defaults = {f.name: f.default for f in ContactElement.fields()}
        given = sorted(name for name, x in defaults.items() if self.given[name] != x)
        if self.given["closure"] == "form" and given:
            raise ModelError(
                "belongs to a contact that can lift off",
                label=Label(self.label, given[0]),
                remedy='give closure="force", too, or leave it out',
            )

    def prepare(self, model: ModelData) -> None:
        """Refuse friction."""
        super().prepare(model)
        if self.has_friction:
            raise ModelError(
                "is not available here",
                label=Label(self.label, "friction"),
                remedy=self.friction_remedy,
            )

    def effort_names(self) -> dict[str, str]:
        """The force of the constraint g = 0."""
        return {self.name: "m"} if self.closure == "form" else {}

    def constraints(self, frames: Frames, state: State) -> SX:
        """The equations of its own coordinates, preceded by g under form closure."""
        gap, ties = self.contact(frames, state)
        return ca.vertcat(gap, ties) if self.closure == "form" else ties

    def ties(self, frames: Frames, state: State) -> SX:
        """The equations of its own coordinates."""
        return self.contact(frames, state)[1]

    @property
    def is_rigid(self) -> bool:
        """Whether impacts occur."""
        return self.closure == "force" and super().is_rigid

    @property
    def remembers(self) -> bool:
        """Whether its force depends on the speed of the last impact."""
        return self.closure == "force" and super().remembers

    def gap_names(self) -> tuple[str, ...]:
        """Name of its gap, if it can lift off."""
        return (self.name,) if self.closure == "force" else ()

    def gaps(self, frames: Frames, state: State) -> Sequence[Gap]:
        """Its gap."""
        return [Gap(self.contact(frames, state)[0])] if self.closure == "force" else []
