"""Objectives of a problem as a plain function of a parameter vector, with derivatives:

    x ↦ ψ(x),    J = ∂ψ/∂x,    J ẋ,    Jᵀ w,    Hᵢ = ∂²ψᵢ/∂x²,    Hᵢ ẋ,    Σ Hᵢ Wᵢ

Leading dimensions of x are batches. Derivatives are those of the discrete solution.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from numbers import Integral

import numpy as np
from numpy.typing import ArrayLike

from ..backends.cuda import check_gpu
from ..core.caller_warnings import warn_caller
from ..core.errors import ModelError, VarimechError, VarimechWarning, check_whole, unknown_name
from ..sensitivity.objective import Objective
from .gradients import check_method
from .row_runs import Failures, RowRuns
from .simulation import Simulation

METHODS = ("auto", "direct", "adjoint")
FAILURES = ("nan", "raise")
SHOWN = 6
"""Number of parameters whose values messages list."""


class FailedRunsWarning(VarimechWarning):
    """Some runs of a batch failed: how many, and why the first one did.

    Attributes:
        failures: row of the batch → why its run failed.
    """

    def __init__(self, message: str, failures: Mapping[int, VarimechError]):
        super().__init__(message)
        self.failures = dict(failures)


class Function:
    """Objectives at the end of the run as a function of the parameters, ψ(x), with derivatives.

    x has the parameters as its last axis, in the order of `parameters`; all axes before it are a
    batch, whose rows run at the same time. Results have the axes of the batch first.

    >>> import numpy as np
    >>> import varimech as vm
    >>> m = vm.Mechanism("pendulum", gravity=(0, -9.81))
    >>> L = m.parameter("L", 1.0, unit="m")
    >>> O = m.ground_point("O", (0, 0))
    >>> rod = m.bar("rod", "O", "tip", length=L, mass=3.0)
    >>> joint = m.revolute("O")
    >>> m.start(angle={"rod": -1.0})
    >>> f = m.problem(vm.final(lambda s: s.angle("rod")), "L", duration=1.0).function()
    >>> f(f.x0).round(4), f.jacobian(f.x0).round(4)
    (array([-2.0376]), array([[-0.6158]]))
    >>> f([[0.9], [1.0], [1.1]]).round(4).tolist()
    [[-1.9618], [-2.0376], [-2.0875]]
    """

    def __init__(self, runs: RowRuns, failures: str = "nan"):
        self._runs = runs
        self._failures = failures

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters, in the order of x."""
        runs = self._runs
        return tuple(p.name for p in runs.simulation.solvers.parameters(runs.indices))

    @property
    def objectives(self) -> tuple[str, ...]:
        """Names of the objectives, in the order of ψ."""
        return tuple(self._runs.objectives)

    @property
    def x0(self) -> np.ndarray:
        """Values of the parameters in the problem."""
        return self._runs.simulation.ρ[self._runs.indices]

    def __call__(self, x: ArrayLike) -> np.ndarray:
        """Objectives; short for `value`.

        Args:
            x: (…, parameter).

        Returns:
            ψ, (…, objective).
        """
        return self.value(x)

    def value(self, x: ArrayLike) -> np.ndarray:
        """Objectives, by runs without derivatives.

        Where a tolerance chooses the steps, they are not those of runs with derivatives:
        the values differ by errors within the tolerance.

        Args:
            x: (…, parameter).

        Returns:
            ψ, (…, objective); NaN where a run fails.

        Raises:
            VarimechError: if a run fails and the function was made with failures="raise".

        Warns:
            FailedRunsWarning: otherwise.
        """
        points, batch = self._points(x)
        values, failures = self._runs.values(points)
        self._report(points, failures)
        return values.reshape(*batch, self._shape[0])

    def value_and_jacobian(self, x: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """Objectives and their derivatives, by the same runs.

        Args:
            x: (…, parameter).

        Returns:
            ψ, (…, objective), and ∂ψ/∂x, (…, objective, parameter); NaN where a run fails.

        Raises:
            VarimechError: as `value` does.
        """
        points, batch = self._points(x)
        values, jacobians, failures = self._runs.first(points)
        self._report(points, failures)
        return values.reshape(*batch, self._shape[0]), jacobians.reshape(*batch, *self._shape)

    def jacobian(self, x: ArrayLike) -> np.ndarray:
        """Derivatives of the objectives.

        Args:
            x: (…, parameter).

        Returns:
            ∂ψ/∂x, (…, objective, parameter); NaN where a run fails.
        """
        return self.value_and_jacobian(x)[1]

    def jvp(self, x: ArrayLike, tangent: ArrayLike) -> np.ndarray:
        """Jacobian-vector product.

        Args:
            x: (…, parameter).
            tangent: change of x, (…, parameter).

        Returns:
            J ẋ, (…, objective).
        """
        return np.einsum("...ij,...j->...i", self.jacobian(x), self._vector("tangent", tangent, 1))

    def vjp(self, x: ArrayLike, weights: ArrayLike) -> np.ndarray:
        """Vector-Jacobian product: the gradient of Σ wᵢ ψᵢ.

        Args:
            x: (…, parameter).
            weights: of the objectives, (…, objective); a row of zeros gives zero also where the run
                failed, so that failed rows can be left out of a sum.

        Returns:
            Jᵀ w, (…, parameter).
        """
        w, J = self._vector("weights", weights, 0)[..., None], self.jacobian(x)
        return (w * np.where((w == 0) & np.isnan(J), 0.0, J)).sum(axis=-2)

    def hessian(self, x: ArrayLike) -> np.ndarray:
        """Second derivatives of the objectives, by a run for each parameter.

        Args:
            x: (…, parameter).

        Returns:
            ∂²ψ/∂x², (…, objective, parameter, parameter), symmetric; NaN where a run fails.
        """
        points, _ = self._points(x)
        n = len(self.parameters)
        each = points.reshape(*np.shape(x)[:-1], 1, n)
        H = np.moveaxis(self.hessian_product(each, np.eye(n)), -3, -2)
        return (H + np.swapaxes(H, -1, -2)) / 2

    def hessian_product(self, x: ArrayLike, tangent: ArrayLike) -> np.ndarray:
        """Hessian-vector products of all objectives, by one run: the change of the Jacobian with x.

        Args:
            x: (…, parameter).
            tangent: change of x, (…, parameter).

        Returns:
            Hᵢ ẋ, (…, objective, parameter); NaN where a run fails.
        """
        points, batch = self._points(x)
        d = self._vector("tangent", tangent, 1)
        batch = np.broadcast_shapes(batch, d.shape[:-1])
        whole = (*batch, len(self.parameters))
        points = np.broadcast_to(points.reshape(*np.shape(x)), whole).reshape(-1, whole[-1])
        return self._second(points, np.broadcast_to(d, whole).reshape(-1, whole[-1])).reshape(
            *batch, *self._shape
        )

    def hessian_contraction(self, x: ArrayLike, weights: ArrayLike) -> np.ndarray:
        """Sum of Hessians, each times a vector of its own: the transpose of `hessian_product`, as
        reverse differentiation of the Jacobian requires it.

        Args:
            x: (…, parameter).
            weights: (…, objective, parameter); objectives whose weights are all zero need no run.

        Returns:
            Σᵢ Hᵢ Wᵢ, (…, parameter).
        """
        points, batch = self._points(x)
        W = np.asarray(weights, dtype=float)
        if W.shape[-2:] != self._shape:
            problem = f"has the shape {W.shape}; give (…, {self._shape[0]}, {self._shape[1]})"
            raise ModelError(problem, element="function", field="weights")
        m, n = self._shape
        batch = np.broadcast_shapes(batch, W.shape[:-2])
        points = np.broadcast_to(points.reshape(*np.shape(x)), (*batch, n)).reshape(-1, n)
        W = np.broadcast_to(W, (*batch, m, n)).reshape(-1, m, n)
        row, objective = np.nonzero((W != 0).any(axis=-1))
        products = self._second(points[row], W[row, objective])
        total = np.zeros((len(points), n))
        np.add.at(total, row, products[np.arange(len(row)), objective])
        return total.reshape(*batch, n)

    @property
    def _shape(self) -> tuple[int, int]:
        """Shape of a Jacobian."""
        return len(self.objectives), len(self.parameters)

    def _second(self, points: np.ndarray, directions: np.ndarray) -> np.ndarray:
        """Compute Hᵢ d for each row. A direction that is not finite, as from a failed row, yields
        NaN without a run.
        """
        along = np.full((len(points), *self._shape), np.nan)
        finite = np.isfinite(directions).all(axis=1)
        along[finite], failures = self._runs.second(points[finite], directions[finite])
        places = np.flatnonzero(finite)
        self._report(points, {int(places[k]): error for k, error in failures.items()})
        return along

    def _points(self, x: ArrayLike) -> tuple[np.ndarray, tuple[int, ...]]:
        """Return checked rows, and the shape of the batch."""
        points = np.asarray(x)
        n = len(self.parameters)
        if points.dtype.kind not in "fiu":
            problem = f"has elements of type {points.dtype}; give real numbers"
            raise ModelError(problem, element="function", field="x")
        if points.ndim == 0 or points.shape[-1] != n:
            names = ", ".join(self.parameters)
            problem = f"has the shape {points.shape}; its last axis must have {n} values: {names}"
            raise ModelError(problem, element="function", field="x")
        return points.astype(float).reshape(-1, n), points.shape[:-1]

    def _vector(self, name: str, values: ArrayLike, axis: int) -> np.ndarray:
        """Return checked tangents (axis 1) or weights (axis 0) of a Jacobian."""
        vector, size = np.asarray(values, dtype=float), self._shape[axis]
        if vector.ndim == 0 or vector.shape[-1] != size:
            problem = f"has the shape {vector.shape}; its last axis must have {size} values"
            raise ModelError(problem, element="function", field=name)
        return vector

    def _report(self, points: np.ndarray, failures: Failures) -> None:
        """Raise, or warn once, if any run failed."""
        if not failures:
            return
        row = min(failures)
        first, name = failures[row], self._runs.simulation.name
        failed = "the run failed"
        if len(points) > 1:
            failed = f"{len(failures)} of {len(points)} runs failed, the first one in row {row}"
        message = (
            f"function of {name!r}: {failed}, at {self._description(points[row])}:"
            f" {type(first).__name__}: {first}"
        )
        if self._failures == "raise":
            raise VarimechError(message) from first
        warn_caller(FailedRunsWarning(f"{message}; results of failed runs are NaN", failures))

    def _description(self, point: np.ndarray) -> str:
        """Format the values of the first few parameters with their units."""
        parameters = self._runs.simulation.solvers.parameters(self._runs.indices)
        shown = [
            f"{p.name} = {value:g}{f' {p.unit}' if p.unit else ''}"
            for p, value in zip(parameters[:SHOWN], point.tolist(), strict=False)
        ]
        return ", ".join([*shown, *(["…"] if len(parameters) > SHOWN else [])])

    def __repr__(self) -> str:
        objectives, parameters = ", ".join(self.objectives), ", ".join(self.parameters)
        return f"<Function of {self._runs.simulation.name!r}: ({parameters}) → ({objectives})>"


def function_of(
    s: Simulation,
    objectives: Mapping[str, Objective],
    indices: list[int],
    method: str,
    executor: object,
    failures: str,
) -> Function:
    """Check all options, and build the function.

    Raises:
        ModelError: for invalid options, and for "cuda" without a GPU.
    """
    if method not in METHODS:
        raise unknown_name("method", method, METHODS)
    check_method(method, s.scheme, len(objectives))
    if failures not in FAILURES:
        problem = "must be 'nan' or 'raise'"
        raise ModelError(problem, element="function", field="failures", value=failures)
    on_gpu = isinstance(executor, str) and executor == "cuda"
    if on_gpu:
        check_gpu()
        threads = None
    elif executor is None:
        threads = None
    elif isinstance(executor, Integral):
        check_whole("function", 1, executor=executor)
        threads = int(executor)
    else:
        problem = "must be a number of threads, 'cuda', or omitted for one thread on each core"
        raise ModelError(problem, element="function", field="executor", value=executor)
    return Function(RowRuns(s, objectives, indices, method, threads, on_gpu), failures)
