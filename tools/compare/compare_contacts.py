"""Impacts and dry friction: accuracy of values and gradients against time, Varimech beside Exudyn
and MuJoCo; docs/contacts.md.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import compare_impacts
from pages import DOCS, PEERS, ROOT, machine, markdown, number, run_side, show
from rich.console import Console

from varimech.benchmarks import bouncing_ball, friction_oscillator

PAGE = DOCS / "contacts.md"
SIDES: dict[str, Path | str] = {
    "contacts_exudyn": PEERS,
    "contacts_mujoco": PEERS,
    "contacts_varimech": sys.executable,
}
GOALS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-6, 1e-9)
"""Relative errors to reach."""
OURS = "Varimech"
Point = dict[str, Any]

INTRODUCTION = """\
# Contacts

This page compares Varimech with Exudyn and MuJoCo for an impact problem and a dry-friction problem whose solutions are known in closed form. It shows
how accurately and how fast each program computes the final position and its gradient. `python tools/compare/compare.py contacts` repeats the
measurements. They were made according to these rules:

- **Time** is the wall-clock time of one motion, or of one gradient, on one core (the fastest of several repetitions). The time to build and compile a
  model is not included.
- **Error** is the relative error with respect to the closed form. For a gradient, it is the largest relative error of its derivatives.
- **Gradients** are exact derivatives in Varimech. Exudyn and MuJoCo use central differences with the best of five perturbations between 1e-5 and
  3e-2. Their time is the time of two motions per parameter, as if the best perturbation were known in advance. If a motion takes more than 80 ms,
  only three perturbations between 1e-4 and 1e-2 are tried. If a motion takes more than 0.6 s, no gradient is computed.
- **Settings** are varied in a sweep, and every row shows the best setting, selected by comparison with the closed form. This selection favours
  engines with many settings: a setting may be accurate only by coincidence, because errors of opposite sign cancel in this particular result. The
  errors of the gradients reveal such coincidences.
"""
MODELS = """\
## Models of contact and friction

- **Varimech**: the floor is rigid and follows Newton's impact law (`stop`). Dry friction is Coulomb friction with sticking and sliding
  (`dry_friction`). Impacts and reversals are located as events during the error-controlled integration (DOP853), and derivatives include the jumps at
  events.
- **Exudyn, `ObjectContactCoordinate`**: the contact is a penalty force with a coefficient of restitution. Impact model 2 is used, which Exudyn's
  documentation of sphere contact describes as much more accurate than the other models. The trapezoidal rule takes smaller steps when a contact
  begins or ends, as in Exudyn's contact example. The stiffness is chosen so that a contact lasts 10, 20 or 50 steps.
- **Exudyn, user-defined stiff force in Python**: the contact is a linear spring and damper that cannot pull, implemented as a
  `springForceUserFunction`. The damping is chosen to match the restitution. The integrator, DOPRI5 with error control, takes short steps only during
  contact.
- **Exudyn, bristles**: friction is modelled by `CoordinateSpringDamperExt`, which Exudyn's documentation recommends for implicit integrators. The integrator
  is the trapezoidal rule.
- **Exudyn, regularised friction**: the same element is used, but friction is viscous at low velocities. The integrator is DOPRI5 with error control.
- **MuJoCo, soft limit**: MuJoCo has no coefficient of restitution. The contact is a constraint with `solref="-stiffness -damping"`, as MuJoCo's
  documentation recommends for restitution. The impedance is 0.9999, and the damping is chosen to match the restitution. The integrator is RK4 or
  semi-implicit Euler with equal steps. The stiffness is chosen so that a contact lasts 5, 10 or 20 steps.
- **MuJoCo, `frictionloss`**: dry friction is a soft constraint with a time constant of one or two steps (`refsafe` disabled). The impedance is 0.9999, or
  0.9 with the NoSlip solver.
- **MuJoCo, user-defined impact location in Python**: MuJoCo takes single RK4 steps of a ball without a floor; Python code shortens the step that
  would pass the impact and reverses the velocity. This method is not a MuJoCo contact model and handles a single contact only, but it shows what
  users can add to an engine. It was not tried with Exudyn.

The results of a penalty model differ from those of a rigid model. This difference is proportional to the duration of the contact, and hence to
the inverse square root of the stiffness. It is not a fault of the penalty models if the real contact is compliant.

Chrono was not measured, because it is not available on PyPI; the package `pychrono` on PyPI is unrelated.
"""
CASES = {
    "ball": (
        "Bouncing ball",
        "A ball drops from 0.9 m and rebounds with a coefficient of restitution of 0.9. There are three impacts in 2 s. The programs compute the height of the ball at 2 s (0.27098 m) and its gradient with respect to the drop height and the coefficient of restitution.",
    ),
    "oscillator": (
        "Oscillator with dry friction",
        "An oscillator (mass 1 kg, stiffness 1 N/m, friction force 1 N) starts at 12 m with a velocity of 6 m/s. Within the simulated time of 30 s, it reverses seven times and then sticks at 15 − √205 = 0.68218 m. The programs compute the final position and its gradient with respect to the initial position, the initial velocity and the friction force.",
    ),
}


def closed_forms() -> dict[str, dict[str, Any]]:
    forms = {
        "ball": bouncing_ball.flight(bouncing_ball.DURATION),
        "oscillator": friction_oscillator.references()["final x"],
    }
    return {
        case: {"value": value, "gradient": list(gradient.values())}
        for case, (value, gradient) in forms.items()
    }


def milliseconds(x: float) -> str:
    return f"{number(x)} ms"


def models(points: list[Point]) -> dict[tuple[str, str], list[Point]]:
    """Points of each model of each engine, ours first."""
    grouped: dict[tuple[str, str], list[Point]] = {}
    for point in sorted(points, key=lambda p: (p["engine"] != OURS, p["engine"])):
        grouped.setdefault((point["engine"], point["model"]), []).append(point)
    return grouped


def reached(points: list[Point], goal: float, time: str, error: str) -> float | None:
    """Shortest time (ms) of settings that reach an error."""
    return min((p[time] for p in points if p[error] is not None and p[error] <= goal), default=None)


def goal_rows(points: list[Point], time: str, error: str) -> list[list[str]]:
    """A row a model: time to reach each error."""
    rows = []
    for (engine, model), own in models(points).items():
        times = [reached(own, goal, time, error) for goal in GOALS]
        best = min((p[error] for p in own if p[error] is not None), default=None)
        shown = ["–" if t is None else milliseconds(t) for t in times]
        rows.append([engine, model, *shown, "–" if best is None else f"{best:.0e}"])
    return rows


def without_methods(points: list[Point]) -> list[Point]:
    """Motions do not depend on the method of derivatives."""
    return [
        p | {"model": "events"} if p["engine"] == OURS else p
        for p in points
        if not p["model"].startswith("events, adjoint")
    ]


FRONT_HEADINGS = ["engine", "model", "setting", "time", "error"]


def front_rows(points: list[Point]) -> list[list[str]]:
    """Settings that no other one of the same model beats in both time and error."""
    rows = []
    for (engine, model), own in models(points).items():
        best = float("inf")
        for p in sorted(own, key=lambda p: p["milliseconds"]):
            if p["error"] < best:
                best = p["error"]
                figures = [milliseconds(p["milliseconds"]), f"{p['error']:.1e}"]
                rows.append([engine, model, p["setting"], *figures])
    return rows


GRADIENT_HEADINGS = ["engine", "model", "setting", "perturbation", "time", "error"]


def gradient_rows(points: list[Point]) -> list[list[str]]:
    """The most accurate gradient of each model:"""
    rows = []
    for (engine, model), own in models(points).items():
        known = [p for p in own if p["gradient_error"] is not None]
        if known:
            p = min(known, key=lambda p: p["gradient_error"])
            size = "exact" if p["perturbation"] is None else f"{p['perturbation']:g}"
            time = milliseconds(p["gradient_milliseconds"])
            rows.append([engine, model, p["setting"], size, time, f"{p['gradient_error']:.1e}"])
    return rows


def verdict(points: list[Point], what: str, time: str, error: str) -> str:
    """Which other models are faster than ours, and how the others compare at the least common
    error.
    """
    ours = [p for p in points if p["engine"] == OURS]
    faster, ratios = [], []
    for (engine, model), own in models(points).items():
        if engine == OURS:
            continue
        times = {
            goal: (theirs, reached(ours, goal, time, error))
            for goal in GOALS
            if (theirs := reached(own, goal, time, error)) is not None
        }
        ahead = [goal for goal, (theirs, t) in times.items() if t is None or theirs < t]
        if ahead:
            limits = f"the limits {', '.join(f'{goal:g}' for goal in ahead)}"
            where = "every error limit" if len(ahead) == len(GOALS) else limits
            faster.append(f"{engine} ({model}) at {where}")
        if times:
            goal, (theirs, t) = min(times.items())
            if t is not None:
                ratios.append(f"- {engine} ({model}): {number(theirs / t)} times at {goal:g}\n")
    if not faster:
        first = "No other model is faster than Varimech at any of these error limits."
    elif len(faster) == 1:
        first = f"One model is faster than Varimech: {faster[0]}."
    else:
        first = f"Several models are faster than Varimech: {'; '.join(faster)}."
    return (
        f"{first} The list shows the computing time of each other model for the {what}, divided by that of Varimech, at the"
        f" smallest error limit in the table that the model meets:\n\n{''.join(ratios)}"
    )


def section(case: str, points: list[Point]) -> str:
    title, text = CASES[case]
    motions = without_methods(points)
    goals = [f"≤ {goal:g}" for goal in GOALS]
    headings = ["engine", "model", *goals, "smallest error"]
    parts = [f"## {title}\n", f"{text}\n"]
    value, gradient = ("milliseconds", "error"), ("gradient_milliseconds", "gradient_error")
    for name, sentence, columns, rows in (
        (
            "value: time to reach an error",
            "This table shows the time that each model needs to compute the value with a given error. A dash means that no setting reached this error:",
            headings,
            goal_rows(motions, *value),
        ),
        (
            "gradient: time to reach an error",
            "This table shows the time that each model needs to compute the gradient with a given error:",
            headings,
            goal_rows(points, *gradient),
        ),
        (
            "gradient: most accurate setting",
            "This table shows the most accurate gradient of each model:",
            GRADIENT_HEADINGS,
            gradient_rows(points),
        ),
        (
            "value: settings",
            "This table shows the Pareto-optimal settings of each model: no other setting of the same model is both faster and more accurate. The column shows the error of the value, not of the gradient.",
            FRONT_HEADINGS,
            front_rows(motions),
        ),
    ):
        show(f"{title}, {name}", columns, rows, 2)
        parts += [f"{sentence}\n", markdown(columns, rows, 2)]
        if name.endswith("reach an error"):
            of = (motions, "motion", *value) if name.startswith("value") else None
            parts.append(verdict(*(of or (points, "gradient", *gradient))))
    return "\n".join(parts)


def first_text(first: dict[str, dict[str, float]]) -> str:
    calls = [
        f"{CASES[case][0]}: {number(times['motion'])} s for the motion and another"
        f" {number(times['gradient'])} s for the gradient."
        for case, times in first.items()
    ]
    return (
        "## First calls\n\nThe following times were measured in one new process with an empty cache and default options,"
        f" in this order. {' '.join(calls)} The tables above show"
        ' the times of later calls with compiled code (`backend="native"`).\n'
    )


def compare_contacts() -> None:
    """Measure, show and write."""
    console = Console(stderr=True)
    points: list[Point] = []
    versions: dict[str, str] = {}
    first: dict[str, dict[str, float]] = {}
    for side, python in SIDES.items():
        with console.status(f"measuring: {side.replace('_', ', ')}"):
            report = run_side(side, python, closed_forms())
        points += report["points"]
        versions |= report["versions"]
        first |= report.get("first", {})
    sections = [section(case, [p for p in points if p["case"] == case]) for case in CASES]
    sections.append(compare_impacts.measured())
    page = "\n".join([INTRODUCTION, machine(versions), MODELS, *sections, first_text(first)])
    PAGE.write_text(page, encoding="utf-8")
    console.print(f"written: {PAGE.relative_to(ROOT)}")
