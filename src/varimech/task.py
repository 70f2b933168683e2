"""What is to be run: times, objectives, parameters to differentiate for, backend. Light to import; solvers are loaded later."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .schedule import Schedule
from .sensitivity.objective import Objective


@dataclass(frozen=True)
class Task:
    """What is to be run: times, objectives, the parameters to differentiate for (None for none), and how."""

    schedule: Schedule
    objectives: Mapping[str, Objective]
    indices: list[int] | None = None
    backend: str = "auto"
    progress: bool | None = None
    adjoint: bool = False
    """Whether derivatives come from a sweep backwards, and only at the end."""
    memory: float = 500e6
    """Bytes it may take for what it records."""
    runs: int = 1
    """How many such runs are ahead."""
    complex_step: bool = False
    """Whether derivatives come from runs in complex numbers."""
