"""What there is to know about a gradient: the same by every road and with shorter steps, and the
motion it belongs to.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from ..core.progress import progress_bar
from ..core.schedule import SMALLEST_TOLERANCE
from ..sensitivity.dependence import dependence
from ..sensitivity.smoothness import Switch, switches
from .reference import Reference, halved, reference_of
from .rerun import FAILURES, DerivativeCheck, rerun

if TYPE_CHECKING:
    from ..results.gradient import Gradient
    from ..results.live_run import LiveRun

ROADS = ("direct", "adjoint", "complex-step")
"""Methods that give the exact derivative of the computed function."""
STORED, SWITCHING = 1000, 10_000
"""Instants at which a motion is looked at, and one that may pass switches, which can be brief."""
SVD_WORK = 5e8
"""Operations that are spent on looking for singular positions."""
UNMOVED = 1e-9
"""Share of its range by which a parameter moves a switch that it does not move."""
NEAR_SINGULAR = 1e-2
"""Share of its median that the smallest singular value of Φ_q may fall to."""
NEARLY = 0.2
"""Share of its median below which the smallest singular value is followed through zero."""


@dataclass(frozen=True)
class Refinement:
    """The gradient with shorter steps, or smaller tolerances."""

    what: str
    """step or tolerance"""
    settings: tuple[float, ...]
    """The given one first."""
    gradients: np.ndarray
    """(setting, objective, parameter)"""
    refusal: str = ""


@dataclass(frozen=True)
class Growth:
    """How derivatives of the state grow over the run."""

    factor: float
    """From a fifth of the run to its end."""
    rate: float
    """1/s, of exponential growth."""
    exponential: bool


@dataclass(frozen=True)
class Singularity:
    """How close constraints come to depending on each other: the smallest singular value of Φ_q
    over its median along the run.
    """

    closeness: float
    time: float

    @property
    def near(self) -> bool:
        """Whether that is so close that derivatives mean nothing behind it."""
        return self.closeness < NEAR_SINGULAR


@dataclass(frozen=True)
class Crossing:
    """A switch that the motion passes."""

    switch: Switch
    time: float
    """When it does so first."""
    moved: np.ndarray
    """For each parameter, whether it moves the switch."""


@dataclass(frozen=True)
class Evidence:
    """All of it."""

    objective_names: tuple[str, ...]
    given: np.ndarray
    """The gradient in question: (objective, parameter)."""
    method: str
    derivative_checks: tuple[DerivativeCheck, ...]
    steps: tuple[float, ...]
    sweep: np.ndarray
    """Central differences: (perturbation, objective, parameter); NaN for those that failed."""
    refinement: Refinement
    reference: Reference
    again: np.ndarray | None
    """What the method of the gradient gives once more, with steps chosen anew; None if that is not
    known.
    """
    values: np.ndarray
    """Sizes of the objectives."""
    parameters: np.ndarray
    """Sizes of the parameters."""
    residuals: tuple[float, ...]
    growth: Growth | None
    singularity: Singularity | None
    switches: tuple[Switch, ...]
    crossings: tuple[Crossing, ...]
    loose: float
    """By how much, relative, runs differ because each chooses its steps anew; 0 where perturbed
    runs take the steps of the given one.
    """
    tolerance: float
    """Of the given run; 0 where steps were given."""
    depends: np.ndarray
    """Whether an objective can depend on a parameter: (objective, parameter)."""
    sizes: np.ndarray
    """By what errors are measured: derivatives, or the sizes that were given where these are
    larger: (objective, parameter).
    """


def gather(
    gradient: Gradient, steps: tuple[float, ...], sizes: np.ndarray, progress: bool | None
) -> Evidence:
    """Go all roads. What fails on one of them is noted, and the others go on."""
    info, live = gradient.run.info, gradient.run._live
    assert live is not None
    duration, chosen = float(gradient.time[-1]), "tolerance" in info
    stored = SWITCHING if switches(live.equations, gradient.objectives) else STORED
    equal = not chosen and not _at_given_ends(gradient)
    often: dict[str, Any] = (
        {"every": max(1, int(info["steps"]) // stored)} if equal else {"output": duration / stored}
    )
    once: dict[str, Any] = {"every": int(info["steps"]) * 8} if equal else {"output": duration}
    label = f"{info['mechanism']}: certificate"
    with progress_bar(label, len(ROADS) + len(steps) + 4, progress) as tell:
        done = 0

        def told(result: Any) -> Any:
            nonlocal done
            done += 1
            tell(done)
            return result

        derivative_checks, direct = [], None
        same = (
            {"ends": gradient.run.step_ends}
            if chosen and gradient.run.step_ends is not None
            else {}
        )
        for method in ROADS:
            derivative_check, found = told(
                rerun(gradient, method, **(often if method == "direct" else once), **same)
            )
            derivative_checks.append(derivative_check)
            direct = found if method == "direct" else direct
        sweep = np.stack([told(_differences(gradient, step, {**once, **same})) for step in steps])
        refinement, finest = _refined(gradient, derivative_checks[0], chosen, once, told)
        own = next(
            (
                derivative_check
                for derivative_check in derivative_checks
                if derivative_check.name == gradient.method
            ),
            None,
        )
        again = told(rerun(gradient, own.name, **once)[0] if own is not None and same else own)
        motion = live if direct is None or direct.run._live is None else direct.run._live
        reference = told(reference_of(gradient, motion, finest))
    return _with_motion(
        gradient,
        motion,
        tuple(derivative_checks),
        steps,
        sizes,
        sweep,
        refinement,
        reference,
        again,
    )


def _with_motion(
    gradient: Gradient,
    live: LiveRun,
    derivative_checks: tuple[DerivativeCheck, ...],
    steps: tuple[float, ...],
    sizes: np.ndarray,
    sweep: np.ndarray,
    refinement: Refinement,
    reference: Reference,
    again: DerivativeCheck | None,
) -> Evidence:
    e, ρ = live.equations, np.abs(live.parameters[live.indices])
    known = tuple(switches(e, gradient.objectives))
    return Evidence(
        gradient.objective_names,
        gradient.gradient_history[-1],
        gradient.method,
        derivative_checks,
        steps,
        sweep,
        refinement,
        reference,
        None if again is None else again.gradient,
        np.abs(gradient.value_history).max(axis=0),
        np.where(ρ > 0, ρ, 1.0),
        tuple(float(r) for r in gradient.run.info["residuals"]),
        _growth(live),
        _singularity(live),
        known,
        tuple(_crossings(live, known)),
        float(gradient.run.info["tolerance"]) if gradient.run.step_ends is None else 0.0,
        float(gradient.run.info.get("tolerance", 0.0)),
        dependence(e, gradient.objectives, live.indices),
        np.maximum(np.abs(gradient.gradient_history[-1]), sizes),
    )


def _differences(gradient: Gradient, step: float, storage: dict[str, Any]) -> np.ndarray:
    """Central differences by one perturbation; where they fail for all parameters together, for
    each of them.
    """
    assert gradient.repeat is not None
    common: dict[str, Any] = {
        "method": "finite-difference",
        "relative_steps": (step,),
        "progress": False,
        **storage,
    }
    try:
        return np.asarray(gradient.repeat(**common).gradient_history[-1])
    except FAILURES:
        if len(gradient.parameter_names) == 1:
            return np.full(gradient.gradient_history[-1].shape, np.nan)
    columns = []
    for name in gradient.parameter_names:
        try:
            columns.append(gradient.repeat(**{**common, "wrt": [name]}).gradient_history[-1][:, 0])
        except FAILURES:
            columns.append(np.full(len(gradient.objective_names), np.nan))
    return np.stack(columns, axis=-1)


def _refined(
    gradient: Gradient,
    direct: DerivativeCheck,
    chosen: bool,
    storage: dict[str, Any],
    told: Callable[[Any], Any],
) -> tuple[Refinement, Gradient]:
    """Halved twice, or divided by ten twice as far as there is a smaller tolerance; and the finest
    of these gradients.
    """
    info, what = gradient.run.info, "tolerance" if chosen else "step"
    first = (
        float(gradient.time[-1]) / int(info["steps"])
        if _at_given_ends(gradient)
        else float(info[what])
    )
    wanted = (
        [max(first / 10, SMALLEST_TOLERANCE), max(first / 100, SMALLEST_TOLERANCE)]
        if chosen
        else [first / 2, first / 4]
    )
    wanted = [x for k, x in enumerate(wanted) if x < [first, *wanted][k]]
    settings, found = (
        [first],
        [gradient.gradient_history[-1] if direct.gradient is None else direct.gradient],
    )
    finest = gradient
    for setting in wanted:
        changes = (
            {"ends": halved(np.asarray(finest.run.step_ends))}
            if _at_given_ends(gradient)
            else {what: setting}
        )
        derivative_check, finer = told(rerun(gradient, "direct", **{**storage, **changes}))
        if derivative_check.gradient is None or finer is None:
            return Refinement(
                what, tuple(settings), np.stack(found), derivative_check.refusal
            ), finest
        settings.append(setting)
        found.append(derivative_check.gradient)
        finest = finer
    return Refinement(
        what, tuple(settings), np.stack(found), "" if wanted else "there is no smaller tolerance"
    ), finest


def _at_given_ends(gradient: Gradient) -> bool:
    """Whether steps were given one by one (`ends=`)."""
    return "tolerance" not in gradient.run.info and isinstance(gradient.run.info["step"], list)


def _growth(live: LiveRun) -> Growth | None:
    """Compare growth like exp(rate t) with growth like a power of t, by the largest derivative of
    positions and velocities so far.
    """
    S, t = live.trajectory.sensitivities, live.trajectory.time
    if S is None or not np.isfinite(S).all() or t.size < 20:
        return None
    ρ = np.abs(live.parameters[live.indices])
    size = np.linalg.norm(
        S[:, : 2 * live.equations.q.numel()] * np.where(ρ > 0, ρ, 1.0), axis=(1, 2)
    )
    size = np.maximum.accumulate(size)
    late = (t >= t[-1] / 5) & (size > 0)
    if late.sum() < 10:
        return None
    x, y = t[late], np.log(size[late])
    rate, misfit = _line(x, y)
    _, other = _line(np.log(x), y)
    factor = float(np.exp(y[-1] - y[0]))
    # derivatives of an orderly motion grow like t or t²: 25 times from a fifth of the run on; and
    # one event is no growth
    sudden = np.diff(y).max() > 0.3 * (y[-1] - y[0])
    return Growth(factor, rate, bool(factor > 200 and misfit < 2 * other and not sudden))


def _line(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Slope of the line through points, and how far they are off."""
    slope, offset = np.polyfit(x, y, 1)
    return float(slope), float(np.square(y - slope * x - offset).sum())


def _singularity(live: LiveRun) -> Singularity | None:
    """Where constraints come closest to depending on each other more than they always do."""
    e, T = live.equations, live.trajectory
    m, n = e.λ.numel(), e.q.numel()
    if m == 0 or T.time.size < 10:
        return None
    few = max(10, int(SVD_WORK / (m * n * min(m, n))))
    rows = np.unique(np.linspace(0, T.time.size - 1, min(T.time.size, few)).astype(int))
    f = ca.Function("jacobian", [e.q, e.ρ, e.t], [ca.densify(e.constraint_jacobian)])
    J = (
        np.array(f(T.states[rows, :n].T, live.parameters, T.time[None, rows]))
        .reshape(m, rows.size, n)
        .transpose(1, 0, 2)
    )
    σ = np.linalg.svd(J, compute_uv=False)
    rank = int((np.median(σ, axis=0) > 1e-9 * σ.max()).sum())
    if rank == 0:
        return None
    least = σ[:, rank - 1] / np.median(σ[:, rank - 1])
    k = int(least.argmin())
    if 0 < k < rows.size - 1 and least[k] < NEARLY:
        before, here, after = least[k - 1 : k + 2]
        # a value that passes zero between two instants goes on with the other sign
        if min(abs(before - 2 * here - after), abs(before + 2 * here - after)) < 0.05 * (
            before + after
        ):
            return Singularity(0.0, float(T.time[rows[k]]))
    return Singularity(float(least[k]), float(T.time[rows[k]]))


def _crossings(live: LiveRun, known: Sequence[Switch]) -> list[Crossing]:
    """Switches that change their sign between stored instants, with the first time."""
    if not known:
        return []
    at = ca.vertcat(*[s.at for s in known])
    values, T = live.evaluate(at), live.trajectory
    slopes = None
    found = []
    for k, switch in enumerate(known):
        sign = np.sign(values[:, k])
        first = int((sign != 0).argmax())  # to start from one is no passage
        passed = first + np.flatnonzero(sign[first + 1 :] != sign[first:-1])
        if not passed.size:
            continue
        moved = np.full(len(live.indices), not switch.timed)
        if T.sensitivities is not None and not switch.timed:
            slopes = live.derivative(at) if slopes is None else slopes
            near = np.union1d(passed, passed + 1)
            change = np.abs(slopes[near, k]).max(axis=0) * np.abs(live.parameters[live.indices])
            moved = change > UNMOVED * np.ptp(values[:, k])
        found.append(Crossing(switch, float(T.time[passed[0] + 1]), moved))
    return found
