"""Many compiled runs that differ in parameter values only: objectives at stored times, and nothing else, are kept of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .native import NativeProgram
from .native_run import DONE, RECORD, settings_of, shared_arrays
from .program import Inputs

JOB = np.dtype(
    [
        ("common", RECORD),
        *[(name, np.uintp) for name in ("values", "given", "given_sensitivity", "independent")],
        *[(name, np.uintp) for name in ("objectives", "gradients", "residuals", "status")],
        ("rows", np.int64),
    ],
    align=True,
)
"""`vm_job` of samples.c."""


@dataclass(frozen=True)
class Samples:
    """What some runs yield."""

    values: np.ndarray
    """(sample, time, objective); not a number where not done"""
    done: np.ndarray
    """Which runs went well; the others have to be looked after one by one."""
    gradients: np.ndarray | None = None
    """(sample, time, objective, parameter), where the program has derivatives"""


class Sampler:
    """Carries out a compiled program for rows of parameter values. It can be sent to other processes: they build the library themselves."""

    def __init__(
        self,
        native: NativeProgram,
        inputs: Inputs,
        reach: np.ndarray,
        allowed: Callable[[np.ndarray], np.ndarray],
        limits: tuple[float, float],
    ):
        self.native, self.inputs = native, inputs
        self.reach, self.allowed = reach, allowed
        """How far from its nominal value each parameter may be; which rows of values make sense."""
        self.limits = limits
        """Residuals of positions and velocities up to which joints hold together, without a further look."""

    @property
    def times(self) -> np.ndarray:
        """When results are stored, s."""
        return self.inputs.schedule.stored_times

    def given_arrays(self) -> dict[str, np.ndarray]:
        """A state to start from and a choice of coordinates, as far as they are given."""
        i, p = self.inputs, self.native.program
        sensitivity = None
        if i.sensitivities is not None:
            sensitivity = np.zeros((p.state_size, p.row_length))
            sensitivity[:, : i.sensitivities.shape[1]] = i.sensitivities
        found = {"given": i.state, "given_sensitivity": sensitivity, "independent": i.chosen}
        return {name: np.ascontiguousarray(x, dtype=float) for name, x in found.items() if x is not None}

    def empty_results(self, count: int) -> dict[str, np.ndarray]:
        """Where so many runs write to."""
        p, rows = self.native.program, self.inputs.schedule.stored_count
        return {
            "objectives": np.zeros((count, rows, p.objective_count)),
            "gradients": np.zeros((count, rows, p.objective_count, p.direction_count or 0)),
            "residuals": np.zeros((count, 3)),
            "status": np.zeros(count, dtype=np.int64),
        }

    def __call__(self, rows: np.ndarray) -> Samples:
        """Runs for rows of values of all parameters."""
        fit = self.fit(rows)
        return self._carry_out(rows) if fit.all() else scattered(self._carry_out(rows[fit]), fit)

    def fit(self, rows: np.ndarray) -> np.ndarray:
        """Which rows of values make sense and are close enough to the nominal ones."""
        return np.asarray((np.abs(rows - self.inputs.nominal) <= self.reach).all(axis=1) & self.allowed(rows))

    def _carry_out(self, rows: np.ndarray) -> Samples:
        values, found = np.ascontiguousarray(rows, dtype=float), self.empty_results(len(rows))
        shared, given = shared_arrays(self.native.program, self.inputs), self.given_arrays()
        job = np.zeros((), dtype=JOB)
        for name, array in {"values": values, **given, **found}.items():
            job[name] = array.ctypes.data
        job["rows"] = self.inputs.schedule.stored_count
        for name, address in {name: a.ctypes.data for name, a in shared.items()}.items():
            job["common"][name] = address
        for name, value in {**self.native.sizes, **settings_of(self.inputs), **self.native.tables}.items():
            job["common"][name] = value
        job["common"]["last"] = np.iinfo(np.int64).max
        self.native.library.vm_sample_all(job.ctypes.data, len(values))
        return self.sorted_out(**found)

    def sorted_out(self, objectives: np.ndarray, gradients: np.ndarray, residuals: np.ndarray, status: np.ndarray) -> Samples:
        """Good runs are those that came to their end, held together and are finite."""
        position, velocity = self.limits
        done = (status == DONE) & (residuals[:, 0] <= position) & (residuals[:, 1] <= velocity)
        for found in (objectives, gradients):
            done &= np.isfinite(found).all(axis=tuple(range(1, found.ndim)))
        objectives[~done] = np.nan
        return Samples(objectives, done, None if self.native.program.direction_count is None else gradients)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "native": self.native.program}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, native=NativeProgram(state["native"]))


def nothing(count: int, times: int, objectives: int, parameters: int | None) -> Samples:
    """Of runs that are all to be looked after one by one."""
    shape = (count, times, objectives)
    gradients = None if parameters is None else np.full((*shape, parameters), np.nan)
    return Samples(np.full(shape, np.nan), np.zeros(count, dtype=bool), gradients)


def scattered(found: Samples, fit: np.ndarray) -> Samples:
    """Runs of some rows among all, the others not done."""

    def among_all(array: np.ndarray) -> np.ndarray:
        whole = np.full((len(fit), *array.shape[1:]), np.nan)
        whole[fit] = array
        return whole

    done = np.zeros(len(fit), dtype=bool)
    done[fit] = found.done
    return Samples(among_all(found.values), done, None if found.gradients is None else among_all(found.gradients))


def joined(parts: Sequence[Samples]) -> Samples:
    """One after the other."""
    gradients = [p.gradients for p in parts if p.gradients is not None]
    return Samples(
        np.concatenate([p.values for p in parts]),
        np.concatenate([p.done for p in parts]),
        np.concatenate(gradients) if gradients else None,
    )
