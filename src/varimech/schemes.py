"""Schemes: valid combinations of formulations and integrators, their recommended uses, and the
defaults.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import TypedDict, Unpack

import numpy as np

from .coordinates.dynamics import Dynamics
from .coordinates.systems import COORDINATES, Coordinates
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
from .formulations.formulation import (
    ContinuousRates,
    Formulation,
    check_continuous,
    check_rates,
    check_step,
)
from .formulations.registry import FORMULATIONS, find_formulation
from .integrators.dop853 import DOP853
from .integrators.integrator import Integrator
from .integrators.newmark import TRAPEZOIDAL
from .integrators.registry import INTEGRATORS, find_integrator
from .model.model_data import ModelData
from .stages.chain import Chain
from .stages.saddle import Saddle

BACKENDS = ("auto", "interpreted", "native")


@dataclass(frozen=True)
class Method:
    """A formulation with an integrator, in some coordinates."""

    formulation: Formulation
    integrator: Integrator
    coordinates: Coordinates = COORDINATES["natural"]
    reason: str = ""
    """Reason why these coordinates were chosen; empty where the user chose them."""

    @property
    def title(self) -> str:
        """Name for results and messages."""
        return f"{self.formulation.title}, {self.integrator.title}, {self.coordinates.title}"

    def resolved(self, model: ModelData) -> Method:
        """Return the method in the coordinates in which the model is solved."""
        recursive = self.formulation.traits.recursive
        coordinates, reason = self.coordinates.chosen(model, recursive=recursive)
        return replace(self, coordinates=coordinates, reason=reason) if reason else self

    @property
    def remembers(self) -> bool:
        """Whether the integrator needs more than the state."""
        scheme = self.integrator.difference
        return scheme is not None and scheme.remembers

    @property
    def rates_apart(self) -> bool:
        """Whether the rates at the stages of a step differ from the projection at its end."""
        return self.integrator.difference is None and self.formulation.traits.projection

    def step(self, dynamics: Dynamics, saddle: Saddle, *, constrained: bool = True) -> Chain:
        """Return the chain of a step of an implicit integrator, or of the completion of the state
        at the end of a step of an explicit one; `constrained`: whether the mechanism has any
        constraints.
        """
        scheme = self.integrator.difference
        if scheme is not None:
            chain = self.formulation.step(dynamics, scheme, saddle, constrained=constrained)
            return check_step(chain, self.formulation, dynamics, remembers=scheme.remembers)
        if not self.formulation.traits.projection:
            return self.rates(dynamics, saddle)
        chain = self.formulation.projection(dynamics, saddle)
        return check_rates(chain, self.formulation, dynamics, "projection")

    def rates(self, dynamics: Dynamics, saddle: Saddle) -> Chain:
        """Return the chain of accelerations and multipliers at given positions and velocities."""
        chain = self.formulation.rates(dynamics, saddle)
        return check_rates(chain, self.formulation, dynamics, "rates")

    def event_rates(self, dynamics: Dynamics, saddle: Saddle) -> Chain:
        """Return the chain of rates after an event, followed by the memory of an implicit
        integrator: accelerations.
        """
        chain = self.formulation.event_rates(dynamics, saddle)
        return self.remembering(check_rates(chain, self.formulation, dynamics, "event_rates"))

    def remembering(self, chain: Chain) -> Chain:
        """Append the accelerations to the result of a chain, where the integrator needs their
        history.
        """
        if not self.remembers:
            return chain
        return replace(chain, result=(*chain.result, chain.result[2]))

    def continuous(self, dynamics: Dynamics, saddle: Saddle) -> ContinuousRates:
        """Return the rates that a solver with its own steps integrates."""
        rates = self.formulation.continuous(dynamics, saddle)
        return check_continuous(rates, self.formulation, dynamics)


def integrators_of(formulation: Formulation) -> list[str]:
    """Return the names of the integrators that can be combined with a formulation."""
    return [name for name, integrator in INTEGRATORS.items() if _fit(formulation, integrator)]


def formulations_of(integrator: Integrator) -> list[str]:
    """Return the names of the formulations that can be combined with an integrator, the best first."""
    return [name for name, formulation in FORMULATIONS.items() if _fit(formulation, integrator)]


class RunOptions(TypedDict, total=False):
    """Options of a run, as arguments of `Mechanism.simulate`."""

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


def choose(duration: float, **options: Unpack[RunOptions]) -> tuple[Method, Schedule]:
    """Choose the method and the times for the options of a run; omitted options get defaults.

    Raises:
        ModelError: for invalid combinations, with a valid one.
    """
    for name in options:
        if name not in RunOptions.__annotations__:
            raise unknown_name("option", name, RunOptions.__annotations__)
    if (backend := options.get("backend", "auto")) in ("cuda", "gpu"):
        problem = ": a GPU executes many runs at once, not one"
        remedy = Message("use {}", Call("monte_carlo", executor="cuda"))
        raise ModelError(problem, field="backend", value=backend, remedy=remedy)
    if backend not in BACKENDS:
        raise unknown_name("backend", backend, BACKENDS)
    step, tolerance, every = options.get("step"), options.get("tolerance"), options.get("every", 1)
    check_every(every)
    if step is not None and tolerance is not None:
        both = Message("{step} sets a fixed step size and {tolerance} selects adaptive steps")
        remedy = Message("give one of the two ({output} spaces stored results)")
        raise ModelError(both, remedy=remedy)
    equal = step is not None or (tolerance is None and every != 1)
    coordinates = find_coordinates(options.get("coordinates", "auto"))
    method = Method(
        *_scheme(options.get("integrator"), options.get("formulation"), equal), coordinates
    )
    traits = method.integrator.traits
    if tolerance is not None and not traits.adaptive:
        raise ModelError(
            f"{method.formulation.title} with integrator {_name_of(method.integrator)!r} takes"
            " equal steps and has no tolerance",
            remedy=Message(
                "give {step} instead, or {integrator} with {formulation} (smooth motions), or"
                " 'cvodes' with 'index1-stabilised' (stiff ones)",
                integrator="dop853",
                formulation="index1",
            ),
        )
    if step is not None and not traits.equal_steps:
        remedy = Message("give {tolerance} instead of {step} ({output} spaces stored results)")
        raise ModelError(
            f"integrator {_name_of(method.integrator)!r} chooses its steps", remedy=remedy
        )
    if traits.adaptive and step is None:
        return method, _chosen_times(method.integrator, duration, options)
    return method, _equal_times(duration, options)


def _chosen_times(integrator: Integrator, duration: float, options: RunOptions) -> Schedule:
    """Return the schedule of a run that chooses its steps, or replays chosen ones."""
    tolerance, every, ends = options.get("tolerance"), options.get("every", 1), options.get("ends")
    if every != 1:
        remedy = Message("give {step} too, or {output} for the time between stored results")
        raise ModelError("counts equal steps", field="every", value=every, remedy=remedy)
    tolerance = DEFAULT_TOLERANCE if tolerance is None else tolerance
    chosen = chosen_steps(duration, tolerance, options.get("output"), options.get("longest_step"))
    if ends is None:
        return chosen
    if not integrator.traits.given_steps:
        raise ModelError(
            Message(
                "integrator {!r} chooses its own steps and does not support {ends}",
                _name_of(integrator),
            )
        )
    return chosen.replayed(given_ends(ends, duration))


def _equal_times(duration: float, options: RunOptions) -> Schedule:
    step = options.get("step")
    if options.get("ends") is not None:
        remedy = Message("leave out {step}, or take {integrator}", integrator=("dop853", "dopri5"))
        raise ModelError(Message("{ends} replays steps that a tolerance has chosen"), remedy=remedy)
    if options.get("longest_step") is not None:
        problem = Message("{longest_step} bounds steps that a tolerance chooses")
        raise ModelError(problem, remedy=Message("with equal steps give a smaller {step} instead"))
    if options.get("output") is not None:
        problem = Message("{output} spaces the results of runs that choose their steps")
        raise ModelError(problem, remedy=Message("use {every} with equal steps"))
    return equal_steps(
        duration,
        min(DEFAULT_STEP, _positive(duration)) if step is None else step,
        options.get("every", 1),
    )


def find_coordinates(coordinates: str | Coordinates) -> Coordinates:
    """A set of coordinates by name, or as given."""
    if isinstance(coordinates, Coordinates):
        return coordinates
    if isinstance(coordinates, str) and coordinates.lower() in COORDINATES:
        return COORDINATES[coordinates.lower()]
    raise unknown_name(
        "set of coordinates", coordinates, [*COORDINATES, "varimech.Relative(cut=…)"]
    )


def _scheme(
    integrator: str | Integrator | None, formulation: str | Formulation | None, equal: bool
) -> tuple[Formulation, Integrator]:
    scheme = None if integrator is None else find_integrator(integrator)
    if formulation is None:
        if scheme is not None:
            return FORMULATIONS[formulations_of(scheme)[0]], scheme
        return (FORMULATIONS["ali3p"], TRAPEZOIDAL) if equal else (FORMULATIONS["index1"], DOP853)
    chosen = find_formulation(formulation)
    if scheme is None:
        explicit = _fit(chosen, DOP853) and not (equal and _fit(chosen, TRAPEZOIDAL))
        return chosen, DOP853 if explicit else TRAPEZOIDAL
    if not _fit(chosen, scheme):
        called = chosen.name if chosen == FORMULATIONS.get(chosen.name) else chosen.title
        problem = f"formulation {called!r} cannot be combined with integrator {_name_of(scheme)!r}"
        remedy = Message(
            "use one of {} with it, or {formulation}",
            ", ".join(map(repr, integrators_of(chosen))),
            formulation=formulations_of(scheme)[0],
        )
        raise ModelError(problem, remedy=remedy)
    return chosen, scheme


def _fit(formulation: Formulation, integrator: Integrator) -> bool:
    """Whether a formulation makes the chains that an integrator needs."""
    traits = formulation.traits
    if integrator.difference is not None:
        return traits.step
    if integrator.continuous is not None:
        return traits.continuous and (traits.algebraic or not integrator.continuous.algebraic)
    return traits.rates


def _name_of(integrator: Integrator) -> str:
    known = INTEGRATORS.get(integrator.name)
    return integrator.name if known == integrator else integrator.title


def _positive(duration: object) -> float:
    """Return a duration for comparison; invalid ones are refused elsewhere."""
    return float(duration) if isinstance(duration, Real) and float(duration) > 0 else DEFAULT_STEP
