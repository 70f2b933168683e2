"""Cost against risk: the cheapest tolerances for several targets of one statistic."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..analyses.simulation import Simulation
from ..core.errors import InfeasibleError, Interrupted, ModelError
from ..core.progress import progress_bar
from ..optimization.quantities import Constraints, named_constraints
from ..results.labels import with_units
from ..results.result import Description, Result, Variable
from ..sensitivity.comparison import Constraint
from .allocate import AllocationOptions, Statement, solved, statement
from .allocation import Allocation
from .design import check_targets_resolved
from .log_widths import search_constraint
from .statistic import Statistic

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

ELEMENT = "allocation_curve"


@dataclass(frozen=True, eq=False, repr=False)
class AllocationCurve(Result):
    """Cheapest tolerances for several targets of a statistic: the Pareto curve of cost against
    risk.
    """

    label: str
    rule: str
    """Label of the statistic."""
    unit: str
    targets: np.ndarray = field(repr=False)
    """Targets in increasing order."""
    allocations: tuple[Allocation | None, ...] = field(repr=False)
    """Allocation for each target; None where no tolerances reach the target."""
    seconds: float

    _dims = ("target",)
    cost = Variable("Cost of the cheapest tolerances.")
    equal_cost = Variable("Cost of equal tolerances at the same risk.")
    tolerance = Variable("Tolerances ±, (target, parameter).")
    multiplier = Variable("−dcost/dtarget.")

    @property
    def info(self) -> dict[str, Any]:
        """Mechanism, statistic, and seconds."""
        return {"mechanism": self.label, "statistic": self.rule, "seconds": self.seconds}

    @property
    def axis(self) -> str:
        """Axis label of the targets."""
        return f"{self.rule} ({self.unit})" if self.unit else self.rule

    @property
    def risks(self) -> tuple[np.ndarray, str]:
        """Targets as plotted, and their axis label; probabilities near 1 are plotted as the
        difference to 1.
        """
        if self.rule.startswith("probability") and (self.targets > 0.5).all():
            return 1 - self.targets, f"1 − {self.axis}"
        return self.targets, self.axis

    @cached_property
    def dataset(self) -> xr.Dataset:
        """Costs and multipliers by target; tolerances by target and parameter."""
        import xarray as xr

        known = next(a for a in self.allocations if a is not None)
        none = np.full(len(known.names), np.nan)
        arrays = {
            "cost": [math.nan if a is None else a.cost for a in self.allocations],
            "equal_cost": [
                math.nan if a is None or a.equal is None else a.equal.cost for a in self.allocations
            ],
            "multiplier": [
                math.nan if a is None else a.multipliers["target"] for a in self.allocations
            ],
        }
        tolerances = [none if a is None else a.after for a in self.allocations]
        return xr.Dataset(
            {name: ("target", np.array(values)) for name, values in arrays.items()}
            | {"tolerance": (("target", "parameter"), np.array(tolerances))},
            coords={
                "target": ("target", self.targets, {"units": self.unit}),
                **with_units("parameter", known.names, [c.unit for c in known.choices]),
            },
            attrs={"mechanism": self.label, "statistic": self.rule},
        )

    def plot(self, *, style: str | None = None) -> Figure:
        """Plot cost against the target, and the tolerances behind it.

        Args:
            style: "paper" for the format of a paper.

        Returns:
            A figure.
        """
        from .allocation_figures import draw_curve

        return draw_curve(self, style)

    def _described(self) -> Description:
        head = ["target", "cost", "equal tolerances", "multiplier", "samples"]
        rows: list[list[Any]] = []
        for target, a in zip(self.targets.tolist(), self.allocations, strict=True):
            if a is None:
                rows.append([target, None, None, None, "not reached"])
                continue
            equal = None if a.equal is None else a.equal.cost
            rows.append([target, a.cost, equal, a.multipliers["target"], _verdict(a)])
        title = f"Cost against risk for {self.label!r}: {self.axis}, {self.seconds:.2g} s"
        return Description(title, tables=[(head, rows)])


def _verdict(a: Allocation) -> str:
    """Result of the verification by samples, as text."""
    if a.verification is None:
        return "not verified"
    return next(c.verdict for c in a.verification.checked if c.name == "target")


def allocation_curve(
    s: Simulation,
    targets: Sequence[Constraint],
    constraints: Constraints,
    options: AllocationOptions,
) -> AllocationCurve:
    """Allocate for several targets, each search starting from the previous optimum.

    Raises:
        ModelError: for targets that are not bounds of one statistic on one side.
        InfeasibleError: if no target can be reached.
        Interrupted: on Ctrl-C; its `result` is the curve up to then.
    """
    began = time.perf_counter()
    bounds, upper = _checked(targets)
    order = np.argsort([-b if upper else b for b in bounds])  # the easiest first
    others = named_constraints(constraints)
    if "target" in others:
        raise ModelError(
            "is the name of the target", element=ELEMENT, field="constraints['target']"
        )
    first = targets[order[0]]
    base = statement(s, {"target": first, **others}, options)
    allocations: dict[int, Allocation | None] = {}
    error: InfeasibleError | None = None

    def curve() -> AllocationCurve:
        places = sorted(allocations, key=lambda k: bounds[k])
        of = first.of
        assert isinstance(of, Statistic)
        return AllocationCurve(
            s.name,
            of.label,
            of.unit,
            np.array([bounds[k] for k in places]),
            tuple(allocations[k] for k in places),
            time.perf_counter() - began,
        )

    start = base.task.variables.start
    with progress_bar(f"{s.name}: cost against risk", len(bounds), s.progress) as report:
        for done, k in enumerate(order.tolist()):
            own = _with_target(base, targets[k])
            try:
                allocations[k] = a = solved(own, start, time.perf_counter(), warm=done > 0)
                start = np.concatenate([[x for _, x in a.nominals.values()], a.after])
            except InfeasibleError as missed:
                allocations[k], error = None, missed
            except KeyboardInterrupt:
                if not any(allocations.values()):
                    raise
                reached = f"{s.name!r}: {len(allocations)} of {len(bounds)} targets"
                raise Interrupted(reached, curve(), "their curve is the `result`") from None
            report(done + 1)
    if error is not None and not any(allocations.values()):
        raise error
    return curve()


def _with_target(base: Statement, target: Constraint) -> Statement:
    """Return the statement with another target, without building anything again."""
    task = replace(base.task, constraints={**base.task.constraints, "target": target})
    check_targets_resolved(base.evaluator, task.constraints)
    return replace(base, task=task)


def _checked(targets: Sequence[Constraint]) -> tuple[list[float], bool]:
    """Bounds of the targets, and whether they are upper bounds."""
    if not isinstance(targets, Sequence) or len(targets) < 2:
        problem = "must be two bounds of one statistic or more"
        remedy = "give [vm.std(f) <= s for s in (0.1, 0.2, 0.3)]"
        raise ModelError(problem, element=ELEMENT, field="targets", value=targets, remedy=remedy)
    first = targets[0]
    if not isinstance(first, Constraint) or not isinstance(first.of, Statistic):
        problem = "bound no statistic"
        remedy = "give [vm.std(f) <= s for s in (0.1, 0.2, 0.3)]"
        raise ModelError(problem, element=ELEMENT, field="targets", value=first, remedy=remedy)
    for t in targets:
        same = isinstance(t, Constraint) and t.of == first.of
        one_side = same and math.isinf(search_constraint(t).lower) != math.isinf(
            search_constraint(t).upper
        )
        if not one_side or math.isinf(t.upper) != math.isinf(first.upper):
            problem = "must be bounds of one statistic, all from above or all from below"
            raise ModelError(problem, element=ELEMENT, field="targets", value=t)
    upper = math.isinf(search_constraint(first).lower)
    return [t.upper if upper else t.lower for t in targets], upper
