"""Task of a run: times, objectives, parameters to differentiate for, backend. Light to import;
solvers are loaded later.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from threading import Event

from ..backends.inputs import MEMORY
from ..core.interrupts import Stopped
from ..core.progress import ProgressCallback
from ..core.schedule import Schedule
from ..sensitivity.objective import Objective


@dataclass(frozen=True)
class Task:
    """Task of a run: times, objectives, the parameters to differentiate for (None for no
    derivatives), and the methods of computation.
    """

    schedule: Schedule
    objectives: Mapping[str, Objective]
    indices: list[int] | None = None
    backend: str = "auto"
    progress: bool | None = None
    method: str = "direct"
    """Derivative method: "direct" (along the motion), "adjoint" (a backward sweep), "complex-step"
    (runs in complex numbers; the latter two yield derivatives at the end only), "composite" or
    "finite-difference" (from several runs).
    """
    memory: float = MEMORY
    """Memory (bytes) that an adjoint may use for its records."""
    runs: int = 1
    """Number of such runs that will follow."""
    repeated: bool = False
    """Whether a run with the same steps has already passed the validity checks."""
    stop: Event | None = None
    """Event that is set to abandon the task."""

    @property
    def adjoint(self) -> bool:
        """Whether derivatives come from a backward sweep."""
        return self.method == "adjoint"

    @property
    def complex_step(self) -> bool:
        """Whether derivatives come from runs in complex numbers."""
        return self.method == "complex-step"

    def watched(self, report: ProgressCallback = lambda share: None) -> ProgressCallback:
        """Return a callback for the progress of a run that raises `Stopped` when the task is
        abandoned.
        """

        def reported(share: float) -> None:
            if self.stop is not None and self.stop.is_set():
                raise Stopped
            report(share)

        return reported
