"""Integrators by name; `register_integrator` adds one."""

from __future__ import annotations

from numbers import Real

from ..core.registry import SchemeRegistry, lacking
from .dop853 import DOP853
from .dopri5 import DOPRI5
from .generalised_alpha import GeneralisedAlpha
from .hht import HHT
from .integrator import OF_KNOWN_STEPS, Integrator, IntegratorTraits
from .newmark import TRAPEZOIDAL, Newmark
from .rk4 import RK4
from .runge_kutta import coefficient_faults
from .sundials import CVODES, IDAS

FACTS = ("name", "title", "suits", "order", "traits", "difference", "coefficients", "continuous")
"""Attributes that every integrator must have."""
OF_DIFFERENCE = ("name", "beta", "gamma", "remembers", "predict", "remember")
OF_COEFFICIENTS = ("a", "b", "c", "error", "second_error", "error_order", "extra", "dense")
OF_CONTINUOUS = ("algebraic", "most_steps", "function", "gave_up")


def _faults(integrator: Integrator) -> list[str]:
    """List what an integrator lacks or where it contradicts itself."""
    if faults := lacking(integrator, FACTS):
        return faults
    if not isinstance(integrator.traits, IntegratorTraits):
        return [f"traits = {integrator.traits!r} must be IntegratorTraits(…)"]
    discretisations = {
        "difference": (integrator.difference, OF_DIFFERENCE),
        "coefficients": (integrator.coefficients, OF_COEFFICIENTS),
        "continuous": (integrator.continuous, OF_CONTINUOUS),
    }
    stated = [kind for kind, (part, _) in discretisations.items() if part is not None]
    if len(stated) != 1:
        return [
            "exactly one of difference, coefficients and continuous says how it discretises, not"
            f" {' and '.join(stated) or 'none'}"
        ]
    part, names = discretisations[stated[0]]
    if missing := [name for name in names if not hasattr(part, name)]:
        return [f"its {stated[0]} lacks {', '.join(missing)}"]
    if integrator.continuous is not None:
        return _continuous_faults(integrator.traits)
    if integrator.difference is not None:
        faults = [
            f"{name} = {value!r} must be a number"
            for name in ("beta", "gamma")
            if not isinstance(value := getattr(integrator.difference, name), Real)
        ]
    if integrator.coefficients is not None:
        faults = coefficient_faults(integrator.coefficients)
    if integrator.traits.adaptive and not getattr(integrator.coefficients, "error", ()):
        faults.append("traits.adaptive needs coefficients with an error estimate")
    if not (isinstance(integrator.order, int) and integrator.order > 0):
        faults.append(f"order = {integrator.order!r} must be 1 or more")
    return faults


def _continuous_faults(traits: IntegratorTraits) -> list[str]:
    return [
        f"traits.{name} is out of reach of a continuous solver, whose steps are not known"
        for name in OF_KNOWN_STEPS
        if getattr(traits, name)
    ]


INTEGRATORS = SchemeRegistry[Integrator](
    "integrator",
    (
        *(TRAPEZOIDAL, Newmark(), HHT(), GeneralisedAlpha()),
        *(RK4, DOPRI5, DOP853),
        *(CVODES, IDAS),
    ),
    _faults,
    "varimech.Newmark(gamma=…)",
)
find_integrator = INTEGRATORS.choose


def register_integrator(integrator: Integrator) -> Integrator:
    """Make an integrator available by its name: in calls, in model files and in commands.

    Args:
        integrator: an object that satisfies `varimech.integrators.integrator.Integrator`, such as
            `varimech.RungeKutta(…)`.

    Returns:
        The integrator.

    Raises:
        ModelError: if something is missing or contradicts itself, or the name is taken.
    """
    return INTEGRATORS.add(integrator)
