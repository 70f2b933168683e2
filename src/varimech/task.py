"""What is to be run: times, objectives, parameters to differentiate for, integrator, backend. Light to import; solvers are loaded later."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral, Real

from .errors import ModelError, unknown_name
from .integrators.newmark import TRAPEZOIDAL, Newmark
from .integrators.runge_kutta import DOPRI5, RK4, RungeKutta
from .sensitivity.objective import Objective


@dataclass(frozen=True)
class Times:
    """Length of a run, cut into equal steps of which every `every`-th is stored."""

    duration: float
    steps: int
    every: int

    @property
    def step(self) -> float:
        """h, in seconds."""
        return self.duration / self.steps


@dataclass(frozen=True)
class Task:
    """What is to be run: times, objectives, the parameters to differentiate for (None for none), and how."""

    times: Times
    objectives: Mapping[str, Objective]
    indices: list[int] | None = None
    backend: str = "auto"
    progress: bool | None = None
    runs: int = 1
    """How many such runs are ahead."""


def run_times(duration: float, step: float, every: int) -> Times:
    """Checked times of a run; the step is shortened a little where it does not divide the duration."""
    for label, value in (("duration", duration), ("step", step)):
        if not isinstance(value, Real) or isinstance(value, bool) or not (math.isfinite(value) and value > 0):
            raise ModelError(f"{label} = {value!r} must be a positive finite number of seconds")
    if step > duration:
        raise ModelError(f"step = {step:g} s is longer than the whole run of {duration:g} s")
    if not isinstance(every, Integral) or isinstance(every, bool) or every < 1:
        raise ModelError(f"every = {every!r} must be a whole number of steps, 1 or more")
    return Times(float(duration), max(1, math.ceil(duration / step - 1e-9)), int(every))


Integrator = Newmark | RungeKutta
INTEGRATORS: dict[str, Integrator] = {"trapezoidal": TRAPEZOIDAL, "rk4": RK4, "dopri5": DOPRI5}


def find_integrator(integrator: str | Integrator) -> Integrator:
    """An integrator by name, or as given."""
    if isinstance(integrator, (Newmark, RungeKutta)):
        return integrator
    if integrator in INTEGRATORS:
        return INTEGRATORS[integrator]
    raise unknown_name("integrator", integrator, [*INTEGRATORS, "varimech.Newmark(gamma=…)"])
