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
"""Distance of probabilities from 1 that floating-point numbers resolve: closer ones are replaced by
this distance, and treated as constant.
"""


@dataclass(frozen=True)
class Index(DesignQuantity):
    """The reliability index of a probability."""

    unit = ""


@dataclass(frozen=True, eq=False)
class Variables:
    """All variables of an allocation: names, units, start, bounds, and which of them are widths."""

    names: tuple[str, ...]
    units: tuple[str, ...]
    start: np.ndarray
    """Initial values, in the user's units, as are the bounds."""
    lower: np.ndarray
    upper: np.ndarray
    logs: np.ndarray
    """Whether each variable is a width, (variable,)."""

    def z_of(self, x: np.ndarray) -> np.ndarray:
        """Convert to the variables of the search."""
        with np.errstate(divide="ignore"):
            return np.where(self.logs, np.log(np.where(self.logs, x, 1.0)), x)

    def x_of(self, z: np.ndarray) -> np.ndarray:
        """Convert to variables in the user's units."""
        return np.where(self.logs, np.exp(np.where(self.logs, z, 0.0)), z)


@dataclass(eq=False)
class Remembered:
    """An evaluator that caches its results: several parts of an allocation evaluate the same
    designs.

    Designs that differ by the rounding of exp(ln t) count as the same.
    """

    inner: Evaluator
    kept: dict[tuple[str, ...], Outcome] = field(default_factory=dict)

    @property
    def roughness(self) -> float:
        """Relative noise of the evaluator."""
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
    """An evaluator in the free variables z; the other variables are held fixed."""

    inner: Evaluator
    """Evaluator in the user's variables."""
    variables: Variables
    free: np.ndarray
    """Whether each variable may change, (variable,)."""
    held: np.ndarray
    """x, from which the values of the fixed variables are taken."""
    probabilities: tuple[int, ...]
    """Indices of the scalars that are probabilities."""
    total: TotalCost

    @property
    def roughness(self) -> float:
        """Relative noise of the evaluator."""
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
        """Total cost and its derivatives, without a run."""
        x, names = self.x_of(z), self.variables.names
        value, derivatives = self.total.evaluate(dict(zip(names, x.tolist(), strict=True)))
        row = np.array([derivatives.get(name, 0.0) for name in names])
        return value, (row * np.where(self.variables.logs, x, 1.0))[self.free]

    def second(self, z: np.ndarray) -> Second:
        """Raise an error: statistics have first derivatives only.

        Raises:
            ModelError: always.
        """
        raise first_derivatives_only("allocate")


def index_of(probability: float) -> tuple[float, float]:
    """β = Φ⁻¹(P), and dβ/dP = 1/φ(β); a probability that rounding makes 0 or 1 is replaced by the
    nearest other number, with zero derivative.
    """
    from scipy.special import ndtri

    tiny = float(np.finfo(float).tiny)
    P = min(max(float(probability), tiny), 1 - LARGEST)
    β = float(ndtri(P))
    return β, 0.0 if probability != P else float(np.sqrt(2 * np.pi) * np.exp(β**2 / 2))


def search_constraint(constraint: Constraint) -> Constraint:
    """Return the constraint in the scale of the search: a bound of a probability becomes one of its
    reliability index.
    """
    if not isinstance(constraint.of, Probability):
        return constraint
    from scipy.special import ndtri

    low, high = (float(ndtri(np.clip(b, 0, 1))) for b in (constraint.lower, constraint.upper))
    return Constraint(Index(), low, high)


def moved_constraint(constraint: Constraint, shift: float) -> Constraint:
    """Return the constraint with bounds shifted in the scale of the search."""
    from scipy.special import ndtr

    own = search_constraint(constraint)
    low, high = own.lower + shift, own.upper + shift
    if isinstance(constraint.of, Probability):
        return Constraint(constraint.of, float(ndtr(low)), float(ndtr(high)))
    return Constraint(constraint.of, low, high)


def shift_of(constraint: Constraint, moved: Constraint) -> float:
    """Shift of the bounds of a constraint in the scale of the search."""
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
    """State the allocation as a design problem in z, starting from the design x.

    Args:
        evaluator: evaluator of the cost and of the constraints, in the user's variables.
        variables: all variables.
        free: whether each variable may change.
        x: the initial design.
        cost: the total cost, which is minimised.
        constraints: constraints in the user's units.
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
