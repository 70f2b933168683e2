"""Result of an optimisation: the design, its search, active constraints, other local optima, and
the motion before and after.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.coordinate_scales import TINY
from ..core.errors import ModelError
from ..core.messages import Message
from ..plotting.table import number
from ..results.gradient import Gradient
from ..results.labels import with_units
from ..results.result import Description, Result, Table
from ..results.run import Run
from ..sensitivity.stability_objective import StabilityObjective
from .attempt import FEASIBLE, SETTLED, Attempt, Stationary
from .curvature import Curvature
from .design_problem import DesignProblem, Rows
from .evaluation import RunsOfDesigns
from .optima import LocalOptimum
from .quantities import Path, Peak
from .refinement import FINER, summits
from .scaled import Scaled
from .search import FailedStart
from .settings import Settings
from .starts_text import local_optima_table, notes

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr
    from matplotlib.figure import Figure

    from ..results.certificate import Certificate

ACTIVE_SHARE = 1e-8
"""Multipliers below this fraction of the largest one are rounding."""


@dataclass(frozen=True, eq=False, repr=False)
class Optimum(Result):
    """A locally optimal design: the best one among its neighbours. Pass `.parameters` to `simulate`
    or `sensitivity` to use it.
    """

    label: str
    problem: DesignProblem
    settings: Settings
    best: Attempt
    starts: tuple[Attempt, ...]
    """Search from each initial design that could be run; the first one started at the user's
    design.
    """
    failed_starts: tuple[FailedStart, ...]
    """Initial designs at which the mechanism does not run, with the errors."""
    optima: tuple[LocalOptimum, ...]
    """Distinct local optima, the best first."""
    seconds: float

    _dims = ("parameter",)

    @property
    def info(self) -> dict[str, Any]:
        """Mechanism, objective, solver, termination of the search, and seconds."""
        goal = {"objective": self.problem.name, "value": self.objective}
        search = {"solver": self.settings.solver, "converged": self.converged}
        cost = {"evaluations": self.evaluations, "seconds": self.seconds}
        return {"mechanism": self.label, **goal, **search, "message": self.message, **cost}

    @cached_property
    def dataset(self) -> xr.Dataset:
        """`start`, `value`, `lower`, `upper` and `multiplier` by parameter."""
        import xarray as xr

        s = self.problem.space
        arrays = {
            "start": s.start,
            "value": self.best.x,
            "lower": s.lower,
            "upper": s.upper,
            "multiplier": self.best.optimality.bounds,
        }
        return xr.Dataset(
            {name: ("parameter", array) for name, array in arrays.items()},
            coords=with_units("parameter", s.names, s.units),
        )

    @property
    def parameters(self) -> dict[str, float]:
        """Parameter → optimal value, including parameters that were held fixed."""
        return {
            **self.problem.space.held,
            **dict(zip(self.problem.names, self.best.x.tolist(), strict=True)),
        }

    @property
    def values(self) -> xr.DataArray:
        """Optimal values by parameter, with units."""
        return self.problem.space.labelled(self.best.x, "value")

    @property
    def objective(self) -> float:
        """Objective at the optimum."""
        return self.best.objective

    @cached_property
    def objective_before(self) -> float:
        """Objective of the user's design, at which the first search started; for a peak the largest
        value, including between stored times.
        """
        if not self.problem.is_peak:
            return self.problem.fun(self.problem.space.start)
        return float(
            summits(*self._fine_paths(self.problem.space.start)[self.problem.name])[1].max()
        )

    @cached_property
    def broken_before(self) -> dict[str, float]:
        """Constraints that the user's design violates, with the violations in their units."""
        p, start = self.problem, self.problem.space.start
        left, sizes = p.violations(start), Scaled(p, start).row_sizes
        return {
            r.name: float(left[r.rows].max())
            for r in p.rows
            if (left / sizes)[r.rows].max() > FEASIBLE
        }

    @property
    def _broken(self) -> str:
        """Text on the constraints that the user's design violates: its objective is then no
        reference.
        """
        units = {r.name: r.constraint.of.unit for r in self.problem.rows}
        parts = [
            f"{name!r} by {value:.3g} {units[name]}".rstrip()
            for name, value in self.broken_before.items()
        ]
        return f", breaking {' and '.join(parts)}" if parts else ""

    @property
    def iterations(self) -> int:
        """Number of iterations of the solver, from the best initial design."""
        return self.best.iterations

    @property
    def evaluations(self) -> int:
        """Number of runs of the mechanism from all initial designs, including failed runs."""
        return self.problem.evaluations

    @property
    def failures(self) -> list[tuple[dict[str, float], Exception]]:
        """Designs during the search that could not be run, with the errors; the search continued
        around them.
        """
        return [
            (dict(zip(self.problem.names, x.tolist(), strict=True)), error)
            for x, error in self.problem.failures
        ]

    @property
    def converged(self) -> bool:
        """Whether the constraints and the conditions of a local optimum are satisfied, checked
        independently of the solver.
        """
        return self.best.converged

    @property
    def second_order(self) -> Curvature | None:
        """Check of second derivatives: whether the design is a local minimum; None if the search
        has not converged.
        """
        return self.best.curvature

    @property
    def left(self) -> tuple[Stationary, ...]:
        """Saddle points and maxima to which the search had converged, and which it left."""
        return self.best.left

    @cached_property
    def local_optima(self) -> pd.DataFrame:
        """Distinct local optima: objective, number of initial designs that led to them,
        second-order check, and parameters; the best first.
        """
        import pandas as pd

        p, optima = self.problem, [(o.attempt, o.reached) for o in self.optima]
        rows = [
            [a.objective, reached, a.curvature.kind if a.curvature else "unchecked", *a.x]
            for a, reached in optima
        ]
        columns = [p.name, "starts", "second order", *p.names]
        return pd.DataFrame(
            rows, columns=columns, index=pd.RangeIndex(1, len(rows) + 1, name="local optimum")
        )

    @property
    def optimality(self) -> float:
        """Residual of the gradient after subtracting multipliers, relative to the gradient at the
        initial design.
        """
        return self.best.optimality.residual

    @property
    def message(self) -> str:
        """Message of the solver, and the reason if the design is not an optimum."""
        return str(self._message)

    @property
    def _message(self) -> Message:
        ended, left = (
            self.best.message,
            f"{self.optimality:.1e} of the gradient at the start is left",
        )
        if self.converged:
            return Message("{}", ended)
        if not self.best.feasible:
            missing = self.problem.infeasibility(self.best.x)
            return Message("{}; constraints are not met: {:.3g} is missing", ended, missing)
        if self.best.stopped:
            return Message(
                "{}; {}: {start}.parameters continues from there", ended, left, start=...
            )
        if self.second_order is not None and self.second_order.directions:
            return Message(
                "{}; the design is no local minimum, but no better one was reached from it: give"
                " another {start}",
                ended,
            )
        if self.optimality <= SETTLED and not self.best.exhausted:
            return Message(
                "{}; but between stored times bounds are still broken: use a smaller {output}",
                ended,
            )
        if isinstance(self.problem.goal, StabilityObjective):
            return Message(
                "{}; {}: where eigenvalues meet or change places {!r} has no derivative; name a mode"
                " by near=…, or bound vm.damping_ratio to keep away from it",
                ended,
                left,
                self.problem.name,
            )
        if self.best.exhausted:
            return Message("{}; {}: more {max_iterations} may help", ended, left)
        return Message("{}; {}: a smaller {tolerance} makes runs smoother", ended, left)

    @cached_property
    def constraints(self) -> pd.DataFrame:
        """Each constraint with its value (for a path the one nearest to a bound, with its time),
        bounds, multiplier and whether it is active.

        `between` is the worst value of a path, including between stored times; `violation` is the
        amount by which it violates the bound.
        """
        import pandas as pd

        rows = {r.name: self._constraint(r) for r in self.problem.rows}
        columns = [
            "value",
            "lower",
            "upper",
            "multiplier",
            "active",
            "unit",
            "time",
            "between",
            "violation",
        ]
        return pd.DataFrame.from_dict(rows, orient="index", columns=columns).rename_axis(
            "constraint"
        )

    @property
    def multipliers(self) -> dict[str, float]:
        """Constraint, or parameter at a bound, → λ, positive at upper bounds: if a bound moves by
        δ, the optimum changes by −λ δ.
        """
        λ = {r.name: float(self.best.optimality.rows[r.rows].sum()) for r in self.problem.rows}
        return λ | {
            n: float(μ)
            for n, μ in zip(self.problem.names, self.best.optimality.bounds, strict=True)
            if μ != 0
        }

    @cached_property
    def history(self) -> pd.DataFrame:
        """Objective, infeasibility and parameters by iteration, from the best initial design."""
        import pandas as pd

        columns = [self.problem.name, "infeasibility", *self.problem.names]
        return pd.DataFrame(self.best.trace, columns=columns).rename_axis("iteration")

    @cached_property
    def before(self) -> Run:
        """The motion of the user's design."""
        return self._evaluator.simulate(self.problem.space.start)

    @cached_property
    def after(self) -> Run:
        """The motion of the optimal design."""
        return self._evaluator.simulate(self.best.x)

    @cached_property
    def gradient(self) -> Gradient:
        """Objective (unless it is a peak) and scalar constraints with their gradient at the
        optimum.
        """
        return self._evaluator.gradient(self.best.x)

    @cached_property
    def certificate(self) -> Certificate:
        """Accuracy of the gradient, relative to that at the initial design, because the gradient
        may vanish at an optimum; for a peak, at its instant.
        """
        p = self.problem
        if p.is_peak:
            return self._peak_gradient().certify()
        scaled = Scaled(p, self.best.start)
        by_row = {r.name: float(scaled.row_sizes[r.rows.start]) for r in p.rows}
        by_name = {p.name: scaled.objective_size, **by_row}
        return self.gradient.certify(
            sizes=np.array([by_name[name] for name in p.scalars])[:, None] / scaled.sizes
        )

    def _peak_gradient(self) -> Gradient:
        """Gradient of the function whose peak is minimised, at the instant of its largest value."""
        p, outcome = self.problem, self.problem.outcome(self.best.x)
        assert outcome is not None and isinstance(p.goal, Peak)
        instant = float(p.time[p.peak_path(outcome)[0].argmax()])
        if instant == 0:
            problem = (
                "it is largest at the start, where nothing has moved yet: there is no motion to"
                " certify"
            )
            raise ModelError(problem, element=f"objective {p.name!r}")
        return self._evaluator.at_instant(p.name, p.goal, instant, self.best.x)

    def plot(self, *, style: str | None = None) -> Figure:
        """Plot outputs before and after, and the progress of the search.

        Args:
            style: "paper" for the format of a paper.

        Returns:
            A figure.
        """
        from .design_figures import draw_optimum

        return draw_optimum(self, style)

    def _described(self) -> Description:
        p, unit = self.problem, f" {self.problem.goal.unit}" if self.problem.goal.unit else ""
        state, kind = (
            ("converged", "Local optimum") if self.converged else ("NOT converged", "Best design")
        )
        before = f"before: {number(self.objective_before)}{unit}{self._broken}"
        ended = (
            f"{state} in {self.iterations} iterations, {self.evaluations} runs ({len(p.failures)}"
            f" failed), {self.seconds:.2g} s ({self.settings.solver},"
            f" {'exact' if self.settings.exact else 'approximate'} Hessian)"
        )
        return Description(
            f"{kind} of {self.label!r}: {p.name} = {number(self.objective)}{unit} ({before})",
            [Message("{}: {}", ended, self._message), *notes(self)],
            [*local_optima_table(self), self._parameter_table(), *self._constraint_table()],
        )

    def _parameter_table(self) -> Table:
        p, s = self.problem, self.problem.space
        head = ["parameter", "before", "optimum", "unit", "lower", "upper", "multiplier"]
        multipliers = self.best.optimality.bounds
        columns = (p.names, s.start, self.best.x, s.units, s.lower, s.upper, multipliers)
        return head, list(zip(*columns, strict=True))

    def _constraint_table(self) -> list[Table]:
        if not self.problem.rows:
            return []
        names = ["value", "unit", "lower", "upper", "multiplier", "active"]
        names += ["time", "between", "violation"] if self.problem.paths else []
        body = [[name, *[row[c] for c in names]] for name, row in self.constraints.iterrows()]
        return [(["constraint", *names], body)]

    def _constraint(self, r: Rows) -> list[object]:
        values = self.problem.constraints(self.best.x)[r.rows]
        c, λ = r.constraint, self.best.optimality.rows[r.rows]
        margins = np.minimum(values - c.lower, c.upper - values)
        k = int(margins.argmin())
        total = float(λ.sum())
        largest = max(np.abs(self.best.optimality.rows).max(initial=0.0), TINY)
        active = bool(np.abs(λ).max() > ACTIVE_SHARE * largest) or c.lower == c.upper
        value, when = float(values[k]), np.nan
        worst, violation = value, max(0.0, -float(margins[k]))
        if r.name in self.problem.paths:
            t, fine = self._between[r.name]
            beyond = [float(summits(t, h)[1].max()) for h in (fine - c.upper, c.lower - fine)]
            worst = c.upper + beyond[0] if beyond[0] > beyond[1] else c.lower - beyond[1]
            when, violation = float(self.problem.time[k]), max(0.0, *beyond)
        return [value, c.lower, c.upper, total, active, c.of.unit, when, worst, violation]

    @cached_property
    def _between(self) -> Mapping[str, tuple[np.ndarray, np.ndarray]]:
        return self._fine_paths(self.best.x)

    def _fine_paths(self, x: np.ndarray) -> Mapping[str, tuple[np.ndarray, np.ndarray]]:
        """Paths on a finer grid of times, with this grid."""
        p, fine = self.problem, dict[str, tuple[np.ndarray, np.ndarray]]()
        own = {name: path for name, path in p.paths.items() if isinstance(path, Path)}
        if own:
            run = self._evaluator.simulate(x, finer=FINER)
            fine = {
                n: (run.time, run.measure(h.function, name=n).to_numpy()) for n, h in own.items()
            }
        for k, name in enumerate(p.paths):
            if name not in own:  # statistics are known at the stored times only
                outcome = p.outcome(x)
                assert outcome is not None
                fine[name] = p.time, outcome.paths[k]
        return fine

    @property
    def peak(self) -> float | None:
        """Largest value of a peak, including between stored times; None for other objectives."""
        return (
            float(summits(*self._between[self.problem.name])[1].max())
            if self.problem.is_peak
            else None
        )

    @property
    def _evaluator(self) -> RunsOfDesigns:
        if not isinstance(self.problem.evaluator, RunsOfDesigns):
            problem = "this problem is not that of a mechanism: it has no runs"
            raise ModelError(problem, element=f"objective {self.problem.name!r}")
        return self.problem.evaluator
