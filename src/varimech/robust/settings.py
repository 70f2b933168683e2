"""Settings of the methods that compute statistics."""

from __future__ import annotations

from dataclasses import dataclass

from ..core.errors import ModelError, check_whole

SAMPLES = 512
"""Default number of samples: the mean of a smooth objective then has an error of some 0.1 % of its
standard deviation by Sobol points, the standard deviation one of some 2 %.
"""
MOST_SAMPLES = 1 << 16
"""Maximum number of samples that is chosen automatically, each a run with gradients."""
UNUSED = {
    "moments": ("samples", "degree"),
    "samples": ("order", "degree"),
    "form": ("samples", "degree"),
    "chaos": ("order",),
}
"""Settings that have no effect on a method; FORM computes means and standard deviations by moments
of an order.
"""


@dataclass(frozen=True)
class StatisticsSettings:
    """Settings of the methods that a user can choose; None if the method chooses."""

    order: int | None = None
    """Order of moments: 1 or 2."""
    samples: int | None = None
    """Number of samples of "samples", and of runs that polynomials are fitted to."""
    degree: int | None = None
    """Degree of polynomial chaos."""
    seed: int = 0

    def check(self, analysis: str, method: str) -> None:
        """Refuse invalid numbers and settings that the method would ignore.

        Raises:
            ModelError: with the name of the option.
        """
        if self.order not in (None, 1, 2):
            problem = "must be 1 or 2"
            raise ModelError(problem, element=analysis, field="order", value=self.order)
        if self.samples is not None:
            check_whole(analysis, 32, samples=self.samples)
        if self.degree is not None:
            check_whole(analysis, 1, degree=self.degree)
        check_whole(analysis, 0, seed=self.seed)
        for name in UNUSED.get(method, ()):
            if (value := getattr(self, name)) is not None:
                problem = f"has no effect on the method {method!r}"
                remedy = "leave it out, or choose another method"
                raise ModelError(problem, element=analysis, field=name, value=value, remedy=remedy)
