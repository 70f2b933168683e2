"""The arrays of compiled runs, and the records by which the driver finds them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .program import SINGULAR, Inputs, StepFailure, Trajectory

if TYPE_CHECKING:
    from .native import NativeProgram

DONE = 0
"""Status of a run that went well."""

STORAGE = ("arguments", "results", "integers", "reals", "bases", "workspace")


SIZES = (
    "coordinates",
    "states",
    "unknowns",
    "multipliers",
    "objectives",
    "parameters",
    "row",
    "coefficients",
    "springs",
    "conditions",
)
FIELDS: list[tuple[type, tuple[str, ...]]] = [
    (np.uintp, ("plans", "scheme")),
    (np.int64, (*SIZES, "rates", "selects", "sharp", "columns", "pulled", "measured", "record_size", *STORAGE)),
    (np.uintp, ("seeds", "guess", "state", "state_sensitivity", "integral", "integral_gradient")),
    (np.uintp, ("values", "nominal", "penalty", "chosen")),
    (np.float64, ("duration", "step", "tolerance")),
    (np.uintp, ("ends", "outputs", "taken")),
    (np.int64, ("last", "stride", "total", "max_iterations")),
    (np.uintp, ("times", "states_stored", "sensitivities", "objectives_stored", "gradients")),
    (np.int64, ("stored",)),
    (np.uintp, ("residuals",)),
    (np.uintp, ("turns", "slope_floors", "slope_scales", "integrand_scales", "velocity_scales")),
    (np.float64, ("mixed", "smallest_size")),
    (np.uintp, ("records", "start_unknowns", "costate", "gradient")),
    (np.float64, ("time", "proposal", "position_scale", "velocity_scale")),
    (
        np.int64,
        ("first_recorded", "to_end", "from_start", "done", "rejected", "selections", "iterations", "failed_spring", "status"),
    ),
]
RECORD = np.dtype([(name, kind) for kind, names in FIELDS for name in names], align=True)
"""`vm_run` of chain.c."""


class Runs:
    """The arrays of some runs that differ in parameter values only, and the records that point to them."""

    def __init__(self, native: NativeProgram, inputs: Inputs, values: np.ndarray):
        self.inputs = i = inputs
        program, count, schedule = native.program, len(values), inputs.schedule
        p, o, n, rows = program.direction_count, program.objective_count, program.state_size, schedule.stored_count
        self._differentiated = p is not None
        self.arrays: dict[str, np.ndarray] = {
            "state": np.zeros((count, n)),
            "state_sensitivity": np.zeros((count, n, program.row_length)),
            "integral": np.zeros((count, o)),
            "integral_gradient": np.zeros((count, o, p or 0)),
            "values": np.ascontiguousarray(values, dtype=float),
            "penalty": np.zeros((count, program.penalty.numel_out(0))),
            "chosen": np.zeros((count, program.coordinates)),
            "times": np.zeros((count, rows)),
            "states_stored": np.zeros((count, rows, n)),
            "objectives_stored": np.zeros((count, rows, o)),
            "sensitivities": np.zeros((count, rows, n, p or 0)),
            "gradients": np.zeros((count, rows, o, p or 0)),
            "residuals": np.zeros((count, 3)),
            "slope_scales": np.zeros((count, 2, 2, p or 0)),
            "velocity_scales": np.zeros((count, program.coordinates)),
            "integrand_scales": np.zeros((count, o)),
            "start_unknowns": np.zeros((count, sum(program.solved_sizes))),
            "costate": np.zeros((count, n, program.costate_row)),
            "gradient": np.zeros((count, program.pulled, program.costate_row)),
        }
        if i.state is not None:
            self.arrays["state"][:] = i.state
        if i.chosen is not None:
            self.arrays["chosen"][:] = i.chosen
        if i.sensitivities is not None:
            self.arrays["state_sensitivity"][:, :, :p] = i.sensitivities
        common = {
            "seeds": program.seeds,
            "guess": i.guess,
            "nominal": i.nominal,
            "outputs": schedule.outputs,
            "ends": schedule.ends,
            "turns": np.zeros(program.coordinates) if i.sizes is None else i.sizes.turns,
            "slope_floors": i.slope_floors,
        }
        self._common = {name: np.ascontiguousarray(x, dtype=float) for name, x in common.items() if x is not None}
        self._taken = np.zeros(1)
        self.records = np.zeros(count, dtype=RECORD)
        for name, array in self.arrays.items():
            self.records[name] = array.ctypes.data + np.arange(count) * array.strides[0]
        for name, array in self._common.items():
            self.records[name] = array.ctypes.data
        settings = {
            "duration": schedule.duration,
            "step": schedule.step,
            "tolerance": schedule.tolerance,
            "mixed": float(i.sizes is not None),
            "smallest_size": 0.0 if i.sizes is None else i.sizes.length,
            "stride": schedule.every,
            "total": schedule.steps,
            "max_iterations": i.max_iterations,
            "selections": int(i.chosen is not None),
            "plans": native.plans.address,
            "scheme": native.scheme.address if native.scheme else 0,
        }
        for name, value in {**native.sizes, **settings}.items():
            self.records[name] = value

    @property
    def finished(self) -> bool:
        """Whether a single run has come to its end."""
        r, schedule = self.records, self.inputs.schedule
        return bool(r["done"][0] >= schedule.steps if schedule.steps else r["time"][0] >= schedule.duration)

    @property
    def share_done(self) -> float:
        """Of the time of a single run."""
        return float(self.records["time"][0]) / self.inputs.schedule.duration

    def make_room(self, steps: int) -> None:
        """Let a single run note the ends of so many steps, where it chooses them."""
        if self.inputs.schedule.tolerance:
            self._taken = np.concatenate([self._taken, np.zeros(max(0, steps + 1 - self._taken.size))])
            self.records["taken"] = self._taken.ctypes.data

    @property
    def good(self) -> np.ndarray:
        """Which of them are done, with finite objectives and gradients."""
        done = self.records["status"] == DONE
        for name in ("objectives_stored", "gradients"):
            done &= np.isfinite(self.arrays[name]).reshape(len(done), -1).all(axis=1)
        return done

    def trajectory(self, k: int) -> Trajectory:
        """What one of them yields."""
        a, r = self.arrays, self.records[k]
        slopes = (a["sensitivities"][k], a["gradients"][k]) if self._differentiated else (None, None)
        ends = self._taken[: int(r["done"]) + 1] if r["taken"] else self.inputs.schedule.known_ends
        counts = int(r["rejected"]), int(r["selections"])
        stored = a["times"][k], a["states_stored"][k], a["objectives_stored"][k]
        return Trajectory(*stored, a["residuals"][k], int(r["iterations"]), ends, *counts, None, *slopes)

    @property
    def adjoint_gradient(self) -> np.ndarray:
        """(objective, parameter) of a single run that has been swept back, with what derivatives of a given start contribute."""
        o, start = self.arrays["objectives_stored"].shape[-1], self.inputs.start_slopes
        gradient = self.arrays["gradient"][0, :, :o].T.copy()
        return gradient if start is None else gradient + self.arrays["costate"][0, :, :o].T @ start

    def failure(self, reason: str) -> StepFailure:
        """Why a single run failed."""
        r, schedule = self.records[0], self.inputs.schedule
        step, begin = min(int(r["done"]) + 1, schedule.steps or int(r["done"]) + 1), float(r["time"])
        planned = float(schedule.known_ends[step]) if schedule.steps else begin + float(r["proposal"])
        end = begin if reason == SINGULAR else planned  # such a step has come to its end
        state, penalty = self.arrays["state"][0], self.arrays["penalty"][0]
        return StepFailure(step, end, end - begin, state, penalty, reason, int(r["failed_spring"]))
