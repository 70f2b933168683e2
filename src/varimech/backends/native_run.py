"""The arrays of a compiled run, and the record by which the driver finds them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from .events import AT_ONCE, NOTED
from .failures import OF_EVENTS, SINGULAR, StepFailure
from .inputs import Inputs
from .program import Program
from .switching import short_step
from .trajectory import Trajectory

if TYPE_CHECKING:
    from .native import NativeProgram

SIZES = (
    "coordinates",
    "states",
    "unknowns",
    "multipliers",
    "objectives",
    "parameters",
    "row",
    "coefficients",
    "conditions",
    "rates",
    "selects",
    "sharp",
    "columns",
    "pulled",
    "measured",
    "record_size",
    "switches",
    "force_switches",
    "units",
    "modes",
    "seed_rows",
    "samples",
    "actions",
    "passage_size",
    "passage_modes",
    "mode_place",
    "numbers",
    "penalties",
    "stages",
    "arguments",
    "results",
    "integers",
    "reals",
    "bases",
    "workspace",
)
"""Fields that are constants in code for a GPU: see chain.c."""
LAYOUT: list[tuple[str, tuple[str, ...]]] = [
    ("u8", ("plans", "scheme")),
    ("i8", SIZES),
    (
        "u8",
        ("seeds", "guess", "anchor", "state", "state_sensitivity", "integral", "integral_gradient"),
    ),
    ("u8", ("values", "nominal", "penalty", "chosen")),
    ("f8", ("duration", "step", "tolerance", "longest")),
    ("u8", ("stops", "limits", "probes")),
    ("u8", ("ends", "outputs", "taken", "crossed", "unit_table", "action_table")),
    ("u8", ("sample_table", "sample_factors", "event_sides", "sample_values", "sample_gradient")),
    ("u8", ("sample_places", "sample_counts", "triggers", "notes", "mode_log")),
    ("u8", ("passages", "passage_rows")),
    ("i8", ("probe_count", "last", "stride", "total", "max_iterations", "parts")),
    ("u8", ("times", "states_stored", "sensitivities", "objectives_stored", "gradients")),
    ("i8", ("stored",)),
    ("u8", ("residuals",)),
    (
        "u8",
        (
            "turns",
            "sensitivity_floors",
            "sensitivity_scales",
            "integrand_scales",
            "velocity_scales",
        ),
    ),
    ("f8", ("mixed", "smallest_size")),
    ("u8", ("records", "start_unknowns", "costate", "gradient")),
    ("f8", ("time", "proposal", "position_scale", "velocity_scale")),
    ("f8", ("kept_proposal", "longer")),
    ("f8", ("contact_length", "contact_speed", "contact_force", "rest_tolerance")),
    ("f8", ("sought_short", "value_short", "rate_short")),
    ("f8", ("sought_long", "value_long", "rate_long", "short_step", "event_time", "check_time")),
    ("i8", ("sought", "attempts", "events_there", "culprit", "stopped")),
    ("i8", ("piece", "check_tries", "approaches")),
    ("i8", ("watches", "grid", "at_steps", "passed")),
    (
        "i8",
        (
            "first_recorded",
            "to_end",
            "from_start",
            "done",
            "rejected",
            "selections",
            "iterations",
            "status",
        ),
    ),
    ("u8", ("functions", "execute_plan", "lane_functions", "lane_maps")),
    ("i8", ("lane_bits",)),
]
FIELDS = [(name, kind) for kind, names in LAYOUT for name in names]
"""Fields of `vm_run` in chain.c: pointers (u8), integers (i8) and floating-point numbers (f8)."""
RECORD = np.dtype(FIELDS, align=True)


def shared_arrays(program: Program, inputs: Inputs) -> dict[str, np.ndarray]:
    """Return the arrays that runs of a program only read, whatever their parameter values."""
    schedule, sizes = inputs.schedule, inputs.sizes
    arrays = {
        "seeds": program.seeds,
        "guess": inputs.guess,
        "anchor": inputs.anchor,
        "nominal": inputs.nominal,
        "outputs": schedule.outputs,
        "ends": schedule.ends,
        "stops": None if schedule.pieces is None else schedule.pieces.stops,
        "limits": None if schedule.pieces is None else schedule.pieces.limits,
        "probes": schedule.probes,
        "turns": np.zeros(program.coordinates) if sizes is None else sizes.turns,
        "sensitivity_floors": inputs.sensitivity_floors,
        "unit_table": None if program.units is None else program.units.table,
        "action_table": None if program.units is None else program.units.actions,
        "sample_table": None if program.samples is None else program.samples.table,
        "sample_factors": None if program.samples is None else program.samples.factors,
    }
    if program.passage is not None and schedule.passages is not None:
        arrays |= {"passages": schedule.passages.numbers, "passage_rows": schedule.passages.rows}
    return {
        name: np.ascontiguousarray(x, dtype=float) for name, x in arrays.items() if x is not None
    }


def settings_of(program: Program, inputs: Inputs) -> dict[str, float]:
    """Return the numbers that set up a run."""
    schedule, sizes = inputs.schedule, inputs.sizes
    return {
        "duration": schedule.duration,
        "step": schedule.step,
        "tolerance": schedule.tolerance,
        "longest": schedule.longest_chosen,
        "probe_count": 0 if schedule.probes is None else schedule.probes.size // 2,
        "mixed": float(sizes is not None),
        "smallest_size": 0.0 if sizes is None else sizes.length,
        "stride": schedule.every,
        "total": schedule.steps,
        "max_iterations": inputs.max_iterations,
        "parts": inputs.parts,
        "rest_tolerance": schedule.rest_tolerance,
        "selections": int(inputs.chosen is not None),
        "at_steps": int(schedule.at_steps),
        "passed": 1,
        "watches": int(program.watches(schedule)),
        "short_step": short_step(schedule),
    }


class NativeRun:
    """The arrays of a run, and the record that points to them."""

    def __init__(self, native: NativeProgram, inputs: Inputs):
        self.executed_by: dict[str, None] = {}
        """Names of the code that has executed the run so far, in order."""
        self.entry_points: Mapping[str, int] = {}
        """Addresses of the compiled functions that execute the run (`NativeProgram.entry_points`).
        """
        self.inputs = i = inputs
        program, rows = native.program, inputs.schedule.stored_count
        p, o, n = program.direction_count, program.objective_count, program.state_size
        self._differentiated = p is not None
        self.arrays: dict[str, np.ndarray] = {
            "state": np.zeros(n),
            "state_sensitivity": np.zeros((n, program.row_length)),
            "integral": np.zeros(o),
            "integral_gradient": np.zeros((o, p or 0)),
            "values": np.array(i.parameters, dtype=float),
            "penalty": np.zeros(program.penalty.numel_out(0)),
            "chosen": np.zeros(program.coordinates),
            "times": np.zeros(rows),
            "states_stored": np.zeros((rows, n)),
            "objectives_stored": np.zeros((rows, o)),
            "sensitivities": np.zeros((rows, n, p or 0)),
            "gradients": np.zeros((rows, o, p or 0)),
            "residuals": np.zeros(3),
            "sensitivity_scales": np.zeros((3, 2, p or 0)),
            "velocity_scales": np.zeros(program.coordinates),
            "integrand_scales": np.zeros(o),
            "start_unknowns": np.zeros(sum(program.solved_sizes)),
            "costate": np.zeros((n, program.costate_row)),
            "gradient": np.zeros((program.pulled, program.costate_row)),
        }
        units = 0 if program.units is None else program.units.count
        samples = 0 if program.samples is None else program.samples.count
        self.arrays["event_sides"] = np.zeros(2 * units)
        for name in ("sample_values", "sample_places", "sample_counts"):
            self.arrays[name] = np.zeros(samples)
        self.arrays["sample_gradient"] = np.zeros((samples, p or 0))
        if i.state is not None:
            self.arrays["state"][:] = i.state
        if i.chosen is not None:
            self.arrays["chosen"][:] = i.chosen
        if i.sensitivities is not None:
            self.arrays["state_sensitivity"][:, :p] = i.sensitivities
        self._shared = shared_arrays(program, i)
        self._taken, self._crossed = np.zeros(1), np.zeros(1)
        self._jumps, self._events = program.switching is not None, program.units is not None
        self.triggers, self._notes = np.zeros(1), np.zeros((1, NOTED))
        self._modes = np.zeros((1, 0 if program.units is None else program.units.modes))
        self.record = np.zeros((), dtype=RECORD)
        for name, array in {**self.arrays, **self._shared}.items():
            self.record[name] = array.ctypes.data
        for name, value in {**native.sizes, **settings_of(program, i), **native.tables}.items():
            self.record[name] = value
        self._watches = program.watches(i.schedule)
        if self._events and i.schedule.triggers is not None:
            self.triggers = i.schedule.triggers
            self.record["triggers"] = self.triggers.ctypes.data

    def take_over(self, entry_points: Mapping[str, int]) -> None:
        """Execute the run by compiled functions from now on; plans for bytecode serve them, too."""
        if entry_points is not self.entry_points:
            self.entry_points = entry_points
            for name, address in entry_points.items():
                self.record[name] = address

    @property
    def finished(self) -> bool:
        """Whether the run has reached its end."""
        r, schedule = self.record, self.inputs.schedule
        done = r["grid"] if self._watches else r["done"]
        return bool(
            r["stopped"]
            or (done >= schedule.steps if schedule.steps else r["time"] >= schedule.duration)
        )

    @property
    def share_done(self) -> float:
        """Completed share of the duration."""
        return float(self.record["time"]) / self.inputs.schedule.duration

    def allocate(self, steps: int) -> None:
        """Allocate the logs of this number of steps, if the run chooses them, and of an event after
        them.
        """
        if self.inputs.schedule.tolerance or self._watches:
            self._taken = np.concatenate(
                [self._taken, np.zeros(max(0, steps + 2 - self._taken.size))]
            )
            self.record["taken"] = self._taken.ctypes.data
        if self._jumps:
            more = np.zeros(max(0, steps + 2 - self._crossed.size))
            self._crossed = np.concatenate([self._crossed, more])
            self.record["crossed"] = self._crossed.ctypes.data
        if self._events and self.inputs.schedule.triggers is None:
            more = np.zeros(max(0, steps + 2 - self.triggers.size))
            self.triggers = np.concatenate([self.triggers, more])
            self._notes, self._modes = (
                np.concatenate([log, np.zeros((more.size, log.shape[1]))])
                for log in (self._notes, self._modes)
            )
            self.record["mode_log"] = self._modes.ctypes.data
            self.record["triggers"] = self.triggers.ctypes.data
            self.record["notes"] = self._notes.ctypes.data

    @property
    def trajectory(self) -> Trajectory:
        """Results of the run so far."""
        a, r = self.arrays, self.record
        ends = self._taken[: int(r["done"]) + 1] if r["taken"] else self.inputs.schedule.known_ends
        counts = int(r["rejected"]), int(r["selections"])
        # a run that stores ends of steps only may store fewer rows than allocated
        fewer = self.inputs.schedule.at_steps or r["stopped"]
        rows = slice(int(r["stored"]) if fewer else None)
        stored = a["times"][rows], a["states_stored"][rows], a["objectives_stored"][rows]
        return Trajectory(
            *stored,
            a["residuals"],
            int(r["iterations"]),
            ends,
            *counts,
            sensitivities=a["sensitivities"][rows] if self._differentiated else None,
            gradients=a["gradients"][rows] if self._differentiated else None,
            execution={"by": ", then ".join(self.executed_by)},
            crossed=self._crossed[: int(r["done"]) + 1].astype(int) if self._jumps else None,
            triggers=self.triggers[: int(r["done"]) + 1].copy() if self._events else None,
            notes=self._notes[: int(r["done"]) + 1].copy() if self._events else None,
            modes=self._modes[: int(r["done"]) + 1].copy() if self._events else None,
            sample_values=a["sample_values"].copy() if a["sample_values"].size else None,
            sample_places=a["sample_places"].copy() if a["sample_values"].size else None,
        )

    @property
    def adjoint_gradient(self) -> np.ndarray:
        """Gradient (objective, parameter) of a run after its reverse sweep, with the contribution
        of the derivatives of a given initial state.
        """
        o, start = self.arrays["objectives_stored"].shape[-1], self.inputs.start_slopes
        gradient = self.arrays["gradient"][: self.inputs.parameters.size, :o].T.copy()
        return gradient if start is None else gradient + self.arrays["costate"][:, :o].T @ start

    def failure(self, reason: str) -> StepFailure:
        """Create the error for a failed run."""
        r, schedule = self.record, self.inputs.schedule
        done = int(r["grid"] if self._watches else r["done"])
        step, begin = min(done + 1, schedule.steps or done + 1), float(r["time"])
        planned = (
            float(schedule.known_ends[step]) if schedule.steps else begin + float(r["proposal"])
        )
        # these steps have reached their end, or there was none
        at_once = reason in (SINGULAR, *OF_EVENTS) or r["proposal"] == AT_ONCE
        end = begin if at_once else planned
        state, penalty = self.arrays["state"], self.arrays["penalty"]
        return StepFailure(step, end, end - begin, state, penalty, reason, int(r["culprit"]))
