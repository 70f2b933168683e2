"""Least-squares fit of measured trajectories by runs with sensitivities (Gauss–Newton in a trust
region, as Levenberg and Marquardt).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TypedDict

import numpy as np

from ..analyses.simulation import Simulation
from ..core.errors import Interrupted, ModelError, VarimechError, check_level, check_whole
from ..core.progress import progress_bar
from ..optimization.evaluation import MechanismEvaluator
from ..optimization.space import Bounds, Over, Space, space_of
from .confidence import confidence
from .fit import Fit
from .measurement import Measurement, Measurements, named_measurements

TIGHT = 1e-12
"""Relative change of parameters or residuals at which a fit ends; a round value near rounding."""


class FitOptions(TypedDict, total=False):
    """Options of a fit, with the argument names of `Problem.fit`."""

    start: Mapping[str, float | str] | None
    bounds: Bounds | None
    level: float
    max_iterations: int
    method: str


def fit(
    s: Simulation,
    measured: Measurements,
    over: Over,
    *,
    start: Mapping[str, float | str] | None = None,
    bounds: Bounds | None = None,
    level: float = 0.95,
    max_iterations: int = 100,
    method: str = "auto",
) -> Fit:
    """Fit parameters to data; `Mechanism.fit` documents the arguments."""
    began = time.perf_counter()
    named = named_measurements(measured)
    check_level("fit", level)
    check_whole("fit", 1, max_iterations=max_iterations)
    if method == "adjoint":
        problem = (
            "gives derivatives at the end of a run only, and data are needed during the run; remove"
            " it"
        )
        raise ModelError(problem, element="fit", field="method", value=method)
    space = space_of("fit", s.solvers.data.parameter_set, over, bounds, start, s.given)
    residuals = _Residuals(
        storing_samples("fit", s, [m.times for m in named.values()]), space, named, method
    )
    first, _ = residuals.at(space.start)  # an error at the initial values is raised
    residuals.strict = False
    interrupted = False
    try:
        with progress_bar(f"{s.name}: fit", max_iterations, s.progress) as report:
            x, converged, message = _least(residuals, space, max_iterations, report)
        r, J = residuals.at(x)
    except KeyboardInterrupt:
        interrupted = True
        x, (r, J) = residuals.best
        converged, message = False, "stopped by Ctrl-C"
    reach = float(
        np.linalg.norm(np.concatenate([(m.values / _weights(m)).ravel() for m in named.values()]))
    )
    sigma_given = all(m.sigma is not None for m in named.values())
    covariances = confidence(
        J, r, space.sizes, max(reach, float(np.linalg.norm(first))), sigma_given=sigma_given
    )
    seconds = time.perf_counter() - began
    result = Fit(
        s.name,
        residuals.evaluator,
        space,
        named,
        x,
        r,
        J,
        covariances,
        level,
        sigma_given,
        converged,
        message,
        residuals.runs,
        residuals.failures,
        seconds,
    )
    if interrupted:
        raise Interrupted(f"stopped after {residuals.runs} runs", result)
    return result


def _least(
    residuals: _Residuals, space: Space, most: int, report: Callable[..., None]
) -> tuple[np.ndarray, bool, str]:
    """Parameters with the smallest sum of squares, whether the solver converged, and its message."""
    from scipy.optimize import least_squares

    scaled = space.sizes

    def at(z: np.ndarray) -> np.ndarray:
        return space.inside(space.start + scaled * z)

    def value(z: np.ndarray) -> np.ndarray:
        r, _ = residuals.at(at(z))
        report(
            min(residuals.runs, most), f"run {residuals.runs}, sum of squares {float(r @ r):.6g}"
        )
        return r

    def jacobian(z: np.ndarray) -> np.ndarray:
        return residuals.at(at(z))[1] * scaled

    bounds = (space.lower - space.start) / scaled, (space.upper - space.start) / scaled
    tight = {"xtol": TIGHT, "ftol": TIGHT, "gtol": TIGHT}
    solution = least_squares(
        value, np.zeros(scaled.size), jacobian, bounds, x_scale="jac", max_nfev=most, **tight
    )
    return at(solution.x), bool(solution.status > 0), str(solution.message)


class _Residuals:
    """(model − data)/σ at all samples and its derivatives, from one run; NaN if it fails."""

    def __init__(self, s: Simulation, space: Space, named: Mapping[str, Measurement], method: str):
        functions = [(f"measurement {name!r}", m.function) for name, m in named.items()]
        self.evaluator = MechanismEvaluator(s.counting(functions), space.names, method)
        self.named = named
        self.runs = 0
        self.failures: list[tuple[np.ndarray, VarimechError]] = []
        self.strict = True
        """Whether a failed run raises its error."""
        self._last: tuple[bytes, tuple[np.ndarray, np.ndarray]] | None = None
        self._least = np.inf
        self.best: tuple[np.ndarray, tuple[np.ndarray, np.ndarray]]
        """The parameters with the smallest sum of squares so far, set by the first run."""

    def at(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Residuals and their derivatives."""
        if self._last is None or self._last[0] != x.tobytes():
            self.runs += 1
            try:
                result = self._evaluated(x)
            except VarimechError as error:
                if self.strict:
                    raise
                self.failures.append((x.copy(), error))
                count = sum(m.values.size for m in self.named.values())
                result = np.full(count, np.nan), np.full((count, x.size), np.nan)
            self._last = x.tobytes(), result
            total = float(result[0] @ result[0])
            if np.isfinite(total) and total < self._least:
                self._least, self.best = total, (x.copy(), result)
        return self._last[1]

    def _evaluated(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        run, values, derivatives = self.evaluator.gradient(x).run, [], []
        for name, m in self.named.items():
            at = np.abs(run.time[:, None] - m.times[None, :]).argmin(axis=0)
            model = run.measure(m.function, name=name).to_numpy().reshape(run.time.size, -1)[at]
            if model.shape != m.values.shape:
                problem = (
                    f"its function returns {model.shape[1]} numbers, but samples have"
                    f" {m.components}"
                )
                raise ModelError(problem, element=f"measurement {name!r}")
            change = (
                run.measure(m.function, name=name, wrt="all")
                .to_numpy()
                .reshape(run.time.size, m.components, x.size)[at]
            )
            values.append(((model - m.values) / _weights(m)).ravel())
            derivatives.append((change / _weights(m)[:, :, None]).reshape(-1, x.size))
        return np.concatenate(values), np.concatenate(derivatives)


def _weights(m: Measurement) -> np.ndarray:
    return np.ones(m.values.shape) if m.sigma is None else m.sigma


def last_sample(measured: Measurements) -> float:
    """Time of the last sample (s), and so the duration of the run."""
    last = max(float(m.times.max()) for m in named_measurements(measured).values())
    if last == 0:
        raise ModelError("all samples are at t = 0; give duration=", element="fit")
    return last


def storing_samples(analysis: str, s: Simulation, samples: Sequence[np.ndarray]) -> Simulation:
    """Return the simulation with results stored at the sample times."""
    times = np.unique(np.concatenate(samples))
    if not s.duration >= times[-1]:
        problem = f"s ends before the last sample, at {times[-1]:g} s"
        remedy = "simulate longer, or give the unit of the times if it is not s"
        raise ModelError(
            problem, element=analysis, field="duration", value=s.duration, remedy=remedy
        )
    if s.options.get("output") is not None or s.options.get("every", 1) != 1:
        problem = "results are stored at the sample times; remove output= and every="
        raise ModelError(problem, element=analysis)
    if s.schedule.outputs is not None:
        return s.with_options(output=times)
    steps = times / s.schedule.step
    # a round value: above the rounding of the quotient, and a negligible fraction of a step
    between_steps = np.abs(steps - np.round(steps)) > 1e-6
    if between_steps.any():
        problem = (
            f"the sample at {times[between_steps][0]:g} s is between steps of {s.schedule.step:g} s"
        )
        remedy = "give a step that divides the sample times, or tolerance= instead"
        raise ModelError(problem, element=analysis, remedy=remedy)
    return s
