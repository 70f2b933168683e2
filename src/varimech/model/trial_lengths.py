"""Decide whether a function of the state is a length or its velocity, rather than an angle or its
rate: lengths grow with the distances between bodies.
"""

from __future__ import annotations

from collections.abc import Callable

import casadi as ca
import numpy as np

from ..core.symbols import SX
from .model_data import ModelData
from .state import State
from .user_functions import trial_frames, trial_state

FAR = (1e6, 1e9)
"""Scale factors of distances and velocities that are of order one: beyond the first, all other
terms are negligible.
"""


def grows_with_lengths(model: ModelData, function: Callable[[State], SX], user: str) -> bool:
    """Whether a function of the state is proportional to large distances between bodies, and their
    rates. Angles are not; nor are velocities that depend on rotations only, such as a radius times
    an angular velocity.
    """
    frames = trial_frames(model)
    state = trial_state(model, user, frames=frames)
    far = ca.vertcat(
        SX(0, 1),
        *[ca.vertcat(f.origin, f.origin_rate) for b, f in frames.items() if not b.is_ground],
    )
    q, v, t = state.coordinates
    value = function(state)
    if not ca.depends_on(value, far):
        return False
    f = ca.Function("f", [q, v, t, model.parameter_set.vector], [value])
    rng = np.random.default_rng(0)
    numbers = [rng.uniform(0.5, 1.5, x.numel()) for x in (q, v, t)]
    places = {s.element_hash() for s in ca.vertsplit(far)}
    sizes = []
    for factor in FAR:
        scaled = [
            np.array([factor if s.element_hash() in places else 1.0 for s in ca.vertsplit(x)]) * n
            for x, n in zip((q, v), numbers, strict=False)
        ]
        sizes.append(abs(float(f(*scaled, numbers[2], model.parameter_set.nominal))))
    return bool(sizes[1] > np.sqrt(FAR[1] / FAR[0]) * sizes[0])
