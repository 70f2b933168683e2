"""An allocation in the variables of its search:  z = (nominal values, ln t).

Costs a + b/tᵖ and variances Σ gᵢ² tᵢ² are sums of exponentials of ln t, convex there, and range over
decades in t. A probability P is bounded as its reliability index  β = Φ⁻¹(P),  which is nearly
linear in ln t where P itself changes by powers of ten.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from ..optimization.design_problem import DesignProblem, quantities_of
from ..optimization.evaluation import Evaluator, Outcome, Second
from ..optimization.quantities import DesignQuantity
from ..optimization.space import Space
from ..sensitivity.comparison import Constraint
from .method import first_derivatives_only
from .statistic import Probability
from .tolerance_choice import TotalCost

COST = "cost"
"""Name of the total cost among the quantities of an allocation."""
LARGEST = 1e-16
"""Distance of probabilities from 1 that numbers resolve: closer ones count as this far, and as
constant.
"""


@dataclass(frozen=True)
class Index(DesignQuantity):
    """The reliability index of a probability."""

    unit = ""


@dataclass(frozen=True, eq=False)
class Variables:
    """All variables of an allocation, and those that a search changes."""

    names: tuple[str, ...]
    units: tuple[str, ...]
    start: np.ndarray
    """In the user's units, as are the bounds."""
    lower: np.ndarray
    upper: np.ndarray
    logs: np.ndarray
    """(variable,): whether it is a width."""

    def z_of(self, x: np.ndarray) -> np.ndarray:
        """Variables of the search."""
        with np.errstate(divide="ignore"):
            return np.where(self.logs, np.log(np.where(self.logs, x, 1.0)), x)

    def x_of(self, z: np.ndarray) -> np.ndarray:
        """Variables in the user's units."""
        return np.where(self.logs, np.exp(np.where(self.logs, z, 0.0)), z)


@dataclass(eq=False)
class Remembered:
    """An evaluator that computes nothing twice: the parts of an allocation meet at the same designs.

    Designs that differ by the rounding of exp(ln t) are the same.
    """

    inner: Evaluator
    kept: dict[tuple[str, ...], Outcome] = field(default_factory=dict)

    @property
    def roughness(self) -> float:
        """That of the evaluator."""
        return self.inner.roughness

    def run(self, x: np.ndarray) -> Outcome:
        """Values and derivatives.

        Raises:
            VarimechError: if a run fails.
        """
        key = tuple(f"{value:.13g}" for value in x)
        if key not in self.kept:
            self.kept[key] = self.inner.run(x)
        return self.kept[key]

    def second(self, x: np.ndarray) -> Second:
        """Second derivatives.

        Raises:
            VarimechError: if a run fails.
        """
        return self.inner.second(x)


@dataclass(eq=False)
class LogEvaluator:
    """An evaluator of the variables z that are free; the others are held."""

    inner: Evaluator
    """In the user's variables."""
    variables: Variables
    free: np.ndarray
    """(variable,): whether it changes."""
    held: np.ndarray
    """x, of which the values that are not free count."""
    probabilities: tuple[int, ...]
    """Scalars that are probabilities."""
    total: TotalCost

    @property
    def roughness(self) -> float:
        """That of the evaluator."""
        return self.inner.roughness

    def x_of(self, z: np.ndarray) -> np.ndarray:
        """All variables in the user's units."""
        whole = self.variables.z_of(self.held)
        whole[self.free] = z
        x = self.variables.x_of(whole)
        return np.where(
            self.free, np.clip(x, self.variables.lower, self.variables.upper), self.held
        )

    def run(self, z: np.ndarray) -> Outcome:
        """Values and derivatives with respect to z.

        Raises:
            VarimechError: if a run fails.
        """
        x = self.x_of(z)
        o = self.inner.run(x)
        dx = np.where(self.variables.logs, x, 1.0)[self.free]
        values, derivatives = o.values.copy(), o.derivatives[:, self.free] * dx
        for k in self.probabilities:
            values[k], slope = index_of(values[k])
            derivatives[k] *= slope
        return Outcome(
            values, derivatives, o.time, o.paths, o.path_derivatives[:, :, self.free] * dx
        )

    def cost(self, z: np.ndarray) -> tuple[float, np.ndarray]:
        """The total cost and its derivatives, without a run."""
        x, names = self.x_of(z), self.variables.names
        value, slopes = self.total.evaluate(dict(zip(names, x.tolist(), strict=True)))
        row = np.array([slopes.get(name, 0.0) for name in names])
        return value, (row * np.where(self.variables.logs, x, 1.0))[self.free]

    def second(self, z: np.ndarray) -> Second:
        """Refused: statistics have first derivatives.

        Raises:
            ModelError: always.
        """
        raise first_derivatives_only("allocate")


def index_of(probability: float) -> tuple[float, float]:
    """β = Φ⁻¹(P), and dβ/dP = 1/φ(β); of probabilities that rounding makes 0 or 1
    the nearest other number, with no slope.
    """
    from scipy.special import ndtri

    tiny = float(np.finfo(float).tiny)
    P = min(max(float(probability), tiny), 1 - LARGEST)
    β = float(ndtri(P))
    return β, 0.0 if probability != P else float(np.sqrt(2 * np.pi) * np.exp(β**2 / 2))


def search_constraint(constraint: Constraint) -> Constraint:
    """The constraint as the search has it: of a probability, of its reliability index."""
    if not isinstance(constraint.of, Probability):
        return constraint
    from scipy.special import ndtri

    low, high = (float(ndtri(np.clip(b, 0, 1))) for b in (constraint.lower, constraint.upper))
    return Constraint(Index(), low, high)


def moved_constraint(constraint: Constraint, shift: float) -> Constraint:
    """The constraint with bounds that are moved in the scale of the search."""
    from scipy.special import ndtr

    own = search_constraint(constraint)
    low, high = own.lower + shift, own.upper + shift
    if isinstance(constraint.of, Probability):
        return Constraint(constraint.of, float(ndtr(low)), float(ndtr(high)))
    return Constraint(constraint.of, low, high)


def shift_of(constraint: Constraint, moved: Constraint) -> float:
    """How far the bounds of a constraint were moved in the scale of the search."""
    if moved is constraint:
        return 0.0
    pairs = (search_constraint(constraint), search_constraint(moved))
    (low, high), (new_low, new_high) = ((c.lower, c.upper) for c in pairs)
    return new_high - high if np.isfinite(high) else new_low - low


def search_problem(
    evaluator: Evaluator,
    variables: Variables,
    free: np.ndarray,
    x: np.ndarray,
    cost: TotalCost,
    constraints: Mapping[str, Constraint],
) -> DesignProblem:
    """The allocation as a design problem in z, from the design x.

    Args:
        evaluator: of the cost, then of the constraints, in the user's variables.
        variables: all of them.
        free: those that change.
        x: the design to begin with.
        cost: what is minimised.
        constraints: in the user's units.
    """
    scalars, _ = quantities_of(COST, cost, constraints)
    probabilities = tuple(k for k, q in enumerate(scalars.values()) if isinstance(q, Probability))
    logs = LogEvaluator(evaluator, variables, free, x, probabilities, cost)
    units = tuple(
        f"ln {u}".strip() if log else u
        for u, log in zip(variables.units, variables.logs, strict=True)
    )
    start, lower, upper = (
        variables.z_of(v)[free]
        for v in (np.asarray(x, dtype=float), variables.lower, variables.upper)
    )
    space = Space(
        tuple(n for n, f in zip(variables.names, free, strict=True) if f),
        tuple(u for u, f in zip(units, free, strict=True) if f),
        np.clip(start, lower, upper),
        lower,
        upper,
    )
    named = {name: search_constraint(c) for name, c in constraints.items()}
    return DesignProblem(logs, space, COST, cost, named)
