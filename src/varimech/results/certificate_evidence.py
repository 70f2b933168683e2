"""Evidence about a gradient in a certificate. Arrays are by (objective, parameter)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

NEAR_SINGULAR = 1e-2
"""Fraction of its median below which the smallest singular value of Φ_q is near-singular."""


@dataclass(frozen=True)
class DerivativeCheck:
    """The gradient by one method; `refusal` gives the reason if the method returns none."""

    name: str
    gradient: np.ndarray | None
    refusal: str = ""
    seconds: float = 0.0


@dataclass(frozen=True)
class Refinement:
    """The gradient with shorter steps, or smaller tolerances."""

    what: str
    """"step" or "tolerance"."""
    settings: tuple[float, ...]
    """The original setting first."""
    gradients: np.ndarray
    """(setting, objective, parameter)"""
    refusal: str = ""


@dataclass(frozen=True)
class Unresolved:
    """A function of time that the steps of a run do not resolve."""

    place: str
    """The force, driver or objective that it is part of."""
    time: float
    """Time of the largest unresolved part (s)."""
    share: float
    """Relative discrepancy of its integral over that step."""


@dataclass(frozen=True)
class Reference:
    """The gradient by a run of another kind; `refusal` gives the reason if the run returns none."""

    what: str
    gradient: np.ndarray | None
    refusal: str
    compliant: bool
    """Whether the original formulation relaxes the constraints, or lets them drift."""
    unresolved: tuple[Unresolved, ...]
    """Functions that the original steps do not resolve."""


@dataclass(frozen=True)
class Growth:
    """Growth of the derivatives of the state over the run."""

    factor: float
    """Ratio of the derivatives at the end to those at a fifth of the run."""
    rate: float
    """Rate of exponential growth (1/s)."""
    exponential: bool


@dataclass(frozen=True)
class Singularity:
    """Distance from linearly dependent constraints: the smallest singular value of Φ_q relative to
    its median along the run.
    """

    closeness: float
    time: float

    @property
    def near(self) -> bool:
        """Whether constraints come so close to dependence that later derivatives are meaningless."""
        return self.closeness < NEAR_SINGULAR


@dataclass(frozen=True)
class Finding:
    """A finding as a sentence; `kind` is a reason why derivatives are not trusted, or a topic."""

    kind: str
    text: str


@dataclass(frozen=True, eq=False)
class GradientEvidence:
    """All evidence about a gradient."""

    gradient: np.ndarray
    """The gradient being certified."""
    sizes: np.ndarray
    """Scales of the errors: the derivatives, or the sizes given to `certify` where these are
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
    """Conclusions for each derivative."""

    digit_array: np.ndarray
    """(of, objective, parameter): digits of the computed function and of the true motion; NaN where
    digits are undefined.
    """
    errors: np.ndarray
    """(of, objective, parameter): estimated errors, absolute."""
    status: np.ndarray
    """"trusted", "not trusted", "does not depend" or "zero within rounding"."""
    reason: np.ndarray
    """Reason for a derivative that is not trusted; empty if it is trusted."""
    slope: np.ndarray
    """Exponent of the error of differences in the perturbation: 2 for smooth functions, NaN where
    the error does not decrease.
    """
    order: np.ndarray
    """Order of convergence under halving of the step; NaN where rounding is reached, or steps are
    adaptive.
    """
    amplification: np.ndarray
    """By objective: ratio of its rounding error to the rounding of one number."""
