"""Bounds of nominal values that keep random values within the bounds of their parameter.

Bounds of a parameter apply to every value that it takes: a run with a value beyond them fails. A
nominal value x with a distribution about it is therefore restricted to  lower ≤ x + ξ ≤ upper  for
all but the rarest deviations ξ.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ..model.parameter import Parameter
from ..optimization.space import Space
from .random_design import RandomDesign

OUTSIDE = 1e-7
"""Probability of values beyond each bound: less than one among the samples of a large study."""


def with_inner_bounds(
    space: Space,
    design: RandomDesign,
    parameters: Mapping[str, Parameter],
    widest: Mapping[str, float],
) -> Space:
    """Return the space with bounds of nominal values moved inwards by the extent of their
    distributions.

    Bounds are not moved past the initial value, and not if the distribution is wider than the
    distance between them: failing samples then report it.

    Args:
        space: nominal values and other variables.
        design: random design with the distributions.
        parameters: parameters of the mechanism by name.
        widest: largest standard deviation by parameter, for widths that may change.
    """
    own = design.distributions
    lower, upper = space.lower.copy(), space.upper.copy()
    for k, name in enumerate(space.names):
        if name not in own.names:
            continue
        m = own.marginals[own.names.index(name)]
        scale = widest.get(name, m.sigma) / m.sigma
        nominal = design.reference[design.names.index(name)]
        ends = (
            m.mean - nominal + scale * (m.from_uniform(np.array([OUTSIDE, 1 - OUTSIDE])) - m.mean)
        )
        low, high = parameters[name].bounds
        least = -np.inf if low is None else low - ends[0]
        most = np.inf if high is None else high - ends[1]
        if least < most:
            lower[k] = max(lower[k], min(least, space.start[k]))
            upper[k] = min(upper[k], max(most, space.start[k]))
    return replace(space, lower=lower, upper=upper)
