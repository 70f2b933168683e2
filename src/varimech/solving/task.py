"""What is to be run: times, objectives, parameters to differentiate for, backend. Light to import;
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
    """What is to be run: times, objectives, the parameters to differentiate for (None for none),
    and how.
    """

    schedule: Schedule
    objectives: Mapping[str, Objective]
    indices: list[int] | None = None
    backend: str = "auto"
    progress: bool | None = None
    method: str = "direct"
    """Where derivatives come from: "direct" (along the motion), "adjoint" (a sweep backwards),
    "complex-step" (runs in complex numbers; the latter two know them at the end only), "composite"
    or "finite-difference" (of several runs).
    """
    memory: float = MEMORY
    """Bytes that an adjoint may take for what it records."""
    runs: int = 1
    """How many such runs are ahead."""
    repeated: bool = False
    """Whether a run that was found to be valid took the same steps."""
    stop: Event | None = None
    """Set when it is to be given up."""

    @property
    def adjoint(self) -> bool:
        """Whether there is a sweep backwards."""
        return self.method == "adjoint"

    @property
    def complex_step(self) -> bool:
        """Whether there are runs in complex numbers."""
        return self.method == "complex-step"

    def watched(self, report: ProgressCallback = lambda share: None) -> ProgressCallback:
        """The callback for the progress of a run; it stops (`Stopped`) where it is to stop."""

        def reported(share: float) -> None:
            if self.stop is not None and self.stop.is_set():
                raise Stopped
            report(share)

        return reported
