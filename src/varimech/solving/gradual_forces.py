"""Whether a mechanism and its objectives have features narrower than the motion itself, which long
steps might miss: determined from the forces and integrands, on a state of free symbols.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..core.gradual import is_gradual
from ..core.symbols import symbols_in
from ..model.model_data import ModelData
from ..model.user_functions import column_of, trial_frames, trial_state
from ..sensitivity.objective import Objective


def is_gradual_along(model: ModelData, objectives: Mapping[str, Objective]) -> bool:
    """Whether all forces, and all integrands of objectives, vary no faster than the motion."""
    frames = trial_frames(model)
    state = trial_state(model, "force", frames=frames)
    if not all(force.is_gradual(frames, state) for force in model.forces.values()):
        return False
    along = trial_state(model, "objective", of_a_run=True, frames=frames)
    integrands = [
        column_of(o.integrand, along, f"objective {name!r}")
        for name, o in objectives.items()
        if o.integrand is not None
    ]
    constant = symbols_in(along.time, model.parameter_set.vector)
    return is_gradual(integrands, constant)
