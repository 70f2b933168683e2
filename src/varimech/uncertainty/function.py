"""A mechanism as a function of the varying parameters: objectives at the end of the run, with exact
gradients and Hessians.

    x ↦ ψ(x),    ∂ψ/∂x,    ∂²ψ/∂x²

Many points at once are evaluated by compiled runs on all cores; derivatives are those of the
discrete solution.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from ..analyses.row_runs import Failures, RowRuns
from ..core.errors import VarimechError
from ..core.interrupts import DeferredInterrupt, deferred_interrupts, no_deferral
from .openturns_distributions import openturns
from .parameter_distributions import ParameterDistributions

T = TypeVar("T")


@dataclass(eq=False)
class Runs:
    """Values and derivatives of objectives at points of the space of varying parameters, each
    computed by a run.
    """

    rows: RowRuns
    """Runs at rows of values of the varying parameters."""
    distributions: ParameterDistributions
    error: VarimechError | KeyboardInterrupt | None = None
    """Error of a failed run: OpenTURNS only passes on the text of errors."""
    held: DeferredInterrupt = field(default_factory=no_deferral)
    """Deferred Ctrl-C, which OpenTURNS would convert to text, too."""
    calls: Counter[str] = field(default_factory=Counter)
    """Numbers of values, gradients and Hessians computed."""
    report: Callable[[], None] | None = None
    """Callback before runs, which shows progress."""

    def values(self, points: np.ndarray) -> np.ndarray:
        """ψ, (point, objective)."""
        points = np.atleast_2d(points)
        self._count("values", len(points))
        return self._recorded(lambda: self._values(points))

    def reachable(self, points: np.ndarray) -> np.ndarray:
        """ψ, (point, objective), NaN if a run fails."""
        self._count("values", len(points))
        return self._recorded(lambda: self.rows.values(points)[0])

    def gradient(self, point: np.ndarray) -> np.ndarray:
        """∂ψ/∂x, (objective, parameter)."""
        self._count("gradients", 1)

        def compute() -> np.ndarray:
            _, gradients, failures = self.rows.first(point[None])
            return _raised(gradients, failures)[0]

        return self._recorded(compute, point)

    def hessian(self, point: np.ndarray) -> np.ndarray:
        """∂²ψ/∂x², (objective, parameter, parameter), symmetric."""
        self._count("Hessians", 1)
        directions = np.eye(point.size)

        def compute() -> np.ndarray:
            at = np.tile(point, (point.size, 1))
            along, failures = self.rows.second(at, directions)
            return _raised(along, failures).transpose(1, 0, 2)

        curvatures = self._recorded(compute, point)
        return (curvatures + curvatures.transpose(0, 2, 1)) / 2

    @contextmanager
    def own_errors(self, doing: str) -> Iterator[None]:
        """Restore errors of runs that OpenTURNS converted to text; errors of OpenTURNS itself are
        described by `doing`.
        """
        self.error = None
        try:
            with deferred_interrupts() as self.held:
                yield
        except VarimechError:
            if isinstance(self.error, KeyboardInterrupt):
                raise self.error from None
            raise
        except (RuntimeError, TypeError, ValueError) as other:
            if self.error is not None:
                raise self.error from None
            raise VarimechError(
                f"{self.rows.simulation.name!r}: {doing}: OpenTURNS failed: {other}"
            ) from other
        finally:
            self.held = no_deferral()

    def _count(self, what: str, number: int) -> None:
        self.calls[what] += number
        if self.report is not None:
            self.report()

    def _values(self, points: np.ndarray) -> np.ndarray:
        values, failures = self.rows.values(points)
        for sample, error in sorted(failures.items()):
            more = f" ({len(failures)} failed)" if len(failures) > 1 else ""
            which = f"sample {sample} of {len(points)}{more}, " if len(points) > 1 else ""
            raise VarimechError(
                f"{which}{self._description(points[sample])}: {type(error).__name__}: {error}"
            ) from error
        return values

    def _recorded(self, compute: Callable[[], T], point: np.ndarray | None = None) -> T:
        """Return the result of a computation; record its error, if any."""
        try:
            self.rows.simulation.check_unchanged("call openturns(…) again")
            with self.held.allowed():
                return compute()
        except KeyboardInterrupt:
            self.error = KeyboardInterrupt()
            # OpenTURNS crashes on exceptions that do not derive from Exception
            raise VarimechError("interrupted") from None
        except VarimechError as error:
            self.error = (
                error
                if point is None
                else VarimechError(f"{self._description(point)}: {type(error).__name__}: {error}")
            )
            raise self.error from error

    def _description(self, point: np.ndarray) -> str:
        units = [f" {unit}" if unit else "" for unit in self.distributions.units]
        return ", ".join(
            f"{n} = {x:g}{u}"
            for n, x, u in zip(self.distributions.names, np.ravel(point), units, strict=True)
        )


def _raised(results: np.ndarray, failures: Failures) -> np.ndarray:
    """Return the results, or raise the first error."""
    for error in failures.values():
        raise error
    return results


def function_of(runs: Runs) -> object:
    """Wrap the runs as an `openturns.Function`, whose derivatives have the objective as last
    index.
    """
    ot = openturns()
    base: Any = ot.OpenTURNSPythonFunction

    class Mechanical(base):
        def __init__(self) -> None:
            super().__init__(len(runs.distributions.names), len(runs.rows.objectives))
            self.setInputDescription(list(runs.distributions.names))
            self.setOutputDescription(list(runs.rows.objectives))

        def _exec(self, x: object) -> np.ndarray:
            return runs.values(np.array(x))[0]

        def _exec_sample(self, x: object) -> np.ndarray:
            return runs.values(np.array(x))

        def _gradient(self, x: object) -> np.ndarray:
            return runs.gradient(np.array(x)).T

        def _hessian(self, x: object) -> np.ndarray:
            return runs.hessian(np.array(x)).transpose(1, 2, 0)

    return ot.Function(Mechanical())
