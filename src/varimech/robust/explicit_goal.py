"""Quantities of a design that are known without a run, such as the cost of its tolerances."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping

from ..optimization.quantities import DesignQuantity


class ExplicitGoal(DesignQuantity):
    """An explicit function of design variables; a goal or a constraint of an optimisation like
    statistics and objectives.
    """

    @abstractmethod
    def evaluate(self, x: Mapping[str, float]) -> tuple[float, Mapping[str, float]]:
        """Value and derivatives.

        Args:
            x: values of all design variables by name; "± crank" is the tolerance width of
                "crank".

        Returns:
            The value, and its derivatives by name; those that are left out are zero.
        """
        ...
