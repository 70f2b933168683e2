"""Sets of coordinates. The motion does not depend on the choice; the cost of a run does."""

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
    """A set of coordinates: derives the equations of motion of a model."""

    counted: tuple[str, ...] = field(default=(), kw_only=True)
    """Names of bodies and joints whose angles count turns; those that forces and objectives require
    are added automatically.
    """

    @abstractmethod
    def equations(self, model: ModelData) -> Equations:
        """Derive the equations of motion of a model."""

    def chosen(self, model: ModelData, *, recursive: bool) -> tuple[Coordinates, str]:
        """Return the coordinates in which a model is solved, and the reason; the reason is empty
        where the user chose them.

        Args:
            model: the model.
            recursive: whether the formulation solves open trees by recursion.
        """
        return self, ""


@dataclass(frozen=True)
class Natural(Coordinates):
    """Points and vectors of the bodies, shared by joints: constant masses, quadratic constraints.

    Args:
        counted: names of bodies and joints whose angles count turns, as additional coordinates.
    """

    name = "natural"
    title = "natural coordinates"
    suits = "planar and large mechanisms with closed loops: constant mass matrix, sparse equations"

    def equations(self, model: ModelData) -> Equations:
        """Derive the equations of motion of a model."""
        return natural_equations(model, self.counted)


@dataclass(frozen=True)
class Relative(Coordinates):
    """Joint coordinates along a spanning tree, by recursion: as many unknowns as the tree has
    degrees of freedom, closed loops as constraints.

    Args:
        reference: "centre of mass" (RTDyn0) or "origin" (RTDyn1): the point of each body about
            which the recursion is formulated.
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
            return (
                "as rtdyn0, with recursion about the global origin, which usually takes fewer"
                " operations"
            )
        return (
            "open trees and chains, spatial mechanisms with few loops: joint coordinates,"
            " recursion about centres of mass"
        )

    def equations(self, model: ModelData) -> Equations:
        """Derive the equations of motion of a model."""
        # imported late: it takes a large share of the import time
        from .relative.equations import relative_equations

        return relative_equations(model, self.reference, self._names, self.counted)


FEW = 3
"""Bodies of a planar open tree up to which natural coordinates are as fast, within 15 %."""
UNROLLED = 100
"""Relative coordinates and equations of loops up to which code is unrolled, because bodies share
their path to the ground, and is faster than natural coordinates in space. Vehicle with 78: the
first gradient takes 6.7 s and later ones 2.6 s as bytecode, assembled 18 s and 7.1 s.
"""
DEEP = 12
"""Joints between a body and the ground up to which relative coordinates with closed loops are
faster in space: code is generated for each depth.
"""


@dataclass(frozen=True)
class Automatic(Coordinates):
    """Natural or relative coordinates, selected by the topology of the mechanism. The measurements
    behind the rule are in docs/coordinates.md.

    Args:
        counted: names of bodies and joints whose angles count turns.
    """

    name = "auto"
    title = "coordinates by topology"
    suits = (
        "all mechanisms: rtdyn1 for open trees and in space,"
        " natural for closed loops in the plane and for beams"
    )

    def equations(self, model: ModelData) -> Equations:
        """Derive the equations of motion of a model."""
        return self.chosen(model, recursive=True)[0].equations(model)

    def chosen(self, model: ModelData, *, recursive: bool) -> tuple[Coordinates, str]:
        """Return the coordinates in which a model is solved, and the reason."""
        natural, relative = Natural(counted=self.counted), Relative(counted=self.counted)
        if model.beams:
            return natural, "natural coordinates: beams have no relative ones"
        from .relative.spanning_tree import spanning_tree  # imported late: only needed here

        tree = spanning_tree(model)
        by_recursion = tree.is_open and recursive and not model.has_events
        if by_recursion and len(tree.links) > FEW:
            return relative, f"relative coordinates: an open tree of {len(tree.links)} bodies"
        if model.dimension == 2:
            return natural, "natural coordinates: planar, where relative ones are no faster"
        if (depth := max(tree.depths.values())) > DEEP and not by_recursion:
            return natural, f"natural coordinates: bodies up to {depth} joints away from the ground"
        if (count := tree.unknowns) > UNROLLED and not by_recursion:
            return natural, f"natural coordinates: large, {count} unknowns in relative ones"
        return relative, "relative coordinates: spatial, with fewer unknowns than natural ones"


COORDINATES: dict[str, Coordinates] = {
    c.name: c for c in (Automatic(), Natural(), Relative(CENTRE_OF_MASS), Relative(ORIGIN))
}
