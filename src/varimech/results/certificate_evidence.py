"""What a certificate holds as evidence about a gradient. Arrays are by (objective, parameter)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

NEAR_SINGULAR = 1e-2
"""Share of its median that the smallest singular value of Φ_q may fall to."""


@dataclass(frozen=True)
class DerivativeCheck:
    """The gradient by one method. Where it gives none, `refusal` gives the reason."""

    name: str
    gradient: np.ndarray | None
    refusal: str = ""
    seconds: float = 0.0


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
class Unresolved:
    """A function of time that the steps of a run do not resolve."""

    place: str
    """The force, driver or objective that it is part of."""
    time: float
    """Where most of it is missed (s)."""
    share: float
    """Relative discrepancy of its integral over that step."""


@dataclass(frozen=True)
class Reference:
    """The gradient by a run of another kind. Where it gives none, `refusal` gives the reason."""

    what: str
    gradient: np.ndarray | None
    refusal: str
    compliant: bool
    """Whether constraints of the given formulation give way, or drift."""
    unresolved: tuple[Unresolved, ...]
    """Functions that the given steps do not resolve."""


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
class Finding:
    """A finding in plain words; `kind` is a reason why derivatives are not trusted, or a topic."""

    kind: str
    text: str


@dataclass(frozen=True, eq=False)
class GradientEvidence:
    """What is known about a gradient."""

    gradient: np.ndarray
    """The gradient in question."""
    sizes: np.ndarray
    """By what errors are measured: its derivatives, or the sizes given to `certify` where these are
    larger.
    """
    derivative_checks: tuple[DerivativeCheck, ...]
    relative_steps: tuple[float, ...]
    sweep: np.ndarray
    """Central differences: (perturbation, objective, parameter); NaN for those that failed."""
    refinement: Refinement
    reference: Reference
    """The gradient by a run of another kind: exact constraints, steps of irregular length,
    functions of time resolved.
    """
    residuals: tuple[float, ...]
    """Largest violations of constraints: position, velocity, acceleration."""
    growth: Growth | None
    singularity: Singularity | None


@dataclass(frozen=True, eq=False)
class Verdicts:
    """What follows for each derivative."""

    digit_array: np.ndarray
    """(of, objective, parameter): digits of the computed function and of the true motion; NaN where
    there is nothing to count.
    """
    errors: np.ndarray
    """(of, objective, parameter): estimated errors, absolute."""
    status: np.ndarray
    """"trusted", "not trusted", "does not depend" or "zero within rounding"."""
    reason: np.ndarray
    """Why not; empty where it is trusted."""
    slope: np.ndarray
    """How errors of differences fall with the perturbation: 2 for smooth functions, NaN where they
    do not fall.
    """
    order: np.ndarray
    """Of convergence under halving of the step; NaN where rounding is reached, or
    steps are chosen.
    """
    amplification: np.ndarray
    """By objective: its rounding over that of one number."""
