"""The verbs of a mechanism that look for better numbers: `optimize`, `design_problem`, `fit`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..analyses.hessians import TwiceDifferentiable

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Unpack

    from ..schemes import RunOptions
    from .fit import Fit
    from .measurement import Measurements
    from .optimum import Optimum
    from .problem import DesignProblem
    from .quantities import Constraints, Goal
    from .space import Bounds, Over


class Designing(TwiceDifferentiable):
    """Optimal design and fitting, for whatever can be simulated and differentiated."""

    def optimize(
        self,
        objective: Goal | Mapping[str, Goal],
        over: Over = None,
        *,
        duration: float,
        constraints: Constraints = (),
        bounds: Bounds | None = None,
        start: Mapping[str, float] | None = None,
        starts: int = 1,
        solver: str = "ipopt",
        hessian: str = "approximate",
        max_iterations: int = 100,
        tolerance_optimality: float = 1e-9,
        method: str = "auto",
        seed: int = 0,
        parameters: Mapping[str, float] | None = None,
        **how: Unpack[RunOptions],
    ) -> Optimum:
        """Find parameter values that minimise an objective and meet constraints: a local optimum,
        or the best one of several.

        A search ends at the best design among its neighbours, which is checked to second order:
        saddle points and maxima are left. Other local optima may be better; `starts=8` looks for
        them.

        Args:
            objective: what to minimise: `vm.integral`, `vm.final`, or `vm.peak`, alone or as {name:
                objective}.
            over: parameters that may change; all of them if not given.
            duration: s.
            constraints: comparisons such as `vm.final(f) <= 0.1` or `vm.path(h).between(-1, 1)`, in
                a list or by name.
            bounds: parameter → (lower, upper), None where open; within the parameter's own.
            start: parameter → value to begin with; nominal ones if not given.
            starts: how many searches: the first from the given design, others from designs within
                the bounds, which all of `over` need.
            solver: "ipopt", "scipy" (the best of SciPy for the problem), or a method of
                `scipy.optimize.minimize` by name.
            hessian: "approximate" second derivatives from changes of the gradient, or "exact" ones:
                fewer iterations, more to compile at first.
            max_iterations: from each start.
            tolerance_optimality: what may be left of the gradient, relative to that at the start.
            method: how gradients are computed, as for `sensitivity`.
            seed: of the starts that are spread.
            parameters: values of parameters that stay as they are, where these differ from the
                nominal ones.
            how: step, tolerance, output, integrator, … as for `simulate`; a tolerance of 1e-10 if
                none is given.

        Returns:
            An `Optimum`: `.parameters`, `.objective`, `.constraints`, `.multipliers`,
            `.local_optima`, `.second_order`, `.history`, `.before`, `.after`, `.plot()`, …

        Raises:
            ModelError: for input that makes no sense, such as objectives without a gradient or
                parameters that change nothing.
            InfeasibleError: if no design was found that meets the constraints, with the nearest
                one.
            Interrupted: on Ctrl-C after an iteration or more; its `result` is the best design up to
                then.
        """
        from .design import optimize

        return optimize(
            self,
            objective,
            over,
            duration,
            constraints,
            bounds,
            start,
            starts=starts,
            solver=solver,
            hessian=hessian,
            max_iterations=max_iterations,
            tolerance=tolerance_optimality,
            method=method,
            seed=seed,
            held=parameters,
            how=how,
        )

    def design_problem(
        self,
        objective: Goal | Mapping[str, Goal],
        over: Over = None,
        *,
        duration: float,
        constraints: Constraints = (),
        bounds: Bounds | None = None,
        start: Mapping[str, float] | None = None,
        method: str = "auto",
        parameters: Mapping[str, float] | None = None,
        **how: Unpack[RunOptions],
    ) -> DesignProblem:
        """The same problem as plain functions of a vector, for any other optimiser; arguments as
        for `optimize`.

        Returns:
            A `DesignProblem`: `.fun(x)`, `.jac(x)`, `.hess(x)`, `.constraints(x)`,
            `.constraints_jac(x)`, `.constraint_bounds`, `.x0`, `.bounds`, `.names`.
        """
        from .design import stated

        return stated(
            "design_problem",
            self,
            objective,
            over,
            duration,
            constraints,
            bounds,
            start,
            method=method,
            held=parameters,
            how=how,
        )

    def fit(
        self,
        measured: Measurements,
        over: Over = None,
        *,
        duration: float | None = None,
        start: Mapping[str, float] | None = None,
        bounds: Bounds | None = None,
        level: float = 0.95,
        max_iterations: int = 100,
        method: str = "auto",
        parameters: Mapping[str, float] | None = None,
        **how: Unpack[RunOptions],
    ) -> Fit:
        """Find parameter values for which the motion meets measured data, by least squares, with
        confidence intervals.

        Args:
            measured: one or more of `vm.measurement(function, times, values, sigma=…)`, alone, in a
                list or by name.
            over: parameters to find; all of them if not given.
            duration: s; up to the last sample if not given.
            start, bounds, max_iterations, method, parameters: as for `optimize`.
            level: probability with which a confidence interval holds the true value.
            how: step, tolerance, integrator, … as for `simulate`. Results are stored at the sample
                times, so equal steps have to meet these.

        Returns:
            A `Fit`: `.parameters`, `.intervals`, `.covariance`, `.correlation`,
            `.residual_deviation`, `.chi2`, `.plot()`, …
        """
        from .fitting import fit

        return fit(
            self,
            measured,
            over,
            duration,
            start,
            bounds,
            level=level,
            max_iterations=max_iterations,
            method=method,
            held=parameters,
            how=how,
        )
