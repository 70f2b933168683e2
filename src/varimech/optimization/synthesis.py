"""Dimensional synthesis: find parameters for which a mechanism meets targets over values of a
driver,

    min over ρ (and u, where the timing is free)   Σₖ |f(q(uₖ, ρ), ρ) − fₖ|²,

by Gauss–Newton steps in a trust region (`scipy.optimize.least_squares`) with exact Jacobians f_q
q_ρ + f_ρ and f_q q_u. All positions of a design are continued from one assembly, so they lie on one
branch; a design whose targets are not all on this branch is rejected.

J. J. Uicker, G. R. Pennock, J. E. Shigley, Theory of Machines and Mechanisms, ch. 9.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from ..analyses.kinematics import followed, kinematics, read_inputs, read_range
from ..analyses.simulation import Values
from ..analyses.solvers import ModelSolvers
from ..core.errors import ModelError, VarimechError, check_whole
from ..core.symbols import SX
from ..model.scalar_outputs import Turn
from ..model.user_functions import column_of
from ..results.kinematic_path import KinematicState
from ..sensitivity.objective import checked_callable
from ..solving.kinematics import Kinematics as KinematicSolver
from ..solving.kinematics import Position, Stuck

if TYPE_CHECKING:
    from .synthesis_result import Synthesis

Targets = Sequence[tuple[object, object]] | Mapping[Any, object]
"""Pairs of an output (point, function of the state, or text) and its values at all targets."""
SCAN = 121
"""Number of positions among which initial values of free timings are searched: every 3° of a
turn.
"""
ALIKE = 1e-6
"""Relative difference below which two optima are the same."""


class Problem:
    """Residuals of targets, with their Jacobian, as functions of the unknowns."""

    def __init__(
        self,
        solvers: ModelSolvers,
        driver: object,
        targets: Targets,
        values: object,
        over: object,
        span: tuple[object, object] | None,
        parameters: Values | None,
    ):
        data = solvers.data
        inputs = read_inputs(data, driver, [0.0] if values is None else values, "synthesize")
        self.driver, self.output = next(iter(inputs.outputs.items()))
        self.solver = KinematicSolver(data.frozen(), inputs.outputs)
        self.names, self.lower, self.upper = _design(solvers, over)
        self.indices = solvers.indices(list(self.names))
        self.nominal = data.parameter_set.values(parameters)
        self.targets, self._functions = self._read_targets(targets)
        self.count = len(self.targets)
        self.given = None if values is None else inputs.table[:, 0]
        if self.given is not None and self.given.size != self.count:
            raise ModelError(
                f"there are {self.given.size} values of the driver for {self.count} targets",
                element="synthesize",
                field="values",
            )
        self.span = _span(self.output.unit, span)

    def _read_targets(self, targets: Targets) -> tuple[np.ndarray, ca.Function]:
        e, columns, tables = self.solver.equations, list[SX](), list[np.ndarray]()
        state = KinematicState(
            e.model,
            e.frames,
            e.t,
            e.differentiate,
            coordinates=(e.q, e.v, e.a),
            counted=lambda n, φ: e.counted.get(n, φ),
            own=e.own.states,
        )
        pairs = list(targets.items() if isinstance(targets, Mapping) else targets)
        if not pairs:
            raise ModelError("are missing", element="synthesize", field="targets")
        for k, (what, numbers) in enumerate(pairs):
            label = f"target {what!r}" if isinstance(what, str) else f"target {k}"
            if isinstance(what, str) and e.model._is_point(what):
                column = state.position(what)
            else:
                column = column_of(checked_callable(what, "a target"), state, label)
            if ca.depends_on(column, ca.vertcat(e.v, e.a, e.t)):
                raise ModelError("must depend on positions only", element="synthesize", label=label)
            table = np.asarray(numbers, dtype=float)
            table = table[:, None] if table.ndim == 1 else table
            if table.ndim != 2 or table.shape[1] != column.numel() or not np.isfinite(table).all():
                raise ModelError(
                    f"must be finite numbers, {column.numel()} for each target",
                    element="synthesize",
                    label=label,
                )
            columns.append(column)
            tables.append(table)
        if len({len(table) for table in tables}) > 1:
            raise ModelError("must all have as many values", element="synthesize", field="targets")
        f = ca.vertcat(*columns)
        functions = [ca.densify(x) for x in (f, ca.jacobian(f, e.q), ca.jacobian(f, e.ρ))]
        return np.hstack(tables), ca.Function("f", [e.q, e.ρ], functions)

    def parameters(self, x: np.ndarray) -> np.ndarray:
        """Parameter values ρ of a design."""
        ρ = self.nominal.copy()
        ρ[self.indices] = x[: len(self.names)]
        return ρ

    def timing(self, x: np.ndarray) -> np.ndarray:
        """Driver values u of a design."""
        return x[len(self.names) :] if self.given is None else self.given

    def positions(self, x: np.ndarray, sign: float | None = None) -> list[Position] | None:
        """Positions at all targets; None if they are not on one branch, or on a branch of another
        sign.
        """
        ρ, u = self.parameters(x), self.timing(x)
        if not self.solver.model.parameter_set.allowed(ρ[None])[0]:
            return None
        order = np.argsort(u, kind="stable")
        try:
            path, stored, _ = followed(self.solver, u[order][:, None], ρ)
        except VarimechError:
            return None
        if sign is not None and path[0].sign != sign:
            return None
        at_targets: list[Position] = [path[0]] * self.count
        for k, place in zip(order, stored, strict=True):
            at_targets[k] = path[place]
        return at_targets

    def residuals(self, positions: list[Position] | None, ρ: np.ndarray) -> np.ndarray:
        """Outputs minus targets; NaN if there are no positions."""
        if positions is None:
            return np.full(self.targets.size, np.nan)
        values = [np.array(self._functions(p.q, self.solver.values(ρ, p.u))[0]) for p in positions]
        return (np.array(values)[:, :, 0] - self.targets).ravel()

    def jacobian(self, positions: list[Position], ρ: np.ndarray) -> np.ndarray:
        """Derivatives of residuals with respect to the unknowns."""
        size, width = self.targets.shape[1], len(self.names)
        J = np.zeros((self.targets.size, width + (self.count if self.given is None else 0)))
        for k, p in enumerate(positions):
            values, rows = self.solver.values(ρ, p.u), slice(k * size, (k + 1) * size)
            _, f_q, f_ρ = (np.array(x) for x in self._functions(p.q, values))
            q_ = self.solver.position_sensitivities(p.q, values, self.indices)
            J[rows, :width] = f_q @ q_ + f_ρ[:, self.indices]
            if self.given is None:
                J[rows, width + k] = (f_q @ p.tangent)[:, 0]
        return J

    def first(self, x: np.ndarray) -> np.ndarray | None:
        """Initial unknowns: parameters, and timings of the nearest positions."""
        if self.given is not None:
            return x
        ρ = self.parameters(x)
        try:
            scan = self._scan(ρ)
        except VarimechError:
            return None
        f = np.array([self._functions(p.q, self.solver.values(ρ, p.u))[0] for p in scan])
        off = f.reshape(len(scan), -1)[None] - self.targets[:, None]
        nearest = (off**2).sum(axis=2).argmin(axis=1)
        return np.concatenate([x, [scan[k].u[0] for k in nearest]])

    def _scan(self, ρ: np.ndarray) -> list[Position]:
        """Positions in the span, in both directions from the initial one as far as the mechanism
        moves.
        """
        u = np.linspace(*self.span, SCAN)
        begin = self.solver.first(ρ, u[[SCAN // 2]])
        positions = [begin]
        for values in (u[u > begin.u[0]], u[u < begin.u[0]][::-1]):
            last = begin
            for value in values:
                try:
                    last = self.solver.reach(last, np.array([value]), ρ)[-1]
                except Stuck:
                    break
                positions.append(last)
        return positions


@dataclass(frozen=True)
class Attempt:
    """Final design of one search."""

    x: np.ndarray
    error: float
    """Root mean square of residuals."""
    converged: bool
    evaluations: int


def synthesize(
    solvers: ModelSolvers,
    driver: object,
    targets: Targets,
    values: object,
    over: object,
    span: tuple[object, object] | None,
    starts: int,
    seed: int,
    parameters: Values | None,
) -> Synthesis:
    """Return the best result of several searches.

    Raises:
        ModelError: for invalid input.
        VarimechError: if no initial design assembles with all targets in reach.
    """
    from .synthesis_result import Synthesis

    check_whole("synthesize", 1, starts=starts)
    problem = Problem(solvers, driver, targets, values, over, span, parameters)
    designs = _starts(problem, starts, seed)
    attempts = [a for x in designs if (a := _search(problem, x)) is not None]
    if not attempts:
        raise VarimechError(
            f"{solvers.data.label}: none of {starts} starts assembles with all targets in reach",
            remedy="start from a design that does, widen its bounds, or try more starts",
        )
    attempts.sort(key=lambda a: a.error)
    best = attempts[0]
    before = problem.first(problem.nominal[problem.indices])
    ρ0 = problem.nominal
    initial = None if before is None else problem.positions(before)
    error_before = float(np.sqrt(np.mean(problem.residuals(initial, ρ0) ** 2)))
    ρ = problem.parameters(best.x)
    named = dict(zip(solvers.data.parameter_set.parameters, ρ.tolist(), strict=False))
    u = problem.timing(best.x)
    motion = kinematics(
        solvers, driver, np.linspace(*_shown(problem, u), SCAN), None, None, None, named, "truncate"
    )
    residuals = problem.residuals(problem.positions(best.x), ρ).reshape(problem.targets.shape)
    return Synthesis(
        solvers.data.name,
        problem.driver,
        dict(zip(problem.names, best.x.tolist(), strict=False)),
        u,
        problem.targets,
        residuals,
        best.error,
        error_before,
        best.converged,
        tuple(
            (a.error, dict(zip(problem.names, a.x.tolist(), strict=False)))
            for a in _distinct(attempts)
        ),
        len(designs) - len(attempts),
        _defects(problem, best),
        motion,
    )


def _search(problem: Problem, x: np.ndarray) -> Attempt | None:
    """Run one search; None if the initial design is rejected."""
    from scipy.optimize import least_squares

    start = problem.first(x)
    positions = None if start is None else problem.positions(start)
    if start is None or positions is None:
        return None
    sign = positions[0].sign
    free = np.full(start.size - x.size, np.inf)
    bounds = np.concatenate([problem.lower, -free]), np.concatenate([problem.upper, free])
    last: dict[bytes, list[Position] | None] = {}

    def at(y: np.ndarray) -> list[Position] | None:
        key = y.tobytes()
        if key not in last:
            last.clear()
            last[key] = problem.positions(y, sign)
        return last[key]

    def jacobian(y: np.ndarray) -> np.ndarray:
        at_targets = at(y)
        assert at_targets is not None  # least_squares rejects steps to designs without positions
        return problem.jacobian(at_targets, problem.parameters(y))

    inside = np.clip(start, *bounds)
    if at(inside) is None:
        return None
    result = least_squares(
        lambda y: problem.residuals(at(y), problem.parameters(y)),
        inside,
        jac=jacobian,
        bounds=bounds,
        x_scale="jac",
        xtol=1e-12,
        ftol=1e-12,
        gtol=1e-12,
        max_nfev=400,
    )
    error = float(np.sqrt(2 * result.cost / problem.targets.size))
    return Attempt(result.x, error, bool(result.status > 0), int(result.nfev))


def _starts(problem: Problem, count: int, seed: int) -> list[np.ndarray]:
    """Return the nominal design, and others distributed over the bounds."""
    first = np.clip(problem.nominal[problem.indices], problem.lower, problem.upper)
    if count == 1:
        return [first]
    open_ = ~(np.isfinite(problem.lower) & np.isfinite(problem.upper))
    if open_.any():
        name = list(problem.names)[int(open_.argmax())]
        raise ModelError(
            f"several starts need bounds of all parameters, and {name!r} has none",
            element="synthesize",
            field="starts",
            value=count,
            remedy=f"give them, as over={{{name!r}: (lower, upper), …}}, or take starts=1",
        )
    from scipy.stats import qmc

    unit = qmc.LatinHypercube(len(problem.names), seed=seed).random(count - 1)
    return [first, *qmc.scale(unit, problem.lower, problem.upper)]


def _design(solvers: ModelSolvers, over: object) -> tuple[tuple[str, ...], np.ndarray, np.ndarray]:
    """Names and bounds of the parameters that may change."""
    parameters = solvers.data.parameter_set.parameters
    given = dict(over) if isinstance(over, Mapping) else {}
    names = list(given) or over
    indices = solvers.indices(names)  # type: ignore[arg-type]
    chosen = [list(parameters)[k] for k in indices]
    bounds = []
    for name in chosen:
        low, high = given.get(name, parameters[name].bounds) or (None, None)
        low, high = -np.inf if low is None else low, np.inf if high is None else high
        low, high = (
            parameters[name].check(x) if isinstance(x, str) else float(x) for x in (low, high)
        )
        if not low < high:
            raise ModelError(
                "must be (lower, upper)", element="synthesize", label=name, value=(low, high)
            )
        bounds.append((low, high))
    lower, upper = np.array(bounds).T
    return tuple(chosen), lower, upper


def _span(unit: str, span: tuple[object, object] | None) -> tuple[float, float]:
    if span is None:
        return 0.0, 2 * np.pi
    first, last = read_range(list(span), unit, "synthesize: span")
    return float(first), float(last)


def _shown(problem: Problem, u: np.ndarray) -> tuple[float, float]:
    return (float(u.min()), float(u.max())) if np.ptp(u) > 0 else problem.span


def _distinct(attempts: list[Attempt]) -> list[Attempt]:
    """Return the distinct optima."""
    kept: list[Attempt] = []
    for each in attempts:
        if all(not np.allclose(each.x, other.x, rtol=ALIKE, atol=ALIKE) for other in kept):
            kept.append(each)
    return kept


def _defects(problem: Problem, best: Attempt) -> tuple[str, ...]:
    """Describe defects of the best design that a designer should know."""
    notes, u = [], problem.timing(best.x)
    steps = np.diff(u)
    if not ((steps > 0).all() or (steps < 0).all()):
        notes.append("order: the driver does not pass the targets in their order")
    if isinstance(problem.output, Turn):
        ρ = problem.parameters(best.x)
        begin = float(u.min())
        try:
            path, stored, _ = followed(problem.solver, np.array([[begin]]), ρ)
            problem.solver.reach(path[stored[0]], np.array([begin + 2 * np.pi]), ρ)
        except Stuck as error:
            notes.append(f"rotation: {problem.driver!r} does not turn fully; {error}")
    return tuple(notes)
