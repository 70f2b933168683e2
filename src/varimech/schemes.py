"""Ways to solve: which formulation goes with which integrator, what each suits, and what is chosen
where nothing is said.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, TypedDict, Unpack

import numpy as np

from .coordinates.systems import COORDINATES, Coordinates, Natural, Relative
from .core.errors import ModelError, unknown_name
from .core.messages import Call, Message
from .core.schedule import (
    DEFAULT_STEP,
    DEFAULT_TOLERANCE,
    Output,
    Schedule,
    check_every,
    chosen_steps,
    equal_steps,
    given_ends,
)
from .formulations.ali3p import ALI3P
from .formulations.independent import Independent
from .formulations.index1 import Projected, Stabilised
from .formulations.penalty import Penalty
from .integrators.dop853 import DOP853
from .integrators.dopri5 import DOPRI5
from .integrators.generalised_alpha import GeneralisedAlpha
from .integrators.hht import HHT
from .integrators.newmark import TRAPEZOIDAL, Newmark
from .integrators.rk4 import RK4
from .integrators.runge_kutta import RungeKutta
from .integrators.sundials import CVODES, IDAS, Sundials

Formulation = ALI3P | Projected | Stabilised | Independent | Penalty
Implicit = Newmark | HHT | GeneralisedAlpha
Integrator = Implicit | RungeKutta | Sundials

FORMULATIONS: dict[str, Formulation] = {
    f.name: f for f in (ALI3P(), Projected(), Stabilised(), Independent(), Penalty())
}
INTEGRATORS: dict[str, Integrator] = {
    "trapezoidal": TRAPEZOIDAL,
    "newmark": Newmark(),
    "hht": HHT(),
    "generalised-alpha": GeneralisedAlpha(),
    "rk4": RK4,
    "dopri5": DOPRI5,
    "dop853": DOP853,
    "cvodes": CVODES,
    "idas": IDAS,
}
BACKENDS = ("auto", "interpreted", "native")
SUITS = {
    "natural": (
        "planar mechanisms with closed loops, large ones with loops of any depth: constant masses,"
        " sparse equations"
    ),
    "rtdyn0": (
        "open trees and chains, mechanisms in space with few loops: joint coordinates, recursion"
        " about centres of mass"
    ),
    "rtdyn1": "the same with recursion about the global origin, mostly fewer operations",
    "ali3p": (
        "anything: redundant constraints, massless parts, singular positions, stiff forces;"
        " constraints hold to rounding"
    ),
    "index1": (
        "smooth motions to high accuracy, redundant constraints included; constraints hold to the"
        " square of a step's error"
    ),
    "index1-stabilised": (
        "the same without projections: constraints drift within the tolerance; what CVODES and IDAS"
        " solve"
    ),
    "independent": (
        "smooth motions; integrates as many coordinates as there are freedoms, and chooses them"
        " anew where needed"
    ),
    "penalty": (
        "comparison with penalty codes; joints give way by about 1/factor, and singular positions"
        " may be left on another branch"
    ),
    "trapezoidal": (
        "order 2, no damping: keeps energy, passes singular positions; the robust choice with equal"
        " steps"
    ),
    "newmark": "order 1 with damping of fast vibrations (gamma=…)",
    "hht": "order 2 with damping of fast vibrations (alpha=…)",
    "generalised-alpha": "order 2 with damping of fast vibrations, least of slow ones (rho=…)",
    "rk4": "order 4, equal steps",
    "dopri5": "order 5(4), chooses its steps; tolerances of 1e-3 to 1e-6, and motions with kinks",
    "dop853": "order 8(5,3), chooses its steps; tolerances of 1e-6 to 1e-12",
    "cvodes": "stiff forces to a tolerance; small models",
    "idas": "very stiff forces to a tolerance; small models",
}


@dataclass(frozen=True)
class Method:
    """A formulation with an integrator, in some coordinates."""

    formulation: Formulation
    integrator: Integrator
    coordinates: Coordinates = COORDINATES["natural"]

    @property
    def title(self) -> str:
        """In words."""
        return f"{self.formulation.title}, {self.integrator.title}, {self.coordinates.title}"


def integrators_of(formulation: Formulation) -> list[str]:
    """Names of the integrators that a formulation goes with."""
    return [name for name, integrator in INTEGRATORS.items() if _fit(formulation, integrator)]


def formulations_of(integrator: Integrator) -> list[str]:
    """Names of the formulations that an integrator goes with, the best first."""
    return [name for name, formulation in FORMULATIONS.items() if _fit(formulation, integrator)]


class RunOptions(TypedDict, total=False):
    """How a mechanism is run, in the words of `Mechanism.simulate`."""

    step: float | None
    every: int
    tolerance: float | None
    output: Output
    ends: Sequence[float] | np.ndarray | None
    longest_step: float | None
    integrator: str | Integrator | None
    formulation: str | Formulation | None
    coordinates: str | Coordinates
    backend: str
    progress: bool | None


def choose(duration: float, **how: Unpack[RunOptions]) -> tuple[Method, Schedule]:
    """The method and the times for what a user says; what is not said is chosen.

    Raises:
        ModelError: for combinations that cannot be, with one that can.
    """
    for name in how:
        if name not in RunOptions.__annotations__:
            raise unknown_name("option", name, RunOptions.__annotations__)
    if (backend := how.get("backend", "auto")) in ("cuda", "gpu"):
        raise ModelError(
            ": a GPU executes many runs at once, not one",
            field="backend",
            value=backend,
            remedy=Message("use {}", Call("monte_carlo", executor="cuda")),
        )
    if backend not in BACKENDS:
        raise unknown_name("backend", backend, BACKENDS)
    step, tolerance, every = how.get("step"), how.get("tolerance"), how.get("every", 1)
    check_every(every)
    if step is not None and tolerance is not None:
        raise ModelError(
            Message("{step} takes equal steps and {tolerance} chooses them"),
            remedy=Message("give one of the two ({output} spaces stored results)"),
        )
    equal = step is not None or (tolerance is None and every != 1)
    found = _method(how.get("integrator"), how.get("formulation"), equal=equal)
    method = replace(found, coordinates=find_coordinates(how.get("coordinates", "natural")))
    adaptive = isinstance(method.integrator, Sundials) or (
        isinstance(method.integrator, RungeKutta) and method.integrator.adaptive
    )
    if tolerance is not None and not adaptive:
        raise ModelError(
            f"{method.formulation.title} with integrator {_name_of(method.integrator)!r} takes"
            " equal steps and knows no tolerance",
            remedy=Message(
                "give {step} instead, or {integrator} with {formulation} (smooth motions), or"
                " 'cvodes' with 'index1-stabilised' (stiff ones)",
                integrator="dop853",
                formulation="index1",
            ),
        )
    if step is not None and isinstance(method.integrator, Sundials):
        raise ModelError(
            f"integrator {_name_of(method.integrator)!r} chooses its steps",
            remedy=Message("give {tolerance} instead of {step} ({output} spaces stored results)"),
        )
    if adaptive and step is None:
        return method, _chosen_times(method.integrator, duration, how)
    return method, _equal_times(duration, how)


def _chosen_times(integrator: Integrator, duration: float, how: RunOptions) -> Schedule:
    """Times of a run that chooses its steps, or replays chosen ones."""
    tolerance, every, ends = how.get("tolerance"), how.get("every", 1), how.get("ends")
    if every != 1:
        raise ModelError(
            "counts equal steps",
            field="every",
            value=every,
            remedy=Message("give {step} too, or {output} for the time between stored results"),
        )
    tolerance = DEFAULT_TOLERANCE if tolerance is None else tolerance
    chosen = chosen_steps(duration, tolerance, how.get("output"), how.get("longest_step"))
    if ends is None:
        return chosen
    if isinstance(integrator, Sundials):
        raise ModelError(
            Message(
                "integrator {!r} chooses its steps itself and takes no {ends}", _name_of(integrator)
            )
        )
    return chosen.replayed(given_ends(ends, duration))


def _equal_times(duration: float, how: RunOptions) -> Schedule:
    step = how.get("step")
    if how.get("ends") is not None:
        raise ModelError(
            Message("{ends} replays steps that a tolerance has chosen"),
            remedy=Message(
                "leave out {step}, or take {integrator}", integrator=("dop853", "dopri5")
            ),
        )
    if how.get("longest_step") is not None:
        raise ModelError(
            Message("{longest_step} bounds steps that a tolerance chooses"),
            remedy=Message("with equal steps give a smaller {step} instead"),
        )
    if how.get("output") is not None:
        raise ModelError(
            Message("{output} spaces the results of runs that choose their steps"),
            remedy=Message("use {every} with equal steps"),
        )
    return equal_steps(
        duration,
        min(DEFAULT_STEP, _positive(duration)) if step is None else step,
        how.get("every", 1),
    )


def find_integrator(integrator: str | Integrator) -> Integrator:
    """An integrator by name, or as given."""
    if isinstance(integrator, (Newmark, HHT, GeneralisedAlpha, RungeKutta, Sundials)):
        return integrator
    if isinstance(integrator, str) and integrator in INTEGRATORS:
        return INTEGRATORS[integrator]
    raise unknown_name("integrator", integrator, [*INTEGRATORS, "varimech.Newmark(gamma=…)"])


def find_formulation(formulation: str | Formulation) -> Formulation:
    """A formulation by name, or as given."""
    if isinstance(formulation, (ALI3P, Projected, Stabilised, Independent, Penalty)):
        return formulation
    if isinstance(formulation, str) and formulation in FORMULATIONS:
        return FORMULATIONS[formulation]
    raise unknown_name("formulation", formulation, [*FORMULATIONS, "varimech.Penalty(factor=…)"])


def find_coordinates(coordinates: str | Coordinates) -> Coordinates:
    """A set of coordinates by name, or as given."""
    if isinstance(coordinates, (Natural, Relative)):
        return coordinates
    if isinstance(coordinates, str) and coordinates.lower() in COORDINATES:
        return COORDINATES[coordinates.lower()]
    raise unknown_name(
        "set of coordinates", coordinates, [*COORDINATES, "varimech.Relative(cut=…)"]
    )


def _method(
    integrator: str | Integrator | None, formulation: str | Formulation | None, *, equal: bool
) -> Method:
    if integrator is None and formulation is None:
        return Method(ALI3P(), TRAPEZOIDAL) if equal else Method(Projected(), DOP853)
    if integrator is None:
        assert formulation is not None
        wanted = find_formulation(formulation)
        return Method(
            wanted,
            (
                DOP853
                if _fit(wanted, DOP853) and not (equal and _fit(wanted, TRAPEZOIDAL))
                else TRAPEZOIDAL
            ),
        )
    found = find_integrator(integrator)
    if formulation is None:
        return Method(FORMULATIONS[formulations_of(found)[0]], found)
    wanted = find_formulation(formulation)
    if not _fit(wanted, found):
        called = wanted.name if wanted == FORMULATIONS[wanted.name] else wanted.title
        raise ModelError(
            f"formulation {called!r} does not go with integrator {_name_of(found)!r}",
            remedy=Message(
                "use one of {} with it, or {formulation}",
                ", ".join(map(repr, integrators_of(wanted))),
                formulation=formulations_of(found)[0],
            ),
        )
    return Method(wanted, found)


def _fit(formulation: Formulation, integrator: Integrator) -> bool:
    if isinstance(integrator, (Newmark, HHT, GeneralisedAlpha)):
        return isinstance(formulation, (ALI3P, Penalty))
    if isinstance(formulation, Penalty):
        return formulation.inertial and integrator != IDAS
    if isinstance(integrator, Sundials):
        return isinstance(formulation, Stabilised)
    return isinstance(formulation, (Projected, Stabilised, Independent))


def _name_of(integrator: Integrator) -> str:
    return next(
        (name for name, known in INTEGRATORS.items() if known == integrator), integrator.title
    )


def _positive(duration: Any) -> float:
    """A duration for comparison; what is wrong with it is said elsewhere."""
    return float(duration) if isinstance(duration, Real) and float(duration) > 0 else DEFAULT_STEP
