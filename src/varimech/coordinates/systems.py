"""Sets of coordinates to choose from. The motion does not depend on the choice; the cost of a run
does.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field

from ..core.errors import ModelError
from ..core.registry import Scheme
from ..model.joint import Joint
from ..model.model_data import ModelData
from .equations import Equations
from .natural import natural_equations
from .relative.choice import CENTRE_OF_MASS, ORIGIN, cut_names


@dataclass(frozen=True)
class Coordinates(Scheme, ABC):
    """A set of coordinates: from a model to its equations of motion."""

    counted: tuple[str, ...] = field(default=(), kw_only=True)
    """Names of bodies and joints whose angles count turns; those that forces and objectives need
    are added automatically.
    """

    @abstractmethod
    def equations(self, model: ModelData) -> Equations:
        """The equations of motion of a model."""


@dataclass(frozen=True)
class Natural(Coordinates):
    """Points and vectors of the bodies, shared by joints: constant masses, quadratic constraints.

    Args:
        counted: names of bodies and joints whose angles count turns, as coordinates of their own.
    """

    name = "natural"
    title = "natural coordinates"
    suits = "planar mechanisms with closed loops, large ones with loops of any depth: constant mass matrix, sparse equations"

    def equations(self, model: ModelData) -> Equations:
        """The equations of motion of a model."""
        return natural_equations(model, self.counted)


@dataclass(frozen=True)
class Relative(Coordinates):
    """Joint coordinates along a spanning tree, by recursion: as many unknowns as the tree has
    degrees of freedom, closed loops as constraints.

    Args:
        reference: "centre of mass" (RTDyn0) or "origin" (RTDyn1): the point of each body that the
            recursion is written for.
        cut: names of joints that close loops and are not part of the tree; the cheapest ones if not
            given.
        counted: names of bodies and joints whose angles count turns.
    """

    reference: str = ORIGIN
    cut: Sequence[str | Joint] = ()

    def __post_init__(self) -> None:
        if self.reference not in (CENTRE_OF_MASS, ORIGIN):
            raise ModelError(
                f"must be {CENTRE_OF_MASS!r} or {ORIGIN!r}",
                element="Relative",
                field="reference",
                value=self.reference,
            )
        object.__setattr__(self, "cut", cut_names(self.cut, "Relative"))

    @property
    def _names(self) -> tuple[str, ...]:
        return cut_names(self.cut, "Relative")

    @property
    def name(self) -> str:
        """ "rtdyn0" or "rtdyn1"."""
        return "rtdyn0" if self.reference == CENTRE_OF_MASS else "rtdyn1"

    @property
    def title(self) -> str:
        """Name for results and messages."""
        cut = f", cut at {', '.join(self._names)}" if self.cut else ""
        return f"relative coordinates (RTDyn{self.name[-1]}{cut})"

    @property
    def suits(self) -> str:
        """Recommended use, in a line of `varimech methods`."""
        if self.reference == ORIGIN:
            return "the same with recursion about the global origin, mostly fewer operations"
        return (
            "open trees and chains, spatial mechanisms with few loops: joint coordinates,"
            " recursion about centres of mass"
        )

    def equations(self, model: ModelData) -> Equations:
        """The equations of motion of a model."""
        from .relative.equations import relative_equations  # a good part of what there is to import

        return relative_equations(model, self.reference, self._names, self.counted)


COORDINATES: dict[str, Coordinates] = {
    c.name: c for c in (Natural(), Relative(CENTRE_OF_MASS), Relative(ORIGIN))
}
