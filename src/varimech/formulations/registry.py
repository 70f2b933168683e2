"""Formulations by name; `register_formulation` adds one."""

from __future__ import annotations

from ..core.registry import SchemeRegistry, lacking
from .ali3p import ALI3P
from .formulation import Formulation, FormulationTraits
from .independent import Independent
from .index1 import Projected, Stabilised
from .penalty import Penalty

FACTS = ("name", "title", "suits", "traits", "saddle", "residual_limits")
"""Attributes that every formulation must have."""
CHAINS = ("step", "rates", "projection", "continuous")
"""Methods that the traits of the same names promise."""


def _faults(formulation: Formulation) -> list[str]:
    """List what a formulation lacks or where it contradicts itself."""
    if faults := lacking(formulation, FACTS):
        return faults
    if not isinstance(formulation, Formulation):
        return ["it is no subclass of varimech.formulations.formulation.Formulation"]
    traits = formulation.traits
    if not isinstance(traits, FormulationTraits):
        return [f"traits = {traits!r} must be FormulationTraits(…)"]
    promised = [name for name in CHAINS if getattr(traits, name)]
    if missing := [m for m in promised if getattr(type(formulation), m) is getattr(Formulation, m)]:
        faults.append(f"traits promise {', '.join(missing)}, which it lacks")
    if not (traits.step or traits.rates):
        faults.append("traits promise neither step nor rates: no integrator fits")
    if traits.exact and traits.compliant:
        faults.append("traits state that constraints are exact and that they are compliant")
    for name in ("projection", "continuous"):
        if getattr(traits, name) and not traits.rates:
            faults.append(f"traits promise {name} without rates")
    return faults


FORMULATIONS = SchemeRegistry[Formulation](
    "formulation",
    (ALI3P(), Projected(), Stabilised(), Independent(), Penalty()),
    _faults,
    "varimech.Penalty(factor=…)",
)
"""The first one that supports an integrator is its default."""
find_formulation = FORMULATIONS.choose


def register_formulation(formulation: Formulation) -> Formulation:
    """Make a formulation available by its name: in calls, in model files and in commands.

    Args:
        formulation: a `varimech.formulations.formulation.Formulation`.

    Returns:
        The formulation.

    Raises:
        ModelError: if something is missing or contradicts itself, or the name is taken.
    """
    return FORMULATIONS.add(formulation)
