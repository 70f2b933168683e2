"""Quantities of a design that are evaluated without a run, such as the cost of its tolerances."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping

from ..optimization.quantities import DesignQuantity


class ExplicitGoal(DesignQuantity):
    """An explicit function of design variables, usable as a goal or in a constraint like statistics
    and objectives.
    """

    @abstractmethod
    def evaluate(self, x: Mapping[str, float]) -> tuple[float, Mapping[str, float]]:
        """Value and derivatives.

        Args:
            x: values of all design variables by name; "± crank" is the tolerance width of
                "crank".

        Returns:
            The value, and its derivatives by name; derivatives left out are zero.
        """
        ...
